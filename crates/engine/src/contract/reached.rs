//! Tells who waits for a connection that the system of its host has accepted it, before the server itself says anything: a server that hangs has
//! accepted connections that it serves later, a host that is gone has none.

use std::rc::Rc;

tokio::task_local! {
    static REACHED: Rc<dyn Fn()>;
}

/// Makes a connection and calls `reached` as soon as the system of its host has accepted it; never for engines whose sockets are a library's.
pub async fn noting_reached<T>(reached: Rc<dyn Fn()>, connecting: impl Future<Output = T>) -> T {
    REACHED.scope(reached, connecting).await
}

/// Notes that the system of a host has accepted a connection.
pub(crate) fn note_reached() {
    // Most connections have nobody who waits for this.
    let _nobody = REACHED.try_with(|reached| reached());
}

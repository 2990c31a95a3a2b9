//! Whether a server answers, asked from any thread; a runtime for blocking work.

use super::address::ServerAddress;
use super::wire::ServerConnection;
use crate::contract::Error;
use std::time::Duration;

/// A probe or an observer waits no longer for an answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);

/// Asks whether a server answers at this address. Blocking; may be called on any thread.
pub(super) fn probe(address: &str) -> Result<(), Error> {
    let mut address = ServerAddress::parse(address)?;
    address.options.patience = Some(PATIENCE);
    let ask = move || {
        runtime()?.block_on(async {
            let mut connection = ServerConnection::open(&address, None).await?;
            let answer = connection.text("SELECT 1", |_| {});
            tokio::time::timeout(PATIENCE, answer)
                .await
                .unwrap_or_else(|_| Err(Error::other(format!("no answer within {PATIENCE:?}"))))
        })
    };
    // A thread of its own, because a runtime may not be started inside another.
    std::thread::spawn(ask).join().unwrap_or_else(|_| Err(Error::other("the probe of the server ended by a panic")))
}

/// A runtime for one blocking task.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, Error> {
    let builder = tokio::runtime::Builder::new_current_thread().enable_all().build();
    builder.map_err(|error| Error::other(format!("make a runtime: {error}")))
}

//! Whether a server answers, asked from any thread.

use super::address::ServerAddress;
use super::wire::ServerConnection;
use crate::contract::Error;
use crate::engines::blocking::{PATIENCE, asked_apart, in_time};

/// Asks whether a server answers at this address. Blocking; may be called on any thread.
pub(super) fn probe(address: &str) -> Result<(), Error> {
    let mut address = ServerAddress::parse(address)?;
    address.options.patience = Some(PATIENCE);
    asked_apart(move || async move {
        let mut connection = ServerConnection::open(&address, None).await?;
        in_time(PATIENCE, connection.text("SELECT 1", |_| {})).await
    })
}

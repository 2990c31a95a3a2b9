//! Commands outside the hot path by the official driver: BSON there, BSON back.

use super::super::failure::lost;
use super::super::url::Url;
use super::client;
use super::failure::failed;
use crate::contract::{Error, Target};
use mongodb::Client;
use mongodb::bson::RawDocumentBuf;
use std::future::IntoFuture as _;
use std::time::Duration;

/// A client of its own, because an observer's may move to another thread.
#[derive(Debug)]
pub(in super::super) struct Commands {
    client: Client,
    /// Longest wait for an answer.
    pub(in super::super) patience: Duration,
}

impl Commands {
    /// Connects within three times as long as an answer is waited for, of which two may go by until a server is found: what the driver then
    /// says of each server is told.
    pub(in super::super) async fn connect(target: &Target, patience: Duration) -> Result<Self, Error> {
        let url = Url::of(target)?;
        let connecting = client::alone(&url, patience.saturating_mul(2));
        let client = in_time(patience.saturating_mul(3), &url, connecting).await?;
        Ok(Self { client, patience })
    }

    /// Runs a command in a database; the reply is BSON.
    pub(in super::super) async fn run(&mut self, database: &str, command: Vec<u8>) -> Result<Vec<u8>, Error> {
        let unreadable = |error| Error::other(format!("a command or its reply is not valid BSON: {error}"));
        let command = RawDocumentBuf::from_bytes(command).map_err(unreadable)?;
        let database = self.client.database(database);
        let answer = database.run_raw_command(command).into_future();
        let late = |_| lost(format!("no answer within {:?}", self.patience));
        let reply = tokio::time::timeout(self.patience, answer).await.map_err(late)?.map_err(failed)?;
        RawDocumentBuf::try_from(&reply).map(RawDocumentBuf::into_bytes).map_err(unreadable)
    }
}

/// Awaits a connection for so long.
async fn in_time<T>(most: Duration, url: &Url, connecting: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let late = |_| {
        Err(lost(format!(
            "failed to connect to MongoDB, {}: no answer within {most:?}; check that its servers run and answer this host",
            url.words()
        )))
    };
    tokio::time::timeout(most, connecting).await.unwrap_or_else(late)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_nothing_answers_is_given_up_with_the_name_of_its_server() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let url = Url::parse("mongodb://db1/shop").expect("a URL");
        let connecting = std::future::pending::<Result<(), Error>>();
        let told = runtime.block_on(in_time(Duration::from_millis(1), &url, connecting)).expect_err("nothing answers");
        let told = told.to_string();
        assert!(told.contains("MongoDB, shop on db1 port 27017: no answer within 1ms; check"), "{told}");
    }
}

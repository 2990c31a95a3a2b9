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
    /// Connects; an answer is waited for so long.
    pub(in super::super) async fn connect(target: &Target, patience: Duration) -> Result<Self, Error> {
        let url = Url::of(target)?;
        let client = client::alone(&url).await?;
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

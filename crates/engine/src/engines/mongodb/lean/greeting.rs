//! The first exchange on a connection: what the server is, what it speaks and how much it takes at once.

use super::super::bson::{Document, Writer};
use super::super::failure::COMMAND_NOT_FOUND;
use super::super::names::APPLICATION;
use super::super::url::Url;
use super::connection::Connection;
use super::plain;
use crate::contract::{Error, ErrorClass, Target};
use std::time::Duration;

/// Wire versions that we speak: MongoDB 4.2 to the newest known.
const WIRE_VERSIONS: std::ops::RangeInclusive<i64> = 8..=29;
/// Connecting and greeting take no longer.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the server says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Greeting {
    /// Smallest and largest wire version.
    pub(in super::super) wire_versions: (i64, i64),
    /// Whether it takes writes.
    pub(in super::super) writable: bool,
    /// Replica set, if it is a member of one.
    pub(in super::super) set_name: Option<String>,
    /// Whether it was started for a replica set that is not made yet.
    pub(in super::super) wants_set: bool,
    /// Whether it is the router of a sharded cluster.
    pub(in super::super) router: bool,
    /// Largest document, bytes.
    pub(in super::super) document_bytes: usize,
    /// Largest message, bytes.
    pub(in super::super) message_bytes: usize,
    /// Most documents in one insertion.
    pub(in super::super) batch_documents: usize,
}

impl Greeting {
    /// Reads the answer to `hello`. Limits that are missing are those of every server since 3.6.
    pub(in super::super) fn read(answer: Document<'_>) -> Self {
        let number = |name: &str| answer.get(name).and_then(|value| value.integer());
        let size = |name, usual: usize| number(name).and_then(|size| usize::try_from(size).ok()).unwrap_or(usual);
        let flag = |name| answer.get(name).is_some_and(|value| value.is_true());
        Self {
            wire_versions: (number("minWireVersion").unwrap_or(0), number("maxWireVersion").unwrap_or(0)),
            writable: flag("isWritablePrimary") || flag("ismaster"),
            set_name: answer.get("setName").and_then(|name| name.text()).map(str::to_owned),
            wants_set: flag("isreplicaset"),
            router: answer.get("msg").and_then(|text| text.text()) == Some("isdbgrid"),
            document_bytes: size("maxBsonObjectSize", 16 << 20),
            message_bytes: size("maxMessageSizeBytes", super::message::MOST_BYTES),
            batch_documents: size("maxWriteBatchSize", 100_000).max(1),
        }
    }

    /// Refuses a server that we cannot work with.
    fn check(&self) -> Result<(), Error> {
        let (least, most) = self.wire_versions;
        if most < *WIRE_VERSIONS.start() || least > *WIRE_VERSIONS.end() {
            return Err(Error::other(format!(
                "the server speaks wire versions {least} to {most}, but Proofload needs {} (MongoDB 4.2) to {}",
                WIRE_VERSIONS.start(),
                WIRE_VERSIONS.end()
            )));
        }
        Ok(())
    }
}

/// Connects to the target's server and greets it.
pub(in super::super) async fn open(target: &Target, timeout: Duration) -> Result<(Connection, Greeting), Error> {
    let url = Url::of(target)?;
    let (host, port) = plain::server(&url, target)?;
    let greeted = async {
        let mut connection = Connection::connect(host, port, timeout.min(PATIENCE)).await?;
        let greeted = greet(&mut connection).await;
        let greeting = greeted.map_err(|error| wrong_server(error, connection.has_heard()))?;
        greeting.check()?;
        connection.patience = timeout;
        Ok((connection, greeting))
    };
    greeted.await.map_err(|error: Error| error.context(format!("failed to connect to MongoDB, {}", url.words())))
}

async fn greet(connection: &mut Connection) -> Result<Greeting, Error> {
    match connection.run("admin", |command| hello(command, "hello")).await.map(Greeting::read) {
        // Servers before 4.4.2, 4.2.10 and some that only resemble MongoDB know the older name alone.
        Err(error) if error.code() == COMMAND_NOT_FOUND => {
            connection.run("admin", |command| hello(command, "isMaster")).await.map(Greeting::read)
        }
        outcome => outcome,
    }
}

fn hello(command: &mut Writer<'_>, name: &str) {
    command.int32(name, 1);
    command.nested("client", |client| {
        client.nested("application", |application| application.text("name", APPLICATION));
        client.nested("driver", |driver| {
            driver.text("name", "proofload lean");
            driver.text("version", env!("CARGO_PKG_VERSION"));
        });
        client.nested("os", |os| os.text("type", std::env::consts::OS));
    });
}

/// A connection that fails at the greeting is often one to another kind of server: surely so when that has said something.
fn wrong_server(error: Error, has_heard: bool) -> Error {
    if error.class() != ErrorClass::ConnectionLost {
        return error;
    }
    let class = if has_heard { ErrorClass::Other } else { ErrorClass::ConnectionLost };
    let advice = "is this a MongoDB server without TLS? TLS needs engine.path = \"driver\"";
    Error::new(class, error.code(), format!("failed to shake hands with the server: {error}; {advice}"))
}

//! Secondaries of an availability group that Proofload did not make: the server keeps the mode of each replica, and what the primary says
//! of its group is read. Changes nothing of the server; a failover is ordered in a file of its own. Untested on a real group. Source:
//! Microsoft's documentation, "`sys.dm_hadr_database_replica_states`", "`sys.availability_replicas`", "Differences between availability
//! modes".

use super::address::ServerAddress;
use super::engine::Sqlserver;
use super::observer::PROGRAM;
use super::replica_group::ReplicaGroup;
use super::session::{connect, takes_writes};
use super::wire::ServerConnection;
use crate::contract::{Error, ErrorClass, ExistingReplication, GroupFailover, ReplicationWatch, Target};
use crate::engines::blocking::{KeptLink, PATIENCE};
use proofload_model::replication::{ReplicationAsked, ReplicationMode, ReplicationReading};

/// The group of the study's database: a row for each replica that has data.
const READ: &str = include_str!("availability.sql");

/// A replica of asynchronous commit is waited for by nobody; one of synchronous commit has hardened, which is flushed, what it confirms.
const MODES: &[ReplicationMode] = &[ReplicationMode::Async, ReplicationMode::RemoteFlush];

impl ExistingReplication for Sqlserver {
    fn modes(&self) -> &'static [ReplicationMode] {
        MODES
    }

    fn watch(&self, primary: &Target, asked: &ReplicationAsked) -> Result<Box<dyn ReplicationWatch>, Error> {
        Ok(Box::new(GroupWatch::new(primary, asked)?))
    }

    fn failover(&self) -> Option<&dyn GroupFailover> {
        Some(self)
    }
}

/// The watch. Connects at the first reading, and again at the next one after the connection was lost or the primary has moved.
struct GroupWatch {
    asked: ReplicationAsked,
    hosts: Vec<ServerAddress>,
    link: KeptLink<ServerConnection>,
}

impl GroupWatch {
    fn new(primary: &Target, asked: &ReplicationAsked) -> Result<Self, Error> {
        let hosts = hosts_to_read(primary)?;
        Ok(Self { asked: asked.clone(), hosts, link: KeptLink::new()? })
    }
}

impl ReplicationWatch for GroupWatch {
    fn read(&mut self) -> Result<ReplicationReading, Error> {
        let Self { asked, hosts, link } = self;
        let outcome = link.ask(
            PATIENCE,
            async || open(hosts).await,
            async |connection: &mut ServerConnection| {
                let rows = connection.rows(READ).await?;
                Ok(ReplicaGroup::of(&rows))
            },
        );
        if hosts.len() > 1 && outcome.as_ref().is_ok_and(|group| !group.is_at_the_primary()) {
            link.close();
        }
        let context =
            "failed to read the availability group; the account needs VIEW SERVER STATE and VIEW ANY DEFINITION";
        outcome.map(|group| group.reading(asked)).map_err(|error: Error| error.context(context))
    }
}

/// How each host of a target is reached by what reads it within [`PATIENCE`]: of several, each has its share of the time, and one share is
/// left for the reading, so that hosts that do not answer do not hide one that does.
pub(super) fn hosts_to_read(target: &Target) -> Result<Vec<ServerAddress>, Error> {
    let mut hosts = ServerAddress::of_each_host(target)?;
    let shares = if hosts.len() > 1 { u32::try_from(hosts.len() + 1).unwrap_or(u32::MAX) } else { 1 };
    for host in &mut hosts {
        host.options.patience = Some(PATIENCE / shares);
        PROGRAM.clone_into(&mut host.program);
    }
    Ok(hosts)
}

/// Connects to the host whose database takes writes; where none does, to one that answers, so that it is told what it is.
pub(super) async fn open(hosts: &[ServerAddress]) -> Result<ServerConnection, Error> {
    let mut found = Err(Error::other("the URL names no host"));
    for host in hosts {
        let patience = host.options.patience.unwrap_or(PATIENCE);
        let late = |_| {
            let text = format!("connect to {}: no answer within {patience:?}", host.in_words());
            Err(Error::new(ErrorClass::ConnectionLost, "", text))
        };
        match tokio::time::timeout(patience, look(host, hosts.len() == 1)).await.unwrap_or_else(late) {
            Ok((connection, true)) => return Ok(connection),
            Ok((connection, false)) => found = Ok(connection),
            Err(error) if found.is_err() => found = Err(error),
            Err(_) => {}
        }
    }
    found
}

/// Connects to a host; whether it is the one to take: the only one, or one whose database takes writes.
async fn look(host: &ServerAddress, is_only: bool) -> Result<(ServerConnection, bool), Error> {
    let mut connection = connect(host, &host.database).await?;
    let is_wanted = is_only || matches!(takes_writes(&mut connection).await, Ok(true));
    Ok((connection, is_wanted))
}

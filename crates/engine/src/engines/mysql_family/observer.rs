//! Reads a server's status once a second over a connection of its own. Blocking; owns its runtime.

use super::address::ServerAddress;
use super::flavour::{Flavour, filled};
use super::session::connect;
use super::statistics::{COUNTERS, HITS, READS};
use super::wait_events::WaitTotals;
use super::wire::ServerConnection;
use crate::contract::{Error, Observation, Observer, Target};
use crate::engines::blocking::{KeptLink, PATIENCE};
use crate::engines::counter::Counter;
use proofload_model::series::engine::ACTIVE_SESSIONS;

/// The observer. Connects at the first reading, and again at the next one after the connection was lost.
#[derive(Debug)]
pub(super) struct ServerObserver {
    link: KeptLink<ServerConnection>,
    address: ServerAddress,
    status: String,
    /// Threads and their roles, as of the last reading.
    threads: Vec<(u32, String)>,
    waits: WaitTotals,
}

impl ServerObserver {
    /// An observer of the target; nothing is connected yet.
    pub(super) fn new(target: &Target) -> Result<Self, Error> {
        let mut address = ServerAddress::of(target)?;
        address.options.patience = Some(PATIENCE);
        let names: Vec<String> = counters(address.flavour).map(|counter| format!("'{}'", counter.source)).collect();
        let status = filled(address.flavour.statements.status, &[("names", &names.join(", "))]);
        Ok(Self { link: KeptLink::new()?, address, status, threads: Vec::new(), waits: WaitTotals::default() })
    }
}

impl Observer for ServerObserver {
    fn observe(&mut self) -> Result<Vec<Observation>, Error> {
        let Self { link, address, status, threads, waits } = self;
        let outcome = link.ask(
            PATIENCE,
            async || opened(address).await,
            async |connection: &mut ServerConnection| {
                let mut found = read(connection, status).await?;
                found.extend(waits.read(connection).await?);
                *threads = roles(connection).await?;
                Ok(found)
            },
        );
        outcome.map_err(|error| error.context("read the server's status"))
    }

    fn thread_roles(&self) -> &[(u32, String)] {
        &self.threads
    }
}

/// What is read of a server of this flavour.
fn counters(flavour: &Flavour) -> impl Iterator<Item = &'static Counter> + use<> {
    COUNTERS.iter().chain(flavour.counters)
}

/// A server that does not answer in a second is not waited for.
async fn opened(address: &ServerAddress) -> Result<ServerConnection, Error> {
    let mut connection = connect(address, None).await?;
    connection.text(address.flavour.statements.cap_observer, |_| {}).await?;
    Ok(connection)
}

/// The server's threads may all have its name: their roles are known to itself alone.
async fn roles(connection: &mut ServerConnection) -> Result<Vec<(u32, String)>, Error> {
    let rows = connection.rows_allowed(connection.flavour().statements.threads).await?;
    let role = |row: &Vec<Option<String>>| match &row[..] {
        [Some(thread), Some(role)] => Some((thread.parse().ok()?, role.clone())),
        _ => None,
    };
    Ok(rows.iter().filter_map(role).collect())
}

async fn read(connection: &mut ServerConnection, status: &str) -> Result<Vec<Observation>, Error> {
    let (mut found, flavour) = (Vec::new(), connection.flavour());
    for row in connection.rows_allowed(status).await? {
        let [Some(variable), Some(value)] = &row[..] else { continue };
        let counter = counters(flavour).find(|counter| variable.eq_ignore_ascii_case(counter.source));
        let Some((counter, value)) = counter.zip(value.parse::<f64>().ok()) else { continue };
        found.push(counter.observation("", value));
    }
    let of = |found: &[Observation], name: &str| {
        found.iter().find(|seen| seen.reading.name == name).map(|seen| seen.reading.value)
    };
    if let Some(reads) = of(&found, READS)
        && let Some(asked) = found.iter_mut().find(|seen| seen.reading.name == HITS)
    {
        asked.reading.value = (asked.reading.value - reads).max(0.0);
    }
    for row in connection.rows(connection.flavour().statements.waits).await? {
        let [Some(state), Some(count)] = &row[..] else { continue };
        let count = count.parse().unwrap_or(0.0);
        found.push(Observation { reading: ACTIVE_SESSIONS.reading(state.clone(), count), cumulative: false });
    }
    Ok(found)
}

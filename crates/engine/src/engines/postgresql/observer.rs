//! Reads a server's statistics once a second over a connection of its own. Blocking; owns its runtime.

use super::connection::{self, ServerConfig};
use super::failure::failed;
use super::statistics::{COLUMNS, VIEWS, View, WAITS};
use crate::contract::{Error, Observation, Observer, Target};
use crate::engines::blocking::{KeptLink, PATIENCE};
use crate::engines::counter::Counter;
use proofload_model::series::engine::ACTIVE_SESSIONS;
use tokio_postgres::{Client, Row, Statement};

/// A view with the counters that this server has, and its prepared query.
#[derive(Debug)]
struct CounterSource {
    counters: Vec<Counter>,
    statement: Statement,
}

/// An open connection with what it will read.
struct Link {
    client: Client,
    sources: Vec<CounterSource>,
    waits: Statement,
}

/// The observer. Connects at the first reading, and again at the next one after the connection was lost.
#[derive(Debug)]
pub(super) struct ServerObserver {
    link: KeptLink<Link>,
    config: ServerConfig,
}

impl ServerObserver {
    /// An observer of the target; nothing is connected yet.
    pub(super) fn new(target: &Target) -> Result<Self, Error> {
        let mut config = connection::config(target)?;
        config.connect_timeout(PATIENCE);
        Ok(Self { link: KeptLink::new()?, config })
    }
}

impl Observer for ServerObserver {
    fn observe(&mut self) -> Result<Vec<Observation>, Error> {
        let config = &self.config;
        let open = async || Link::open(config.clone()).await;
        let outcome = self.link.ask(PATIENCE, open, async |link: &mut Link| link.read().await);
        outcome.map_err(|error| error.context("failed to read the server's statistics"))
    }
}

impl Link {
    async fn open(config: ServerConfig) -> Result<Self, Error> {
        let client = connection::open(config).await?;
        // Statistics are read afresh each time; a server that does not answer in a second is not waited for.
        client.batch_execute("SET statement_timeout = '1s'; SET jit = off").await.map_err(failed)?;
        let names: Vec<&str> = VIEWS.iter().map(|view| view.name).collect();
        let columns = client.query(COLUMNS, &[&names]).await.map_err(failed)?;
        let mut sources = Vec::new();
        for view in VIEWS {
            sources.extend(source(&client, view, &columns).await?);
        }
        let waits = client.prepare(WAITS).await.map_err(failed)?;
        Ok(Self { client, sources, waits })
    }

    async fn read(&self) -> Result<Vec<Observation>, Error> {
        let mut found = Vec::new();
        for source in &self.sources {
            for row in self.client.query(&source.statement, &[]).await.map_err(failed)? {
                let component: String = row.try_get(0).map_err(failed)?;
                for (column, counter) in source.counters.iter().enumerate() {
                    let value: Option<f64> = row.try_get(column + 1).map_err(failed)?;
                    found.extend(value.map(|value| counter.observation(&component, value)));
                }
            }
        }
        for row in self.client.query(&self.waits, &[]).await.map_err(failed)? {
            let (event, count): (String, f64) = (row.try_get(0).map_err(failed)?, row.try_get(1).map_err(failed)?);
            let reading = ACTIVE_SESSIONS.reading(event, count);
            found.push(Observation { reading, cumulative: false });
        }
        Ok(found)
    }
}

/// The query of a view, over the columns that the server has; `None` when it has no such column.
async fn source(client: &Client, view: &View, columns: &[Row]) -> Result<Option<CounterSource>, Error> {
    let has = |counter: &&Counter| {
        columns.iter().any(|row| row.get::<_, &str>(0) == view.name && row.get::<_, &str>(1) == counter.source)
    };
    let counters: Vec<Counter> = view.counters.iter().filter(has).copied().collect();
    if counters.is_empty() {
        return Ok(None);
    }
    let column = |counter: &Counter| match view.total {
        true => format!(", sum({})::float8", counter.source),
        false => format!(", {}::float8", counter.source),
    };
    let list: String = counters.iter().map(column).collect();
    let sql = format!("SELECT {}::text{list} FROM {} WHERE {}", view.component, view.name, view.condition);
    let statement = client
        .prepare(&sql)
        .await
        .map_err(|error| failed(error).context(format!("failed to prepare {}", view.name)))?;
    Ok(Some(CounterSource { counters, statement }))
}

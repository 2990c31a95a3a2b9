//! Reads a server's statistics once a second over a connection of its own. Blocking; owns its runtime.

use super::admin::{Admin, SERVER};
use super::bson::{Document, Element};
use super::options::{ClientPath, Options};
use super::recipe::runtime;
use super::statistics::COUNTERS;
use crate::contract::{Error, Observation, Observer, Target};
use proofload_model::samples::Reading;
use std::time::Duration;

/// A server that does not answer in this time is not waited for.
const PATIENCE: Duration = Duration::from_secs(3);

/// The observer. Connects at the first reading, and again at the next one after the connection was lost.
#[derive(Debug)]
pub(super) struct ServerObserver {
    /// Declared before the runtime, on which it lives.
    admin: Option<Admin>,
    path: ClientPath,
    target: Target,
    runtime: tokio::runtime::Runtime,
}

impl ServerObserver {
    /// An observer of the target; nothing is connected yet.
    pub(super) fn new(target: &Target) -> Result<Self, Error> {
        let path = Options::read(&target.place.settings)?.path;
        Ok(Self { admin: None, path, target: target.clone(), runtime: runtime()? })
    }
}

impl Observer for ServerObserver {
    fn observe(&mut self) -> Result<Vec<Observation>, Error> {
        let (admin, path, target) = (&mut self.admin, self.path, &self.target);
        let read = async {
            if admin.is_none() {
                *admin = Some(Admin::by(path, target, PATIENCE).await?);
            }
            let status = admin.as_mut().expect("opened above").run(SERVER, |command| command.int32("serverStatus", 1));
            Ok(observations(status.await?.document()?))
        };
        let outcome = self.runtime.block_on(read);
        if outcome.is_err() {
            self.admin = None;
        }
        outcome.map_err(|error: Error| error.context("failed to read the server's statistics"))
    }
}

/// What the table finds in the status.
fn observations(status: Document<'_>) -> Vec<Observation> {
    let found = COUNTERS.iter().filter_map(|counter| {
        let value = status.at(counter.path).and_then(Element::number)?;
        let (name, unit) = (counter.name.to_owned(), counter.unit.to_owned());
        Some(Observation {
            reading: Reading { name, component: String::new(), unit, value },
            cumulative: counter.cumulative,
        })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::super::bson::Writer;
    use super::*;

    #[test]
    fn sections_that_are_missing_are_left_out() {
        let status = Writer::bytes(|status| {
            status.nested("opcounters", |operations| operations.int64("query", 5));
            status.nested("wiredTiger", |tiger| {
                tiger.nested("cache", |cache| cache.int64("bytes read into cache", 4096))
            });
        });
        let found = observations(Document::whole(&status).unwrap());
        let found: Vec<_> = found.iter().map(|seen| (seen.reading.name.as_str(), seen.reading.value)).collect();
        assert_eq!(found, [("finds", 5.0), ("cache_read_bytes", 4096.0)]);
    }
}

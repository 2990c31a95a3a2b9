//! Reads a server's statistics once a second over a connection of its own. Blocking; owns its runtime.

use super::admin::{Admin, SERVER, WHOLE_PATIENCE};
use super::bson::{Document, Element};
use super::options::{ClientPath, Options};
use super::statistics::COUNTERS;
use crate::contract::{Error, Observation, Observer, Target};
use crate::engines::blocking::{KeptLink, PATIENCE};

/// The observer. Connects at the first reading, and again at the next one after the connection was lost.
#[derive(Debug)]
pub(super) struct ServerObserver {
    link: KeptLink<Admin>,
    path: ClientPath,
    target: Target,
}

impl ServerObserver {
    /// An observer of the target; nothing is connected yet.
    pub(super) fn new(target: &Target) -> Result<Self, Error> {
        let path = Options::read(&target.place.settings)?.path;
        Ok(Self { link: KeptLink::new()?, path, target: target.clone() })
    }
}

impl Observer for ServerObserver {
    fn observe(&mut self) -> Result<Vec<Observation>, Error> {
        let (path, target) = (self.path, &self.target);
        let open = async || Admin::by(path, target, PATIENCE).await;
        let outcome = self.link.ask(WHOLE_PATIENCE, open, async |admin: &mut Admin| {
            let status = admin.run(SERVER, |command| command.int32("serverStatus", 1)).await?;
            Ok(observations(status.document()?))
        });
        outcome.map_err(|error| error.context("failed to read the server's statistics"))
    }
}

/// What the table finds in the status.
fn observations(status: Document<'_>) -> Vec<Observation> {
    let found = COUNTERS.iter().filter_map(|counter| {
        let value = status.at(counter.source).and_then(Element::number)?;
        Some(counter.observation("", value))
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

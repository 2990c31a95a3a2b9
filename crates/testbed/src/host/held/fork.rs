//! The fork of the log that a promotion makes, at the promoted instance and at the old primary. What cannot be read is no loss of an agent.

use super::super::replication;
use super::InstanceResources;
use proofload_model::drill::LogFork;
use proofload_model::error::Error;
use proofload_model::units::Bytes;
use proofload_model::wire::DataLocation;

impl InstanceResources {
    /// Reads where the log of this promoted instance left that of the primary before.
    pub(in crate::host) fn fork(&self) -> Result<Option<LogFork>, Error> {
        let (facet, target) = self.standby()?;
        facet.fork(target).map_err(|error| Error::new(error.to_string()))
    }

    /// Reads where the log of this old primary ends.
    pub(in crate::host) fn log_end_after(&self, place: &DataLocation, fork: &LogFork) -> Result<Option<Bytes>, Error> {
        let read = replication::facet(place)?.log_end_after(&self.folder()?, fork);
        read.map_err(|error| Error::new(error.to_string()))
    }
}

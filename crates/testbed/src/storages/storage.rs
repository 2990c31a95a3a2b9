//! The contract of a storage: attached, read back, counted, detached. A storage may not start an instance or judge what a false fact means.

use super::{Devices, STORAGES};
use proofload_model::deployment::StoragePlan;
use proofload_model::error::Error;
use proofload_model::samples::Fact;
use std::path::Path;

/// A storage that is built in.
pub(crate) trait Storage: Sync {
    /// Name in a deployment.
    fn name(&self) -> &'static str;

    /// Attaches it under the data folder of an instance that does not run.
    ///
    /// # Errors
    /// What stands in the way; nothing is attached then.
    fn attach(&self, data: &Path) -> Result<Box<dyn AttachedStorage>, Error>;
}

/// A storage in use. Dropping it detaches it.
pub(crate) trait AttachedStorage: Send + std::fmt::Debug {
    /// Folder that the instance works on.
    fn folder(&self) -> &Path;

    /// Block devices under that folder, of data and log: limits hold for each of them, and each is observed.
    fn devices(&self) -> Devices;

    /// Reads back what is in force.
    fn verify(&self) -> Vec<Fact> {
        Vec::new()
    }

    /// Reads what it counted up to now.
    fn counters(&self) -> Vec<Fact> {
        Vec::new()
    }

    /// Detaches it from an instance that has ended.
    ///
    /// # Errors
    /// What stands in the way.
    fn detach(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// Attaches the storage of a plan.
///
/// # Errors
/// No such storage, or what stands in its way.
pub(crate) fn attach(plan: &StoragePlan, data: &Path) -> Result<Box<dyn AttachedStorage>, Error> {
    let storage = STORAGES.iter().find(|storage| storage.name() == plan.kind);
    let storage = storage.ok_or_else(|| Error::refused(format!("there is no storage {:?}", plan.kind)))?;
    storage.attach(data).map_err(|error| error.context(format!("attach the storage {}", plan.kind)))
}

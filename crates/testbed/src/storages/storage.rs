//! The contract of a storage: attached, read back, counted, detached. A storage may not start an instance or judge what a false fact means.

use super::{Devices, STORAGES};
use crate::agents::EventSink;
use crate::host::InstanceRemains;
use proofload_model::deployment::{InstanceName, StoragePlan};
use proofload_model::error::Error;
use proofload_model::samples::Fact;
use proofload_model::time::Clock;
use proofload_model::wire::DataLocation;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A storage that is built in.
pub(crate) trait Storage: Sync {
    /// Name in a deployment.
    fn name(&self) -> &'static str;

    /// Attaches it under the data folder of an instance that does not run.
    ///
    /// # Errors
    /// What stands in the way; nothing is attached then.
    fn attach(&self, order: &StorageOrder<'_>) -> Result<Box<dyn AttachedStorage>, Error>;
}

/// What a storage is attached to, and by what means.
pub(crate) struct StorageOrder<'a> {
    /// Data folder of the instance.
    pub(crate) data: &'a Path,
    /// Its engine, folder and tier.
    pub(crate) place: &'a DataLocation,
    pub(crate) means: &'a StorageMeans<'a>,
}

/// What a storage with a process of its own needs to start it.
pub(crate) struct StorageMeans<'a> {
    pub(crate) instance: &'a InstanceName,
    /// This program; `None` where nobody told where it is.
    pub(crate) program: Option<&'a Path>,
    pub(crate) clock: &'a Arc<dyn Clock>,
    pub(crate) events: &'a EventSink,
    pub(crate) remains: Arc<InstanceRemains>,
}

/// A storage in use. Dropping it detaches it.
pub(crate) trait AttachedStorage: Send + std::fmt::Debug {
    /// Folder that the instance works on.
    fn folder(&self) -> &Path;

    /// Block devices under that folder, of data and log: limits hold for each of them, and each is observed.
    fn devices(&self) -> Devices;

    /// Roots of its own processes.
    fn processes(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Control socket of the cache tier that it serves.
    fn control(&self) -> Option<PathBuf> {
        None
    }

    /// Takes off what makes it slow on purpose, after the load and before checks.
    ///
    /// # Errors
    /// What stands in the way.
    fn release(&self) -> Result<(), Error> {
        Ok(())
    }

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
pub(crate) fn attach(plan: &StoragePlan, order: &StorageOrder<'_>) -> Result<Box<dyn AttachedStorage>, Error> {
    let storage = STORAGES.iter().find(|storage| storage.name() == plan.kind);
    let storage = storage.ok_or_else(|| Error::refused(format!("unknown storage {:?}", plan.kind)))?;
    storage.attach(order).map_err(|error| error.context(format!("failed to attach the storage {}", plan.kind)))
}

//! Storage of one instance: attached before its limits and its server, detached after them. May not know how a kind of storage is attached.

use super::InstanceResources;
use super::flushes::FlushDelay;
use crate::instances;
use crate::storages::{self, Devices, StorageMeans, StorageOrder};
use proofload_model::deployment::StoragePlan;
use proofload_model::error::Error;
use proofload_model::samples::Fact;
use proofload_model::wire::DataLocation;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl InstanceResources {
    /// Attaches its storage, in the place of what was attached before.
    pub(in crate::host) fn attach(
        &mut self,
        plan: &StoragePlan,
        place: &DataLocation,
        data: &Path,
        program: Option<&Path>,
    ) -> Result<Vec<Fact>, Error> {
        self.refuse_while_running("attach storage")?;
        self.detach()?;
        let means = StorageMeans {
            instance: &self.name,
            program,
            clock: &self.clock,
            events: &self.events,
            remains: Arc::clone(&self.storage_remains),
        };
        let storage = storages::attach(plan, &StorageOrder { data, place, means: &means })?;
        let facts = storage.verify();
        self.flush_delay = FlushDelay::of(place, storage.control());
        self.storage = Some(storage);
        Ok(self.stamped(facts))
    }

    /// Detaches its storage; limits on its devices go first.
    pub(in crate::host) fn detach(&mut self) -> Result<(), Error> {
        self.refuse_while_running("detach storage")?;
        self.drop_limits();
        self.free_after_kill();
        self.flush_delay = None;
        self.storage.take().map_or(Ok(()), |mut storage| storage.detach())
    }

    /// Frees what a killed server left in the kernel.
    pub(super) fn free_after_kill(&self) {
        if let Some(data) = self.remains.data() {
            instances::free_after_kill_or_warn(&data, &*self.clock, &self.events);
        }
    }

    /// Folder that the instance works on.
    pub(super) fn folder(&self) -> Result<PathBuf, Error> {
        let storage = self.storage.as_ref().ok_or_else(|| Error::new("no storage is attached"))?;
        Ok(storage.folder().to_owned())
    }

    pub(super) fn devices(&self) -> Devices {
        self.storage.as_ref().map(|storage| storage.devices()).unwrap_or_default()
    }

    /// Roots of the processes of its storage.
    pub(super) fn storage_processes(&self) -> Vec<u32> {
        self.storage.iter().flat_map(|storage| storage.processes()).collect()
    }
}

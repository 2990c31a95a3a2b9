//! A local instance in a temporary folder, for engines that Proofload can start. Dropping it ends it and removes the folder.

use crate::clock::SystemClock;
use proofload_engine::Engine;
use proofload_model::deployment::{InstanceName, StoragePlan};
use proofload_model::error::Error;
use proofload_model::replication::ReplicationPart;
use proofload_model::time::Clock;
use proofload_model::wire::DataLocation;
use proofload_model::wire::host::{Attach, Create, HostService as _, Start};
use proofload_testbed::HostRole;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A temporary folder that users of servers can reach.
pub(super) struct Folder(PathBuf);

impl Folder {
    /// A new folder.
    pub(super) fn new() -> Result<Self, Error> {
        let moment = SystemClock.wall().0;
        let path = std::env::temp_dir().join(format!("proofload-selftest-{}-{moment}", std::process::id()));
        let made = std::fs::DirBuilder::new().mode(0o755).create(&path);
        made.map_err(|error| Error::new(format!("make the folder {}: {error}", path.display())))?;
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _gone = std::fs::remove_dir_all(&self.0);
    }
}

/// A running server.
pub(super) struct Instance {
    /// Stops the server when it is dropped.
    _host: HostRole,
    /// Where it is reached.
    pub(super) address: String,
}

impl Instance {
    /// Makes and starts a server below a folder.
    pub(super) fn start(engine: &'static dyn Engine, folder: &Path) -> Result<Self, Error> {
        let mut host = HostRole::new(Arc::new(SystemClock), Arc::new(|_| {}));
        let place = DataLocation {
            engine: engine.about().name.to_owned(),
            folder: folder.join("instance").display().to_string(),
            url: None,
            settings: Vec::new(),
            tier: None,
        };
        let instance = InstanceName::primary();
        host.create(Create { instance: instance.clone(), place: place.clone() })?;
        let storage = StoragePlan::directory();
        host.attach(Attach { instance: instance.clone(), place: place.clone(), storage })?;
        let started = host.start(Start { instance, place, part: ReplicationPart::Alone })?;
        Ok(Self { _host: host, address: started.address })
    }
}

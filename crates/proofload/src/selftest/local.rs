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

/// What names of folders begin with, before the number of the process and the time.
const PREFIX: &str = "proofload-selftest-";

/// Removes folders of processes that are gone where nothing is left in them.
fn remove_left_over(temporary: &Path) {
    for entry in std::fs::read_dir(temporary).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next()?.parse::<u32>().ok());
        if owner.is_some_and(|owner| !Path::new("/proc").join(owner.to_string()).exists()) {
            remove_empty(&entry.path());
        }
    }
}

/// Removes a folder that has nothing but empty folders; one with a file in it, or another user's, stays.
fn remove_empty(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_empty(&entry.path());
        }
    }
    let _stays = std::fs::remove_dir(folder);
}

/// A temporary folder that users of servers can reach.
pub(super) struct Folder(PathBuf);

impl Folder {
    /// A new folder; empty ones of killed self-tests are removed.
    pub(super) fn new() -> Result<Self, Error> {
        let temporary = std::env::temp_dir();
        remove_left_over(&temporary);
        let moment = SystemClock.wall().0;
        let path = temporary.join(format!("{PREFIX}{}-{moment}", std::process::id()));
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
        let place = DataLocation::in_folder(engine.about().name, folder.join("instance").display().to_string());
        let instance = InstanceName::primary();
        host.create(Create { instance: instance.clone(), place: place.clone() })?;
        let storage = StoragePlan::directory();
        host.attach(Attach { instance: instance.clone(), place: place.clone(), storage })?;
        let started = host.start(Start { instance, place, part: ReplicationPart::Alone })?;
        Ok(Self { _host: host, address: started.address })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_folders_of_killed_self_tests_are_removed_and_no_others() {
        let temporary = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let path = temporary.path().join(name);
            std::fs::create_dir(&path).unwrap();
            path
        };
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        let dead = make(&format!("{PREFIX}{}-1", ended.id()));
        std::fs::create_dir(dead.join("reference")).unwrap();
        let full = make(&format!("{PREFIX}{}-2", ended.id()));
        std::fs::write(full.join("data"), "").unwrap();
        let stay = [full, make(&format!("{PREFIX}{}-3", std::process::id())), make("proofload-selftest"), make("else")];
        remove_left_over(temporary.path());
        assert!(!dead.exists());
        assert!(stay.iter().all(|path| path.exists()), "{stay:?}");
    }
}

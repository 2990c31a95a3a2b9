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
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What names of folders begin with, before the number of the process and the time.
const PREFIX: &str = "proofload-selftest-";

/// Removes the folders of our own whose self-test is gone, such as one that was killed, unless a process still works in them or holds them,
/// in whatever container.
fn remove_left_over(temporary: &Path) {
    for entry in std::fs::read_dir(temporary).into_iter().flatten().flatten() {
        let is_left = entry.file_name().to_str().and_then(owner).is_some_and(is_gone);
        if is_left && is_own_folder(&entry.path()) && !is_worked_in(&entry.path()) && !is_held(&entry.path()) {
            let _gone = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Number of the process that a folder's name tells; `None` where the name is not exactly one of ours.
fn owner(name: &str) -> Option<u32> {
    let (process, moment) = name.strip_prefix(PREFIX)?.split_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number(process) && is_number(moment) { process.parse().ok() } else { None }
}

/// Whether there is no such process; where processes are not shown, there may be.
fn is_gone(process: u32) -> bool {
    let processes = Path::new("/proc");
    processes.join("self").exists() && !processes.join(process.to_string()).exists()
}

/// Whether a path is a folder, not a link to one, of the user that this program is.
fn is_own_folder(path: &Path) -> bool {
    let about = std::fs::symlink_metadata(path);
    about.is_ok_and(|about| about.is_dir() && about.uid() == rustix::process::geteuid().as_raw())
}

/// Whether a process has its working folder there, as servers have.
fn is_worked_in(folder: &Path) -> bool {
    let Ok(folder) = folder.canonicalize() else { return false };
    let mut processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.any(|process| std::fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&folder)))
}

/// Whether a self-test that is not seen from here holds a folder; where it cannot be told, one does.
fn is_held(folder: &Path) -> bool {
    let locked = |file: File| flock(&file, FlockOperation::NonBlockingLockExclusive).is_err();
    File::open(folder).map_or(true, locked)
}

/// A temporary folder that users of servers can reach, held by a lock of the file system until the process ends.
pub(super) struct Folder(PathBuf, #[expect(dead_code, reason = "its lock is held")] File);

impl Folder {
    /// A new folder; those of killed self-tests are removed.
    pub(super) fn new() -> Result<Self, Error> {
        let temporary = std::env::temp_dir();
        remove_left_over(&temporary);
        let moment = SystemClock.wall().0;
        let path = temporary.join(format!("{PREFIX}{}-{moment}", std::process::id()));
        let made = std::fs::DirBuilder::new().mode(0o755).create(&path);
        made.map_err(|error| Error::new(format!("failed to make the folder {}: {error}", path.display())))?;
        let held = File::open(&path)
            .map_err(|error| Error::new(format!("failed to open the folder {}: {error}", path.display())))?;
        // A file system without locks keeps others from taking one as well.
        let _unlocked = flock(&held, FlockOperation::NonBlockingLockShared);
        Ok(Self(path, held))
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
    fn folders_of_killed_self_tests_are_removed_and_no_others() {
        let temporary = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let path = temporary.path().join(name);
            std::fs::create_dir(&path).unwrap();
            path
        };
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        let ended = ended.id();
        let empty = make(&format!("{PREFIX}{ended}-1"));
        let full = make(&format!("{PREFIX}{ended}-2"));
        std::fs::create_dir(full.join("instance")).unwrap();
        std::fs::write(full.join("instance/data"), "").unwrap();
        let used = make(&format!("{PREFIX}{ended}-3"));
        let mut sleeps = std::process::Command::new("sleep").arg("600").current_dir(&used).spawn().unwrap();
        let link = temporary.path().join(format!("{PREFIX}{ended}-4"));
        std::os::unix::fs::symlink(make("else"), &link).unwrap();
        let names =
            [format!("{PREFIX}{}-1", std::process::id()), format!("{PREFIX}{ended}"), format!("{PREFIX}{ended}-x")];
        let stay: Vec<PathBuf> = names.iter().map(|name| make(name)).chain([used, link]).collect();
        remove_left_over(temporary.path());
        sleeps.kill().unwrap();
        sleeps.wait().unwrap();
        assert!(!empty.exists() && !full.exists());
        assert!(stay.iter().all(|path| path.exists()), "{stay:?}");
    }
}

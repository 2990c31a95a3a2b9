//! Mounts volumes as files, and unmounts them within a time. What a killed server left is unmounted first.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fuser::{BackgroundSession, Config, MountOption, Session, SessionACL};

use super::files::VolumeFiles;
use crate::error::Error;
use crate::export::BlockService;
use crate::export::loop_device::sweep;
use crate::export::mounts::{mounted, unmount};
use crate::export::processes::start_of;
use crate::export::waiting::until;
use crate::export::workers::Workers;

/// Threads that read requests, and serve those that wait for no slow device.
const THREADS: usize = 2;
/// Requests that wait for a thread that may wait.
const WAITING: usize = 64;
/// Beginning of the name under which a mount of ours is listed; process and its start follow.
const MARK: &str = "proofload-tier-";
/// Time between two tries to unmount.
const TRY: Duration = Duration::from_millis(100);
/// Tries: 5 s.
const TRIES: u32 = 50;

/// A volume as a file.
#[derive(Clone)]
pub struct FuseVolume {
    /// Name of the file.
    pub name: String,
    /// What is read and written.
    pub service: Arc<dyn BlockService>,
}

/// A mounted file system with a file for each volume, until it is dropped.
pub struct FuseServer {
    folder: PathBuf,
    session: Option<BackgroundSession>,
}

impl FuseServer {
    /// Mounts volumes in a folder that is empty; what a killed server of ours left mounted there is unmounted before.
    ///
    /// Their files have mode 0600 and belong to the user of this process.
    ///
    /// # Errors
    ///
    /// When something else is mounted there, a loop device over a file that was left is in use, the folder is not
    /// empty, or FUSE refuses.
    pub fn start(folder: &Path, volumes: Vec<FuseVolume>) -> Result<Self, Error> {
        let failed = |error: std::io::Error| {
            let advice = "is /dev/fuse there, and is this root or fusermount3 installed?";
            Error::program("mounted volumes at", folder.display().to_string(), error, advice)
        };
        let folder = clear(folder).and_then(|folder| require_empty(&folder).map(|()| folder))?;
        // The files belong to whom this process works for, which the kernel tells of its own folder.
        let own = fs::metadata("/proc/self").map_err(failed)?;
        let files =
            VolumeFiles::new(volumes, Workers::start("fuse-slow", WAITING).map_err(failed)?, (own.uid(), own.gid()));
        let mut config = Config::default();
        config.mount_options =
            vec![MountOption::FSName(owner().map_err(failed)?), MountOption::DefaultPermissions, MountOption::NoAtime];
        config.mount_options.extend([MountOption::NoSuid, MountOption::NoDev]);
        // Only root may let others in; permissions of the files still keep them out.
        config.acl = if own.uid() == 0 { SessionACL::All } else { SessionACL::Owner };
        config.n_threads = Some(THREADS);
        config.clone_fd = true;
        let session = Session::new(files, &folder, &config).and_then(Session::spawn).map_err(failed)?;
        Ok(Self { folder, session: Some(session) })
    }

    /// Unmounts what a killed server of ours left mounted in a folder, and releases loop devices over its files. A server that is dying is
    /// waited for.
    ///
    /// # Errors
    ///
    /// When the server lives after 5 s, or a loop device is in use.
    pub fn release_left(folder: &Path) -> Result<(), Error> {
        until(TRIES, TRY, || of_us(folder).is_none_or(|source| !lives(&source)));
        clear(folder).map(drop)
    }

    /// The folder, without links.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Unmounts.
    ///
    /// # Errors
    ///
    /// When a file is still in use after 5 s: then nobody can open it any more, and it is served to its last use.
    pub fn stop(mut self) -> Result<(), Error> {
        self.end()
    }

    fn end(&mut self) -> Result<(), Error> {
        let Some(session) = self.session.take() else { return Ok(()) };
        let mut last = None;
        let gone = until(TRIES, TRY, || match unmount(&self.folder, false) {
            Ok(()) => true,
            // Somebody else may have unmounted it.
            Err(error) => {
                last = Some(error);
                of_us(&self.folder).is_none()
            }
        });
        if gone {
            drop(session.join());
            return Ok(());
        }
        unmount(&self.folder, true)?;
        let came = last.map_or_else(String::new, |error| error.to_string());
        let advice = "stop the programs that use its files; until then they are served";
        Err(Error::program("unmounted", self.folder.display().to_string(), came, advice))
    }
}

impl Drop for FuseServer {
    fn drop(&mut self) {
        // There is nobody to tell: the next start finds what is left.
        drop(self.end());
    }
}

/// The name under which this process mounts: who reads it can tell whether the process still lives.
fn owner() -> std::io::Result<String> {
    let start = start_of("self").ok_or_else(|| std::io::Error::other("/proc/self/stat contains no start time"))?;
    Ok(format!("{MARK}{}.{start}", std::process::id()))
}

/// Whether the process behind a name of a mount lives.
fn lives(source: &str) -> bool {
    let parts = source.strip_prefix(MARK).and_then(|rest| rest.split_once('.'));
    parts.is_some_and(|(process, start)| start_of(process).is_some_and(|found| found == start))
}

/// The name of our mount at a folder, if there is one.
fn of_us(folder: &Path) -> Option<String> {
    let ours = mounted().into_iter().rfind(|mount| mount.folder == folder && mount.source.starts_with(MARK));
    ours.map(|mount| mount.source)
}

/// Unmounts what a killed server has left; returns the folder without links.
fn clear(folder: &Path) -> Result<PathBuf, Error> {
    let name = || folder.display().to_string();
    // The folder itself cannot be looked at while a dead server is mounted there.
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let parent = fs::canonicalize(parent).map_err(|error| no_folder(name(), error))?;
    let folder = parent.join(folder.file_name().unwrap_or_default());
    while let Some(source) = of_us(&folder) {
        if lives(&source) {
            return Err(Error::taken(folder.display().to_string(), "another server has its volumes mounted there"));
        }
        sweep(&folder)?;
        unmount(&folder, true)?;
    }
    Ok(folder)
}

/// Why volumes cannot be mounted at a folder that could not be looked at.
fn no_folder(name: String, error: io::Error) -> Error {
    let advice = match error.kind() {
        io::ErrorKind::NotFound => "make the folder first (mkdir): volumes are mounted at an empty one",
        io::ErrorKind::NotADirectory => "name an empty folder: volumes are mounted there",
        _ => "check that this user may read it",
    };
    Error::program("looked at the folder", name, error, advice)
}

fn require_empty(folder: &Path) -> Result<(), Error> {
    let name = folder.display().to_string();
    let mut entries = fs::read_dir(folder).map_err(|error| no_folder(name.clone(), error))?;
    match entries.next() {
        None => Ok(()),
        Some(_) => Err(Error::taken(name, "it contains files")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_names_its_process_and_whether_it_lives() {
        let ours = owner().unwrap();
        assert!(lives(&ours), "{ours}");
        assert!(!lives(&format!("{ours}1")) && !lives("proofload-tier-999999999.1") && !lives("/dev/fuse"));
    }
}

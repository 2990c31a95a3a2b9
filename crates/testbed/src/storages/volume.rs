//! A volume of a study's own: a file system in a file beside the folder where it is mounted. What fills or stalls it touches nobody else. The
//! file stays with the snapshot in it; the mount ends with its agent, or is swept. It takes with it what a killed server on it left in the
//! kernel, since its files alone tell what that is.

use crate::instances;
use crate::snapshots;
use crate::sys;
use proofload_model::error::Error;
use proofload_model::facts::storage;
use proofload_model::samples::Fact;
use proofload_model::time::Clock;
use proofload_model::units::Bytes;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// How the name of the file ends.
const ENDING: &str = ".volume";

/// How the name of the file ends that says which device is mounted.
const DEVICE_ENDING: &str = ".device";

/// How long what is in use for a moment may keep a volume mounted: processes that were killed, and that have not ended yet.
const RELEASED_WITHIN: Duration = Duration::from_secs(10);

/// The same for all volumes of an agent that ends, together: it is killed after 5 s, and what is left mounted is swept later.
const ALL_RELEASED_WITHIN: Duration = Duration::from_secs(2);

const GLANCE: Duration = Duration::from_millis(50);

/// A device with a new file system of ours on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeviceToMount {
    /// Its node, without links.
    pub(crate) node: PathBuf,
    /// Its size.
    pub(crate) size: Bytes,
}

/// A volume that is mounted. Dropping it unmounts it; its file stays.
pub(crate) struct Volume {
    folder: PathBuf,
    /// Its file, or the one that names its device.
    file: PathBuf,
    size: Bytes,
    clock: Arc<dyn Clock>,
    /// Whether it was unmounted, or is left to a sweep.
    is_released: bool,
}

impl std::fmt::Debug for Volume {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Volume").field("file", &self.file).field("size", &self.size).finish_non_exhaustive()
    }
}

impl Volume {
    /// Mounts a device with a new file system of ours. Its end clears the device, so that the next run may have it again.
    ///
    /// # Errors
    /// The folder is in use, or what a program says.
    pub(crate) fn on_device(folder: &Path, device: &DeviceToMount, clock: &Arc<dyn Clock>) -> Result<Self, Error> {
        let failed =
            |error: std::io::Error| Error::new(format!("failed to mount a device at {}: {error}", folder.display()));
        fs::create_dir_all(folder).map_err(failed)?;
        if fs::read_dir(folder).map_err(failed)?.next().is_some() {
            return Err(Error::refused(format!(
                "failed to mount a device at {}: the folder already contains data; delete them",
                folder.display()
            )));
        }
        let (file, clock) = (named(folder, DEVICE_ENDING), Arc::clone(clock));
        let volume = Self { folder: folder.to_owned(), file, size: device.size, clock, is_released: false };
        fs::write(&volume.file, device.node.as_os_str().as_encoded_bytes()).map_err(failed)?;
        run("mount", &[], &[&device.node, folder])?;
        let _mended = fs::remove_dir(folder.join("lost+found"));
        Ok(volume)
    }

    /// Mounts the volume of a folder; makes it where there is none.
    ///
    /// # Errors
    /// No right to mount, another size than before, data in the folder that are not on the volume, or what a program says.
    pub(crate) fn mount(folder: &Path, size: Bytes, clock: &Arc<dyn Clock>) -> Result<Self, Error> {
        let file = file_of(folder);
        let volume = Self { folder: folder.to_owned(), file, size, clock: Arc::clone(clock), is_released: false };
        if !sys::is_root() {
            return Err(Error::refused(
                "failed to mount a volume for storage.volume: this needs root; run as root, or remove storage.volume",
            ));
        }
        if is_mounted(folder) {
            // Left by an agent of the same study that has ended meanwhile.
            end(folder, &**clock, RELEASED_WITHIN)?;
        }
        let failed =
            |error: std::io::Error| Error::new(format!("failed to create the volume of {}: {error}", folder.display()));
        fs::create_dir_all(folder).map_err(failed)?;
        if fs::read_dir(folder).map_err(failed)?.next().is_some() {
            return Err(Error::refused(format!(
                "failed to mount a volume at {}: the folder already contains data that are not on it; delete them, or \
                 choose another storage.path",
                folder.display()
            )));
        }
        let is_new = !volume.file.exists();
        if is_new {
            volume.make().inspect_err(|_| drop(fs::remove_file(&volume.file)))?;
        }
        volume.expect_size()?;
        run("mount", &["-o", "loop"], &[&volume.file, folder])?;
        if is_new {
            // An empty folder is claimed; the file system has put one of its own there.
            let _mended = fs::remove_dir(folder.join("lost+found"));
        }
        Ok(volume)
    }

    /// Makes the file with its file system. Its blocks are taken at once: room that is promised is there.
    fn make(&self) -> Result<(), Error> {
        let failed = |error: String| Error::new(format!("failed to create {}: {error}", self.file.display()));
        let file = File::create(&self.file).map_err(|error| failed(error.to_string()))?;
        sys::allocate(&file, 0, self.size.0).map_err(|error| failed(error.to_string()))?;
        make_file_system(&self.file, self.size)
    }

    fn expect_size(&self) -> Result<(), Error> {
        let found = fs::metadata(&self.file).map_or(0, |found| found.len());
        if found == self.size.0 {
            return Ok(());
        }
        Err(Error::refused(format!(
            "failed to mount the volume {}: its size is {}, but storage.volume is {}; delete it, or set storage.volume \
             to its size",
            self.file.display(),
            Bytes(found),
            self.size
        )))
    }

    /// Folder where it is mounted.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its size.
    pub(crate) const fn size(&self) -> Bytes {
        self.size
    }

    /// Facts of it.
    pub(crate) fn facts(&self) -> Vec<Fact> {
        let found = sys::space_at(&self.folder).map(|space| space.total);
        let holds = is_mounted(&self.folder);
        let device = Some(&self.file).filter(|file| **file == named(&self.folder, DEVICE_ENDING));
        let on = device.and_then(|file| fs::read_to_string(file).ok()).map(|device| format!("{device}, purged"));
        let on = on.unwrap_or_else(|| "a file".to_owned());
        let effective = found.ok().filter(|_| holds).map(|total| format!("ext4 on {on}, capacity {total}"));
        vec![storage::VOLUME.compared(self.size.to_string(), effective, holds, "statvfs of the mounted volume")]
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        if !self.is_released {
            let _swept_later = end(&self.folder, &*self.clock, RELEASED_WITHIN);
        }
    }
}

/// Unmounts the volumes of an agent that ends. Each is tried once before any is waited for, so that one in use keeps no other mounted.
pub(crate) fn release_volumes(mut volumes: Vec<Volume>) {
    let Some(clock) = volumes.first().map(|volume| Arc::clone(&volume.clock)) else { return };
    for volume in &mut volumes {
        volume.is_released = end(&volume.folder, &*clock, Duration::ZERO).is_ok();
    }
    let begun = clock.now();
    for volume in volumes.iter_mut().filter(|volume| !volume.is_released) {
        let left = ALL_RELEASED_WITHIN.saturating_sub(clock.now().since(begun));
        let _swept_later = end(&volume.folder, &*clock, left);
        volume.is_released = true;
    }
}

/// Unmounts the volumes directly below a study's folder that a dead agent has left; tells what was found, in words.
///
/// # Errors
/// One cannot be unmounted.
pub(crate) fn sweep(folder: &Path, clock: &dyn Clock) -> Result<Vec<String>, Error> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let place = |entry: fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_str()?;
        name.strip_suffix(ENDING).or_else(|| name.strip_suffix(DEVICE_ENDING)).map(|name| folder.join(name))
    };
    let mut found = Vec::new();
    for place in entries.filter_map(place).filter(|place| is_mounted(place)) {
        found.extend(end(&place, clock, RELEASED_WITHIN)?);
        found.push(format!("unmounted the volume at {}", place.display()));
    }
    Ok(found)
}

/// Fails unless data lie on a volume of ours.
///
/// # Errors
/// They lie on a file system that others use.
pub(crate) fn expect_own_volume(data: &Path) -> Result<(), Error> {
    let folder = data.parent().unwrap_or(data);
    if is_mounted(folder) && file_of(folder).exists() {
        return Ok(());
    }
    Err(Error::refused(format!("{} is not on a volume made for the study; set storage.volume", data.display())))
}

/// Makes a file system in a file. Its last block is left to the label of a cache tier.
pub(super) fn make_file_system(file: &Path, size: Bytes) -> Result<(), Error> {
    const BLOCK: u64 = 4096;
    let blocks = (size.0 / BLOCK).saturating_sub(1).to_string();
    run("mkfs.ext4", &["-q", "-F", "-m", "0", "-b", "4096"], &[file, Path::new(&blocks)])
}

/// Unmounts a volume; a device is cleared as well, where it is the one that was mounted there. What a killed server on it left in the
/// kernel goes first, also where the volume was under a cache tier at its death; tells that in words. What is in use for a moment is tried
/// again.
fn end(folder: &Path, clock: &dyn Clock, within: Duration) -> Result<Option<String>, Error> {
    let is_ours = is_mounted(folder) && snapshots::is_ours(folder);
    let freed = is_ours.then(|| instances::freed_after_kill(&snapshots::data_folder(folder), clock)).flatten();
    let marker = named(folder, DEVICE_ENDING);
    let mounted = fs::metadata(folder).map(|found| found.dev()).ok();
    let is_it = |node: &PathBuf| mounted.is_some() && fs::metadata(node).map(|found| found.rdev()).ok() == mounted;
    let device = fs::read_to_string(&marker).ok().map(PathBuf::from).filter(is_it);
    unmount(folder, clock, within)?;
    if let Some(node) = device {
        run("wipefs", &["--all", "--quiet"], &[&node])?;
    }
    let _there_was_none = fs::remove_file(marker);
    Ok(freed)
}

/// Unmounts a folder; what is in use for a moment is tried again.
fn unmount(folder: &Path, clock: &dyn Clock, within: Duration) -> Result<(), Error> {
    let begun = clock.now();
    loop {
        match run("umount", &[], &[folder]) {
            Err(_) if is_mounted(folder) && clock.now().since(begun) < within => clock.sleep(GLANCE),
            done => return done,
        }
    }
}

/// The file of the volume of a folder.
pub(super) fn file_of(folder: &Path) -> PathBuf {
    named(folder, ENDING)
}

/// A path beside a folder, whose name goes on.
pub(super) fn named(folder: &Path, ending: &str) -> PathBuf {
    let mut name = folder.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    folder.with_file_name(name)
}

/// Whether a file system begins at a folder.
pub(super) fn is_mounted(folder: &Path) -> bool {
    let device = |path: &Path| fs::metadata(path).map(|found| found.dev()).ok();
    let above = folder.parent().and_then(device);
    above.is_some() && device(folder).is_some_and(|here| Some(here) != above)
}

/// Runs a program of the system on paths.
pub(super) fn run(program: &str, options: &[&str], paths: &[&Path]) -> Result<(), Error> {
    let failed = |why: String| Error::new(format!("{program} {}: {why}", paths[0].display()));
    let done = Command::new(program).args(options).args(paths).output().map_err(|error| failed(error.to_string()))?;
    if done.status.success() {
        return Ok(());
    }
    Err(failed(String::from_utf8_lossy(&done.stderr).trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_clock::TestClock;
    use proofload_model::time::{Moment, WallTime};
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A clock that moves while somebody sleeps, when a folder must not be mounted any more.
    struct Watching {
        nanoseconds: AtomicU64,
        folder: PathBuf,
    }

    impl Clock for Watching {
        fn now(&self) -> Moment {
            Moment(self.nanoseconds.load(Ordering::Relaxed))
        }
        fn wall(&self) -> WallTime {
            WallTime(0)
        }
        fn sleep(&self, time: Duration) {
            assert!(!is_mounted(&self.folder), "it waits for the one in use");
            self.nanoseconds.fetch_add(u64::try_from(time.as_nanos()).unwrap(), Ordering::Relaxed);
        }
    }

    #[test]
    fn a_volume_in_use_keeps_no_other_mounted_when_an_agent_ends() {
        if !sys::is_root() {
            println!("SKIPPED: a_volume_in_use_keeps_no_other_mounted_when_an_agent_ends: only root can mount");
            return;
        }
        let study = tempfile::tempdir_in("/var/tmp").unwrap();
        let [used, free] = ["used", "free"].map(|name| study.path().join(name));
        let clock: Arc<dyn Clock> = Arc::new(Watching { nanoseconds: AtomicU64::new(0), folder: free.clone() });
        let mount = |folder: &Path| Volume::mount(folder, Bytes(32 << 20), &clock).unwrap();
        let volumes = vec![mount(&used), mount(&free)];
        let mut user = Command::new("sleep").arg("600").current_dir(&used).spawn().unwrap();
        release_volumes(volumes);
        let took = clock.now().since(Moment(0));
        let found = (is_mounted(&used), is_mounted(&free));
        user.kill().unwrap();
        user.wait().unwrap();
        end(&used, &TestClock::new(), RELEASED_WITHIN).unwrap();
        assert_eq!(found, (true, false), "what is in use is left to a sweep");
        assert!(took <= ALL_RELEASED_WITHIN + GLANCE, "{took:?}");
    }

    #[test]
    fn a_volume_is_made_once_mounted_again_and_swept() {
        if !sys::is_root() {
            println!("SKIPPED: a_volume_is_made_once_mounted_again_and_swept: only root can mount");
            return;
        }
        let study = tempfile::tempdir_in("/var/tmp").unwrap();
        let folder = study.path().join("place");
        let (size, clock): (Bytes, Arc<dyn Clock>) = (Bytes(32 << 20), Arc::new(TestClock::new()));
        assert!(expect_own_volume(&folder.join("data")).is_err(), "nothing is there");
        let volume = Volume::mount(&folder, size, &clock).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "it can be claimed");
        fs::create_dir(folder.join("data")).unwrap();
        expect_own_volume(&folder.join("data")).unwrap();
        assert_eq!(volume.facts()[0].holds, Some(true));
        std::mem::forget(volume);
        let found = sweep(study.path(), &*clock).unwrap();
        assert_eq!(
            found,
            [format!("unmounted the volume at {}", folder.display())],
            "left by an agent that was killed"
        );
        assert!(!is_mounted(&folder) && sweep(study.path(), &*clock).unwrap().is_empty());
        let other = Volume::mount(&folder, Bytes(48 << 20), &clock).unwrap_err().to_string();
        assert!(other.contains("delete it, or set storage.volume to its size"), "{other}");
        let again = Volume::mount(&folder, size, &clock).unwrap();
        assert!(folder.join("data").is_dir(), "its content is kept");
        // A process that was killed a moment ago.
        let mut user = Command::new("sleep").arg("1").current_dir(&folder).spawn().unwrap();
        drop(again);
        assert!(!is_mounted(&folder), "it is unmounted as soon as nobody uses it");
        user.wait().unwrap();
        fs::write(folder.join("letter"), "dear").unwrap();
        assert!(Volume::mount(&folder, size, &clock).unwrap_err().to_string().contains("not on it"));
    }
}

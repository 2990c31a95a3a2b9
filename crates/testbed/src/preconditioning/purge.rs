//! Returns a device to fresh out of box: all its blocks are discarded, so that the drive knows none of them as written. ALL ITS DATA ARE LOST. Only
//! a device that the guard has let pass. Not tried on a drive; tried on loop devices.

use crate::guard::{self, DeviceUse};
use crate::storages::DeviceToMount;
use proofload_model::error::Error;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Tries to make a file system, and the pause between two.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(100);

/// Discards a whole device and puts a new file system on it. `folder`: the study's, which may not lie on it.
///
/// # Errors
/// The guard refuses, or the device discards nothing.
pub(crate) fn purge(device: &str, confirmed: Option<&str>, folder: &Path) -> Result<DeviceToMount, Error> {
    let claim = guard::claim(device, confirmed, folder, DeviceUse::Purge)?;
    let (node, size) = (claim.node().to_owned(), claim.size());
    // By force, since we hold the device ourselves.
    run("blkdiscard", &["--force"], &node).map_err(|error| {
        error.context(format!("failed to purge {device}; for a drive without discard use its vendor's program"))
    })?;
    drop(claim);
    make_file_system(&node)?;
    Ok(DeviceToMount { node, size })
}

/// Why a device of this machine would be refused even if it were named twice; `None` when nothing stands against it. Writes nothing. `folder`:
/// the study's.
pub fn purge_refusal(device: &str, folder: &Path) -> Option<String> {
    let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    guard::claim(device, Some(device), &folder, DeviceUse::Purge).err().map(|error| error.to_string())
}

/// Makes a file system. A process that another thread has just forked has our claim as well until it runs its program: the device is in use for
/// that long.
fn make_file_system(node: &Path) -> Result<(), Error> {
    let make = || run("mkfs.ext4", &["-q", "-F", "-m", "0", "-E", "nodiscard"], node);
    let again = |_try: u32| {
        std::thread::sleep(PAUSE);
        make().ok()
    };
    make().or_else(|error| (1..TRIES).find_map(again).ok_or(error))
}

fn run(program: &str, options: &[&str], node: &Path) -> Result<(), Error> {
    let failed = |why: String| Error::new(format!("{program} {}: {why}", node.display()));
    let done = Command::new(program).args(options).arg(node).output().map_err(|error| failed(error.to_string()))?;
    if done.status.success() { Ok(()) } else { Err(failed(String::from_utf8_lossy(&done.stderr).trim().to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storages::{self, Volume};
    use crate::sys;
    use crate::test_clock::TestClock;
    use proofload_model::time::Clock;
    use std::sync::Arc;

    /// A loop device on a file.
    struct Loop(String);

    impl Loop {
        fn on(file: &Path) -> Option<Self> {
            std::fs::File::create(file).and_then(|file| file.set_len(64 << 20)).unwrap();
            let made = Command::new("losetup").args(["--show", "-f"]).arg(file).output().ok()?;
            made.status.success().then(|| Self(String::from_utf8_lossy(&made.stdout).trim().to_owned()))
        }
    }

    impl Drop for Loop {
        fn drop(&mut self) {
            let _detached = Command::new("losetup").args(["-d", &self.0]).status();
        }
    }

    #[test]
    fn a_refusal_names_the_purge() {
        let refused = purge_refusal("/dev/null", Path::new("/")).unwrap();
        assert!(refused.starts_with("refuse to purge /dev/null, "), "{refused}");
        assert!(refused.contains("not a block device"), "{refused}");
    }

    #[test]
    fn a_device_is_discarded_mounted_and_clear_again_for_the_next_run() {
        let study = tempfile::tempdir_in("/var/tmp").unwrap();
        let file = study.path().join("drive");
        let Some(device) = Some(()).filter(|()| sys::is_root()).and_then(|()| Loop::on(&file)) else {
            println!("SKIPPED: there is no right to loop devices");
            return;
        };
        let elsewhere = Path::new("/");
        let clock: Arc<dyn Clock> = Arc::new(TestClock::new());
        let refused = purge(&device.0, Some("/dev/other"), elsewhere).unwrap_err().to_string();
        assert!(refused.contains("--yes names"), "{refused}");
        let folder = study.path().join("place.primary");
        for run in 0..2 {
            std::fs::write(&device.0, vec![7; 32 << 20]).unwrap();
            // Written to the device, and by it to its file, whose blocks are counted.
            [Path::new(&device.0), &file].iter().for_each(|it| std::fs::File::open(it).unwrap().sync_all().unwrap());
            let used = || std::os::unix::fs::MetadataExt::blocks(&std::fs::metadata(&file).unwrap()) * 512;
            assert!(used() >= 32 << 20);
            let purged = purge(&device.0, Some(&device.0), elsewhere).unwrap();
            assert!(used() < 16 << 20, "what was written is discarded: {} bytes are left", used());
            let volume = Volume::on_device(&folder, &purged, &clock).unwrap();
            std::fs::write(folder.join("row"), "x").unwrap();
            if run == 0 {
                drop(volume);
            } else {
                std::mem::forget(volume);
                assert_eq!(storages::sweep(study.path(), &*clock).unwrap().len(), 1, "an agent was killed");
            }
            assert!(!folder.join("row").exists());
        }
        // A process that another test has just begun may hold the mount for a moment more.
        let begun = std::time::Instant::now();
        while let Err(error) = purge(&device.0, Some(&device.0), elsewhere) {
            assert!(begun.elapsed().as_secs() < 120, "its file system of ours is no obstacle: {error}");
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        let signed = purge(&device.0, Some(&device.0), elsewhere).unwrap_err().to_string();
        assert!(signed.contains("it contains"), "a file system that was never mounted by us is one: {signed}");
    }
}

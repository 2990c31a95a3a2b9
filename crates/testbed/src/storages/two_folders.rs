//! A storage of the tests: the log lies in a folder of its own beside the data, as on a second device. Proves that a storage is a file and a
//! line.

use super::Devices;
use super::storage::{AttachedStorage, Storage, StorageOrder};
use proofload_model::error::Error;
use proofload_model::samples::Fact;
use std::path::{Path, PathBuf};

/// The storage `two folders`.
pub(super) struct TwoFolders;

#[derive(Debug)]
struct DataAndLog {
    data: PathBuf,
    log: PathBuf,
}

impl DataAndLog {
    fn link(&self) -> PathBuf {
        self.data.join("log")
    }
}

impl Storage for TwoFolders {
    fn name(&self) -> &'static str {
        "two folders"
    }

    fn attach(&self, order: &StorageOrder<'_>) -> Result<Box<dyn AttachedStorage>, Error> {
        let both = DataAndLog { data: order.data.to_owned(), log: order.data.with_file_name("log") };
        let made = std::fs::create_dir_all(&both.log).and_then(|()| std::os::unix::fs::symlink(&both.log, both.link()));
        made.map_err(|error| Error::new(format!("link {}: {error}", both.link().display())))?;
        Ok(Box::new(both))
    }
}

impl AttachedStorage for DataAndLog {
    fn folder(&self) -> &Path {
        &self.data
    }

    fn devices(&self) -> Devices {
        Devices::of_folders([self.data.as_path(), self.log.as_path()].into_iter())
    }

    fn verify(&self) -> Vec<Fact> {
        let found = std::fs::read_link(self.link()).ok();
        let holds = Some(found.as_ref() == Some(&self.log));
        let effective = found.map(|found| found.display().to_string());
        let requested = Some(self.log.display().to_string());
        let fact = Fact::observed("storage", "log", "", "the link in the data folder");
        vec![Fact { requested, effective, holds, ..fact }]
    }

    fn counters(&self) -> Vec<Fact> {
        let files = std::fs::read_dir(&self.log).into_iter().flatten().count();
        vec![Fact::observed("usage", "storage.log_files", files.to_string(), "the folder of the log")]
    }

    fn detach(&mut self) -> Result<(), Error> {
        std::fs::remove_file(self.link()).map_err(|error| Error::new(format!("failed to unlink the log: {error}")))
    }
}

impl Drop for DataAndLog {
    fn drop(&mut self) {
        let _detached_before = self.detach();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::HostRole;
    use proofload_model::deployment::{InstanceName, StoragePlan};
    use proofload_model::time::{Clock, Moment, WallTime};
    use proofload_model::wire::host::{Attach, Create, Detach, HostService as _, PrepareLimits, ReadUsage, Verify};
    use proofload_model::wire::{DataLocation, LimitsAsked};
    use std::sync::Arc;

    struct Still;

    impl Clock for Still {
        fn now(&self) -> Moment {
            Moment(0)
        }
        fn wall(&self) -> WallTime {
            WallTime(0)
        }
        fn sleep(&self, _: std::time::Duration) {}
    }

    fn of<'a>(facts: &'a [Fact], name: &str) -> Option<&'a Fact> {
        facts.iter().find(|fact| fact.name == name)
    }

    #[test]
    fn it_is_attached_verified_counted_and_detached_by_the_host_role() {
        let study = tempfile::tempdir().unwrap();
        let folder = study.path().join("place").display().to_string();
        let place = DataLocation {
            engine: "sqlite".to_owned(),
            folder: folder.clone(),
            url: None,
            settings: Vec::new(),
            tier: None,
        };
        let (link, instance) = (Path::new(&folder).join("data/log"), InstanceName::new("standby"));
        let mut role = HostRole::new(Arc::new(Still), Arc::new(|_| {}));
        role.create(Create { instance: instance.clone(), place: place.clone() }).unwrap();
        let attach = |kind: &str| Attach {
            instance: instance.clone(),
            place: place.clone(),
            storage: StoragePlan { kind: kind.to_owned() },
        };
        let limits = || PrepareLimits { instance: instance.clone(), limits: LimitsAsked::default() };
        let early = role.prepare_limits(limits()).unwrap_err().to_string();
        assert_eq!(early, "failed to prepare limits: no storage is attached");
        let facts = role.attach(attach("two folders")).unwrap();
        assert_eq!(of(&facts, "log").map(|fact| (fact.holds, &fact.instance)), Some((Some(true), &instance)));
        role.prepare_limits(limits()).unwrap();
        std::fs::write(Path::new(&folder).join("log/1"), "x").unwrap();
        let used = role.read_usage(ReadUsage { instance: instance.clone() }).unwrap();
        assert_eq!(of(&used, "storage.log_files").and_then(|fact| fact.effective.as_deref()), Some("1"));
        std::fs::remove_file(&link).unwrap();
        let facts = role.verify(Verify { instance: instance.clone() }).unwrap();
        assert_eq!(of(&facts, "log").and_then(|fact| fact.holds), Some(false), "somebody took the link away");
        assert!(role.detach(Detach { instance: instance.clone() }).is_err(), "and that is told");
        role.attach(attach("two folders")).unwrap();
        role.attach(attach("directory")).unwrap();
        assert!(!link.exists(), "another storage takes its place");
        let error = role.attach(attach("holograms")).unwrap_err();
        assert_eq!(error.to_string(), "unknown storage \"holograms\"");
    }
}

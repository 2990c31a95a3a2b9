//! Folders in which a study may write: never the root, the system's, or those that others share.

use super::contradictions::RuleContext;
use super::factor::values_of;
use crate::letters::is_steering;
use crate::settings::setting;
use std::path::{Component, Path, PathBuf};

/// Settings that name a folder for what a study writes.
const FOLDER_SETTINGS: &[&str] = &[setting::STORAGE_PATH, "storage.cache.path"];

/// System folders that no data belong in.
const SYSTEM_FOLDERS: &[&str] =
    &["/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr"];

/// Folders in which data may have folders of their own.
const SHARED_FOLDERS: &[&str] = &["/home", "/opt", "/var", "/var/cache", "/var/lib", "/var/log", "/var/spool"];

/// The part of `/dev` that is memory for everybody.
const SHARED_MEMORY: &str = "/dev/shm";

/// Folders that a study names lie in none of the system's, at every point.
pub(super) fn folders(look: &mut RuleContext<'_>) {
    for setting in FOLDER_SETTINGS {
        let values = values_of(setting, &look.study.settings, &look.study.factors);
        let reason = values.iter().find_map(|value| no_folder(&value.to_string()));
        if let Some(reason) = reason {
            look.fault(setting, reason);
        }
    }
}

/// Why data cannot lie in a folder of this name; `None` when they can.
fn no_folder(path: &str) -> Option<String> {
    if path.trim().is_empty() {
        return Some("does not name a folder".to_owned());
    }
    if path.chars().any(is_steering) {
        return Some("contains control characters".to_owned());
    }
    let folder = plain(Path::new(path));
    if folder.parent().is_none() {
        return Some("is the root of the file system; use a folder below it".to_owned());
    }
    let in_system = |system: &&&str| folder.starts_with(system) && !folder.starts_with(SHARED_MEMORY);
    if let Some(system) = SYSTEM_FOLDERS.iter().find(in_system) {
        return Some(format!("is inside {system}, which belongs to the system"));
    }
    let shared = SHARED_FOLDERS.iter().find(|shared| folder == Path::new(shared))?;
    Some(format!("is {shared} itself, which other programs use as well; use a folder below it"))
}

/// A path without `.` and `..`, as far as its text tells: `/srv/../etc` is `/etc`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.has_root() => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

//! Names, nodes and words that the caches of the device mapper share. Source: dmsetup(8).

use super::step::{CacheStep, DMSETUP, PROGRAM, output_of};
use proofload_model::error::Error;
use proofload_model::time::Clock;
use std::path::{Path, PathBuf};

/// The node of a mapped device.
pub(super) fn node(name: &str) -> PathBuf {
    Path::new("/dev/mapper").join(name)
}

/// Whether a device of the name is mapped.
pub(super) fn is_mapped(name: &str) -> bool {
    let entries = std::fs::read_dir("/sys/class/block").into_iter().flatten().flatten();
    let mut names = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("dm/name")).ok());
    names.any(|found| found.trim() == name)
}

/// Makes a device of a table; undone by removing it.
pub(super) fn create(name: &str, table: &str) -> (CacheStep, Option<CacheStep>) {
    (CacheStep::run(DMSETUP, ["create", name, "--table", table]), Some(remove(name)))
}

/// Removes a device; a user that is about to leave it is waited for.
pub(super) fn remove(name: &str) -> CacheStep {
    CacheStep::run(DMSETUP, ["remove", "--retry", name])
}

/// Removes those of the devices that are mapped.
pub(super) fn remove_mapped(names: &[String]) -> Vec<CacheStep> {
    names.iter().filter(|name| is_mapped(name)).map(|name| remove(name)).collect()
}

/// What the target of a device says of itself: the words after its name.
///
/// # Errors
/// It is not in place, or another target is.
pub(super) fn status(name: &str, target: &str, clock: &dyn Clock) -> Result<Vec<String>, Error> {
    if !is_mapped(name) {
        return Err(Error::new(format!("{} is not in place; `tier kernel recover` restores it", node(name).display())));
    }
    let text = output_of(DMSETUP, &["status".to_owned(), name.to_owned()], PROGRAM, clock)?;
    words(&text, target).ok_or_else(|| not_understood(target, &text))
}

/// The words after the name of the target: a line has first sector, sectors, target and what it says.
pub(super) fn words(text: &str, target: &str) -> Option<Vec<String>> {
    let mut words = text.split_ascii_whitespace();
    let found = words.nth(2)?;
    (found == target).then(|| words.map(str::to_owned).collect())
}

/// An error for what a target says.
pub(super) fn not_understood(target: &str, text: &str) -> Error {
    Error::new(format!("unexpected status of {target}: {:?}", text.trim()))
}

//! Halts all members of a control group at once, or ends them so that nobody sees another end. Source: cgroup-v1/freezer-subsystem.rst;
//! cgroup-v2.rst, `cgroup.freeze`, `cgroup.kill`.

use super::cgroup_dir::{CgroupDir, within};
use super::hierarchy::Version;
use crate::sys;
use proofload_model::error::Error;
use std::time::Duration;

const KILL: i32 = 9;

/// How long members may take to stand still: each first ends the system call that it is in.
const HALTING: Duration = Duration::from_secs(2);

/// The file of version 1 and of version 2 that halts, and its words for halted and not.
const fn words(version: Version) -> (&'static str, [&'static str; 2]) {
    match version {
        Version::One => ("freezer.state", ["THAWED", "FROZEN"]),
        Version::Two => ("cgroup.freeze", ["0", "1"]),
    }
}

/// Halts all members, or lets them go on; does not wait.
///
/// # Errors
/// The kernel refuses.
pub(crate) fn freeze(dir: &CgroupDir, frozen: bool) -> Result<(), Error> {
    let (file, words) = words(dir.version());
    dir.write(file, words[usize::from(frozen)])
}

/// Whether the kernel says that all members stand still.
///
/// # Errors
/// It says nothing.
pub(crate) fn is_frozen(dir: &CgroupDir) -> Result<bool, Error> {
    match dir.version() {
        Version::One => Ok(dir.read("freezer.state")? == "FROZEN"),
        Version::Two => Ok(dir.read("cgroup.events")?.lines().any(|line| line == "frozen 1")),
    }
}

/// Ends all members; none of them runs again, also where they were halted before.
///
/// # Errors
/// The kernel refuses.
pub(crate) fn kill(dir: &CgroupDir) -> Result<(), Error> {
    if dir.has("cgroup.kill") {
        return dir.write("cgroup.kill", "1");
    }
    freeze(dir, true)?;
    // What does not stand still by then is killed as it runs.
    within(HALTING, || is_frozen(dir).unwrap_or(true));
    doom(dir);
    // A signal reaches what is halted in version 1 only when it goes on: then as its first act.
    freeze(dir, false)
}

/// Tells all members to end, and lets the halted go on to do so.
pub(super) fn end_halted(dir: &CgroupDir) {
    doom(dir);
    thaw(dir);
}

/// Lets members go on where the group halts them.
pub(super) fn thaw(dir: &CgroupDir) {
    if dir.has(words(dir.version()).0) {
        let _not_frozen = freeze(dir, false);
    }
}

fn doom(dir: &CgroupDir) {
    for process in dir.members() {
        sys::signal(process, KILL);
    }
}

//! System V segments of shared memory: what the kernel lists, and their removal. May not decide which one to remove.

use proofload_model::error::Error;
use std::process::Command;

/// A segment as the kernel lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListedSegment {
    /// Key under which it was made; 0 from its removal on, while it is attached.
    pub(crate) key: i64,
    /// Process that made it.
    pub(crate) creator: u32,
    /// User that made it.
    pub(crate) user: u32,
    /// How often it is attached.
    pub(crate) attached: u64,
}

/// The segment of a number; `None` where there is none.
pub(crate) fn listed_segment(id: u32) -> Option<ListedSegment> {
    let all = std::fs::read_to_string("/proc/sysvipc/shm").ok()?;
    all.lines().find_map(|line| listed(line, id))
}

/// Reads a line. Format of `/proc/sysvipc/shm`, by its first line: key, number, permissions, size, creator, last process, attachments,
/// user and group, and user and group of the creator.
fn listed(line: &str, id: u32) -> Option<ListedSegment> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let is_it = fields.get(1)?.parse() == Ok(id);
    let found = ListedSegment {
        key: fields.first()?.parse().ok()?,
        creator: fields.get(4)?.parse().ok()?,
        user: fields.get(9)?.parse().ok()?,
        attached: fields.get(6)?.parse().ok()?,
    };
    is_it.then_some(found)
}

/// Removes a segment; one that is attached goes with the last process that has it.
///
/// # Errors
/// What ipcrm(1) says.
pub(crate) fn remove_segment(id: u32) -> Result<(), Error> {
    let failed = |why: String| Error::new(format!("failed to remove the segment {id} of shared memory: ipcrm: {why}"));
    let done = Command::new("ipcrm").args(["-m", &id.to_string()]).output();
    let done = done.map_err(|error| failed(error.to_string()))?;
    if done.status.success() { Ok(()) } else { Err(failed(String::from_utf8_lossy(&done.stderr).trim().to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_the_kernel_writes_it() {
        let title =
            "       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  cgid      atime";
        let line =
            "        12      32770  1600                    56  4711  4712      2     0     0   104   106 1764500000";
        assert_eq!(listed(title, 32_770), None);
        assert_eq!(listed(line, 12), None, "a key is no number");
        assert_eq!(listed(line, 32_770), Some(ListedSegment { key: 12, creator: 4711, user: 104, attached: 2 }));
        let negative = listed(&line.replace("        12 ", "-559038737 "), 32_770);
        assert_eq!(negative.map(|found| found.key), Some(-559_038_737));
    }
}

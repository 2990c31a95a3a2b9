//! The kernel's list of mounts; reading only.

use proofload_model::error::Error;
use std::path::{Path, PathBuf};

/// A device's number, as `major:minor`.
pub(super) type Number = String;

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    /// Number of its device; of major 0 where a file system has none or several.
    pub(super) number: Number,
    /// Where it is mounted.
    pub(super) point: PathBuf,
    /// What is mounted, such as `/dev/sdb1`.
    pub(super) source: String,
    /// Options of the mount and of the file system.
    options: String,
}

/// All mounts, in the order in which they were made. Source: proc(5), `/proc/pid/mountinfo`.
pub(super) fn all(proc: &Path) -> Result<Vec<Mount>, Error> {
    let path = proc.join("self/mountinfo");
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Error::new(format!("failed to read {}: {error}", path.display())))?;
    let unread = |line: &str| Error::new(format!("{}: unexpected line {line:?}", path.display()));
    text.lines().map(|line| read(line).ok_or_else(|| unread(line))).collect()
}

/// The mount that holds a path, which must be absolute and without links: the longest mount point, of equal ones the last.
pub(super) fn holding<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let above = mounts.iter().filter(|mount| path.starts_with(&mount.point));
    above.max_by_key(|mount| mount.point.components().count())
}

/// Whether the file system that holds a path tells its drive at once which blocks are free.
pub(crate) fn discards(path: &Path) -> Result<bool, Error> {
    let mounts = all(Path::new("/proc"))?;
    let mount = holding(&mounts, path);
    let mount = mount.ok_or_else(|| Error::new(format!("{} is on no known mount", path.display())))?;
    Ok(says_discard(&mount.options))
}

fn says_discard(options: &str) -> bool {
    options.split(',').any(|option| option == "discard" || option.starts_with("discard="))
}

fn read(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let left: Vec<&str> = left.split(' ').collect();
    let mut right = right.split(' ').skip(1);
    let (number, point, own) = (left.get(2)?, left.get(4)?, left.get(5)?);
    let source = right.next()?;
    Some(Mount {
        number: (*number).to_owned(),
        point: PathBuf::from(unescaped(point)),
        source: unescaped(source),
        options: format!("{own},{}", right.next().unwrap_or_default()),
    })
}

/// Undoes the kernel's escapes: a backslash and three octal digits stand for a blank, a tab, a line's end, a backslash.
pub(super) fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        let code = rest.get(at + 1..at + 4).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code {
            Some(code) => plain.push(char::from(code)),
            None => plain.push('\\'),
        }
        rest = &rest[at + if code.is_some() { 4 } else { 1 }..];
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_with_blanks_and_optional_fields() {
        let line = "36 35 8:17 / /mnt/two\\040words rw,noatime shared:1 master:2 - ext4 /dev/disk\\134x rw,discard,errors=continue";
        let mount = read(line).unwrap();
        assert_eq!((mount.number.as_str(), mount.point.as_path()), ("8:17", Path::new("/mnt/two words")));
        assert_eq!(mount.source, "/dev/disk\\x");
        assert!(says_discard(&mount.options) && says_discard("rw,discard=async") && !says_discard("rw,nodiscard"));
        assert_eq!(read("36 35 8:17 / /mnt"), None);
        assert_eq!(unescaped("tail\\04"), "tail\\04");
    }

    #[test]
    fn the_nearest_and_last_mount_holds_a_path() {
        let mount = |point: &str, number: &str| Mount {
            number: number.to_owned(),
            point: point.into(),
            source: String::new(),
            options: String::new(),
        };
        let mounts = [mount("/", "8:1"), mount("/data", "8:2"), mount("/data", "8:3"), mount("/database", "8:4")];
        let of = |path: &str| holding(&mounts, Path::new(path)).unwrap().number.clone();
        assert_eq!([of("/data/study"), of("/dat"), of("/database")], ["8:3", "8:1", "8:4"]);
    }

    #[test]
    fn this_machine_has_mounts() {
        let mounts = all(Path::new("/proc")).unwrap();
        assert!(holding(&mounts, Path::new("/")).is_some());
        discards(Path::new("/")).unwrap();
        assert!(all(Path::new("/nowhere")).is_err());
    }
}

//! What is mounted, by the kernel's own list, and how a mount of ours ends. It looks at no mounted folder: a server that
//! hangs would make it wait.

use std::fs;
#[cfg(any(feature = "fuse", test))]
use std::path::Path;
use std::path::PathBuf;

#[cfg(feature = "fuse")]
use super::programs::run;
#[cfg(feature = "fuse")]
use crate::error::Error;

/// One mount of this process's view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MountEntry {
    /// Where it is.
    pub(super) folder: PathBuf,
    /// What is mounted: a device, or a name.
    pub(super) source: String,
}

/// All mounts, the last one of a folder being the visible one.
pub(super) fn mounted() -> Vec<MountEntry> {
    parse(&fs::read_to_string("/proc/self/mountinfo").unwrap_or_default())
}

/// Reads the kernel's list. Source: proc(5), `mountinfo`.
fn parse(list: &str) -> Vec<MountEntry> {
    let read = |line: &str| {
        let (about, rest) = line.split_once(" - ")?;
        let folder = PathBuf::from(plain(about.split(' ').nth(4)?));
        Some(MountEntry { folder, source: plain(rest.split(' ').nth(1)?) })
    };
    list.lines().filter_map(read).collect()
}

/// A name whose blanks and backslashes the kernel wrote as octal numbers.
fn plain(name: &str) -> String {
    let mut pieces = name.split('\\');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let code = piece.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code {
            Some(code) => bytes.extend([&[code], &piece.as_bytes()[3..]].concat()),
            None => bytes.extend([b"\\", piece.as_bytes()].concat()),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Unmounts a folder of a FUSE file system; `lazily` also when it is in use, which then goes on to the last use.
#[cfg(feature = "fuse")]
pub(super) fn unmount(folder: &Path, lazily: bool) -> Result<(), Error> {
    let name = folder.display().to_string();
    let own: &[&str] = if lazily { &["-l", &name] } else { &[&name] };
    let by_helper: &[&str] = if lazily { &["-u", "-z", &name] } else { &["-u", &name] };
    // Only root may use the first; the second is for everybody, where it is installed.
    run("umount", own).or_else(|error| run("fusermount3", by_helper).map_err(|_| error)).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_list_is_read() {
        let list = "36 35 98:0 /mnt1 /mnt/a\\040b rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n\
                    37 35 0:50 / /x rw shared:2 master:3 - fuse proofload-tier-7.9 rw\nbroken\n";
        let found = parse(list);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].folder.to_str(), &*found[0].source), (Some("/mnt/a b"), "/dev/root"));
        assert_eq!((found[1].folder.to_str(), &*found[1].source), (Some("/x"), "proofload-tier-7.9"));
        assert_eq!((plain("a\\134b"), plain("a\\9")), ("a\\b".to_owned(), "a\\9".to_owned()));
        assert!(mounted().iter().any(|mount| mount.folder == Path::new("/proc")));
    }
}

//! Copying a tree of files with modes and owners: by shared blocks where the file system can, else byte by byte.
//! Symbolic links are copied as links and never followed; sockets and pipes are left out.

use super::contents::{Contents, FileContent, hashed};
use crate::sys;
use proofload_model::error::Error;
use proofload_model::units::Bytes;
use std::fs::{self, File, Metadata};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What was copied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CopyTally {
    pub(super) bytes: u64,
    pub(super) shared: u64,
    pub(super) files: u64,
    /// Its files; those whose blocks are shared were not read.
    pub(super) contents: Contents,
}

/// A copy under way.
struct TreeCopy<'a> {
    from: &'a Path,
    to: &'a Path,
    tally: CopyTally,
}

/// Copies the folder `from` to `to`, which must not exist. On an error `to` is removed again.
pub(super) fn copy_tree(from: &Path, to: &Path) -> Result<CopyTally, Error> {
    let mut copying = TreeCopy { from, to, tally: CopyTally::default() };
    let copied = copying.folder(from, to).and_then(|()| sys::sync_file_system(to));
    if let Err(error) = copied {
        let _removed = fs::remove_dir_all(to);
        return Err(error);
    }
    Ok(copying.tally)
}

/// Copies the folder `from` to `to`, which must not exist, with its rights.
///
/// # Errors
/// A file fails; then `to` is removed again.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> Result<(), Error> {
    copy_tree(from, to).map(drop)
}

/// Reads every file of a tree.
pub(super) fn contents_of(folder: &Path) -> Result<Contents, Error> {
    let mut contents = Contents::default();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in entries(&next)? {
            let metadata = look(&entry)?;
            if metadata.is_dir() {
                folders.push(entry);
            } else if metadata.is_file() {
                let content = File::open(&entry).and_then(|file| hashed(file, |_| Ok(())));
                let content = content.map_err(|error| failed("reading", &entry, &error))?;
                contents.add(entry.strip_prefix(folder).unwrap_or(&entry).to_owned(), content);
            }
        }
    }
    Ok(contents)
}

/// Bytes of all files of a tree.
pub(crate) fn size_of(folder: &Path) -> Result<Bytes, Error> {
    let mut bytes = 0;
    for entry in entries(folder)? {
        let metadata = look(&entry)?;
        bytes += if metadata.is_dir() { size_of(&entry)?.0 } else { metadata.len() };
    }
    Ok(Bytes(bytes))
}

impl TreeCopy<'_> {
    fn folder(&mut self, from: &Path, to: &Path) -> Result<(), Error> {
        fs::create_dir(to).map_err(|error| failed("making", to, &error))?;
        for entry in entries(from)? {
            let metadata = look(&entry)?;
            let target = to.join(entry.file_name().expect("an entry of a folder has a name"));
            if metadata.is_dir() {
                self.folder(&entry, &target)?;
            } else if metadata.is_symlink() {
                let link = fs::read_link(&entry).map_err(|error| failed("reading", &entry, &error))?;
                std::os::unix::fs::symlink(link, &target).map_err(|error| failed("making", &target, &error))?;
            } else if metadata.is_file() {
                self.file(&entry, &target, &metadata)?;
            }
        }
        keep_rights(to, &look(from)?)
    }

    fn file(&mut self, from: &Path, to: &Path, metadata: &Metadata) -> Result<(), Error> {
        let mut source = File::open(from).map_err(|error| failed("opening", from, &error))?;
        let mut target = File::create_new(to).map_err(|error| failed("making", to, &error))?;
        let content = if sys::clone_file(&source, &target) {
            self.tally.shared += 1;
            FileContent { size: metadata.len(), sha256: None }
        } else {
            if self.tally.shared == self.tally.files {
                self.expect_room()?;
            }
            let copied = hashed(&mut source, |piece| target.write_all(piece));
            copied.map_err(|error| failed("writing", to, &error))?
        };
        let path = from.strip_prefix(self.from).unwrap_or(from).to_owned();
        self.tally.contents.add(path, content);
        self.tally.bytes += metadata.len();
        self.tally.files += 1;
        keep_rights(to, metadata)
    }

    /// Refuses when what is left cannot fit. Asked when blocks turn out not to be shared, before the first byte is written.
    fn expect_room(&self) -> Result<(), Error> {
        let needed = size_of(self.from)?.0.saturating_sub(self.tally.bytes);
        let available = sys::space_at(self.to)?.available.0;
        if needed <= available {
            return Ok(());
        }
        Err(Error::new(format!(
            "failed to copy {} to {}: {} MiB are needed, but only {} MiB are free; free space or choose another \
             storage.path",
            self.from.display(),
            self.to.display(),
            needed.div_ceil(1 << 20),
            available >> 20
        )))
    }
}

fn keep_rights(path: &Path, like: &Metadata) -> Result<(), Error> {
    fs::set_permissions(path, like.permissions()).map_err(|error| failed("set the mode of", path, &error))?;
    let is = look(path)?;
    if (is.uid(), is.gid()) == (like.uid(), like.gid()) { Ok(()) } else { sys::set_owner(path, like.uid(), like.gid()) }
}

fn entries(folder: &Path) -> Result<Vec<std::path::PathBuf>, Error> {
    let entries = fs::read_dir(folder).map_err(|error| failed("inspect", folder, &error))?;
    entries.map(|entry| entry.map(|entry| entry.path()).map_err(|error| failed("inspect", folder, &error))).collect()
}

fn look(path: &Path) -> Result<Metadata, Error> {
    fs::symlink_metadata(path).map_err(|error| failed("inspect", path, &error))
}

fn failed(what: &str, path: &Path, error: &std::io::Error) -> Error {
    let remedy = if error.kind() == std::io::ErrorKind::StorageFull {
        "; the file system is full: free space or choose another storage.path"
    } else {
        ""
    };
    Error::new(format!("failed to {what} {}: {error}{remedy}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// A file system of one mebibyte, gone with the test.
    struct Small(tempfile::TempDir);

    impl Small {
        fn mount() -> Option<Self> {
            let folder = tempfile::tempdir().unwrap();
            let mut mount = Command::new("mount");
            mount.args(["-t", "tmpfs", "-o", "size=1m", "none"]).arg(folder.path());
            if mount.output().is_ok_and(|output| output.status.success()) {
                return Some(Self(folder));
            }
            println!("SKIPPED: no right to mount a small file system here");
            None
        }
    }

    impl Drop for Small {
        fn drop(&mut self) {
            Command::new("umount").arg(self.0.path()).status().unwrap();
        }
    }

    #[track_caller]
    fn check_full(files: usize, bytes_each: usize, expected: &str) {
        let Some(small) = Small::mount() else { return };
        let from = tempfile::tempdir().unwrap();
        for number in 0..files {
            fs::write(from.path().join(number.to_string()), vec![1; bytes_each]).unwrap();
        }
        let to = small.0.path().join("copy");
        let error = copy_tree(from.path(), &to).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert!(!to.exists(), "what was copied is removed again");
    }

    #[test]
    fn a_copy_that_cannot_fit_is_refused_with_both_sizes() {
        check_full(1, 3 << 20, "3 MiB are needed, but only 1 MiB are free; free space");
    }

    #[test]
    fn a_file_system_that_fills_up_meanwhile_is_told() {
        // Each file of one byte takes a page: little is needed by the sum, and yet there is no room.
        check_full(600, 1, "the file system is full: free space");
    }

    #[test]
    fn shared_blocks_are_a_copy() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        fs::write(&one, vec![5; 1 << 20]).unwrap();
        if !sys::clone_file(&File::open(&one).unwrap(), &File::create(&two).unwrap()) {
            println!("SKIPPED: the file system of {} shares no blocks", folder.path().display());
            assert_eq!(fs::metadata(&two).unwrap().len(), 0, "a refusal does nothing");
            return;
        }
        fs::write(&one, "changed").unwrap();
        assert_eq!(fs::read(&two).unwrap(), vec![5; 1 << 20]);
    }
}

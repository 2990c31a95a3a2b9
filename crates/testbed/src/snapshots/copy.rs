//! Copying a tree of files with modes and owners to one place or several: by shared blocks where the file system can, else byte by byte,
//! each file read once. Symbolic links are copied as links and never followed; sockets and pipes are left out.

use super::contents::{Contents, FileContent, hashed};
use crate::sys;
use proofload_model::error::Error;
use proofload_model::units::Bytes;
use std::cmp::Reverse;
use std::fs::{self, File, Metadata};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Files copied at the same time: while one waits for the disk, another is hashed.
const AT_ONCE: usize = 4;

/// What was copied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CopyTally {
    pub(super) bytes: u64,
    pub(super) shared: u64,
    pub(super) files: u64,
    /// Its files; those whose blocks are shared were not read.
    pub(super) contents: Contents,
}

impl CopyTally {
    /// Adds a file of these bytes.
    fn add(&mut self, path: &Path, bytes: u64, content: FileContent) {
        self.shared += u64::from(content.sha256.is_none());
        self.bytes += bytes;
        self.files += 1;
        self.contents.add(path.to_owned(), content);
    }

    /// Adds what another worker has copied.
    fn extend(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.shared += other.shared;
        self.files += other.files;
        self.contents.extend(other.contents);
    }
}

/// A copy under way.
struct TreeCopy<'a> {
    from: &'a Path,
    targets: &'a [PathBuf],
    /// Whether there is room for all that is not shared.
    has_room: Mutex<bool>,
    /// Bytes of files whose blocks are shared.
    shared: AtomicU64,
}

/// Copies the folder `from` to each target, none of which may exist. On an error all of them are removed again.
pub(super) fn copy_to_all(from: &Path, targets: &[PathBuf]) -> Result<Vec<CopyTally>, Error> {
    let copying = TreeCopy { from, targets, has_room: Mutex::new(false), shared: AtomicU64::new(0) };
    let copied = copying.all();
    if copied.is_err() {
        for target in targets {
            let _removed = fs::remove_dir_all(target);
        }
    }
    copied
}

/// Copies the folder `from` to `to`, which must not exist, with its rights.
///
/// # Errors
/// A file fails; then `to` is removed again.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> Result<(), Error> {
    copy_to_all(from, &[to.to_owned()]).map(drop)
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
                let content = content.map_err(|error| failed("read", &entry, &error))?;
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

/// Contents of a tree, by their paths below it.
#[derive(Default)]
struct TreeList {
    /// Folders, each before those below it; the first is the tree itself.
    folders: Vec<PathBuf>,
    links: Vec<PathBuf>,
    /// Files with their sizes.
    files: Vec<(u64, PathBuf)>,
}

impl TreeList {
    fn of(tree: &Path) -> Result<Self, Error> {
        let mut list = Self::default();
        let mut left = vec![PathBuf::new()];
        while let Some(folder) = left.pop() {
            for entry in entries(&at(tree, &folder))? {
                let metadata = look(&entry)?;
                let path = folder.join(entry.file_name().expect("an entry of a folder has a name"));
                if metadata.is_dir() {
                    left.push(path);
                } else if metadata.is_symlink() {
                    list.links.push(path);
                } else if metadata.is_file() {
                    list.files.push((metadata.len(), path));
                }
            }
            list.folders.push(folder);
        }
        // The largest first, so that none of them is waited for alone.
        list.files.sort_unstable_by_key(|(size, _)| Reverse(*size));
        Ok(list)
    }
}

impl TreeCopy<'_> {
    fn all(&self) -> Result<Vec<CopyTally>, Error> {
        let list = TreeList::of(self.from)?;
        for target in self.targets {
            for folder in list.folders.iter().map(|folder| at(target, folder)) {
                fs::create_dir(&folder).map_err(|error| failed("create", &folder, &error))?;
            }
            list.links.iter().try_for_each(|link| self.link(link, target))?;
        }
        let tallies = self.files(&list.files)?;
        for target in self.targets {
            for folder in list.folders.iter().rev() {
                keep_rights(&at(target, folder), &look(&at(self.from, folder))?)?;
            }
            sys::sync_file_system(target)?;
        }
        Ok(tallies)
    }

    fn link(&self, path: &Path, target: &Path) -> Result<(), Error> {
        let (from, to) = (self.from.join(path), target.join(path));
        let link = fs::read_link(&from).map_err(|error| failed("read", &from, &error))?;
        std::os::unix::fs::symlink(link, &to).map_err(|error| failed("create", &to, &error))
    }

    /// Copies files by several workers; what was copied to each target.
    fn files(&self, files: &[(u64, PathBuf)]) -> Result<Vec<CopyTally>, Error> {
        let none = || vec![CopyTally::default(); self.targets.len()];
        let (next, has_failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let work = || {
            let mut tallies = none();
            while !has_failed.load(Ordering::Relaxed) {
                let Some((_, path)) = files.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                if let Err(error) = self.file(path, &mut tallies) {
                    has_failed.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
            Ok(tallies)
        };
        let broke_off =
            || Err(Error::new(format!("failed to copy {}: a thread of the copy panicked", self.from.display())));
        let copied: Vec<Result<Vec<CopyTally>, Error>> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..AT_ONCE.min(files.len())).map(|_| scope.spawn(work)).collect();
            workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| broke_off())).collect()
        });
        let mut all = none();
        for tallies in copied {
            all.iter_mut().zip(tallies?).for_each(|(whole, part)| whole.extend(part));
        }
        Ok(all)
    }

    /// Copies a file to each target, read once for all that do not share its blocks.
    fn file(&self, path: &Path, tallies: &mut [CopyTally]) -> Result<(), Error> {
        let from = self.from.join(path);
        let metadata = look(&from)?;
        let mut source = File::open(&from).map_err(|error| failed("open", &from, &error))?;
        let mut written = Vec::new();
        for (target, tally) in self.targets.iter().zip(tallies) {
            let to = target.join(path);
            let file = File::create_new(&to).map_err(|error| failed("create", &to, &error))?;
            if sys::clone_file(&source, &file) {
                self.shared.fetch_add(metadata.len(), Ordering::Relaxed);
                tally.add(path, metadata.len(), FileContent { size: metadata.len(), sha256: None });
            } else {
                written.push((to, file, tally));
            }
        }
        if !written.is_empty() {
            self.expect_room()?;
            let mut at_fault = from.clone();
            let content = hashed(&mut source, |piece| {
                written
                    .iter_mut()
                    .try_for_each(|(to, file, _)| file.write_all(piece).inspect_err(|_| at_fault.clone_from(to)))
            });
            let content = content.map_err(|error| failed("copy", &at_fault, &error))?;
            for (_, _, tally) in written {
                tally.add(path, metadata.len(), content.clone());
            }
        }
        self.targets.iter().try_for_each(|target| keep_rights(&target.join(path), &metadata))
    }

    /// Refuses when what is left cannot fit. Asked when blocks turn out not to be shared, before the first byte is written.
    fn expect_room(&self) -> Result<(), Error> {
        let mut has_room = self.has_room.lock().unwrap_or_else(PoisonError::into_inner);
        if *has_room {
            return Ok(());
        }
        let size = size_of(self.from)?.0;
        let devices = self.targets.iter().map(|target| Ok(look(target)?.dev())).collect::<Result<Vec<u64>, Error>>()?;
        for (target, device) in self.targets.iter().zip(&devices) {
            // Those on one file system share its room.
            let beside = devices.iter().filter(|other| *other == device).count() as u64;
            let needed = (size * beside).saturating_sub(self.shared.load(Ordering::Relaxed));
            let available = sys::space_at(target)?.available.0;
            if needed > available {
                return Err(Error::new(format!(
                    "failed to copy {} to {}: {} MiB are needed, but only {} MiB are free; free space or choose another \
                     storage.path",
                    self.from.display(),
                    target.display(),
                    needed.div_ceil(1 << 20),
                    available >> 20
                )));
            }
        }
        *has_room = true;
        Ok(())
    }
}

/// A path below a root, which may be the root itself.
fn at(root: &Path, path: &Path) -> PathBuf {
    if path.as_os_str().is_empty() { root.to_owned() } else { root.join(path) }
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
        let error = copy_to_all(from.path(), std::slice::from_ref(&to)).unwrap_err().to_string();
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

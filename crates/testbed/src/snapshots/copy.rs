//! Copying a tree of files with modes and owners: by shared blocks where the file system can, else byte by byte.
//! Symbolic links are copied as links and never followed; sockets and pipes are left out.

use crate::sys;
use proofload_model::error::Error;
use proofload_model::units::Bytes;
use std::fs::{self, File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What was copied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) bytes: u64,
    pub(super) shared: u64,
    pub(super) files: u64,
}

/// Copies the folder `from` to `to`, which must not exist. On an error `to` is removed again.
pub(super) fn copy_tree(from: &Path, to: &Path) -> Result<Tally, Error> {
    room_for(from, to)?;
    let mut tally = Tally::default();
    let copied = copy_folder(from, to, &mut tally).and_then(|()| sys::sync_file_system(to));
    if let Err(error) = copied {
        let _removed = fs::remove_dir_all(to);
        return Err(error);
    }
    Ok(tally)
}

/// Bytes of all files of a tree.
pub(super) fn size_of(folder: &Path) -> Result<Bytes, Error> {
    let mut bytes = 0;
    for entry in entries(folder)? {
        let metadata = look(&entry)?;
        bytes += if metadata.is_dir() { size_of(&entry)?.0 } else { metadata.len() };
    }
    Ok(Bytes(bytes))
}

/// Refuses before the first byte when the copy cannot fit. Shared blocks would need less, but are not promised.
fn room_for(from: &Path, to: &Path) -> Result<(), Error> {
    let needed = size_of(from)?;
    let parent = to.parent().unwrap_or(Path::new("."));
    let available = sys::space_at(parent)?.available;
    if needed > available {
        return Err(Error::new(format!(
            "copying {} to {}: {} MiB are needed and {} MiB are free; make room or choose another storage.path",
            from.display(),
            to.display(),
            needed.0.div_ceil(1 << 20),
            available.0 >> 20
        )));
    }
    Ok(())
}

fn copy_folder(from: &Path, to: &Path, tally: &mut Tally) -> Result<(), Error> {
    fs::create_dir(to).map_err(|error| failed("making", to, &error))?;
    for entry in entries(from)? {
        let metadata = look(&entry)?;
        let target = to.join(entry.file_name().expect("an entry of a folder has a name"));
        if metadata.is_dir() {
            copy_folder(&entry, &target, tally)?;
        } else if metadata.is_symlink() {
            let link = fs::read_link(&entry).map_err(|error| failed("reading", &entry, &error))?;
            std::os::unix::fs::symlink(link, &target).map_err(|error| failed("making", &target, &error))?;
        } else if metadata.is_file() {
            copy_file(&entry, &target, &metadata, tally)?;
        }
    }
    keep_rights(to, &look(from)?)
}

fn copy_file(from: &Path, to: &Path, metadata: &Metadata, tally: &mut Tally) -> Result<(), Error> {
    let mut source = File::open(from).map_err(|error| failed("opening", from, &error))?;
    let mut target = File::create_new(to).map_err(|error| failed("making", to, &error))?;
    if sys::clone_file(&source, &target) {
        tally.shared += 1;
    } else {
        std::io::copy(&mut source, &mut target).map_err(|error| failed("writing", to, &error))?;
    }
    tally.bytes += metadata.len();
    tally.files += 1;
    keep_rights(to, metadata)
}

fn keep_rights(path: &Path, like: &Metadata) -> Result<(), Error> {
    fs::set_permissions(path, like.permissions()).map_err(|error| failed("setting the mode of", path, &error))?;
    let is = look(path)?;
    if (is.uid(), is.gid()) == (like.uid(), like.gid()) { Ok(()) } else { sys::set_owner(path, like.uid(), like.gid()) }
}

fn entries(folder: &Path) -> Result<Vec<std::path::PathBuf>, Error> {
    let entries = fs::read_dir(folder).map_err(|error| failed("looking into", folder, &error))?;
    entries
        .map(|entry| entry.map(|entry| entry.path()).map_err(|error| failed("looking into", folder, &error)))
        .collect()
}

fn look(path: &Path) -> Result<Metadata, Error> {
    fs::symlink_metadata(path).map_err(|error| failed("looking at", path, &error))
}

fn failed(what: &str, path: &Path, error: &std::io::Error) -> Error {
    Error::new(format!("{what} {}: {error}", path.display()))
}

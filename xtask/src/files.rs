//! Folders and files that chores make, and failures as text.

use std::path::Path;

/// Makes a folder, with the folders above it.
pub(crate) fn make_folder(folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("made {}: {error}", folder.display()))
}

/// Writes a file, with the folders above it.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), String> {
    path.parent().map_or(Ok(()), make_folder)?;
    std::fs::write(path, content).map_err(|error| format!("wrote {}: {error}", path.display()))
}

/// Copies a file, with its mode, making the folders above it.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), String> {
    to.parent().map_or(Ok(()), make_folder)?;
    std::fs::copy(from, to).map(drop).map_err(|error| format!("copied {} to {}: {error}", from.display(), to.display()))
}

//! Where a command writes its result: standard output, or a file that is not replaced unopposed. One rule for all commands.
//!
//! A file that is there already is replaced with `--overwrite` only; a page of ours at the place of a report is, too. What was written is
//! said once, as `written: PATH`, on standard error.

use crate::output;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Makes a file; one that is there already is left alone unless it may be replaced.
pub(super) fn make(path: &Path, overwrite: bool) -> Result<File, String> {
    let made = if overwrite { File::create(path) } else { File::create_new(path) };
    made.map_err(|error| match error.kind() {
        _ if is_folder(path) => not_a_file(path),
        std::io::ErrorKind::AlreadyExists => exists(path, "file"),
        _ => format!("failed to write {}: {error}", path.display()),
    })
}

/// Fails where a file is there already that may not be replaced, before anything is worked out for it.
pub(super) fn expect_free(path: &Path, overwrite: bool) -> Result<(), String> {
    if is_folder(path) {
        return Err(not_a_file(path));
    }
    if overwrite || !path.exists() { Ok(()) } else { Err(exists(path, "file")) }
}

/// Whether a path is a folder, or is written as one.
pub(super) fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// The refusal to write a file to the place of a folder.
fn not_a_file(path: &Path) -> String {
    format!("{} is a folder, and one file is written: name it with -o", path.display())
}

/// The refusal to replace a file; another `what` may be chosen with `-o`.
pub(super) fn exists(path: &Path, what: &str) -> String {
    format!("{} exists; replace it with --overwrite, or choose another {what} with -o", path.display())
}

/// Says what was written.
pub(super) fn say_written(path: &Path) {
    output::note(&format!("written: {}", path.display()));
}

/// Writes a text to a file, or to standard output when none is named or it is `-`.
pub(super) fn write(path: Option<&Path>, overwrite: bool, text: &str) -> Result<(), String> {
    match path.filter(|path| path.as_os_str() != "-") {
        None => output::result(text),
        Some(path) => write_file(path, overwrite, text.as_bytes()),
    }
}

/// Writes bytes to a file, or as they stand to standard output when none is named.
pub(super) fn write_bytes(path: Option<&Path>, overwrite: bool, content: &[u8]) -> Result<(), String> {
    match path.filter(|path| path.as_os_str() != "-") {
        None => output::stream(|out| out.write_all(content)).map_err(|error| output::not_written(&error)),
        Some(path) => write_file(path, overwrite, content),
    }
}

/// Writes a file, and says so.
pub(super) fn write_file(path: &Path, overwrite: bool, content: &[u8]) -> Result<(), String> {
    let mut file = make(path, overwrite)?;
    file.write_all(content).map_err(|error| format!("failed to write {}: {error}", path.display()))?;
    say_written(path);
    Ok(())
}

/// The ending of a file's name in small letters; `None` for standard output.
pub(super) fn ending(path: Option<&Path>) -> Option<String> {
    Some(path?.extension()?.to_str()?.to_ascii_lowercase())
}

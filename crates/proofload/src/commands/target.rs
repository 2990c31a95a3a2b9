//! Where a command writes its result: standard output, or a file that is not replaced unopposed. One rule for all commands.
//!
//! A file that is there already is replaced with `--overwrite` only; a page of ours at the place of a report is, too. What was written is
//! said once, as `written: PATH`, on standard error.

use crate::output;
use rustix::fs::{Access, access};
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

/// Fails where a file is there already that may not be replaced, or where none can be made, before anything is worked out for it.
pub(super) fn expect_free(path: &Path, overwrite: bool) -> Result<(), String> {
    expect_unused(path, overwrite)?;
    if path.as_os_str() == "-" {
        return Ok(());
    }
    if !path.exists() {
        return expect_folder(path);
    }
    access(path, Access::WRITE_OK).map_err(|error| {
        let error = std::io::Error::from(error);
        format!("failed to write {}: {error}; let this user write it, or choose another file with -o", path.display())
    })
}

/// Fails where a file is there already that may not be replaced; its folder may be made later.
pub(super) fn expect_unused(path: &Path, overwrite: bool) -> Result<(), String> {
    if is_folder(path) {
        return Err(not_a_file(path));
    }
    if overwrite || !path.exists() { Ok(()) } else { Err(exists(path, "file")) }
}

/// Fails where no file can be made at a path, because its folder is not there or takes none.
fn expect_folder(path: &Path) -> Result<(), String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let failed = |why: &str| format!("failed to write {}: {why}, or choose another file with -o", path.display());
    if !folder.is_dir() {
        return Err(failed(&format!("there is no folder {}; make it", folder.display())));
    }
    let entered = Access::WRITE_OK | Access::EXEC_OK;
    access(folder, entered).map_err(|error| {
        let error = std::io::Error::from(error);
        failed(&format!("the folder {} takes no file: {error}; let this user write there", folder.display()))
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_its_folder_is_refused_before_anything_is_worked_out_for_it() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("there.txt"), "kept").expect("the folder takes a file");
        let told = |name: &str, overwrite: bool| expect_free(&path(name), overwrite).err();
        assert_eq!((told("new.html", false), told("there.txt", true)), (None, None));
        assert!(told("there.txt", false).is_some_and(|text| text.contains("--overwrite")));
        for name in ["none/new.html", "there.txt/new.html"] {
            let text = told(name, true).expect("there is no such folder");
            let wanted = format!("failed to write {}: there is no folder ", path(name).display());
            assert!(text.starts_with(&wanted) && text.contains("make it, or choose another file with -o"), "{text}");
            assert_eq!(expect_unused(&path(name), false), Ok(()), "its folder may be made later");
        }
        assert_eq!(expect_free(Path::new("a-file-of-this-folder.html"), false), Ok(()));
    }
}

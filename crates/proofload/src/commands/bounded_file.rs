//! Reading a file that somebody names, whole and within a bound: a device gives bytes without end, a pipe may give none at all.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The bytes of a regular file of at most so many; the error does not name the file.
pub(super) fn bytes_of(file: &Path, most: u64) -> Result<Vec<u8>, String> {
    let about = std::fs::metadata(file).map_err(|error| error.to_string())?;
    // To open a pipe would wait for its writer.
    if !about.is_file() {
        return Err("it is a folder, a device or a pipe; give the name of a file".to_owned());
    }
    let mut bytes = Vec::new();
    // What the system lists as a file of no bytes may have many.
    let read = File::open(file).and_then(|open| open.take(most + 1).read_to_end(&mut bytes));
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > most {
        let size = about.len().max(bytes.len() as u64);
        return Err(format!("it has {size} bytes or more, at most {most} are taken"));
    }
    Ok(bytes)
}

/// The same with an error that names the file.
pub(super) fn named_bytes_of(file: &Path, most: u64) -> Result<Vec<u8>, String> {
    bytes_of(file, most).map_err(|error| format!("failed to read {}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_bound_and_nothing_else_is_opened() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("file");
        std::fs::write(&path, "12345").expect("it is written");
        assert_eq!(bytes_of(&path, 5).as_deref(), Ok(&b"12345"[..]));
        let refused = |path: &Path| bytes_of(path, 4).expect_err("it is refused");
        assert_eq!(refused(&path), "it has 5 bytes or more, at most 4 are taken");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo starts");
        assert!(made.success());
        for other in [pipe.as_path(), folder.path(), Path::new("/dev/zero")] {
            assert!(refused(other).starts_with("it is a folder, a device or a pipe"), "{}", other.display());
        }
        let none = named_bytes_of(&folder.path().join("none"), 4).expect_err("there is none");
        assert!(none.contains("failed to read") && none.contains("none: No such file"), "{none}");
    }
}

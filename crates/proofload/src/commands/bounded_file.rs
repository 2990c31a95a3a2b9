//! Reading a file that somebody names, whole and within a bound: a device gives bytes without end, a pipe may give none at all.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

/// The bytes of a regular file, or of a pipe that was handed over, of at most so many; the error does not name the file.
pub(super) fn bytes_of(file: &Path, most: u64) -> Result<Vec<u8>, String> {
    let about = std::fs::metadata(file).map_err(|error| error.to_string())?;
    // To open a pipe with a name would wait for its writer.
    let is_taken = about.is_file() || about.file_type().is_fifo() && is_handed_over(file);
    if !is_taken {
        return Err("it is a folder, a device or a pipe; give the name of a file".to_owned());
    }
    let mut bytes = Vec::new();
    // What the system lists as a file of no bytes may have many, and a pipe has no size.
    let read = File::open(file).and_then(|open| open.take(most + 1).read_to_end(&mut bytes));
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > most {
        let size = about.len().max(bytes.len() as u64);
        return Err(format!("it has {size} bytes or more, at most {most} are taken"));
    }
    Ok(bytes)
}

/// Whether a path is a descriptor of this process: its standard input, or what a shell gives for `<(…)`.
fn is_handed_over(file: &Path) -> bool {
    let folders = ["/dev/fd", "/proc/self/fd"].map(Path::new);
    file == Path::new("/dev/stdin") || file.parent().is_some_and(|folder| folders.contains(&folder))
}

/// The same with an error that names the file.
pub(super) fn named_bytes_of(file: &Path, most: u64) -> Result<Vec<u8>, String> {
    bytes_of(file, most).map_err(|error| format!("failed to read {}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd as _;
    use std::process::{Command, Stdio};

    #[test]
    fn a_pipe_that_is_handed_over_is_read_up_to_the_bound() {
        for folder in ["/dev/fd", "/proc/self/fd"] {
            let mut writer =
                Command::new("printf").arg("12345").stdout(Stdio::piped()).spawn().expect("the writer starts");
            let descriptor = writer.stdout.as_ref().expect("it has a pipe").as_raw_fd();
            let path = format!("{folder}/{descriptor}");
            let read = bytes_of(Path::new(&path), 5);
            assert!(writer.wait().is_ok_and(|status| status.success()));
            assert_eq!(read.as_deref(), Ok(&b"12345"[..]), "{path}");
        }
        let mut writer = Command::new("printf").arg("12345").stdout(Stdio::piped()).spawn().expect("the writer starts");
        let path = format!("/dev/fd/{}", writer.stdout.as_ref().expect("it has a pipe").as_raw_fd());
        let refused = bytes_of(Path::new(&path), 4).expect_err("it has more");
        assert!(writer.wait().is_ok());
        assert_eq!(refused, "it has 5 bytes or more, at most 4 are taken");
        assert!(is_handed_over(Path::new("/dev/stdin")) && !is_handed_over(Path::new("/dev/zero")));
    }

    #[test]
    fn a_file_is_read_up_to_its_bound_and_nothing_else_is_opened() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("file");
        std::fs::write(&path, "12345").expect("it is written");
        assert_eq!(bytes_of(&path, 5).as_deref(), Ok(&b"12345"[..]));
        let refused = |path: &Path| bytes_of(path, 4).expect_err("it is refused");
        assert_eq!(refused(&path), "it has 5 bytes or more, at most 4 are taken");
        let pipe = folder.path().join("pipe");
        let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo starts");
        assert!(made.success());
        for other in [pipe.as_path(), folder.path(), Path::new("/dev/zero")] {
            assert!(refused(other).starts_with("it is a folder, a device or a pipe"), "{}", other.display());
        }
        let none = named_bytes_of(&folder.path().join("none"), 4).expect_err("there is none");
        assert!(none.contains("failed to read") && none.contains("none: No such file"), "{none}");
    }
}

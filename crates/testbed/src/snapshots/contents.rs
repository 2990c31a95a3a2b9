//! Contents of a snapshot: size and SHA-256 of each file, noted when it is made and compared when it is restored. May not copy anything.

use proofload_model::error::Error;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes read at a time.
const PIECE: usize = 1 << 20;

/// Size and hash of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileContent {
    /// Bytes.
    pub(super) size: u64,
    /// SHA-256 in hexadecimal digits; `None` where only the size was looked at.
    pub(super) sha256: Option<String>,
}

/// Files of a tree by their path below it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Contents(BTreeMap<PathBuf, FileContent>);

impl Contents {
    /// Adds a file.
    pub(super) fn add(&mut self, path: PathBuf, content: FileContent) {
        self.0.insert(path, content);
    }

    /// Adds files that others have looked at.
    pub(super) fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// Whether every file was hashed.
    pub(super) fn is_hashed(&self) -> bool {
        self.0.values().all(|content| content.sha256.is_some())
    }

    /// Text of them: a line `<hash> <size> <path>` for each file, the path escaped as Rust escapes strings.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (path, FileContent { size, sha256 }) in &self.0 {
            let hash = sha256.as_deref().unwrap_or("-");
            let _infallible = writeln!(text, "{hash} {size} {}", escaped(path));
        }
        text
    }

    /// An error that names the first difference to what was `noted` as a text. A hash that is missing on one side is not compared.
    pub(super) fn expect(&self, noted: &str) -> Result<(), String> {
        let mut left: BTreeMap<String, &FileContent> =
            self.0.iter().map(|(path, content)| (escaped(path), content)).collect();
        for line in noted.lines() {
            let [hash, size, path] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else {
                return Err(format!("its file list is damaged at {line:?}"));
            };
            let Some(found) = left.remove(path) else { return Err(format!("{path} is missing")) };
            if size != found.size.to_string() {
                return Err(format!("{path} has {} bytes, but {size} were saved", found.size));
            }
            if hash != "-" && found.sha256.as_deref().is_some_and(|found| found != hash) {
                return Err(format!("the content of {path} has changed (its SHA-256 differs)"));
            }
        }
        match left.keys().next() {
            Some(path) => Err(format!("{path} is not part of the snapshot")),
            None => Ok(()),
        }
    }
}

/// Reads a source to its end; each piece goes to `take`. Gives size and hash.
pub(super) fn hashed(
    mut source: impl Read,
    mut take: impl FnMut(&[u8]) -> std::io::Result<()>,
) -> std::io::Result<FileContent> {
    let (mut digest, mut size, mut piece) = (Sha256::new(), 0, vec![0; PIECE]);
    loop {
        let read = match source.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        digest.update(&piece[..read]);
        take(&piece[..read])?;
        size += read as u64;
    }
    let sha256 = digest.finalize().iter().fold(String::new(), |mut text, byte| {
        let _infallible = write!(text, "{byte:02x}");
        text
    });
    Ok(FileContent { size, sha256: Some(sha256) })
}

/// The error of a snapshot that is not as it was saved.
pub(super) fn damaged(folder: &Path, difference: &str) -> Error {
    Error::verification(format!(
        "the snapshot in {} has changed: {difference}; delete that folder to rebuild the data in the next run",
        folder.display()
    ))
}

fn escaped(path: &Path) -> String {
    path.as_os_str().as_encoded_bytes().escape_ascii().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(files: &[(&str, &str)]) -> Contents {
        let mut contents = Contents::default();
        for (path, text) in files {
            contents.add(path.into(), hashed(text.as_bytes(), |_| Ok(())).unwrap());
        }
        contents
    }

    #[test]
    fn the_hash_is_the_one_that_everybody_knows() {
        let mut copied = Vec::new();
        let content = hashed(&b"abc"[..], |piece| {
            copied.extend_from_slice(piece);
            Ok(())
        });
        let content = content.unwrap();
        assert_eq!((content.size, copied.as_slice()), (3, &b"abc"[..]));
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(content.sha256.as_deref(), Some(known));
    }

    #[test]
    fn the_first_difference_is_named() {
        let saved = contents(&[("a", "one"), ("b c", "two")]).text();
        let check = |files: &[(&str, &str)]| contents(files).expect(&saved).err().unwrap_or_default();
        assert_eq!(check(&[("a", "one"), ("b c", "two")]), "");
        assert_eq!(check(&[("a", "one"), ("b c", "twp")]), "the content of b c has changed (its SHA-256 differs)");
        assert_eq!(check(&[("a", "one"), ("b c", "three")]), "b c has 5 bytes, but 3 were saved");
        assert_eq!(check(&[("a", "one")]), "b c is missing");
        assert_eq!(check(&[("a", "one"), ("b c", "two"), ("d", "")]), "d is not part of the snapshot");
        assert!(contents(&[]).expect("nonsense").unwrap_err().contains("damaged"));
    }

    #[test]
    fn a_file_that_was_not_read_is_compared_by_its_size() {
        let saved = contents(&[("a", "one")]).text();
        let mut unread = Contents::default();
        unread.add("a".into(), FileContent { size: 3, sha256: None });
        assert_eq!((unread.expect(&saved), unread.is_hashed()), (Ok(()), false));
    }
}

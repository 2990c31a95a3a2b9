//! A record as a file: whether it is one, and the hash by which another study's report names it. May not read its rows.

use crate::error::Error;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// How a file of SQLite begins. Source: SQLite's file format, section 1.3.1.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Bytes that are hashed at a time.
const PART: usize = 1 << 16;

/// Whether this file may be a record, by its first bytes. Whether it is one shows when it is read. Errors: it cannot be
/// read.
pub fn is_record(path: &Path) -> Result<bool, Error> {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut head));
    read.map_err(|error| Error::other(format!("failed to read {}: {error}", path.display())))?;
    Ok(head == MAGIC)
}

/// SHA-256 of the whole file, as `sha256sum` prints it. Errors: it cannot be read.
pub fn file_sha256(path: &Path) -> Result<String, Error> {
    let wrong = |error: std::io::Error| Error::other(format!("failed to hash {}: {error}", path.display()));
    hash_of_bytes(&mut File::open(path).map_err(wrong)?).map_err(wrong)
}

/// SHA-256 of everything that a reader gives.
fn hash_of_bytes(reader: &mut impl std::io::Read) -> std::io::Result<String> {
    let (mut hasher, mut part) = (Sha256::new(), vec![0; PART]);
    loop {
        match reader.read(&mut part)? {
            0 => return Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            count => hasher.update(&part[..count]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_bytes_and_other_files_are_no_records() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("x");
        std::fs::write(&path, "abc").expect("writes");
        assert_eq!(is_record(&path).ok(), Some(false));
        // Source: FIPS 180-4, example of one block.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(file_sha256(&path).ok().as_deref(), Some(expected));
        std::fs::write(&path, MAGIC).expect("writes");
        assert_eq!(is_record(&path).ok(), Some(true));
        assert!(
            file_sha256(&folder.path().join("none")).is_err_and(|error| error.to_string().contains("failed to hash"))
        );
    }
}

//! The result of a self-test as a file that somebody was sent: told from a record, so that the same commands sign and verify both.

use super::bounded_file::named_bytes_of;
use serde_json::Value as Json;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Largest result that is read, bytes: one has some kilobytes.
const MOST: u64 = 16 << 20;

/// Reads a file that has to be JSON.
pub(super) fn read(file: &Path) -> Result<Json, String> {
    let bytes = named_bytes_of(file, MOST)?;
    serde_json::from_slice(&bytes).map_err(|error| format!("{} is no JSON: {error}", file.display()))
}

/// The result in a file; `None` where the file is something else, such as a record, of which no more than a byte is read.
pub(super) fn found(file: &Path) -> Option<Json> {
    // To open a pipe with a name would wait for its writer.
    std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file)?;
    let mut first = [0];
    File::open(file).ok()?.read_exact(&mut first).ok()?;
    if first != *b"{" {
        return None;
    }
    read(file).ok().filter(|document| document["engine"].is_string() && document["steps"].is_array())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_told_from_a_record_and_from_other_json() {
        let folder = tempfile::tempdir().unwrap();
        let of = |content: &str| {
            let file = folder.path().join("x");
            std::fs::write(&file, content).unwrap();
            found(&file).is_some()
        };
        assert!(of("{ \"engine\": \"sqlite\", \"steps\": [] }"));
        for other in ["SQLite format 3\0", "{ \"events\": [] }", "[]", "{", ""] {
            assert!(!of(other), "{other}");
        }
        assert!(found(folder.path()).is_none() && found(&folder.path().join("absent")).is_none());
    }
}

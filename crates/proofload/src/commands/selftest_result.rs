//! The result of a self-test as a file that somebody was sent: told from a record, so that the same commands sign and verify both.

use super::bounded_file::named_bytes_of;
use super::strict_json;
use crate::exit::Exit;
use crate::selftest::unknown_form;
use serde_json::Value as Json;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Largest result that is read, bytes: one has some kilobytes.
const MOST: u64 = 16 << 20;

/// Why a file gives no result of a self-test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ResultFault {
    /// A file that cannot be read; the text names it.
    File(String),
    /// A result of a form that this build does not know; the text names the file.
    Form(String),
    /// Content that no self-test wrote, such as a document that was cut off; the text does not name the file.
    Content(String),
}

impl ResultFault {
    /// How a command ends that needs the result.
    pub(super) fn exit(&self) -> Exit {
        match self {
            Self::File(_) | Self::Form(_) => Exit::Failure,
            Self::Content(_) => Exit::NotProved,
        }
    }

    /// What is wrong, of which file.
    pub(super) fn text(&self, file: &Path) -> String {
        match self {
            Self::File(text) | Self::Form(text) => text.clone(),
            Self::Content(text) => format!("{}: {text}", file.display()),
        }
    }
}

/// Reads a file that has to be a result.
pub(super) fn read(file: &Path) -> Result<Json, ResultFault> {
    if is_record(file) {
        let shown = file.display();
        let text = format!("{shown} is a record, not the result of a self-test: check it by proofload verify {shown}");
        return Err(ResultFault::File(text));
    }
    parsed(file).and_then(|document| known(file, document))
}

/// The result in a file; `None` where the file is something else, such as a record, of which no more than a byte is read.
pub(super) fn found(file: &Path) -> Option<Result<Json, ResultFault>> {
    // To open a pipe with a name would wait for its writer.
    std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file)?;
    let mut first = [0];
    File::open(file).ok()?.read_exact(&mut first).ok()?;
    if first != *b"{" {
        return None;
    }
    match parsed(file) {
        Ok(document) => is_result(&document).then(|| known(file, document)),
        // Whoever reads it as a record says so, too.
        Err(ResultFault::File(_)) => None,
        // No other file that can be proved or signed begins like this one.
        Err(fault) => Some(Err(fault)),
    }
}

/// Whether a file begins as records do. Source: SQLite, "Database File Format".
fn is_record(file: &Path) -> bool {
    const MAGIC: &[u8; 16] = b"SQLite format 3\0";
    // To open a pipe with a name would wait for its writer.
    let is_file = std::fs::metadata(file).is_ok_and(|about| about.is_file());
    let mut first = [0; MAGIC.len()];
    is_file && File::open(file).is_ok_and(|mut open| open.read_exact(&mut first).is_ok()) && first == *MAGIC
}

fn parsed(file: &Path) -> Result<Json, ResultFault> {
    let bytes = named_bytes_of(file, MOST).map_err(ResultFault::File)?;
    strict_json::parse(&bytes).map_err(|error| {
        ResultFault::Content(format!("it is not the whole result of a self-test: {error}; use another copy"))
    })
}

/// Whether a document is the result of a self-test, of whatever form.
fn is_result(document: &Json) -> bool {
    document["engine"].is_string() && (document["steps"].is_array() || document["seal"].is_string())
}

/// A document, unless it is a result of a form that is not known.
fn known(file: &Path, document: Json) -> Result<Json, ResultFault> {
    match unknown_form(&document).filter(|_| is_result(&document)) {
        Some(text) => Err(ResultFault::Form(format!("{}: {text}", file.display()))),
        None => Ok(document),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(content: &str) -> Option<Result<Json, ResultFault>> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x");
        std::fs::write(&file, content).unwrap();
        found(&file)
    }

    #[test]
    fn a_result_is_told_from_a_record_and_from_other_json() {
        assert!(matches!(of("{ \"engine\": \"sqlite\", \"steps\": [] }"), Some(Ok(_))));
        for other in ["SQLite format 3\0", "{ \"events\": [] }", "{ \"form\": 2 }", "[]", ""] {
            assert_eq!(of(other), None, "{other}");
        }
        let folder = tempfile::tempdir().unwrap();
        assert!(found(folder.path()).is_none() && found(&folder.path().join("absent")).is_none());
    }

    #[test]
    fn a_record_is_told_where_it_is_checked() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.proof");
        std::fs::write(&file, "SQLite format 3\0and pages").unwrap();
        let Err(fault) = read(&file) else { panic!("it is taken") };
        assert!(fault.exit() == Exit::Failure && fault.text(&file).contains("by proofload verify /"), "{fault:?}");
        std::fs::write(&file, "SQLite").unwrap();
        assert!(matches!(read(&file), Err(ResultFault::Content(_))));
    }

    #[test]
    fn a_result_that_was_cut_off_or_says_something_twice_is_broken() {
        for (content, why) in [
            ("{ \"engine\": \"sqlite\", \"steps\": [ { \"name\"", "EOF while parsing"),
            ("{", "EOF while parsing"),
            ("{ \"engine\": \"sqlite\", \"steps\": [], \"engine\": \"x\" }", "the name \"engine\" stands twice"),
        ] {
            let Some(Err(fault)) = of(content) else { panic!("{content} is taken") };
            assert_eq!(fault.exit(), Exit::NotProved);
            assert!(fault.text(Path::new("x")).contains(why), "{fault:?}");
        }
    }

    #[test]
    fn a_result_of_another_form_is_no_changed_one() {
        for content in [
            "{ \"engine\": \"x\", \"form\": 2, \"steps\": [] }",
            "{ \"engine\": \"x\", \"form\": 7, \"seal\": \"00\", \"parts\": [] }",
        ] {
            let Some(Err(fault)) = of(content) else { panic!("{content} is taken") };
            assert!(matches!(fault, ResultFault::Form(_)) && fault.exit() == Exit::Failure, "{fault:?}");
            assert!(fault.text(Path::new("x")).contains("knows form 1"), "{fault:?}");
        }
    }
}

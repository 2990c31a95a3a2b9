//! A file to import, and what can be wrong with it.

use std::fmt;

/// The largest file that is imported, bytes: a log of 10^5 intervals fits.
pub const SOURCE_FILE_MOST: u64 = 256 << 20;

/// A file's name and content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Its name as figures and faults cite it.
    pub name: String,
    /// Its bytes.
    pub content: Vec<u8>,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Name of the file; empty when it is about all of them.
    pub file: String,
    /// Line from 1; `None` when the whole file is meant.
    pub line: Option<usize>,
    /// What, and what to try.
    pub text: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.file.as_str(), self.line) {
            ("", _) => f.write_str(&self.text),
            (file, None) => write!(f, "{file}: {}", self.text),
            (file, Some(line)) => write!(f, "{file}:{line}: {}", self.text),
        }
    }
}

/// All faults, one a line.
pub fn faults_text(faults: &[Fault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Faults of one file while it is read.
pub(super) struct Faults<'f> {
    file: &'f str,
    found: Vec<Fault>,
}

impl<'f> Faults<'f> {
    pub(super) fn of(file: &'f str) -> Self {
        Self { file, found: Vec::new() }
    }

    pub(super) fn at(&mut self, line: usize, text: impl Into<String>) {
        self.found.push(Fault { file: self.file.to_owned(), line: Some(line), text: text.into() });
    }

    pub(super) fn whole(&mut self, text: impl Into<String>) {
        self.found.push(Fault { file: self.file.to_owned(), line: None, text: text.into() });
    }

    /// The value, unless something was wrong.
    pub(super) fn or<T>(self, value: T) -> Result<T, Vec<Fault>> {
        if self.found.is_empty() { Ok(value) } else { Err(self.found) }
    }
}

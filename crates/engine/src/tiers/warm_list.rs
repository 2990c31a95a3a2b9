//! The file of a list of lines that a cache is filled from, as `tier dump --lines --json` writes one. May not know a database.

use crate::contract::Error;
use proofload_model::tier_warming::{WRITE_LIST, WarmHead, WarmLine};
use proofload_model::units::Bytes;
use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

/// Bytes of a line of text, at most: the first one lists all dirty ranges.
const MOST_TEXT: u64 = 64 << 20;

/// A list of lines that is open behind its first line.
#[derive(Debug)]
pub struct WarmList {
    reader: BufReader<File>,
    path: PathBuf,
    head: WarmHead,
    named: u64,
    /// Lines of text that were read.
    texts: u64,
    fault: Option<String>,
}

impl WarmList {
    /// Opens a list and reads its first line.
    ///
    /// # Errors
    /// It cannot be read, or is no list.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let no_file = |text: String| failed(path, &text, "check the path, or write one");
        let is_file = std::fs::metadata(path).map_err(|error| no_file(error.to_string()))?.is_file();
        if !is_file {
            return Err(no_file("it is no file".to_owned()));
        }
        let file = File::open(path).map_err(|error| no_file(error.to_string()))?;
        let mut reader = BufReader::new(file);
        let head = text_line(&mut reader).and_then(|text| WarmHead::parse(&text));
        let head = head.map_err(|fault| failed(path, &format!("line 1: {fault}"), "write one"))?;
        Ok(Self { reader, path: path.to_owned(), head, named: 0, texts: 1, fault: None })
    }

    /// Tells whether it was read without a fault up to now.
    ///
    /// # Errors
    /// It ended early, at a line of text that is told by its number.
    pub fn expect_whole(&self) -> Result<(), Error> {
        match &self.fault {
            None => Ok(()),
            Some(fault) => Err(failed(&self.path, fault, "mend this line, or write another list")),
        }
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The pool that its lines were of.
    pub fn head(&self) -> &WarmHead {
        &self.head
    }

    /// Lines that it has named up to now.
    pub fn named(&self) -> u64 {
        self.named
    }

    /// Reason for which it ended early, with the number of the line of text; `None` where it did not.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }
}

impl Iterator for WarmList {
    type Item = (u8, u64);

    /// Volume and first byte of the next line.
    fn next(&mut self) -> Option<(u8, u64)> {
        if self.fault.is_some() {
            return None;
        }
        let text = text_line(&mut self.reader);
        self.texts += 1;
        let line = match text {
            Ok(text) if text.is_empty() => return None,
            Ok(text) => WarmLine::parse(&text),
            Err(error) => Err(error),
        };
        match line {
            Ok(WarmLine { volume, at }) => {
                self.named += 1;
                Some((volume, at))
            }
            Err(fault) => {
                self.fault = Some(format!("line {}: {fault}", self.texts));
                None
            }
        }
    }
}

/// Lines that a list has named up to now.
#[derive(Debug)]
pub struct NamedLines {
    line_bytes: u64,
    named: HashSet<(u8, u64)>,
}

impl NamedLines {
    /// Begins without any, where a line has so many bytes.
    pub fn of(line: Bytes) -> Self {
        Self { line_bytes: line.0.max(1), named: HashSet::new() }
    }

    /// Adds the line of a byte of a volume; tells whether it is named for the first time.
    pub fn add(&mut self, volume: u8, at: u64) -> bool {
        self.named.insert((volume, at / self.line_bytes))
    }
}

/// The error of a list that is none.
fn failed(path: &Path, what: &str, advice: &str) -> Error {
    let path = path.display();
    Error::other(format!("failed to read the list of lines {path}: {what}; {advice} with `{WRITE_LIST}`"))
}

/// The next line of text; empty at the end.
fn text_line(reader: &mut BufReader<File>) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    let read = reader.by_ref().take(MOST_TEXT).read_until(b'\n', &mut text);
    read.map(|_| text).map_err(|error| error.to_string())
}

//! The file of a list of lines that a cache is filled from, as `tier dump --lines --json` writes one. May not know a database.

use crate::contract::Error;
use proofload_model::tier_warming::{WarmHead, WarmLine};
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
    fault: Option<String>,
}

impl WarmList {
    /// Opens a list and reads its first line.
    ///
    /// # Errors
    /// It cannot be read, or is no list.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let failed =
            |text: String| Error::other(format!("failed to read the list of lines {}: {text}", path.display()));
        let is_file = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?.is_file();
        if !is_file {
            return Err(failed("it is no file".to_owned()));
        }
        let file = File::open(path).map_err(|error| failed(error.to_string()))?;
        let mut reader = BufReader::new(file);
        let head = text_line(&mut reader).and_then(|text| WarmHead::parse(&text)).map_err(failed)?;
        Ok(Self { reader, path: path.to_owned(), head, named: 0, fault: None })
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

    /// Reason for which it ended early; `None` where it did not.
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
                self.fault = Some(fault);
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

/// The next line of text; empty at the end.
fn text_line(reader: &mut BufReader<File>) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    let read = reader.by_ref().take(MOST_TEXT).read_until(b'\n', &mut text);
    read.map(|_| text).map_err(|error| error.to_string())
}

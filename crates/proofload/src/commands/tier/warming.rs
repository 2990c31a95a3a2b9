//! Warms a pool that is served from a list of lines, as `tier dump --lines --json` writes one: a thread that ends with the server.

use super::units::{bytes, count};
use crate::output;
use proofload_tier::tier::{Tier, WarmedBlocks};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Bytes of a line of text, at most: the first one lists all dirty ranges.
const MOST_TEXT: u64 = 64 << 20;

/// A list of lines that is open behind its first line.
#[derive(Debug)]
pub(super) struct WarmList {
    reader: BufReader<File>,
    path: PathBuf,
    /// Why the list ended early.
    fault: Option<String>,
}

impl WarmList {
    /// Opens a list and reads its first line.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        let failed = |text: String| format!("failed to read the list of lines {}: {text}", path.display());
        let is_file = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?.is_file();
        if !is_file {
            return Err(failed("it is no file".to_owned()));
        }
        let file = File::open(path).map_err(|error| failed(error.to_string()))?;
        let mut list = Self { reader: BufReader::new(file), path: path.to_owned(), fault: None };
        let head = list.object().map_err(failed)?;
        if head.is_none_or(|head| head["form"] != 1 || !head["volumes"].is_array()) {
            return Err(failed("it is none; write one with `tier dump CACHE --lines --json`".to_owned()));
        }
        Ok(list)
    }

    /// The next line of text; `None` at the end.
    fn object(&mut self) -> Result<Option<serde_json::Value>, String> {
        let mut text = Vec::new();
        let read = self.reader.by_ref().take(MOST_TEXT).read_until(b'\n', &mut text);
        read.map_err(|error| error.to_string())?;
        if text.is_empty() {
            return Ok(None);
        }
        serde_json::from_slice(&text).map(Some).map_err(|error| format!("a line of it is no JSON object: {error}"))
    }
}

impl Iterator for WarmList {
    type Item = (u8, u64);

    /// Volume and first byte of the next line.
    fn next(&mut self) -> Option<(u8, u64)> {
        let object = self.object().unwrap_or_else(|fault| {
            self.fault = Some(fault);
            None
        })?;
        let volume = object["volume"].as_u64().and_then(|volume| u8::try_from(volume).ok());
        let place = volume.zip(object["at"].as_u64());
        if place.is_none() {
            self.fault = Some("a line of it names no volume and byte".to_owned());
        }
        place
    }
}

/// A thread that warms a pool. Dropping it ends it.
#[derive(Debug)]
pub(super) struct WarmingThread {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl WarmingThread {
    /// Begins to warm, and says on stderr what was done when the list ends.
    pub(super) fn start(mut list: WarmList, bytes_per_second: u64, tier: &Arc<Tier>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (tier, stopped) = (Arc::clone(tier), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            let goes_on = || !stopped.load(Ordering::Acquire);
            let warmed = tier.warm(&mut list, bytes_per_second, goes_on);
            let path = list.path.display();
            match (warmed, &list.fault) {
                (Ok(warmed), None) => output::note(&told(&warmed)),
                (Ok(warmed), Some(fault)) => {
                    output::error(&format!("stopped reading the list of lines {path}: {fault}; {}", told(&warmed)));
                }
                (Err(error), _) => output::error(&format!("stopped warming from {path}: {error}")),
            }
        });
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for WarmingThread {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        // A panic of the thread was told by the panic hook already.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

fn told(warmed: &WarmedBlocks) -> String {
    let beyond = match warmed.beyond_quota {
        0 => String::new(),
        some => format!(", {} are beyond the quota of their volume", count(some)),
    };
    format!(
        "warmed: {} lines read, {} were in the cache, {} are of no cached volume{beyond}",
        count(warmed.loaded),
        count(warmed.present),
        count(warmed.refused)
    )
}

/// What is said of it when the server is ready.
pub(super) fn line(path: &Path, bytes_per_second: u64) -> (&'static str, String) {
    ("warming", format!("from {}, at most {} per second", path.display(), bytes(bytes_per_second)))
}

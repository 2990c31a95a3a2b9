//! The log of the kernel's target log-writes, read as its documentation and the comments of its source describe it, and written for tests.
//!
//! Sources: the kernel's `Documentation/admin-guide/device-mapper/log-writes.rst` and `drivers/md/dm-log-writes.c`.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// First number of the log: `0x6a736677736872`.
const MAGIC: u64 = 0x006a_7366_7773_6872;
const VERSION: u64 = 1;

/// Flags of an entry. One more, 16, says that metadata of a file system was written.
const FLUSH: u64 = 1;
const FUA: u64 = 2;
const DISCARD: u64 = 4;
const MARK: u64 = 8;

/// What the target has seen, in the order in which it was durable: writes are logged by the next flush that was sent after they had ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LogEntry {
    /// Bytes that were written from a position on. `is_durable`: without a flush.
    Write { at: u64, bytes: Vec<u8>, is_durable: bool },
    /// A range that may read as zeros.
    Discard { at: u64, length: u64 },
    /// Everything before has reached the medium.
    Flush,
    /// A word of ours.
    Mark(String),
}

/// Little-endian number at a position.
fn number(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// Reads the log on a device or in a file.
pub(crate) fn read(path: &Path) -> Result<Vec<LogEntry>, String> {
    let failed = |what: &str, error: std::io::Error| format!("{what} {}: {error}", path.display());
    let file = File::open(path).map_err(|error| failed("opening", error))?;
    let mut head = [0; 512];
    file.read_exact_at(&mut head, 0).map_err(|error| failed("reading", error))?;
    if (number(&head, 0), number(&head, 8)) != (MAGIC, VERSION) {
        return Err(format!("{} has no log of version {VERSION}: {:?}", path.display(), &head[..16]));
    }
    let sector = number(&head, 24) & u64::from(u32::MAX);
    let mut at = sector;
    let mut entries = Vec::new();
    for _ in 0..number(&head, 16) {
        file.read_exact_at(&mut head, at).map_err(|error| failed("reading an entry of", error))?;
        at += sector;
        let [first, sectors, flags, length] = [0, 8, 16, 24].map(|place| number(&head, place));
        let length = usize::try_from(length).map_err(|error| error.to_string())?;
        if flags & MARK != 0 {
            let words = head.get(32..32 + length).ok_or("a mark that runs over its sector")?;
            entries.push(LogEntry::Mark(String::from_utf8_lossy(words).trim_end_matches('\0').to_owned()));
            continue;
        }
        if flags & FLUSH != 0 {
            entries.push(LogEntry::Flush);
        }
        if flags & DISCARD != 0 {
            entries.push(LogEntry::Discard { at: first * sector, length: sectors * sector });
        } else if sectors > 0 {
            let mut bytes = vec![0; usize::try_from(sectors * sector).map_err(|error| error.to_string())?];
            file.read_exact_at(&mut bytes, at).map_err(|error| failed("reading data of", error))?;
            at += sectors * sector;
            entries.push(LogEntry::Write { at: first * sector, bytes, is_durable: flags & FUA != 0 });
        }
    }
    Ok(entries)
}

/// The bytes of a log with these entries.
pub(crate) fn encode(entries: &[LogEntry]) -> Vec<u8> {
    const SECTOR: u64 = 512;
    let mut log = sector_of(&[MAGIC, VERSION, entries.len() as u64, SECTOR], &[]);
    for entry in entries {
        match entry {
            LogEntry::Write { at, bytes, is_durable } => {
                let flags = if *is_durable { FUA } else { 0 };
                log.extend(sector_of(&[at / SECTOR, bytes.len() as u64 / SECTOR, flags, 0], &[]));
                log.extend(bytes);
            }
            LogEntry::Discard { at, length } => {
                log.extend(sector_of(&[at / SECTOR, length / SECTOR, DISCARD, 0], &[]));
            }
            LogEntry::Flush => log.extend(sector_of(&[0, 0, FLUSH, 0], &[])),
            LogEntry::Mark(word) => log.extend(sector_of(&[0, 0, MARK, word.len() as u64], word.as_bytes())),
        }
    }
    log
}

fn sector_of(numbers: &[u64; 4], more: &[u8]) -> Vec<u8> {
    let mut bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    bytes.extend(more);
    bytes.resize(512, 0);
    bytes
}

#[test]
fn a_log_is_read_as_it_was_written() {
    let entries = vec![
        LogEntry::Mark("formatted".to_owned()),
        LogEntry::Write { at: 4096, bytes: vec![7; 1024], is_durable: false },
        LogEntry::Discard { at: 512, length: 1 << 20 },
        LogEntry::Flush,
        LogEntry::Write { at: 0, bytes: vec![9; 512], is_durable: true },
    ];
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), encode(&entries)).unwrap();
    assert_eq!(read(file.path()).unwrap(), entries);
    std::fs::write(file.path(), [0; 512]).unwrap();
    assert!(read(file.path()).unwrap_err().contains("no log of version 1"));
}

//! Looks at devices without opening a pool: what lies on them, and whether it is sound. It writes nothing.

use std::collections::HashMap;
use std::ops::Range;

use super::driver::sums;
use super::opening::{check_origin, name_of_cache, name_of_origin, volume_bytes};
use super::recovery::{read_superblock, recover};
use crate::block::SECTOR_BYTES;
use crate::device::Device;
use crate::error::Error;
use crate::layout::{LABEL_BYTES, OriginLabel, Superblock};
use crate::lines::LineEntry;
use crate::lists::LineNumber;
use crate::machine::SectorCrcs;

/// Bytes at the beginning of a device that are looked at for content of others.
const HEAD_BYTES: u64 = 1 << 20;

/// A thing that lies on a device, as far as formatting would lose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceContent {
    /// Nothing but zeros where it was looked.
    Nothing,
    /// A cache of ours.
    Cache {
        /// Lines with content that no origin has.
        dirty_lines: u32,
    },
    /// An origin that belongs to a cache.
    Origin,
    /// An origin that was set free of its cache.
    FreeOrigin,
    /// Bytes that are not ours.
    Foreign,
}

impl DeviceContent {
    /// The content of a device that shall become a cache: its first MiB and its last 4 KiB are looked at.
    ///
    /// # Errors
    ///
    /// When the device fails.
    pub fn of_cache(device: &dyn Device) -> Result<Self, Error> {
        let failed = |error| Error::device("looked at", name_of_cache(device), 0, error);
        if let Some(superblock) = read_superblock(device)? {
            // A cache that cannot be recovered may have held anything.
            let lines = recover(device, &superblock).map_or(u32::MAX, |found| dirty_lines(&found.entries));
            return Ok(Self::Cache { dirty_lines: lines });
        }
        let bytes = device.bytes();
        let mut head = vec![0; usize::try_from(bytes.min(HEAD_BYTES)).expect("a mebibyte")];
        device.read_at(0, &mut head).map_err(failed)?;
        let tail = if bytes > LABEL_BYTES { Self::of_origin(device)? } else { Self::Nothing };
        let has_head = head.iter().any(|byte| *byte != 0);
        Ok(if has_head && tail == Self::Nothing { Self::Foreign } else { tail })
    }

    /// The content of the place of the label on a device that shall become an origin: its last 4 KiB.
    ///
    /// # Errors
    ///
    /// When the device fails or is smaller than that.
    pub fn of_origin(device: &dyn Device) -> Result<Self, Error> {
        let mut tail = vec![0; usize::try_from(LABEL_BYTES).expect("4 KiB")];
        let at = volume_bytes(device.bytes());
        let failed = |error| Error::device("looked at", name_of_origin(device, 0), at, error);
        device.read_at(at, &mut tail).map_err(failed)?;
        Ok(match OriginLabel::decode(&tail) {
            Some(label) if label.detached => Self::FreeOrigin,
            Some(_) => Self::Origin,
            None if tail.iter().all(|byte| *byte == 0) => Self::Nothing,
            None => Self::Foreign,
        })
    }
}

fn dirty_lines(entries: &[LineEntry]) -> u32 {
    u32::try_from(entries.iter().filter(|entry| entry.is_dirty()).count()).expect("lines have 32 bits")
}

/// What is wrong with a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// It cannot be read.
    Unreadable,
    /// A clean sector differs from its checksum: it will be read from the origin again.
    Clean,
    /// A dirty sector of an open line differs after a crash, as an overwrite in place may leave it; a stop before it was read changes nothing.
    Torn,
    /// A dirty sector differs although its line or the pool was closed: its content is lost.
    Lost,
}

impl FaultKind {
    /// Its word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::Clean => "clean",
            Self::Torn => "torn",
            Self::Lost => "lost",
        }
    }
}

/// A sector that is not as its record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataFault {
    /// Its line.
    pub line: LineNumber,
    /// Its volume.
    pub volume: u8,
    /// Its first byte on the volume.
    pub at: u64,
    /// Its fault.
    pub kind: FaultKind,
}

/// Outcome of reading all data of a cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataCheck {
    /// Sectors that were read or could not be.
    pub sectors: u64,
    /// Sectors that are not as they should be.
    pub faults: Vec<DataFault>,
}

/// A cache as the next opening would find it.
#[derive(Clone, Debug)]
pub struct CacheInspection {
    /// The superblock in force.
    pub superblock: Superblock,
    /// Records of the journal behind the checkpoint.
    pub journal_records: usize,
    cache: String,
    entries: Vec<LineEntry>,
    /// Checksums that the array may not have yet.
    newer: HashMap<LineNumber, SectorCrcs>,
}

impl CacheInspection {
    /// Reads superblock, checkpoint and journal.
    ///
    /// # Errors
    ///
    /// When there is no cache ([`Error::is_mismatch`]), it is damaged, or the device fails.
    pub fn of(cache: &dyn Device) -> Result<Self, Error> {
        let superblock = read_superblock(cache)?.ok_or_else(|| Error::missing(name_of_cache(cache)))?;
        let recovery = recover(cache, &superblock)?;
        let mut newer: HashMap<LineNumber, SectorCrcs> = HashMap::new();
        for record in &recovery.records {
            let known = newer.entry(record.line).or_default();
            *known = known.updated(&record.crcs);
        }
        let (cache, journal_records) = (name_of_cache(cache), recovery.records.len());
        Ok(Self { superblock, journal_records, cache, entries: recovery.entries, newer })
    }

    /// Lines in use of a cache, from its superblock alone.
    ///
    /// # Errors
    ///
    /// When there is no cache ([`Error::is_mismatch`]), or the device fails.
    pub fn lines_in_use(cache: &dyn Device) -> Result<u32, Error> {
        let superblock = read_superblock(cache)?.ok_or_else(|| Error::missing(name_of_cache(cache)))?;
        Ok(superblock.active_lines)
    }

    /// Lines that hold a block, in the order of their numbers.
    pub fn lines(&self) -> impl Iterator<Item = (LineNumber, &LineEntry)> {
        (0..).zip(&self.entries).filter(|(_, entry)| entry.is_mapped())
    }

    /// Lines of a volume, and those of them that are dirty.
    pub fn lines_of(&self, volume: u8) -> (u32, u32) {
        let ours = self.lines().filter(|(_, entry)| entry.block().is_some_and(|block| block.volume() == volume));
        ours.fold((0, 0), |(all, dirty), (_, entry)| (all + 1, dirty + u32::from(entry.is_dirty())))
    }

    /// Ranges of bytes of a volume that only the cache has, in order, neighbours joined.
    pub fn dirty_ranges(&self, volume: u8) -> Vec<Range<u64>> {
        let line_bytes = u64::from(self.superblock.geometry.line_bytes);
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for entry in &self.entries {
            let Some(block) = entry.block().filter(|block| block.volume() == volume) else { continue };
            let from = block.index() * line_bytes;
            ranges.extend(entry.dirty.runs().map(|run| from + u64::from(run.start)..from + u64::from(run.end)));
        }
        ranges.sort_unstable_by_key(|range| range.start);
        ranges.dedup_by(|next, before| {
            let joins = before.end == next.start;
            if joins {
                before.end = next.end;
            }
            joins
        });
        ranges
    }

    /// Refuses an origin that does not belong to this cache as it is.
    ///
    /// # Errors
    ///
    /// When it is missing, foreign, an older copy, set free or too small ([`Error::is_mismatch`]), or fails.
    pub fn check_origin(&self, origin: &dyn Device, place: usize) -> Result<(), Error> {
        match place < self.superblock.volumes.len() {
            true => check_origin(origin, &self.superblock, (place, &self.cache)),
            false => Err(Error::missing(format!("volume {place} of {}", self.cache))),
        }
    }

    /// Reads every sector that the cache holds and compares it with its checksum.
    ///
    /// # Errors
    ///
    /// When checksums cannot be read.
    pub fn check_data(&self, cache: &dyn Device) -> Result<DataCheck, Error> {
        let mut check = DataCheck::default();
        for (line, entry) in self.lines() {
            self.check_line(cache, line, entry, &mut check)?;
        }
        Ok(check)
    }

    fn check_line(
        &self,
        cache: &dyn Device,
        line: LineNumber,
        entry: &LineEntry,
        check: &mut DataCheck,
    ) -> Result<(), Error> {
        let geometry = &self.superblock.geometry;
        let Some(block) = entry.block() else { return Ok(()) };
        let wanted = self.checksums(cache, line)?;
        let mut bytes = vec![0; SECTOR_BYTES as usize];
        for sector in entry.valid.sectors() {
            check.sectors += 1;
            let inside = u64::from(sector * SECTOR_BYTES);
            let read = cache.read_at(geometry.byte_of_line(line) + inside, &mut bytes);
            let kind = match read {
                Err(_) => FaultKind::Unreadable,
                Ok(()) if wanted.get(sector) == sums(crate::block::SectorSet(1), 0, &bytes).get(0) => continue,
                Ok(()) if entry.dirty.sectors().all(|dirty| dirty != sector) => FaultKind::Clean,
                Ok(()) if self.superblock.clean || entry.is_closed() => FaultKind::Lost,
                Ok(()) => FaultKind::Torn,
            };
            let at = block.index() * u64::from(geometry.line_bytes) + inside;
            check.faults.push(DataFault { line, volume: block.volume(), at, kind });
        }
        Ok(())
    }

    /// The checksums of all sectors of a line, from the array and from the journal.
    fn checksums(&self, cache: &dyn Device, line: LineNumber) -> Result<SectorCrcs, Error> {
        let geometry = &self.superblock.geometry;
        let at = geometry.byte_of_crc(line, 0);
        let mut bytes = vec![0; geometry.sectors() as usize * 4];
        let failed = |error| Error::device("read the checksums of", name_of_cache(cache), at, error);
        cache.read_at(at, &mut bytes).map_err(failed)?;
        let mut crcs = SectorCrcs::default();
        for (sector, crc) in (0..).zip(bytes.as_chunks::<4>().0) {
            crcs.set(sector, u32::from_le_bytes(*crc));
        }
        Ok(self.newer.get(&line).map_or(crcs, |newer| crcs.updated(newer)))
    }
}

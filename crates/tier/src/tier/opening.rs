//! Makes caches and opens them: devices that do not belong together are refused by name.

use std::sync::{Arc, Condvar, Mutex};

use super::committing::write_superblock;
use super::flush_delay::FlushTimes;
use super::front::{Tier, TierState};
use super::latency::LatencyHistogram;
use super::recovery::{FoundSuperblock, Recovery, find_superblock, recover};
use crate::block::SECTOR_BYTES;
use crate::device::{Clock, Device, write_zeros};
use crate::error::Error;
use crate::layout::{ENTRIES_PER_BLOCK, Geometry, Identity, LABEL_BYTES, OriginLabel, Superblock, VolumeLabel};
use crate::lines::LineEntry;
use crate::machine::{CacheMachine, JournalPosition, PoolSettings};

/// The devices of a pool.
#[derive(Clone)]
pub struct TierDevices {
    /// The fast device.
    pub cache: Arc<dyn Device>,
    /// The slow devices, in the order of their volumes. The last 4 KiB of each hold its label.
    pub origins: Vec<Arc<dyn Device>>,
}

/// What a new cache shall be.
#[derive(Clone, Debug)]
pub struct FormatSettings {
    /// Bytes of a line: 4, 8, 16, 32 or 64 KiB.
    pub line_bytes: u32,
    /// Lines for which room is made; `None` for as many as fit the device.
    pub most_lines: Option<u32>,
    /// Blocks of 4 KiB of the journal, at least 4; `None` for an eighth of all records.
    pub journal_blocks: Option<u32>,
    /// Lines in use at first; `None` for all.
    pub active_lines: Option<u32>,
    /// A number that no other cache has, for example 16 random bytes.
    pub cache: Identity,
    /// One such number for each origin.
    pub origins: Vec<Identity>,
}

impl Tier {
    /// Makes an empty cache. What was on the cache device is lost; the volumes keep their content, except the last
    /// 4 KiB of each origin.
    ///
    /// # Errors
    ///
    /// When sizes do not fit, numbers and devices differ in count, an origin belongs to a cache that was not closed, or
    /// a device fails.
    pub fn format(devices: &TierDevices, settings: &FormatSettings) -> Result<(), Error> {
        let cache = &*devices.cache;
        let mut geometry = match settings.most_lines {
            Some(lines) => Geometry::new(settings.line_bytes, lines)?,
            None => Geometry::fitting(settings.line_bytes, cache.bytes())?,
        };
        geometry.journal_blocks = settings.journal_blocks.unwrap_or(geometry.journal_blocks).max(4);
        if geometry.bytes() > cache.bytes() {
            return Err(Error::size(name_of_cache(cache), cache.bytes(), geometry.bytes()));
        }
        let count = devices.origins.len();
        if !(1..=4).contains(&count) || count != settings.origins.len() {
            return Err(Error::unfit("number of volumes", count as u64, "1 to 4, and a number for each"));
        }
        let mut volumes = Vec::new();
        for (place, (device, origin)) in devices.origins.iter().zip(&settings.origins).enumerate() {
            let bytes = volume_bytes(device.bytes());
            if bytes == 0 {
                return Err(Error::size(name_of_origin(&**device, place), device.bytes(), LABEL_BYTES * 2));
            }
            volumes.push(VolumeLabel { origin: *origin, bytes });
        }
        let active_lines = settings.active_lines.unwrap_or(geometry.most_lines).clamp(1, geometry.most_lines);
        let superblock = Superblock {
            sequence: 1,
            cache: settings.cache,
            geometry,
            active_lines,
            mounts: 0,
            opening: false,
            clean: true,
            checkpoint_slot: 0,
            checkpoint_sequence: 1,
            journal_start: 0,
            volumes,
            checkpoint_mount: 0,
        };
        format_with(devices, &superblock)
    }

    /// Opens a cache with its origins, in the order in which it was made with them; lines that were warm are warm.
    ///
    /// # Errors
    ///
    /// When a device is missing, foreign, an older copy, set free or too small ([`Error::is_mismatch`]), when the cache
    /// is damaged, or when a device fails.
    pub fn open(devices: TierDevices, settings: PoolSettings, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        let cache = &*devices.cache;
        let found = find_superblock(cache)?.ok_or_else(|| Error::missing(name_of_cache(cache)))?;
        let FoundSuperblock { mut superblock, is_alone } = found;
        if cache.bytes() < superblock.geometry.byte_of_line(superblock.active_lines) {
            let wanted = superblock.geometry.byte_of_line(superblock.active_lines);
            return Err(Error::size(name_of_cache(cache), cache.bytes(), wanted));
        }
        let count = superblock.volumes.len();
        if devices.origins.len() != count || settings.volumes.len() != count {
            return Err(Error::missing(format!("{count} origins of the cache, of which {}", devices.origins.len())));
        }
        for place in 0..count {
            check_origin(&*devices.origins[place], &superblock, (place, &name_of_cache(cache)))?;
        }
        if is_alone && superblock.opening {
            // The opening that the other copy told of may have written the journal: its number is not given again.
            superblock.mounts += 1;
        }
        let recovery = recover(cache, &superblock)?;
        restore_checksums(cache, &superblock, &recovery)?;
        let after_crash = !superblock.clean;
        begin_mount(&devices, &mut superblock)?;
        let journal =
            JournalPosition { start: superblock.journal_start, next: recovery.journal_next, mount: superblock.mounts };
        let state = (superblock.active_lines, after_crash);
        let policy = settings.policy;
        let machine = CacheMachine::new(superblock.geometry, settings, &recovery.entries, state, journal);
        Ok(Self {
            geometry: superblock.geometry,
            policy,
            bytes: superblock.volumes.iter().map(|volume| volume.bytes).collect(),
            state: Mutex::new(TierState {
                machine,
                waiting: 0,
                latencies: vec![std::array::from_fn(|_| LatencyHistogram::default()); count],
                flush_times: FlushTimes::default(),
                first_error: None,
                sample: None,
            }),
            changed: Condvar::new(),
            opened: clock.now(),
            superblock: Mutex::new(superblock),
            sizes: Mutex::default(),
            cache: devices.cache,
            origin_turns: devices.origins.iter().map(|_| Mutex::default()).collect(),
            origins: devices.origins,
            clock,
        })
    }

    /// Makes everything durable and marks the cache as closed, so that the next opening trusts all of it. Dirty lines
    /// stay dirty, and are closed: what differs in one is damage, also after a crash right behind the next opening.
    ///
    /// The mark is left out while lines that were dirty at a crash before this opening were neither read, cleaned nor
    /// overwritten whole, since an overwrite in place may have torn them: the next opening is one after a crash again.
    /// It is as warm and reads no more; of these lines, those that are dirty in part are cleaned whole, and what differs in
    /// one is counted and not refused.
    ///
    /// # Errors
    ///
    /// When a device fails or the pool has failed; then the cache is as after a crash. Where the cache fails now and nothing is dirty, the
    /// error says that the origins were set free of it.
    pub fn close(self) -> Result<(), Error> {
        self.lock().machine.close_all();
        self.settle()?;
        let mut superblock = self.lock_superblock();
        let is_certain = !self.lock().machine.has_doubtful_lines();
        let closed = self.checkpoint_with(&mut superblock, is_certain);
        let is_given_up = self.lock().machine.has_abandoned();
        closed.map_err(|error| if is_given_up { Error::given_up(error) } else { error })
    }

    /// Makes everything durable that was acknowledged, also what waits for an origin.
    pub(super) fn settle(&self) -> Result<(), Error> {
        for volume in 0..self.volumes() {
            let is_waiting = self.lock().machine.unsynced_blocks(volume) > 0;
            if is_waiting {
                self.sync_origin(volume)?;
            }
        }
        self.commit_all()
    }
}

/// Words for a cache in errors.
pub(super) fn name_of_cache(device: &dyn Device) -> String {
    device.name().map_or_else(|| "the cache".to_owned(), |name| format!("the cache {name}"))
}

/// Words for an origin in errors.
pub(super) fn name_of_origin(device: &dyn Device, place: usize) -> String {
    device.name().map_or_else(|| format!("origin {place}"), |name| format!("origin {place} ({name})"))
}

/// Bytes of the volume on an origin of this size.
pub(super) fn volume_bytes(device: u64) -> u64 {
    device.saturating_sub(LABEL_BYTES) / u64::from(SECTOR_BYTES) * u64::from(SECTOR_BYTES)
}

fn format_with(devices: &TierDevices, superblock: &Superblock) -> Result<(), Error> {
    let cache = &*devices.cache;
    let failed = |error| Error::device("formatted", "the cache", 0, error);
    let geometry = superblock.geometry;
    // An old journal could go on where the new one ends. It gets zeros and no hole, for which there may be no room later.
    let journal_bytes = u64::from(geometry.journal_blocks) * LABEL_BYTES;
    write_zeros(cache, geometry.byte_of_journal(0), journal_bytes).map_err(failed)?;
    let empty = vec![LineEntry::EMPTY; ENTRIES_PER_BLOCK as usize];
    for number in 0..geometry.checkpoint_blocks() {
        let block = crate::layout::encode_entries(superblock.checkpoint_sequence, number, &empty);
        cache.write_at(geometry.byte_of_checkpoint(superblock.checkpoint_slot, number), &block).map_err(failed)?;
    }
    write_zeros(cache, Geometry::byte_of_superblock(0), 2 * LABEL_BYTES).map_err(failed)?;
    cache.sync().map_err(failed)?;
    for place in 0..devices.origins.len() {
        write_label(devices, superblock, place)?;
    }
    write_superblock(cache, superblock)
}

/// Writes the label of an origin, durably.
fn write_label(devices: &TierDevices, superblock: &Superblock, place: usize) -> Result<(), Error> {
    let volume = superblock.volumes[place];
    let label =
        OriginLabel { origin: volume.origin, cache: superblock.cache, mounts: superblock.mounts, detached: false };
    let name = || name_of_origin(&*devices.origins[place], place);
    let failed = |error| Error::device("labelled", name(), volume.bytes, error);
    devices.origins[place].write_at(volume.bytes, &label.encode()).map_err(failed)?;
    devices.origins[place].sync().map_err(failed)
}

/// Refuses an origin that is not the one of the last time, as it was then; the second name is the cache's.
pub(super) fn check_origin(
    device: &dyn Device,
    superblock: &Superblock,
    (place, cache): (usize, &str),
) -> Result<(), Error> {
    let (volume, name) = (superblock.volumes[place], name_of_origin(device, place));
    if device.bytes() < volume.bytes + LABEL_BYTES {
        return Err(Error::size(name, device.bytes(), volume.bytes + LABEL_BYTES));
    }
    let mut bytes = vec![0; usize::try_from(LABEL_BYTES).expect("4 KiB")];
    device.read_at(volume.bytes, &mut bytes).map_err(|error| Error::device("read", &*name, volume.bytes, error))?;
    let label = OriginLabel::decode(&bytes).ok_or_else(|| Error::missing(&*name))?;
    if label.origin != volume.origin {
        return Err(Error::foreign(name, label.origin, volume.origin));
    }
    if label.cache != superblock.cache {
        return Err(Error::foreign(format!("the cache of {name}"), superblock.cache, label.cache));
    }
    if label.detached {
        return Err(Error::detached(name));
    }
    let interrupted = superblock.opening && label.mounts == superblock.mounts + 1;
    match label.mounts.cmp(&superblock.mounts) {
        std::cmp::Ordering::Less => Err(Error::older(name, "cache", label.mounts, superblock.mounts)),
        std::cmp::Ordering::Greater if !interrupted => {
            Err(Error::older(cache, "origin", superblock.mounts, label.mounts))
        }
        _ => Ok(()),
    }
}

/// Puts the checksums of the journal into the array, where a crash may have lost them.
fn restore_checksums(cache: &dyn Device, superblock: &Superblock, recovery: &Recovery) -> Result<(), Error> {
    for record in &recovery.records {
        for sector in record.crcs.sectors().sectors() {
            let at = superblock.geometry.byte_of_crc(record.line, sector);
            let crc = record.crcs.get(sector).expect("it is one of its sectors");
            let failed = |error| Error::device("wrote checksums of", "the cache", at, error);
            cache.write_at(at, &crc.to_le_bytes()).map_err(failed)?;
        }
    }
    Ok(())
}

/// Counts the opening on cache and origins, so that a copy of one of them from before is known as older.
fn begin_mount(devices: &TierDevices, superblock: &mut Superblock) -> Result<(), Error> {
    superblock.sequence += 1;
    superblock.opening = true;
    write_superblock(&*devices.cache, superblock)?;
    superblock.mounts += 1;
    for place in 0..devices.origins.len() {
        write_label(devices, superblock, place)?;
    }
    superblock.sequence += 1;
    superblock.opening = false;
    superblock.clean = false;
    write_superblock(&*devices.cache, superblock)
}

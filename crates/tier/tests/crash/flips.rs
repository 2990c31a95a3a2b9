//! A bit that changes in a dirty line between a crash and its recovery: it is found, costs its sector alone, and reaches no origin.

use std::sync::Arc;
use std::time::Duration;

use proofload_tier::machine::PoolSettings;
use proofload_tier::tier::{CacheInspection, FaultKind, Tier};

use crate::states::{Images, devices_of, read_all};
use crate::support::{Dice, MemoryDevice, TestClock, devices};

const SECTOR: usize = 4096;
const LIMIT: Duration = Duration::from_secs(100);

/// Lines among which one is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlippedLines {
    Closed,
    Open,
}

/// A dirty sector in which a bit was changed.
#[derive(Clone, Copy, Debug)]
struct FlippedSector {
    volume: u8,
    /// Its first byte on the volume.
    at: u64,
    /// The byte on the cache, and its bit.
    place: (usize, u8),
}

impl FlippedSector {
    /// Chooses one, if there is any.
    fn choose(cache: &Arc<MemoryDevice>, among: FlippedLines, dice: &mut Dice) -> Option<Self> {
        let inspection = CacheInspection::of(&**cache).unwrap();
        let geometry = inspection.superblock.geometry;
        let is_chosen = |closed: bool| closed == (among == FlippedLines::Closed);
        let lines = inspection.lines().filter(|(_, entry)| entry.is_dirty() && is_chosen(entry.is_closed()));
        let sectors: Vec<_> = lines.flat_map(|(line, entry)| entry.dirty.sectors().map(move |at| (line, at))).collect();
        if sectors.is_empty() {
            return None;
        }
        let (line, sector) = sectors[dice.below(sectors.len() as u64) as usize];
        let (_, entry) = inspection.lines().find(|(number, _)| *number == line)?;
        let (block, inside) = (entry.block()?, u64::from(sector) * SECTOR as u64);
        let byte = geometry.byte_of_line(line) + inside + dice.below(SECTOR as u64);
        let at = block.index() * u64::from(geometry.line_bytes) + inside;
        Some(Self { volume: block.volume(), at, place: (byte as usize, dice.below(8) as u8) })
    }

    fn is_at(&self, volume: u8, at: u64) -> bool {
        (self.volume, self.at) == (volume, at)
    }
}

/// Changes a bit of a state after a crash and recovers it; returns how many were changed: 0 where there is no such line.
pub(crate) fn check_flip(
    images: &Images,
    settings: &PoolSettings,
    among: FlippedLines,
    dice: &mut Dice,
    what: &str,
) -> u64 {
    let (cache, origins) = devices_of(images);
    let Some(flipped) = FlippedSector::choose(&cache, among, dice) else { return 0 };
    let what = format!("{what}, with {flipped:?}");
    let clock = Arc::new(TestClock::default());
    let wanted: Vec<_> = {
        let tier = Tier::open(devices(&cache, &origins), settings.clone(), clock.clone()).unwrap();
        (0..tier.volumes()).map(|volume| read_all(&tier, volume)).collect()
    };
    let mut images = images.clone();
    images[0][flipped.place.0] ^= 1 << flipped.place.1;
    let (cache, origins) = devices_of(&images);
    if among == FlippedLines::Closed {
        let check = CacheInspection::of(&*cache).unwrap().check_data(&*cache).unwrap();
        let lost: Vec<_> = check.faults.iter().filter(|fault| fault.kind == FaultKind::Lost).collect();
        assert!(matches!(lost[..], [fault] if flipped.is_at(fault.volume, fault.at)), "{what}: it is lost: {lost:?}");
    }
    let open = || Tier::open(devices(&cache, &origins), settings.clone(), clock.clone()).unwrap();
    drop(open());
    let tier = open();
    // Whoever comes first finds it: a read, or the cleaner.
    let reads_first = dice.one_in(2);
    if reads_first {
        check_reads(&tier, &wanted, flipped, &what);
    }
    let status = tier.drain(LIMIT).unwrap_or_else(|error| panic!("{what}: {error}"));
    check_origins(&origins, (&images, &wanted), flipped, &what);
    assert_eq!((status.dirty_lines, status.damaged_lines), (1, 1), "{what}");
    assert_eq!(tier.damaged_ranges(flipped.volume), vec![flipped.at..flipped.at + SECTOR as u64], "{what}");
    check_reads(&tier, &wanted, flipped, &what);
    // A stop keeps it, and a write of the whole sector mends it.
    tier.close().unwrap();
    let tier = open();
    check_reads(&tier, &wanted, flipped, &what);
    let from = flipped.at as usize;
    let sector = &wanted[usize::from(flipped.volume)][from..from + SECTOR];
    tier.write(flipped.volume, flipped.at, sector).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(tier.drain(LIMIT).unwrap().dirty_lines, 0, "{what}");
    assert!(origins[usize::from(flipped.volume)].bytes_now()[from..from + SECTOR] == *sector, "{what}: it is mended");
    1
}

/// Checks that the sector is refused and all others are read as without the flip.
fn check_reads(tier: &Tier, wanted: &[Vec<u8>], flipped: FlippedSector, what: &str) {
    for (volume, wanted) in (0_u8..).zip(wanted) {
        for (at, wanted) in (0..).step_by(SECTOR).zip(wanted.chunks(SECTOR)) {
            let mut bytes = [0xa5; SECTOR];
            match tier.read(volume, at, &mut bytes) {
                Ok(()) => {
                    assert!(!flipped.is_at(volume, at), "{what}: the flipped bit is read");
                    assert!(bytes == wanted, "{what}: volume {volume} byte {at} has another content");
                }
                Err(error) => assert!(error.is_lost() && flipped.is_at(volume, at), "{what}: byte {at}: {error}"),
            }
        }
    }
}

/// Checks that the origins have all that was dirty but for the sector, of which they have what they had.
fn check_origins(
    origins: &[Arc<MemoryDevice>],
    (images, wanted): (&Images, &[Vec<u8>]),
    flipped: FlippedSector,
    what: &str,
) {
    for (volume, wanted) in wanted.iter().enumerate() {
        let (now, before) = (origins[volume].bytes_now(), &images[volume + 1]);
        for at in (0..wanted.len()).step_by(SECTOR) {
            let is_flipped = flipped.is_at(volume as u8, at as u64);
            let wanted = if is_flipped { &before[at..at + SECTOR] } else { &wanted[at..at + SECTOR] };
            let text = if is_flipped { "the flipped bit reaches the origin" } else { "another sector is lost" };
            assert!(now[at..at + SECTOR] == *wanted, "{what}: {text}, at byte {at} of volume {volume}");
        }
    }
}

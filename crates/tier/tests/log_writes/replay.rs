//! Replays a log onto devices in memory, recovers the pool there, and compares the volume with what was flushed.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use proofload_tier::device::Device;
use proofload_tier::machine::CacheMode;
use proofload_tier::tier::{Tier, TierDevices};

use crate::load::{Load, SECTOR};
use crate::log::LogEntry;
use crate::support::{Dice, TestClock, pool};

/// Beginning of the word of a mark: the number of the round whose flush was acknowledged follows.
pub(crate) const FLUSHED: &str = "flushed-";

/// Bytes of the two devices, which lie one behind the other on the one that is logged: so their requests have one order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) cache: u64,
    pub(crate) origin: u64,
}

/// One of the two devices: bytes that are shared, and those that were written since.
struct Part {
    image: Arc<Vec<u8>>,
    start: u64,
    bytes: u64,
    changes: Mutex<BTreeMap<usize, Vec<u8>>>,
}

impl Part {
    /// A range as it lies in the image.
    fn range(&self, at: u64, length: usize) -> io::Result<Range<usize>> {
        let first = (self.start + at) as usize;
        match at + length as u64 <= self.bytes {
            true => Ok(first..first + length),
            false => Err(io::Error::other("beyond the end")),
        }
    }
}

impl Device for Part {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        let range = self.range(at, into.len())?;
        into.copy_from_slice(&self.image[range.clone()]);
        let changes = self.changes.lock().unwrap();
        for (sector, bytes) in changes.range(range.start / SECTOR..range.end.div_ceil(SECTOR)) {
            let first = sector * SECTOR;
            let (from, to) = (first.max(range.start), (first + SECTOR).min(range.end));
            into[from - range.start..to - range.start].copy_from_slice(&bytes[from - first..to - first]);
        }
        Ok(())
    }

    fn write_at(&self, at: u64, from: &[u8]) -> io::Result<()> {
        let range = self.range(at, from.len())?;
        let mut changes = self.changes.lock().unwrap();
        for sector in range.start / SECTOR..range.end.div_ceil(SECTOR) {
            let first = sector * SECTOR;
            let bytes = changes.entry(sector).or_insert_with(|| self.image[first..first + SECTOR].to_vec());
            let (begin, end) = (first.max(range.start), (first + SECTOR).min(range.end));
            bytes[begin - first..end - first].copy_from_slice(&from[begin - range.start..end - range.start]);
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// The two devices after a loss of power.
struct State {
    cache: Arc<Part>,
    origin: Arc<Part>,
}

impl State {
    /// What an image has, and these entries over it.
    fn new(image: &Arc<Vec<u8>>, sizes: Sizes, entries: &[&LogEntry]) -> Self {
        let part =
            |start, bytes| Arc::new(Part { image: image.clone(), start, bytes, changes: Mutex::new(BTreeMap::new()) });
        let state = Self { cache: part(0, sizes.cache), origin: part(sizes.cache, sizes.origin) };
        for entry in entries {
            let (at, bytes) = written(entry);
            let is_cache = at < sizes.cache;
            let (part, at) = if is_cache { (&state.cache, at) } else { (&state.origin, at - sizes.cache) };
            part.write_at(at, &bytes).expect("a request lies on one device");
        }
        state
    }

    fn open(&self) -> Result<Tier, String> {
        let devices = TierDevices { cache: self.cache.clone(), origins: vec![self.origin.clone()] };
        let settings = pool(CacheMode::WriteBack, 1);
        Tier::open(devices, settings, Arc::new(TestClock::default()))
            .map_err(|error| format!("it is not opened: {error}"))
    }

    /// The volume as a first recovery finds it; a second one, after a loss of power just behind the first, must find the same.
    fn recovered(&self) -> Result<Vec<u8>, String> {
        let read = || {
            let tier = self.open()?;
            let dirty = tier.dirty_ranges(0);
            let mut bytes = vec![0xa5; tier.volume_bytes(0) as usize];
            tier.read(0, 0, &mut bytes).map_err(|error| format!("it is not read: {error}"))?;
            Ok::<_, String>((dirty, bytes))
        };
        let (first, again) = (read()?, read()?);
        if first != again {
            return Err("a second recovery finds something else".to_owned());
        }
        Ok(first.1)
    }
}

/// Place and bytes of an entry that changes something; none of another.
fn written(entry: &LogEntry) -> (u64, Vec<u8>) {
    match entry {
        LogEntry::Write { at, bytes, .. } => (*at, bytes.clone()),
        LogEntry::Discard { at, length } => (*at, vec![0; *length as usize]),
        LogEntry::Flush | LogEntry::Mark(_) => (0, Vec::new()),
    }
}

/// Outcome of a replay.
#[derive(Debug, Default)]
pub(crate) struct Proof {
    /// States that were recovered, twice each.
    pub(crate) states: u64,
    /// Flushes in the log.
    pub(crate) flushes: u64,
    /// Requests in the log that write.
    pub(crate) writes: u64,
    /// Rounds whose flush was acknowledged.
    pub(crate) rounds: u64,
    /// Rounds after whose mark the content of the next one was missed, as it must be.
    pub(crate) early_marks_found: u64,
    /// Rounds of which one flush with what it made durable could not be left out unnoticed.
    pub(crate) left_out_found: u64,
    /// What was wrong.
    pub(crate) faults: Vec<String>,
}

/// A log, and the load that was logged.
pub(crate) struct Replay<'a> {
    pub(crate) entries: &'a [LogEntry],
    pub(crate) sizes: Sizes,
    pub(crate) load: &'a Load,
    /// States between two flushes that are looked at, beside that at each flush.
    pub(crate) between: u64,
}

/// Where a replay is.
struct Position<'a> {
    image: Arc<Vec<u8>>,
    /// The last round whose flush was acknowledged.
    flushed: Option<usize>,
    /// The image at that mark, and what each flush has made durable since.
    before: (Arc<Vec<u8>>, Vec<Vec<&'a LogEntry>>),
    /// Entries behind the last flush.
    pending: Vec<&'a LogEntry>,
    dice: Dice,
    proof: Proof,
}

impl<'a> Replay<'a> {
    /// Replays all of it.
    pub(crate) fn prove(&self) -> Proof {
        let image = Arc::new(vec![0; (self.sizes.cache + self.sizes.origin) as usize]);
        let before = (image.clone(), Vec::new());
        let mut position =
            Position { image, flushed: None, before, pending: Vec::new(), dice: Dice(7), proof: Proof::default() };
        for entry in self.entries {
            match entry {
                LogEntry::Flush => self.flush(&mut position),
                LogEntry::Mark(word) => {
                    let round = word.strip_prefix(FLUSHED).and_then(|round| round.parse().ok());
                    round.into_iter().for_each(|round| self.mark(&mut position, round));
                }
                LogEntry::Write { is_durable: true, .. } => position.apply(&[entry]),
                _ => position.pending.push(entry),
            }
            position.proof.writes += u64::from(matches!(entry, LogEntry::Write { .. }));
        }
        position.proof
    }

    /// Goes up to a flush, and looks at what a loss of power may leave just before: any part of what it makes durable.
    fn flush(&self, position: &mut Position<'a>) {
        position.proof.flushes += 1;
        let pending = std::mem::take(&mut position.pending);
        for _ in 0..self.between.min(pending.len() as u64) {
            let cut = position.dice.below(pending.len() as u64) as usize;
            let is_prefix = position.dice.one_in(2);
            let chosen = |place: usize, dice: &mut Dice| if is_prefix { place < cut } else { dice.one_in(2) };
            let part: Vec<&LogEntry> = (0..)
                .zip(&pending)
                .filter(|(place, _)| chosen(*place, &mut position.dice))
                .map(|(_, entry)| *entry)
                .collect();
            self.look(position, &part, "inside of flush");
        }
        position.apply(&pending);
        position.before.1.push(pending);
        self.look(position, &[], "at flush");
    }

    /// Compares a state with the last mark.
    fn look(&self, position: &mut Position<'a>, more: &[&LogEntry], place: &str) -> Option<Vec<u8>> {
        let flushed = position.flushed?;
        position.proof.states += 1;
        let state = State::new(&position.image, self.sizes, more);
        let found = state.recovered().and_then(|volume| self.load.check(flushed, &volume).map(|()| volume));
        let fault = |fault| format!("{place} {} of round {}: {fault}", position.proof.flushes, flushed + 1);
        found.map_err(|found| position.proof.faults.push(fault(found))).ok()
    }

    /// A round is acknowledged: what it has flushed is there, what the next one writes is not, and none of its flushes was for nothing.
    fn mark(&self, position: &mut Position<'a>, round: usize) {
        position.flushed = Some(round);
        position.proof.rounds += u64::from(round > 0);
        let volume = self.look(position, &[], "at the mark behind flush");
        let is_last = round == self.load.rounds.len();
        position.proof.early_marks_found +=
            u64::from(!is_last && volume.is_some_and(|volume| self.load.check(round + 1, &volume).is_err()));
        let (before, epochs) = std::mem::replace(&mut position.before, (position.image.clone(), Vec::new()));
        let is_noticed = |left_out: usize| {
            let kept = (0..).zip(&epochs).filter(|(place, _)| *place != left_out).flat_map(|(_, epoch)| epoch);
            let state = State::new(&before, self.sizes, &kept.copied().collect::<Vec<_>>());
            state.recovered().and_then(|volume| self.load.check(round, &volume)).is_err()
        };
        position.proof.left_out_found += u64::from(round > 0 && (0..epochs.len()).rev().any(is_noticed));
    }
}

impl Position<'_> {
    /// Makes entries durable.
    fn apply(&mut self, entries: &[&LogEntry]) {
        let image = Arc::make_mut(&mut self.image);
        for entry in entries {
            let (at, bytes) = written(entry);
            image[at as usize..at as usize + bytes.len()].copy_from_slice(&bytes);
        }
    }
}

/// What the devices hold at a mark.
pub(crate) fn image_at(entries: &[LogEntry], sizes: Sizes, mark: &str) -> Option<Vec<u8>> {
    let end = entries.iter().position(|entry| matches!(entry, LogEntry::Mark(word) if word == mark))?;
    let mut image = vec![0; (sizes.cache + sizes.origin) as usize];
    for entry in &entries[..end] {
        let (at, bytes) = written(entry);
        image[at as usize..at as usize + bytes.len()].copy_from_slice(&bytes);
    }
    Some(image)
}

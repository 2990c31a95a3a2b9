//! What each 512 bytes of the volumes may hold.

use std::collections::BTreeSet;

/// Bytes of a unit: the least that a device writes whole.
pub(crate) const UNIT: usize = 512;

/// Values that a unit may have after a crash; the last is what a read returns now.
#[derive(Clone, Debug)]
struct Unit {
    permitted: Vec<u64>,
    /// Whether a failed request leaves open what a read returns.
    doubtful: bool,
}

/// All volumes.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    volumes: Vec<Vec<Unit>>,
    /// Blocks of each volume that were dirty at its last flush that succeeded, or that a write or discard was begun of since.
    dirty: Vec<BTreeSet<u64>>,
    units_per_block: usize,
    next: u64,
}

impl Model {
    pub(crate) fn new(volumes: usize, blocks: usize, units_per_block: usize) -> Self {
        let unit = Unit { permitted: vec![0], doubtful: false };
        let units = vec![unit; blocks * units_per_block];
        Self { volumes: vec![units; volumes], dirty: vec![BTreeSet::new(); volumes], units_per_block, next: 1 }
    }

    /// A value that was never written.
    pub(crate) fn fresh(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Notes that a write of a value is at work.
    pub(crate) fn begin(&mut self, volume: usize, units: std::ops::Range<usize>, value: u64) {
        let blocks = units.start / self.units_per_block..units.end.div_ceil(self.units_per_block);
        self.dirty[volume].extend(blocks.map(|block| block as u64));
        for unit in &mut self.volumes[volume][units] {
            unit.permitted.push(value);
        }
    }

    pub(crate) fn end(&mut self, volume: usize, units: std::ops::Range<usize>, succeeded: bool) {
        for unit in &mut self.volumes[volume][units] {
            unit.doubtful = !succeeded;
        }
    }

    /// Notes that a flush of a volume succeeded, of which these blocks are dirty.
    pub(crate) fn flushed(&mut self, volume: usize, dirty: &[u64]) {
        // What a failed request did to the origin may keep what else became of its block from being durable.
        let units = &self.volumes[volume];
        let is_doubtful = |block: &u64| {
            let first = *block as usize * self.units_per_block;
            units[first..first + self.units_per_block].iter().any(|unit| unit.doubtful)
        };
        self.dirty[volume].retain(is_doubtful);
        self.dirty[volume].extend(dirty);
        for unit in self.volumes[volume].iter_mut().filter(|unit| !unit.doubtful) {
            let last = *unit.permitted.last().expect("never empty");
            unit.permitted = vec![last];
        }
    }

    #[track_caller]
    pub(crate) fn check_read(&self, volume: usize, first: usize, bytes: &[u8], what: &str) {
        for (unit, bytes) in (first..).zip(bytes.chunks(UNIT)) {
            let value = value_of(bytes);
            let state = &self.volumes[volume][unit];
            let right = value.is_some_and(|value| match state.doubtful {
                true => state.permitted.contains(&value),
                false => state.permitted.last() == Some(&value),
            });
            assert!(right, "{what}: volume {volume} unit {unit} reads {value:?} instead of {state:?}");
        }
    }

    #[track_caller]
    pub(crate) fn check_recovered(&self, volume: usize, bytes: &[u8], what: &str) {
        for (unit, bytes) in bytes.chunks(UNIT).enumerate() {
            let value = value_of(bytes);
            let permitted = &self.volumes[volume][unit].permitted;
            let right = value.is_some_and(|value| permitted.contains(&value));
            assert!(right, "{what}: volume {volume} unit {unit} has {value:?}, permitted are {permitted:?}");
        }
    }

    /// Takes what was recovered for what is, and the dirty blocks too.
    pub(crate) fn settle(&mut self, volume: usize, bytes: &[u8], dirty: &[u64]) {
        for (unit, bytes) in self.volumes[volume].iter_mut().zip(bytes.chunks(UNIT)) {
            unit.permitted = vec![value_of(bytes).expect("it was checked")];
            unit.doubtful = false;
        }
        self.dirty[volume] = dirty.iter().copied().collect();
    }

    /// Checks that nothing is dirty that was clean, durably.
    #[track_caller]
    pub(crate) fn check_dirty(&self, volume: usize, dirty: &[u64], what: &str) {
        for block in dirty {
            assert!(self.dirty[volume].contains(block), "{what}: block {block} became dirty by a crash");
        }
    }
}

/// The bytes of a unit with a value; 0 is all zeros.
pub(crate) fn bytes_of(value: u64, units: usize) -> Vec<u8> {
    value.to_le_bytes().repeat(UNIT / 8 * units)
}

/// The value of a unit, if all of it is of one write.
pub(crate) fn value_of(bytes: &[u8]) -> Option<u64> {
    let value = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
    (bytes[8..] == bytes[..bytes.len() - 8]).then_some(value)
}

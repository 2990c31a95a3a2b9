//! A sample of the references to a pool by the hash of their block, kept in a ring of fixed size. It allocates once and knows no device.

use super::spatial_filter::SpatialFilter;
use crate::block::{OriginBlock, SECTOR_BYTES, SectorSet};
use crate::machine::{AccessKind, BlockRequest};

/// References that a ring holds: 1 MiB, some seconds of a busy pool.
pub const RING_REFERENCES: usize = 1 << 16;

/// Blocks that a sample should have, where there are as many: twice the 8,000 of SHARDS. Source: Waldspurger and others, FAST 2015.
pub const SAMPLED_BLOCKS: u64 = 16_384;

/// Chooses the sample; the same in every run, so that two runs follow the same blocks.
const SEED: u64 = 0x5a4d_91e5;

/// One use of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The block.
    pub block: OriginBlock,
    /// What was done.
    pub kind: AccessKind,
    /// Sectors that it touches.
    pub sectors: SectorSet,
}

/// How a pool is sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleSettings {
    /// Share of all blocks that is followed, above 0 and up to 1.
    pub rate: f64,
    /// Lines that the data fill when the sample begins: the measure of sizes.
    pub data_lines: u64,
}

impl SampleSettings {
    /// A sample of [`SAMPLED_BLOCKS`] blocks of data that fill so many lines, or of all of them.
    pub fn of_data(data_lines: u64) -> Self {
        Self { rate: (SAMPLED_BLOCKS as f64 / data_lines.max(1) as f64).min(1.0), data_lines }
    }
}

/// References from a number on, and where the next ones begin.
#[derive(Clone, Debug, PartialEq)]
pub struct SamplePiece {
    /// How the pool is sampled; the rate is the one in force.
    pub settings: SampleSettings,
    /// Bytes of a line of the pool.
    pub line_bytes: u32,
    /// Number of the first reference; later than what was asked for where the ring was too small.
    pub first: u64,
    /// The references.
    pub references: Vec<Reference>,
    /// Whether there were no more of them.
    pub is_last: bool,
}

impl SamplePiece {
    /// Reads of the data of a volume in order, as far as their blocks are in the sample: what a cache meets that is warmed.
    pub fn reads_of_data(&self, volume: u8) -> impl Iterator<Item = Reference> + use<> {
        let filter = SpatialFilter::new(self.settings.rate, SEED);
        let sectors = SectorSet::first(self.line_bytes / SECTOR_BYTES);
        let blocks = (0..self.settings.data_lines).map(move |index| OriginBlock::new(volume, index));
        let sampled = blocks.filter(move |block| filter.takes(block.bits()));
        sampled.map(move |block| Reference { block, kind: AccessKind::Read, sectors })
    }
}

/// The last sampled references of a pool.
#[derive(Debug)]
pub struct SampleRing {
    settings: SampleSettings,
    filter: SpatialFilter,
    ring: Vec<Reference>,
    /// Number of the next reference.
    next: u64,
}

impl SampleRing {
    /// An empty ring.
    pub fn new(settings: SampleSettings) -> Self {
        let filter = SpatialFilter::new(settings.rate, SEED);
        let settings = SampleSettings { rate: filter.rate(), ..settings };
        Self { settings, filter, ring: Vec::with_capacity(RING_REFERENCES), next: 0 }
    }

    /// Keeps a request if its block is in the sample.
    #[inline]
    pub(crate) fn note(&mut self, request: &BlockRequest) {
        if self.filter.takes(request.block.bits()) {
            self.keep(request);
        }
    }

    fn keep(&mut self, request: &BlockRequest) {
        let sectors = SectorSet::touched(&request.range);
        let reference = Reference { block: request.block, kind: request.kind, sectors };
        if self.ring.len() < RING_REFERENCES {
            self.ring.push(reference);
        } else {
            let place = self.place(self.next);
            self.ring[place] = reference;
        }
        self.next += 1;
    }

    fn place(&self, number: u64) -> usize {
        usize::try_from(number % RING_REFERENCES as u64).expect("below the size of the ring")
    }

    /// The references from a number on, at most so many. A number that was never given begins again with the oldest.
    pub(crate) fn since(&self, number: u64, most: usize, line_bytes: u32) -> SamplePiece {
        let oldest = self.next - self.ring.len() as u64;
        let first = if number > self.next { oldest } else { number.max(oldest) };
        let end = self.next.min(first + most as u64);
        let references = (first..end).map(|number| self.ring[self.place(number)]).collect();
        SamplePiece { settings: self.settings, line_bytes, first, references, is_last: end == self.next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(index: u64) -> BlockRequest {
        BlockRequest { kind: AccessKind::Write, block: OriginBlock::new(0, index), range: 4096..8192 }
    }

    #[test]
    fn the_last_references_are_there_in_order_and_what_was_lost_is_seen() {
        let mut ring = SampleRing::new(SampleSettings { rate: 1.0, data_lines: 10 });
        let blocks = |piece: &SamplePiece| piece.references.iter().map(|one| one.block.index()).collect::<Vec<_>>();
        assert_eq!(ring.since(0, 9, 8192).references, []);
        (0..5).for_each(|index| ring.note(&request(index)));
        let piece = ring.since(2, 2, 8192);
        assert_eq!((piece.first, blocks(&piece), piece.is_last), (2, vec![2, 3], false));
        assert_eq!(piece.references[0].sectors, SectorSet(0b10));
        let piece = ring.since(4, 2, 8192);
        assert_eq!((blocks(&piece), piece.is_last), (vec![4], true));
        assert_eq!(ring.since(77, 1, 8192).first, 0, "a ring that was made anew begins again");
        let many = RING_REFERENCES as u64 + 7;
        (5..many).for_each(|index| ring.note(&request(index)));
        let piece = ring.since(3, 2, 8192);
        assert_eq!((piece.first, blocks(&piece)), (7, vec![7, 8]), "four were overwritten before they were read");
        assert_eq!(blocks(&ring.since(many - 1, 9, 8192)), [many - 1]);
        assert_eq!(ring.ring.capacity(), RING_REFERENCES, "it never grows");
    }

    #[test]
    fn a_sample_has_its_share_of_blocks_and_all_references_to_them() {
        let settings = SampleSettings::of_data(100_000);
        assert!((settings.rate - 0.16384).abs() < 1e-9 && SampleSettings::of_data(500).rate == 1.0);
        let mut ring = SampleRing::new(settings);
        for _ in 0..2 {
            (0..100_000).for_each(|index| ring.note(&request(index)));
        }
        let taken = ring.since(0, RING_REFERENCES, 8192).references;
        assert!((taken.len() as f64 / 200_000.0 - 0.164).abs() < 0.005, "{}", taken.len());
        assert_eq!(taken[..taken.len() / 2], taken[taken.len() / 2..]);
        let read: Vec<_> = ring.since(0, 1, 8192).reads_of_data(0).map(|one| one.block).collect();
        assert_eq!(read, taken[..taken.len() / 2].iter().map(|one| one.block).collect::<Vec<_>>());
    }
}

//! Where things are: blocks of a volume, sectors of a block, sets of sectors. It holds no state.

use std::ops::Range;

/// Bytes of a sector, the unit of valid and dirty bits and of checksums.
pub const SECTOR_BYTES: u32 = 4096;

/// Hashes 64 bits to 64 bits, one to one.
///
/// Source: the finaliser of `SplitMix64`, Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
/// OOPSLA 2014, with Stafford's constants of mix 13.
#[inline]
pub fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// A piece of a volume that fits one line, aligned to the size of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OriginBlock(u64);

impl OriginBlock {
    /// The value that stands for no block in tables.
    pub(crate) const NOWHERE: OriginBlock = OriginBlock(u64::MAX);

    /// Block number `index` of a volume; `index` is below 2^48.
    pub fn new(volume: u8, index: u64) -> Self {
        debug_assert!(index < 1 << 48, "a block number has 48 bits");
        Self((u64::from(volume) << 48) | index)
    }

    /// The number of its volume.
    pub fn volume(self) -> u8 {
        u8::try_from((self.0 >> 48) & 0xff).expect("eight bits")
    }

    /// Its number in the volume, counted from 0.
    pub fn index(self) -> u64 {
        self.0 & ((1 << 48) - 1)
    }

    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    pub(crate) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
}

/// A set of sectors of one block: bit 0 is the first sector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SectorSet(pub u16);

impl SectorSet {
    /// The first `count` sectors of a block, 16 at most.
    pub fn first(count: u32) -> Self {
        debug_assert!(count <= 16, "a line has 16 sectors at most");
        Self(u16::try_from((1_u32 << count) - 1).expect("16 bits"))
    }

    /// The sectors that a range of bytes of a block touches.
    pub fn touched(range: &Range<u32>) -> Self {
        if range.is_empty() {
            return Self(0);
        }
        let (from, to) = (range.start / SECTOR_BYTES, range.end.div_ceil(SECTOR_BYTES));
        Self(Self::first(to).0 & !Self::first(from).0)
    }

    /// The sectors that a range of bytes of a block covers whole.
    pub fn covered(range: &Range<u32>) -> Self {
        let (from, to) = (range.start.div_ceil(SECTOR_BYTES), range.end / SECTOR_BYTES);
        if from >= to { Self(0) } else { Self(Self::first(to).0 & !Self::first(from).0) }
    }

    /// Sectors that are in either.
    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Sectors that are in both.
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Sectors that are here and not there.
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether it has no sector.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether it has every sector of the other.
    pub fn has(self, other: Self) -> bool {
        other.without(self).is_empty()
    }

    /// Number of sectors.
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// The numbers of its sectors, from the lowest on.
    pub fn sectors(self) -> impl Iterator<Item = u32> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let sector = (left != 0).then(|| left.trailing_zeros());
            left &= left.wrapping_sub(1);
            sector
        })
    }

    /// The longest ranges of bytes of a block that lie in the set, from the lowest on.
    pub fn runs(self) -> impl Iterator<Item = Range<u32>> {
        let mut left = u32::from(self.0);
        std::iter::from_fn(move || {
            if left == 0 {
                return None;
            }
            let from = left.trailing_zeros();
            let length = (!(left >> from)).trailing_zeros();
            left &= !(((1_u32 << length) - 1) << from);
            Some(from * SECTOR_BYTES..(from + length) * SECTOR_BYTES)
        })
    }

    /// The least range of bytes of a block that has every sector; empty for the empty set.
    pub fn span(self) -> Range<u32> {
        if self.is_empty() {
            return 0..0;
        }
        self.0.trailing_zeros() * SECTOR_BYTES..(16 - self.0.leading_zeros()) * SECTOR_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(range: Range<u32>, touched: u16, covered: u16) {
        assert_eq!(SectorSet::touched(&range), SectorSet(touched), "touched by {range:?}");
        assert_eq!(SectorSet::covered(&range), SectorSet(covered), "covered by {range:?}");
    }

    #[test]
    fn ranges_touch_and_cover_sectors() {
        check(0..0, 0, 0);
        check(0..4096, 0b1, 0b1);
        check(1..4096, 0b1, 0);
        check(100..9000, 0b111, 0b010);
        check(4096..65536, 0xfffe, 0xfffe);
        check(5000..5001, 0b10, 0);
    }

    #[test]
    fn runs_are_longest_and_span_holds_all() {
        let set = SectorSet(0b1000_0000_0110_0011);
        let runs: Vec<_> = set.runs().map(|run| (run.start / 4096, run.end / 4096)).collect();
        assert_eq!(runs, [(0, 2), (5, 7), (15, 16)]);
        assert_eq!(set.span(), 0..65536);
        assert_eq!(set.sectors().collect::<Vec<_>>(), [0, 1, 5, 6, 15]);
        assert_eq!((SectorSet(0).sectors().count(), SectorSet(0xffff).sectors().count()), (0, 16));
        assert_eq!(SectorSet(0xffff).runs().collect::<Vec<_>>(), vec![0..65536]);
        assert_eq!((SectorSet(0).runs().count(), SectorSet(0).span()), (0, 0..0));
    }

    #[test]
    fn a_block_is_volume_and_number() {
        let block = OriginBlock::new(1, (1 << 48) - 1);
        assert_eq!((block.volume(), block.index()), (1, (1 << 48) - 1));
        assert!(OriginBlock::new(0, 7) < block && block < OriginBlock::NOWHERE);
    }
}

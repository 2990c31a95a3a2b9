//! Mapping of an array's bytes to drives, by RAID level. It knows no time.

use std::ops::Range;

use super::drive::DiskRequest;

/// How an array spreads its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayLayout {
    /// One drive.
    Single,
    /// Stripes over all drives.
    Raid0,
    /// Every drive has everything; reads take turns.
    Raid1,
    /// Stripes with one parity block that rotates.
    Raid5,
    /// Stripes over pairs of mirrors.
    Raid10,
}

/// Bytes of a stripe on one drive.
pub(super) const STRIPE: u64 = 64 << 10;

/// The pieces of a request in stripes over so many drives, each on its drive.
pub(super) fn striped(request: DiskRequest, drives: usize) -> impl Iterator<Item = (usize, DiskRequest)> {
    stripes(request).map(move |(stripe, inside, bytes)| {
        let drive = usize::try_from(stripe % drives as u64).expect("below the number of drives");
        let at = stripe / drives as u64 * STRIPE + inside;
        (drive, DiskRequest { at, bytes, ..request })
    })
}

/// Number, offset and bytes of the stripes that a request touches.
fn stripes(request: DiskRequest) -> impl Iterator<Item = (u64, u64, u64)> {
    let (mut at, end) = (request.at, request.at + request.bytes);
    std::iter::from_fn(move || {
        let (stripe, inside) = (at / STRIPE, at % STRIPE);
        let bytes = (STRIPE - inside).min(end - at);
        at += bytes;
        (bytes > 0).then_some((stripe, inside, bytes))
    })
}

/// A row of RAID 5 with left-symmetric parity: a stripe on each drive, of which one is parity.
struct ParityRow {
    number: u64,
    drives: u64,
}

impl ParityRow {
    fn parity(&self) -> u64 {
        self.drives - 1 - self.number % self.drives
    }

    /// A range of the stripe on a drive, counted behind the one with parity: 0 is parity itself.
    fn piece(&self, behind: u64, range: &Range<u64>, is_write: bool) -> (usize, DiskRequest) {
        let drive = usize::try_from((self.parity() + behind) % self.drives).expect("below the number of drives");
        let (at, bytes) = (self.number * STRIPE + range.start, range.end - range.start);
        (drive, DiskRequest { at, bytes, is_write })
    }

    /// What a write to ranges of its stripes reads: the old data there and the old parity, or all else that the new parity is made of where
    /// that is fewer operations. A row that is written whole needs nothing.
    fn reads(&self, touched: &[(u64, Range<u64>)], parity: &[Range<u64>]) -> Vec<(usize, DiskRequest)> {
        let old = touched.iter().map(|(behind, range)| self.piece(*behind, range, false));
        let old = old.chain(parity.iter().map(|range| self.piece(0, range, false)));
        let others = (1..self.drives).flat_map(|behind| {
            let written = touched.iter().find(|(of, _)| *of == behind).map_or(0..0, |(_, range)| range.clone());
            let left = parity.iter().flat_map(move |range| without(range, &written));
            left.map(move |range| self.piece(behind, &range, false))
        });
        let (old, others): (Vec<_>, Vec<_>) = (old.collect(), others.collect());
        if others.len() < old.len() { others } else { old }
    }
}

/// What is left of a range without another.
fn without(range: &Range<u64>, other: &Range<u64>) -> impl Iterator<Item = Range<u64>> + use<> {
    let before = range.start..range.end.min(other.start);
    let behind = range.start.max(other.end)..range.end;
    let parts = if other.is_empty() { [range.clone(), 0..0] } else { [before, behind] };
    parts.into_iter().filter(|part| !part.is_empty())
}

/// Ranges in their order, with those that touch as one.
fn joined(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// RAID 5: a small write reads data and parity, then writes both. A row takes one write of parity over all that is touched of it, and where
/// little of it is left, that is read instead; a row that is written whole needs no read.
pub(super) fn raid5(request: DiskRequest, drives: usize) -> Vec<Vec<(usize, DiskRequest)>> {
    let drives = drives as u64;
    let data = drives - 1;
    let mut stripes = stripes(request).peekable();
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    while let Some((first, ..)) = stripes.peek().copied() {
        let row = ParityRow { number: first / data, drives };
        let mut touched = Vec::new();
        while let Some((stripe, inside, bytes)) = stripes.next_if(|(stripe, ..)| stripe / data == row.number) {
            touched.push((1 + stripe % data, inside..inside + bytes));
        }
        let pieces = touched.iter().map(|(behind, range)| row.piece(*behind, range, request.is_write));
        if !request.is_write {
            reads.extend(pieces);
            continue;
        }
        writes.extend(pieces);
        let parity = joined(touched.iter().map(|(_, range)| range.clone()).collect());
        writes.extend(parity.iter().map(|range| row.piece(0, range, true)));
        reads.extend(row.reads(&touched, &parity));
    }
    let rounds = [reads, writes];
    rounds.into_iter().filter(|round| !round.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(at: u64, bytes: u64) -> DiskRequest {
        DiskRequest { at, bytes, is_write: true }
    }

    #[test]
    fn a_small_write_of_raid_5_is_two_reads_and_two_writes_on_two_drives() {
        for stripe in 0..100 {
            let rounds = raid5(write(stripe * STRIPE + 8192, 8192), 8);
            let kinds: Vec<Vec<bool>> =
                rounds.iter().map(|round| round.iter().map(|(_, piece)| piece.is_write).collect()).collect();
            assert_eq!(kinds, [vec![false, false], vec![true, true]]);
            assert_ne!(rounds[0][0].0, rounds[0][1].0);
            assert_eq!(rounds[0][0].0, rounds[1][0].0);
        }
    }

    #[test]
    fn a_whole_row_of_raid_5_is_written_without_a_read_to_every_drive() {
        let rounds = raid5(write(7 * STRIPE * 3, 7 * STRIPE), 8);
        assert_eq!(rounds.len(), 1);
        let mut drives: Vec<usize> = rounds[0].iter().map(|(drive, _)| *drive).collect();
        drives.sort_unstable();
        assert_eq!(drives, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(rounds[0].iter().all(|(_, piece)| piece.at == 3 * STRIPE && piece.bytes == STRIPE));
    }

    /// Reads, writes, and operations on the drive with parity, of a write to the first row of eight drives.
    fn operations(at: u64, bytes: u64) -> [usize; 3] {
        let rounds = raid5(write(at, bytes), 8);
        let all: Vec<_> = rounds.iter().flatten().collect();
        let writes = all.iter().filter(|(_, piece)| piece.is_write).count();
        // The first row has its parity on the last drive.
        [all.len() - writes, writes, all.iter().filter(|(drive, _)| *drive == 7).count()]
    }

    #[test]
    fn a_write_of_several_stripes_takes_parity_once() {
        let aligned: Vec<_> = (1..=7).map(|stripes| operations(0, stripes * STRIPE)).collect();
        // From four stripes on, the three or fewer that are left are read instead of the old ones and the parity.
        assert_eq!(aligned, [[2, 2, 2], [3, 3, 2], [4, 4, 2], [3, 5, 1], [2, 6, 1], [1, 7, 1], [0, 8, 1]]);
        // From the middle of the first stripe to the middle of the last one.
        let ragged: Vec<_> = (1..=6).map(|stripes| operations(STRIPE / 2, stripes * STRIPE)).collect();
        assert_eq!(ragged, [[3, 3, 2], [4, 4, 2], [5, 5, 2], [4, 6, 1], [3, 7, 1], [2, 8, 1]]);
        // The end of a stripe and the begin of the next one: two ranges of parity.
        assert_eq!(operations(STRIPE - 4096, 8192), [4, 4, 4]);
        assert_eq!(operations(STRIPE / 2, STRIPE / 2 + 4096), [4, 4, 4]);
    }

    #[test]
    fn parity_is_written_over_all_that_is_touched_and_data_once() {
        for (at, bytes) in [(0, 3 * STRIPE), (4096, 8192), (STRIPE / 2, 9 * STRIPE), (STRIPE - 512, 1024)] {
            let rounds = raid5(write(at, bytes), 8);
            let writes = rounds.iter().flatten().filter(|(_, piece)| piece.is_write);
            let (mut data, mut parity) = (0, Vec::new());
            for (drive, piece) in writes {
                let is_parity = *drive as u64 == 7 - piece.at / STRIPE % 8;
                if is_parity { parity.push(piece.at..piece.at + piece.bytes) } else { data += piece.bytes }
            }
            assert_eq!(data, bytes, "{at} {bytes}");
            let touched = raid5(DiskRequest { is_write: false, ..write(at, bytes) }, 8).swap_remove(0);
            let touched = touched.into_iter().map(|(_, piece)| piece.at..piece.at + piece.bytes);
            assert_eq!(joined(parity), joined(touched.collect()), "{at} {bytes}");
        }
    }

    #[test]
    fn a_small_write_before_three_drives_reads_the_other_data() {
        let rounds = raid5(write(8192, 8192), 3);
        assert_eq!(rounds.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2]);
        assert_eq!((rounds[0][0].0, rounds[1][0].0, rounds[1][1].0), (1, 0, 2));
    }

    #[test]
    fn stripes_keep_every_byte_once() {
        let request = DiskRequest { at: STRIPE * 5 - 100, bytes: STRIPE * 9 + 300, is_write: false };
        let pieces: Vec<_> = striped(request, 4).collect();
        assert_eq!(pieces.iter().map(|(_, piece)| piece.bytes).sum::<u64>(), request.bytes);
        let mut seen: Vec<_> = pieces.iter().map(|(drive, piece)| (*drive, piece.at)).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), pieces.len());
    }
}

//! A controller's battery-backed cache for writes: what the drives do not have yet. It joins neighbours and forgets what is overwritten, and
//! knows no drive.

use std::collections::BTreeMap;

/// Bytes that wait, and the time at which the last of them came, ms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CachedPiece {
    /// First byte.
    pub(super) at: u64,
    /// Bytes.
    pub(super) bytes: u64,
    /// Time at which the last of them came, ms.
    pub(super) since: f64,
}

/// Ranges that wait for the drives, none of which overlaps or touches another.
#[derive(Clone, Debug, Default)]
pub(super) struct WriteCache {
    /// First byte, bytes and time of each.
    ranges: BTreeMap<u64, (u64, f64)>,
    bytes: u64,
    /// Where the last one that was taken ended: the next is the first from there on.
    cursor: u64,
}

impl WriteCache {
    /// Bytes that wait.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes a write.
    pub(super) fn put(&mut self, at: u64, bytes: u64, now: f64) {
        let (mut from, mut to) = (at, at + bytes);
        if let Some((&before, &(length, _))) = self.ranges.range(..=at).next_back()
            && before + length >= at
        {
            from = before;
        }
        let joined: Vec<u64> = self.ranges.range(from..=to).map(|(start, _)| *start).collect();
        for start in joined {
            let (length, _) = self.ranges.remove(&start).expect("it was found");
            self.bytes -= length;
            to = to.max(start + length);
        }
        self.ranges.insert(from, (to - from, now));
        self.bytes += to - from;
    }

    /// Whether all of a range waits, so that a read of it needs no drive.
    pub(super) fn covers(&self, at: u64, bytes: u64) -> bool {
        let found = self.ranges.range(..=at).next_back();
        found.is_some_and(|(start, (length, _))| start + length >= at + bytes)
    }

    /// The pieces in the order of addresses from the last one that was taken on, none of which crosses a multiple of `row`.
    pub(super) fn pieces(&self, row: u64) -> impl Iterator<Item = CachedPiece> + '_ {
        let ranges = self.ranges.range(self.cursor..).chain(self.ranges.range(..self.cursor));
        ranges.map(move |(&at, &(length, since))| CachedPiece { at, bytes: length.min(row - at % row), since })
    }

    /// Takes out a piece that [`WriteCache::pieces`] has told. What was passed over comes before what is behind it.
    pub(super) fn take(&mut self, piece: CachedPiece) {
        let first = self.pieces(u64::MAX).next().is_some_and(|first| first.at == piece.at);
        let Some((length, since)) = self.ranges.remove(&piece.at) else { return };
        if length > piece.bytes {
            self.ranges.insert(piece.at + piece.bytes, (length - piece.bytes, since));
        }
        self.bytes -= piece.bytes;
        if first {
            self.cursor = piece.at + piece.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_joined_and_what_is_overwritten_counts_once() {
        let mut cache = WriteCache::default();
        cache.put(8192, 4096, 1.0);
        cache.put(0, 4096, 2.0);
        cache.put(4096, 4096, 3.0);
        cache.put(6000, 1000, 4.0);
        assert_eq!(
            (cache.bytes(), cache.pieces(1 << 20).next()),
            (12_288, Some(CachedPiece { at: 0, bytes: 12_288, since: 4.0 }))
        );
        cache.put(20_480, 4096, 5.0);
        assert_eq!((cache.bytes(), cache.covers(1000, 11_288), cache.covers(1000, 11_289)), (16_384, true, false));
        cache.put(4096, 20_480, 6.0);
        assert_eq!((cache.bytes(), cache.covers(0, 24_576)), (24_576, true));
    }

    #[test]
    fn pieces_come_in_the_order_of_addresses_and_end_at_rows() {
        let mut cache = WriteCache::default();
        cache.put(3000, 3000, 1.0);
        cache.put(100, 50, 2.0);
        let mut taken = Vec::new();
        loop {
            let Some(piece) = cache.pieces(4096).next() else { break };
            cache.take(piece);
            taken.push((piece.at, piece.bytes));
            if taken.len() == 2 {
                // Behind the cursor: it waits for the next round.
                cache.put(200, 10, 3.0);
            }
        }
        assert_eq!(taken, [(100, 50), (3000, 1096), (4096, 1904), (200, 10)]);
        assert_eq!(cache.bytes(), 0);
    }

    #[test]
    fn a_piece_that_is_passed_over_is_the_next() {
        let mut cache = WriteCache::default();
        [0, 10_000, 20_000].into_iter().for_each(|at| cache.put(at, 100, 1.0));
        let second = cache.pieces(4096).nth(1).unwrap();
        cache.take(second);
        let left: Vec<u64> = cache.pieces(4096).map(|piece| piece.at).collect();
        assert_eq!((second.at, left), (10_000, vec![0, 20_000]));
    }
}

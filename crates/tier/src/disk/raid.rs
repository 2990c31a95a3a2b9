//! Mapping of an array's bytes to drives, by RAID level. It knows no time.

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

impl ArrayLayout {
    /// Every layout.
    pub const ALL: [ArrayLayout; 5] = [Self::Single, Self::Raid0, Self::Raid1, Self::Raid5, Self::Raid10];

    /// Its word in studies and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Raid0 => "raid-0",
            Self::Raid1 => "raid-1",
            Self::Raid5 => "raid-5",
            Self::Raid10 => "raid-10",
        }
    }
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

/// RAID 5 with left-symmetric parity: a small write reads data and parity, then writes both; a row that is written
/// whole needs no read.
pub(super) fn raid5(request: DiskRequest, drives: usize) -> Vec<Vec<(usize, DiskRequest)>> {
    let data = drives as u64 - 1;
    let place = |stripe: u64| {
        let row = stripe / data;
        let parity = drives as u64 - 1 - row % drives as u64;
        let drive = (parity + 1 + stripe % data) % drives as u64;
        let small = |drive: u64| usize::try_from(drive).expect("below the number of drives");
        (row, small(drive), small(parity))
    };
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    let whole_rows = (request.at.div_ceil(STRIPE * data), (request.at + request.bytes) / (STRIPE * data));
    for (stripe, inside, bytes) in stripes(request) {
        let (row, drive, parity) = place(stripe);
        let piece = DiskRequest { at: row * STRIPE + inside, bytes, is_write: request.is_write };
        if !request.is_write {
            reads.push((drive, piece));
            continue;
        }
        let whole = (whole_rows.0..whole_rows.1).contains(&row);
        writes.push((drive, piece));
        if !whole {
            let read = DiskRequest { is_write: false, ..piece };
            reads.extend([(drive, read), (parity, read)]);
            writes.push((parity, piece));
        } else if stripe % data == 0 {
            writes.push((parity, piece));
        }
    }
    if reads.is_empty() { vec![writes] } else { vec![reads, writes] }
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

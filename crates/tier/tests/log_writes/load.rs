//! A load of rounds that end with a flush: what each 4 KiB of a volume may hold after a round follows from the seed alone.

use proofload_tier::block::SECTOR_BYTES;

use crate::support::Dice;

/// Bytes of a sector of the cache: what is written whole or not at all.
pub(crate) const SECTOR: usize = SECTOR_BYTES as usize;

/// Requests of a round.
const REQUESTS: u64 = 24;

/// Rounds of which no two requests lie alike.
const SEED: u64 = 42;

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestKind {
    Write,
    Discard,
}

/// A request for whole sectors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) kind: RequestKind,
    /// First sector.
    pub(crate) first: usize,
    /// Number of sectors.
    pub(crate) count: usize,
}

/// A load.
pub(crate) struct Load {
    /// Requests of each round, from round 1 on; none of a round overlap.
    pub(crate) rounds: Vec<Vec<Request>>,
    /// Sectors of the volume.
    pub(crate) sectors: usize,
}

impl Load {
    /// The load of so many rounds on a volume of so many bytes.
    pub(crate) fn new(rounds: usize, bytes: u64) -> Self {
        let sectors = bytes as usize / SECTOR;
        let mut dice = Dice(SEED);
        let rounds = (0..rounds).map(|_| Self::round(&mut dice, sectors)).collect();
        Self { rounds, sectors }
    }

    fn round(dice: &mut Dice, sectors: usize) -> Vec<Request> {
        let mut requests: Vec<Request> = Vec::new();
        for _ in 0..REQUESTS {
            let kind = if dice.one_in(8) { RequestKind::Discard } else { RequestKind::Write };
            let count = 1 + dice.below(if kind == RequestKind::Discard { 16 } else { 4 }) as usize;
            // Half of them in an eighth of the volume, so that lines are hit.
            let span = if dice.one_in(2) { sectors / 8 } else { sectors };
            let first = dice.below((span - count) as u64) as usize;
            let overlaps = |other: &Request| first < other.first + other.count && other.first < first + count;
            if !requests.iter().any(overlaps) {
                requests.push(Request { kind, first, count });
            }
        }
        requests
    }

    /// What a sector holds that was written in a round: number and round, again and again.
    pub(crate) fn value(sector: usize, round: usize) -> u64 {
        (sector as u64 + 1) << 32 | round as u64
    }

    /// Bytes of a request of a round; zeros of a discard.
    pub(crate) fn bytes(request: &Request, round: usize) -> Vec<u8> {
        let sectors = request.first..request.first + request.count;
        match request.kind {
            RequestKind::Discard => vec![0; request.count * SECTOR],
            RequestKind::Write => {
                sectors.flat_map(|sector| Self::value(sector, round).to_le_bytes().repeat(SECTOR / 8)).collect()
            }
        }
    }

    /// Values of all sectors after a round, 0 before the first.
    pub(crate) fn after(&self, round: usize) -> Vec<u64> {
        let mut values = vec![0; self.sectors];
        for (round, requests) in (1..=round).zip(&self.rounds) {
            requests.iter().for_each(|request| Self::put(&mut values, request, round));
        }
        values
    }

    fn put(values: &mut [u64], request: &Request, round: usize) {
        let written = values.iter_mut().enumerate().skip(request.first).take(request.count);
        for (sector, value) in written {
            let is_write = request.kind == RequestKind::Write;
            *value = if is_write { Self::value(sector, round) } else { 0 };
        }
    }

    /// Tells what is wrong with a volume of which this round is the last that was flushed: each sector holds what it held then or, if the next
    /// round writes it, what that writes.
    pub(crate) fn check(&self, flushed: usize, volume: &[u8]) -> Result<(), String> {
        let now = self.after(flushed);
        let mut next = now.clone();
        let more = self.rounds.get(flushed).map_or(&[][..], Vec::as_slice);
        more.iter().for_each(|request| Self::put(&mut next, request, flushed + 1));
        for (sector, bytes) in volume.chunks_exact(SECTOR).enumerate() {
            let found = number_of(bytes);
            if found != Some(now[sector]) && found != Some(next[sector]) {
                let told = |value: u64| format!("{}/{}", (value >> 32).saturating_sub(1), value & 0xffff_ffff);
                let found = found.map_or_else(|| "a mixture".to_owned(), told);
                return Err(format!("sector {sector} has {found}, not {} of round {flushed}", told(now[sector])));
            }
        }
        Ok(())
    }
}

/// The number that a sector repeats; `None` when it does not.
fn number_of(bytes: &[u8]) -> Option<u64> {
    let number = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
    (bytes[8..] == bytes[..bytes.len() - 8]).then_some(number)
}

#[test]
fn a_volume_holds_what_was_flushed_or_what_comes_next() {
    let load = Load::new(6, 4 << 20);
    let mut volume = vec![0; load.sectors * SECTOR];
    for (round, requests) in (1..).zip(&load.rounds) {
        load.check(round - 1, &volume).unwrap();
        for request in requests {
            let at = request.first * SECTOR;
            volume[at..at + request.count * SECTOR].copy_from_slice(&Load::bytes(request, round));
            load.check(round - 1, &volume).unwrap();
        }
        load.check(round, &volume).unwrap();
        assert!(round < 2 || load.check(round - 2, &volume).is_err(), "a round that was lost");
        let at = load.rounds[round - 1].iter().find(|request| request.kind == RequestKind::Write).unwrap().first;
        let mut torn = volume.clone();
        torn[at * SECTOR + 9] ^= 1;
        assert!(load.check(round, &torn).unwrap_err().contains("a mixture"));
    }
}

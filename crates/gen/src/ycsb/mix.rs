//! The kinds of operations and how often each comes.
//!
//! Shares are kept as whole millionths, so that they sum to one exactly and the place of every insert can be
//! computed without a rounding error at any index.

use super::compatible::Draws;
use super::settings::KeyChoice;
use super::stream::Stream;
use crate::Error;

/// Unit of shares: millionths.
pub(super) const WHOLE: u32 = 1_000_000;

/// The kind of an operation; `as usize` is its place in [`Kind::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One record by its key.
    Read,
    /// New values for one or all fields of a record.
    Update,
    /// A new record.
    Insert,
    /// Records from a key on, in the order of keys.
    Scan,
    /// A read, then an update of the same record.
    ReadModifyWrite,
}

impl Kind {
    /// Every kind, in the order of YCSB's reports.
    pub const ALL: [Self; 5] = [Self::Read, Self::Update, Self::Insert, Self::Scan, Self::ReadModifyWrite];

    /// The name in studies and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Update => "update",
            Self::Insert => "insert",
            Self::Scan => "scan",
            Self::ReadModifyWrite => "read_modify_write",
        }
    }
}

/// Shares of the kinds, each 0 to 1, together 1: the terms of a [`Mix`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// Share of reads.
    pub read: f64,
    /// Share of updates.
    pub update: f64,
    /// Share of inserts.
    pub insert: f64,
    /// Share of scans.
    pub scan: f64,
    /// Share of read-modify-writes.
    pub read_modify_write: f64,
}

impl Shares {
    /// No operation at all: what the other shares are added to.
    pub const NONE: Self = Self { read: 0.0, update: 0.0, insert: 0.0, scan: 0.0, read_modify_write: 0.0 };

    const fn all(&self) -> [f64; 5] {
        [self.read, self.update, self.insert, self.scan, self.read_modify_write]
    }
}

/// Share of each kind in millionths that sum to one million.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mix {
    millionths: [u32; 5],
}

impl Mix {
    /// The mix of these shares, each rounded to a millionth; what rounding leaves over goes to the largest.
    ///
    /// Fails if a share is below 0 or if their sum is farther than a millionth from 1.
    pub fn new(shares: &Shares) -> Result<Self, Error> {
        let shares = shares.all();
        for (kind, share) in Kind::ALL.into_iter().zip(shares) {
            if !(0.0..=1.0).contains(&share) {
                return Err(Error::unfit(kind.name(), share, "a share from 0 to 1"));
            }
        }
        let sum: f64 = shares.iter().sum();
        if (sum - 1.0).abs() > 1.000_001e-6 {
            return Err(Error::unfit("the sum of the shares of operations", sum, "1"));
        }
        Ok(Self { millionths: rounded(shares) })
    }

    /// The mix of YCSB's core workload `letter`, `a` to `f`. Source: YCSB 0.17.0, `workloads/workloada` to
    /// `workloadf`.
    pub fn preset(letter: char) -> Result<Self, Error> {
        let none = Shares::NONE;
        Self::new(&match preset(letter)? {
            Preset::A => Shares { read: 0.5, update: 0.5, ..none },
            Preset::B => Shares { read: 0.95, update: 0.05, ..none },
            Preset::C => Shares { read: 1.0, ..none },
            Preset::D => Shares { read: 0.95, insert: 0.05, ..none },
            Preset::E => Shares { scan: 0.95, insert: 0.05, ..none },
            Preset::F => Shares { read: 0.5, read_modify_write: 0.5, ..none },
        })
    }

    /// Millionths of the operations that are of `kind`.
    #[must_use]
    pub const fn millionths(&self, kind: Kind) -> u32 {
        self.millionths[kind as usize]
    }

    /// Share of the operations that are of `kind`, 0 to 1.
    #[must_use]
    pub fn share(&self, kind: Kind) -> f64 {
        f64::from(self.millionths(kind)) / f64::from(WHOLE)
    }

    /// A kind that is no insert, with the shares that are left without inserts; some such share is positive.
    #[inline]
    pub(super) fn draw_without_inserts(&self, stream: &mut Stream) -> Kind {
        let rest = WHOLE - self.millionths(Kind::Insert);
        let mut ticket = ((u128::from(stream.word()) * u128::from(rest)) >> 64) as u32;
        for kind in [Kind::Read, Kind::Update, Kind::Scan] {
            match ticket.checked_sub(self.millionths(kind)) {
                None => return kind,
                Some(left) => ticket = left,
            }
        }
        Kind::ReadModifyWrite
    }
}

impl KeyChoice {
    /// The choice of keys of YCSB's core workload `letter`, `a` to `f`.
    pub fn preset(letter: char) -> Result<Self, Error> {
        let theta = super::YCSB_THETA;
        Ok(match preset(letter)? {
            Preset::D => Self::Latest { theta },
            Preset::A | Preset::B | Preset::C | Preset::E | Preset::F => Self::Zipfian { theta },
        })
    }
}

enum Preset {
    A,
    B,
    C,
    D,
    E,
    F,
}

fn preset(letter: char) -> Result<Preset, Error> {
    Ok(match letter {
        'a' => Preset::A,
        'b' => Preset::B,
        'c' => Preset::C,
        'd' => Preset::D,
        'e' => Preset::E,
        'f' => Preset::F,
        _ => return Err(Error::unknown_name("preset", &letter.to_string(), &["a", "b", "c", "d", "e", "f"])),
    })
}

/// The shares in millionths; the largest takes what is missing or too much.
fn rounded(shares: [f64; 5]) -> [u32; 5] {
    let mut millionths = shares.map(|share| (share * f64::from(WHOLE)).round() as u32);
    let largest = (0..5).max_by_key(|&place| millionths[place]).expect("there are five kinds");
    let others = millionths.iter().sum::<u32>() - millionths[largest];
    millionths[largest] = WHOLE.saturating_sub(others);
    millionths
}

//! Settings of a plan of the key-value workload, and which of them cannot be met.
//!
//! Names and meanings are YCSB's. Nothing here has a default: the study says every value.

use super::YCSB_THETA;
use super::mix::{Kind, Mix};
use crate::{Error, Seed};

/// More records than this are refused: up to here a record number is exact as a double.
pub(super) const MOST_RECORDS: u64 = 1_000_000_000_000_000;
/// Characters that name the writer of a value.
pub(super) const WRITER_CHARACTERS: u32 = 11;
/// More digits than this are refused as padding of a key.
pub(super) const MOST_PADDING: u8 = 64;
/// Most redraws of a key, on average: in the mode `ycsb` a key that is not inserted yet is redrawn.
const MOST_REDRAWS: u64 = 1_000;

/// Distribution of the lengths of values and scans between a least and a largest length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LengthChoice {
    /// Always the largest.
    Constant,
    /// Every length alike.
    Uniform,
    /// The least most often: zipfian with skew 0.99 over the lengths.
    Zipfian,
}

/// Number and length of a record's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Fields of a record, 1 to 1,000.
    pub fields: u16,
    /// Characters of a value, at most; 12 to 1,000,000.
    pub length: u32,
    /// Distribution of the lengths of values.
    pub lengths: LengthChoice,
    /// Characters of a value, at least; 12 to `length`. Without meaning for constant lengths.
    pub least_length: u32,
}

/// Distribution of the record that a read, update, scan or read-modify-write takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeyChoice {
    /// Every record alike.
    Uniform,
    /// The record of rank k in proportion to k^-θ, popular records scattered over the keyspace.
    Zipfian {
        /// Skew θ, 0 to 10.
        theta: f64,
    },
    /// The newest record most often, zipfian by age.
    Latest {
        /// Skew θ, 0 to 10.
        theta: f64,
    },
    /// A share of the operations goes to a hot share of the loaded records, evenly within both parts.
    Hotspot {
        /// Share of the loaded records that is hot, 0 to 1.
        set: f64,
        /// Share of the operations that go there, 0 to 1.
        operations: f64,
    },
    /// The newest record most often, exponential by age.
    Exponential {
        /// Share of the operations in per cent, 1 to below 100 …
        percentile: f64,
        /// ... fall into this newest share of the records, above 0 to 1.
        share: f64,
    },
    /// One loaded record after the other, over and over.
    Sequential,
}

/// Agreement with YCSB: keys are chosen and named as the distributions are defined, or as YCSB does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compatibility {
    /// Distributions that are what they are called, and keys without collision.
    Exact,
    /// Key names and choices equal to those of YCSB 0.17.0, bit for bit.
    Ycsb,
}

/// Order of the records by their keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InsertOrder {
    /// Scattered.
    Hashed,
    /// Ascending.
    Ordered,
}

/// Number of records that a scan asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScanLengths {
    /// Least number; 1 to `most`.
    pub least: u32,
    /// Largest number.
    pub most: u32,
    /// Distribution between the two.
    pub choice: LengthChoice,
}

/// All that determines keys, values and operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Seed of the values.
    pub data_seed: Seed,
    /// Seed of the operations.
    pub input_seed: Seed,
    /// Records after the load, 1 to 10^15.
    pub records: u64,
    /// Operations that the run is expected to take. Only the mode `ycsb` asks: it makes room for twice the inserts
    /// among them.
    pub expected_operations: u64,
    /// Shares of the kinds.
    pub mix: Mix,
    /// Fields and their lengths.
    pub shape: Shape,
    /// Distribution of the record that is taken.
    pub key_choice: KeyChoice,
    /// Agreement with YCSB's keys and distributions.
    pub compatibility: Compatibility,
    /// Order of the keys.
    pub insert_order: InsertOrder,
    /// Digits of a key at least, 1 to 64; asked in the mode `ycsb` only, as keys of the other have 20.
    pub zero_padding: u8,
    /// A read, scan or read-modify-write reads all fields rather than one.
    pub read_all_fields: bool,
    /// An update or read-modify-write writes all fields rather than one.
    pub write_all_fields: bool,
    /// Length of scans.
    pub scan_lengths: ScanLengths,
}

impl Settings {
    /// Fails with the first setting that nothing can be drawn from.
    pub(super) fn check(&self) -> Result<(), Error> {
        within("records", self.records, 1, MOST_RECORDS)?;
        within("zero_padding", self.zero_padding.into(), 1, MOST_PADDING.into())?;
        self.shape.check()?;
        self.scan_lengths.check()?;
        self.key_choice.check()?;
        match self.compatibility {
            Compatibility::Exact => Ok(()),
            Compatibility::Ycsb => self.check_compatible(),
        }
    }

    /// New keys that YCSB makes room for: twice the expected inserts, by its own arithmetic.
    pub(super) fn room_for_inserts(&self) -> u64 {
        (self.expected_operations as f64 * self.mix.share(Kind::Insert) * 2.0) as u64
    }

    fn check_compatible(&self) -> Result<(), Error> {
        match self.key_choice {
            KeyChoice::Zipfian { theta } | KeyChoice::Latest { theta } if theta != YCSB_THETA => {
                Err(Error::unfit("theta of the mode ycsb", theta, "0.99, which YCSB has built in"))
            }
            KeyChoice::Zipfian { .. } if self.room_for_inserts() / self.records > MOST_REDRAWS => Err(Error::unfit(
                "expected_operations of the mode ycsb",
                self.expected_operations as f64,
                "small enough that inserts stay below 500 times the records",
            )),
            KeyChoice::Latest { .. } => within("records of latest in the mode ycsb", self.records, 4, MOST_RECORDS),
            _ => Ok(()),
        }
    }
}

impl Shape {
    fn check(&self) -> Result<(), Error> {
        within("fields", self.fields.into(), 1, 1_000)?;
        let least = u64::from(WRITER_CHARACTERS) + 1;
        within("length of a value", self.length.into(), least, 1_000_000)?;
        if self.lengths == LengthChoice::Constant {
            return Ok(());
        }
        within("least length of a value", self.least_length.into(), least, self.length.into())
    }
}

impl ScanLengths {
    fn check(&self) -> Result<(), Error> {
        within("length of a scan", self.most.into(), 1, u32::MAX.into())?;
        if self.choice == LengthChoice::Constant {
            return Ok(());
        }
        within("least length of a scan", self.least.into(), 1, self.most.into())
    }
}

impl KeyChoice {
    fn check(&self) -> Result<(), Error> {
        let check = |what, value: f64, fits: bool, allowed| {
            if fits { Ok(()) } else { Err(Error::unfit(what, value, allowed)) }
        };
        match *self {
            Self::Uniform | Self::Sequential => Ok(()),
            Self::Zipfian { theta } | Self::Latest { theta } => {
                check("theta", theta, (0.0..=10.0).contains(&theta), "from 0 to 10")
            }
            Self::Hotspot { set, operations } => {
                check("set of the hotspot", set, (0.0..=1.0).contains(&set), "a share from 0 to 1")?;
                let fits = (0.0..=1.0).contains(&operations);
                check("operations of the hotspot", operations, fits, "a share from 0 to 1")
            }
            Self::Exponential { percentile, share } => {
                let fits = (1.0..100.0).contains(&percentile);
                check("percentile of the exponential choice", percentile, fits, "from 1 to below 100")?;
                check("share of the exponential choice", share, share > 0.0 && share <= 1.0, "above 0 and at most 1")
            }
        }
    }
}

fn within(what: &'static str, found: u64, least: u64, most: u64) -> Result<(), Error> {
    if (least..=most).contains(&found) { Ok(()) } else { Err(Error::out_of_range(what, found, least, most)) }
}

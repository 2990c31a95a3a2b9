//! The name of a record: "user" and a number, as YCSB has it.

use super::compatible::fnv_hash;
use super::settings::{Compatibility, InsertOrder, MOST_PADDING, Settings};
use crate::seed::{GOLDEN_GAMMA, mix};

/// Beginning of every key.
const PREFIX: &str = "user";
/// Digits of the largest 64-bit number, and of every key in the exact mode.
const DIGITS: u32 = 20;
/// Digits that there is room for.
const ROOM: usize = MOST_PADDING as usize;

/// The names of the records.
///
/// | mode | hashed | ordered |
/// |---|---|---|
/// | exact | 20 digits of a 64-bit bijection of the record's number | 20 digits of the number |
/// | `ycsb` | FNV-1a of the number, padded as set | the number, padded as set |
///
/// Keys of the exact mode do not collide. Those of `ycsb` may: 64-bit hashes of which the sign is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keys {
    compatibility: Compatibility,
    insert_order: InsertOrder,
    digits: u32,
}

impl Keys {
    /// Characters of a key at most.
    pub const MOST_CHARACTERS: usize = PREFIX.len() + ROOM;

    pub(super) const fn new(settings: &Settings) -> Self {
        let digits = match settings.compatibility {
            Compatibility::Exact => DIGITS,
            Compatibility::Ycsb => settings.zero_padding as u32,
        };
        Self { compatibility: settings.compatibility, insert_order: settings.insert_order, digits }
    }

    /// Replaces `into` by the key of `record`. Allocates only if `into` has too little room.
    #[inline]
    pub fn write(&self, record: u64, into: &mut String) {
        let mut digits = [b'0'; ROOM];
        let number = self.number(record);
        write_decimal(number, &mut digits);
        let start = ROOM - self.digits.max(decimal_digits(number)) as usize;
        into.clear();
        into.push_str(PREFIX);
        into.push_str(str::from_utf8(&digits[start..]).expect("digits are ASCII"));
    }

    /// The number in the key. The one hash of 2^64 that `Math.abs` leaves negative is written without its minus.
    #[inline]
    fn number(&self, record: u64) -> u64 {
        match (self.compatibility, self.insert_order) {
            (_, InsertOrder::Ordered) => record,
            (Compatibility::Exact, InsertOrder::Hashed) => mix(record.wrapping_add(GOLDEN_GAMMA)),
            (Compatibility::Ycsb, InsertOrder::Hashed) => fnv_hash(record).unsigned_abs(),
        }
    }
}

fn decimal_digits(number: u64) -> u32 {
    number.checked_ilog10().map_or(1, |log| log + 1)
}

/// Writes `number` with twenty digits at the end of `digits`, in two halves that do not wait for each other.
#[inline]
fn write_decimal(number: u64, digits: &mut [u8; ROOM]) {
    const HALF: u64 = 10_u64.pow(DIGITS / 2);
    let twenty = &mut digits[ROOM - DIGITS as usize..];
    let (high, low) = twenty.split_at_mut(DIGITS as usize / 2);
    write_half(number / HALF, high);
    write_half(number % HALF, low);
}

#[inline]
fn write_half(mut number: u64, digits: &mut [u8]) {
    for pair in digits.as_chunks_mut::<2>().0.iter_mut().rev() {
        *pair = PAIRS[(number % 100) as usize];
        number /= 100;
    }
}

/// "00" to "99".
static PAIRS: [[u8; 2]; 100] = pairs();

const fn pairs() -> [[u8; 2]; 100] {
    let mut pairs = [[b'0'; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
}

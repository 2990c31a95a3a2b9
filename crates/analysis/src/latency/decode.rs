//! Histograms as programs of this family write them, decoded without the array of all buckets that the library makes for each: some
//! 270 kB for one second of load. What is not exactly of this form is left to the library, which also says what is wrong with it.

use super::sparse::Bucket;
use flate2::read::ZlibDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use std::cell::RefCell;
use std::io::Read;

/// How a compressed histogram begins, and what is compressed. Source: HdrHistogram, encoding V2, with bytes per word left open.
const COMPRESSED: u32 = 0x1c84_9314;
const PLAIN: u32 = 0x1c84_9313;

/// Bytes before the counts of what is compressed.
const HEAD: usize = 40;

/// Longest histogram that is decoded here, bytes.
const LONGEST: usize = 1 << 16;

/// What decoding takes: made once for each thread, since making it costs more than using it.
struct Decoder {
    inflate: Decompress,
    plain: Vec<u8>,
    buckets: Vec<Bucket>,
}

thread_local! {
    static DECODER: RefCell<Decoder> = RefCell::new(Decoder {
        inflate: Decompress::new(true),
        plain: vec![0; LONGEST],
        buckets: Vec::new(),
    });
}

/// Buckets of a histogram and the sum of their counts; `None` for what is to be left to the library.
pub(super) fn decode(payload: &[u8]) -> Option<(Vec<Bucket>, u64)> {
    DECODER.with_borrow_mut(|decoder| {
        let length = inflate(payload, &mut decoder.inflate, &mut decoder.plain)?;
        let plain = decoder.plain.get(..length)?;
        let count = buckets(plain, &mut decoder.buckets)?;
        Some((decoder.buckets.as_slice().to_vec(), count))
    })
}

/// Bytes of counts that a histogram claims to have, for which the library makes room before it reads them; `None` for what the library
/// refuses without them.
pub(super) fn claimed(payload: &[u8]) -> Option<u32> {
    let mut head = [0; 8];
    match u32_at(payload, 0)? {
        PLAIN => head.copy_from_slice(payload.get(..8)?),
        COMPRESSED => ZlibDecoder::new(payload.get(8..)?).read_exact(&mut head).ok()?,
        _ => return None,
    }
    u32_at(&head, 4)
}

/// Unpacks what is compressed; its length.
fn inflate(payload: &[u8], inflate: &mut Decompress, plain: &mut [u8]) -> Option<usize> {
    let length = u32_at(payload, 4)? as usize;
    let packed = payload.get(8..8 + length).filter(|_| u32_at(payload, 0) == Some(COMPRESSED))?;
    inflate.reset(true);
    let status = inflate.decompress(packed, plain, FlushDecompress::Finish).ok()?;
    (status == Status::StreamEnd).then(|| usize::try_from(inflate.total_out()).ok())?
}

/// Reads the filled buckets; the sum of their counts.
fn buckets(plain: &[u8], found: &mut Vec<Bucket>) -> Option<u64> {
    let (length, digits) = (u32_at(plain, 4)? as usize, u32_at(plain, 12)?);
    let (low, high) = (u64_at(plain, 16)?, u64_at(plain, 24)?);
    let is_usual = u32_at(plain, 0)? == PLAIN && u32_at(plain, 8)? == 0 && low == 1 && high >= 2 && digits <= 5;
    if !is_usual || high > u64::MAX / 2 || f64::from_bits(u64_at(plain, 32)?) != 1.0 {
        return None;
    }
    let scale = Scale::of(digits, high);
    let mut counts = plain.get(HEAD..)?.get(..length)?;
    let (mut place, mut sum) = (0_u64, 0_u64);
    found.clear();
    while !counts.is_empty() {
        let number = signed(varint(&mut counts)?);
        let Ok(count) = u64::try_from(number) else {
            place = place.checked_add(number.unsigned_abs())?;
            continue;
        };
        if count > 0 {
            let end = scale.end_of(place)?;
            found.push(Bucket::below(end, count));
            sum = sum.checked_add(count)?;
        }
        place = place.checked_add(1)?;
    }
    Some(sum)
}

/// Where buckets lie. Source: HdrHistogram, whose first bucket has twice as many parts as each of the others, which are twice as wide as the
/// one before.
struct Scale {
    /// Binary digits of the number of parts that every bucket but the first has.
    half_bits: u32,
    /// Parts of all buckets.
    parts: u64,
}

impl Scale {
    fn of(digits: u32, high: u64) -> Self {
        let half_bits = (2 * 10_u64.pow(digits)).next_power_of_two().trailing_zeros() - 1;
        let beyond_first = (u64::BITS - high.leading_zeros()).saturating_sub(half_bits + 1);
        Self { half_bits, parts: (u64::from(beyond_first) + 2) << half_bits }
    }

    /// The first value beyond a part; `None` where there is no such part.
    fn end_of(&self, part: u64) -> Option<u64> {
        if part >= self.parts {
            return None;
        }
        let bucket = (part >> self.half_bits).saturating_sub(1);
        Some((part - (bucket << self.half_bits) + 1) << bucket)
    }
}

/// A number in groups of seven bits, the ninth byte whole.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for place in 0..9 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        if place == 8 || *byte < 0x80 {
            return Some(value | u64::from(*byte) << (7 * place));
        }
        value |= u64::from(byte & 0x7f) << (7 * place);
    }
    None
}

const fn signed(encoded: u64) -> i64 {
    (encoded >> 1) as i64 ^ -((encoded & 1) as i64)
}

fn u32_at(bytes: &[u8], place: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(place..)?.first_chunk().copied()?))
}

fn u64_at(bytes: &[u8], place: usize) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.get(place..)?.first_chunk().copied()?))
}

//! HdrHistogram's encoding of version 1, which YCSB 0.17.0 writes and the histogram library no longer reads.
//!
//! Source: the format as HdrHistogram's Java library 2.1.4 writes it: a cookie whose second digit from the right is the width of a count in
//! bytes, seven more numbers, all big-endian, then a count for each bucket from the lowest; deflated behind a cookie and a length.

use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use std::io::Read;

/// Cookies without the digit of the width.
const PLAIN: u32 = 0x1c84_9301;
const DEFLATED: u32 = 0x1c84_9302;
const WIDTH: u32 = 0xf0;
/// Bytes before the counts.
const HEADER: usize = 40;
/// A histogram with five digits over all 63 bits stays below this, bytes.
const INFLATED_MOST: u64 = 128 << 20;

/// Whether it is one, by the first bytes of an encoded histogram.
pub(super) fn fits(bytes: &[u8]) -> bool {
    matches!(number32(bytes, 0).map(|cookie| cookie & !WIDTH), Some(PLAIN | DEFLATED))
}

/// Decodes it; the error is a lower-case fragment.
pub(super) fn decode(bytes: &[u8]) -> Result<Histogram<u64>, String> {
    let cookie = number32(bytes, 0).ok_or("it ends before its first number")?;
    if cookie & !WIDTH == PLAIN {
        return plain(bytes);
    }
    let length = number32(bytes, 4).ok_or("it ends before its length")? as usize;
    let deflated = bytes.get(8..8 + length).ok_or_else(|| format!("it ends before its {length} bytes"))?;
    let mut inflated = Vec::new();
    let read = ZlibDecoder::new(deflated).take(INFLATED_MOST).read_to_end(&mut inflated);
    read.map_err(|error| format!("its deflated bytes are damaged: {error}"))?;
    plain(&inflated)
}

fn plain(bytes: &[u8]) -> Result<Histogram<u64>, String> {
    let header = "its header is cut off";
    let cookie = number32(bytes, 0).ok_or(header)?;
    let (length, shift) = (number32(bytes, 4).ok_or(header)? as usize, number32(bytes, 8).ok_or(header)?);
    let digits = number32(bytes, 12).ok_or(header)?;
    let lowest = number64(bytes, 16).ok_or(header)?;
    let ratio = f64::from_bits(number64(bytes, 32).ok_or(header)?);
    let width = ((cookie & WIDTH) >> 4) as usize;
    if cookie & !WIDTH != PLAIN || !matches!(width, 2 | 4 | 8) || !(0..=5).contains(&digits) || lowest == 0 {
        return Err(format!(
            "its header is not one of version 1 (cookie {cookie:#x}, {digits} digits, lowest value {lowest})"
        ));
    }
    if shift != 0 || ratio != 1.0 {
        return Err("its values are shifted or scaled, which YCSB's histograms are not".to_owned());
    }
    let counts = bytes.get(HEADER..HEADER + length).ok_or("its counts are cut off")?;
    filled(counts, width, digits as u8, lowest)
}

/// Counts by bucket to a histogram.
fn filled(counts: &[u8], width: usize, digits: u8, lowest: u64) -> Result<Histogram<u64>, String> {
    let mut histogram = Histogram::new(digits).map_err(|error| format!("{digits} digits: {error}"))?;
    let scale = Buckets::new(digits, lowest);
    for (index, count) in counts.chunks_exact(width).enumerate() {
        let count = count.iter().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
        if count == 0 {
            continue;
        }
        let value = scale.value(index).ok_or_else(|| format!("bucket {index} is beyond the largest number"))?;
        histogram.record_n(value, count).map_err(|error| format!("bucket {index}, value {value}: {error}"))?;
    }
    Ok(histogram)
}

/// Which value a bucket begins with. The first half of the sub-buckets of the lowest bucket has the same width as the second.
/// Source: Tene, the documentation of HdrHistogram, "internals".
struct Buckets {
    half_bits: u32,
    unit_bits: u32,
}

impl Buckets {
    fn new(digits: u8, lowest: u64) -> Self {
        let largest_of_unit = 2 * 10u64.pow(u32::from(digits));
        Self { half_bits: largest_of_unit.next_power_of_two().trailing_zeros() - 1, unit_bits: lowest.ilog2() }
    }

    fn value(&self, index: usize) -> Option<u64> {
        let half = 1u64 << self.half_bits;
        let index = index as u64;
        let (bucket, sub) = match (index >> self.half_bits).checked_sub(1) {
            None => (0, index),
            Some(bucket) => (bucket, (index & (half - 1)) + half),
        };
        let shift = u32::try_from(bucket).ok()?.checked_add(self.unit_bits)?;
        (sub.leading_zeros() > shift).then(|| sub << shift)
    }
}

pub(super) fn number32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)
}

fn number64(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8)?.try_into().ok().map(u64::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The histogram as version 1 writes it, by the histogram's own buckets.
    fn encoded(values: &[u64], digits: u8, width: usize) -> Vec<u8> {
        let mut histogram = Histogram::<u64>::new(digits).unwrap();
        values.iter().for_each(|value| histogram.record(*value).unwrap());
        let scale = Buckets::new(digits, 1);
        let mut counts = Vec::new();
        for index in 0.. {
            let value = scale.value(index).unwrap();
            if value > histogram.max() {
                break;
            }
            counts.extend_from_slice(&histogram.count_at(value).to_be_bytes()[8 - width..]);
        }
        let mut bytes = (PLAIN | (width as u32) << 4).to_be_bytes().to_vec();
        for number in [counts.len() as u32, 0, u32::from(digits)] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        for number in [1, u64::MAX >> 1, 1.0f64.to_bits()] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        bytes.extend_from_slice(&counts);
        bytes
    }

    #[test]
    fn values_return_to_their_buckets() {
        let values = [0, 1, 17, 2047, 2048, 2049, 4095, 4096, 5000, 1_000_003, 3_600_000_000];
        for (digits, width) in [(1, 8), (2, 4), (3, 2), (3, 8)] {
            let values = &values[..if digits == 3 { 10 } else { 11 }];
            let read = decode(&encoded(values, digits, width)).unwrap();
            assert_eq!(read.len(), values.len() as u64);
            for value in values {
                assert!(read.count_at(*value) > 0, "{value} at {digits} digits");
            }
            assert!(read.equivalent(read.max(), *values.last().unwrap()));
        }
    }

    #[test]
    fn damage_is_refused() {
        let good = encoded(&[5, 9], 3, 8);
        assert!(fits(&good) && !fits(b"HIST") && !fits(&[]));
        for cut in [0, 3, 7, 15, 39, 60, good.len() - 1] {
            assert!(decode(&good[..cut]).is_err(), "{cut} bytes");
        }
        for (at, byte) in [(15, 9), (23, 0), (11, 1), (3, 0x11)] {
            let mut bad = good.clone();
            bad[at] = byte;
            assert!(decode(&bad).is_err(), "byte {at}");
        }
    }
}

//! Histograms as a record keeps them, made from their filled buckets alone: the library clears and writes the array of all buckets for each, which
//! took most of these tests' time.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use proofload_model::samples::{HistogramDelta, LatencyClock};
use std::io::Write as _;

/// Significant digits.
const DIGITS: u32 = 3;

/// Parts of the first bucket: the power of two that resolves so many digits.
const PARTS: u64 = 2048;

/// How a compressed histogram begins, and what is compressed. Source: HdrHistogram, encoding V2.
const COMPRESSED: u32 = 0x1c84_9314;
const PLAIN: u32 = 0x1c84_9313;

/// The histogram of these times, ns; the largest that it takes is `most`.
pub(super) fn histogram(
    kind: &str,
    clock: LatencyClock,
    most: u64,
    values: impl IntoIterator<Item = u64>,
) -> HistogramDelta {
    let mut values: Vec<u64> = values.into_iter().collect();
    values.sort_unstable();
    assert!(values.last().is_none_or(|largest| *largest <= most), "the value is within the bounds");
    HistogramDelta {
        kind: kind.to_owned(),
        clock,
        count: values.len() as u64,
        sum_ns: values.iter().sum(),
        max_ns: values.last().copied().map_or(0, highest_equivalent),
        payload: payload(most, &values),
    }
}

/// Place of a value's bucket among all.
fn place(value: u64) -> u64 {
    let shift = (value | (PARTS - 1)).ilog2() + 1 - PARTS.ilog2();
    (u64::from(shift) << (PARTS.ilog2() - 1)) + (value >> shift)
}

/// The largest value of a value's bucket.
fn highest_equivalent(value: u64) -> u64 {
    let shift = (value | (PARTS - 1)).ilog2() + 1 - PARTS.ilog2();
    value | ((1 << shift) - 1)
}

/// The encoding of values in order.
fn payload(most: u64, values: &[u64]) -> Vec<u8> {
    let mut counts = Vec::new();
    let mut next = 0;
    if values.is_empty() {
        number(&mut counts, 0);
    }
    for filled in values.chunk_by(|one, other| place(*one) == place(*other)) {
        let at = place(filled[0]);
        // A negative number is so many empty buckets; one alone is written as it is.
        match at - next {
            0 => {}
            1 => number(&mut counts, 0),
            empty => number(&mut counts, -(empty as i64)),
        }
        number(&mut counts, filled.len() as i64);
        next = at + 1;
    }
    let mut plain = Vec::with_capacity(40 + counts.len());
    for word in [PLAIN, counts.len() as u32, 0, DIGITS] {
        plain.extend(word.to_be_bytes());
    }
    for word in [1, most, 1.0_f64.to_bits()] {
        plain.extend(word.to_be_bytes());
    }
    plain.extend(counts);
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
    packed.write_all(&plain).expect("writing to memory cannot fail");
    let packed = packed.finish().expect("writing to memory cannot fail");
    [&COMPRESSED.to_be_bytes(), &(packed.len() as u32).to_be_bytes(), packed.as_slice()].concat()
}

/// Seven bits to a byte, the sign in the lowest bit.
fn number(bytes: &mut Vec<u8>, number: i64) {
    let mut rest = ((number << 1) ^ (number >> 63)) as u64;
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

#[test]
fn histograms_are_those_of_the_library() {
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
    for values in [vec![], vec![1, 1, 2, 5, 2047, 2048, 2049, 4095, 4096], (0..5000).map(|i| i * i * 97 + 1).collect()]
    {
        let most = 10_000_000_000;
        let mut library = Histogram::<u64>::new_with_bounds(1, most, DIGITS as u8).expect("the bounds are valid");
        values.iter().for_each(|value| library.record(*value).expect("the value is within the bounds"));
        let mut payload = Vec::new();
        V2DeflateSerializer::new().serialize(&library, &mut payload).expect("writing to memory cannot fail");
        let ours = histogram("", LatencyClock::Response, most, values.iter().copied());
        assert_eq!((ours.count, ours.max_ns), (library.len(), library.max()));
        assert_eq!(ours.payload, payload, "{} values", values.len());
    }
}

//! The content of a record's fields, made from its writer and checked without knowing who that was.
//!
//! A value is: eleven characters that name the writer, one that checks those eleven, then characters drawn from (data
//! seed, record, field, writer). The alphabet is `.`, `/`, digits and letters: plain in SQL text, in JSON and in
//! BSON, in three runs of ASCII and in its order, so that the names of writers sort as their numbers do.

use super::YCSB_THETA;
use super::settings::{LengthChoice, Shape, WRITER_CHARACTERS};
use super::stream::Stream;
use super::wrong::Wrong;
use super::zipf::{Skew, Zipf};
use crate::Seed;

/// Labels below the seed of the data.
const CONTENT: u64 = 1;
const LENGTHS: u64 = 2;

/// Characters of the name of a writer and of its check.
const HEAD: usize = WRITER_CHARACTERS as usize + 1;
/// Characters that are made at once.
const BLOCK: usize = 8;
const ALPHABET: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// 1 in each of eight bytes.
const ONES: u64 = 0x0101_0101_0101_0101;

/// The values of all fields of all records.
///
/// A writer is 0 for the load and otherwise the operation's index + 1.
#[derive(Clone, Copy, Debug)]
pub struct Values {
    content: Seed,
    lengths: Seed,
    shape: Shape,
    ranks: Zipf,
}

impl Values {
    pub(super) fn new(seed: Seed, shape: Shape) -> Self {
        let lengths = u64::from(shape.length.saturating_sub(shape.least_length)) + 1;
        let ranks = Skew::new(YCSB_THETA).over(lengths);
        Self { content: seed.of(CONTENT), lengths: seed.of(LENGTHS), shape, ranks }
    }

    /// Characters of the value that `writer` writes into `field` of `record`.
    #[must_use]
    #[inline]
    pub fn length(&self, record: u64, field: u16, writer: u64) -> u32 {
        let Shape { length, least_length, lengths, .. } = self.shape;
        let stream = || Stream::new(self.lengths.of(record), label(field, writer));
        match lengths {
            LengthChoice::Constant => length,
            LengthChoice::Uniform => least_length + stream().below(u64::from(length - least_length) + 1) as u32,
            LengthChoice::Zipfian => least_length + (self.ranks.draw(&mut stream()) - 1) as u32,
        }
    }

    /// Fills `out`, which has the length of [`Values::length`], with the value that `writer` writes into `field` of
    /// `record`.
    ///
    /// # Panics
    ///
    /// If `out` has fewer than twelve bytes, which no value has.
    #[inline]
    pub fn fill(&self, record: u64, field: u16, writer: u64, out: &mut [u8]) {
        let (head, tail) = out.split_first_chunk_mut::<HEAD>().expect("a value has twelve characters at least");
        let seed = self.content.of(record);
        *head = encode(writer, check_mask(seed, field));
        let mut stream = Stream::new(seed, label(field, writer));
        let (blocks, rest) = tail.as_chunks_mut::<BLOCK>();
        for block in blocks {
            *block = characters(stream.next_u64());
        }
        rest.copy_from_slice(&characters(stream.next_u64())[..rest.len()]);
    }

    /// The writer of the value `bytes` of `field` of `record`, or what is wrong: every byte is compared with what
    /// that writer wrote. A single changed byte is always found.
    #[inline]
    pub fn check(&self, record: u64, field: u16, bytes: &[u8]) -> Result<u64, Wrong> {
        let (head, tail) = bytes.split_first_chunk::<HEAD>().ok_or(Wrong::NoWriter)?;
        let writer = decode(head)?;
        let seed = self.content.of(record);
        compare(encode(writer, check_mask(seed, field)).as_slice(), head, 0)?;
        let expected = self.length(record, field, writer);
        if bytes.len() != expected as usize {
            return Err(Wrong::Length { expected, found: bytes.len() });
        }
        let mut stream = Stream::new(seed, label(field, writer));
        let (blocks, rest) = tail.as_chunks::<BLOCK>();
        for (number, block) in blocks.iter().enumerate() {
            compare(&characters(stream.next_u64()), block, HEAD + number * BLOCK)?;
        }
        compare(&characters(stream.next_u64())[..rest.len()], rest, bytes.len() - rest.len())?;
        Ok(writer)
    }
}

/// Distinct for all fields and all writers below 10^16.
#[inline]
fn label(field: u16, writer: u64) -> u64 {
    writer.wrapping_mul(1_000).wrapping_add(field.into())
}

/// Six bits that the check character of a field of a record is mixed with, whoever wrote it.
#[inline]
fn check_mask(seed: Seed, field: u16) -> u64 {
    (seed.0 >> 58) ^ (u64::from(field) & 63)
}

/// The writer in base 64, high digit first, and the sum without carry of these digits and `mask`: one changed digit
/// changes that sum.
#[inline]
fn encode(writer: u64, mask: u64) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    let mut sum = mask;
    let (mut rest, (digits, check)) = (writer, head.split_at_mut(HEAD - 1));
    for digit in digits.iter_mut().rev() {
        *digit = ALPHABET[(rest & 63) as usize];
        sum ^= rest & 63;
        rest >>= 6;
    }
    check[0] = ALPHABET[sum as usize];
    head
}

/// The writer that the characters name.
#[inline]
fn decode(head: &[u8; HEAD]) -> Result<u64, Wrong> {
    let mut writer: u64 = 0;
    for &character in &head[..HEAD - 1] {
        let digit = DIGITS[usize::from(character)];
        if digit > 63 || writer >> 58 != 0 {
            return Err(Wrong::NoWriter);
        }
        writer = writer << 6 | u64::from(digit);
    }
    Ok(writer)
}

/// The place of each character in the alphabet; 255 for others.
static DIGITS: [u8; 256] = {
    let mut digits = [255; 256];
    let mut digit = 0;
    while digit < ALPHABET.len() {
        digits[ALPHABET[digit] as usize] = digit as u8;
        digit += 1;
    }
    digits
};

/// Eight characters from 48 of the 64 bits: each byte's lower six choose one, all eight at once by arithmetic on
/// the bytes of the word.
#[inline]
fn characters(word: u64) -> [u8; BLOCK] {
    let places = word & (ONES * 63);
    // 1 in each byte whose place is at least `place`.
    let from = |place: u64| ((places + ONES * (128 - place)) >> 7) & ONES;
    // The runs begin at places 0, 12 and 38; between them ASCII has seven and six others.
    (places + ONES * u64::from(b'.') + from(12) * 7 + from(38) * 6).to_le_bytes()
}

/// Compares a part of a value that begins at `start`.
#[inline]
fn compare(expected: &[u8], found: &[u8], start: usize) -> Result<(), Wrong> {
    if expected == found { Ok(()) } else { Err(difference(expected, found, start)) }
}

#[cold]
fn difference(expected: &[u8], found: &[u8], start: usize) -> Wrong {
    let place = expected.iter().zip(found).take_while(|(expected, found)| expected == found).count();
    Wrong::Character { place: start + place, expected: expected[place], found: found[place] }
}

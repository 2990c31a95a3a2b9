//! PostgreSQL's binary form of `numeric`, exact in both directions.
//! Source: `numeric_send` and `numeric_recv`, PostgreSQL src/backend/utils/adt/numeric.c: number of digits, weight, sign, scale,
//! then digits of base 10,000, most significant first.

use crate::contract::Decimal;
use bytes::BufMut;

/// Sign word of numbers below zero.
const NEGATIVE: u16 = 0x4000;
/// An `i64` aligned to whole digits on both sides of the point has at most so many digits of base 10,000.
const MOST_DIGITS: usize = 7;

/// Factors of the units that bring the point between two digits of base 10,000.
const SHIFTS: [u64; 4] = [1, 10, 100, 1_000];
/// Four digits of base 10,000.
const SIXTEEN_DIGITS: u128 = 10u128.pow(16);

/// A decimal split into digits of base 10,000, without zeros at either end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Digits {
    digits: [u16; MOST_DIGITS],
    start: usize,
    end: usize,
    weight: i16,
    negative: bool,
    scale: u8,
}

impl Digits {
    /// Splits; the scale is at most 18.
    #[inline]
    pub(super) fn of(decimal: Decimal) -> Self {
        let scale = usize::from(decimal.scale);
        let fraction_digits = scale.div_ceil(4);
        let shift = SHIFTS[fraction_digits * 4 - scale];
        let mut digits = [0; MOST_DIGITS];
        let mut start = MOST_DIGITS;
        // From the right, and down to place `to` also where nothing is left.
        let mut split = |mut rest: u64, to: usize| {
            while rest > 0 || start > to {
                start -= 1;
                digits[start] = (rest % 10_000) as u16;
                rest /= 10_000;
            }
        };
        let units = decimal.units.unsigned_abs();
        // In 64 bits where they do, because division of 128 bits is a call.
        match units.checked_mul(shift) {
            Some(units) => split(units, MOST_DIGITS),
            None => {
                let wide = u128::from(units) * u128::from(shift);
                let (high, low) = (wide / SIXTEEN_DIGITS, wide % SIXTEEN_DIGITS);
                split(u64::try_from(low).expect("16 digits fit"), MOST_DIGITS - 4);
                split(u64::try_from(high).expect("an i64 times a thousand has 22 digits"), MOST_DIGITS);
            }
        }
        let mut end = MOST_DIGITS;
        while end > start && digits[end - 1] == 0 {
            end -= 1;
        }
        let weight = MOST_DIGITS as i16 - 1 - fraction_digits as i16 - start as i16;
        let weight = if start == end { 0 } else { weight };
        Self { digits, start, end, weight, negative: decimal.units < 0, scale: decimal.scale }
    }

    /// Length of the binary form in bytes.
    pub(super) fn length(&self) -> usize {
        8 + 2 * (self.end - self.start)
    }

    /// Writes the binary form.
    #[inline]
    pub(super) fn write(&self, out: &mut impl BufMut) {
        let sign = if self.negative { NEGATIVE } else { 0 };
        let head = [(self.end - self.start) as u16, self.weight.cast_unsigned(), sign, self.scale.into()];
        out.put_u64(head.into_iter().fold(0, |head, word| head << 16 | u64::from(word)));
        for &digit in &self.digits[self.start..self.end] {
            out.put_u16(digit);
        }
    }
}

/// Reads the binary form; `None` when it is broken, not a number, infinite, or does not fit 64 bits with 18 digits
/// after the point.
pub(super) fn read(bytes: &[u8]) -> Option<Decimal> {
    let word = |index: usize| bytes.get(2 * index..2 * index + 2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
    let (count, sign, scale) = (usize::from(word(0)?), word(2)?, word(3)?);
    let weight = word(1)?.cast_signed();
    if sign != 0 && sign != NEGATIVE || bytes.len() != 8 + 2 * count {
        return None;
    }
    let mut units = 0i128;
    for index in 0..count {
        units = units.checked_mul(10_000)?.checked_add(i128::from(word(4 + index)?))?;
    }
    let signed = if sign == NEGATIVE { -units } else { units };
    // The units count ten-thousandths to this power; bring them to the declared scale, or to 18 digits where it has more.
    let digits_after_point = if units == 0 { 0 } else { 4 * (i32::try_from(count).ok()? - 1 - i32::from(weight)) };
    let scale = u8::try_from(scale.min(18)).expect("at most 18");
    let shift = i32::from(scale) - digits_after_point;
    let power = 10i128.checked_pow(shift.unsigned_abs())?;
    let units =
        if shift >= 0 { signed.checked_mul(power)? } else { (signed % power == 0).then_some(signed / power)? };
    Some(Decimal { units: i64::try_from(units).ok()?, scale })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(decimal: Decimal) -> Vec<u8> {
        let mut bytes = Vec::new();
        let digits = Digits::of(decimal);
        digits.write(&mut bytes);
        assert_eq!(bytes.len(), digits.length());
        bytes
    }

    fn check(units: i64, scale: u8, words: &[u16]) {
        let expected: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        assert_eq!(written(Decimal { units, scale }), expected, "{units} at {scale}");
    }

    /// Words as PostgreSQL 15 sends them: `SELECT encode(numeric_send(x), 'hex')`.
    #[test]
    fn known_numbers_have_the_servers_form() {
        check(0, 2, &[0, 0, 0, 2]);
        check(-123_456, 2, &[2, 0, NEGATIVE, 2, 1234, 5600]);
        check(30_000_000, 2, &[1, 1, 0, 2, 30]);
        check(1, 4, &[1, 0xFFFF, 0, 4, 1]);
        check(12_345_678, 0, &[2, 1, 0, 0, 1234, 5678]);
        check(5, 1, &[1, 0xFFFF, 0, 1, 5000]);
    }

    #[test]
    fn what_is_no_exact_number_is_refused() {
        assert_eq!(read(&[0, 0, 0, 0, 0xC0, 0, 0, 0]), None, "not a number");
        assert_eq!(read(&[0, 1, 0, 0, 0, 0, 0, 0]), None, "cut off");
        assert_eq!(read(&[]), None, "empty");
        assert_eq!(read(&[0, 1, 0, 9, 0, 0, 0, 0, 0, 1]), None, "10,000 to the 9th");
    }

    proptest! {
        #[test]
        fn numbers_survive_the_round_trip(units: i64, scale in 0u8..=18) {
            let decimal = Decimal { units, scale };
            prop_assert_eq!(read(&written(decimal)), Some(decimal));
        }

        #[test]
        fn broken_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..24)) {
            let _ = read(&bytes);
        }
    }
}

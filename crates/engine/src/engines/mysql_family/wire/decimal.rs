//! Exact decimals as digits, as the protocol sends them both ways.

use crate::contract::Decimal;

/// A sign, 19 digits of 64 bits or up to 19 zeros in front, a point.
const MOST_BYTES: usize = 24;

/// The digits of a decimal.
#[derive(Debug, Clone, Copy)]
pub(super) struct DecimalText {
    bytes: [u8; MOST_BYTES],
    start: usize,
}

impl DecimalText {
    /// Writes; the scale is at most 18.
    #[inline]
    pub(super) fn of(decimal: Decimal) -> Self {
        let (mut bytes, mut start) = ([0; MOST_BYTES], MOST_BYTES);
        let mut rest = decimal.units.unsigned_abs();
        let scale = usize::from(decimal.scale.min(18));
        let mut digits = 0;
        while rest > 0 || digits <= scale {
            if digits == scale && scale > 0 {
                start -= 1;
                bytes[start] = b'.';
            }
            start -= 1;
            bytes[start] = b'0' + (rest % 10) as u8;
            rest /= 10;
            digits += 1;
        }
        if decimal.units < 0 {
            start -= 1;
            bytes[start] = b'-';
        }
        Self { bytes, start }
    }

    /// The digits.
    #[inline]
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

/// Reads digits; `None` where they are none, or do not fit 64 bits with 18 digits after the point. Zeros beyond those are dropped.
pub(super) fn read(text: &[u8]) -> Option<Decimal> {
    let (negative, digits) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, text),
    };
    let point = digits.iter().position(|byte| *byte == b'.');
    let (whole, fraction) = match point {
        Some(point) => (&digits[..point], &digits[point + 1..]),
        None => (digits, &[][..]),
    };
    let kept = fraction.len().min(18);
    if whole.is_empty() || fraction[kept..].iter().any(|digit| *digit != b'0') {
        return None;
    }
    let mut units = 0i128;
    for digit in whole.iter().chain(&fraction[..kept]) {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit <= 9)?;
        units = units.checked_mul(10)?.checked_add(i128::from(digit))?;
    }
    let units = i64::try_from(if negative { -units } else { units }).ok()?;
    Some(Decimal { units, scale: kept as u8 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(units: i64, scale: u8, text: &str) {
        assert_eq!(std::str::from_utf8(DecimalText::of(Decimal { units, scale }).as_bytes()), Ok(text));
    }

    #[test]
    fn known_numbers_have_their_digits() {
        check(0, 0, "0");
        check(0, 2, "0.00");
        check(-5, 2, "-0.05");
        check(123_456, 2, "1234.56");
        check(i64::MIN, 18, "-9.223372036854775808");
        check(i64::MIN, 0, "-9223372036854775808");
        check(7, 18, "0.000000000000000007");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for text in ["", "-", ".5", "1e3", "nan", "9223372036854775808", "0.0000000000000000001"] {
            assert_eq!(read(text.as_bytes()), None, "{text}");
        }
        assert_eq!(read(b"1.0000000000000000000"), Some(Decimal { units: 1_000_000_000_000_000_000, scale: 18 }));
        assert_eq!(read(b"+7"), Some(Decimal { units: 7, scale: 0 }));
    }

    proptest! {
        #[test]
        fn numbers_survive_the_round_trip(units: i64, scale in 0u8..=18) {
            let decimal = Decimal { units, scale };
            prop_assert_eq!(read(DecimalText::of(decimal).as_bytes()), Some(decimal));
        }

        #[test]
        fn broken_digits_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..30)) {
            let _ = read(&bytes);
        }
    }
}

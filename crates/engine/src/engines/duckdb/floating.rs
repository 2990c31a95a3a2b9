//! Floating point as a decimal: the contract's values are exact, and averages of DuckDB are not. Allocates nothing.

use crate::contract::Decimal;
use std::fmt::Write as _;

/// Digits after the point that a decimal may have.
const MOST_SCALE: i32 = 18;
/// Decimal digits that a 64-bit floating-point number keeps whatever its value (`DBL_DIG`).
const SURE_DIGITS: u32 = 15;

/// The decimal with the fewest digits that reads back as this number. Where that needs more than 18 digits after the
/// point, it is rounded to 18, if 15 significant digits stay. `None` for what is not a number, infinite, too large or
/// too small.
pub(super) fn decimal(value: f64) -> Option<Decimal> {
    let mut text = Text::default();
    write!(text, "{value:e}").ok()?;
    let text = std::str::from_utf8(&text.bytes[..text.length]).ok()?;
    let (mantissa, exponent) = text.split_once('e')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = whole.parse::<i64>().ok()?.checked_mul(10i64.checked_pow(u32::try_from(fraction.len()).ok()?)?)?;
    let rest = if fraction.is_empty() { 0 } else { fraction.parse::<i64>().ok()? };
    let units = if value < 0.0 { digits.checked_sub(rest)? } else { digits.checked_add(rest)? };
    placed(units, i32::try_from(fraction.len()).ok()? - exponent.parse::<i32>().ok()?)
}

/// The decimal of so many units of 10^−scale.
fn placed(units: i64, scale: i32) -> Option<Decimal> {
    if scale < 0 {
        let units = units.checked_mul(10i64.checked_pow(scale.unsigned_abs())?)?;
        return Some(Decimal { units, scale: 0 });
    }
    if scale <= MOST_SCALE {
        return Some(Decimal { units, scale: u8::try_from(scale).ok()? });
    }
    let factor = 10i64.checked_pow(u32::try_from(scale - MOST_SCALE).ok()?)?;
    let rounded = (units + units.signum() * (factor / 2)) / factor;
    let sure = rounded.unsigned_abs() >= 10u64.pow(SURE_DIGITS - 1);
    sure.then_some(Decimal { units: rounded, scale: 18 })
}

/// Room for the text of a number: a sign, 17 digits, a point, an exponent.
#[derive(Default)]
struct Text {
    bytes: [u8; 32],
    length: usize,
}

impl std::fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.length + text.len();
        let room = self.bytes.get_mut(self.length..end).ok_or(std::fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(value: f64, expected: Option<(i64, u8)>) {
        assert_eq!(decimal(value).map(|found| (found.units, found.scale)), expected, "{value}");
    }

    #[test]
    fn numbers_keep_their_shortest_digits() {
        check(0.0, Some((0, 0)));
        check(-0.0, Some((0, 0)));
        check(25.522005853257337, Some((25_522_005_853_257_337, 15)));
        check(-0.05, Some((-5, 2)));
        check(1e15, Some((1_000_000_000_000_000, 0)));
        check(-38_273.129_734_621_67, Some((-3_827_312_973_462_167, 11)));
        check(0.003_443_589_040_665_480_5, Some((3_443_589_040_665_481, 18)));
        check(1e-18, Some((1, 18)));
        check(1e-19, None);
        check(1e19, None);
        check(f64::NAN, None);
        check(f64::NEG_INFINITY, None);
    }

    proptest! {
        #[test]
        fn what_fits_reads_back(value in -1e15f64..1e15) {
            let found = decimal(value).expect("fits");
            let back = found.units as f64 / 10f64.powi(i32::from(found.scale));
            prop_assert!((back - value).abs() <= value.abs() * 1e-15, "{value} {found:?}");
        }

        #[test]
        fn any_number_is_survived(bits in any::<u64>()) {
            let _ = decimal(f64::from_bits(bits));
        }
    }
}

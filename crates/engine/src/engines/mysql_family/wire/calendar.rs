//! Calendar fields of times and dates, as the protocol sends them, to and from microseconds since the Unix epoch. Source of the
//! conversion: the Gregorian calendar in eras of 400 years that begin in March.

/// Microseconds of a day.
const DAY_US: i64 = 86_400_000_000;
/// Days of 400 years.
const ERA_DAYS: i64 = 146_097;
/// Days from 0000-03-01 to 1970-01-01.
const EPOCH_DAYS: i64 = 719_468;
/// Characters of a date and time in whole seconds.
const SECONDS_LENGTH: usize = 19;

/// A time in calendar fields; its binary form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fields {
    bytes: [u8; 12],
    length: usize,
}

impl Fields {
    /// The fields of a time; `None` where its year has not four digits.
    pub(super) fn of(time_us: i64) -> Option<Self> {
        let (days, rest) = (time_us.div_euclid(DAY_US), time_us.rem_euclid(DAY_US));
        let (year, month, day) = civil(days);
        let year = u16::try_from(year).ok().filter(|year| (1..=9999).contains(year))?;
        let (seconds, micros) = (rest / 1_000_000, rest % 1_000_000);
        let [low, high] = year.to_le_bytes();
        let clock = [(seconds / 3600) as u8, (seconds / 60 % 60) as u8, (seconds % 60) as u8];
        let [first, second, third, fourth] = (micros as u32).to_le_bytes();
        let length = if micros == 0 { 7 } else { 11 };
        let bytes = [length as u8, low, high, month, day, clock[0], clock[1], clock[2], first, second, third, fourth];
        Some(Self { bytes, length: length + 1 })
    }

    /// The length, then the fields.
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// The time of calendar fields without their length; `None` for a zero date and what is no time.
pub(super) fn time_us(fields: &[u8]) -> Option<i64> {
    let (date, clock) = fields.split_at_checked(4)?;
    let (year, month, day) =
        (i64::from(u16::from_le_bytes([date[0], date[1]])), i64::from(date[2]), i64::from(date[3]));
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let seconds = match clock {
        [] => 0,
        [hour, minute, second, ..] => (i64::from(*hour) * 60 + i64::from(*minute)) * 60 + i64::from(*second),
        _ => return None,
    };
    let micros = match clock.get(3..).unwrap_or_default() {
        [] => 0,
        [first, second, third, fourth] => i64::from(u32::from_le_bytes([*first, *second, *third, *fourth])),
        _ => return None,
    };
    Some(days(year, month, day) * DAY_US + seconds * 1_000_000 + micros)
}

/// The date and time as text, for rows that are sent as text; `None` where its year has not four digits.
pub(super) fn write_text(time_us: i64, out: &mut Vec<u8>) -> Option<()> {
    let (days, rest) = (time_us.div_euclid(DAY_US), time_us.rem_euclid(DAY_US));
    let (year, month, day) = civil(days);
    let year = u16::try_from(year).ok().filter(|year| (1..=9999).contains(year))?;
    let (seconds, micros) = ((rest / 1_000_000) as u32, (rest % 1_000_000) as u32);
    let mut text = *b"0000-00-00 00:00:00.000000";
    let pairs = [
        (0, u32::from(year) / 100),
        (2, u32::from(year) % 100),
        (5, u32::from(month)),
        (8, u32::from(day)),
        (11, seconds / 3600),
        (14, seconds / 60 % 60),
        (17, seconds % 60),
        (20, micros / 10_000),
        (22, micros / 100 % 100),
        (24, micros % 100),
    ];
    for (place, number) in pairs {
        text[place] = b'0' + (number / 10) as u8;
        text[place + 1] = b'0' + (number % 10) as u8;
    }
    out.extend_from_slice(if micros == 0 { &text[..SECONDS_LENGTH] } else { &text });
    Some(())
}

/// Year, month and day of a day since the epoch.
fn civil(days: i64) -> (i64, u8, u8) {
    let days = days + EPOCH_DAYS;
    let (era, day_of_era) = (days.div_euclid(ERA_DAYS), days.rem_euclid(ERA_DAYS));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month as u8, day as u8)
}

/// The day since the epoch.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let from_march = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * from_march + 2) / 5 + day - 1;
    era * ERA_DAYS + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - EPOCH_DAYS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(time_us: i64, text: &str) {
        let mut found = Vec::new();
        write_text(time_us, &mut found).expect("it has four digits");
        assert_eq!(String::from_utf8(found).expect("digits"), text);
        let fields = Fields::of(time_us).expect("it has four digits");
        assert_eq!(super::time_us(&fields.as_bytes()[1..]), Some(time_us), "{text}");
    }

    #[test]
    fn known_times_have_their_dates() {
        check(0, "1970-01-01 00:00:00");
        check(-1, "1969-12-31 23:59:59.999999");
        check(951_782_400_000_000, "2000-02-29 00:00:00");
        check(1_700_000_000_123_456, "2023-11-14 22:13:20.123456");
        assert_eq!(Fields::of(i64::MIN), None);
        assert_eq!(super::time_us(&[0, 0, 0, 0]), None, "a zero date");
        assert_eq!(super::time_us(&[178, 7, 1, 1]), Some(0), "a date alone");
        assert_eq!(super::time_us(&[178, 7, 1]), None, "cut off");
    }

    proptest! {
        #[test]
        fn times_survive_the_round_trip(time in -62_135_596_800_000_000i64..253_402_300_800_000_000) {
            let fields = Fields::of(time).expect("four digits");
            prop_assert_eq!(super::time_us(&fields.as_bytes()[1..]), Some(time));
        }

        #[test]
        fn text_and_fields_tell_the_same_time(time in -62_135_596_800_000_000i64..253_402_300_800_000_000) {
            let fields = Fields::of(time).expect("four digits");
            let [_, low, high, month, day, hour, minute, second, micros @ ..] = fields.bytes;
            let year = u16::from_le_bytes([low, high]);
            let mut expected = format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}");
            match u32::from_le_bytes(micros) {
                0 => {}
                micros => expected.push_str(&format!(".{micros:06}")),
            }
            let mut text = Vec::new();
            prop_assert_eq!(write_text(time, &mut text), Some(()));
            prop_assert_eq!(String::from_utf8(text).expect("digits"), expected);
        }

        #[test]
        fn broken_fields_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..14)) {
            let _ = super::time_us(&bytes);
        }
    }
}

//! Dates as days since 1970-01-01, and their ISO text. Knows no clock.
//! Source of the two conversions: the civil calendar in eras of 400 years that begin in March.

use std::fmt;

/// A date: days since 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Date(pub(crate) i32);

/// Days of an era of 400 years.
const ERA_DAYS: i32 = 146_097;
/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: i32 = 719_468;

impl Date {
    /// The date of a year, a month of 1..=12 and a day of 1..=31.
    pub(crate) fn new(year: i32, month: i32, day: i32) -> Self {
        let from_march = (month + 9) % 12;
        let year = year - i32::from(month <= 2);
        let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let day_of_year = (153 * from_march + 2) / 5 + day - 1;
        Self(era * ERA_DAYS + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - EPOCH)
    }

    /// Year, month, day.
    pub(crate) fn parts(self) -> (i32, i32, i32) {
        let days = self.0 + EPOCH;
        let (era, day) = (days.div_euclid(ERA_DAYS), days.rem_euclid(ERA_DAYS));
        let of_era = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day_of_year = day - (365 * of_era + of_era / 4 - of_era / 100);
        let from_march = (5 * day_of_year + 2) / 153;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        (era * 400 + of_era + i32::from(month <= 2), month, day_of_year - (153 * from_march + 2) / 5 + 1)
    }
}

/// `1998-09-02`.
impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.parts();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

/// Reads an ISO date; `None` for anything else.
pub(crate) fn parse_date(text: &str) -> Option<Date> {
    let mut parts = text.splitn(3, '-').map(|part| part.parse::<i32>().ok());
    let date = Date::new(parts.next()??, parts.next()??, parts.next()??);
    (date.to_string() == text).then_some(date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_generator() {
        for index in 0..2_556 {
            let theirs = tpchgen::dates::TPCHDate::new(92_001 + index);
            let ours = Date(theirs.to_unix_epoch());
            assert_eq!(ours.to_string(), theirs.to_string());
            assert_eq!(parse_date(&theirs.to_string()), Some(ours));
        }
        assert_eq!(Date::new(2000, 2, 29).to_string(), "2000-02-29");
        assert_eq!(parse_date("1995-02-29"), None);
        assert_eq!(parse_date("BRASS"), None);
    }
}

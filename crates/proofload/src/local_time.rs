//! Times of day for people, in the time zone of this machine. May not read a clock.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use proofload_model::time::WallTime;
use std::time::Duration;

/// Length of a day.
const A_DAY: Duration = Duration::from_secs(86_400);

/// Hours and minutes of a moment so far in the future: `19:25`, and `Thu 19:25` where the day must be told. Empty beyond what a calendar has.
pub(crate) fn time_of_day_in(now: WallTime, left: Duration, zone: &TimeZone) -> String {
    let moment = |at: i64| Timestamp::from_microsecond(at).ok().map(|at| at.to_zoned(zone.clone()));
    let ahead = i64::try_from(left.as_micros()).unwrap_or(i64::MAX);
    let Some((from, to)) = moment(now.0).zip(moment(now.0.saturating_add(ahead))) else { return String::new() };
    match (from.date() == to.date(), left < A_DAY * 6) {
        (true, _) => to.strftime("%H:%M").to_string(),
        (false, true) => to.strftime("%a %H:%M").to_string(),
        (false, false) => to.strftime("%Y-%m-%d").to_string(),
    }
}

/// Hours, minutes and seconds of a moment.
pub(crate) fn time_of_day(at: WallTime, zone: &TimeZone) -> String {
    let moment = Timestamp::from_microsecond(at.0).ok().map(|at| at.to_zoned(zone.clone()));
    moment.map(|at| at.strftime("%H:%M:%S").to_string()).unwrap_or_default()
}

/// A moment in UTC, to the second.
pub(crate) fn utc_text(at: WallTime) -> String {
    let moment = Timestamp::from_microsecond(at.0).ok();
    moment.map(|at| at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()).unwrap_or_default()
}

/// The time zone of this machine; UTC where it says none.
pub(crate) fn local_zone() -> TimeZone {
    TimeZone::try_system().unwrap_or(TimeZone::UTC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_day_has_its_day_only_where_it_is_another_one() {
        // Thursday, 1 January 1970, 23:00 UTC.
        let now = WallTime(23 * 3_600 * 1_000_000);
        let at = |hours: u64| time_of_day_in(now, Duration::from_secs(hours * 3_600), &TimeZone::UTC);
        assert_eq!([at(0), at(2), at(200)], ["23:00", "Fri 01:00", "1970-01-10"]);
        assert_eq!(time_of_day(now, &TimeZone::UTC), "23:00:00");
        assert_eq!(time_of_day_in(WallTime(i64::MAX), Duration::ZERO, &TimeZone::UTC), "");
    }
}

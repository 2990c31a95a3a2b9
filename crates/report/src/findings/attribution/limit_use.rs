//! What was used of limits in a visit: on average, and in how many of its seconds they were reached.

use crate::findings::traces;
use proofload_analysis::attribution::LimitUse;
use proofload_model::intervention::{InterventionVisit, ResourceReading};
use proofload_model::series::{self, SeriesName};
use proofload_model::settings::setting;
use proofload_record::Attempt;
use std::collections::BTreeMap;

/// Limits whose use is observed by the second, with the series that has it: per device, where the limit is of devices.
const BY_SECOND: &[(&str, SeriesName)] = &[
    (setting::LIMITS_CPU, series::group::CPU),
    (setting::LIMITS_READ_IOPS, series::group::READS),
    (setting::LIMITS_WRITE_IOPS, series::group::WRITES),
    (setting::LIMITS_READ_BANDWIDTH, series::group::READ_BYTES),
    (setting::LIMITS_WRITE_BANDWIDTH, series::group::WRITE_BYTES),
];

/// Share of a limit that was used in a visit.
pub(super) fn share_used(visit: &InterventionVisit, name: &str) -> Option<f64> {
    let reading = visit.reading(name)?;
    Some(reading.used? / reading.in_force?)
}

/// Share of the seconds of a visit in which each limit was reached, by its name; without those that are not observed by the second.
pub(super) fn shares_of_seconds(attempt: &Attempt, visit: &InterventionVisit) -> BTreeMap<String, f64> {
    let share = |reading: &ResourceReading| {
        let (_, observed) = BY_SECOND.iter().find(|(name, _)| *name == reading.name)?;
        let seconds = most_by_second(attempt, *observed, (visit.from as f64, visit.to as f64));
        let limit = reading.in_force?;
        let full = seconds.iter().filter(|used| LimitUse::is_full(**used / limit)).count();
        (!seconds.is_empty()).then(|| (reading.name.clone(), full as f64 / seconds.len() as f64))
    };
    visit.readings.iter().filter_map(share).collect()
}

/// What the device that uses most used in each second of a stretch.
fn most_by_second(attempt: &Attempt, observed: SeriesName, stretch: (f64, f64)) -> Vec<f64> {
    let mut most: BTreeMap<i64, f64> = BTreeMap::new();
    for (at, used) in traces(attempt, observed).into_iter().flat_map(|trace| trace.within(stretch).samples) {
        let second = most.entry(at.floor() as i64).or_insert(used);
        *second = second.max(used);
    }
    most.into_values().collect()
}

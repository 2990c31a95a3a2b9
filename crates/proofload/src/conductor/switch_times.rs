//! How long the switches of an experiment took, from what its visits say of themselves. Pure.

use proofload_analysis::distribution::median;
use proofload_model::events::RunEvent;
use proofload_model::intervention::InterventionVisit;
use proofload_record::Record;

/// Times from asking for a change until it was in force everywhere.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SwitchTimes {
    /// Visits, each of which begins with a switch.
    visits: usize,
    median_ms: f64,
    longest_ms: f64,
    /// What the longest one changed, in words.
    longest: String,
}

impl SwitchTimes {
    /// Finds those of all experiments with a point; `None` without a visit.
    pub(super) fn of(record: &Record, point: u32) -> Option<Self> {
        let ours = record.experiments.iter().filter(|attempt| attempt.run.point == point);
        Self::of_visits(ours.flat_map(|attempt| &attempt.events).filter_map(|event| match &event.event {
            RunEvent::Visited(visit) => Some(visit),
            _ => None,
        }))
    }

    fn of_visits<'v>(visits: impl Iterator<Item = &'v InterventionVisit>) -> Option<Self> {
        let visits: Vec<&InterventionVisit> = visits.collect();
        let longest = visits.iter().max_by(|one, other| one.switched_ms.total_cmp(&other.switched_ms))?;
        let times: Vec<f64> = visits.iter().map(|visit| visit.switched_ms).collect();
        Some(Self {
            visits: visits.len(),
            median_ms: median(&times),
            longest_ms: longest.switched_ms,
            longest: longest.change.to_string(),
        })
    }

    /// Describes them in words.
    pub(super) fn text(&self) -> String {
        let Self { visits, median_ms, longest_ms, longest } = self;
        format!(
            "switching limits took {median_ms:.1} ms in the median of {visits} visits, {longest_ms:.1} ms at most ({longest})"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::intervention::Change;

    #[test]
    fn the_median_and_the_longest_are_told_with_what_was_changed() {
        let visit = |change: Change, switched_ms| InterventionVisit {
            block: 0,
            change,
            from: 0,
            to: 6,
            switched_ms,
            readings: Vec::new(),
        };
        let visits = [
            visit(Change::Nothing, 1.5),
            visit(Change::One("limits.cpu".to_owned()), 2.0),
            visit(Change::One("engine.checkpoints".to_owned()), 410.0),
        ];
        let times = SwitchTimes::of_visits(visits.iter()).expect("there are visits");
        assert_eq!(
            times.text(),
            "switching limits took 2.0 ms in the median of 3 visits, 410.0 ms at most (engine.checkpoints)"
        );
        assert_eq!(SwitchTimes::of_visits(std::iter::empty()), None);
    }
}

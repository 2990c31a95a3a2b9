//! What is observed of cache tier and standbys, second by second since time zero. Knows what was read, not what follows from it.

use proofload_analysis::readiness::StateSecond;
use proofload_model::samples::Telemetry;
use proofload_model::series::{SeriesName, replication, tier};
use proofload_model::time::Offset;
use std::collections::BTreeMap;

/// Seconds in which something was observed.
#[derive(Debug, Default)]
pub(crate) struct StateSeconds {
    seconds: BTreeMap<i64, StateSecond>,
    /// Share of their time in which the modelled drives of a tier were busy, as told last.
    modelled_busy: Option<f64>,
}

impl StateSeconds {
    /// Takes what a probe saw, where it is one of these.
    pub(super) fn take(&mut self, at: Offset, telemetry: &Telemetry) {
        let values = |series: SeriesName| {
            let of_name = telemetry.readings.iter().filter(move |reading| reading.name == series.name);
            of_name.map(|reading| reading.value)
        };
        let sums = |whole, part| Some((values(whole).reduce(|one, other| one + other)?, values(part).sum()));
        let known = self.seconds.entry(at.as_seconds().floor() as i64);
        match telemetry.probe.as_str() {
            tier::PROBE => {
                let known = known.or_default();
                known.cache_reads = sums(tier::READS, tier::READ_HITS);
                known.cache_bytes = sums(tier::IN_USE, tier::DIRTY);
                self.modelled_busy = values(tier::DISK_BUSY).next().map(|percent| percent / 100.0);
            }
            replication::PROBE => {
                let known = known.or_default();
                known.behind = values(replication::UNAPPLIED).reduce(f64::max);
                known.in_force = values(replication::OUT_OF_FORCE).reduce(f64::max).map(|out| out == 0.0);
            }
            _ => {}
        }
    }

    /// Share of their time in which the modelled drives of a tier were busy, in the second that was told last; `None` where no drive is modelled.
    pub(super) fn modelled_busy(&self) -> Option<f64> {
        self.modelled_busy
    }

    /// The first `count` seconds, one after the other.
    pub(super) fn first(&self, count: usize) -> Vec<StateSecond> {
        (0..count as i64).map(|second| self.seconds.get(&second).copied().unwrap_or_default()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::deployment::InstanceName;
    use proofload_model::samples::Reading;
    use proofload_model::time::Moment;

    fn take(seconds: &mut StateSeconds, second: i64, probe: &str, readings: Vec<Reading>) {
        let (instance, moment, span_ns) = (InstanceName::primary(), Moment(0), 1_000_000_000);
        let telemetry = Telemetry { instance, probe: probe.to_owned(), moment, span_ns, readings };
        seconds.take(Offset(second * 1_000_000_000 + 300_000_000), &telemetry);
    }

    #[test]
    fn volumes_are_summed_and_the_last_standby_counts() {
        let mut seconds = StateSeconds::default();
        let volumes = [("data", 90.0, 60.0), ("log", 10.0, 10.0)];
        let reads = volumes.iter().flat_map(|(volume, reads, hits)| {
            [tier::READS.reading(*volume, *reads), tier::READ_HITS.reading(*volume, *hits)]
        });
        assert_eq!(seconds.modelled_busy(), None, "nothing was told");
        take(&mut seconds, 1, tier::PROBE, reads.chain([tier::DISK_BUSY.reading("", 62.5)]).collect());
        assert_eq!(seconds.modelled_busy(), Some(0.625));
        let standbys = [("standby-1", 5.0), ("standby-2", 7.0)];
        let behind = standbys.iter().map(|(standby, bytes)| replication::UNAPPLIED.reading(*standby, *bytes));
        take(&mut seconds, 1, replication::PROBE, behind.chain([replication::OUT_OF_FORCE.reading("", 0.0)]).collect());
        take(&mut seconds, 0, "cores", Vec::new());
        let known = StateSecond {
            cache_reads: Some((100.0, 70.0)),
            cache_bytes: None,
            behind: Some(7.0),
            in_force: Some(true),
        };
        assert_eq!(seconds.first(3), [StateSecond::default(), known, StateSecond::default()]);
    }
}

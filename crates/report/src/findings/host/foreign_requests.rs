//! Requests that others made to the primary's devices, and whether their reads were too many for the figures of a quiet host. Writes say nothing of
//! others: a journal and the kernel's later write-back are charged to nobody, or to others than who asked for them. Judges no run.

use crate::findings::telemetry::{Trace, total, traces, traces_of};
use proofload_analysis::distribution::mean;
use proofload_model::deployment::InstanceName;
use proofload_model::series::{SeriesName, device, group};
use proofload_record::Attempt;
use std::collections::BTreeSet;

/// Share of the reads of a device from which others had a part in it; ours. The kernel charges a read to whoever waits for it, so that next to
/// none are told of others while the database is alone; the tenth leaves room for requests that were merged.
const READS: f64 = 0.1;

/// Requests to the devices in a stretch, 1/s.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct DeviceRequests {
    all: f64,
    ours: f64,
}

impl DeviceRequests {
    /// Share of those that were not ours.
    fn share(self) -> Option<f64> {
        (self.all > 0.0).then(|| (1.0 - self.ours / self.all).clamp(0.0, 1.0))
    }

    fn foreign(self) -> f64 {
        (self.all - self.ours).clamp(0.0, self.all.max(0.0))
    }
}

/// What others did with the devices.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ForeignRequests {
    all: DeviceRequests,
    reads: Option<DeviceRequests>,
    /// Share of the time in which a device was busy, the busiest where there are several.
    busy: f64,
}

/// Looks at the devices in a stretch; `None` where they or the groups were not observed.
pub(crate) fn foreign_requests(attempt: &Attempt, stretch: (f64, f64), is_one_host: bool) -> Option<ForeignRequests> {
    let of = |kinds: &[RequestSeries]| requests(attempt, stretch, is_one_host, kinds);
    let (reads, writes) = ((device::READS, group::READS), (device::WRITES, group::WRITES));
    let within = |trace: &Trace| mean_of(std::slice::from_ref(trace), stretch);
    let busy = traces(attempt, device::BUSY).iter().filter_map(within).reduce(f64::max);
    Some(ForeignRequests {
        all: of(&[reads, writes])?,
        reads: of(&[reads]),
        busy: busy.map_or(1.0, |percent| (percent / 100.0).clamp(0.0, 1.0)),
    })
}

impl ForeignRequests {
    /// Their share of all requests; `None` where there were none.
    pub(crate) fn share(&self) -> Option<f64> {
        self.all.share()
    }

    /// Why the figures are not those of a quiet host, in words: others had a part in the reads, and the device was busy with that for more of the
    /// time than the study tolerates. A device that does next to nothing slows nobody down, whoever asks it.
    pub(crate) fn beyond(&self, tolerated: f64) -> Option<String> {
        let reads = self.reads?;
        let share = reads.share().filter(|share| *share > READS)?;
        let busy = self.busy * reads.foreign() / self.all.all.max(reads.all);
        (busy > tolerated).then(|| {
            format!(
                "others made {:.0} % of the reads to the device, which was busy with them for about {:.0} % of the time",
                100.0 * share,
                100.0 * busy
            )
        })
    }
}

/// Series of one kind of requests: to the devices, and of a group.
type RequestSeries = (SeriesName, SeriesName);

/// Requests of some kinds to the primary's devices, and those that were of none of the instances on its host.
fn requests(
    attempt: &Attempt,
    stretch: (f64, f64),
    is_one_host: bool,
    kinds: &[RequestSeries],
) -> Option<DeviceRequests> {
    let devices: Vec<Trace> = kinds.iter().flat_map(|(of_device, _)| traces(attempt, *of_device)).collect();
    let all = mean_of(&devices, stretch)?;
    let own = kinds.iter().flat_map(|(_, of_group)| traces(attempt, *of_group)).collect::<Vec<Trace>>();
    let own = mean_of(&own, stretch)?;
    let instances = attempt.series.iter().map(|series| &series.instance).filter(|instance| instance.is_standby());
    let standbys: BTreeSet<_> = instances.filter(|_| is_one_host).collect();
    // Instances are not read at the same moment, so their means are added up.
    let of_standby = |standby: &InstanceName| {
        let groups = kinds.iter().flat_map(|(_, of_group)| traces_of(attempt, standby, *of_group));
        let there: Vec<Trace> =
            groups.filter(|trace| devices.iter().any(|device| device.instance == trace.instance)).collect();
        // A standby on another device has none here.
        if there.is_empty() { Some(0.0) } else { mean_of(&there, stretch) }
    };
    let beside = standbys.into_iter().map(of_standby).sum::<Option<f64>>()?;
    Some(DeviceRequests { all, ours: own + beside })
}

fn mean_of(traces: &[Trace], stretch: (f64, f64)) -> Option<f64> {
    let values = total(traces)?.within(stretch).values();
    (!values.is_empty()).then(|| mean(&values))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(reads: (f64, f64), writes: f64, busy: f64) -> ForeignRequests {
        let requests = |(all, foreign): (f64, f64)| DeviceRequests { all, ours: all - foreign };
        let all = requests((reads.0 + writes, reads.1));
        ForeignRequests { all, reads: Some(requests(reads)), busy }
    }

    #[test]
    fn others_count_where_they_have_a_part_in_a_device_that_is_busy_with_them() {
        let reads = seen((1_000.0, 400.0), 1_000.0, 0.5);
        let told = "others made 40 % of the reads to the device, which was busy with them for about 10 % of the time";
        assert!(reads.share().is_some_and(|share| (share - 0.2).abs() < 1e-9));
        assert_eq!(reads.beyond(0.05).as_deref(), Some(told));
        assert_eq!(reads.beyond(0.2), None, "the study tolerates it");
        assert_eq!(seen((1_000.0, 400.0), 1_000.0, 0.1).beyond(0.05), None, "an idle device");
        assert_eq!(seen((1_000.0, 90.0), 0.0, 1.0).beyond(0.05), None, "what may be merged");
        assert_eq!(seen((0.0, 0.0), 0.0, 0.0).share(), None);
    }
}

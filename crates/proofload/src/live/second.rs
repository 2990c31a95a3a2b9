//! One second of load as a view sees it. Computes nothing on client threads: its parts come from the record's own rows.

use proofload_analysis::disturbance::{Disturbance, ProcessorSecond};
use proofload_model::samples::{IntervalSample, OperationCounts};
use proofload_model::series::device;
use proofload_report::findings::response_ns_p99_of;

/// One second of load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SecondSeen<'a> {
    /// Units of work in each second so far; one that is missing is not a number.
    pub(crate) throughput: &'a [f64],
    /// The second itself.
    pub(crate) sample: &'a IntervalSample,
    /// What others took of the host's processor; `None` where not observed.
    pub(crate) host: Option<HostNow>,
    /// What the devices under the data did; `None` where not observed.
    pub(crate) device: Option<DeviceNow>,
    /// Share of their time in which the modelled drives of a tier were busy; `None` where no drive is modelled.
    pub(crate) modelled_busy: Option<f64>,
}

/// What the devices under the data did in a second, all together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DeviceNow {
    /// Bytes read, B/s.
    pub(crate) read: f64,
    /// Bytes written, B/s.
    pub(crate) written: f64,
    /// Mean requests in flight.
    pub(crate) queue: f64,
}

impl DeviceNow {
    /// Adds up the readings of a probe's second, by name and value; `None` where there are none of devices.
    pub(crate) fn of<'r>(readings: impl Iterator<Item = (&'r str, f64)> + Clone) -> Option<Self> {
        let sum = |name: &str| {
            readings
                .clone()
                .filter(|(known, _)| *known == name)
                .map(|(_, value)| value)
                .reduce(|one, other| one + other)
        };
        Some(Self {
            read: sum(device::READ_BYTES.name)?,
            written: sum(device::WRITE_BYTES.name)?,
            queue: sum(device::QUEUE.name).unwrap_or(0.0),
        })
    }
}

/// What others took of the processor and of the devices in a second.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct HostNow {
    /// Share of what was demanded that other guests got.
    pub(crate) stolen: Option<f64>,
    /// Share of the cores that foreign processes used.
    pub(crate) foreign: Option<f64>,
    /// Share of the reads from the devices under the data that were not the database's.
    pub(crate) reads: Option<f64>,
    /// Share of its time in which the thread that computes had no core; `None` where it does not run.
    pub(crate) spin: Option<f64>,
}

impl HostNow {
    /// Makes it of a second on a number of cores.
    pub(crate) fn of(second: ProcessorSecond, cores: usize) -> Self {
        let Disturbance { stolen, foreign, .. } = Disturbance::of(&[second], cores as f64);
        Self { stolen, foreign, ..Self::default() }
    }

    /// Adds the reads from the devices and those of the database, 1/s, and the ratio that the spin probe told, each where it was observed.
    pub(crate) fn with(self, reads: Option<f64>, own: Option<f64>, spin_ratio: Option<f64>) -> Self {
        let foreign = |(all, own): (f64, f64)| (all > 0.0).then(|| (1.0 - own / all).clamp(0.0, 1.0));
        let spin = spin_ratio.map(|ratio| (1.0 - 1.0 / ratio.max(1.0)).clamp(0.0, 1.0));
        Self { reads: reads.zip(own).and_then(foreign), spin, ..self }
    }
}

/// The running load, of which every line tells.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct LoadNow {
    /// Units of work in each second so far.
    pub(crate) throughput: Vec<f64>,
    /// 99th percentile of response times in the last second, ns.
    pub(crate) response_ns_p99: Option<u64>,
    /// Operations that failed so far.
    pub(crate) failed: u64,
    /// What others took.
    pub(crate) host: Option<HostNow>,
    /// Share of their time in which the modelled drives of a tier were busy.
    pub(crate) modelled_busy: Option<f64>,
}

impl LoadNow {
    /// Adds a second.
    pub(crate) fn add(&mut self, second: &SecondSeen<'_>) {
        second.throughput.clone_into(&mut self.throughput);
        self.response_ns_p99 = response_ns_p99_of(second.sample);
        self.failed += second.sample.counts.iter().map(|counts| counts.failed).sum::<u64>();
        self.host = second.host.or(self.host);
        self.modelled_busy = second.modelled_busy.or(self.modelled_busy);
    }

    /// The load of seconds that were read back, the last one whole.
    pub(crate) fn of_seconds(seconds: &[IntervalSample], host: Option<HostNow>) -> Self {
        let completed = |second: &IntervalSample| {
            let completed: u64 = second.counts.iter().map(OperationCounts::completed).sum();
            completed as f64
        };
        Self {
            throughput: seconds.iter().map(completed).collect(),
            response_ns_p99: seconds.last().and_then(response_ns_p99_of),
            failed: seconds.iter().flat_map(|second| &second.counts).map(|counts| counts.failed).sum(),
            host,
            modelled_busy: None,
        }
    }

    /// Units of work in the last second; `None` before the first, and where the load generator stood still.
    pub(crate) fn rate(&self) -> Option<f64> {
        self.throughput.last().copied().filter(|rate| rate.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_of_others_are_what_the_database_did_not_make() {
        let share = |all, own| HostNow::default().with(all, own, None).reads;
        assert_eq!([share(Some(200.0), Some(150.0)), share(Some(200.0), Some(210.0))], [Some(0.25), Some(0.0)]);
        assert_eq!([share(Some(0.0), Some(0.0)), share(None, Some(1.0)), share(Some(1.0), None)], [None; 3]);
    }

    #[test]
    fn a_ratio_of_the_spin_probe_is_told_as_a_share_of_its_time() {
        let share = |ratio| HostNow::default().with(None, None, ratio).spin;
        assert_eq!(
            [share(Some(2.0)), share(Some(1.0)), share(Some(0.9)), share(None)],
            [Some(0.5), Some(0.0), Some(0.0), None]
        );
    }
}

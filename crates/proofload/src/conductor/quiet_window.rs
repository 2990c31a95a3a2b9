//! A measured load that goes on until the host was quiet for as long as the study wants. Knows what others took, not what was done.

use super::preparation::PreparedRun;
use super::run_context::RunContext;
use crate::live::{DeviceNow, HostNow};
use proofload_analysis::disturbance::{Disturbance, ProcessorSecond};
use proofload_analysis::quiet::quiet_seconds;
use proofload_model::error::Error;
use proofload_model::samples::Telemetry;
use proofload_model::series::{cores, device, foreign};
use proofload_model::time::Offset;
use std::collections::BTreeMap;

/// The processor of the host under test, second by second since time zero.
#[derive(Debug, Default)]
pub(crate) struct HostSeconds {
    seconds: BTreeMap<i64, ProcessorSecond>,
    cores: usize,
    /// What its devices did in the last second that was read.
    device: Option<DeviceNow>,
}

impl HostSeconds {
    /// Takes what a probe of the host saw.
    pub(super) fn take(&mut self, at: Offset, telemetry: &Telemetry) {
        let sum = |name: &str| {
            let of_name = telemetry.readings.iter().filter(|reading| reading.name == name).map(|reading| reading.value);
            of_name.reduce(|one, other| one + other)
        };
        if telemetry.probe == device::PROBE {
            let readings = telemetry.readings.iter().map(|reading| (reading.name.as_str(), reading.value));
            self.device = DeviceNow::of(readings).or(self.device);
            return;
        }
        let second = at.as_seconds().floor() as i64;
        let known = self.seconds.entry(second).or_insert(ProcessorSecond { busy: 0.0, stolen: None, foreign: None });
        if telemetry.probe == cores::PROBE {
            self.cores = telemetry.readings.iter().filter(|reading| reading.name == cores::BUSY.name).count();
            known.stolen = sum(cores::STEAL.name).map(|percent| percent / 100.0);
            // The probe counts what was stolen as use.
            known.busy = sum(cores::BUSY.name).unwrap_or(0.0) / 100.0 - known.stolen.unwrap_or(0.0);
        } else if telemetry.probe == foreign::PROBE {
            known.foreign = sum(foreign::CPU.name);
        }
    }

    /// What the devices under the data did in the last second that was read.
    pub(super) fn device(&self) -> Option<DeviceNow> {
        self.device
    }

    /// What others took of it in the last second of which all is known.
    pub(super) fn now(&self) -> Option<HostNow> {
        let is_whole = |second: &&ProcessorSecond| second.foreign.is_some() && second.busy > 0.0;
        let second = self.seconds.values().rev().take(3).find(is_whole)?;
        (self.cores > 0).then(|| HostNow::of(*second, self.cores))
    }

    /// Share of the processor that others took in each second of a window; `None` where not observed.
    fn taken(&self, from: usize, to: usize) -> Vec<Option<f64>> {
        let read: Vec<i64> = (from as i64..=to as i64).filter(|second| self.seconds.contains_key(second)).collect();
        let known: Vec<ProcessorSecond> = read.iter().map(|second| self.seconds[second]).collect();
        let shares = Disturbance::of(&known, self.cores as f64).seconds;
        let observed = known.iter().map(|second| second.stolen.is_some() && second.foreign.is_some());
        let by_second: BTreeMap<i64, Option<f64>> =
            read.into_iter().zip(observed.zip(shares).map(|(observed, share)| observed.then_some(share))).collect();
        // A reading tells of the second before it, and its moment lies anywhere in its own.
        let share = |second: i64| {
            let own = *by_second.get(&second)?;
            let next = by_second.get(&(second + 1)).copied().flatten();
            own.map(|own| next.map_or(own, |next| own.max(next)))
        };
        (from as i64..to as i64).map(share).collect()
    }
}

/// Waits on from the end of the planned window until the wanted quiet seconds are there or the longest time is over; the end of the window, or
/// `None` when the load ended.
pub(super) fn extend(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    from: usize,
    planned: usize,
) -> Result<Option<usize>, Error> {
    let (wanted, tolerated) = (prepared.procedure.quiet_seconds as usize, prepared.procedure.steal_tolerance);
    let longest = planned.max(from + prepared.procedure.longest_measured().as_secs() as usize);
    let mut to = planned;
    if context.heard.state.host.taken(from, planned).iter().all(Option::is_none) {
        return Ok(Some(planned));
    }
    while to < longest && quiet_seconds(&context.heard.state.host.taken(from, to), tolerated) < wanted {
        to += 1;
        if !context.wait_for(to)? {
            return Ok(None);
        }
    }
    Ok(Some(to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::deployment::InstanceName;
    use proofload_model::samples::Reading;
    use proofload_model::time::Moment;

    fn telemetry(probe: &str, readings: &[(&str, &str, f64)]) -> Telemetry {
        let reading = |(name, component, value): &(&str, &str, f64)| Reading {
            name: (*name).to_owned(),
            component: (*component).to_owned(),
            unit: String::new(),
            value: *value,
        };
        let empty = Telemetry {
            instance: InstanceName::default(),
            probe: String::new(),
            moment: Moment(0),
            span_ns: 1_000_000_000,
            readings: Vec::new(),
        };
        Telemetry { probe: probe.to_owned(), readings: readings.iter().map(reading).collect(), ..empty }
    }

    #[test]
    fn what_others_took_is_known_where_both_probes_told_it() {
        let mut host = HostSeconds::default();
        let at = |second: i64| Offset(second * 1_000_000_000 + 40_000_000);
        let busy = [("busy", "0", 100.0), ("busy", "1", 100.0), ("steal", "0", 40.0), ("steal", "1", 0.0)];
        host.take(at(3), &telemetry(cores::PROBE, &busy));
        host.take(at(3), &telemetry(foreign::PROBE, &[("cpu", "", 0.5)]));
        host.take(at(4), &telemetry(cores::PROBE, &busy));
        let taken = host.taken(2, 5);
        assert_eq!((taken[0], taken[2]), (None, None), "no reading, and no look at other processes");
        assert!(
            taken[1].is_some_and(|taken| (taken - 0.4).abs() < 1e-9),
            "a fifth of the demand, and a quarter of the rest: {taken:?}"
        );
    }
}

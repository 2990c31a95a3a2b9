//! A measured load that goes on until the host was quiet for as long as the study wants. Knows what others took, not what was done.

use super::preparation::PreparedRun;
use super::run_context::RunContext;
use crate::live::{DeviceNow, HostNow};
use proofload_analysis::disturbance::{Disturbance, HostSecond, ProcessorSecond};
use proofload_analysis::quiet::quiet_seconds;
use proofload_model::error::Error;
use proofload_model::facts::{CoreSet, limit};
use proofload_model::samples::{Fact, Telemetry};
use proofload_model::series::{cores, device, foreign, group, spin};
use proofload_model::time::Offset;
use std::collections::BTreeMap;

/// The processor of the host under test, second by second since time zero.
#[derive(Debug, Default)]
pub(crate) struct HostSeconds {
    seconds: BTreeMap<i64, HostSecond>,
    /// Cores that the database may use; `None`: all.
    allowed: Option<CoreSet>,
    /// How many these are.
    cores: usize,
    /// Whether the database's CPU time is told apart from Proofload's.
    is_grouped: bool,
    /// What its devices did in the last second that was read.
    device: Option<DeviceNow>,
    /// Reads from its devices in that second, and those of the database, 1/s.
    reads: [Option<f64>; 2],
    /// Whether there are standbys, which may read from the same devices.
    pub(super) has_standbys: bool,
    /// What the spin probe told last.
    spin: Option<f64>,
}

impl HostSeconds {
    /// Takes the cores that the database may use from facts of the limits in force.
    pub(super) fn limit_to(&mut self, facts: &[Fact]) {
        self.allowed = limit::CORES.cores(facts).or(self.allowed.take());
    }

    /// Takes what a probe of the host saw.
    pub(super) fn take(&mut self, at: Offset, telemetry: &Telemetry) {
        if telemetry.probe == device::PROBE {
            let readings = telemetry.readings.iter().map(|reading| (reading.name.as_str(), reading.value));
            self.device = DeviceNow::of(readings).or(self.device);
            self.reads[0] = reads(telemetry, device::READS.name);
            return;
        }
        if telemetry.probe == spin::PROBE {
            let ratio = telemetry.readings.iter().find(|reading| reading.name == spin::RATIO.name);
            self.spin = ratio.map(|ratio| ratio.value);
            return;
        }
        let known = self.seconds.entry(at.as_seconds().floor() as i64).or_default();
        let of = |name: &'static str| telemetry.readings.iter().filter(move |reading| reading.name == name);
        let value = |name: &'static str| of(name).map(|reading| reading.value).next();
        if telemetry.probe == cores::PROBE {
            let allowed = self.allowed.as_ref();
            let is_there = |core: &str| allowed.is_none_or(|allowed| allowed.has(core));
            let there = |name: &'static str| of(name).filter(|reading| is_there(&reading.component));
            let sum = |name: &'static str| there(name).map(|reading| reading.value).reduce(|one, other| one + other);
            self.cores = there(cores::BUSY.name).count();
            known.part = self.cores as f64 / of(cores::BUSY.name).count().max(1) as f64;
            known.used = sum(cores::BUSY.name).unwrap_or(0.0) / 100.0;
            known.stolen = sum(cores::STEAL.name).map(|percent| percent / 100.0);
        } else if telemetry.probe == foreign::PROBE {
            known.foreign = value(foreign::CPU.name);
            known.clients = value(foreign::CLIENT_CPU_THERE.name).or_else(|| value(foreign::CLIENT_CPU.name));
        } else if telemetry.probe == group::PROBE {
            known.database = value(group::CPU.name);
            self.is_grouped = true;
            self.reads[1] = reads(telemetry, group::READS.name);
        }
    }

    /// The cores of the database in a second. Without a group its processes are counted among Proofload's.
    fn processor(&self, second: &HostSecond) -> ProcessorSecond {
        let database = second.database.or((!self.is_grouped).then_some(0.0));
        HostSecond { database, ..*second }.processor()
    }

    /// What the devices under the data did in the last second that was read.
    pub(super) fn device(&self) -> Option<DeviceNow> {
        self.device
    }

    /// What others took of it in the last second of which all is known.
    pub(super) fn now(&self) -> Option<HostNow> {
        let is_whole = |second: &ProcessorSecond| second.foreign.is_some() && second.busy > 0.0;
        let second = self.seconds.values().rev().take(3).map(|second| self.processor(second)).find(is_whole);
        let of_processor = second.filter(|_| self.cores > 0).map(|second| HostNow::of(second, self.cores));
        let host = of_processor.or_else(|| self.spin.map(|_| HostNow::default()))?;
        let [all, own] = self.reads;
        Some(host.with(all.filter(|_| !self.has_standbys), own, self.spin))
    }

    /// Share of the processor that others took in each second of a window; `None` where not observed.
    fn taken(&self, from: usize, to: usize) -> Vec<Option<f64>> {
        let read: Vec<i64> = (from as i64..=to as i64).filter(|second| self.seconds.contains_key(second)).collect();
        let known: Vec<ProcessorSecond> = read.iter().map(|second| self.processor(&self.seconds[second])).collect();
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

/// The sum of readings of a name over all devices; `None` where there are none.
fn reads(telemetry: &Telemetry, name: &str) -> Option<f64> {
    let of = telemetry.readings.iter().filter(|reading| reading.name == name);
    of.map(|reading| reading.value).reduce(|one, other| one + other)
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

    #[test]
    fn the_spin_probe_and_reads_of_others_are_seen_while_the_load_runs() {
        let mut host = HostSeconds::default();
        let at = Offset(3_040_000_000);
        host.take(at, &telemetry(cores::PROBE, &[("busy", "0", 50.0)]));
        assert_eq!(host.now(), None, "nothing tells of others");
        host.take(at, &telemetry(spin::PROBE, &[("ratio", "", 1.25), ("pieces", "", 10.0)]));
        host.take(at, &telemetry(device::PROBE, &[("reads", "vda", 100.0), ("writes", "vda", 100.0)]));
        host.take(at, &telemetry(group::PROBE, &[("cpu", "", 0.5), ("reads", "vda", 75.0), ("writes", "vda", 50.0)]));
        let now = host.now().expect("the spin probe tells");
        assert_eq!((now.stolen, now.foreign, now.reads), (None, None, Some(0.25)), "writes say nothing of others");
        assert!(now.spin.is_some_and(|share| (share - 0.2).abs() < 1e-9), "{now:?}");
        host.has_standbys = true;
        assert_eq!(host.now().and_then(|now| now.reads), None, "standbys may read from the same device");
    }

    /// Core 0 of four is the database's, and others are busy on one core.
    #[test]
    fn only_the_cores_of_the_database_count() {
        let on_core = |busy: [f64; 4], database: f64| {
            let mut host = HostSeconds::default();
            host.limit_to(&[limit::CORES.observed("1 (0)", "a test")]);
            let at = Offset(3_040_000_000);
            let names = ["0", "1", "2", "3"];
            let read: Vec<(&str, &str, f64)> = names
                .into_iter()
                .zip(busy)
                .flat_map(|(core, busy)| [("busy", core, busy), ("steal", core, 0.0)])
                .collect();
            host.take(at, &telemetry(cores::PROBE, &read));
            let others = [("cpu", "", 1.0), ("client_cpu", "", 0.5), ("client_cpu_there", "", 0.1)];
            host.take(at, &telemetry(foreign::PROBE, &others));
            host.take(at, &telemetry(group::PROBE, &[("cpu", "", database)]));
            (host.taken(3, 4)[0], host.now().and_then(|now| now.foreign))
        };
        let elsewhere = on_core([50.0, 100.0, 40.0, 0.0], 0.4);
        assert!(elsewhere.0.is_some_and(|taken| taken < 1e-9), "{elsewhere:?}");
        let there = on_core([100.0, 0.0, 40.0, 0.0], 0.4);
        assert!(there.0.is_some_and(|taken| (taken - 0.5).abs() < 1e-9), "half of the core is theirs: {there:?}");
        assert_eq!(there.0, there.1, "the screen says the same");
    }
}

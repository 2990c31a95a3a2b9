//! Looking at the host under test before a run, and waiting while others are at work. Knows nothing of the database.

use super::preparation::PreparedRun;
use super::run_context::RunContext;
use crate::live::Phase;
use proofload_analysis::disturbance::{Disturbance, HostSecond, ProcessorSecond, Quietness, worst_stolen};
use proofload_model::error::Error;
use proofload_model::events::RunEvent;
use proofload_model::step_count::{StepCount, StepUnit};
use proofload_model::wire::host::{ProcessorUse, QuietCheck};
use proofload_report::findings::taken_in_words;
use std::time::Duration;

/// How long the host is looked at.
pub(crate) const LOOK: Duration = Duration::from_secs(10);

/// How long a host that was busy must be quiet.
const QUIET_FOR: Duration = Duration::from_secs(30);

/// Looks at the host, and waits until it is quiet, at most this long; zero: does nothing.
pub(super) fn wait(context: &mut RunContext<'_>, prepared: &PreparedRun, at_most: Duration) -> Result<(), Error> {
    if at_most.is_zero() {
        return Ok(());
    }
    context.heard.view.phase(Phase::WaitingForQuiet);
    let (began, tolerated) = (context.agents.now(), prepared.procedure.steal_tolerance);
    let mut wanted = LOOK;
    let mut quiet = Duration::ZERO;
    loop {
        context.agents.expect_no_interrupt()?;
        let seen = Neighbours::of(context.testbed(prepared).check_quiet(LOOK)?, tolerated);
        if seen.lets_begin() {
            quiet += LOOK;
        } else {
            (quiet, wanted) = (Duration::ZERO, QUIET_FOR);
        }
        let waited = context.agents.now().since(began);
        if quiet >= wanted || waited >= at_most {
            let (taken, processes) = (seen.disturbance.observed(), seen.processes());
            let event = RunEvent::QuietChecked { taken, tolerated, seconds: waited.as_secs_f64(), processes };
            return context.heard.journal.event(event);
        }
        let hidden = seen.hidden().map_or_else(String::new, |hidden| format!("; {hidden} cannot be seen here"));
        let told = format!("{}{hidden}; waiting until the host is quiet", seen.said());
        let count = StepCount::of(waited.as_secs(), at_most.as_secs(), StepUnit::Seconds);
        context.heard.view.progress(&told, Some(count));
    }
}

/// What others did while the host was looked at.
pub(crate) struct Neighbours {
    pub(crate) check: QuietCheck,
    pub(crate) disturbance: Disturbance,
    /// Share of the processor, and of the time of a device, that they may take.
    pub(crate) tolerated: f64,
}

impl Neighbours {
    /// Makes it of a look.
    pub(crate) fn of(check: QuietCheck, tolerated: f64) -> Self {
        Self { disturbance: disturbance(&check), check, tolerated }
    }

    /// Says how quiet the host was.
    pub(crate) fn quietness(&self) -> Quietness {
        let had_core = self.spin_share().map(|share| share <= self.tolerated);
        self.disturbance.quietness(had_core, self.device_is_busy(), self.tolerated)
    }

    /// Whether a run that waits may begin: what can be seen of others is quiet. A host that hides guests or processes hides them for as long as one
    /// waits; where it hides both, computing tells.
    fn lets_begin(&self) -> bool {
        match self.quietness() {
            Quietness::Quiet | Quietness::QuietBySpin | Quietness::QuietWhereSeen => true,
            Quietness::Busy | Quietness::Hidden => false,
        }
    }

    /// What the host does not show of others, in words; `None` where it shows everything.
    pub(crate) fn hidden(&self) -> Option<&'static str> {
        match (self.disturbance.stolen, self.disturbance.foreign) {
            (Some(_), Some(_)) => None,
            (None, None) => Some("what other guests and other processes take"),
            (None, Some(_)) => Some("what other guests take"),
            (Some(_), None) => Some("what other processes take"),
        }
    }

    /// The largest share of its demand that other guests took in a second; `None` where that is not told.
    pub(crate) fn worst_stolen(&self) -> Option<f64> {
        worst_stolen(&processor(&self.check))
    }

    /// Share of its time in which a thread that computes had no core, where nothing else tells of others; `None` where something does.
    pub(crate) fn spin_share(&self) -> Option<f64> {
        let ratio = self.check.spin_ratio.filter(|_| self.disturbance.is_blind())?;
        Some((1.0 - 1.0 / ratio.max(1.0)).clamp(0.0, 1.0))
    }

    /// Whether others keep a device under the data busy for longer than is tolerated.
    pub(crate) fn device_is_busy(&self) -> bool {
        self.check.devices.is_some_and(|device| device.busy > self.tolerated)
    }

    /// What they took, in words.
    pub(crate) fn said(&self) -> String {
        let taken = match self.spin_share() {
            Some(share) => {
                format!("a thread that computed was kept from its core for {:.0} % of its time", 100.0 * share)
            }
            None => taken_in_words(&self.disturbance, &self.processes()),
        };
        let device = self.check.devices.filter(|_| self.device_is_busy());
        let device =
            device.map(|device| format!("; others kept the drive busy for {:.0} % of the time", 100.0 * device.busy));
        taken + &device.unwrap_or_default()
    }

    /// The largest processes of others with their CPU time.
    fn processes(&self) -> Vec<(String, f64)> {
        self.check.processes.iter().map(|process| (process.name.clone(), process.cpu)).collect()
    }
}

/// What others took while the host was looked at.
fn disturbance(check: &QuietCheck) -> Disturbance {
    Disturbance::of(&processor(check), f64::from(check.cores))
}

/// The cores in question, second by second.
fn processor(check: &QuietCheck) -> Vec<ProcessorSecond> {
    let part = f64::from(check.cores) / f64::from(check.cores_of_host.max(1));
    let second = |seen: &ProcessorUse| {
        let ProcessorUse { used, stolen, foreign, clients } = *seen;
        // A database that is up has nothing to do, and counts as ours.
        HostSecond { used, stolen, part, foreign, database: Some(0.0), clients }.processor()
    };
    check.seconds.iter().map(second).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::wire::host::DeviceUse;

    /// Two of 16 cores are the database's.
    fn check(used: f64) -> QuietCheck {
        let second = ProcessorUse { used, stolen: Some(0.0), foreign: Some(2.0), clients: Some(0.4) };
        QuietCheck {
            time: LOOK,
            cores: 2,
            cores_of_host: 16,
            seconds: vec![second; 10],
            processes: Vec::new(),
            spin_p99: None,
            spin_ratio: None,
            sync_p99: None,
            devices: None,
        }
    }

    const BLIND: ProcessorUse = ProcessorUse { used: 0.4, stolen: None, foreign: None, clients: None };

    /// A host that shows neither steal nor processes, with what computing took.
    fn blind(spin_ratio: f64) -> QuietCheck {
        QuietCheck { seconds: vec![BLIND; 10], spin_ratio: Some(spin_ratio), ..check(0.4) }
    }

    #[test]
    fn computing_tells_where_nothing_else_does() {
        let crowded = Neighbours::of(blind(1.25), 0.05);
        assert!(crowded.spin_share().is_some_and(|share| (share - 0.2).abs() < 1e-9));
        let told = "a thread that computed was kept from its core for 20 % of its time";
        assert_eq!((crowded.lets_begin(), crowded.said().as_str()), (false, told));
        assert!(Neighbours::of(blind(1.01), 0.05).lets_begin());
        let seen = QuietCheck { seconds: vec![ProcessorUse { foreign: Some(0.0), ..BLIND }; 10], ..blind(1.25) };
        assert_eq!(Neighbours::of(seen, 0.05).spin_share(), None, "processes are seen");
    }

    /// What is hidden stays hidden however long a run waits.
    #[test]
    fn a_run_waits_for_what_can_be_seen_of_others() {
        let of = |stolen: Option<f64>, foreign: Option<f64>| {
            let second = ProcessorUse { used: 1.0, stolen, foreign, clients: Some(0.4) };
            Neighbours::of(QuietCheck { cores_of_host: 2, seconds: vec![second; 10], ..check(1.0) }, 0.05)
        };
        let (no_processes, no_guests) = (of(Some(0.0), None), of(None, Some(0.0)));
        assert!(no_processes.lets_begin() && no_guests.lets_begin());
        assert_eq!(no_processes.hidden(), Some("what other processes take"));
        assert_eq!(no_guests.hidden(), Some("what other guests take"));
        assert!(!of(Some(0.3), None).lets_begin() && !of(None, Some(0.6)).lets_begin(), "what is seen is too much");
        assert!(!of(None, None).lets_begin(), "nothing tells of others, and nothing computed");
        assert_eq!((of(Some(0.0), Some(0.0)).hidden(), of(Some(0.3), None).worst_stolen()), (None, Some(0.3)));
    }

    #[test]
    fn a_run_waits_for_a_drive_that_others_keep_busy() {
        let beside = |busy: f64| {
            Neighbours::of(QuietCheck { devices: Some(DeviceUse { requests: 300.0, busy }), ..check(0.4) }, 0.05)
        };
        assert!(Neighbours::of(check(0.4), 0.05).lets_begin(), "a drive that cannot be told");
        assert!(beside(0.04).lets_begin() && !beside(0.3).lets_begin());
        assert_eq!(beside(0.3).said(), "others took 0 % of the CPU; others kept the drive busy for 30 % of the time");
    }

    #[test]
    fn a_host_is_as_quiet_as_the_cores_that_the_database_gets() {
        assert_eq!(disturbance(&check(0.4)).observed(), Some(0.0), "others are busy elsewhere");
        let beside = disturbance(&check(1.4)).observed();
        assert!(beside.is_some_and(|taken| (taken - 0.5).abs() < 1e-9), "one of the two is taken: {beside:?}");
    }
}

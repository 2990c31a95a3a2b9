//! Looking at the host under test before a run, and waiting while others are at work. Knows nothing of the database.

use super::preparation::PreparedRun;
use super::run_context::RunContext;
use crate::live::Phase;
use proofload_analysis::disturbance::{Disturbance, HostSecond};
use proofload_model::error::Error;
use proofload_model::events::RunEvent;
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
        let check = context.testbed(prepared).check_quiet(LOOK)?;
        let disturbance = disturbance(&check);
        let taken = disturbance.observed();
        // A hypervisor that hides steal hides it for as long as one waits. Where processes are hidden as well, computing tells.
        let is_quiet = match spin_share(&check, &disturbance) {
            Some(kept_off) => kept_off <= tolerated,
            None => disturbance.foreign.is_some() && disturbance.at_least() <= tolerated,
        };
        if is_quiet {
            quiet += LOOK;
        } else {
            (quiet, wanted) = (Duration::ZERO, QUIET_FOR);
        }
        let processes = named(&check);
        let waited = context.agents.now().since(began);
        if quiet >= wanted || waited >= at_most {
            let event = RunEvent::QuietChecked { taken, tolerated, seconds: waited.as_secs_f64(), processes };
            return context.heard.journal.event(event);
        }
        let told = format!("{}; waiting until the host is quiet", taken_in_words(&disturbance, &processes));
        context.heard.view.progress(&told, waited.as_secs(), at_most.as_secs());
    }
}

/// What others took while the host was looked at.
pub(crate) fn disturbance(check: &QuietCheck) -> Disturbance {
    let part = f64::from(check.cores) / f64::from(check.cores_of_host.max(1));
    let second = |seen: &ProcessorUse| {
        let ProcessorUse { used, stolen, foreign, clients } = *seen;
        // A database that is up has nothing to do, and counts as ours.
        HostSecond { used, stolen, part, foreign, database: Some(0.0), clients }.processor()
    };
    Disturbance::of(&check.seconds.iter().map(second).collect::<Vec<_>>(), f64::from(check.cores))
}

/// Share of its time in which a thread that computes had no core, where nothing else tells of others; `None` where something does.
pub(crate) fn spin_share(check: &QuietCheck, disturbance: &Disturbance) -> Option<f64> {
    let ratio = check.spin_ratio.filter(|_| disturbance.stolen.is_none() && disturbance.foreign.is_none())?;
    Some((1.0 - 1.0 / ratio.max(1.0)).clamp(0.0, 1.0))
}

/// The largest processes of others with their CPU time.
pub(crate) fn named(check: &QuietCheck) -> Vec<(String, f64)> {
    check.processes.iter().map(|process| (process.name.clone(), process.cpu)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn computing_tells_where_nothing_else_does() {
        let with = |second: ProcessorUse| {
            let check = QuietCheck { seconds: vec![second; 10], spin_ratio: Some(1.25), ..check(0.4) };
            spin_share(&check, &disturbance(&check))
        };
        let blind = ProcessorUse { used: 0.4, stolen: None, foreign: None, clients: None };
        assert!(with(blind).is_some_and(|share| (share - 0.2).abs() < 1e-9));
        assert_eq!(with(ProcessorUse { foreign: Some(0.0), ..blind }), None, "processes are seen");
    }

    #[test]
    fn a_host_is_as_quiet_as_the_cores_that_the_database_gets() {
        assert_eq!(disturbance(&check(0.4)).observed(), Some(0.0), "others are busy elsewhere");
        let beside = disturbance(&check(1.4)).observed();
        assert!(beside.is_some_and(|taken| (taken - 0.5).abs() < 1e-9), "one of the two is taken: {beside:?}");
    }
}

//! Looking at the host under test before a run, and waiting while others are at work. Knows nothing of the database.

use super::preparation::PreparedRun;
use super::run_context::RunContext;
use crate::live::Phase;
use proofload_analysis::disturbance::{Disturbance, ProcessorSecond};
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
        if taken.is_some_and(|taken| taken <= tolerated) {
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
    let second = |seen: &ProcessorUse| {
        let ProcessorUse { busy, stolen, foreign } = *seen;
        ProcessorSecond { busy, stolen, foreign }
    };
    Disturbance::of(&check.seconds.iter().map(second).collect::<Vec<_>>(), f64::from(check.cores))
}

/// The largest processes of others with their CPU time.
pub(crate) fn named(check: &QuietCheck) -> Vec<(String, f64)> {
    check.processes.iter().map(|process| (process.name.clone(), process.cpu)).collect()
}

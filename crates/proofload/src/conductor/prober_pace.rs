//! Pace of the prober in a drill: full around each moment at which something is done that may take the database away, calm in the rest. The level
//! before and ten seconds of the level after are then compared with hardly any load of the prober in either. May not make a fault.

use super::run_context::RunContext;
use proofload_model::drill::{Outage, ProbeKind, ProberReport};
use proofload_model::error::Error;
use proofload_model::log_level::LogLevel;
use proofload_model::prober::{PACE_LEAD, ProberPace};
use proofload_model::wire::load::PaceProber;
use std::time::Duration;

/// Lets a time pass, at the end of which something is done; in the last part of it the prober is at its full pace.
pub(super) fn wait_at_pace(context: &mut RunContext<'_>, time: Duration) -> Result<(), Error> {
    context.wait(time.saturating_sub(PACE_LEAD))?;
    hasten(context)?;
    context.wait(time.min(PACE_LEAD))
}

/// Sets the full pace.
pub(super) fn hasten(context: &mut RunContext<'_>) -> Result<(), Error> {
    context.ask_load(PaceProber { pace: ProberPace::Full })
}

/// Lets the prober go back to its calm pace, which it does once all of its operations have been acknowledged for a while.
pub(super) fn calm(context: &mut RunContext<'_>) -> Result<(), Error> {
    context.ask_load(PaceProber { pace: ProberPace::Calm })
}

/// Notes in the log of the run which outages began at the calm pace: nobody had said that they might come, and their begin is told less closely.
pub(super) fn note_coarse(context: &mut RunContext<'_>, found: &ProberReport) -> Result<(), Error> {
    for text in coarse(found) {
        context.heard.journal.log(LogLevel::Warning, "conductor", &text)?;
    }
    Ok(())
}

fn coarse(found: &ProberReport) -> Vec<String> {
    let kinds = found.kinds.iter().filter(|probe| probe.kind != ProbeKind::Connect);
    let outages = kinds.flat_map(|probe| probe.outages.iter().map(move |outage| (probe.kind, outage)));
    outages.filter_map(|(kind, outage)| in_words(found, kind, outage)).collect()
}

fn in_words(found: &ProberReport, kind: ProbeKind, outage: &Outage) -> Option<String> {
    let (from, full) = (outage.from.as_seconds(), Duration::from_nanos(found.ledger.period_ns));
    let period = found.ledger.period_before(outage.from);
    let what = if kind == ProbeKind::Write { "writes" } else { "reads" };
    (period > full).then(|| {
        format!(
            "an outage of {what} began while the prober was at its calm pace: told from {from:.3} s on, it may have begun \
             up to {} ms earlier",
            period.as_millis()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::drill::{Ledger, ProbeReport};
    use proofload_model::prober::{PaceCause, PaceChange, ProberPaces};
    use proofload_model::time::Offset;

    #[test]
    fn an_outage_that_began_at_the_calm_pace_is_said_to_be_told_less_closely() {
        let seconds = |at: i64| Offset(at * 1_000_000_000);
        let change = |at, pace, cause| PaceChange { from: seconds(at), pace, cause };
        let changes = vec![
            change(0, ProberPace::Calm, PaceCause::Begin),
            change(10, ProberPace::Full, PaceCause::Trouble),
            change(20, ProberPace::Calm, PaceCause::Steady),
            change(30, ProberPace::Full, PaceCause::Order),
        ];
        let outage = |at| Outage { from: seconds(at), to: Some(seconds(at + 1)), failed: 100 };
        let probe = |kind| ProbeReport {
            kind,
            due: 1_000,
            lag_p99_ms: 0.1,
            outages: vec![outage(9), outage(31)],
            blips: 0,
            tenths: Vec::new(),
        };
        let paces = ProberPaces { calm_step: 10, changes };
        let mut found = ProberReport {
            kinds: [ProbeKind::Write, ProbeKind::Read, ProbeKind::Connect].map(probe).to_vec(),
            ledger: Ledger { period_ns: 5_000_000, paces, ..Ledger::default() },
        };
        let told = coarse(&found);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].contains("of writes") && told[1].contains("of reads"), "{told:?}");
        assert!(told.iter().all(|text| text.contains("from 9.000 s") && text.contains("50 ms earlier")), "{told:?}");
        found.ledger.paces = ProberPaces::default();
        assert!(coarse(&found).is_empty(), "one pace all the time");
    }
}

//! Every reason why a drill is none, or breaks a promise. May not find anything out: it judges what was recorded.

use super::protection::{UnprotectedTime, unprotected};
use super::{pages, promises_none_lost, report_of};
use crate::findings::telemetry::states;
use crate::findings::void::Void;
use proofload_model::deployment::InstanceName;
use proofload_model::drill::{DrillAsked, DrillReport, Ledger, ProbeKind, drill};
use proofload_model::ledger::LedgerPage;
use proofload_model::replication::replication;
use proofload_model::samples::Fact;
use proofload_model::series::replication;
use proofload_model::settings::Settings;
use proofload_record::{Attempt, State};

/// Lost writes that are told by number.
const NUMBERS_TOLD: usize = 20;

/// Lateness of a prober from which on its outages are not exact enough to be told, ms: the 99th percentile over a whole run, since records do
/// not say when it was late.
pub(crate) const LATEST_PROBE_MS: f64 = 50.0;

/// Age of the last reading of the mode before a fault from which on nothing tells whether it was in force, seconds.
const OLDEST_READING: f64 = 3.0;

/// A drill that is none, writes that were lost against a promise, and what no database may do.
pub(crate) fn of_drill(attempt: &Attempt, settings: &Settings) -> Vec<Void> {
    let Ok(Some(asked)) = drill(settings) else { return Vec::new() };
    let Some(report) = report_of(attempt) else { return vec![Void::verification("no drill was recorded")] };
    let late = report.prober.kinds.iter().map(|kind| kind.lag_p99_ms).fold(0.0, f64::max);
    let late = (late > LATEST_PROBE_MS)
        .then(|| Void::generator(format!("the prober was {late:.0} ms late (p99); the limit is {LATEST_PROBE_MS} ms")));
    let found = [
        of_fault(attempt, report, &asked),
        of_mode(attempt, report, settings),
        of_leaders(report, &asked),
        of_ledger(attempt, report),
        of_defects(&report.prober.ledger),
        of_promise(attempt, settings),
    ];
    found.concat().into_iter().map(Void::verification).chain(late).collect()
}

/// Whether no acknowledged write of a drill may be lost: its mode and fault promise it, and every acknowledged write is on one of the standbys
/// that answered before the promotion, as far as one was promoted by hand.
pub(crate) fn none_may_be_lost(report: &DrillReport, asked: &DrillAsked, settings: &Settings, facts: &[Fact]) -> bool {
    promises_none_lost(asked, settings, facts) && report.reach.is_none_or(|reach| reach.holds_all)
}

/// Acknowledged writes that a drill lost though its mode promises that none is: without a warning, while the mode was in force. 0 for a run
/// without a drill.
pub(crate) fn lost_against_promise(attempt: &Attempt, settings: &Settings) -> u64 {
    let Some((asked, report)) = drill(settings).ok().flatten().zip(report_of(attempt)) else { return 0 };
    if !none_may_be_lost(report, &asked, settings, &attempt.facts) {
        return 0;
    }
    report.prober.ledger.lost.saturating_sub(unprotected(attempt, report, settings).lost)
}

/// Whether nothing tells the losses of an attempt at a drill that may lose nothing: it did not finish, has no report, or its ledger was not
/// read or does not add up.
pub(crate) fn is_loss_unknown(attempt: &Attempt, asked: &DrillAsked, settings: &Settings) -> bool {
    match report_of(attempt).filter(|_| attempt.state == State::Finished) {
        Some(report) => {
            none_may_be_lost(report, asked, settings, &attempt.facts) && !of_ledger(attempt, report).is_empty()
        }
        None => promises_none_lost(asked, settings, &attempt.facts),
    }
}

fn of_promise(attempt: &Attempt, settings: &Settings) -> Vec<String> {
    let lost = lost_against_promise(attempt, settings);
    let Some(report) = report_of(attempt).filter(|_| lost > 0) else { return Vec::new() };
    let numbers = unexcused(&report.prober.ledger, &unprotected(attempt, report, settings));
    let told: Vec<String> = numbers.iter().take(NUMBERS_TOLD).map(u64::to_string).collect();
    let more = if numbers.len() > NUMBERS_TOLD { ", …" } else { "" };
    let (sent, numbers) = (report.prober.ledger.sent, told.join(", "));
    vec![format!("{lost} of {sent} writes were acknowledged and lost; none may be lost: {numbers}{more}")]
}

/// Numbers of the writes that were lost without a warning while commits waited as the mode says. Records from before ranges were kept have no
/// times, so that all count.
fn unexcused(ledger: &Ledger, unprotected: &UnprotectedTime) -> Vec<u64> {
    if ledger.ranges.is_empty() {
        return ledger.lost_numbers.clone();
    }
    let lost = ledger.ranges.iter().filter(|range| range.class.is_plainly_lost());
    let writes = lost.flat_map(|range| range.writes(ledger.period_ns));
    writes.filter(|write| !unprotected.covers(write.ended.as_seconds())).map(|write| write.number).collect()
}

/// A fault that is not the one asked for, or was not found in force after the window.
fn of_fault(attempt: &Attempt, report: &DrillReport, asked: &DrillAsked) -> Vec<String> {
    let words = |fault: Option<_>| {
        fault.map_or_else(|| "none".to_owned(), |fault: proofload_model::drill::FaultAsked| fault.to_string())
    };
    if report.fault != asked.fault {
        let (found, asked) = (words(report.fault), words(asked.fault));
        return vec![format!("the fault was {found}, but the study asked for {asked}")];
    }
    let window_ends = attempt.window().map_or(0.0, |(_, to)| to as f64);
    let in_force = report.fault_after <= report.fault_at && report.fault_at >= window_ends;
    if report.fault.is_none() || in_force {
        return Vec::new();
    }
    vec![format!("the fault was not in force after the measured window, which ended at {window_ends} s")]
}

/// A mode that was out of force just before the fault, or that nobody had read; nothing without standbys.
fn of_mode(attempt: &Attempt, report: &DrillReport, settings: &Settings) -> Vec<String> {
    if report.fault.is_none() || replication(settings).is_ok_and(|asked| asked.is_none()) {
        return Vec::new();
    }
    // From then on a reading may show what the fault does before all of it is in force.
    let begun = report.fault_begun.unwrap_or(report.fault_after);
    let before = (begun - OLDEST_READING)..=begun;
    let mut read = false;
    let mut out: Vec<String> = Vec::new();
    for trace in states(attempt, replication::OUT_OF_FORCE) {
        for (_, value) in trace.samples.iter().filter(|(at, _)| before.contains(at)) {
            read = true;
            if *value > 0.0 && !out.contains(&trace.instance) {
                out.push(trace.instance.clone());
            }
        }
    }
    match (read, out.as_slice()) {
        (false, _) => vec![format!(
            "whether the mode was in force at the fault is unknown: there is no reading in the {OLDEST_READING} s \
             before it"
        )],
        (true, []) => Vec::new(),
        (true, why) => vec![format!("the mode was not in force at the fault: {}", why.join("; "))],
    }
}

/// More changes of the instance that acknowledges than the fault makes; and a ledger that was read elsewhere. A promoted instance that
/// acknowledged nothing within the time is a long outage, not a wrong instance.
fn of_leaders(report: &DrillReport, asked: &DrillAsked) -> Vec<String> {
    let ledger = &report.prober.ledger;
    let changes = ledger.leaders.len().saturating_sub(1);
    let expected = usize::from(asked.replaces_the_primary());
    let mut found = Vec::new();
    if changes > expected && ledger.two_primaries_seconds <= 0.0 {
        found.push(format!(
            "the instance that acknowledges writes changed {changes} times instead of {expected}: there was a second \
             failover"
        ));
    }
    if let (Some(read), Some(last)) = (ledger.read_from, ledger.leaders.last())
        && read != last.node
        && !(changes == 0 && report.promoted == Some(of_number(read)))
    {
        found.push(format!("the ledger was read from instance {read}, but instance {} acknowledged last", last.node));
    }
    found
}

/// The instance of a number, as addresses are handed to the prober.
fn of_number(number: u32) -> InstanceName {
    if number == 0 { InstanceName::primary() } else { InstanceName::standby(number) }
}

/// A ledger that was not read, or does not add up to what was handed over while it was written.
fn of_ledger(attempt: &Attempt, report: &DrillReport) -> Vec<String> {
    let ledger = &report.prober.ledger;
    if let Some(why) = &ledger.unread {
        return vec![format!("the ledger was not read, so losses are unknown: {why}")];
    }
    if !report.prober.kinds.iter().any(|kind| kind.kind == ProbeKind::Write) {
        return vec!["the prober wrote nothing".to_owned()];
    }
    let pages: Vec<&LedgerPage> = pages(attempt).collect();
    let (handed, known): (u64, u64) =
        (pages.iter().map(|page| page.acknowledged()).sum(), ledger.kept + ledger.lost + ledger.lost_as_warned);
    if pages.is_empty() || handed == known {
        return Vec::new();
    }
    vec![format!("the ledger pages of each second have {handed} acknowledged writes, the final ledger has {known}")]
}

/// What no database may do, whatever its mode promises.
fn of_defects(ledger: &Ledger) -> Vec<String> {
    let sent = ledger.sent;
    let counted = [
        (ledger.phantoms, "writes that had definitely failed are in the database"),
        (
            ledger.holes,
            "writes are lost although later ones of the same life of a node exist: there were two primaries, or another \
             node was read",
        ),
        (ledger.doubles, "writes, each sent once, are in the database twice or were refused as duplicates"),
    ];
    let counted = counted.into_iter().filter(|(count, _)| *count > 0);
    let mut found: Vec<String> = counted.map(|(count, what)| format!("{count} of {sent} {what}")).collect();
    if ledger.two_primaries_seconds > 0.0 {
        found.push(format!("two primaries accepted writes for {:.3} s", ledger.two_primaries_seconds));
    }
    if ledger.two_claimed_seconds > 0 {
        found.push(format!(
            "in {} s an instance said that it takes writes while another acknowledged some: there were two primaries",
            ledger.two_claimed_seconds
        ));
    }
    found
}

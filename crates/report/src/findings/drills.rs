//! What protection buys: the drills of each point with their outages, recoveries and ledgers, and whether a loss breaks a promise.

pub mod losses;
pub mod protection;
pub(super) mod verdict;

use super::point::PointFindings;
use proofload_analysis::order_statistics::median;
use proofload_analysis::quantity::{Quantity, Unit};
use proofload_model::drill::{
    DrillAsked, DrillReport, FaultAsked, FaultKind, Ledger, Outage, ProbeKind, ProbeReport, drill,
};
use proofload_model::engines::unlogged_settings;
use proofload_model::events::RunEvent;
use proofload_model::facts::engine::DURABLE_COMMITS;
use proofload_model::fault_strength::FaultStrength;
use proofload_model::ledger::LedgerPage;
use proofload_model::manager::{ManagerKind, manager};
use proofload_model::plan::Run;
use proofload_model::replication::{ReplicationMode, replication};
use proofload_model::samples::Fact;
use proofload_model::settings::Settings;
use proofload_record::{Attempt, Record, RunAttempts, State};
use protection::{UnprotectedTime, degraded_seconds, unprotected};
use std::collections::HashMap;

pub(crate) use verdict::LATEST_PROBE_MS;

/// Unit of seconds.
const SECONDS: Unit = Unit::named("s");

/// Drills of one point.
#[derive(Debug, Clone)]
pub struct DrilledPoint<'r> {
    /// Its number.
    pub point: u32,
    /// The fault; `None`: the prober alone.
    pub fault: Option<FaultAsked>,
    /// How strong it is.
    pub strength: FaultStrength,
    /// Failover manager that replaces a failed primary; `None`: we promote.
    pub manager: Option<ManagerKind>,
    /// Whether another instance becomes the primary.
    pub replaces_the_primary: bool,
    /// What a commit waited for.
    pub mode: ReplicationMode,
    /// Whether no acknowledged write may be lost.
    pub promises_none_lost: bool,
    /// Drills that count, in the order of their runs.
    pub drills: Vec<DrillOf<'r>>,
    /// Unprotected time of each of these drills, and their degraded seconds.
    pub aftermath: Vec<(UnprotectedTime, u64)>,
    /// Drills that are void.
    pub void: usize,
    /// Ledgers of all finished drills, void ones included: a broken promise makes a drill void, and must be counted.
    pub ledgers: Vec<DrillLedger<'r>>,
    /// Finished drills whose ledger was not read, so that nothing is known of their losses.
    pub unread: usize,
}

/// Ledger of a finished drill, with how its losses count.
#[derive(Debug, Clone, Copy)]
pub struct DrillLedger<'r> {
    /// What became of its writes.
    pub ledger: &'r Ledger,
    /// Writes lost without a warning, acknowledged while commits did not wait as the mode says.
    pub unprotected: u64,
    /// Writes lost against the promise of the mode.
    pub against_promise: u64,
    /// Age at the fault of the oldest acknowledgement that was lost, seconds; negative for one that came after the fault.
    pub oldest_lost: Option<f64>,
}

impl DrillLedger<'_> {
    /// Acknowledged writes that are lost, with and without a warning.
    pub fn lost(&self) -> u64 {
        self.ledger.lost + self.ledger.lost_as_warned
    }
}

/// One drill with its run.
#[derive(Debug, Clone, Copy)]
pub struct DrillOf<'r> {
    /// Index of its run in the plan.
    pub run: u32,
    /// Number of the attempt in the record.
    pub attempt: i64,
    /// How it came out.
    pub report: &'r DrillReport,
}

impl DrillOf<'_> {
    /// Time without service for a kind of operations from the fault on, seconds: every outage that ends after it.
    pub fn outage(&self, kind: ProbeKind) -> f64 {
        let end = self.probe(kind).map_or(0.0, |probe| probe.tenths.len() as f64 / 10.0);
        let seconds = |outage: &Outage| outage.to.map_or(end, |to| to.as_seconds()) - outage.from.as_seconds();
        // A sum of no floats is −0.
        self.outages(kind).map(seconds).fold(0.0, |sum, outage| sum + outage)
    }

    /// Outages of a kind that belong to the fault.
    pub fn outages(&self, kind: ProbeKind) -> impl Iterator<Item = &Outage> {
        let all = self.probe(kind).into_iter().flat_map(|probe| &probe.outages);
        all.filter(|outage| is_after(outage, self.report))
    }

    /// What the prober found of a kind.
    pub fn probe(&self, kind: ProbeKind) -> Option<&ProbeReport> {
        self.report.prober.kinds.iter().find(|probe| probe.kind == kind)
    }

    /// Time from the fault to the first second with the users' throughput back, seconds; `None` where that never came.
    pub fn recovery(&self) -> Option<f64> {
        self.report.recovered_at.map(|at| (at - self.report.fault_at).max(0.0))
    }

    /// Time from the fault until enough standbys were in sync again, seconds; `None` where that never came.
    pub fn protected_again(&self) -> Option<f64> {
        self.report.protected_again_at.map(|at| (at - self.report.fault_at).max(0.0))
    }

    /// Share of the prober's acknowledged writes in all that was committed before the fault, theirs and the users', from 0 to 1; `None` without
    /// either.
    pub fn prober_share(&self) -> Option<f64> {
        let tenths = (self.report.fault_after * 10.0).max(0.0) as usize;
        let before = self.probe(ProbeKind::Write)?.tenths.get(..tenths)?;
        let acknowledged: u64 = before.iter().map(|tenth| u64::from(tenth.acknowledged)).sum();
        let rate = acknowledged as f64 * 10.0 / before.len() as f64;
        let share = rate / (rate + self.report.before);
        share.is_finite().then_some(share)
    }

    /// Time from the order to promote, or from its detection by a manager, until another server was the primary, seconds.
    pub fn promotion(&self) -> Option<f64> {
        Some(self.report.promoted_at? - self.report.promote_asked_at.or(self.report.detected_at)?)
    }
}

/// Whether an outage belongs to the fault of a drill, and not to what came before it.
pub fn is_after(outage: &Outage, report: &DrillReport) -> bool {
    report.fault.is_none() || outage.to.is_none_or(|to| to.as_seconds() >= report.fault_after)
}

impl<'r> DrilledPoint<'r> {
    /// The median over drills of what each has, with its interval.
    pub fn median(&self, of: impl Fn(&DrillOf<'r>) -> Option<f64>) -> Option<Quantity> {
        let values: Vec<f64> = self.drills.iter().filter_map(of).collect();
        median(&values, SECONDS)
    }

    /// The drill whose outage of writes is the median, the lower of two.
    pub fn median_drill(&self) -> Option<&DrillOf<'r>> {
        let mut drills: Vec<&DrillOf<'r>> = self.drills.iter().collect();
        drills.sort_by(|a, b| a.outage(ProbeKind::Write).total_cmp(&b.outage(ProbeKind::Write)));
        drills.get(drills.len().checked_sub(1)? / 2).copied()
    }

    /// Whether the time without service has no detection in it: we promote, as soon as we are told to.
    pub fn is_without_detection(&self) -> bool {
        self.manager.is_none() && self.replaces_the_primary
    }

    /// Whether anybody looked when the primary of a drill was protected again: not where no other instance was left or brought back.
    pub fn asks_for_protection(&self, drill: &DrillOf<'_>) -> bool {
        let report = drill.report;
        if self.mode == ReplicationMode::None || report.fault.is_none() {
            return false;
        }
        // A manager brings back what was killed alone or switched over; a drill starts others again only where they are to rejoin.
        let is_left = || match report.manager {
            _ if report.fault.is_some_and(FaultAsked::is_a_failover) => true,
            Some(_) => report.fault.is_some_and(|fault| fault.kind == FaultKind::Kill),
            None => report.reach.is_some_and(|reach| reach.reached > 1),
        };
        report.promoted_at.is_none() || report.rejoin_asked_at.is_some() || is_left()
    }

    /// A count of the ledgers of all finished drills together.
    pub fn count(&self, of: impl Fn(&Ledger) -> u64) -> u64 {
        self.ledgers.iter().map(|one| of(one.ledger)).sum()
    }

    /// Writes that were acknowledged, kept or lost.
    pub fn acknowledged(&self) -> u64 {
        self.count(|ledger| ledger.kept + ledger.lost + ledger.lost_as_warned)
    }

    /// Acknowledged writes that are lost, with and without a warning.
    pub fn lost(&self) -> u64 {
        self.ledgers.iter().map(DrillLedger::lost).sum()
    }

    /// Writes of these that were acknowledged with a warning, or while commits did not wait as the mode says.
    pub fn lost_with_notice(&self) -> u64 {
        self.ledgers.iter().map(|one| one.ledger.lost_as_warned + one.unprotected).sum()
    }

    /// Writes of these that were lost against the promise of the mode.
    pub fn lost_against_promise(&self) -> u64 {
        self.ledgers.iter().map(|one| one.against_promise).sum()
    }

    /// Finished drills that lost an acknowledged write.
    pub fn losing(&self) -> usize {
        self.ledgers.iter().filter(|one| one.lost() > 0).count()
    }

    /// Age at the fault of the oldest acknowledgement that any drill lost, seconds.
    pub fn oldest_lost(&self) -> Option<f64> {
        self.ledgers.iter().filter_map(|one| one.oldest_lost).reduce(f64::max)
    }
}

/// The report of an attempt's drill.
pub fn report_of(attempt: &Attempt) -> Option<&DrillReport> {
    attempt.last_event(|event| match event {
        RunEvent::Drilled(report) => Some(report.as_ref()),
        _ => None,
    })
}

/// Pages of the ledger in the order in which they came.
pub(crate) fn pages(attempt: &Attempt) -> impl Iterator<Item = &LedgerPage> {
    attempt.events.iter().filter_map(|event| match &event.event {
        RunEvent::LedgerPage(page) => Some(page),
        _ => None,
    })
}

/// Whether no acknowledged write may be lost: where the primary stays, or commits wait for a standby. All that a crash leaves here, it leaves
/// in memory too, so that written is as good as flushed.
pub(super) fn promises_none_lost(asked: &DrillAsked, settings: &Settings, facts: &[Fact]) -> bool {
    let mode = replication(settings).ok().flatten().map_or(ReplicationMode::None, |asked| asked.mode);
    mode.waits() || !asked.replaces_the_primary() && has_durable_commits(settings, facts)
}

/// Whether a server's own log has every acknowledged commit after the end of its processes, as the engine said at the start of the run.
fn has_durable_commits(settings: &Settings, facts: &[Fact]) -> bool {
    DURABLE_COMMITS.answer(facts).unwrap_or_else(|| was_durable(settings))
}

/// What studies say of it, for records from before engines said it.
fn was_durable(settings: &Settings) -> bool {
    let is_set = |(name, value): (&str, &str)| {
        settings.get(&format!("engine.settings.{name}")).is_some_and(|set| set.to_string().eq_ignore_ascii_case(value))
    };
    !unlogged_settings().any(is_set)
}

/// Acknowledged writes that an attempt's drill lost though none may be lost; 0 for an attempt without a drill.
pub(crate) fn lost_in_drill(attempt: &Attempt, settings: &Settings) -> u64 {
    verdict::lost_against_promise(attempt, settings)
}

/// Losses of a point's drills against the promise of its mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PointLosses {
    /// Its number.
    pub point: u32,
    /// Acknowledged writes that finished drills lost though none may be lost, void drills included.
    pub lost: u64,
    /// Drills that were begun, may lose none, and have no ledger that tells whether they did.
    pub unknown: usize,
}

/// Losses of each point's drills against the promise of its mode. Empty for a record without drills.
pub fn lost_against_promise(record: &Record) -> Vec<PointLosses> {
    let by_run = record.by_run();
    let mut runs_of: HashMap<u32, Vec<&Run>> = HashMap::new();
    for run in &record.plan.runs {
        runs_of.entry(run.point).or_default().push(run);
    }
    let of_point = |point: u32| {
        let settings = record.plan.settings(&record.study, point);
        let asked = drill(&settings).ok().flatten()?;
        let runs = runs_of.get(&point).into_iter().flatten();
        let attempts: Vec<&Attempt> =
            runs.filter_map(|run| by_run.finished(run.index).or_else(|| by_run.last(run.index))).collect();
        let is_unknown = |attempt: &&&Attempt| verdict::is_loss_unknown(attempt, &asked, &settings);
        let unknown = attempts.iter().filter(is_unknown).count();
        let finished = attempts.iter().filter(|attempt| attempt.state == State::Finished);
        let lost = finished.map(|attempt| verdict::lost_against_promise(attempt, &settings)).sum();
        Some(PointLosses { point, lost, unknown })
    };
    record.plan.points.iter().filter_map(|point| of_point(point.id)).collect()
}

/// Points with drills, in the order of the study; empty for other studies.
pub(super) fn drilled<'r>(
    record: &'r Record,
    by_run: &RunAttempts<'r>,
    points: &[PointFindings],
) -> Vec<DrilledPoint<'r>> {
    points.iter().filter_map(|point| drilled_point(record, by_run, point)).collect()
}

fn drilled_point<'r>(record: &'r Record, by_run: &RunAttempts<'r>, point: &PointFindings) -> Option<DrilledPoint<'r>> {
    let settings = record.plan.settings(&record.study, point.id);
    let asked = drill(&settings).ok().flatten()?;
    let (mut drills, mut aftermath, mut ledgers, mut unread) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for run in &point.runs {
        let Some(attempt) = by_run.finished(run.run.index) else { continue };
        let Some(report) = report_of(attempt) else { continue };
        let after = unprotected(attempt, report, &settings);
        unread += usize::from(report.prober.ledger.unread.is_some());
        ledgers.extend(ledger(report, &after, (&asked, &settings, attempt.facts.as_slice())));
        if run.voids.is_empty() {
            drills.push(DrillOf { run: run.run.index, attempt: run.attempt, report });
            aftermath.push((after, degraded_seconds(attempt, report)));
        }
    }
    Some(DrilledPoint {
        point: point.id,
        fault: asked.fault,
        strength: asked.strength,
        manager: manager(&settings).ok().flatten().map(|asked| asked.kind),
        replaces_the_primary: asked.replaces_the_primary(),
        mode: replication(&settings).ok().flatten().map_or(ReplicationMode::None, |asked| asked.mode),
        promises_none_lost: promises_none_lost(&asked, &settings, facts_of(by_run, point)),
        void: point.runs.len() - drills.len(),
        aftermath,
        drills,
        ledgers,
        unread,
    })
}

/// Facts of the first finished run of a point; all its runs have the same settings.
fn facts_of<'r>(by_run: &RunAttempts<'r>, point: &PointFindings) -> &'r [Fact] {
    let first = point.runs.iter().find_map(|run| by_run.finished(run.run.index));
    first.map_or(&[][..], |attempt| attempt.facts.as_slice())
}

/// The ledger of a drill; `None` where it was not read, so that nothing is known of losses.
fn ledger<'r>(
    report: &'r DrillReport,
    unprotected: &UnprotectedTime,
    (asked, settings, facts): (&DrillAsked, &Settings, &[Fact]),
) -> Option<DrillLedger<'r>> {
    let ledger = &report.prober.ledger;
    let promised = verdict::none_may_be_lost(report, asked, settings, facts);
    ledger.unread.is_none().then(|| DrillLedger {
        ledger,
        unprotected: unprotected.lost,
        against_promise: if promised { ledger.lost.saturating_sub(unprotected.lost) } else { 0 },
        oldest_lost: ledger.oldest_lost.map(|at| report.fault_at - at.as_seconds()),
    })
}

//! What protection buys: the drills of each point with their outages, recoveries and ledgers, and whether a loss breaks a promise.

use super::drill_verdict;
use super::evaluate::Findings;
use super::point::PointFindings;
use super::protection::{UnprotectedTime, degraded_seconds, unprotected};
use super::run::RunFindings;
use proofload_analysis::order_statistics::median;
use proofload_analysis::quantity::{Quantity, Unit};
use proofload_model::drill::{DrillReport, FaultAsked, Outage, ProbeKind, ProbeReport, drill};
use proofload_model::events::RunEvent;
use proofload_model::fault_strength::FaultStrength;
use proofload_model::ledger::LedgerPage;
use proofload_model::manager::{ManagerKind, manager};
use proofload_model::replication::{ReplicationMode, replication};
use proofload_model::settings::Settings;
use proofload_record::{Attempt, Record};

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
    /// What a commit waited for.
    pub mode: ReplicationMode,
    /// Whether no acknowledged write may be lost.
    pub promises_none_lost: bool,
    /// Drills that count, in the order of their runs.
    pub drills: Vec<DrillOf<'r>>,
    /// UnprotectedTime time of each of these drills, and their degraded seconds.
    pub aftermath: Vec<(UnprotectedTime, u64)>,
    /// Drills that are void.
    pub void: usize,
}

/// One drill with its run.
#[derive(Debug, Clone, Copy)]
pub struct DrillOf<'r> {
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

    /// A count of the ledgers of all drills together.
    pub fn count(&self, of: impl Fn(&proofload_model::drill::Ledger) -> u64) -> u64 {
        self.drills.iter().map(|drill| of(&drill.report.prober.ledger)).sum()
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
pub(super) fn promises_none_lost(fault: Option<FaultAsked>, settings: &Settings) -> bool {
    let mode = replication(settings).ok().flatten().map_or(ReplicationMode::None, |asked| asked.mode);
    mode.waits() || !fault.is_some_and(FaultAsked::takes_the_primary)
}

/// Acknowledged writes that finished drills of each point lost though its mode promises that none is, void drills included. Empty for a record
/// without drills.
pub fn lost_against_promise(record: &Record) -> Vec<(u32, u64)> {
    let of_point = |point: u32| {
        let settings = record.plan.settings(&record.study, point);
        drill(&settings).ok().flatten()?;
        let runs = record.plan.runs.iter().filter(|run| run.point == point);
        let attempts = runs.filter_map(|run| record.finished(run.index));
        Some((point, attempts.map(|attempt| drill_verdict::lost_against_promise(attempt, &settings)).sum()))
    };
    record.plan.points.iter().filter_map(|point| of_point(point.id)).collect()
}

/// Points with drills, in the order of the study; empty for other studies.
pub fn drilled<'r>(findings: &Findings<'r>) -> Vec<DrilledPoint<'r>> {
    findings.points.iter().filter_map(|point| drilled_point(findings, point)).collect()
}

fn drilled_point<'r>(findings: &Findings<'r>, point: &PointFindings) -> Option<DrilledPoint<'r>> {
    let settings = findings.record.plan.settings(&findings.record.study, point.id);
    let asked = drill(&settings).ok().flatten()?;
    let counts = |run: &&RunFindings| run.voids.is_empty();
    let of_run = |run: &RunFindings| {
        let report = report_of(findings.record.finished(run.run.index)?)?;
        Some(DrillOf { attempt: run.attempt, report })
    };
    let drills: Vec<DrillOf<'r>> = point.runs.iter().filter(counts).filter_map(of_run).collect();
    Some(DrilledPoint {
        point: point.id,
        fault: asked.fault,
        strength: asked.strength,
        manager: manager(&settings).ok().flatten().map(|asked| asked.kind),
        mode: replication(&settings).ok().flatten().map_or(ReplicationMode::None, |asked| asked.mode),
        promises_none_lost: promises_none_lost(asked.fault, &settings),
        void: point.runs.len() - drills.len(),
        aftermath: drills.iter().filter_map(|drill| aftermath(findings.record, drill, &settings)).collect(),
        drills,
    })
}

fn aftermath(record: &Record, drill: &DrillOf<'_>, settings: &Settings) -> Option<(UnprotectedTime, u64)> {
    let attempt = record.attempts.iter().find(|attempt| attempt.id == drill.attempt)?;
    Some((unprotected(attempt, drill.report, settings), degraded_seconds(attempt, drill.report)))
}

//! All checks of a run, from quiet to quiet.

use super::excuses::excused;
use super::totals::Totals;
use super::{agreement, audit, conditions, conservation, orders, pacing};
use crate::workload::ProgressSink;
use crate::workloads::blocking_session::BlockingSession;
use crate::workloads::tprocc::acknowledged::AcknowledgedOrders;
use crate::workloads::tprocc::dialect::Dialect;
use crate::workloads::tprocc::draw_counts::DrawCounts;
use crate::workloads::tprocc::paced::WaitTally;
use crate::workloads::tprocc::settings::TproccSettings;
use crate::workloads::tprocc::tally::Tally;
use crate::workloads::tprocc::workload_run::CountsBefore;
use proofload_gen::tprocc::inputs::InputSettings;
use proofload_model::error::Error;
use proofload_model::samples::{Check, CheckOutcome, OperationCounts};

/// What the checks know of a run.
pub(in crate::workloads::tprocc) struct Evidence<'r> {
    /// What all users counted.
    pub(in crate::workloads::tprocc) tally: &'r Tally,
    /// What they drew.
    pub(in crate::workloads::tprocc) draws: &'r DrawCounts,
    /// What they drew it by.
    pub(in crate::workloads::tprocc) law: &'r InputSettings,
    /// What the terminals of a paced load waited.
    pub(in crate::workloads::tprocc) waits: &'r WaitTally,
    /// Orders that the database acknowledged.
    pub(in crate::workloads::tprocc) acknowledged: &'r AcknowledgedOrders,
    /// The database before the run.
    pub(in crate::workloads::tprocc) before: Option<&'r CountsBefore>,
    /// The settings of the run.
    pub(in crate::workloads::tprocc) settings: &'r TproccSettings,
    /// The SQL.
    pub(in crate::workloads::tprocc) dialect: &'r Dialect,
    /// What the recorder of latencies counted, by kind.
    pub(in crate::workloads::tprocc) counts: &'r [OperationCounts],
}

/// Every check, those told as not applicable that the profile breaks.
pub(in crate::workloads::tprocc) fn all(
    session: &mut BlockingSession,
    evidence: &Evidence<'_>,
    progress: &ProgressSink,
) -> Result<Vec<Check>, Error> {
    Ok(excused(found(session, evidence, progress)?, &evidence.settings.profile))
}

/// What every check finds, whatever the profile.
pub(in crate::workloads::tprocc) fn found(
    session: &mut BlockingSession,
    evidence: &Evidence<'_>,
    progress: &ProgressSink,
) -> Result<Vec<Check>, Error> {
    let before = evidence
        .before
        .ok_or_else(|| Error::new("the database was not read before the run, so nothing can be compared"))?;
    progress("summing up the database", 0, 0);
    let after = Totals::read(session, evidence.dialect)?;
    let mut checks = conditions::checks(&conditions::examine(session, evidence.dialect, evidence.settings, progress)?);
    checks.extend(conservation::checks(&before.totals, &after, evidence.tally));
    progress("looking for acknowledged orders", 0, 0);
    checks.extend(orders::checks(session, evidence.dialect, before, evidence)?);
    checks.extend(agreement::checks(&before.totals, &after, evidence));
    checks.extend(audit::checks(evidence.tally, evidence.draws, evidence.settings, evidence.law));
    checks.extend(pacing::checks(evidence));
    Ok(checks)
}

/// The checks of a run on an engine that keeps no data: none of the data applies.
pub(in crate::workloads::tprocc) fn without_data(evidence: &Evidence<'_>) -> Vec<Check> {
    let transactions = evidence.tally.transactions();
    let check = |group: &str| Check {
        group: group.to_owned(),
        name: format!("all of {group}"),
        rule: "an engine that keeps data is needed".to_owned(),
        found: format!("the engine keeps no data; {transactions} transactions were answered"),
        outcome: CheckOutcome::NotApplicable,
        offenders: Vec::new(),
        sample: None,
    };
    let of_data = ["consistency", "conservation", "acknowledged", "agreement", "inputs"].map(check);
    of_data.into_iter().chain(pacing::checks(evidence)).collect()
}

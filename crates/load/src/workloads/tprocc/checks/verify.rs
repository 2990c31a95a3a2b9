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

/// Everything that the checks know of a run.
pub(crate) struct Evidence<'r> {
    /// Counts of all users.
    pub(crate) tally: &'r Tally,
    /// Counts of all draws.
    pub(crate) draws: &'r DrawCounts,
    /// Distributions that the inputs were drawn from.
    pub(crate) law: &'r InputSettings,
    /// Waits of the terminals of a paced load.
    pub(crate) waits: &'r WaitTally,
    /// Orders that the database acknowledged.
    pub(crate) acknowledged: &'r AcknowledgedOrders,
    /// The database before the run.
    pub(crate) before: Option<&'r CountsBefore>,
    /// The settings of the run.
    pub(crate) settings: &'r TproccSettings,
    /// The SQL.
    pub(crate) dialect: &'r Dialect,
    /// Counts of the recorder of latencies, by kind.
    pub(crate) counts: &'r [OperationCounts],
}

/// Every check, with those marked as not applicable that the profile breaks.
pub(crate) fn all(
    session: &mut BlockingSession,
    evidence: &Evidence<'_>,
    progress: &ProgressSink,
) -> Result<Vec<Check>, Error> {
    Ok(excused(found(session, evidence, progress)?, &evidence.settings.profile))
}

/// The result of every check, whatever the profile.
pub(crate) fn found(
    session: &mut BlockingSession,
    evidence: &Evidence<'_>,
    progress: &ProgressSink,
) -> Result<Vec<Check>, Error> {
    let before = evidence
        .before
        .ok_or_else(|| Error::new("the database was not read before the run, so nothing can be compared"))?;
    progress("summing up the database", None);
    let after = Totals::read(session, evidence.dialect)?;
    let mut checks = conditions::checks(&conditions::examine(session, evidence.dialect, evidence.settings, progress)?);
    checks.extend(conservation::checks(&before.totals, &after, evidence.tally));
    progress("looking for acknowledged orders", None);
    checks.extend(orders::checks(session, evidence.dialect, before, evidence)?);
    checks.extend(agreement::checks(&before.totals, &after, evidence));
    checks.extend(audit::checks(evidence.tally, evidence.draws, evidence.settings, evidence.law));
    checks.extend(pacing::checks(evidence));
    Ok(checks)
}

/// The checks of a run on an engine that keeps no data: those of the data do not apply.
pub(crate) fn without_data(evidence: &Evidence<'_>) -> Vec<Check> {
    let transactions = evidence.tally.transactions();
    let check = |group: &str| Check {
        group: group.to_owned(),
        name: format!("all of {group}"),
        rule: "needs an engine that stores data".to_owned(),
        found: format!("the engine stores no data; {transactions} transactions were answered"),
        outcome: CheckOutcome::NotApplicable,
        offenders: Vec::new(),
        sample: None,
        lost: None,
    };
    let of_data = ["consistency", "conservation", "acknowledged", "agreement", "inputs"].map(check);
    of_data.into_iter().chain(pacing::checks(evidence)).collect()
}

//! All checks after a run, from what users left and what the database holds.

use super::conservation::{self, Inserts};
use super::{acknowledged, audit, read_back};
use crate::workload::ProgressSink;
use crate::workloads::ycsb::store::{BlockingStore, StoreAccess};
use crate::workloads::ycsb::tally::Tally;
use proofload_gen::ycsb::Plan;
use proofload_model::error::Error;
use proofload_model::samples::{Check, CheckOutcome, OperationCounts};

/// Everything that the checks know of a run.
pub(crate) struct CheckEvidence<'e> {
    pub(crate) plan: &'e Plan,
    pub(crate) tallies: &'e [Tally],
    /// Records before the run; `None` when they were not counted.
    pub(crate) before: Option<u64>,
    pub(crate) counts: &'e [OperationCounts],
}

/// Every check of a run on an engine that keeps data.
pub(crate) fn all(
    access: StoreAccess<'_>,
    evidence: &CheckEvidence<'_>,
    progress: &ProgressSink,
) -> Result<Vec<Check>, Error> {
    let mut checks = without_data(evidence);
    let mut session = BlockingStore::open_for_operations(access)?;
    let inserts = evidence.inserts(access.settings.records);
    progress("counting the records", None);
    let found = session.work(async |store| store.count().await)?;
    checks.push(conservation::check(inserts, found));
    if access.settings.adopted {
        return Ok(checks);
    }
    checks.push(acknowledged::check(&mut session, evidence.plan, evidence.tallies, access.settings.users)?);
    // Records beyond those of the load are found by the users' own acknowledged inserts.
    let read = read_back::run(access, evidence.plan, access.settings.records, progress)?;
    checks.push(of_data(&read));
    checks.push(evidence.reads());
    Ok(checks)
}

/// The checks that need no data.
pub(crate) fn without_data(evidence: &CheckEvidence<'_>) -> Vec<Check> {
    audit::mix(&evidence.plan.settings().mix, evidence.counts)
}

impl CheckEvidence<'_> {
    fn inserts(&self, loaded: u64) -> Inserts {
        let done = self.counts.iter().filter(|counts| counts.kind == "insert").map(|counts| counts.done).sum();
        let unknown = self.tallies.iter().map(|tally| tally.unknown_inserts).sum();
        Inserts { before: self.before.unwrap_or(loaded), acknowledged: done, unknown }
    }

    /// Reads compared while the load ran. Wrong ones are failed operations.
    fn reads(&self) -> Check {
        let checked: u64 = self.tallies.iter().map(|tally| tally.reads_checked).sum();
        Check {
            group: "data".to_owned(),
            name: "reads of the run".to_owned(),
            rule: "every compared read returns what was written; a wrong one counts as a failed operation".to_owned(),
            found: format!("{checked} reads compared byte by byte"),
            outcome: if checked > 0 { CheckOutcome::Met } else { CheckOutcome::NotApplicable },
            offenders: Vec::new(),
            sample: None,
            lost: None,
        }
    }
}

fn of_data(read: &read_back::ReadBack) -> Check {
    Check {
        group: "data".to_owned(),
        name: "records read back".to_owned(),
        rule: "records read after the run contain exactly what was written".to_owned(),
        found: format!("{} of {} are missing or wrong", read.wrong, read.checked),
        outcome: if read.wrong == 0 { CheckOutcome::Met } else { CheckOutcome::Failed },
        offenders: read.offenders.clone(),
        sample: None,
        lost: None,
    }
}

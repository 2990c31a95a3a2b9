//! Agreement: new orders by the database's own counter are those that it acknowledged, and the clients' two counts are
//! one.

use super::totals::Totals;
use super::verify::Evidence;
use crate::workloads::tprocc::paced;
use crate::workloads::tprocc::tally::Tally;
use crate::workloads::tprocc::user::KINDS;
use proofload_gen::tprocc::inputs::Transaction;
use proofload_model::samples::{Check, CheckOutcome};

/// Both agreements.
pub(super) fn checks(before: &Totals, after: &Totals, evidence: &Evidence<'_>) -> Vec<Check> {
    vec![new_orders(before, after, evidence.tally), clients(evidence)]
}

/// Compares the growth of the counter, between instants at which nothing is in flight, with acknowledged New-Orders and
/// those of unknown outcome.
fn new_orders(before: &Totals, after: &Totals, tally: &Tally) -> Check {
    let gained = after.d_next_o_id - before.d_next_o_id;
    let (acknowledged, unknown) = (tally.entered.orders, tally.unknown[Transaction::NewOrder as usize]);
    let range = i128::from(acknowledged)..=i128::from(acknowledged + unknown);
    Check {
        group: "agreement".to_owned(),
        name: "new orders".to_owned(),
        rule: "the sum of d_next_o_id grows by the New-Orders that were acknowledged as committed".to_owned(),
        found: format!("database {gained}, acknowledged {acknowledged}, unknown outcome {unknown}"),
        outcome: if range.contains(&i128::from(gained)) { CheckOutcome::Met } else { CheckOutcome::Failed },
        offenders: Vec::new(),
        sample: None,
        lost: None,
    }
}

/// The recorder of latencies and the users' tallies count the same transactions, each on its own.
fn clients(evidence: &Evidence<'_>) -> Check {
    let Evidence { tally, counts, .. } = evidence;
    let counted = |kind: &str| {
        let of_kind = counts.iter().find(|counts| counts.kind == kind);
        of_kind.map_or(0, |counts| counts.done + counts.rolled_back)
    };
    let is_paced = evidence.settings.paced.is_some();
    let answered = if is_paced { tally.deliveries_queued } else { tally.deliveries };
    let tallied = [tally.new_orders(), tally.payments, tally.order_statuses, answered, tally.stock_levels];
    let deferred = is_paced.then_some((&paced::KINDS[paced::DEFERRED], tally.deliveries));
    let offenders: Vec<String> = KINDS
        .iter()
        .zip(tallied)
        .chain(deferred)
        .filter(|(kind, tallied)| counted(kind) != *tallied)
        .map(|(kind, tallied)| format!("{kind}: recorded {}, tallied {tallied}", counted(kind)))
        .collect();
    Check {
        group: "agreement".to_owned(),
        name: "clients' counts".to_owned(),
        rule: "completed transactions recorded with a latency are those that users tallied, per type".to_owned(),
        found: format!("{} transactions tallied", tally.transactions()),
        outcome: if offenders.is_empty() { CheckOutcome::Met } else { CheckOutcome::Failed },
        offenders,
        sample: None,
        lost: None,
    }
}

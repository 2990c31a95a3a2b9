//! Checks of a paced load: waits were kept (clause 5.2.5.7), queued Deliveries were done (clause 2.7.2).

use super::statistics::normal_p;
use super::verify::Evidence;
use crate::workloads::tprocc::paced::{DEFERRED, KINDS, Waits};
use proofload_gen::tprocc::inputs::Transaction;
use proofload_model::samples::{Check, CheckOutcome, OperationCounts};
use std::time::Duration;

/// Probability below which chance is no explanation; as in the audit of inputs.
const CHANCE: f64 = 1e-6;

/// All checks of the group; empty when the load was saturated.
pub(super) fn checks(evidence: &Evidence<'_>) -> Vec<Check> {
    let Some(paced) = evidence.settings.paced else { return Vec::new() };
    let mut checks = vec![deliveries(evidence)];
    for transaction in Transaction::ALL {
        let place = transaction as usize;
        checks.push(keying(transaction, paced.waits, evidence.waits.keyed[place]));
        checks.push(thinking(transaction, paced.waits, evidence.waits.thought[place]));
    }
    checks
}

fn check(name: String, rule: String, found: String, outcome: CheckOutcome) -> Check {
    Check { group: "pacing".to_owned(), name, rule, found, outcome, offenders: Vec::new(), sample: None, lost: None }
}

/// Every Delivery that was answered has been done.
fn deliveries(evidence: &Evidence<'_>) -> Check {
    let (queued, done) = (evidence.tally.deliveries_queued, evidence.tally.deliveries);
    let failed = |counts: &OperationCounts| if counts.kind == KINDS[DEFERRED] { counts.failed } else { 0 };
    let failed: u64 = evidence.counts.iter().map(failed).sum();
    check(
        "queued deliveries".to_owned(),
        "every queued Delivery was executed by the end of the load".to_owned(),
        format!("{queued} queued, {done} done, {failed} failed"),
        if queued == done { CheckOutcome::Met } else { CheckOutcome::Failed },
    )
}

fn seconds(time: Duration) -> f64 {
    time.as_secs_f64()
}

/// The mean keying time; it is fixed, so nothing is left to chance.
fn keying(transaction: Transaction, waits: Waits, (count, sum): (u64, Duration)) -> Check {
    let least = seconds(waits.keying(transaction));
    let (name, rule) = (format!("keying time of {}", transaction.name()), format!("keying takes at least {least} s"));
    if count == 0 {
        return check(name, rule, "there were none".to_owned(), CheckOutcome::NotApplicable);
    }
    let mean = seconds(sum) / count as f64;
    // A nanosecond for the rounding of the mean.
    let met = mean + 1e-9 >= least;
    let found = format!("{mean:.3} s on average of {count}");
    check(name, rule, found, if met { CheckOutcome::Met } else { CheckOutcome::Failed })
}

/// The mean think time; the standard deviation of one is its mean.
fn thinking(transaction: Transaction, waits: Waits, (count, sum): (u64, Duration)) -> Check {
    let least = seconds(waits.mean_think(transaction));
    let name = format!("think time of {}", transaction.name());
    let rule = format!("think times average at least {least} s");
    if count == 0 {
        return check(name, rule, "there were none".to_owned(), CheckOutcome::NotApplicable);
    }
    let mean = seconds(sum) / count as f64;
    let p = normal_p((mean - least) / (least / (count as f64).sqrt()));
    let outcome = match (mean >= least, p < CHANCE) {
        (true, _) => CheckOutcome::Met,
        (false, false) => CheckOutcome::TooSmall,
        (false, true) => CheckOutcome::Failed,
    };
    check(name, rule, format!("{mean:.3} s on average of {count}, p = {p:.2e} against {least} s"), outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: Waits = Waits { shortened: 1 };

    fn check_thinking(mean_ms: u64, count: u32, expected: CheckOutcome) {
        let sum = Duration::from_millis(mean_ms) * count;
        assert_eq!(thinking(Transaction::NewOrder, FULL, (count.into(), sum)).outcome, expected, "{mean_ms} ms");
    }

    #[test]
    fn short_waits_are_found_and_chance_is_not_blamed() {
        check_thinking(12_000, 100, CheckOutcome::Met);
        check_thinking(11_900, 100, CheckOutcome::TooSmall);
        check_thinking(11_000, 100_000, CheckOutcome::Failed);
        assert_eq!(thinking(Transaction::Payment, FULL, (0, Duration::ZERO)).outcome, CheckOutcome::NotApplicable);
        let keyed = |millis: u64| keying(Transaction::NewOrder, FULL, (3, Duration::from_millis(3 * millis))).outcome;
        assert_eq!((keyed(18_000), keyed(17_999)), (CheckOutcome::Met, CheckOutcome::Failed));
    }
}

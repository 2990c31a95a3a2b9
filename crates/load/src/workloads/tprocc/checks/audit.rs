//! The audit of inputs (clause 9.2.2.5), from what the clients counted. Inputs are never steered towards the limits: a correct
//! generator misses some of them in short runs, so that only what chance does not explain (p < 10⁻⁶) is a failure.

use super::statistics::{binomial_at_most, binomial_p, chi_square_p, normal_p};
use crate::workloads::tprocc::settings::TproccSettings;
use crate::workloads::tprocc::tally::{RemoteDraws, Tally};
use proofload_gen::tprocc::Scale;
use proofload_gen::tprocc::inputs::Transaction;
use proofload_model::samples::{Check, CheckOutcome};
use std::ops::RangeInclusive;

/// Below it chance is no explanation.
const CHANCE: f64 = 1e-6;
/// Expected count per class below which chi-square says nothing.
const LEAST_PER_CLASS: f64 = 5.0;

/// All checks of the group.
pub(super) fn checks(tally: &Tally, settings: &TproccSettings) -> Vec<Check> {
    let lines = tally.orders_by_lines.iter().zip(0_u64..).map(|(orders, lines)| orders * lines).sum();
    let (remote_lines, remote_payments) = (&tally.remote_lines, &tally.remote_payments);
    let several = settings.warehouses > 1;
    let remote = |check: Check| if several { check } else { not_applicable(check, "one warehouse has no remote ones") };
    let mut checks = vec![
        share(
            "rollbacks",
            "New-Orders rolled back by design",
            (tally.rolled_back, tally.new_orders()),
            0.01,
            0.009..=0.011,
        ),
        mean_lines(tally.new_orders(), lines),
        lines_uniform(tally),
        remote(share(
            "remote lines",
            "order lines of another warehouse",
            (remote_lines.count(), lines),
            0.01,
            0.0095..=0.0105,
        )),
        remote(uniform_targets("warehouses of remote lines", remote_lines)),
        remote(share(
            "remote payments",
            "Payments of customers of another warehouse",
            (remote_payments.count(), tally.payments),
            0.15,
            0.14..=0.16,
        )),
        remote(uniform_targets("warehouses of remote payments", remote_payments)),
        share("payments by name", "Payments by last name", (tally.payments_by_name, tally.payments), 0.6, 0.57..=0.63),
        share(
            "order-status by name",
            "Order-Status transactions by last name",
            (tally.order_statuses_by_name, tally.order_statuses),
            0.6,
            0.57..=0.63,
        ),
        skipped_deliveries(tally, settings),
    ];
    checks.extend(mix_floors(tally, settings));
    checks
}

fn check(name: &str, rule: String, found: String, outcome: CheckOutcome) -> Check {
    Check { group: "inputs".to_owned(), name: name.to_owned(), rule, found, outcome, offenders: Vec::new() }
}

fn not_applicable(check: Check, why: &str) -> Check {
    Check { found: why.to_owned(), outcome: CheckOutcome::NotApplicable, ..check }
}

/// Inside the limits; or else what chance says.
fn judge(inside: bool, p: f64) -> CheckOutcome {
    match (inside, p < CHANCE) {
        (true, _) => CheckOutcome::Met,
        (false, false) => CheckOutcome::TooSmall,
        (false, true) => CheckOutcome::Failed,
    }
}

/// A share with its law and limits.
fn share(name: &str, what: &str, (part, whole): (u64, u64), law: f64, limits: RangeInclusive<f64>) -> Check {
    let percent = |share: f64| format!("{:.2} %", share * 100.0);
    let rule = format!("{what} are {} to {}", percent(*limits.start()), percent(*limits.end()));
    if whole == 0 {
        return check(name, rule, "there were none to count".to_owned(), CheckOutcome::NotApplicable);
    }
    let found = part as f64 / whole as f64;
    let p = binomial_p(part, whole, law);
    let text = format!("{} ({part} of {whole}), p = {p:.2e} against {}", percent(found), percent(law));
    check(name, rule, text, judge(limits.contains(&found), p))
}

/// The mean number of lines per order; it is uniform over 5..=15, of variance 10.
fn mean_lines(orders: u64, lines: u64) -> Check {
    let (name, rule) = ("lines per order", "an order has 9.5 to 10.5 lines on average".to_owned());
    if orders == 0 {
        return check(name, rule, "there were no orders".to_owned(), CheckOutcome::NotApplicable);
    }
    let mean = lines as f64 / orders as f64;
    let p = normal_p((mean - 10.0) / (10.0 / orders as f64).sqrt());
    check(
        name,
        rule,
        format!("{mean:.3} over {orders} orders, p = {p:.2e} against 10"),
        judge((9.5..=10.5).contains(&mean), p),
    )
}

fn lines_uniform(tally: &Tally) -> Check {
    let classes: Vec<(f64, f64)> =
        (5..=15).map(|lines| (tally.orders_by_lines[lines] as f64, tally.new_orders() as f64 / 11.0)).collect();
    chi_square("numbers of lines", "orders have 5 to 15 lines, each as often".to_owned(), &classes)
}

/// The warehouses drawn for each home are uniform over the others. Given the draws per home, the statistic is at most
/// chi-square distributed with one degree less than there are classes.
fn uniform_targets(name: &str, draws: &RemoteDraws) -> Check {
    let (all, others) = (draws.count() as f64, draws.by_home.len().saturating_sub(1).max(1) as f64);
    let expected = |home: &u64| (all - *home as f64) / others;
    let classes: Vec<(f64, f64)> =
        draws.by_target.iter().zip(&draws.by_home).map(|(target, home)| (*target as f64, expected(home))).collect();
    chi_square(name, "every other warehouse is drawn as often".to_owned(), &classes)
}

/// Observed and expected counts.
fn chi_square(name: &str, rule: String, classes: &[(f64, f64)]) -> Check {
    let possible: Vec<&(f64, f64)> = classes.iter().filter(|(_, expected)| *expected > 0.0).collect();
    let impossible = classes.iter().any(|(observed, expected)| *expected <= 0.0 && *observed > 0.0);
    let count: f64 = classes.iter().map(|(observed, _)| observed).sum();
    if impossible {
        return check(name, rule, "a class that cannot occur has occurred".to_owned(), CheckOutcome::Failed);
    }
    if possible.iter().any(|(_, expected)| *expected < LEAST_PER_CLASS) || possible.len() < 2 {
        return check(name, rule, format!("{count} draws are too few to tell"), CheckOutcome::TooSmall);
    }
    let statistic: f64 = possible.iter().map(|(observed, expected)| (observed - expected).powi(2) / expected).sum();
    let degrees = possible.len() as u64 - 1;
    let p = chi_square_p(statistic, degrees);
    let found = format!("chi-square {statistic:.1} with {degrees} degrees of freedom over {count} draws, p = {p:.2e}");
    check(name, rule, found, if p < CHANCE { CheckOutcome::Failed } else { CheckOutcome::Met })
}

/// Deliveries that found a queue empty are at most one or 1 % (clause 5.5.1.6).
fn skipped_deliveries(tally: &Tally, settings: &TproccSettings) -> Check {
    let (skipped, all) = (tally.deliveries_with_skips, tally.deliveries);
    let found = format!("{skipped} of {all}");
    let rule = "deliveries that found a district without undelivered orders are at most 1 %, or one".to_owned();
    let met = skipped <= 1 || skipped * 100 <= all;
    let check = check("skipped deliveries", rule, found, if met { CheckOutcome::Met } else { CheckOutcome::Failed });
    if settings.scale == Scale::FULL {
        check
    } else {
        not_applicable(check, "queues of the toy scale run empty by themselves")
    }
}

/// The least shares of clause 5.2.3. A study's own weights below a floor are its departure, not a fault of the run.
fn mix_floors(tally: &Tally, settings: &TproccSettings) -> Vec<Check> {
    let counts = [tally.new_orders(), tally.payments, tally.order_statuses, tally.deliveries, tally.stock_levels];
    let weights = settings.mix.weights();
    let floors = [
        (Transaction::Payment, 0.43),
        (Transaction::OrderStatus, 0.04),
        (Transaction::Delivery, 0.04),
        (Transaction::StockLevel, 0.04),
    ];
    floors
        .into_iter()
        .map(|(transaction, floor)| {
            let place = transaction as usize;
            let law = f64::from(weights.all()[place]) / weights.total() as f64;
            mix_floor(transaction, (counts[place], tally.transactions()), law, floor)
        })
        .collect()
}

fn mix_floor(transaction: Transaction, (part, whole): (u64, u64), law: f64, floor: f64) -> Check {
    let name = format!("mix of {}", transaction.name());
    let rule = format!("{} is at least {:.0} % of all transactions", transaction.name(), floor * 100.0);
    if whole == 0 || law < floor {
        let why = if whole == 0 { "there were no transactions" } else { "the study's own mix has less" };
        return check(&name, rule, why.to_owned(), CheckOutcome::NotApplicable);
    }
    let found = part as f64 / whole as f64;
    let p = binomial_at_most(part, whole, law);
    let text = format!("{:.2} % ({part} of {whole}), p = {p:.2e} against {:.2} %", found * 100.0, law * 100.0);
    check(&name, rule, text, judge(found >= floor, p))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::tprocc::tests::case::toy;

    /// The tally of a generator that draws exactly by the law, 110,000 New-Orders and as many Payments, in 4 warehouses.
    fn lawful() -> Tally {
        let mut tally = Tally::new(4);
        tally.entered.orders = 108_900;
        tally.rolled_back = 1_100;
        tally.orders_by_lines[5..=15].fill(10_000);
        for (draws, count) in [(&mut tally.remote_lines, 2_750), (&mut tally.remote_payments, 4_125)] {
            draws.by_home.fill(count);
            draws.by_target.fill(count);
        }
        (tally.payments, tally.payments_by_name) = (110_000, 66_000);
        (tally.order_statuses, tally.order_statuses_by_name) = (11_000, 6_600);
        (tally.deliveries, tally.stock_levels) = (11_000, 11_000);
        tally
    }

    /// Changes the lawful tally; the checks that do not hold afterwards.
    fn check_broken(change: impl FnOnce(&mut Tally), expected: &[(&str, CheckOutcome)]) {
        let mut tally = lawful();
        change(&mut tally);
        let settings = TproccSettings::read(&toy(&[("warehouses", "4"), ("scale", "full")])).unwrap();
        let checks = checks(&tally, &settings);
        let found: Vec<(&str, CheckOutcome)> = checks
            .iter()
            .filter(|check| check.outcome != CheckOutcome::Met)
            .map(|check| (check.name.as_str(), check.outcome))
            .collect();
        assert_eq!(found, expected, "{checks:#?}");
    }

    #[test]
    fn inputs_by_the_law_are_met_and_others_are_not() {
        use CheckOutcome::{Failed, NotApplicable, TooSmall};
        check_broken(|_| (), &[]);
        // sysbench-tpcc's loop: never a remote line.
        check_broken(
            |tally| tally.remote_lines = Tally::new(4).remote_lines,
            &[("remote lines", Failed), ("warehouses of remote lines", TooSmall)],
        );
        check_broken(|tally| tally.rolled_back = 0, &[("rollbacks", Failed)]);
        check_broken(|tally| tally.rolled_back = 1_216, &[("rollbacks", TooSmall)]);
        check_broken(
            |tally| (tally.orders_by_lines[5], tally.orders_by_lines[15]) = (20_000, 0),
            &[("lines per order", Failed), ("numbers of lines", Failed), ("remote lines", Failed)],
        );
        check_broken(
            |tally| tally.orders_by_lines[9..=11].copy_from_slice(&[0, 30_000, 0]),
            &[("numbers of lines", Failed)],
        );
        // "Another" warehouse that is always the next one of four.
        check_broken(
            |tally| tally.remote_payments.by_target = vec![8_250, 0, 8_250, 0],
            &[("warehouses of remote payments", Failed)],
        );
        check_broken(|tally| tally.payments_by_name = 110_000, &[("payments by name", Failed)]);
        check_broken(|tally| tally.order_statuses_by_name = 0, &[("order-status by name", Failed)]);
        check_broken(|tally| tally.deliveries_with_skips = 200, &[("skipped deliveries", Failed)]);
        check_broken(|tally| tally.stock_levels = 100, &[("mix of Stock-Level", Failed)]);
        check_broken(
            |tally| (tally.order_statuses, tally.order_statuses_by_name) = (0, 0),
            &[("order-status by name", NotApplicable), ("mix of Order-Status", Failed)],
        );
    }
}

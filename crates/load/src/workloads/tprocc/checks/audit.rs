//! The audit of inputs (clause 9.2.2.5), from what the clients counted: shares, numbers of lines, warehouses, the
//! distributions of customers, items and last names, and the mix.

use super::chance::{at_least, check, chi_square, mean_lines, not_applicable, nurand, share};
use crate::workloads::tprocc::draw_counts::DrawCounts;
use crate::workloads::tprocc::settings::TproccSettings;
use crate::workloads::tprocc::tally::{RemoteDraws, Tally};
use proofload_gen::tprocc::inputs::{InputSettings, Transaction};
use proofload_gen::tprocc::{Constants, Scale};
use proofload_model::samples::{Check, CheckOutcome};

/// All checks of the group; `law` is what the inputs were drawn by.
pub(super) fn checks(tally: &Tally, draws: &DrawCounts, settings: &TproccSettings, law: &InputSettings) -> Vec<Check> {
    let mut checks = of_new_orders(tally, settings);
    checks.extend(of_payments(tally, settings));
    checks.push(share(
        "order-status by name",
        "Order-Status transactions by last name",
        (tally.order_statuses_by_name, tally.order_statuses),
        0.6,
        0.57..=0.63,
    ));
    checks.push(constants(law));
    checks.extend(of_distributions(draws, law));
    checks.push(skipped_deliveries(tally, settings));
    checks.extend(mix_floors(tally, settings));
    checks
}

/// Remote warehouses there are only where there are several.
fn remote(settings: &TproccSettings, check: Check) -> Check {
    if settings.warehouses > 1 { check } else { not_applicable(check, "one warehouse has no remote ones") }
}

fn of_new_orders(tally: &Tally, settings: &TproccSettings) -> Vec<Check> {
    let lines = tally.orders_by_lines.iter().zip(0_u64..).map(|(orders, lines)| orders * lines).sum();
    let rolled_back = (tally.rolled_back, tally.new_orders());
    let remote_lines = &tally.remote_lines;
    let share_of_lines = (remote_lines.count(), lines);
    vec![
        share("rollbacks", "New-Orders rolled back by design", rolled_back, 0.01, 0.009..=0.011),
        mean_lines(tally.new_orders(), lines),
        lines_uniform(tally),
        remote(
            settings,
            share("remote lines", "order lines of another warehouse", share_of_lines, 0.01, 0.0095..=0.0105),
        ),
        remote(settings, uniform_targets("warehouses of remote lines", remote_lines)),
    ]
}

fn of_payments(tally: &Tally, settings: &TproccSettings) -> Vec<Check> {
    let what = "Payments of customers of another warehouse";
    let remote_payments = &tally.remote_payments;
    vec![
        remote(settings, share("remote payments", what, (remote_payments.count(), tally.payments), 0.15, 0.14..=0.16)),
        remote(settings, uniform_targets("warehouses of remote payments", remote_payments)),
        share("payments by name", "Payments by last name", (tally.payments_by_name, tally.payments), 0.6, 0.57..=0.63),
    ]
}

/// The constants of last names at load and in the run are apart as clause 2.1.6.1 wants.
fn constants(law: &InputSettings) -> Check {
    let (c_load, c_run) = (law.c_load, law.constants.c_run);
    let met = Constants::is_lawful_pair(c_load, c_run);
    check(
        "constants",
        "C of last names at load and in the run differ by 65 to 119, but not by 96 or 112".to_owned(),
        format!("{} at load, {c_run} in the run", c_load.0),
        if met { CheckOutcome::Met } else { CheckOutcome::Failed },
    )
}

/// The three distributions of NURand (clause 2.1.6), with the constants of the run.
fn of_distributions(draws: &DrawCounts, law: &InputSettings) -> Vec<Check> {
    let (constants, scale) = (&law.constants, &law.scale);
    vec![
        nurand("customer numbers", "customers named by number", &constants.c_ids(scale), &draws.c_ids),
        nurand("last names", "customers named by last name", &constants.last_names(scale), &draws.last_names),
        nurand("items", "items of order lines", &constants.ol_i_ids(scale), &draws.items),
    ]
}

fn lines_uniform(tally: &Tally) -> Check {
    let classes: Vec<(f64, f64)> =
        (5..=15).map(|lines| (tally.orders_by_lines[lines] as f64, tally.new_orders() as f64 / 11.0)).collect();
    chi_square("numbers of lines", "orders have 5 to 15 lines, equally often".to_owned(), &classes, None)
}

/// The warehouses drawn for each home are uniform over the others. Given the draws per home, the statistic is at most
/// chi-square distributed with one degree less than there are classes.
fn uniform_targets(name: &str, draws: &RemoteDraws) -> Check {
    let (all, others) = (draws.count() as f64, draws.by_home.len().saturating_sub(1).max(1) as f64);
    let expected = |home: &u64| (all - *home as f64) / others;
    let classes: Vec<(f64, f64)> =
        draws.by_target.iter().zip(&draws.by_home).map(|(target, home)| (*target as f64, expected(home))).collect();
    chi_square(name, "every other warehouse is drawn equally often".to_owned(), &classes, None)
}

/// Deliveries that found a queue empty are at most one or 1 % (clause 5.5.1.6).
fn skipped_deliveries(tally: &Tally, settings: &TproccSettings) -> Check {
    let (skipped, all) = (tally.deliveries_with_skips, tally.deliveries);
    let found = format!("{skipped} of {all}");
    let rule = "deliveries that found a district without undelivered orders are at most 1 %, or one".to_owned();
    let met = skipped <= 1 || skipped * 100 <= all;
    let check = check("skipped deliveries", rule, found, if met { CheckOutcome::Met } else { CheckOutcome::Failed });
    if settings.scale == Scale::FULL { check } else { not_applicable(check, "queues run empty at the toy scale") }
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
            at_least(
                &format!("mix of {}", transaction.name()),
                transaction.name(),
                (counts[place], tally.transactions()),
                law,
                floor,
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::tprocc::tests::case::toy;
    use proofload_gen::Seed;
    use proofload_gen::tprocc::inputs::{Homes, Input, InputPlan, Mix};
    use proofload_gen::tprocc::{CLoad, Profile};

    /// A study at full scale with four warehouses, and what its inputs are drawn by.
    fn full(seed: u64) -> (TproccSettings, InputSettings) {
        let settings = TproccSettings::read(&toy(&[("warehouses", "4"), ("scale", "full")])).unwrap();
        let (study, scale) = (Seed(seed), Scale::FULL);
        let law = InputSettings {
            seed: study,
            profile: Profile::SPEC,
            scale,
            c_load: CLoad::draw(study, &Profile::SPEC),
            constants: Constants::for_run(study, CLoad::draw(study, &Profile::SPEC), &scale, &Profile::SPEC),
            warehouses: 4,
            users: 4,
            mix: Mix::Deck,
            homes: Homes::Fixed,
        };
        (settings, law)
    }

    /// What clients count of so many inputs of each of four users, all completed.
    fn counted(law: InputSettings, inputs: u32) -> (Tally, DrawCounts) {
        let (mut tally, mut draws) = (Tally::new(law.warehouses), DrawCounts::new(&law.scale));
        let plan = InputPlan::new(law).unwrap();
        for user in 0..4 {
            let mut stream = plan.user(user);
            for _ in 0..inputs {
                match stream.next_input() {
                    Input::NewOrder(input) => {
                        tally.new_order(&input, input.rolls_back);
                        draws.new_order(&input);
                    }
                    Input::Payment(input) => {
                        tally.payment(&input);
                        draws.customer(&input.customer);
                    }
                    Input::OrderStatus(input) => {
                        tally.order_status(&input);
                        draws.customer(&input.customer);
                    }
                    Input::Delivery(_) => tally.deliveries += 1,
                    Input::StockLevel(_) => tally.stock_levels += 1,
                }
            }
        }
        (tally, draws)
    }

    #[test]
    fn the_generator_passes_with_a_hundred_seeds() {
        let mut distributions = 0;
        for seed in 0..100 {
            let (settings, law) = full(seed);
            let (tally, draws) = counted(law, 1_000);
            for check in checks(&tally, &draws, &settings, &law) {
                assert_ne!(check.outcome, CheckOutcome::Failed, "seed {seed}: {check:#?}");
                let is_distribution = ["customer numbers", "last names", "items"].contains(&check.name.as_str());
                distributions += u32::from(is_distribution && check.outcome == CheckOutcome::Met);
            }
        }
        assert_eq!(distributions, 300);
    }

    /// The tally of a generator that draws exactly by the law, 110,000 New-Orders and as many Payments, in 4
    /// warehouses.
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
        let (settings, law) = full(1);
        let (_, draws) = counted(law, 1_000);
        let checks = checks(&tally, &draws, &settings, &law);
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

//! Audits of what was drawn by chance: a share, a mean or a distribution against its law. Inputs are never steered
//! towards the limits: a correct generator misses some of them in short runs, so that only what chance does not explain
//! (p < 10⁻⁶) is a failure.

use super::statistics::{binomial_at_most, binomial_p, chi_square_p, normal_p};
use proofload_gen::tprocc::NuRand;
use proofload_model::samples::{AuditedSample, Check, CheckOutcome};
use std::ops::RangeInclusive;

/// Probability below which chance is no explanation.
const CHANCE: f64 = 1e-6;
/// Expected count per class below which chi-square says nothing.
const LEAST_PER_CLASS: f64 = 5.0;
/// Expected count per class of a distribution with rare numbers, which are taken together up to it: the tail of
/// chi-square is then right to a few per cent of its deviation, down to [`CHANCE`].
const LEAST_TOGETHER: f64 = 10.0;
/// Classes of such a distribution, at most.
const MOST_CLASSES: f64 = 1_000.0;

/// A check without a sample.
pub(super) fn check(name: &str, rule: String, found: String, outcome: CheckOutcome) -> Check {
    Check {
        group: "inputs".to_owned(),
        name: name.to_owned(),
        rule,
        found,
        outcome,
        offenders: Vec::new(),
        sample: None,
        lost: None,
    }
}

/// A check that does not apply, and why.
pub(super) fn not_applicable(check: Check, why: &str) -> Check {
    Check { found: why.to_owned(), outcome: CheckOutcome::NotApplicable, sample: None, ..check }
}

/// Inside the limits; or else what chance says.
fn judge(inside: bool, p: f64) -> CheckOutcome {
    match (inside, p < CHANCE) {
        (true, _) => CheckOutcome::Met,
        (false, false) => CheckOutcome::TooSmall,
        (false, true) => CheckOutcome::Failed,
    }
}

/// Observed figures with sample size and limits.
struct ObservedCounts {
    limits: String,
    n: u64,
    observed: String,
    p: f64,
}

/// A judged check with its sample.
fn judged(name: &str, rule: String, found: String, inside: bool, sample: ObservedCounts) -> Check {
    let ObservedCounts { limits, n, observed, p } = sample;
    let outcome = judge(inside, p);
    let found = match outcome {
        CheckOutcome::TooSmall => format!("{found}: outside, sample too small (n = {n})"),
        _ => found,
    };
    let sample = Some(AuditedSample { limits, n, observed, p: Some(p) });
    Check { sample, ..check(name, rule, found, outcome) }
}

fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

/// A share with its law and limits.
pub(super) fn share(name: &str, what: &str, (part, whole): (u64, u64), law: f64, limits: RangeInclusive<f64>) -> Check {
    let limits_text = format!("{} to {}", percent(*limits.start()), percent(*limits.end()));
    let rule = format!("{what} are {limits_text}");
    if whole == 0 {
        return check(name, rule, "there were none to count".to_owned(), CheckOutcome::NotApplicable);
    }
    let found = part as f64 / whole as f64;
    let p = binomial_p(part, whole, law);
    let text = format!("{} ({part} of {whole}), p = {p:.2e} against {}", percent(found), percent(law));
    let sample = ObservedCounts { limits: limits_text, n: whole, observed: percent(found), p };
    judged(name, rule, text, limits.contains(&found), sample)
}

/// A share that has a floor only; `law` is what the study asks for.
pub(super) fn at_least(name: &str, what: &str, (part, whole): (u64, u64), law: f64, floor: f64) -> Check {
    let limits = format!("at least {:.0} %", floor * 100.0);
    let rule = format!("{what} is {limits} of all transactions");
    if whole == 0 || law < floor {
        let why = if whole == 0 { "there were no transactions" } else { "the study's own mix has a smaller share" };
        return check(name, rule, why.to_owned(), CheckOutcome::NotApplicable);
    }
    let found = part as f64 / whole as f64;
    let p = binomial_at_most(part, whole, law);
    let text = format!("{} ({part} of {whole}), p = {p:.2e} against {}", percent(found), percent(law));
    judged(name, rule, text, found >= floor, ObservedCounts { limits, n: whole, observed: percent(found), p })
}

/// The mean number of lines per order; it is uniform over 5..=15, of variance 10.
pub(super) fn mean_lines(orders: u64, lines: u64) -> Check {
    let (name, rule) = ("lines per order", "an order has 9.5 to 10.5 lines on average".to_owned());
    if orders == 0 {
        return check(name, rule, "there were no orders".to_owned(), CheckOutcome::NotApplicable);
    }
    let mean = lines as f64 / orders as f64;
    let p = normal_p((mean - 10.0) / (10.0 / orders as f64).sqrt());
    let text = format!("{mean:.3} over {orders} orders, p = {p:.2e} against 10");
    let sample = ObservedCounts { limits: "9.5 to 10.5".to_owned(), n: orders, observed: format!("{mean:.3}"), p };
    judged(name, rule, text, (9.5..=10.5).contains(&mean), sample)
}

/// Observed and expected counts of classes; `observed` is what a table shows, the statistic where there is nothing
/// better.
pub(super) fn chi_square(name: &str, rule: String, classes: &[(f64, f64)], observed: Option<String>) -> Check {
    let possible: Vec<&(f64, f64)> = classes.iter().filter(|(_, expected)| *expected > 0.0).collect();
    let impossible = classes.iter().any(|(observed, expected)| *expected <= 0.0 && *observed > 0.0);
    let count: f64 = classes.iter().map(|(observed, _)| observed).sum();
    if impossible {
        return check(name, rule, "an impossible class occurred".to_owned(), CheckOutcome::Failed);
    }
    if possible.iter().any(|(_, expected)| *expected < LEAST_PER_CLASS) || possible.len() < 2 {
        return check(name, rule, format!("{count} draws are too few for a test"), CheckOutcome::TooSmall);
    }
    let statistic: f64 = possible.iter().map(|(observed, expected)| (observed - expected).powi(2) / expected).sum();
    let degrees = possible.len() as u64 - 1;
    let p = chi_square_p(statistic, degrees);
    let words = format!("chi-square {statistic:.1} with {degrees} degrees of freedom");
    let before = observed.as_ref().map(|observed| format!("{observed}; ")).unwrap_or_default();
    let found = format!("{before}{words} over {count} draws, p = {p:.2e}");
    let sample = ObservedCounts {
        limits: format!("p at least {CHANCE:.0e}"),
        n: count as u64,
        observed: observed.map_or_else(|| words.clone(), |observed| format!("{observed}; {words}")),
        p,
    };
    judged(name, rule, found, p >= CHANCE, sample)
}

/// Numbers drawn, from the smallest on, against the exact distribution of their NURand. Rare numbers are taken together
/// in the order of their frequency; which number is how frequent is compared, so that a wrong A, a wrong C and one that
/// changes all show.
pub(super) fn nurand(name: &str, what: &str, law: &NuRand, counts: &[u32]) -> Check {
    let NuRand { a, low, high, .. } = law;
    let rule = format!("{what} follow NURand({a}, {low}, {high})");
    let n: u64 = counts.iter().copied().map(u64::from).sum();
    if n == 0 {
        return check(name, rule, "none were drawn".to_owned(), CheckOutcome::NotApplicable);
    }
    let hottest_first = law.hottest_first();
    let total = hottest_first.iter().map(|(_, pairs)| pairs).sum::<u64>() as f64;
    let count_at = |place: usize| counts.get(place).copied().unwrap_or(0);
    let tenth = &hottest_first[..hottest_first.len() / 10];
    let exact = tenth.iter().map(|(_, pairs)| pairs).sum::<u64>() as f64 / total;
    let share = tenth.iter().map(|(place, _)| u64::from(count_at(*place))).sum::<u64>() as f64 / n as f64;
    let observed = format!("the hottest tenth of them got {}, exact would be {}", percent(share), percent(exact));
    let expected = |pairs: u64| pairs as f64 / total * n as f64;
    let numbers = hottest_first.into_iter().map(|(place, pairs)| (f64::from(count_at(place)), expected(pairs)));
    let classes = together(numbers, n as f64);
    chi_square(name, rule, &classes, Some(observed))
}

/// Neighbours taken together until each class is expected often enough.
fn together(numbers: impl Iterator<Item = (f64, f64)>, n: f64) -> Vec<(f64, f64)> {
    let least = LEAST_TOGETHER.max(n / MOST_CLASSES);
    let mut classes: Vec<(f64, f64)> = Vec::new();
    let mut open = (0.0, 0.0);
    for (observed, expected) in numbers {
        open = (open.0 + observed, open.1 + expected);
        if open.1 >= least {
            classes.push(std::mem::take(&mut open));
        }
    }
    match classes.last_mut() {
        Some(last) => *last = (last.0 + open.0, last.1 + open.1),
        None => classes.push(open),
    }
    classes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_gen::tprocc::Scale;
    use proofload_gen::{Rng, Seed};

    /// The laws of c_id, last names and ol_i_id with constants of some run.
    fn laws() -> [(NuRand, usize); 3] {
        let scale = Scale::FULL;
        [
            (NuRand { a: scale.c_id_a, c: 259, low: 1, high: scale.customers_per_district }, 10_000),
            (NuRand { a: scale.last_name_a, c: 91, low: 0, high: scale.last_names - 1 }, 10_000),
            (NuRand { a: scale.ol_i_id_a, c: 7_911, low: 1, high: scale.items }, 50_000),
        ]
    }

    /// What a generator draws is held against each law.
    fn check_generator(draw: impl Fn(&NuRand, &mut Rng) -> i32, expected: CheckOutcome) {
        for (law, draws) in laws() {
            let mut counts = vec![0; (law.high - law.low + 1) as usize];
            let mut rng = Seed(7).rng();
            for _ in 0..draws {
                counts[(draw(&law, &mut rng) - law.low) as usize] += 1;
            }
            let found = nurand("numbers", "numbers", &law, &counts);
            assert_eq!(found.outcome, expected, "{found:#?}");
            assert_eq!(found.sample.unwrap().n, draws as u64);
        }
    }

    #[test]
    fn a_faulty_generator_of_nurand_is_found() {
        check_generator(NuRand::draw, CheckOutcome::Met);
        let failed = CheckOutcome::Failed;
        check_generator(|law, rng| rng.between(law.low, law.high), failed);
        check_generator(|law, rng| NuRand { a: law.a / 2, ..*law }.draw(rng), failed);
        check_generator(|law, rng| NuRand { a: law.a * 2 + 1, ..*law }.draw(rng), failed);
        check_generator(|law, rng| NuRand { c: law.c + 1, ..*law }.draw(rng), failed);
        // C drawn on every call.
        check_generator(|law, rng| NuRand { c: rng.between(0, law.a), ..*law }.draw(rng), failed);
        // And instead of or.
        check_generator(|law, rng| law.low.max(rng.between(0, law.a) & rng.between(law.low, law.high)), failed);
    }

    /// The exact shares of the hottest tenth; whatever C is, they stay.
    #[test]
    fn exact_shares_are_told() {
        for ((law, _), exact) in laws().into_iter().zip(["61.32", "54.23", "70.98"]) {
            let found = nurand("numbers", "numbers", &law, &vec![1; (law.high - law.low + 1) as usize]);
            let observed = found.sample.unwrap().observed;
            let start = format!("the hottest tenth of them got 10.00 %, exact would be {exact} %; chi-square ");
            assert!(observed.starts_with(&start), "{observed}");
        }
    }

    #[test]
    fn few_draws_tell_nothing_and_no_draws_do_not_apply() {
        let law = laws()[0].0;
        let mut counts = vec![0; 3_000];
        assert_eq!(nurand("numbers", "numbers", &law, &counts).outcome, CheckOutcome::NotApplicable);
        counts[5] = 1;
        assert_eq!(nurand("numbers", "numbers", &law, &counts).outcome, CheckOutcome::TooSmall);
    }

    #[test]
    fn outside_by_chance_says_how_small_the_sample_is() {
        let found = share("rollbacks", "New-Orders rolled back", (13, 1_000), 0.01, 0.009..=0.011);
        assert_eq!(found.outcome, CheckOutcome::TooSmall);
        assert!(found.found.ends_with(": outside, sample too small (n = 1000)"), "{}", found.found);
        let sample = found.sample.unwrap();
        assert_eq!((sample.limits.as_str(), sample.observed.as_str()), ("0.90 % to 1.10 %", "1.30 %"));
    }
}

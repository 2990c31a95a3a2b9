//! What intervals and p values of ratios hold, in seeded simulation, and what ties them together.

use super::super::bootstrap::mean_of;
use super::super::latency::{Latencies, Sparse};
use super::super::random::Random;
use super::*;
use crate::distribution::mean;
use crate::noise::autoregressive;
use hdrhistogram::Histogram;

/// An outcome of several runs whose level scatters by `between` (a share), 30 dependent seconds with 2 % of noise each.
fn outcome(seed: u64, runs: u64, level: f64, between: f64) -> Outcome {
    let mut random = Random::stream(seed, 3);
    let means: Vec<_> = (0..runs)
        .map(|run| {
            let level = level * (1.0 + between * random.normal());
            let noise = autoregressive(seed * 64 + run, 30, 0.5);
            mean_of(&noise.iter().map(|x| level * (1.0 + 0.02 * x)).collect::<Vec<_>>())
        })
        .collect();
    Outcome {
        value: means.iter().map(|mean| mean.value).sum::<f64>() / runs as f64,
        runs: means.iter().map(|mean| mean.value).collect(),
        within: Within::of_mean(&means[0]),
    }
}

/// The 99th percentile of 40 intervals of 200 log-normal times whose level wanders.
fn tail(seed: u64, level: f64) -> Outcome {
    let mut random = Random::stream(seed, 5);
    let intervals: Vec<Sparse> = autoregressive(seed, 40, 0.5)
        .iter()
        .map(|wander| {
            let mut histogram = Histogram::<u64>::new_with_bounds(1, 100_000_000, 3).expect("valid bounds");
            for _ in 0..200 {
                let value = level * (0.1 * wander + 0.5 * random.normal()).exp();
                histogram.record(value as u64).expect("in range");
            }
            Sparse::from_histogram(&histogram)
        })
        .collect();
    let quantile = Latencies::new(&intervals).quantile(0.99).expect("enough intervals");
    let value = quantile.value() as f64;
    Outcome { value, runs: vec![value], within: Ok(Within::Quantile(quantile)) }
}

/// Share of seeds whose p value is at most 5 %, in percent.
fn shown(trials: u64, pair: impl Fn(u64) -> (Outcome, Outcome)) -> f64 {
    let found = (0..trials).filter(|&seed| {
        let (baseline, candidate) = pair(seed);
        Contrast::new(&candidate, &baseline).expect("comparable").p() <= 0.05
    });
    100.0 * found.count() as f64 / trials as f64
}

#[track_caller]
fn check(name: &str, share: f64, expected: std::ops::RangeInclusive<f64>) {
    println!("{name}: {share:.1} %");
    assert!(expected.contains(&share), "{name}: {share:.1} % outside {expected:?}");
}

#[test]
fn equal_systems_are_rarely_told_apart() {
    for (a, b) in [(2, 2), (3, 3), (3, 5), (10, 10)] {
        let pair = |seed| (outcome(seed, a, 100.0, 0.01), outcome(seed + 100_000, b, 100.0, 0.01));
        check(&format!("equal, {a} and {b} runs"), shown(1_000, pair), 1.0..=6.0);
    }
    let pair = |seed| (outcome(seed, 5, 100.0, 0.01), outcome(seed + 100_000, 1, 100.0, 0.01));
    check("equal, 5 runs and 1 run", shown(1_000, pair), 1.0..=6.5);
    let pair = |seed| (outcome(seed, 1, 100.0, 0.0), outcome(seed + 100_000, 1, 100.0, 0.0));
    check("equal, single runs without spread between runs", shown(1_000, pair), 2.0..=7.0);
    let pair = |seed| (tail(seed, 1e6), tail(seed + 100_000, 1e6));
    check("equal, p99 of single runs", shown(400, pair), 1.0..=7.0);
}

/// The reason for the warning that goes with single runs.
#[test]
fn single_runs_do_not_see_the_spread_between_runs() {
    let pair = |seed| (outcome(seed, 1, 100.0, 0.01), outcome(seed + 100_000, 1, 100.0, 0.01));
    check("equal, single runs that scatter by 1 %", shown(1_000, pair), 15.0..=40.0);
}

#[test]
fn ten_percent_are_shown() {
    for (runs, least) in [(2, 40.0), (3, 95.0), (5, 99.0)] {
        let pair = |seed| (outcome(seed, runs, 100.0, 0.01), outcome(seed + 100_000, runs, 110.0, 0.01));
        check(&format!("10 % more, {runs} runs each"), shown(500, pair), least..=100.0);
    }
    let pair = |seed| (tail(seed, 1e6), tail(seed + 100_000, 1.1e6));
    check("p99 10 % longer, single runs of 8,000", shown(200, pair), 30.0..=100.0);
}

#[test]
fn interval_p_value_and_reach_agree() {
    let means = (outcome(1, 3, 100.0, 0.01), outcome(2, 4, 103.0, 0.01));
    for (baseline, candidate) in [means, (tail(3, 1e6), tail(4, 1.12e6))] {
        let contrast = Contrast::new(&candidate, &baseline).expect("comparable");
        let p = contrast.p();
        assert!(p > 1e-9 && p < 1.0, "{p}");
        for (level, out) in [(p * 1.1, true), (p * 0.7, false)] {
            let (low, high) = contrast.bounds(level);
            assert_eq!(low > 1.0 || high < 1.0, out, "level {level}, [{low}, {high}]");
            let (below, above) = contrast.shown_from(level);
            assert_eq!(contrast.ratio() < below || contrast.ratio() > above, out, "level {level}");
        }
        let other = Contrast::new(&baseline, &candidate).expect("comparable");
        assert!((other.ratio() * contrast.ratio() - 1.0).abs() < 1e-12);
        let ((low, high), (other_low, other_high)) = (contrast.bounds(0.05), other.bounds(0.05));
        assert!((low * other_high - 1.0).abs() < 1e-9 && (high * other_low - 1.0).abs() < 1e-9);
        assert!(contrast.p_above(1.0) <= p && contrast.p_below(1.0) == 1.0, "it is larger");
        assert!(contrast.p_above(high * 1.01) == 1.0 || contrast.p_above(high * 1.01) > 0.025);
        assert!(contrast.p_above(low * 0.999) <= 0.0251);
    }
}

#[test]
fn what_cannot_be_compared_says_why() {
    let good = outcome(1, 3, 100.0, 0.01);
    let check = |bad: Outcome, why: &str| {
        assert_eq!(Contrast::new(&good, &bad).err().as_deref(), Some(why));
    };
    check(Outcome { value: 0.0, ..good.clone() }, "a value is not positive");
    check(Outcome { runs: Vec::new(), ..good.clone() }, "no run was completed");
    let lonely = |why: &str| Outcome { runs: vec![1.0], value: 1.0, within: Err(why.to_owned()) };
    let refused = Contrast::new(&lonely("only 8 intervals; at least 10 are needed"), &outcome(2, 1, 1.0, 0.0));
    assert_eq!(refused.err().as_deref(), Some("only 8 intervals; at least 10 are needed"));
    let borrowed = Contrast::new(&lonely("a gap"), &good).expect("the other's spread serves");
    assert_eq!(borrowed.spread, Spread::OfTheOther);
}

/// Two sides measured in turns on a host whose blocks differ by 15 %: coverage of the true ratio, and the interval's width against that of the
/// same runs taken as independent.
#[test]
fn sides_in_turns_are_compared_inside_blocks() {
    let (mut covered, mut told_apart, mut narrower) = (0, 0, 0.0);
    let trials = 600;
    for seed in 0..trials {
        let mut random = Random::stream(seed, 9);
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..8 {
            let block = (0.15 * random.normal()).exp();
            let mut visit = |level: f64| Visit {
                throughput: 1_000.0 * level * block * (0.02 * random.normal()).exp(),
                taken: None,
                ahead: 0.0,
            };
            ours.push(visit(1.0));
            theirs.push(visit(0.9));
        }
        let contrast = Contrast::in_turns(&theirs, &ours).expect("eight blocks");
        let (low, high) = contrast.bounds(0.05);
        covered += usize::from((low..high).contains(&0.9));
        told_apart += usize::from(contrast.p() <= 0.05);
        let apart = |visits: &[Visit]| {
            let runs: Vec<f64> = visits.iter().map(|visit| visit.throughput).collect();
            Outcome { value: mean(&runs), runs, within: Err(String::new()) }
        };
        let (wide_low, wide_high) = Contrast::new(&apart(&theirs), &apart(&ours)).expect("runs").bounds(0.05);
        narrower += (wide_high / wide_low).ln() / (high / low).ln() / trials as f64;
    }
    check("a ratio in turns is covered", 100.0 * covered as f64 / trials as f64, 93.0..=97.0);
    check("ten per cent are shown", 100.0 * told_apart as f64 / trials as f64, 99.0..=100.0);
    assert!(narrower > 5.0, "{narrower}");
    assert!(Contrast::in_turns(&[], &[]).is_err());
}

/// A candidate that was still rising may be faster than its runs say, and not slower.
#[test]
fn what_still_moved_widens_a_ratio_in_turns_on_its_side() {
    let visits = |level: f64, ahead: f64| -> Vec<Visit> {
        (0..6)
            .map(|block| Visit { throughput: level * (1.0 + 0.001 * f64::from(block % 2)), taken: None, ahead })
            .collect()
    };
    // Both vary alike, so that nothing but the movement widens the interval.
    let contrast = |ahead: f64| Contrast::in_turns(&visits(950.0, ahead), &visits(1_000.0, 0.0)).expect("six blocks");
    let (steady, rising, falling) = (contrast(0.0), contrast(0.1), contrast(-0.1));
    let ((low, high), (_, up), (down, _)) = (steady.bounds(0.05), rising.bounds(0.05), falling.bounds(0.05));
    assert!((up / high).ln() > 0.099 && (low / down).ln() > 0.099, "{high} {up} {low} {down}");
    assert!((rising.bounds(0.05).0 / low).ln().abs() < 1e-9, "nothing speaks for a slower one");
    assert!(steady.p() < 0.001 && falling.p() < 0.001, "{} {}", steady.p(), falling.p());
    assert_eq!(rising.p(), 1.0, "five per cent slower, and ten may be to come");
}

//! The published rules on systems that have not settled, beside ours.

use std::time::Duration;

use crate::noise::autoregressive;
use crate::snia::snia;
use proofload_analysis::distribution::{mean, median};
use proofload_analysis::steady::{Rule, judge};

const REPETITIONS: u64 = if cfg!(debug_assertions) { 15 } else { 60 };
const MEASURE: usize = 600;

/// First second at which a rule declares a trace steady.
type Declares = fn(&[f64]) -> Option<usize>;

fn fixed_ramp(_: &[f64]) -> Option<usize> {
    Some(300)
}

/// fio's `iops:10%` over a rolling window of 30 s.
fn largest_deviation(values: &[f64]) -> Option<usize> {
    (30..=values.len()).find(|&now| {
        let window = &values[now - 30..now];
        let centre = mean(window);
        window.iter().all(|x| (x / centre - 1.0).abs() <= 0.10)
    })
}

/// fio's `iops_slope:0.1%` per sample over a rolling window of 60 s.
fn small_slope(values: &[f64]) -> Option<usize> {
    (60..=values.len()).find(|&now| {
        let rise = snia(&values[now - 60..now]).map_or(f64::INFINITY, |found| found.slope);
        rise / 59.0 <= 0.001
    })
}

/// SNIA's 20/10 over five rounds of 60 s.
fn snia_rounds(values: &[f64]) -> Option<usize> {
    let rounds: Vec<f64> = values.chunks_exact(60).map(mean).collect();
    (5..=rounds.len())
        .find(|&now| snia(&rounds[now - 5..now]).is_some_and(|found| found.is_steady()))
        .map(|round| 60 * round)
}

fn ours(values: &[f64]) -> Option<usize> {
    let rule = Rule {
        round: Duration::from_secs(60),
        at_least: Duration::from_secs(300),
        at_most: Duration::from_secs(values.len() as u64),
        measure: Duration::from_secs(MEASURE as u64),
        tolerance: 0.02,
    };
    judge(values, &rule).steady_window().map(|window| window.to)
}

/// (share declared, median declared second, median error of the following 10 minutes), in percent and s.
fn tried(rule: Declares, seconds: usize, shape: fn(f64) -> f64) -> (f64, f64, f64) {
    let (mut at, mut errors) = (Vec::new(), Vec::new());
    for seed in 0..REPETITIONS {
        let noise = autoregressive(seed, seconds, 0.5);
        let values: Vec<f64> = (0..seconds).map(|t| shape(t as f64) * (1.0 + 0.05 * noise[t])).collect();
        if let Some(declared) = rule(&values) {
            let following: Vec<f64> = (declared..declared + MEASURE).map(|t| shape(t as f64)).collect();
            at.push(declared as f64);
            errors.push(100.0 * (mean(&following) - 1.0).abs());
        }
    }
    (100.0 * at.len() as f64 / REPETITIONS as f64, median(&at), median(&errors))
}

#[test]
fn published_rules_declare_what_has_not_settled_and_ours_does_not() {
    let rules: [(&str, Declares); 5] = [
        ("fixed 5 min ramp", fixed_ramp),
        ("fio iops:10%, 30 s", largest_deviation),
        ("fio iops_slope:0.1%, 60 s", small_slope),
        ("SNIA 20/10, 60 s rounds", snia_rounds),
        ("ours", ours),
    ];
    let fast = |t: f64| 1.0 - 0.7 * (-t / 600.0).exp();
    let slow = |t: f64| 1.0 - 0.5 * (-t / 1_800.0).exp();
    let decay = |t: f64| 1.0 - 0.25 * t / 5_400.0;
    for (name, rule) in rules {
        let (fast, slow) = (tried(rule, 5_400, fast), tried(rule, 7_200, slow));
        let (declared, ..) = tried(rule, 5_400, decay);
        println!(
            "{name:<26} tau 10 min: {:>5.0} s {:>4.1} % | tau 30 min: {:>5.0} s {:>4.1} % | decay declared {declared:>3.0} %",
            fast.1, fast.2, slow.1, slow.2
        );
        if name == "ours" {
            assert!(fast.0 >= 90.0 && fast.2 <= 2.0, "{fast:?}");
            assert!(slow.2.is_nan() || slow.2 <= 3.0, "{slow:?}");
            assert!(declared <= 10.0, "{declared}");
        } else {
            assert!(fast.2 >= 5.0 && slow.2 >= 20.0, "{name}: {fast:?} {slow:?}");
            assert!(declared >= 95.0, "{name}: {declared}");
        }
    }
}

//! The detector's manners: when it speaks, what it says, and that it says the same again.

use std::time::Duration;

use super::super::distribution::median;
use super::{Detector, Reason, Rule, Verdict, judge};
use crate::noise::autoregressive;

/// A quick study: warm-up of 10 s to 5 minutes, 30 s of measurement.
fn quick(tolerance: f64) -> Rule {
    Rule {
        round: Duration::from_secs(2),
        at_least: Duration::from_secs(10),
        at_most: Duration::from_secs(300),
        measure: Duration::from_secs(30),
        tolerance,
    }
}

fn noisy(seed: u64, seconds: usize, noise: f64, shape: impl Fn(usize) -> f64) -> Vec<f64> {
    let chance = autoregressive(seed, seconds, 0.5);
    (0..seconds).map(|t| 800.0 * shape(t) * (1.0 + noise * chance[t])).collect()
}

#[test]
fn flat_and_noisy_settles_well_within_the_budget() {
    for (tolerance, typical) in [(0.05, 90.0), (0.02, 180.0)] {
        let declared: Vec<Option<usize>> = (0..100)
            .map(|seed| judge(&noisy(seed, 300, 0.05, |_| 1.0), &quick(tolerance)))
            .map(|verdict| verdict.steady_window().map(|window| window.to))
            .collect();
        let at: Vec<f64> = declared.iter().flatten().map(|&at| at as f64).collect();
        println!("flat, 5 % noise, tolerance {tolerance}: {} of 100 settle, median {} s", at.len(), median(&at));
        assert!(at.len() >= 95 && median(&at) <= typical, "{} settle, median {}", at.len(), median(&at));
    }
}

#[track_caller]
fn check(values: &[f64], expected: &str) {
    let text = match judge(values, &quick(0.05)) {
        Verdict::Steady { window, .. } => format!("steady {}..{}", window.from, window.to),
        Verdict::Lost { at, declared } => format!("lost at {at}, declared {declared}"),
        Verdict::NotSteady { reasons, budget_spent, .. } => {
            let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
            format!("not steady{}: {}", if budget_spent { ", budget spent" } else { "" }, reasons.join("; "))
        }
    };
    assert_eq!(text, expected);
}

#[test]
fn verdicts_and_their_reasons() {
    let quiet = |seconds| noisy(1, seconds, 0.0003, |_| 1.0);
    check(&quiet(4), "not steady: only 4 s of load so far; a verdict needs 20 s");
    check(&quiet(60), "steady 0..20");
    check(&[0.0; 60], "not steady: no operation completed");
    check(&[0.0; 300], "not steady, budget spent: no operation completed");
    let rising = noisy(1, 60, 0.0003, |t| 1.0 + 0.01 * t as f64);
    let refused = judge(&rising, &quick(0.05));
    assert!(
        matches!(&refused, Verdict::NotSteady { reasons, .. } if matches!(reasons[0], Reason::Drifting { .. })),
        "{refused:?}"
    );
    let wild = judge(&noisy(3, 40, 0.3, |_| 1.0), &quick(0.02));
    assert!(matches!(&wild, Verdict::NotSteady { best: Some(_), budget_spent: false, .. }), "{wild:?}");
    let broken = noisy(2, 120, 0.0003, |t| if t < 60 { 1.0 } else { 0.7 });
    check(&broken, "lost at 60, declared 20");
}

#[test]
fn a_gap_is_not_bridged() {
    let mut values = noisy(1, 60, 0.0003, |_| 1.0);
    values[5] = f64::NAN;
    check(&values, "steady 6..26");
    check(&values[..24], "not steady: second 5 is missing from the samples");
}

/// The conductor's call at each second and `verify`'s call on the whole record must agree.
#[test]
fn live_and_afterwards_the_same_window_is_declared() {
    for seed in 0..5 {
        let values = noisy(seed, 300, 0.03, |t| 1.0 - 0.5 * (-(t as f64) / 15.0).exp());
        let rule = quick(0.05);
        let mut detector = Detector::new(rule.clone());
        let live = (1..=300)
            .map(|now| {
                let verdict = detector.update(&values[..now]);
                assert_eq!(verdict, judge(&values[..now], &rule), "second {now}");
                verdict
            })
            .find_map(|verdict| verdict.steady_window())
            .expect("settles");
        let afterwards = judge(&values[..live.to], &rule).steady_window();
        assert_eq!(afterwards, Some(live));
        let later = judge(&values, &rule);
        assert!(later.steady_window().is_none_or(|window| window == live), "{later:?}");
    }
}

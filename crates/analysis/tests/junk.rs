//! Whatever the record holds, analysis answers and never panics: the world's faults are results.

use std::time::Duration;

use proofload_analysis::bootstrap::{mean_of, ratio_of_means};
use proofload_analysis::bottleneck::{Observations, Resource, ResourceKind, rank};
use proofload_analysis::compare::holm;
use proofload_analysis::elasticity::{Level, elasticities};
use proofload_analysis::generator::{GeneratorObservations, check_generator};
use proofload_analysis::hierarchy::mean_of_estimates;
use proofload_analysis::knee;
use proofload_analysis::latency::{Latencies, Sparse};
use proofload_analysis::quantity::{Interval, Quantity, Unit};
use proofload_analysis::random::Random;
use proofload_analysis::steady::{Rule, judge};
use proofload_analysis::validity::{Limits, check_window};

/// A series of up to 80 values of every bad kind.
fn junk(random: &mut Random) -> Vec<f64> {
    let kinds = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 1e300, 1e-300, 5.0, 5.0, 6.0];
    let usable = if random.below(2) == 0 { 3 } else { kinds.len() };
    let length = random.below(80);
    (0..length).map(|_| kinds[kinds.len() - 1 - random.below(usable)]).collect()
}

/// Every quantity is complete: bounds in order, or a reason.
#[track_caller]
fn check(quantity: &Quantity) {
    match quantity.interval() {
        Interval::Known { low, high, .. } => assert!(low <= high && quantity.value().is_finite(), "{quantity}"),
        Interval::None { why } => assert!(!why.is_empty(), "{quantity}"),
    }
    assert!(quantity.to_json().get("n").is_some());
}

#[test]
fn statistics_answer_whatever_they_are_given() {
    let mut random = Random::new(11);
    for _ in 0..400 {
        let (a, b) = (junk(&mut random), junk(&mut random));
        let (x, y) = (mean_of(&a), mean_of(&b));
        check(&x.quantity(Unit::PER_SECOND));
        check(&ratio_of_means(&x, &y));
        check(&mean_of_estimates(&[x, y]).quantity(Unit::RATIO));
        assert_eq!(holm(&a).len(), a.len());
    }
}

#[test]
fn judgements_answer_whatever_they_are_given() {
    let mut random = Random::new(12);
    for _ in 0..400 {
        let (a, b) = (junk(&mut random), junk(&mut random));
        let seconds = |random: &mut Random| Duration::from_secs(random.below(30) as u64);
        let rule = Rule {
            round: seconds(&mut random),
            at_least: seconds(&mut random),
            at_most: seconds(&mut random),
            measure: seconds(&mut random),
            tolerance: 0.02,
        };
        let _ = judge(&a, &rule);
        let period = Some(random.below(30)).filter(|period| *period > 0);
        let limits = Limits { drift_tolerance: 0.02, change_magnitude: 0.05, shortest_segment: 5, period };
        let checked = check_window(&a, &limits);
        checked.drift.iter().for_each(check);
        assert_eq!(checked.is_valid(), checked.voids.is_empty());
        let _ = check_window(&b, &limits);
    }
}

#[test]
fn curves_and_rankings_answer_whatever_they_are_given() {
    let mut random = Random::new(13);
    for seed in 0..150 {
        let (a, b) = (junk(&mut random), junk(&mut random));
        let levels: Vec<Level> = a.iter().zip(&b).take(9).map(|(&r, &x)| Level::without_error(r, x)).collect();
        elasticities(&levels).iter().for_each(|step| check(&step.elasticity));
        let question = knee::Question { unit: Unit::RATIO, within: 0.05, resamples: 5, seed };
        if let Ok(fitted) = knee::fit_knee(&levels, &question) {
            check(&fitted.at);
        }
        let kinds = [
            ResourceKind::Core,
            ResourceKind::Thread,
            ResourceKind::Device,
            ResourceKind::Limit,
            ResourceKind::Pressure,
        ];
        let resources = kinds.map(|kind| Resource { kind, name: "it".to_owned(), utilisation: junk(&mut random) });
        let observed =
            Observations { resources: resources.to_vec(), others: Some(random.normal()), ..Observations::default() };
        rank(&observed).iter().for_each(|candidate| check(&candidate.measure));
        let _ = check_generator(&GeneratorObservations { client_threads: a, ..GeneratorObservations::default() });
    }
    let empty = vec![Sparse::default(); 20];
    for p in [0.0, 0.5, 1.0, f64::NAN] {
        check(&Latencies::new(&empty).percentile(p));
    }
    check(&Latencies::new(&empty).mean());
}

//! P5 replayed: which of its figures follow from which of its others, and which do not.

use super::*;

/// Rounds as printed: half up, to whole numbers.
fn printed(value: f64) -> u64 {
    (value + 0.5).floor() as u64
}

const PHYSICAL: MbPerSecond = MbPerSecond(4_849.0);
const LOGICAL: MbPerSecond = MbPerSecond(6_246.0);

fn rated(layout: &str, queries_per_hour_per_tb: f64) -> ComparableResult {
    ComparableResult {
        layout: layout.to_owned(),
        scale_factor: "1000".to_owned(),
        generator: "P5's own".to_owned(),
        queries: "P5's own".to_owned(),
        queries_per_hour_per_tb,
    }
}

fn baseline(layout: &str, queries_per_hour_per_tb: f64) -> Baseline {
    Baseline { name: "the reference configuration".to_owned(), rated: rated(layout, queries_per_hour_per_tb) }
}

#[test]
fn the_io_throughput_is_the_mean_of_both_scan_rates() {
    let MbPerSecond(mean) = io_average(PHYSICAL, LOGICAL);
    assert_eq!((mean, mean.floor()), (5_547.5, 5_547.0));
    assert_eq!(formula("I/O throughput").unwrap().status, Status::Certain);
}

#[test]
fn the_maximum_follows_only_when_the_reserves_multiply() {
    let RawTerabytes(maximum) = maximum_user_data(12e12, Reserve::PUBLISHED, 5.0);
    assert!((maximum - 40.5).abs() < 1e-9, "{maximum}");
    assert_eq!(printed(maximum), 41);
    let summed = Reserve { free_share: 0.35, temporary_share: 0.0 };
    assert_eq!(printed(maximum_user_data(12e12, summed, 5.0).0), 39);
    assert_eq!(formula("Maximum user data").unwrap().status, Status::Reconstructed);
}

#[test]
fn relative_throughputs_follow_only_under_the_stated_references() {
    let of =
        |layout: &str, own: f64, reference: f64| relative_percent(&rated(layout, own), &baseline(layout, reference));
    assert_eq!(printed(of("rows", 244.0, 130.0).unwrap()), 188);
    assert_eq!(printed(of("columns", 2_365.0, 650.0).unwrap()), 364);
    assert_ne!(printed(of("rows", 244.0, 131.0).unwrap()), 188);
    assert_ne!(printed(of("columns", 2_365.0, 130.0).unwrap()), 364);
    assert_eq!(formula("Relative throughput").unwrap().status, Status::Reconstructed);
}

#[test]
fn no_ratio_connects_unlike_results() {
    let error = relative_percent(&rated("columns", 2_365.0), &baseline("rows", 130.0)).unwrap_err().to_string();
    assert!(error.contains("layout \"columns\" against \"rows\""), "{error}");
    let smaller =
        ComparableResult { scale_factor: "1".to_owned(), generator: "another".to_owned(), ..rated("rows", 244.0) };
    let error = relative_percent(&smaller, &baseline("rows", 130.0)).unwrap_err().to_string();
    assert!(error.contains("scale factor") && error.contains("generator"), "{error}");
    assert!(relative_percent(&rated("rows", 244.0), &baseline("rows", 0.0)).is_err());
}

#[test]
fn the_rated_capacity_has_no_formula() {
    assert_eq!(formula("Rated user data").unwrap().status, Status::NotIdentifiable);
}

#[test]
fn what_follows_from_a_terabyte_and_28_cores() {
    assert_eq!(format!("{:.1}", 100.0 * hit_share(PHYSICAL, LOGICAL)), "22.4");
    let per_core = |rate: MbPerSecond, busy: f64| printed(rate.0 / (28.0 * busy));
    assert_eq!([per_core(PHYSICAL, 1.0), per_core(LOGICAL, 1.0), per_core(LOGICAL, 0.72)], [173, 223, 310]);
    let per_query = |rate: f64, per_hour: f64| rate * 3_600.0 / per_hour / 1e3;
    assert_eq!(format!("{:.1}", per_query(4_849.0, 244.0)), "71.5");
    assert_eq!(format!("{:.1}", per_query(2_182.0, 2_365.0)), "3.3");
    assert_eq!(format!("{:.1}", 2_365.0 / 244.0), "9.7");
}

#[test]
fn divisors_of_nothing_give_no_number() {
    assert!((compression(1_100, 275) - 4.0).abs() < 1e-12 && !compression(1, 0).is_finite());
}

//! Settings that nothing can be drawn from are refused, by name and with what to give instead.

use proofload_gen::ycsb::{Compatibility, KeyChoice, LengthChoice, Mix, Plan, ScanLengths, Settings, Shape};

use crate::support::settings;

#[track_caller]
fn check(settings: Settings, expected: &str) {
    let error = Plan::new(settings).expect_err("the settings are unsound");
    assert_eq!(error.to_string(), expected);
}

fn a() -> Settings {
    settings('a', 1_000)
}

#[test]
fn counts_out_of_range_are_refused() {
    check(Settings { records: 0, ..a() }, "records is 0, but must be 1 to 1000000000000000");
    check(Settings { zero_padding: 65, ..a() }, "zero_padding is 65, but must be 1 to 64");
    let shape = a().shape;
    check(Settings { shape: Shape { fields: 0, ..shape }, ..a() }, "fields is 0, but must be 1 to 1000");
    let short = Shape { length: 11, ..shape };
    check(Settings { shape: short, ..a() }, "length of a value is 11, but must be 12 to 1000000");
    let least = Shape { lengths: LengthChoice::Uniform, least_length: 101, ..shape };
    check(Settings { shape: least, ..a() }, "least length of a value is 101, but must be 12 to 100");
    let scan_lengths = ScanLengths { least: 0, most: 100, choice: LengthChoice::Zipfian };
    check(Settings { scan_lengths, ..a() }, "least length of a scan is 0, but must be 1 to 100");
}

#[test]
fn choices_out_of_range_are_refused() {
    let of = |key_choice| Settings { key_choice, ..a() };
    check(of(KeyChoice::Zipfian { theta: 10.5 }), "theta is 10.5, but must be from 0 to 10");
    check(of(KeyChoice::Latest { theta: f64::NAN }), "theta is NaN, but must be from 0 to 10");
    let hotspot = KeyChoice::Hotspot { set: 20.0, operations: 0.8 };
    check(of(hotspot), "set of the hotspot is 20, but must be a share from 0 to 1");
    let exponential = KeyChoice::Exponential { percentile: 100.0, share: 0.5 };
    check(of(exponential), "percentile of the exponential choice is 100, but must be from 1 to below 100");
    let exponential = KeyChoice::Exponential { percentile: 95.0, share: 0.0 };
    check(of(exponential), "share of the exponential choice is 0, but must be above 0 and at most 1");
}

#[test]
fn what_ycsb_cannot_do_is_refused_in_its_mode() {
    let ycsb = Settings { compatibility: Compatibility::Ycsb, ..a() };
    let skewed = Settings { key_choice: KeyChoice::Zipfian { theta: 1.2 }, ..ycsb };
    check(skewed, "theta of the mode ycsb is 1.2, but must be 0.99, which YCSB has built in");
    let few = Settings { key_choice: KeyChoice::Latest { theta: 0.99 }, records: 3, ..ycsb };
    check(few, "records of latest in the mode ycsb is 3, but must be 4 to 1000000000000000");
    let mix = Mix::preset('d').expect("a preset");
    let many = Settings { mix, expected_operations: 10_000_000_000_000, ..ycsb };
    check(
        many,
        "expected_operations of the mode ycsb is 10000000000000, but must be \
         small enough that inserts stay below 500 times the records",
    );
}

#[test]
fn the_largest_counts_are_taken() {
    for compatibility in [Compatibility::Exact, Compatibility::Ycsb] {
        let records = 1_000_000_000_000_000;
        let settings = Settings { records, expected_operations: u64::MAX, compatibility, ..a() };
        let plan = Plan::new(settings).expect("the settings are sound");
        let keyspace = plan.keyspace();
        assert!((0..1_000).all(|index| plan.operation(index, &keyspace).record < records));
    }
}

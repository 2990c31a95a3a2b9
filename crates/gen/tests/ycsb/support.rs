//! Settings that the tests vary.

use proofload_gen::Seed;
use proofload_gen::ycsb::{
    Compatibility, InsertOrder, KeyChoice, LengthChoice, Mix, Plan, ScanLengths, Settings, Shape,
};

/// The core workload `letter` over `records` records, exact.
pub(crate) fn settings(letter: char, records: u64) -> Settings {
    Settings {
        data_seed: Seed(42),
        input_seed: Seed(42),
        records,
        expected_operations: 0,
        mix: Mix::preset(letter).expect("a preset"),
        shape: Shape { fields: 10, length: 100, lengths: LengthChoice::Constant, least_length: 12 },
        key_choice: KeyChoice::preset(letter).expect("a preset"),
        compatibility: Compatibility::Exact,
        insert_order: InsertOrder::Hashed,
        zero_padding: 1,
        read_all_fields: true,
        write_all_fields: false,
        scan_lengths: ScanLengths { least: 1, most: 100, choice: LengthChoice::Uniform },
    }
}

pub(crate) fn plan(settings: Settings) -> Plan {
    Plan::new(settings).expect("the settings are sound")
}

/// Every choice of keys that both modes know.
pub(crate) fn key_choices() -> [KeyChoice; 6] {
    [
        KeyChoice::Uniform,
        KeyChoice::Zipfian { theta: 0.99 },
        KeyChoice::Latest { theta: 0.99 },
        KeyChoice::Hotspot { set: 0.2, operations: 0.8 },
        KeyChoice::Exponential { percentile: 95.0, share: 0.857_142_857_1 },
        KeyChoice::Sequential,
    ]
}

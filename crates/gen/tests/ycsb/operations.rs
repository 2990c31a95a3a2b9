//! Operations are pure, in their ranges and in their shares.

use proofload_gen::ycsb::{Compatibility, Kind, LengthChoice, Mix, Operation, Plan, ScanLengths, Settings, Shares};

use crate::support::{key_choices, plan, settings};

/// Operation `index` once all before it are acknowledged.
fn operation(plan: &Plan, index: u64) -> Operation {
    let mut keyspace = plan.keyspace();
    keyspace.set(plan.readable_after(index));
    plan.operation(index, &keyspace)
}

#[track_caller]
fn check_preset(letter: char, expected: [u32; 5]) {
    let mix = Mix::preset(letter).expect("a preset");
    assert_eq!(Kind::ALL.map(|kind| mix.millionths(kind)), expected);
}

#[test]
fn presets_are_those_of_the_core_workloads() {
    check_preset('a', [500_000, 500_000, 0, 0, 0]);
    check_preset('b', [950_000, 50_000, 0, 0, 0]);
    check_preset('c', [1_000_000, 0, 0, 0, 0]);
    check_preset('d', [950_000, 0, 50_000, 0, 0]);
    check_preset('e', [0, 0, 50_000, 950_000, 0]);
    check_preset('f', [500_000, 0, 0, 0, 500_000]);
    let error = Mix::preset('g').unwrap_err().to_string();
    assert_eq!(error, "unknown preset \"g\"; known: a, b, c, d, e, f");
}

#[test]
fn shares_are_rounded_to_one() {
    let third = 1.0 / 3.0;
    let mix = Mix::new(&Shares { read: third, update: third, insert: third, ..Shares::NONE }).unwrap();
    assert_eq!(Kind::ALL.map(|kind| mix.millionths(kind)).iter().sum::<u32>(), 1_000_000);
    let error = Mix::new(&Shares { read: 0.5, update: 0.4, ..Shares::NONE }).unwrap_err().to_string();
    assert_eq!(error, "the sum of the shares of operations is 0.9, but must be 1");
    assert!(Mix::new(&Shares { read: 1.5, update: -0.5, ..Shares::NONE }).is_err());
    assert!(Mix::new(&Shares { read: f64::NAN, ..Shares::NONE }).is_err());
}

/// Every mode and choice of keys, with all kinds of operations.
fn all_settings() -> impl Iterator<Item = Settings> {
    let share = Shares { read: 0.3, update: 0.2, insert: 0.1, scan: 0.15, read_modify_write: 0.25 };
    let mix = Mix::new(&share).expect("the shares sum to one");
    [Compatibility::Exact, Compatibility::Ycsb].into_iter().flat_map(move |compatibility| {
        let of = move |key_choice| Settings {
            mix,
            key_choice,
            compatibility,
            expected_operations: 20_000,
            read_all_fields: false,
            ..settings('a', 1_000)
        };
        key_choices().into_iter().map(of)
    })
}

#[test]
fn operations_keep_their_ranges_and_shares() {
    for settings in all_settings() {
        let plan = plan(settings);
        let mut keyspace = plan.keyspace();
        let mut counts = [0_u32; 5];
        for index in 0..20_000 {
            keyspace.set(plan.readable_after(index));
            let operation = plan.operation(index, &keyspace);
            counts[operation.kind as usize] += 1;
            check_operation(&operation, keyspace.records(), &settings);
        }
        for (kind, count) in Kind::ALL.into_iter().zip(counts) {
            let expected = 20_000.0 * settings.mix.share(kind);
            assert!((f64::from(count) - expected).abs() < 5.0 * expected.sqrt(), "{kind:?}: {count} of 20,000");
        }
        assert_eq!(counts[Kind::Insert as usize], 2_000, "inserts are stratified");
    }
}

#[track_caller]
fn check_operation(operation: &Operation, readable: u64, settings: &Settings) {
    let fields = |field: Option<u16>| field.is_some_and(|field| field < settings.shape.fields);
    match operation.kind {
        Kind::Insert => assert_eq!(operation.record, readable, "inserts are dense"),
        Kind::Read | Kind::Scan => assert!(fields(operation.field) && operation.read_field == operation.field),
        Kind::Update => assert!(fields(operation.field) && operation.read_field.is_none()),
        Kind::ReadModifyWrite => assert!(fields(operation.field) && fields(operation.read_field)),
    }
    assert!(operation.kind == Kind::Insert || operation.record < readable, "{operation:?} of {readable}");
    assert_eq!(operation.kind == Kind::Scan, (1..=100).contains(&operation.scan_length), "{operation:?}");
}

/// Operation `index` and, as bytes, its key and what it writes into its field.
fn sent(plan: &Plan, index: u64) -> (Operation, String) {
    let operation = operation(plan, index);
    let mut text = String::new();
    plan.keys().write(operation.record, &mut text);
    let mut value = [0; 100];
    plan.values().fill(operation.record, operation.field.unwrap_or(0), index + 1, &mut value);
    text += str::from_utf8(&value).expect("values are ASCII");
    (operation, text)
}

#[test]
fn eight_clients_in_any_order_send_what_one_sends() {
    for settings in all_settings() {
        let plan = plan(settings);
        let one: Vec<_> = (0..4_000).map(|index| sent(&plan, index)).collect();
        let mut eight = vec![one[0].clone(); 4_000];
        for client in 0..8 {
            let other = Plan::new(*plan.settings()).expect("they were sound before");
            for index in (client * 500..(client + 1) * 500).rev() {
                eight[index as usize] = sent(&other, index);
            }
        }
        assert_eq!(one, eight);
    }
}

#[test]
fn far_indexes_are_as_good_as_near_ones() {
    for settings in all_settings() {
        let plan = plan(Settings { records: 300_000_000, ..settings });
        for start in [1 << 40, 10_000_000_000_000, u64::MAX - 100] {
            let mut keyspace = plan.keyspace();
            keyspace.set(plan.readable_after(start));
            assert!(keyspace.records() > start / 10, "a tenth of the operations are inserts");
            for index in start..start + 100 {
                let operation = plan.operation(index, &keyspace);
                assert_eq!(operation.kind == Kind::Insert, plan.insert_record(index).is_some());
                assert!(operation.kind == Kind::Insert || operation.record < keyspace.records());
            }
        }
    }
}

#[test]
fn scans_have_the_lengths_asked_for() {
    for (choice, expected) in [(LengthChoice::Constant, 60), (LengthChoice::Uniform, 35), (LengthChoice::Zipfian, 21)] {
        let scan_lengths = ScanLengths { least: 10, most: 60, choice };
        let plan = plan(Settings { scan_lengths, mix: Mix::preset('e').unwrap(), ..settings('e', 1_000) });
        let scans = (0..20_000).map(|index| operation(&plan, index)).filter(|scan| scan.kind == Kind::Scan);
        let lengths: Vec<u32> = scans.map(|scan| scan.scan_length).collect();
        assert!(lengths.iter().all(|length| (10..=60).contains(length)));
        let mean = lengths.iter().sum::<u32>() / lengths.len() as u32;
        assert!(mean.abs_diff(expected) <= 1, "{choice:?}: {mean}");
    }
}

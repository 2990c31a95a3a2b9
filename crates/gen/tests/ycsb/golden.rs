//! Golden bytes: what these tests print never changes within a generator version.
//!
//! A change here changes everybody's data and operations: it raises `GENERATOR_VERSION` and belongs under *Results* in
//! the changelog.

use expect_test::{Expect, expect};
use proofload_gen::ycsb::{
    Compatibility, GENERATOR_VERSION, KeyChoice, LengthChoice, Mix, Operation, ScanLengths, Settings, Shape, Shares,
};

use crate::support::{key_choices, plan, settings};

/// FNV-1a of everything that was shown to it.
struct Hash(u64);

impl Hash {
    fn add(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(1_099_511_628_211));
    }

    fn add_operation(&mut self, operation: &Operation) {
        let field = |field: Option<u16>| field.map_or(u64::MAX, u64::from);
        let Operation { kind, record, scan_length, .. } = *operation;
        let (one, other) = (field(operation.field), field(operation.read_field));
        for word in [kind as u64, record, scan_length.into(), one, other] {
            self.add(&word.to_le_bytes());
        }
    }
}

fn of(key_choice: KeyChoice, compatibility: Compatibility) -> Settings {
    let shares = Shares { read: 0.3, update: 0.4, insert: 0.05, scan: 0.05, read_modify_write: 0.2 };
    Settings {
        mix: Mix::new(&shares).expect("the shares sum to one"),
        shape: Shape { fields: 10, length: 100, lengths: LengthChoice::Zipfian, least_length: 20 },
        scan_lengths: ScanLengths { least: 1, most: 100, choice: LengthChoice::Zipfian },
        key_choice,
        compatibility,
        expected_operations: 100_000,
        read_all_fields: false,
        ..settings('a', 100_000)
    }
}

/// A hash of 100,000 operations with their keys and the values that they write.
fn hash(settings: Settings) -> u64 {
    let plan = plan(settings);
    let (keys, values, mut keyspace) = (plan.keys(), plan.values(), plan.keyspace());
    let (mut key, mut value, mut hash) = (String::new(), [0; 100], Hash(0xcbf2_9ce4_8422_2325));
    for index in 0..100_000 {
        keyspace.set(plan.readable_after(index));
        let operation = plan.operation(index, &keyspace);
        let field = operation.field.unwrap_or(0);
        let value = &mut value[..values.length(operation.record, field, index + 1) as usize];
        keys.write(operation.record, &mut key);
        values.fill(operation.record, field, index + 1, value);
        hash.add_operation(&operation);
        hash.add(key.as_bytes());
        hash.add(value);
    }
    hash.0
}

#[test]
fn operations_and_values_of_seed_42() {
    let line = |key_choice, compatibility| {
        format!("{compatibility:?} {key_choice:?} {:016x}\n", hash(of(key_choice, compatibility)))
    };
    let lines: String = [Compatibility::Exact, Compatibility::Ycsb]
        .into_iter()
        .flat_map(|compatibility| key_choices().map(|key_choice| line(key_choice, compatibility)))
        .collect();
    expect![[r#"
        version 1
        Exact Uniform faaedd11f562c1bb
        Exact Zipfian { theta: 0.99 } e5397b3927c6ad3c
        Exact Latest { theta: 0.99 } cd2b50dda4d871b9
        Exact Hotspot { set: 0.2, operations: 0.8 } 2b4e9d9f4cc53cf4
        Exact Exponential { percentile: 95.0, share: 0.8571428571 } 4930ccb0a379548b
        Exact Sequential 32ab7a11f51ab1a0
        Ycsb Uniform 5ba8da29d506b305
        Ycsb Zipfian { theta: 0.99 } aa1c3cea38e7ac79
        Ycsb Latest { theta: 0.99 } 1db471983d237633
        Ycsb Hotspot { set: 0.2, operations: 0.8 } 2c917019fb578586
        Ycsb Exponential { percentile: 95.0, share: 0.8571428571 } aa3c87177c5c2527
        Ycsb Sequential e1f8b924e271e75f
    "#]]
    .assert_eq(&format!("version {GENERATOR_VERSION}\n{lines}"));
}

#[track_caller]
fn check_first(settings: Settings, expected: Expect) {
    let plan = plan(settings);
    let (keys, values, keyspace) = (plan.keys(), plan.values(), plan.keyspace());
    let mut text = String::new();
    for index in 0..5 {
        let operation = plan.operation(index, &keyspace);
        let (mut key, mut value) = (String::new(), [0; 40]);
        keys.write(operation.record, &mut key);
        values.fill(operation.record, operation.field.unwrap_or(0), index + 1, &mut value);
        let value = str::from_utf8(&value).expect("values are ASCII");
        text += &format!("{} {} {key} {:?} {value}\n", operation.kind.name(), operation.record, operation.field);
    }
    expected.assert_eq(&text);
}

#[test]
fn first_operations_of_seed_42() {
    let shape = Shape { fields: 10, length: 40, lengths: LengthChoice::Constant, least_length: 12 };
    check_first(
        Settings { shape, ..settings('a', 300_000_000) },
        expect![[r#"
            update 9622962 user07011241175700240176 Some(7) ........../GFWTSY4T/2iw3rRunNh6FhUzIJOrR
            update 280408002 user06491390098326062411 Some(3) ..........0poJYLU4sRhVRr0/aPTYNc7x412gdm
            update 201566834 user03144488990204092248 Some(1) ..........1K7sJ9rZeaD4IwWhEVpOebHw68SS8S
            update 280408002 user06491390098326062411 Some(7) ..........2rxtPEO2ypW3uEimzaOAEGx5La1b5b
            read 78398146 user02290974196426005197 None ..........3R7xnjZeh1XQq128KSuwtEJVZ4vhNd
        "#]],
    );
    check_first(
        Settings { shape, compatibility: Compatibility::Ycsb, ..settings('d', 1_000) },
        expect![[r#"
            read 859 user6294714185218053021 None ........../UEtXui5Jit6ij09JBQn8m1K/BqQhh
            read 992 user5364654421627300396 None ..........0JjUCbT/cIMF0yMEjP3aq80/pVfb1V
            read 999 user2071219101098386137 None ..........1uqCaCPY67WrUqujetyLpvYxbcEjss
            read 791 user8516755622340668055 None ..........23ZnDbyyb.lrBe4LMglqoQxGYW3eWd
            read 926 user7707045408439829514 None ..........3HTkfT0PN0ISu5k7clqDtBB9159Qk6
        "#]],
    );
}

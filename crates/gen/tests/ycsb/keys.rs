//! Keys: their form in each mode, their order, and that writing one allocates nothing.

use proofload_gen::ycsb::{Compatibility, InsertOrder, Keys, Settings};

use crate::support::{plan, settings};

fn keys(compatibility: Compatibility, insert_order: InsertOrder, zero_padding: u8) -> Keys {
    plan(Settings { compatibility, insert_order, zero_padding, ..settings('a', 1_000) }).keys()
}

fn key(keys: &Keys, record: u64) -> String {
    let mut key = "something longer that was there before, by far".to_owned();
    keys.write(record, &mut key);
    key
}

#[test]
fn keys_have_the_form_of_their_mode() {
    let exact = keys(Compatibility::Exact, InsertOrder::Ordered, 1);
    assert_eq!(key(&exact, 0), "user00000000000000000000");
    assert_eq!(key(&exact, 1_234_567), "user00000000000001234567");
    assert_eq!(key(&exact, u64::MAX), "user18446744073709551615");
    let ycsb = |zero_padding| keys(Compatibility::Ycsb, InsertOrder::Ordered, zero_padding);
    assert_eq!(key(&ycsb(1), 0), "user0");
    assert_eq!(key(&ycsb(1), 10), "user10");
    assert_eq!(key(&ycsb(7), 999), "user0000999");
    assert_eq!(key(&ycsb(3), 12_345), "user12345");
    // Record 0 of any table that YCSB loaded with its defaults.
    assert_eq!(key(&keys(Compatibility::Ycsb, InsertOrder::Hashed, 1), 0), "user6284781860667377211");
    let hashed = keys(Compatibility::Ycsb, InsertOrder::Hashed, 64);
    assert_eq!(key(&hashed, 0).len(), Keys::MOST_CHARACTERS);
}

#[test]
fn hashed_keys_do_not_collide_and_have_one_length() {
    let keys = keys(Compatibility::Exact, InsertOrder::Hashed, 1);
    let mut all: Vec<String> = (0..100_000).map(|record| key(&keys, record)).collect();
    assert!(all.iter().all(|key| key.len() == 24));
    assert!(!all.is_sorted(), "hashed keys are out of order");
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 100_000);
}

#[test]
fn ordered_keys_sort_as_their_records() {
    let keys = keys(Compatibility::Exact, InsertOrder::Ordered, 1);
    assert!((0..100_000).step_by(7).map(|record| key(&keys, record)).is_sorted());
}

#[test]
fn writing_needs_no_more_room_than_it_says() {
    for zero_padding in [1, 20, 64] {
        for compatibility in [Compatibility::Exact, Compatibility::Ycsb] {
            let keys = keys(compatibility, InsertOrder::Hashed, zero_padding);
            let mut key = String::with_capacity(Keys::MOST_CHARACTERS);
            let room = key.capacity();
            (0..1_000).for_each(|record| keys.write(record, &mut key));
            assert_eq!(key.capacity(), room);
        }
    }
}

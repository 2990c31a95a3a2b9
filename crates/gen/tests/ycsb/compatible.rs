//! The mode `ycsb` against YCSB itself: the same random numbers in, the same keys out.
//!
//! `recorded.txt` was recorded with YCSB 0.17.0 (`site.ycsb:core`) on Java 17.0.15, x86-64. For each line that begins
//! with `>`, a `CoreWorkload` was initialised with the properties on it; then the field `threadLocalRandomSeed` of the
//! main thread was set to 42, and `buildKeyName(nextKeynum())` was called a million times. Recorded are the first 100
//! keys and, after every 1,000 keys of the first part and every 10,000 of the others, an FNV-1a hash of all keys so
//! far, each with a line feed. With `inserteach`, which is no property of YCSB's, a record was added and acknowledged
//! after so many keys.

use proofload_gen::ycsb::compatible::{Draws, Exponential, Hotspot, ScrambledZipfian, SkewedLatest, uniform};
use proofload_gen::ycsb::{Compatibility, InsertOrder, Keys, Settings};

use crate::support::{plan, settings};

const DRAWS: usize = 1_000_000;
const LITERAL: usize = 100;

/// Java 17's `ThreadLocalRandom` of the thread with number 1.
///
/// Source: the documentation of `SplittableRandom` for the increment, to which `nextSeed` adds twice the thread's
/// number; the mixing functions are MurmurHash3's finaliser (Appleby, public domain).
struct JavaRandom(u64);

impl JavaRandom {
    fn mixed(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15 + 2);
        let z = (self.0 ^ (self.0 >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        (z ^ (z >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53)
    }

    fn bits(&mut self, count: u32) -> u64 {
        self.mixed() >> (64 - count)
    }
}

impl Draws for JavaRandom {
    fn unit(&mut self) -> f64 {
        let (high, low) = (self.bits(26), self.bits(27));
        (high << 27 | low) as f64 / (1_u64 << 53) as f64
    }

    fn word(&mut self) -> u64 {
        let z = self.mixed();
        z ^ (z >> 33)
    }
}

/// Draws a million keys and compares them with the part of the record that has these properties.
#[track_caller]
fn check(properties: &str, keys: Keys, mut record: impl FnMut(&mut JavaRandom) -> u64) {
    let mut expected = include_str!("recorded.txt").lines().skip_while(|line| *line != properties).skip(1);
    let literal: Vec<&str> = expected.by_ref().take(LITERAL).collect();
    let hashes: Vec<&str> = expected.take_while(|line| !line.starts_with('>')).collect();
    assert!(!hashes.is_empty(), "{properties} was not recorded");
    let step = DRAWS / hashes.len();
    let (mut key, mut random, mut hash) = (String::new(), JavaRandom(42), 0xcbf2_9ce4_8422_2325);
    for draw in 0..DRAWS {
        keys.write(record(&mut random), &mut key);
        assert_eq!(&key, literal.get(draw).unwrap_or(&key.as_str()), "key {draw} of {properties}");
        hash = key.bytes().chain([b'\n']).fold(hash, fnv_step);
        if (draw + 1) % step == 0 {
            assert_eq!(format!("{hash:016x}"), hashes[draw / step], "keys up to {draw} of {properties}");
        }
    }
}

fn fnv_step(hash: u64, octet: u8) -> u64 {
    (hash ^ u64::from(octet)).wrapping_mul(1_099_511_628_211)
}

fn keys(insert_order: InsertOrder, zero_padding: u8) -> Keys {
    let compatibility = Compatibility::Ycsb;
    plan(Settings { compatibility, insert_order, zero_padding, ..settings('a', 1_000) }).keys()
}

#[test]
fn random_numbers_are_those_of_java() {
    let mut random = JavaRandom(42);
    let units = [(); 5].map(|()| random.unit().to_bits());
    let expected = [0x3fec_1f64_c985_397e, 0x3fe2_9e5f_f5b9_ae34, 0x3fe4_7e14_96d1_b98a];
    assert_eq!(units[..3], expected);
    assert_eq!(random.word(), 0x6f5b_efb4_0947_5cdd);
}

#[test]
fn zipfian_keys_of_300_million_records_equal_those_of_ycsb() {
    let zipfian = ScrambledZipfian::new(300_000_001);
    let properties = "> requestdistribution=zipfian recordcount=300000000 operationcount=2000000000";
    check(properties, keys(InsertOrder::Hashed, 1), |random| zipfian.draw_below(300_000_000, random));
}

#[test]
fn zipfian_keys_with_room_for_inserts_equal_those_of_ycsb() {
    let zipfian = ScrambledZipfian::new(100_000 + 100_000 + 1);
    let properties = "> requestdistribution=zipfian recordcount=100000 operationcount=1000000 insertproportion=0.05 \
                      zeropadding=24";
    check(properties, keys(InsertOrder::Hashed, 24), |random| zipfian.draw_below(100_000, random));
}

#[test]
fn latest_keys_equal_those_of_ycsb() {
    let latest = SkewedLatest::new(100_000);
    let properties = "> requestdistribution=latest recordcount=100000 operationcount=1000";
    check(properties, keys(InsertOrder::Hashed, 1), |random| latest.draw(random));
}

#[test]
fn latest_keys_of_100_million_records_equal_those_of_ycsb() {
    let latest = SkewedLatest::new(100_000_000);
    let properties = "> requestdistribution=latest recordcount=100000000 operationcount=1000";
    check(properties, keys(InsertOrder::Hashed, 1), |random| latest.draw(random));
}

#[test]
fn latest_keys_of_growing_records_equal_those_of_ycsb() {
    let (mut latest, mut draws) = (SkewedLatest::new(1_000), 0);
    let properties = "> requestdistribution=latest recordcount=1000 operationcount=1000 inserteach=10";
    check(properties, keys(InsertOrder::Hashed, 1), |random| {
        latest.set_records(1_000 + draws / 10);
        draws += 1;
        latest.draw(random)
    });
}

#[test]
fn uniform_keys_equal_those_of_ycsb() {
    let properties = "> requestdistribution=uniform recordcount=300000000 operationcount=1000 insertorder=ordered";
    check(properties, keys(InsertOrder::Ordered, 1), |random| uniform(300_000_000, random));
}

#[test]
fn hotspot_keys_equal_those_of_ycsb() {
    let hotspot = Hotspot::new(300_000_000, 0.2, 0.8);
    let properties = "> requestdistribution=hotspot recordcount=300000000 operationcount=1000 \
                      hotspotdatafraction=0.2 hotspotopnfraction=0.8";
    check(properties, keys(InsertOrder::Hashed, 1), |random| hotspot.draw(random));
}

#[test]
fn exponential_keys_equal_those_of_ycsb() {
    let exponential = Exponential::new(300_000_000, 95.0, 0.857_142_857_1);
    let properties = "> requestdistribution=exponential recordcount=300000000 operationcount=1000 \
                      exponential.percentile=95 exponential.frac=0.8571428571";
    check(properties, keys(InsertOrder::Hashed, 1), |random| exponential.draw_below(300_000_000, random));
}

#[test]
fn exponential_keys_of_growing_records_equal_those_of_ycsb() {
    let (exponential, mut draws) = (Exponential::new(1_000, 95.0, 0.857_142_857_1), 0);
    let properties = "> requestdistribution=exponential recordcount=1000 operationcount=1000 inserteach=10";
    check(properties, keys(InsertOrder::Hashed, 1), |random| {
        draws += 1;
        exponential.draw_below(1_000 + (draws - 1) / 10, random)
    });
}

#[test]
fn sequential_keys_equal_those_of_ycsb() {
    let mut turn = 0;
    let properties = "> requestdistribution=sequential recordcount=100003 operationcount=1000 insertorder=ordered \
                      zeropadding=10";
    check(properties, keys(InsertOrder::Ordered, 10), |_| {
        turn += 1;
        (turn - 1) % 100_003
    });
}

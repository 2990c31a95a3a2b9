//! The plan: points in order, expanded from a study. Pure and seeded: same study, seed and version give a byte-equal plan.

use crate::settings::{Settings, Value};
use crate::study::Study;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One combination of levels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Number, from 0, in the order of the levels in the file (the last factor varies fastest).
    pub id: u32,
    /// Level of each factor.
    pub levels: BTreeMap<String, Value>,
}

/// One run of one point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Place in the order of execution, from 0.
    pub index: u32,
    /// Which point.
    pub point: u32,
    /// Which repetition of it, from 0. Sentinel runs count on after the study's repetitions.
    pub repetition: u32,
    /// Is it a sentinel: the same point again and again, to see drift of the testbed?
    pub sentinel: bool,
    /// Seed of the run's inputs.
    pub seed: u64,
}

/// What will be done, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Points by id.
    pub points: Vec<Point>,
    /// Runs in order.
    pub runs: Vec<Run>,
}

impl Plan {
    /// All settings of a point.
    pub fn settings(&self, study: &Study, point: u32) -> Settings {
        study.settings.with(&self.points[point as usize].levels)
    }
}

/// Expands a study.
pub fn expand(study: &Study) -> Plan {
    let points = product(study);
    let shuffled = study.settings.text("study.order") != Ok("given");
    let sentinel_every = study.settings.count("study.sentinel_every").ok();
    let mut runs: Vec<Run> = Vec::new();
    let mut sentinels = 0;
    for repetition in 0..study.repetitions() {
        let mut order: Vec<u32> = points.iter().map(|point| point.id).collect();
        if shuffled {
            shuffle(&mut order, mix(study.seed(), u64::from(repetition)));
        }
        for point in order {
            push(&mut runs, study, point, repetition, false);
            let ordinary = runs.len() as u32 - sentinels;
            if sentinel_every.is_some_and(|every| ordinary.is_multiple_of(every)) {
                let first = runs[0].point;
                push(&mut runs, study, first, study.repetitions() + sentinels, true);
                sentinels += 1;
            }
        }
    }
    Plan { points, runs }
}

/// Adds one run.
fn push(runs: &mut Vec<Run>, study: &Study, point: u32, repetition: u32, sentinel: bool) {
    let seed = mix(mix(study.seed(), u64::from(point) + 1), u64::from(repetition) + 1);
    runs.push(Run { index: u32::try_from(runs.len()).unwrap_or(u32::MAX), point, repetition, sentinel, seed });
}

/// The product of all factors; one point without levels when there is none.
fn product(study: &Study) -> Vec<Point> {
    let mut combinations = vec![BTreeMap::new()];
    for factor in &study.factors {
        let extended = combinations.iter().flat_map(|levels| {
            factor.levels.iter().map(|level| {
                let mut more = levels.clone();
                more.insert(factor.setting.clone(), level.clone());
                more
            })
        });
        combinations = extended.collect();
    }
    combinations
        .into_iter()
        .enumerate()
        .map(|(id, levels)| Point { id: u32::try_from(id).unwrap_or(u32::MAX), levels })
        .collect()
}

/// Fisher-Yates with a counter-based generator.
fn shuffle(items: &mut [u32], seed: u64) {
    for last in (1..items.len()).rev() {
        let chosen = mix(seed, last as u64) % (last as u64 + 1);
        items.swap(last, usize::try_from(chosen).unwrap_or(0));
    }
}

/// Derives a number from two (finaliser of `SplitMix64`: Steele, Lea and Flood, OOPSLA 2014).
fn mix(seed: u64, salt: u64) -> u64 {
    let mut state = seed.wrapping_add(salt.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_add(0x9E37_79B9_7F4A_7C15);
    state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ (state >> 31)
}

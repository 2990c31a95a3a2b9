//! Elasticity of a result to each resource, from visits in blocks. A visit is one draw, however many seconds it holds.

use crate::blocks::{Effect, LEAST_FREEDOM, log_left};
use crate::distribution::{mean, student_quantile, variance};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// Rounds in which means of blocks and of treatments are removed in turn; far more than a design with dropped knobs takes.
const ROUNDS: usize = 60;

/// Smallest one-sided probability that is told apart from 0.
const SMALLEST_P: f64 = 1e-9;

/// Movement of the untouched point over the blocks from which on nothing is attributed, where it is shown. The noise of blocks alone moves the
/// line further in three of ten experiments of 12 blocks that vary by 10 %, and in half of those with 3: to void them all would leave shared
/// hosts without an answer. Elasticities are formed inside blocks, which such noise does not bias. So a movement that is not shown is told
/// with its interval, and voids nothing.
const MOVED: f64 = 0.10;

/// What a visit changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Treatment {
    /// Nothing: the untouched point.
    Reference,
    /// One resource, by its number.
    Knob(usize),
    /// Every resource with the unit of a rate or a time but this one.
    AllBut(usize),
    /// More of one resource, by its number: its elasticity upward says what more of it gives.
    Raised(usize),
}

/// One visit of a complete block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnobVisit {
    /// Number of the block.
    pub block: u32,
    /// What was changed.
    pub treatment: Treatment,
    /// Result of the visit, positive: throughput, or a percentile of response time.
    pub value: f64,
    /// Share of the processor that others took, 0 to 1; `None` where not observed.
    pub taken: Option<f64>,
    /// ln of the resource in force over that of the untouched point; 0 for a reference.
    pub step: f64,
}

/// Elasticity of a result to one resource, or a sum of such.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnobElasticity {
    /// Its estimate.
    pub value: f64,
    /// Standard error.
    pub error: f64,
    /// Degrees of freedom of the error.
    pub freedom: f64,
    /// Blocks behind it.
    pub blocks: usize,
}

impl KnobElasticity {
    /// Bounds of the two-sided interval that leaves out this share.
    pub fn bounds(&self, left_out: f64) -> (f64, f64) {
        let half = student_quantile(1.0 - left_out / 2.0, self.freedom) * self.error;
        (self.value - half, self.value + half)
    }

    /// One-sided probability of such an estimate if the elasticity were at most this.
    pub fn p_above(&self, limit: f64) -> f64 {
        let distance = self.value - limit;
        if distance <= 0.0 {
            return 1.0;
        }
        let (mut low, mut high) = (SMALLEST_P.ln(), 0.5_f64.ln());
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            let is_told = distance > student_quantile(1.0 - middle.exp(), self.freedom) * self.error;
            if is_told { high = middle } else { low = middle }
        }
        high.exp()
    }

    /// What is left of 1.
    #[must_use]
    pub fn rest(self) -> Self {
        Self { value: 1.0 - self.value, ..self }
    }
}

/// How far the untouched point moved from the first block to the last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Movement {
    /// Share, signed.
    pub share: f64,
    /// Bounds of its 95 % interval.
    pub bounds: (f64, f64),
    /// Whether it is larger than a tenth, and shown.
    pub is_moved: bool,
}

impl Movement {
    /// Tells whether it is larger than a tenth, but not told from the noise of blocks.
    pub fn is_open(&self) -> bool {
        !self.is_moved && self.size() > MOVED
    }

    /// Size of the ln, whatever its sign.
    pub fn size(&self) -> f64 {
        self.share.ln_1p().abs()
    }
}

/// Visits of complete blocks, freed of what others took of the processor.
#[derive(Clone, Debug)]
pub struct Experiment {
    visits: Vec<KnobVisit>,
    /// ln of each visit's value, corrected.
    logs: Vec<f64>,
    /// ln of what others left in each visit.
    left: Vec<f64>,
    effect: Option<Effect>,
}

impl Experiment {
    /// Takes visits of complete blocks; those without a positive value void their block. `powers`: between which the result may follow
    /// what others leave of the processor.
    pub fn of(visits: &[KnobVisit], powers: &RangeInclusive<f64>) -> Self {
        let is_sound = |visit: &KnobVisit| visit.value > 0.0 && visit.value.is_finite() && visit.step.is_finite();
        let lost: BTreeSet<u32> = visits.iter().filter(|visit| !is_sound(visit)).map(|visit| visit.block).collect();
        let visits: Vec<KnobVisit> = visits.iter().filter(|visit| !lost.contains(&visit.block)).copied().collect();
        let mut logs: Vec<f64> = visits.iter().map(|visit| visit.value.ln()).collect();
        let left: Vec<f64> = visits.iter().map(|visit| log_left(visit.taken)).collect();
        let is_observed = visits.iter().all(|visit| visit.taken.is_some());
        let effect = if is_observed { effect(&visits, &logs, &left, powers) } else { None };
        let centre = mean(&left);
        let power = effect.map_or(0.0, |effect| effect.power);
        logs.iter_mut().zip(&left).for_each(|(log, left)| *log -= power * (left - centre));
        Self { visits, logs, left, effect }
    }

    /// Number of complete blocks.
    pub fn blocks(&self) -> usize {
        self.of_block(Treatment::Reference, &self.logs).len()
    }

    /// Elasticity of the result to what a treatment changed; `None` with fewer than two blocks, or without a step.
    pub fn elasticity(&self, treatment: Treatment) -> Option<KnobElasticity> {
        self.sum(&[treatment])
    }

    /// Mean over blocks of elasticities, with that of the covariate beside each.
    fn mean_of(&self, blocks: &[(f64, f64)]) -> Option<KnobElasticity> {
        let values: Vec<f64> = blocks.iter().map(|(value, _)| *value).collect();
        if values.len() < 2 || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let covariate = mean(&blocks.iter().map(|(_, covariate)| *covariate).collect::<Vec<_>>());
        let error = (variance(&values) / values.len() as f64 + self.error_of_effect(covariate)).sqrt();
        Some(KnobElasticity { value: mean(&values), error, freedom: values.len() as f64 - 1.0, blocks: values.len() })
    }

    /// Sum of the elasticities to what some treatments changed, over the blocks that visited all of them: they share references, so the
    /// sum is taken inside blocks. A resource and the joint visit of all others add up to what was changed at all.
    pub fn sum(&self, treatments: &[Treatment]) -> Option<KnobElasticity> {
        let each: Vec<BTreeMap<u32, (f64, f64)>> = treatments.iter().map(|one| self.ratios(*one)).collect();
        let first = each.first()?;
        let common = first.keys().filter(|block| each.iter().all(|ratios| ratios.contains_key(block)));
        let of_block = |block: &u32| {
            each.iter()
                .filter_map(|ratios| ratios.get(block))
                .fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
        };
        self.mean_of(&common.map(of_block).collect::<Vec<_>>())
    }

    /// Coefficient of variation of a visit of the untouched point, what is common to a block removed; `None` with too few.
    pub fn spread(&self) -> Option<f64> {
        let pairs: Vec<Vec<f64>> =
            self.of_block(Treatment::Reference, &self.logs).into_values().filter(|logs| logs.len() >= 2).collect();
        let within: Vec<f64> = pairs.iter().map(|logs| variance(logs)).collect();
        (!within.is_empty()).then(|| mean(&within).sqrt())
    }

    /// Movement of the untouched point, by a straight line over the blocks; `None` with fewer than three.
    pub fn movement(&self) -> Option<Movement> {
        let of_block: Vec<f64> =
            self.of_block(Treatment::Reference, &self.logs).values().map(|logs| mean(logs)).collect();
        let count = of_block.len();
        if count < 3 {
            return None;
        }
        let centre = (count as f64 - 1.0) / 2.0;
        let places = (0..count).map(|place| place as f64 - centre);
        let squares: f64 = places.clone().map(|place| place * place).sum();
        let slope = places.clone().zip(&of_block).map(|(place, log)| place * log).sum::<f64>() / squares;
        let level = mean(&of_block);
        let residual: f64 = places.zip(&of_block).map(|(place, log)| (log - level - slope * place).powi(2)).sum();
        let freedom = count as f64 - 2.0;
        let span = count as f64 - 1.0;
        let half = student_quantile(0.975, freedom) * (residual / freedom / squares).sqrt() * span;
        let moved = slope * span;
        Some(Movement {
            share: moved.exp_m1(),
            bounds: ((moved - half).exp_m1(), (moved + half).exp_m1()),
            is_moved: moved.abs() > MOVED && moved.abs() > half,
        })
    }

    /// Geometric mean of the untouched point; `None` without one.
    pub fn reference(&self) -> Option<f64> {
        let logs: Vec<f64> = self.of_block(Treatment::Reference, &self.logs).into_values().flatten().collect();
        (!logs.is_empty()).then(|| mean(&logs).exp())
    }

    /// How the result follows what others leave of the processor; `None` where that was not observed or hardly varied.
    pub fn effect(&self) -> Option<Effect> {
        self.effect
    }

    /// Pairs by block: ln of a treatment over the block's references per step, and the same of the covariate.
    fn ratios(&self, treatment: Treatment) -> BTreeMap<u32, (f64, f64)> {
        let references = self.of_block(Treatment::Reference, &self.logs);
        let left_of_references = self.of_block(Treatment::Reference, &self.left);
        let own = self.visits.iter().zip(self.logs.iter().zip(&self.left));
        own.filter(|(visit, _)| visit.treatment == treatment && visit.step != 0.0)
            .filter_map(|(visit, (log, left))| {
                let reference = mean(references.get(&visit.block)?);
                let left_there = mean(left_of_references.get(&visit.block)?);
                Some((visit.block, ((log - reference) / visit.step, (left - left_there) / visit.step)))
            })
            .collect()
    }

    fn of_block(&self, treatment: Treatment, values: &[f64]) -> BTreeMap<u32, Vec<f64>> {
        let mut found: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for (visit, value) in self.visits.iter().zip(values).filter(|(visit, _)| visit.treatment == treatment) {
            found.entry(visit.block).or_default().push(*value);
        }
        found
    }

    /// Squared error that the correction adds where two means differ by this much in the covariate.
    fn error_of_effect(&self, difference: f64) -> f64 {
        self.effect.map_or(0.0, |effect| (effect.standard_error * difference).powi(2))
    }
}

/// Least squares of ln(result) on ln(what others leave), with a mean for each block and each treatment removed from both.
fn effect(visits: &[KnobVisit], logs: &[f64], left: &[f64], powers: &RangeInclusive<f64>) -> Option<Effect> {
    let count = |key: fn(&KnobVisit) -> (u32, Option<Treatment>)| visits.iter().map(key).collect::<BTreeSet<_>>().len();
    let groups = count(|visit| (visit.block, None)) + count(|visit| (0, Some(visit.treatment)));
    let freedom = visits.len().checked_sub(groups).filter(|freedom| *freedom >= LEAST_FREEDOM)?;
    Effect::of((&without_means(visits, left), &without_means(visits, logs)), freedom, powers)
}

/// Values without the means of their block and of their treatment: by turns, since dropped knobs leave the design unbalanced.
fn without_means(visits: &[KnobVisit], values: &[f64]) -> Vec<f64> {
    let mut rest = values.to_vec();
    for _ in 0..ROUNDS {
        remove_means(visits, &mut rest, |visit| (visit.block, None));
        remove_means(visits, &mut rest, |visit| (0, Some(visit.treatment)));
    }
    rest
}

fn remove_means(visits: &[KnobVisit], rest: &mut [f64], key: impl Fn(&KnobVisit) -> (u32, Option<Treatment>)) {
    let mut sums: BTreeMap<(u32, Option<Treatment>), (f64, f64)> = BTreeMap::new();
    for (visit, value) in visits.iter().zip(rest.iter()) {
        let (sum, count) = sums.entry(key(visit)).or_default();
        *sum += value;
        *count += 1.0;
    }
    for (visit, value) in visits.iter().zip(rest.iter_mut()) {
        let (sum, count) = sums[&key(visit)];
        *value -= sum / count;
    }
}

//! Shapes of throughput without noise, and the level in the long run of each.

use super::library::log_uniform;
use crate::random::Random;

/// Throughput per second without noise, and its mean in the long run; of one that moves, its level at the end of the load or
/// that to which it tends.
pub(super) struct Shape {
    pub(super) seconds: Vec<f64>,
    pub(super) level: f64,
}

impl Shape {
    pub(super) fn flat(length: usize) -> Self {
        Self { seconds: vec![1.0; length], level: 1.0 }
    }

    pub(super) fn of(length: usize, level: f64, at: impl Fn(f64) -> f64) -> Self {
        Self { seconds: (0..length).map(|second| at(second as f64)).collect(), level }
    }

    /// A level of 1, lower by `depth` from second `from` to second `to`; seconds that straddle an end in part.
    pub(super) fn lower(&mut self, from: f64, to: f64, depth: f64) {
        let first = from.max(0.0) as usize;
        for (second, y) in self.seconds.iter_mut().enumerate().skip(first).take((to - from).max(0.0) as usize + 2) {
            let inside = to.min(second as f64 + 1.0) - from.max(second as f64);
            *y -= depth * inside.max(0.0);
        }
    }
}

pub(super) fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * random.uniform()
}

/// Exponentially distributed.
pub(super) fn waiting(random: &mut Random, mean: f64) -> f64 {
    -mean * random.uniform().max(1e-12).ln()
}

pub(super) fn periodic_stalls(random: &mut Random, length: usize) -> Shape {
    let period = between(random, 4.0, length as f64 / 10.0);
    let stall = between(random, 1.0, (period / 3.0).max(1.2));
    stalls(random, length, period, stall)
}

/// Stalls of `stall` seconds at a fixed period, from a random phase on.
fn stalls(random: &mut Random, length: usize, period: f64, stall: f64) -> Shape {
    let (depth, mut at) = (between(random, 0.2, 1.0), -period * random.uniform());
    let mut shape = Shape { level: 1.0 - depth * stall / period, ..Shape::flat(length) };
    while at < length as f64 {
        shape.lower(at, at + stall, depth);
        at += period;
    }
    shape
}

pub(super) fn few_periods(random: &mut Random, length: usize) -> Shape {
    let period = length as f64 / between(random, 3.0, 9.0);
    let stall = period * between(random, 0.1, 0.3);
    stalls(random, length, period, stall)
}

pub(super) fn random_stalls(random: &mut Random, length: usize) -> Shape {
    let gap = between(random, 4.0, length as f64 / 10.0);
    let stall = between(random, 1.0, 5.0_f64.min(gap / 2.0));
    let depth = between(random, 0.2, 1.0);
    let mut shape = Shape { level: 1.0 - depth * stall / (gap + stall), ..Shape::flat(length) };
    let mut at = -5.0 * (gap + stall);
    while at < length as f64 {
        at += waiting(random, gap);
        shape.lower(at, at + stall, depth);
        at += stall;
    }
    shape
}

pub(super) fn saw_tooth(random: &mut Random, length: usize) -> Shape {
    let period = between(random, 5.0, length as f64 / 10.0).round();
    let (depth, phase) = (between(random, 0.05, 0.4), random.uniform() * period);
    let level = 1.0 - depth * (period - 1.0) / (2.0 * period);
    Shape::of(length, level, |second| 1.0 - depth * ((second + phase).floor() % period) / period)
}

pub(super) fn bursts(random: &mut Random, length: usize) -> Shape {
    let longest = length as f64 / 30.0;
    let (busy, quiet) = (between(random, 3.0, 3.0 + longest / 2.0), between(random, 3.0, 3.0 + longest));
    let depth = between(random, 0.05, 0.4);
    let mut shape = Shape { level: 1.0 - depth * busy / (busy + quiet), ..Shape::flat(length) };
    let mut at = if random.uniform() < busy / (busy + quiet) { 0.0 } else { waiting(random, quiet) };
    while at < length as f64 {
        let end = at + waiting(random, busy);
        shape.lower(at, end, depth);
        at = end + waiting(random, quiet);
    }
    shape
}

pub(super) fn wave(random: &mut Random, length: usize) -> Shape {
    let period = between(random, length as f64 / 30.0, length as f64 / 10.0);
    let (depth, phase) = (between(random, 0.02, 0.2), random.uniform());
    Shape::of(length, 1.0, |second| 1.0 + depth * (std::f64::consts::TAU * (second / period + phase)).sin())
}

pub(super) fn excursion(random: &mut Random, length: usize) -> Shape {
    let whole = length as f64;
    let lasting = between(random, whole / 30.0, whole / 12.0);
    let (depth, at) = (between(random, 0.1, 0.3), whole * random.uniform());
    let mut shape = Shape { level: 1.0 - depth * lasting / whole, ..Shape::flat(length) };
    shape.lower(at, at + lasting, depth);
    shape.lower(at - whole, at - whole + lasting, depth);
    shape
}

pub(super) fn decay(random: &mut Random, length: usize) -> Shape {
    let rate = log_uniform(random, 0.05, 0.5) / length as f64;
    Shape::of(length, (-rate * length as f64).exp(), |second| (-rate * second).exp())
}

pub(super) fn warm_up(random: &mut Random, length: usize) -> Shape {
    let depth = between(random, 0.1, 0.7);
    let lasting = log_uniform(random, length as f64 / 30.0, length as f64);
    Shape::of(length, 1.0, |second| 1.0 - depth * (-second / lasting).exp())
}

pub(super) fn two_parts(random: &mut Random, length: usize) -> Shape {
    let whole = length as f64;
    let (fast, slow) = (between(random, 0.2, 0.6), between(random, 0.05, 0.3));
    let (soon, late) = (log_uniform(random, whole / 100.0, whole / 20.0), log_uniform(random, whole / 6.0, whole));
    Shape::of(length, 1.0, |second| 1.0 - fast * (-second / soon).exp() - slow * (-second / late).exp())
}

/// Draws a share by which a level goes up or down.
pub(super) fn change(random: &mut Random, most: f64) -> f64 {
    between(random, 0.05, most) * if random.uniform() < 0.5 { -1.0 } else { 1.0 }
}

pub(super) fn step(random: &mut Random, length: usize) -> Shape {
    let (at, by) = (length as f64 * between(random, 0.05, 0.95), change(random, 0.3));
    Shape::of(length, 1.0, |second| if second < at { 1.0 - by } else { 1.0 })
}

pub(super) fn ramp(random: &mut Random, length: usize) -> Shape {
    let (end, by) = (length as f64 * between(random, 0.2, 1.0), change(random, 0.5));
    Shape::of(length, 1.0, |second| 1.0 - by * (1.0 - second / end).max(0.0))
}

pub(super) fn late_step(random: &mut Random, length: usize) -> Shape {
    let (at, by) = (length as f64 * between(random, 0.8, 0.97), change(random, 0.3));
    Shape::of(length, 1.0, |second| if second < at { 1.0 - by } else { 1.0 })
}

pub(super) fn late_ramp(random: &mut Random, length: usize) -> Shape {
    let (whole, by) = (length as f64, change(random, 0.3));
    let begin = whole * between(random, 0.4, 0.8);
    Shape::of(length, 1.0, |second| 1.0 - by * ((whole - second) / (whole - begin)).min(1.0))
}

pub(super) fn regimes(random: &mut Random, length: usize) -> Shape {
    let (stay, depth) = (length as f64 * between(random, 60.0, 120.0) / 330.0, between(random, 0.05, 0.3));
    let mut shape = Shape { level: 1.0 - depth / 2.0, ..Shape::flat(length) };
    let mut at = if random.uniform() < 0.5 { 0.0 } else { waiting(random, stay) };
    while at < length as f64 {
        let end = at + waiting(random, stay);
        shape.lower(at, end, depth);
        at = end + waiting(random, stay);
    }
    shape
}

pub(super) fn rare_zeros(random: &mut Random, length: usize) -> Shape {
    let chance = between(random, 0.003, 0.01);
    let mut shape = Shape { level: 1.0 - chance, ..Shape::flat(length) };
    shape.seconds.iter_mut().filter(|_| random.uniform() < chance).for_each(|second| *second = 0.0);
    shape
}

/// Operations that end independently, two to 20 a second, as shares of their number.
pub(super) fn few_events(random: &mut Random, length: usize) -> Shape {
    let rate = log_uniform(random, 2.0, 20.0);
    let mut shape = Shape::flat(length);
    let mut at = waiting(random, 1.0 / rate);
    shape.seconds.fill(0.0);
    while at < length as f64 {
        shape.seconds[at as usize] += 1.0 / rate;
        at += waiting(random, 1.0 / rate);
    }
    shape
}

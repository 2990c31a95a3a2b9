//! Kinds of trace that are unlike those of the library, with shorter and longer memories than it has, made from other seeds.

use super::library::{Trace, log_uniform};
use super::shapes::{Shape, between, change, waiting};
use crate::noise::autoregressive;
use crate::random::Random;
use std::ops::RangeInclusive;

/// Kinds of trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OtherKind {
    /// Two levels, from one to the other at random, ten stays and more in the load on average.
    MarkovLevels,
    /// Two levels, each for a fifth of the load on average.
    LongStays,
    /// Two levels with stays of a Pareto distribution, whose variance is infinite.
    HeavyTails,
    /// First-order memory of a thirtieth to a tenth of the load.
    NearUnit,
    /// Memory of a tenth to a fifth of the load.
    TooFewTimes,
    /// A walk between two walls.
    BoundedWalk,
    /// Dips whose distance varies by a fifth.
    JitteredDips,
    /// One second of nothing each one to three minutes, at random.
    Stalls,
    /// Two to ten seconds of nothing, six times in the load on average.
    LongStalls,
    /// Log-normal noise with memory, coefficient of variation up to a half.
    LogNormal,
    /// Noise that grows to three times its first size.
    GrowingNoise,
    /// Half an operation to two a second.
    NearZero,
    /// Fast noise before slow noise of a third to the whole of its size.
    TwoNoises,
    /// A rise to a level by an exponential, all rates.
    SlowApproach,
    /// A ramp to a level, fast noise.
    RampThenFlat,
    /// A step in the last third.
    SingleStep,
    /// Stairs of three to six steps in one direction.
    Stairs,
    /// A fall that bends, with noise of memory.
    NoisyDecay,
}

impl OtherKind {
    pub(super) const ALL: [Self; 18] = [
        Self::MarkovLevels,
        Self::LongStays,
        Self::HeavyTails,
        Self::NearUnit,
        Self::TooFewTimes,
        Self::BoundedWalk,
        Self::JitteredDips,
        Self::Stalls,
        Self::LongStalls,
        Self::LogNormal,
        Self::GrowingNoise,
        Self::NearZero,
        Self::TwoNoises,
        Self::SlowApproach,
        Self::RampThenFlat,
        Self::SingleStep,
        Self::Stairs,
        Self::NoisyDecay,
    ];

    /// Demand of a kind whose level stays: the least share of results and the share of their intervals that cover, per cent.
    pub(super) fn demand(self) -> Option<(f64, RangeInclusive<f64>)> {
        match self {
            Self::SlowApproach | Self::RampThenFlat | Self::SingleStep | Self::Stairs | Self::NoisyDecay => None,
            // Five changes of level on average.
            Self::LongStays => Some((92.0, 87.0..=97.5)),
            // The next stay may be longer than all that were seen.
            Self::HeavyTails => Some((93.0, 91.0..=97.5)),
            // Averages out better than what recurs by chance.
            Self::JitteredDips => Some((95.0, 93.0..=99.0)),
            _ => Some((95.0, 93.0..=97.5)),
        }
    }

    fn shape(self, random: &mut Random, length: usize) -> Shape {
        let whole = length as f64;
        match self {
            Self::MarkovLevels => {
                let stays = [between(random, 2.0, whole / 20.0), between(random, 2.0, whole / 20.0)];
                two_levels(random, length, stays, waiting)
            }
            Self::LongStays => two_levels(random, length, [whole / 5.0; 2], waiting),
            Self::HeavyTails => {
                let stays = [between(random, 1.0, whole / 40.0), between(random, 1.0, whole / 40.0)];
                two_levels(random, length, stays, |random, mean| {
                    mean * 0.375 * random.uniform().max(1e-9).powf(-1.0 / 1.6)
                })
            }
            Self::BoundedWalk => bounded_walk(random, length),
            Self::JitteredDips => jittered_dips(random, length),
            Self::Stalls => {
                let every = between(random, 60.0, 180.0);
                let mut shape = Shape { level: 1.0 - 1.0 / every, ..Shape::flat(length) };
                shape.seconds.iter_mut().filter(|_| random.uniform() < 1.0 / every).for_each(|second| *second = 0.0);
                shape
            }
            Self::LongStalls => long_stalls(random, length),
            Self::NearZero => counts(random, length),
            Self::SlowApproach => {
                let (depth, lasting) = (change(random, 0.5), log_uniform(random, whole / 20.0, whole * 2.0));
                Shape::of(length, 1.0, |second| 1.0 - depth * (-second / lasting).exp())
            }
            Self::RampThenFlat => {
                let (end, by) = (whole * between(random, 0.1, 0.9), change(random, 0.4));
                Shape::of(length, 1.0, |second| 1.0 - by * (1.0 - second / end).max(0.0))
            }
            Self::SingleStep => {
                let (at, by) = (whole * between(random, 0.66, 0.95), change(random, 0.4));
                Shape::of(length, 1.0, |second| if second < at { 1.0 - by } else { 1.0 })
            }
            Self::Stairs => {
                let (steps, by) = (between(random, 3.0, 6.99).floor(), change(random, 0.4));
                Shape::of(length, 1.0, |second| 1.0 - by * (1.0 - ((steps + 1.0) * second / whole).floor() / steps))
            }
            Self::NoisyDecay => {
                let rate = log_uniform(random, 0.06, 0.6) / whole;
                Shape::of(length, (-rate * whole).exp(), |second| (-rate * second).exp())
            }
            _ => Shape::flat(length),
        }
    }

    /// Size and lag-one correlation of its noise.
    fn noise(self, random: &mut Random, length: usize) -> (f64, f64) {
        let of_time = |seconds: f64| ((seconds - 1.0) / (seconds + 1.0)).clamp(0.0, 0.995);
        let whole = length as f64;
        match self {
            Self::NearZero => (0.0, 0.0),
            Self::NearUnit => (log_uniform(random, 0.02, 0.15), of_time(between(random, whole / 30.0, whole / 10.0))),
            Self::TooFewTimes => (log_uniform(random, 0.02, 0.15), of_time(between(random, whole / 10.0, whole / 5.0))),
            Self::LogNormal => (log_uniform(random, 0.1, 0.5), 0.8 * random.uniform()),
            Self::NoisyDecay => (log_uniform(random, 0.01, 0.06), of_time(between(random, 1.0, whole / 30.0))),
            _ => (log_uniform(random, 0.01, 0.1), 0.7 * random.uniform()),
        }
    }
}

/// Trace number `seed` of a kind, `length` seconds long.
pub(super) fn other(kind: OtherKind, seed: u64, length: usize) -> Trace {
    let mut random = Random::stream(seed ^ 0x5E_ED0F_07E2, 9_000 + kind as u64);
    let (deviation, correlation) = kind.noise(&mut random, length);
    let shape = kind.shape(&mut random, length);
    let of_noise = random.next_u64();
    let mut noise = autoregressive(of_noise, length, correlation);
    let sigma = (1.0 + deviation * deviation).ln().sqrt();
    if kind == OtherKind::TwoNoises {
        let (share, memory) = (between(&mut random, 0.3, 1.0), length as f64 / between(&mut random, 15.0, 60.0));
        let slow = autoregressive(of_noise ^ 1, length, ((memory - 1.0) / (memory + 1.0)).max(0.0));
        noise.iter_mut().zip(slow).for_each(|(fast, slow)| *fast += share * slow);
    }
    let factor = |second: usize, e: f64| match kind {
        OtherKind::LogNormal => (sigma * e - sigma * sigma / 2.0).exp(),
        OtherKind::GrowingNoise => 1.0 + deviation * e * (1.0 + 2.0 * second as f64 / length as f64),
        _ => 1.0 + deviation * e,
    };
    let seconds = shape.seconds.iter().zip(&noise).enumerate();
    let values = seconds.map(|(second, (y, e))| (1_000.0 * y * factor(second, *e)).max(0.0)).collect();
    Trace { values, shape }
}

/// A level of 1 and a lower one in turns, with stays of these mean lengths, long after the first.
fn two_levels(random: &mut Random, length: usize, stays: [f64; 2], draw: impl Fn(&mut Random, f64) -> f64) -> Shape {
    let depth = between(random, 0.05, 0.4);
    let share = stays[1] / (stays[0] + stays[1]);
    let mut shape = Shape { level: 1.0 - depth * share, ..Shape::flat(length) };
    let mut at = -40.0 * (stays[0] + stays[1]) * random.uniform() - 20.0 * (stays[0] + stays[1]);
    while at < length as f64 {
        at += draw(random, stays[0]);
        let end = at + draw(random, stays[1]);
        shape.lower(at, end, depth);
        at = end;
    }
    shape
}

/// Steps of chance between 1 − w and 1 + w, back from the walls; crosses the whole in a tenth to a thirtieth of the load.
fn bounded_walk(random: &mut Random, length: usize) -> Shape {
    let width = between(random, 0.03, 0.2);
    let step = 2.0 * width / (length as f64 / between(random, 10.0, 30.0)).sqrt();
    let mut at = width * (2.0 * random.uniform() - 1.0);
    let mut shape = Shape::flat(length);
    for second in &mut shape.seconds {
        *second = 1.0 + at;
        at += step * random.normal();
        while at.abs() > width {
            at = (2.0 * width).copysign(at) - at;
        }
    }
    shape
}

fn jittered_dips(random: &mut Random, length: usize) -> Shape {
    let period = between(random, 5.0, length as f64 / 6.0);
    let (lasting, depth) = (period * between(random, 0.1, 0.3), between(random, 0.1, 0.8));
    let mut shape = Shape { level: 1.0 - depth * lasting / period, ..Shape::flat(length) };
    let mut at = -period * (1.0 + random.uniform());
    while at < length as f64 {
        shape.lower(at, at + lasting, depth);
        at += period * between(random, 0.8, 1.2);
    }
    shape
}

fn long_stalls(random: &mut Random, length: usize) -> Shape {
    let (lasting, every) = (between(random, 2.0, 10.0) * length as f64 / 330.0, length as f64 / 6.0);
    let mut shape = Shape { level: every / (every + lasting), ..Shape::flat(length) };
    let mut at = -6.0 * every;
    while at < length as f64 {
        at += waiting(random, every);
        shape.lower(at, at + lasting, 1.0);
        at += lasting;
    }
    shape
}

/// Operations that end independently, as shares of their number.
fn counts(random: &mut Random, length: usize) -> Shape {
    let rate = log_uniform(random, 0.5, 2.0);
    let mut shape = Shape::flat(length);
    shape.seconds.fill(0.0);
    let mut at = waiting(random, 1.0 / rate);
    while at < length as f64 {
        shape.seconds[at as usize] += 1.0 / rate;
        at += waiting(random, 1.0 / rate);
    }
    shape
}

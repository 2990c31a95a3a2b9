//! The library of traces: kinds of noise that is stationary and of movement, each with random parameters, and what is true of each.

use super::shapes::{self, Shape};
use crate::noise::autoregressive;
use crate::random::Random;

/// Kinds of trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TraceKind {
    /// Independent seconds.
    White,
    /// Noise with first-order memory, at least 30 correlation times in the load.
    Memory,
    /// The same with a memory of 39 s, whatever the length.
    LongMemory,
    /// Log-normal noise with memory.
    Skewed,
    /// Stalls at a fixed period, ten or more in the load.
    PeriodicStalls,
    /// Stalls at random, ten or more on average.
    RandomStalls,
    /// Falls between checkpoints.
    SawTooth,
    /// Neighbours that come and go.
    Bursts,
    /// Ten or more waves.
    Wave,
    /// One excursion that returns.
    Excursion,
    /// A fall that never ends.
    Decay,
    /// A rise to a level.
    WarmUp,
    /// A slow rise behind a fast one.
    TwoParts,
    /// A step that stays.
    Step,
    /// A ramp, then a level.
    Ramp,
    /// A step that stays, in the last fifth.
    LateStep,
    /// A level, then a ramp to the end.
    LateRamp,
    /// Two levels, each for a third to a sixth of the load on average.
    Regimes,
    /// Seconds without throughput, one to three of 330.
    RareZeros,
    /// Deep stalls at a fixed period, three to nine in the load.
    FewPeriods,
    /// Counts of a few operations a second.
    FewEvents,
}

impl TraceKind {
    pub(super) const ALL: [Self; 21] = [
        Self::White,
        Self::Memory,
        Self::LongMemory,
        Self::Skewed,
        Self::PeriodicStalls,
        Self::RandomStalls,
        Self::SawTooth,
        Self::Bursts,
        Self::Wave,
        Self::Excursion,
        Self::Decay,
        Self::WarmUp,
        Self::TwoParts,
        Self::Step,
        Self::Ramp,
        Self::LateStep,
        Self::LateRamp,
        Self::Regimes,
        Self::RareZeros,
        Self::FewPeriods,
        Self::FewEvents,
    ];

    /// Whether its level stays.
    pub(super) fn is_stationary(self) -> bool {
        !matches!(
            self,
            Self::Decay | Self::WarmUp | Self::TwoParts | Self::Step | Self::Ramp | Self::LateStep | Self::LateRamp
        )
    }

    /// Coefficient of variation and lag-one correlation of its noise, for a load of `length` seconds.
    fn noise(self, random: &mut Random, length: usize) -> (f64, f64) {
        // (1 + r) / (1 − r) seconds of memory, 30 times in the load.
        let memory = length as f64 / 30.0;
        let most = ((memory - 1.0) / (memory + 1.0)).clamp(0.0, 0.95);
        match self {
            Self::White => (log_uniform(random, 0.02, 0.2), 0.0),
            Self::Memory => (log_uniform(random, 0.02, 0.2), most * random.uniform()),
            Self::LongMemory => (log_uniform(random, 0.02, 0.1), 0.95),
            Self::Skewed => (log_uniform(random, 0.05, 0.2), most.min(0.8) * random.uniform()),
            Self::FewEvents => (0.0, 0.0),
            _ => (log_uniform(random, 0.01, 0.1), 0.7 * random.uniform()),
        }
    }

    fn shape(self, random: &mut Random, length: usize) -> Shape {
        match self {
            Self::White | Self::Memory | Self::LongMemory | Self::Skewed => Shape::flat(length),
            Self::PeriodicStalls => shapes::periodic_stalls(random, length),
            Self::RandomStalls => shapes::random_stalls(random, length),
            Self::SawTooth => shapes::saw_tooth(random, length),
            Self::Bursts => shapes::bursts(random, length),
            Self::Wave => shapes::wave(random, length),
            Self::Excursion => shapes::excursion(random, length),
            Self::Decay => shapes::decay(random, length),
            Self::WarmUp => shapes::warm_up(random, length),
            Self::TwoParts => shapes::two_parts(random, length),
            Self::Step => shapes::step(random, length),
            Self::Ramp => shapes::ramp(random, length),
            Self::LateStep => shapes::late_step(random, length),
            Self::LateRamp => shapes::late_ramp(random, length),
            Self::Regimes => shapes::regimes(random, length),
            Self::RareZeros => shapes::rare_zeros(random, length),
            Self::FewPeriods => shapes::few_periods(random, length),
            Self::FewEvents => shapes::few_events(random, length),
        }
    }
}

/// A trace and its truth.
pub(super) struct Trace {
    /// Throughput per second.
    pub(super) values: Vec<f64>,
    /// What it would be without noise.
    pub(super) shape: Shape,
}

/// Trace number `seed` of a kind, `length` seconds long.
pub(super) fn trace(kind: TraceKind, seed: u64, length: usize) -> Trace {
    let mut random = Random::stream(seed, 4_000 + kind as u64);
    let (deviation, correlation) = kind.noise(&mut random, length);
    let shape = kind.shape(&mut random, length);
    let noise = autoregressive(seed.wrapping_mul(31).wrapping_add(kind as u64), length, correlation);
    let factor = |e: f64| match kind {
        TraceKind::Skewed => {
            let sigma = (1.0 + deviation * deviation).ln().sqrt();
            (sigma * e - sigma * sigma / 2.0).exp()
        }
        _ => 1.0 + deviation * e,
    };
    let values = shape.seconds.iter().zip(&noise).map(|(y, e)| (1_000.0 * y * factor(*e)).max(0.0)).collect();
    Trace { values, shape }
}

/// Log-uniform between two values.
pub(super) fn log_uniform(random: &mut Random, low: f64, high: f64) -> f64 {
    low * (high / low).powf(random.uniform())
}

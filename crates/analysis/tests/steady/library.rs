//! The library of traces: families of shapes with random parameters and noise, and what is true of each.

use std::time::Duration;

use crate::noise::autoregressive;
use crate::random::Random;
use proofload_analysis::steady::Rule;
use proofload_analysis::validity::Limits;
use proofload_model::study::{Procedure, WarmUp};

/// Families of shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Flat,
    /// 1 − d e^(−t/τ), τ from 10 s to 2 h.
    WarmUp,
    /// A jump at a time that no round divides: cannot be foreseen from throughput.
    Jump,
    /// Checkpoints every 30 s to 30 min.
    SawTooth,
    /// Warm-up and checkpoints.
    WarmUpWithSawTooth,
    /// Short dips at random times.
    Bursts,
    /// A fall that never ends, by 1 to 2.5 times the tolerance per measurement.
    Decay,
    /// Levels that change every few minutes for ever.
    Wandering,
}

impl Family {
    pub(super) const ALL: [Self; 8] = [
        Self::Flat,
        Self::WarmUp,
        Self::Jump,
        Self::SawTooth,
        Self::WarmUpWithSawTooth,
        Self::Bursts,
        Self::Decay,
        Self::Wandering,
    ];

    /// Family of a trace by its number.
    pub(super) fn of(seed: u64) -> Self {
        Self::ALL[((seed / 2) % Self::ALL.len() as u64) as usize]
    }
}

/// How long the traces are and what is asked of the detector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// Budget and length of a trace, seconds.
    pub(super) seconds: usize,
    /// Shortest measurement, seconds.
    pub(super) measure: usize,
    /// Shortest warm-up, seconds.
    pub(super) at_least: usize,
    /// Round, seconds, where no period is known.
    pub(super) round: usize,
    /// Tolerance of drift, remainder and of the score.
    pub(super) tolerance: f64,
    /// Range of the warm-ups' time constant, seconds.
    pub(super) tau: (f64, f64),
    /// Range of checkpoint periods, seconds.
    pub(super) period: (f64, f64),
    /// Largest standard deviation of the noise, as a share.
    pub(super) noise: f64,
}

/// The method's scale: two hours, rounds of a minute.
pub(super) const HOURS: Scale = Scale {
    seconds: 7_200,
    measure: 600,
    at_least: 300,
    round: 60,
    tolerance: 0.02,
    tau: (10.0, 7_200.0),
    period: (30.0, 1_200.0),
    noise: 0.05,
};

/// A quick study: five minutes, rounds of 2 s.
pub(super) const MINUTES: Scale = Scale {
    seconds: 300,
    measure: 30,
    at_least: 10,
    round: 2,
    tolerance: 0.05,
    tau: (2.0, 120.0),
    period: (5.0, 20.0),
    noise: 0.05,
};

/// A trace and its truth.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    /// Throughput per second, long enough to measure after the budget.
    pub(super) values: Vec<f64>,
    /// The same without noise.
    shape: Vec<f64>,
    /// The rule and the limits that the product makes of a study's procedure.
    pub(super) rule: Rule,
    pub(super) limits: Limits,
    /// First second from which every measurement is within the tolerance of the final level; `None` when
    /// there is none within the budget.
    pub(super) settled: Option<usize>,
    level: f64,
}

impl Trace {
    /// Relative error of a measurement that starts at `from`, without noise.
    pub(super) fn error(&self, from: usize) -> f64 {
        let measure = self.rule.measure.as_secs() as usize;
        (proofload_analysis::distribution::mean(&self.shape[from..from + measure]) / self.level - 1.0).abs()
    }
}

/// Trace number `seed` of a library; families take turns among even and among odd numbers.
pub(super) fn trace(seed: u64, scale: &Scale) -> Trace {
    let family = Family::of(seed);
    let mut random = Random::stream(seed, 2_026);
    let periodic = matches!(family, Family::SawTooth | Family::WarmUpWithSawTooth);
    let period = periodic.then(|| between(&mut random, scale.period).round() as usize);
    let measure = period.map_or(scale.measure, |p| scale.measure.div_ceil(p) * p);
    let procedure = procedure(scale, measure, period);
    let (rule, limits) = (Rule::of(&procedure), Limits::of(&procedure));
    let length = scale.seconds + measure;
    let (shape, level) = shape(family, &mut random, scale, length, period);
    let noise = autoregressive(seed, length, random.uniform() * 0.7);
    let strength = between(&mut random, (0.003, scale.noise));
    let values = shape.iter().zip(&noise).map(|(y, e)| 1_000.0 * y * (1.0 + strength * e)).collect();
    let mut trace = Trace { values, shape, rule, limits, settled: None, level };
    trace.settled = settled(&trace, scale);
    trace
}

/// A study's procedure: rounds are whole periods where one is known, and the drift of the window has the default tolerance.
fn procedure(scale: &Scale, measure: usize, period: Option<usize>) -> Procedure {
    let period = period.unwrap_or(1);
    Procedure {
        restore_every_run: true,
        prewarm: false,
        warm_up: WarmUp {
            at_least: seconds(scale.at_least),
            at_most: seconds(scale.seconds),
            round: seconds(scale.round.div_ceil(period) * period),
            tolerance: scale.tolerance,
        },
        measure: seconds(measure),
        drift_tolerance: 0.10,
        precision: None,
        steal_tolerance: 1.0,
        error_budget: 0.0,
        retries: 0,
        quiet_seconds: 0,
        wait_for_quiet: Duration::ZERO,
    }
}

fn seconds(count: usize) -> Duration {
    Duration::from_secs(count as u64)
}

/// Log-uniform.
fn between(random: &mut Random, range: (f64, f64)) -> f64 {
    range.0 * (range.1 / range.0).powf(random.uniform())
}

/// The shape and its final level (NaN when it has none).
fn shape(family: Family, random: &mut Random, scale: &Scale, length: usize, period: Option<usize>) -> (Vec<f64>, f64) {
    let depth = 0.2 + 0.6 * random.uniform();
    let tau = between(random, scale.tau);
    let budget = scale.seconds as f64;
    let jump = (budget * (0.1 + 0.6 * random.uniform())) as usize;
    let tooth = 0.1 + 0.2 * random.uniform();
    let per = period.unwrap_or(1);
    let saw = |t: usize| if 5 * (t % per) >= 3 * per { tooth } else { 0.0 };
    let saw_level = 1.0 - (0..per).map(saw).sum::<f64>() / per as f64;
    let rise = |t: usize| 1.0 - depth * (-(t as f64) / tau).exp();
    let fall = scale.tolerance * (1.0 + 1.5 * random.uniform()) / scale.measure as f64;
    let curve = |y: &dyn Fn(usize) -> f64| (0..length).map(y).collect::<Vec<f64>>();
    match family {
        Family::Flat => (vec![1.0; length], 1.0),
        Family::WarmUp => (curve(&rise), 1.0),
        Family::Jump => (curve(&|t| if t < jump { 1.0 - 0.6 * depth } else { 1.0 }), 1.0),
        Family::SawTooth => (curve(&|t| 1.0 - saw(t)), saw_level),
        Family::WarmUpWithSawTooth => (curve(&|t| rise(t) * (1.0 - saw(t))), saw_level),
        Family::Bursts => bursts(random, scale, length),
        Family::Decay => (curve(&|t| (-fall * t as f64).exp()), f64::NAN),
        Family::Wandering => (wandering(random, scale, length), f64::NAN),
    }
}

/// Dips of a twentieth of the measurement, on average six per measurement, at random.
fn bursts(random: &mut Random, scale: &Scale, length: usize) -> (Vec<f64>, f64) {
    let dip = (scale.measure / 60).max(1);
    let every = scale.measure as f64 / 6.0;
    let depth = 0.1 + 0.2 * random.uniform();
    let mut shape = vec![1.0; length];
    let mut at = 0.0;
    while (at as usize) < length {
        let from = at as usize;
        let to = (from + dip).min(length);
        shape[from..to].fill(1.0 - depth);
        at += dip as f64 + every * (0.5 + random.uniform());
    }
    let level = proofload_analysis::distribution::mean(&shape);
    (shape, level)
}

/// A new level between 0.75 and 1.25 after each half to one and a half measurements.
fn wandering(random: &mut Random, scale: &Scale, length: usize) -> Vec<f64> {
    let mut shape = Vec::with_capacity(length);
    while shape.len() < length {
        let level = 0.75 + 0.5 * random.uniform();
        let stay = (scale.measure as f64 * (0.5 + random.uniform())) as usize;
        shape.extend(std::iter::repeat_n(level, stay.max(1)));
    }
    shape.truncate(length);
    shape
}

fn settled(trace: &Trace, scale: &Scale) -> Option<usize> {
    if !trace.level.is_finite() {
        return None;
    }
    let bad = (0..=scale.seconds).rev().find(|&from| trace.error_fast(from) > scale.tolerance);
    bad.map_or(Some(0), |last| (last < scale.seconds).then_some(last + 1))
}

impl Trace {
    /// Error like [`Trace::error`] at a coarse grid of the measurement, quick enough to scan a trace.
    fn error_fast(&self, from: usize) -> f64 {
        if from.is_multiple_of(10) { self.error(from) } else { 0.0 }
    }
}

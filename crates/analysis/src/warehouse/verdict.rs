//! Verdict on whether the work was bound by the device or by the cores, from use in the window against the most that
//! the machine can do.

use super::units::{MbPerCpuSecond, MbPerSecond};
use crate::quantity::Quantity;

/// CPU below this, and the device above [`DEVICE_FULL`] of its calibrated rate: bound by the device. Per cent.
const CPU_IDLE: f64 = 80.0;
/// CPU above this: bound by the cores. Per cent.
const CPU_FULL: f64 = 90.0;
/// Share of the calibrated rate from which the device counts as full.
const DEVICE_FULL: f64 = 0.8;
/// The calibration predicts nothing where its two rates are nearer to each other than this ratio.
const CLEAR_RATIO: f64 = 1.25;

/// What the machine was found to do at most, before the window.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Calibration {
    /// Sequential reads of the device.
    pub device: Option<MbPerSecond>,
    /// Cores that the database may use.
    pub cores: Option<f64>,
    /// Bytes that queries consume from cache.
    pub in_cache: Option<MbPerCpuSecond>,
    /// Bytes that queries consume when storage takes part.
    pub cold: Option<MbPerCpuSecond>,
}

/// What was used in the window.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowUse {
    /// Use of the cores that the database may use, %.
    pub cpu_percent: Quantity,
    /// Read from the device, MB/s.
    pub device_mb_s: Quantity,
}

/// What bound the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitingResource {
    /// The device.
    Io,
    /// The cores.
    Cpu,
    /// Undecided: neither was full, or not enough is known.
    Unclear,
}

impl LimitingResource {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Io => "I/O-bound",
            Self::Cpu => "CPU-bound",
            Self::Unclear => "unclear",
        }
    }
}

/// How far a verdict can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confidence {
    /// The 95 % intervals lie on one side of the limits, and the calibration does not say otherwise.
    Firm,
    /// The values do; intervals are missing or reach beyond, or the calibration predicts something else.
    Weak,
    /// There is nothing to trust: the verdict is that it is unclear.
    None,
}

impl Confidence {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Firm => "firm",
            Self::Weak => "weak",
            Self::None => "none",
        }
    }
}

/// The verdict with what it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatingVerdict {
    /// What bound the work.
    pub bound: LimitingResource,
    /// How far to trust it.
    pub confidence: Confidence,
    /// The device's use as a share of its calibrated rate; `None` when that is not known.
    pub device_share: Option<f64>,
    /// What the calibration lets expect, where it is clear.
    pub predicted: Option<LimitingResource>,
}

/// Judges a window. Own; the limits follow P5, whose row store is I/O-bound at 72 % CPU and whose column store CPU-bound at 98 %.
pub fn verdict(used: &WindowUse, calibration: &Calibration) -> RatingVerdict {
    let cpu = &used.cpu_percent;
    let device =
        calibration.device.map(|device| used.device_mb_s.scaled(1.0 / device.0, used.device_mb_s.unit().clone()));
    let full = device.as_ref().is_some_and(|share| share.value() > DEVICE_FULL);
    let bound = match cpu.value() {
        cpu if cpu > CPU_FULL => LimitingResource::Cpu,
        cpu if cpu < CPU_IDLE && full => LimitingResource::Io,
        _ => LimitingResource::Unclear,
    };
    let inside = match bound {
        LimitingResource::Cpu => above(cpu, CPU_FULL),
        LimitingResource::Io => below(cpu, CPU_IDLE) && device.as_ref().is_some_and(|share| above(share, DEVICE_FULL)),
        LimitingResource::Unclear => false,
    };
    let predicted = predicted(calibration);
    let contradicted = predicted.is_some_and(|predicted| predicted != bound);
    let confidence = match bound {
        LimitingResource::Unclear => Confidence::None,
        _ if inside && !contradicted => Confidence::Firm,
        _ => Confidence::Weak,
    };
    RatingVerdict { bound, confidence, device_share: device.map(|share| share.value()), predicted }
}

fn above(quantity: &Quantity, limit: f64) -> bool {
    quantity.interval().bounds().is_some_and(|(low, _)| low > limit)
}

fn below(quantity: &Quantity, limit: f64) -> bool {
    quantity.interval().bounds().is_some_and(|(_, high)| high < limit)
}

/// What device and cores by themselves let expect: the slower of the two binds.
fn predicted(calibration: &Calibration) -> Option<LimitingResource> {
    let consumed = calibration.cold.or(calibration.in_cache)?.0 * calibration.cores?;
    let delivered = calibration.device?.0;
    if consumed > CLEAR_RATIO * delivered {
        return Some(LimitingResource::Io);
    }
    let slower = delivered > CLEAR_RATIO * consumed;
    slower.then_some(LimitingResource::Cpu)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::autoregressive;
    use crate::quantity::{Interval, Unit};

    fn quantity(value: f64, half: Option<f64>, unit: Unit) -> Quantity {
        let interval = half
            .map_or_else(|| Interval::none("as published"), |half| Interval::known(value - half, value + half, "test"));
        Quantity::new(value, unit, 5, interval)
    }

    fn used(cpu: f64, device: f64, half: Option<f64>) -> WindowUse {
        WindowUse {
            cpu_percent: quantity(cpu, half, Unit::PERCENT),
            device_mb_s: quantity(device, half.map(|half| half * device / 100.0), Unit::MB_PER_SECOND),
        }
    }

    const DEVICE: Calibration =
        Calibration { device: Some(MbPerSecond(6_000.0)), cores: Some(28.0), in_cache: None, cold: None };

    #[track_caller]
    fn check(used: &WindowUse, calibration: &Calibration, bound: LimitingResource, confidence: Confidence) {
        let found = verdict(used, calibration);
        assert_eq!((found.bound, found.confidence), (bound, confidence), "{found:?}");
    }

    #[test]
    fn the_published_stores() {
        check(&used(72.0, 4_849.0, None), &DEVICE, LimitingResource::Io, Confidence::Weak);
        check(&used(98.0, 2_182.0, None), &DEVICE, LimitingResource::Cpu, Confidence::Weak);
        check(&used(72.0, 5_200.0, Some(2.0)), &DEVICE, LimitingResource::Io, Confidence::Firm);
        check(&used(98.0, 2_182.0, Some(1.0)), &DEVICE, LimitingResource::Cpu, Confidence::Firm);
    }

    #[test]
    fn what_is_not_full_or_not_known_is_unclear() {
        check(&used(50.0, 600.0, Some(1.0)), &DEVICE, LimitingResource::Unclear, Confidence::None);
        check(&used(85.0, 5_900.0, Some(1.0)), &DEVICE, LimitingResource::Unclear, Confidence::None);
        check(&used(50.0, 5_900.0, Some(1.0)), &Calibration::default(), LimitingResource::Unclear, Confidence::None);
        check(&used(f64::NAN, 5_900.0, None), &DEVICE, LimitingResource::Unclear, Confidence::None);
    }

    #[test]
    fn a_wide_interval_or_a_calibration_against_it_weakens() {
        check(&used(78.0, 5_500.0, Some(4.0)), &DEVICE, LimitingResource::Io, Confidence::Weak);
        let slow_cores = Calibration { in_cache: Some(MbPerCpuSecond(100.0)), ..DEVICE };
        check(&used(60.0, 5_500.0, Some(1.0)), &slow_cores, LimitingResource::Io, Confidence::Weak);
        let fast_cores = Calibration { cold: Some(MbPerCpuSecond(310.0)), ..slow_cores };
        check(&used(60.0, 5_500.0, Some(1.0)), &fast_cores, LimitingResource::Io, Confidence::Firm);
    }

    /// A closed loop on a machine of 2 cores and 200 MB/s: the slower of device and cores is full up to noise.
    fn simulated(seed: u64, mb_per_cpu_second: f64) -> WindowUse {
        let noise = autoregressive(seed, 60, 0.5);
        let scan = (2.0 * mb_per_cpu_second).min(200.0) * 0.97;
        let mean =
            |of: &dyn Fn(f64) -> f64| crate::bootstrap::mean_of(&noise.iter().map(|x| of(*x)).collect::<Vec<_>>());
        let rate = mean(&|x| scan * (1.0 + 0.02 * x));
        let cpu = mean(&|x| (100.0 * scan / (2.0 * mb_per_cpu_second) + x).min(100.0));
        WindowUse { cpu_percent: cpu.quantity(Unit::PERCENT), device_mb_s: rate.quantity(Unit::MB_PER_SECOND) }
    }

    #[test]
    fn twenty_of_twenty_on_a_simulated_machine() {
        let machine = Calibration { device: Some(MbPerSecond(200.0)), cores: Some(2.0), ..Calibration::default() };
        for seed in 0..20 {
            assert_eq!(
                verdict(&simulated(seed, 310.0), &machine).bound,
                LimitingResource::Io,
                "device throttled, seed {seed}"
            );
            assert_eq!(
                verdict(&simulated(seed, 40.0), &machine).bound,
                LimitingResource::Cpu,
                "cores throttled, seed {seed}"
            );
        }
    }
}

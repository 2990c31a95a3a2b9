//! The verdict on a measured load of fixed length: the part of it that is kept, its mean with an interval that holds what may still
//! move, and whether that is a result. Asks whether movement is shown, not whether steadiness is; a change that returns is noise.

use super::autocorrelation::long_run_of_parts;
use super::bootstrap::{Estimate, FEWEST_SAMPLES, mean_of};
use super::distribution::{mean, student_quantile};
use super::levels::{best_split, noise_of_second, parts, returns};
use super::quantity::{Interval, Quantity, Unit};
use super::trend::{Care, trend};
use super::validity::{VoidReason, gap_or_silence};
use proofload_model::study::Procedure;

/// A 95 % interval whose half-width is a larger share of the mean says nothing.
const LARGEST_HALF_WIDTH: f64 = 0.30;

/// Shares of the load that may be cut away at its begin, in the order in which they are tried.
const CUTS: [f64; 3] = [0.0, 0.125, 0.25];

/// Probabilities of error at which movement is found.
struct Bars {
    line: f64,
    /// Bar of the best of many splits: of windows with first-order noise (36 to 330 s, lag-one correlation 0 to 0.8) 3 to 7 %
    /// pass where movement is suspected, 1 to 2 % where it is shown.
    split: f64,
}

/// Probability of error below which a line through the whole load is clear: a part of the load, in which less can be shown since it is shorter, then
/// also moves if it keeps more than [`GOES_ON`] of the pace. Without this a load that falls by half all the time is a wide result.
const CLEAR: f64 = 0.002;

/// Share of the pace of a clear line from which on a part of the load still moves.
const GOES_ON: f64 = 0.5;

/// Bars over which movement is suspected: 5 %.
const SUSPECTED: Bars = Bars { line: 0.05, split: 0.003 };

/// Bars over which it is shown: 1 %.
const SHOWN: Bars = Bars { line: 0.01, split: 0.0006 };

/// Share of the window after which a step cannot be told from an excursion that will return: it is left to the interval.
const LATEST_SPLIT: f64 = 0.85;

/// Standard errors from which on the last level is put into the interval: of a line, and of the best split. In a load that
/// does not move it is independent of the error of the mean, and to one side: its intervals cover little more for it.
const AHEAD_FROM: (f64, f64) = (1.0, 3.5);

/// Largest half-width that noise alone makes, as a share of the span of the parts' means: a mean is not looked for beyond the levels that
/// were seen. Reached only where few changes of level are all that there is, and an estimate of their memory has no end.
const MOST_OF_SPAN: f64 = 0.5;

/// Seconds without throughput that a window may have missed by chance: of stalls so rare that one is expected, a third of windows holds none.
const MISSED: f64 = 1.0;

/// Shortest time between such stalls, seconds: shorter windows miss a part of a second.
const MISSED_EACH: f64 = 60.0;

/// Fewest degrees of freedom of the error of a line.
const LEAST_FREEDOM: f64 = 4.0;

/// How the interval of a window comes about.
const METHOD: &str =
    "means of twenty parts, dependence counted, Student's quantile; last level or stall that cannot be excluded";

/// How the interval of a movement comes about.
const METHOD_OF_SHIFTS: &str = "least squares with the dependence of the seconds counted, Student's quantile";

/// What is asked of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowRule {
    /// Largest half-width of the 95 % interval of a valid result, as a share of the mean; a wider one is valid and wide.
    pub precision: f64,
    /// Smallest movement over the window that voids when it is shown, as a share of the mean.
    pub movement: f64,
}

impl WindowRule {
    /// The rule of a study's procedure; `None` of one from before there was a precision, whose windows are judged by
    /// [`check_window`](super::validity::check_window).
    pub fn of(procedure: &Procedure) -> Option<Self> {
        procedure.precision.map(|precision| Self { precision, movement: procedure.drift_tolerance })
    }
}

/// The verdict on a window.
#[derive(Clone, Debug, PartialEq)]
pub enum WindowVerdict {
    /// A result as precise as asked.
    Valid,
    /// A result with a wider interval than asked, or without one for want of seconds.
    Wide,
    /// No result.
    Void(VoidReason),
}

/// A measured load and what was found in it.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedWindow {
    /// Seconds cut away at the begin of the load.
    pub cut: usize,
    /// Mean of what is kept, samples per second as given.
    pub mean: Estimate,
    /// Rise over what is kept as a share of the mean; `None` where there are too few samples or a gap.
    pub movement: Option<Quantity>,
    /// The verdict.
    pub verdict: WindowVerdict,
}

impl JudgedWindow {
    fn without_movement(seconds: &[f64], verdict: WindowVerdict) -> Self {
        Self { cut: 0, mean: mean_of(seconds), movement: None, verdict }
    }
}

/// Judges throughput per second of a load of fixed length (NaN for a missing second).
///
/// The whole load is tried, then the load without its first eighth, then without its first quarter. The first of them in which no
/// movement is suspected is kept; where it is suspected in all three, the shortest in which it is not shown. A part whose line goes on as it does in
/// the whole load, where it is clear, is not kept. Movement is looked for as a
/// line through the seconds and as a step between the two levels that fit them best; neither counts where a level came back.
/// Nothing is cut out of the middle or from the end.
/// Sources: cutting at the begin only after White and Robinson (MSER); the bars are set by simulation, `tests/window`.
pub fn judge_window(seconds: &[f64], rule: &WindowRule) -> JudgedWindow {
    if let Some(reason) = gap_or_silence(seconds) {
        return JudgedWindow::without_movement(seconds, WindowVerdict::Void(reason));
    }
    let (mut moving, mut suspected, mut shown_pace) = (None, None, None);
    for share in CUTS {
        let cut = (seconds.len() as f64 * share) as usize;
        let Some(window) = Findings::of(&seconds[cut..]) else { break };
        let judged = window.judged(cut, rule.precision);
        let pace = window.line.size / (seconds.len() - cut) as f64;
        let goes_on = shown_pace.is_some_and(|shown: f64| pace / shown > GOES_ON);
        let Some(shift) = window.moves(rule.movement, &SUSPECTED).or(goes_on.then_some(&window.line)) else {
            return judged;
        };
        // A load too short to be cut is kept as a whole unless movement is shown in it.
        let is_last = cut > 0 || Findings::of(&seconds[seconds.len() / 8..]).is_none();
        if is_last && !goes_on && window.moves(rule.movement, &SHOWN).is_none() {
            suspected = Some(judged.clone());
        }
        if cut == 0 && window.line.exceeds(CLEAR, rule.movement) {
            shown_pace = Some(pace);
        }
        moving.get_or_insert_with(|| {
            let reason = VoidReason::Moving { movement: shift.quantity(judged.mean.n) };
            JudgedWindow { verdict: WindowVerdict::Void(reason), ..judged }
        });
    }
    suspected.or(moving).unwrap_or_else(|| JudgedWindow::without_movement(seconds, WindowVerdict::Wide))
}

/// The mean of a window's seconds with the interval of [`judge_window`], whatever they count: throughput or one kind of operation.
pub fn mean_of_window(seconds: &[f64]) -> Estimate {
    let complete = seconds.iter().all(|second| second.is_finite());
    let found = complete.then(|| Findings::of(seconds)).flatten();
    found.map_or_else(|| mean_of(seconds), |found| found.mean)
}

/// A change of level within a window, as shares of its mean.
#[derive(Clone, Copy, Debug)]
struct Shift {
    size: f64,
    error: f64,
    freedom: f64,
    /// Distance of the last level from the mean of the window, as far as it cannot be excluded.
    ahead: f64,
}

impl Shift {
    /// The rise of the least-squares line; the last level lies half of it above the mean.
    fn of_line(seconds: &[f64]) -> Option<Self> {
        let line = trend(seconds, 1, Care::Deciding)?;
        let shift = Self { size: line.rise, error: line.error, freedom: line.freedom.max(LEAST_FREEDOM), ahead: 0.0 };
        Some(Self { ahead: ((shift.size.abs() + shift.half_width()) / 2.0).copysign(shift.size), ..shift })
    }

    /// The step between the two levels that fit the seconds best, given as shares of the mean less one, and the number of seconds before it.
    fn of_best_split(seconds: &[f64]) -> (Self, usize) {
        let at = best_split(seconds);
        let (before, after) = (mean(&seconds[..at]), mean(&seconds[at..]));
        let level = |second: usize| if second < at { before } else { after };
        let residuals: Vec<f64> = seconds.iter().enumerate().map(|(second, y)| y - level(second)).collect();
        let (one_second, freedom) = noise_of_second(&residuals, 2);
        let error_after = (one_second / (seconds.len() - at) as f64).sqrt();
        let error = (one_second / at as f64).sqrt().hypot(error_after);
        let last = mean(&seconds[seconds.len() - (seconds.len() - at).div_ceil(3)..]);
        let further = if after > 0.0 { last.max(after) } else { last.min(after) };
        let ahead = further + (2.0 * error_after).copysign(after);
        (Self { size: after - before, error, freedom, ahead }, at)
    }

    fn half_width(&self) -> f64 {
        student_quantile(0.975, self.freedom) * self.error
    }

    fn quantity(&self, n: u64) -> Quantity {
        let (low, high) = (self.size - self.half_width(), self.size + self.half_width());
        Quantity::new(self.size, Unit::RATIO, n, Interval::known(low, high, METHOD_OF_SHIFTS))
    }

    /// Whether it is larger than `smallest` and than what has this probability by chance.
    fn exceeds(&self, chance: f64, smallest: f64) -> bool {
        self.size.abs() > (student_quantile(1.0 - chance / 2.0, self.freedom) * self.error).max(smallest)
    }

    /// The distance of the last level if the shift is more than so many standard errors.
    fn ahead_from(&self, errors: f64) -> f64 {
        if self.size.abs() > errors * self.error { self.ahead } else { 0.0 }
    }
}

/// Share of a window's throughput that a stall which it missed would have taken.
fn missed(length: usize) -> f64 {
    (MISSED / length as f64).min(1.0 / MISSED_EACH)
}

/// The mean of a window with the error that noise makes; `centred` are its seconds as shares of it less one.
fn mean_by_noise(centred: &[f64], centre: f64) -> Estimate {
    let (length, parts) = (centred.len(), parts(centred));
    let level = mean(&parts);
    let noise = long_run_of_parts(&parts.iter().map(|part| part - level).collect::<Vec<_>>(), 1);
    let span = parts.iter().fold(f64::MIN, |most, part| part.max(most))
        - parts.iter().fold(f64::MAX, |least, part| part.min(least));
    let most = MOST_OF_SPAN * span / student_quantile(0.975, noise.freedom);
    Estimate {
        value: centre,
        standard_error: centre * (noise.variance / parts.len() as f64).sqrt().min(most),
        freedom: noise.freedom,
        ahead: 0.0,
        n: length as u64,
        block: noise.block * length.div_ceil(parts.len()),
        missing: None,
        method: METHOD,
    }
}

/// What is found in a window: its mean with an interval, and what moves in it.
struct Findings {
    mean: Estimate,
    line: Shift,
    split: Shift,
    /// Share of the window before the split.
    before_split: f64,
    /// Whether the change at the split returned.
    returns: bool,
}

impl Findings {
    /// `None` for too few seconds, or without a positive mean.
    fn of(seconds: &[f64]) -> Option<Self> {
        let (length, centre) = (seconds.len(), mean(seconds));
        if length < FEWEST_SAMPLES || centre <= 0.0 || !centre.is_finite() {
            return None;
        }
        let centred: Vec<f64> = seconds.iter().map(|second| second / centre - 1.0).collect();
        let line = Shift::of_line(seconds)?;
        let (split, at) = Shift::of_best_split(&centred);
        let ahead = [line.ahead_from(AHEAD_FROM.0), split.ahead_from(AHEAD_FROM.1), -missed(length)];
        let furthest = ahead.into_iter().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(0.0);
        let mean = Estimate { ahead: centre * furthest, ..mean_by_noise(&centred, centre) };
        let is_suspected = line.exceeds(SUSPECTED.line, 0.0) || split.exceeds(SUSPECTED.split, 0.0);
        let returns = is_suspected && returns(&centred, at);
        Some(Self { mean, line, split, before_split: at as f64 / length as f64, returns })
    }

    /// The movement of more than `smallest` that is found at these bars; `None` where a level came back.
    fn moves(&self, smallest: f64, bars: &Bars) -> Option<&Shift> {
        if self.returns {
            return None;
        }
        let rises = self.line.exceeds(bars.line, smallest).then_some(&self.line);
        let steps = self.before_split < LATEST_SPLIT && self.split.exceeds(bars.split, smallest);
        rises.or(steps.then_some(&self.split))
    }

    /// The verdict: precise by the whole interval, of no use by what noise alone makes of it.
    fn judged(&self, cut: usize, precision: f64) -> JudgedWindow {
        let verdict = if let Some(half_width) = useless(&self.mean) {
            WindowVerdict::Void(VoidReason::Useless { half_width })
        } else if self.mean.relative_half_width() <= precision {
            WindowVerdict::Valid
        } else {
            WindowVerdict::Wide
        };
        let movement = Some(self.line.quantity(self.mean.n));
        JudgedWindow { cut, mean: self.mean.clone(), movement, verdict }
    }
}

/// Half-width by noise alone of an interval that is too wide to say anything, as a share of the mean; `None` of one that says something.
pub fn useless(mean: &Estimate) -> Option<f64> {
    let by_noise = Estimate { ahead: 0.0, ..mean.clone() }.relative_half_width();
    (by_noise > LARGEST_HALF_WIDTH).then_some(by_noise)
}

/// Seconds of load after which the mean is known to this half-width, as a share of it, if they vary as these do: (1.96 CV ÷ h)² (1 + r) ÷ (1 − r), r the
/// correlation of neighbours. At least as many as there are events to average over cannot be told from them. `None` of fewer than 10 seconds, of gaps,
/// and of a mean that is not positive.
pub fn seconds_needed(seconds: &[f64], half_width: f64) -> Option<u64> {
    if seconds.len() < 10 || seconds.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let (mean, spread) = (super::distribution::mean(seconds), super::distribution::variance(seconds).sqrt());
    let pairs = seconds.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum::<f64>();
    let squares = seconds.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    let correlation = if squares > 0.0 { (pairs / squares).clamp(0.0, 0.99) } else { 0.0 };
    let needed = (1.96 * spread / mean / half_width).powi(2) * (1.0 + correlation) / (1.0 - correlation);
    (mean > 0.0).then(|| (needed.ceil() as u64).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CV 15 %, r 0.9, ±5 % take 660 s; CV 5 %, r 0.5 take 12 s.
    #[test]
    fn seconds_needed_follow_spread_and_dependence() {
        let near = |spread: f64, correlation: f64, expected: f64| {
            let noise = crate::noise::autoregressive(7, 20_000, correlation);
            let load: Vec<f64> = noise.iter().map(|x| 1_000.0 * (1.0 + spread * x)).collect();
            let needed = seconds_needed(&load, 0.05).unwrap() as f64;
            assert!((needed / expected - 1.0).abs() < 0.15, "{needed} for {expected}");
        };
        near(0.15, 0.9, 657.0);
        near(0.05, 0.5, 11.5);
        assert_eq!(seconds_needed(&[5.0; 20], 0.05), Some(1));
        assert_eq!(seconds_needed(&[f64::NAN; 20], 0.05).or(seconds_needed(&[1.0; 5], 0.05)), None);
    }
    use crate::noise::autoregressive;

    const RULE: WindowRule = WindowRule { precision: 0.05, movement: 0.02 };

    fn load(seconds: usize, noise: f64, shape: impl Fn(usize) -> f64) -> Vec<f64> {
        let chance = autoregressive(3, seconds, 0.3);
        (0..seconds).map(|t| 1_000.0 * shape(t) * (1.0 + noise * chance[t])).collect()
    }

    #[test]
    fn flat_loads_are_valid_and_noisy_ones_wide() {
        let flat = judge_window(&load(120, 0.03, |_| 1.0), &RULE);
        assert_eq!((flat.cut, &flat.verdict), (0, &WindowVerdict::Valid), "{flat:?}");
        let noisy = judge_window(&load(120, 0.5, |_| 1.0), &RULE);
        assert_eq!(noisy.verdict, WindowVerdict::Wide, "{noisy:?}");
        let wild = judge_window(&load(20, 1.5, |_| 1.0), &RULE);
        assert!(matches!(wild.verdict, WindowVerdict::Void(VoidReason::Useless { .. })), "{wild:?}");
    }

    /// Too few seconds are left after the cut to show what the whole load shows.
    #[test]
    fn a_fall_that_goes_on_after_the_cut_voids() {
        let load = [180, 174, 170, 170, 162, 158, 154, 148, 148, 144, 140, 138, 134, 130, 124, 118, 114, 112, 106, 102];
        let judged = judge_window(&load.map(f64::from), &RULE);
        assert!(matches!(judged.verdict, WindowVerdict::Void(VoidReason::Moving { .. })), "{judged:?}");
    }

    #[test]
    fn a_movement_that_ends_is_cut_and_one_that_goes_on_voids() {
        for (seconds, cut) in [(14.0, 15), (28.0, 30)] {
            let shape = |t: usize| 1.0 - 0.4 * (1.0 - t as f64 / seconds).max(0.0);
            let settles = judge_window(&load(120, 0.01, shape), &RULE);
            assert_eq!((settles.cut, &settles.verdict), (cut, &WindowVerdict::Valid), "{settles:?}");
        }
        let falls = judge_window(&load(120, 0.01, |t| 1.0 - 0.002 * t as f64), &RULE);
        assert!(matches!(falls.verdict, WindowVerdict::Void(VoidReason::Moving { .. })), "{falls:?}");
        let steps = judge_window(&load(120, 0.01, |t| if t < 70 { 1.0 } else { 0.8 }), &RULE);
        assert!(matches!(steps.verdict, WindowVerdict::Void(VoidReason::Moving { .. })), "{steps:?}");
    }

    /// A step down to `level` at this share of the load.
    fn stepped(at: f64, level: f64) -> JudgedWindow {
        judge_window(&load(120, 0.02, |t| if (t as f64) < 120.0 * at { 1.0 } else { level }), &RULE)
    }

    #[test]
    fn a_step_is_found_where_it_is_and_noise_has_none() {
        let seconds = load(120, 0.02, |t| if t < 84 { 1.0 } else { 0.9 });
        let found = Findings::of(&seconds).expect("enough seconds");
        assert!((found.before_split - 0.7).abs() < 0.02, "{}", found.before_split);
        assert!(found.split.exceeds(SHOWN.split, RULE.movement) && found.split.size < -0.09, "{:?}", found.split);
        let noise = Findings::of(&load(120, 0.02, |_| 1.0)).expect("enough seconds");
        assert!(!noise.split.exceeds(SUSPECTED.split, 0.0), "{:?}", noise.split);
        let void = stepped(0.8, 0.9).verdict;
        assert!(matches!(void, WindowVerdict::Void(VoidReason::Moving { .. })), "{void:?}");
    }

    /// Two levels in turns: a step or a line through them is found, and neither stays.
    #[test]
    fn levels_that_come_back_are_noise() {
        for (first, second, third) in [(60, 80, 125), (100, 140, 185), (140, 180, 225), (180, 260, 280)] {
            let is_low = |t: usize| t < first || (second..third).contains(&t);
            let seconds = load(330, 0.02, |t| if is_low(t) { 0.8 } else { 1.0 });
            let found = Findings::of(&seconds).expect("enough seconds");
            let of_line = found.line.exceeds(SUSPECTED.line, RULE.movement);
            assert!(of_line || found.split.exceeds(SUSPECTED.split, RULE.movement), "{first}: not suspected");
            let judged = judge_window(&seconds, &RULE);
            assert_eq!((judged.cut, &judged.verdict), (0, &WindowVerdict::Wide), "{first}: {judged:?}");
        }
    }

    /// Two long stays tell little of the memory; the interval does not leave what was seen by more than the distance of the two.
    #[test]
    fn an_interval_by_noise_is_no_wider_than_the_span_of_its_parts() {
        let seconds = load(120, 0.001, |t| if (40..80).contains(&t) { 0.6 } else { 1.0 });
        let judged = judge_window(&seconds, &RULE);
        let (low, high) = judged.mean.interval().bounds().expect("an interval");
        assert!(low > 600.0 && high < 1_070.0 && high - low > 350.0, "[{low}, {high}]");
    }

    #[test]
    fn a_stall_that_a_quiet_window_missed_is_inside() {
        for (seconds, low) in [(30, 0.0166), (60, 0.0166), (330, 0.003)] {
            let mean = mean_of_window(&load(seconds, 0.0005, |_| 1.0));
            let (lowest, highest) = mean.interval().bounds().expect("an interval");
            assert!(1.0 - lowest / mean.value >= low && 1.0 - lowest / mean.value < 1.1 * low, "{seconds}: {lowest}");
            assert!(highest / mean.value - 1.0 < 0.001, "{seconds}: {highest}");
        }
    }

    #[test]
    fn the_interval_reaches_the_level_of_a_late_step() {
        for at in [0.88, 0.92, 0.96] {
            let late = stepped(at, 0.9);
            assert_eq!(late.verdict, WindowVerdict::Wide, "{at}: {late:?}");
            let (low, high) = late.mean.interval().bounds().expect("an interval");
            assert!(low < 900.0 && high < 1_050.0, "{at}: [{low}, {high}]");
        }
    }

    #[test]
    fn every_second_belongs_to_a_part_and_counts_for_the_same_interval_everywhere() {
        let nineteen = load(19, 0.0, |t| if t == 0 { 0.0 } else { 1.0 });
        assert!(mean_of_window(&nineteen).standard_error > 0.0, "the first second counts");
        for shape in [0.0, 0.05, 0.15] {
            let seconds = load(120, 0.05, |t| 1.0 + shape * t as f64 / 120.0);
            let judged = judge_window(&seconds, &RULE);
            assert_eq!(judged.mean, mean_of_window(&seconds[judged.cut..]));
        }
    }

    #[test]
    fn few_operations_a_second_are_of_use_though_their_trend_is_uncertain() {
        let mut random = crate::random::Random::stream(4, 1);
        let counts: Vec<f64> = (0..60).map(|_| (0..20).filter(|_| random.uniform() < 0.1).count() as f64).collect();
        let few = judge_window(&counts, &RULE);
        assert_eq!(few.verdict, WindowVerdict::Wide, "{few:?}");
    }

    #[test]
    fn a_change_that_returns_is_noise_and_stays_inside() {
        let dips = judge_window(&load(120, 0.02, |t| if (50..70).contains(&t) { 0.6 } else { 1.0 }), &RULE);
        assert_eq!((dips.cut, &dips.verdict), (0, &WindowVerdict::Wide), "{dips:?}");
        let (low, high) = dips.mean.interval().bounds().expect("an interval");
        assert!(low < 933.0 && 933.0 < high, "[{low}, {high}]");
    }

    #[test]
    fn gaps_silence_and_few_seconds_are_told() {
        let mut values = load(60, 0.02, |_| 1.0);
        values[17] = f64::NAN;
        let gap = judge_window(&values, &RULE);
        assert_eq!(gap.verdict, WindowVerdict::Void(VoidReason::Gap { at: 17, seconds: 1 }));
        let silent = judge_window(&[0.0; 60], &RULE);
        assert_eq!(silent.verdict, WindowVerdict::Void(VoidReason::NoThroughput));
        let short = judge_window(&[900.0, 1_000.0], &RULE);
        assert_eq!((short.verdict, short.mean.value), (WindowVerdict::Wide, 950.0));
        assert!(judge_window(&[], &RULE).movement.is_none());
    }

    #[test]
    fn the_interval_reaches_further_to_the_side_of_the_movement() {
        let rises = mean_of_window(&load(120, 0.05, |t| 1.0 + 0.0002 * t as f64));
        let (low, high) = rises.interval().bounds().expect("an interval");
        assert!(high - rises.value > rises.value - low, "[{low}, {high}] around {}", rises.value);
    }
}

//! Stalls inside a measured window: whole seconds in which far too little was completed, and response times far beyond
//! the rest. A mean over the window hides both. Says when and how much, not why.

use super::distribution::median;
use super::latency::Sparse;

/// Throughput below this share of the window's median is a stall.
pub const SHARE_OF_MEDIAN: f64 = 0.5;
/// A response time above so many times the window's 99th percentile is a stall.
pub const TIMES_P99: u64 = 10;
/// Standard deviations below the median at which a second of a widely scattered series is a stall.
const DEVIATIONS: f64 = 4.0;
/// Share of the median below which a second is a stall however widely the series scatters.
const NEXT_TO_NOTHING: f64 = 0.05;
/// What a stall lacks must exceed so many standard deviations of a Poisson count, so that rare operations are no stall.
const COUNT_DEVIATIONS: f64 = 5.0;

/// Consecutive seconds of a stall.
#[derive(Clone, Debug, PartialEq)]
pub struct Stall {
    /// First second, counted from the window's start.
    pub from: usize,
    /// The second after the last.
    pub to: usize,
    /// Seconds of it with too little throughput; 0 when only response times stood out.
    pub slow_seconds: usize,
    /// Smallest throughput in it, operations per second.
    pub lowest: f64,
    /// Operations that the window's median would have completed in it and that were not.
    pub lacking: f64,
    /// Largest response time that ended in it, ns.
    pub largest_response_ns: Option<u64>,
}

/// What a window was searched with, and what was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stalls {
    /// Median throughput of the window, operations per second; NaN when there is none.
    pub median: f64,
    /// 99th percentile of response times of the window, ns.
    pub p99_ns: Option<u64>,
    /// Stalls in order of time.
    pub found: Vec<Stall>,
}

impl Stalls {
    /// The one that lacks most; among those that lack nothing, the one with the largest response time.
    pub fn worst(&self) -> Option<&Stall> {
        self.found.iter().max_by(|a, b| {
            a.lacking.total_cmp(&b.lacking).then_with(|| a.largest_response_ns.cmp(&b.largest_response_ns))
        })
    }
}

/// Searches a window: operations completed in each second (NaN where a second is missing), and the response times that
/// ended in each.
pub fn stalls(per_second: &[f64], responses: &[Sparse]) -> Stalls {
    let finite: Vec<f64> = per_second.iter().copied().filter(|value| value.is_finite()).collect();
    if finite.is_empty() {
        return Stalls { median: f64::NAN, ..Stalls::default() };
    }
    let window = Window {
        per_second,
        responses,
        median: median(&finite),
        limit: limit(&finite),
        p99_ns: Sparse::merged(responses).percentile(0.99),
    };
    Stalls { median: window.median, p99_ns: window.p99_ns, found: window.found() }
}

/// The throughput below which a second is a stall.
fn limit(finite: &[f64]) -> f64 {
    let middle = median(finite);
    let distances: Vec<f64> = finite.iter().map(|value| (value - middle).abs()).collect();
    // 1.4826 makes the median distance a standard deviation. Source: Rousseeuw and Croux, JASA 88 (1993).
    let deviation = 1.482_6 * median(&distances);
    (middle - DEVIATIONS * deviation).clamp(NEXT_TO_NOTHING * middle, SHARE_OF_MEDIAN * middle)
}

struct Window<'a> {
    per_second: &'a [f64],
    responses: &'a [Sparse],
    median: f64,
    limit: f64,
    p99_ns: Option<u64>,
}

impl Window<'_> {
    /// Slow seconds that follow each other are one stall, together with the late second in which it ended; every other
    /// late second is a stall of its own.
    fn found(&self) -> Vec<Stall> {
        let mut found = Vec::new();
        let mut from = 0;
        while from < self.per_second.len() {
            let slow = (from..self.per_second.len()).take_while(|at| self.is_slow(*at)).count();
            let to = from + slow + usize::from(self.is_late(from + slow));
            if to > from {
                found.push(self.stall(from, to));
            }
            from = to.max(from + 1);
        }
        found.retain(|stall| self.is_certain(stall) || (stall.from..stall.to).any(|at| self.is_late(at)));
        found
    }

    fn is_slow(&self, at: usize) -> bool {
        self.per_second.get(at).is_some_and(|value| *value < self.limit)
    }

    fn is_late(&self, at: usize) -> bool {
        let largest = self.responses.get(at).and_then(Sparse::max);
        largest.zip(self.p99_ns).is_some_and(|(largest, p99)| largest > p99.saturating_mul(TIMES_P99))
    }

    fn stall(&self, from: usize, to: usize) -> Stall {
        let slow: Vec<f64> =
            (from..to).filter(|at| self.is_slow(*at)).filter_map(|at| self.per_second.get(at)).copied().collect();
        let seconds = self.per_second.get(from..to).unwrap_or_default();
        Stall {
            from,
            to,
            slow_seconds: slow.len(),
            lowest: seconds.iter().copied().filter(|value| value.is_finite()).fold(f64::INFINITY, f64::min),
            lacking: slow.iter().map(|value| self.median - value).sum(),
            largest_response_ns: self.responses.get(from..to).unwrap_or_default().iter().filter_map(Sparse::max).max(),
        }
    }

    /// Whether more is lacking than the counts' own chance explains.
    fn is_certain(&self, stall: &Stall) -> bool {
        stall.lacking > COUNT_DEVIATIONS * (stall.slow_seconds as f64 * self.median).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;

    use super::super::random::Random;
    use super::*;
    use crate::noise::autoregressive;

    fn sparse(values: impl IntoIterator<Item = u64>) -> Sparse {
        let mut histogram = Histogram::<u64>::new_with_bounds(1, 100_000_000_000, 3).expect("valid bounds");
        for value in values {
            histogram.record(value).expect("in range");
        }
        Sparse::from_histogram(&histogram)
    }

    /// Due at a constant rate and served at once, except that nothing ends between two moments (ns); then all that is
    /// due ends together.
    fn stopped(seconds: u64, rate: u64, (from, to): (u64, u64)) -> (Vec<f64>, Vec<Sparse>) {
        let mut ended = vec![Vec::new(); seconds as usize];
        for number in 0..seconds * rate {
            let due = number * 1_000_000_000 / rate;
            let end = if (from..to).contains(&due) { to } else { due } + 1_000_000;
            if let Some(second) = ended.get_mut((end / 1_000_000_000) as usize) {
                second.push(end - due);
            }
        }
        (ended.iter().map(|second| second.len() as f64).collect(), ended.into_iter().map(sparse).collect())
    }

    #[test]
    fn a_stall_of_two_seconds_in_twenty_is_found_and_its_second_named() {
        for (from, first, seconds) in [(8_000_000_000, 8, 2), (7_250_000_000, 7, 2), (7_900_000_000, 8, 1)] {
            let (per_second, responses) = stopped(20, 1_000, (from, from + 2_000_000_000));
            let found = stalls(&per_second, &responses);
            let [stall] = found.found.as_slice() else { panic!("{from}: {found:?}") };
            assert_eq!((stall.from, stall.slow_seconds), (first, seconds), "{from}: {stall:?}");
            assert_eq!(found.median, 1_000.0);
            assert!(stall.lacking > 900.0 * seconds as f64 * 0.8, "{stall:?}");
            assert_eq!(found.worst(), Some(stall));
        }
    }

    #[test]
    fn a_closed_loop_that_stops_shows_in_its_response_times() {
        let mut random = Random::stream(3, 1);
        let mut responses: Vec<Sparse> =
            (0..30).map(|_| sparse((0..2_000).map(|_| (1e6 * (0.4 * random.normal()).exp()) as u64))).collect();
        let per_second = vec![2_000.0; 30];
        assert_eq!(stalls(&per_second, &responses).found, []);
        responses[11] = Sparse::merged([&responses[11].clone(), &sparse([300_000_000])]);
        let found = stalls(&per_second, &responses);
        let [stall] = found.found.as_slice() else { panic!("{found:?}") };
        assert_eq!((stall.from, stall.to, stall.slow_seconds), (11, 12, 0));
        assert!(stall.largest_response_ns.is_some_and(|ns| ns.abs_diff(300_000_000) < 300_000), "{stall:?}");
        responses[12] = responses[11].clone();
        assert_eq!(stalls(&per_second, &responses).found.len(), 2, "late seconds do not merge");
    }

    #[test]
    fn steady_noise_is_no_stall() {
        let alarms = |level: f64, noise: f64| {
            let window = |seed: u64| -> Vec<f64> {
                autoregressive(seed, 120, 0.5).iter().map(|z| (level * (1.0 + noise * z)).max(0.0).round()).collect()
            };
            (0..200).filter(|seed| !stalls(&window(*seed), &[]).found.is_empty()).count()
        };
        for (level, noise, at_most) in
            [(1_000.0, 0.02, 0), (1_000.0, 0.1, 0), (20_000.0, 0.15, 1), (50.0, 0.2, 2), (20_000.0, 0.2, 2)]
        {
            let found = alarms(level, noise);
            println!("alarms at level {level}, noise {noise}: {found} of 200 windows of 120 s");
            assert!(found <= at_most, "level {level}, noise {noise}: {found}");
        }
    }

    #[test]
    fn rare_operations_are_no_stall_unless_they_stay_away() {
        let mut random = Random::stream(5, 2);
        let rare: Vec<f64> = (0..300).map(|_| f64::from(u8::from(random.normal() > 0.0)) * 4.0 + 2.0).collect();
        assert_eq!(stalls(&rare, &[]).found, []);
        let mut gone = vec![4.0; 60];
        gone[20..35].fill(0.0);
        let found = stalls(&gone, &[]).found;
        assert_eq!(found.iter().map(|stall| (stall.from, stall.to)).collect::<Vec<_>>(), [(20, 35)]);
    }

    #[test]
    fn missing_seconds_and_empty_windows_are_no_stall() {
        let mut values = vec![1_000.0; 20];
        values[4] = f64::NAN;
        assert_eq!(stalls(&values, &[]).found, []);
        assert!(stalls(&[], &[]).median.is_nan() && stalls(&[f64::NAN], &[]).found.is_empty());
        assert_eq!(stalls(&[0.0; 20], &[]).found, []);
    }
}

//! Arrivals at random: a Poisson process whose arrival number i is a function of (seed, rate, i). Reads no clock and
//! knows no users.

use crate::rng::Rng;
use crate::seed::Seed;

/// Arrivals of one stratum. A stratum that nobody asks for costs one draw of its length instead of one draw per
/// arrival; one that somebody asks for costs its draws at once, about 2 µs.
const STRATUM: usize = 256;

/// Times within a walk are kept in 2⁻³² nanoseconds, so that sums of billions of gaps do not drift.
const FRACTION_BITS: u32 = 32;

/// A walk along a Poisson process: gaps are independent and exponentially distributed.
///
/// Gaps come in strata of 256. The length of a stratum is drawn first, from the gamma distribution of a sum of 256
/// exponential gaps; then the gaps as 256 exponential draws, scaled to that length. Shares and sum of independent
/// exponential gaps are independent (Lukacs, "A characterization of the gamma distribution", Ann. Math. Statist. 26,
/// 1955), so the gaps are exactly those of a Poisson process, and strata can be skipped.
#[derive(Debug, Clone)]
pub struct PoissonArrivals {
    seed: Seed,
    /// Mean gap, nanoseconds.
    mean_gap_ns: f64,
    /// Stratum where the walk stands.
    stratum: u64,
    /// Start and length of that stratum, in 2⁻³² nanoseconds.
    begins: u128,
    length: u128,
    /// Ends of its gaps as shares of its length, once they are drawn.
    ends: Box<[f64; STRATUM]>,
    drawn: bool,
}

impl PoissonArrivals {
    /// A walk along arrivals of a mean rate, 1/s, which must be positive.
    pub fn new(seed: Seed, per_second: f64) -> Self {
        debug_assert!(per_second > 0.0, "arrivals need a positive rate");
        let mut walk = Self {
            seed,
            mean_gap_ns: 1e9 / per_second,
            stratum: 0,
            begins: 0,
            length: 0,
            ends: Box::new([0.0; STRATUM]),
            drawn: false,
        };
        walk.enter(0);
        walk
    }

    /// Nanoseconds from time zero to arrival `index`, the first one being number 0. Cheap for rising indices; an index
    /// below the stratum of the last one walks anew from the beginning.
    pub fn due_ns(&mut self, index: u64) -> u64 {
        let wanted = index / STRATUM as u64;
        if wanted < self.stratum {
            self.begins = 0;
            self.enter(0);
        }
        while self.stratum < wanted {
            self.begins += self.length;
            self.enter(self.stratum + 1);
        }
        if !self.drawn {
            self.draw();
        }
        let share = self.ends[(index % STRATUM as u64) as usize];
        let inside = (share * self.length as f64) as u128;
        u64::try_from((self.begins + inside) >> FRACTION_BITS).unwrap_or(u64::MAX)
    }

    /// Stands in a stratum whose beginning is known; draws its length.
    fn enter(&mut self, stratum: u64) {
        self.stratum = stratum;
        self.drawn = false;
        let total = gamma(STRATUM as f64, &mut self.seed.of(stratum).of(0).rng());
        self.length = (total * self.mean_gap_ns * f64::from(FRACTION_BITS).exp2()) as u128;
    }

    /// Draws the gaps of the stratum.
    fn draw(&mut self) {
        let mut rng = self.seed.of(self.stratum).of(1).rng();
        let mut sum = 0.0;
        for end in self.ends.iter_mut() {
            sum -= unit(&mut rng).ln();
            *end = sum;
        }
        self.ends.iter_mut().for_each(|end| *end /= sum);
        self.drawn = true;
    }
}

/// A negative exponential time of this mean, cut at `most`; both in nanoseconds. Source: TPC-C 5.11, clause 5.2.5.4, T
/// = −ln(r) × mean.
pub fn exponential_ns(rng: &mut Rng, mean: u64, most: u64) -> u64 {
    ((-unit(rng).ln() * mean as f64) as u64).min(most)
}

/// A uniform number between 0 and 1, both excluded.
fn unit(rng: &mut Rng) -> f64 {
    ((rng.next_u64() >> 11) as f64 + 0.5) * (-53.0f64).exp2()
}

/// A standard normal number. Source: Marsaglia's polar method (Marsaglia and Bray, SIAM Review 6, 1964).
fn normal(rng: &mut Rng) -> f64 {
    loop {
        let (x, y) = (2.0 * unit(rng) - 1.0, 2.0 * unit(rng) - 1.0);
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            return x * (-2.0 * square.ln() / square).sqrt();
        }
    }
}

/// A gamma-distributed number of this shape (at least 1) and scale 1. Source: Marsaglia and Tsang, "A simple method for
/// generating gamma variables", ACM TOMS 26 (2000).
fn gamma(shape: f64, rng: &mut Rng) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(rng);
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && unit(rng).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first `count` arrivals at this rate, s.
    fn times(seed: u64, per_second: f64, count: u64) -> Vec<f64> {
        let mut walk = PoissonArrivals::new(Seed(seed), per_second);
        (0..count).map(|index| walk.due_ns(index) as f64 / 1e9).collect()
    }

    fn gaps(times: &[f64]) -> Vec<f64> {
        std::iter::once(times[0]).chain(times.windows(2).map(|pair| pair[1] - pair[0])).collect()
    }

    /// Largest distance between the values' distribution and `cdf`, times the root of their number: Kolmogorov and
    /// Smirnov.
    fn kolmogorov(mut values: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
        values.sort_by(f64::total_cmp);
        let n = values.len() as f64;
        let distance = |(place, value): (usize, &f64)| {
            let p = cdf(*value);
            (p - place as f64 / n).abs().max(((place + 1) as f64 / n - p).abs())
        };
        values.iter().enumerate().map(distance).fold(0.0, f64::max) * n.sqrt()
    }

    /// Arrivals in each window of so many seconds.
    fn counts(times: &[f64], window: f64) -> Vec<f64> {
        let windows = (times[times.len() - 1] / window) as usize;
        let mut counts = vec![0.0; windows];
        for time in times {
            if let Some(count) = counts.get_mut((time / window) as usize) {
                *count += 1.0;
            }
        }
        counts
    }

    #[test]
    fn gaps_are_exponential() {
        for seed in 1..=5 {
            let statistic = kolmogorov(gaps(&times(seed, 1000.0, 200_000)), |gap| 1.0 - (-1000.0 * gap).exp());
            // 1.95 is passed by chance in one of a thousand samples.
            assert!(statistic < 1.95, "seed {seed}: {statistic}");
        }
    }

    #[test]
    fn gaps_do_not_depend_on_each_other_within_strata_and_across_them() {
        let gaps = gaps(&times(7, 1.0, 400_000));
        for lag in [1, 2, 255, 256, 257] {
            let products: Vec<f64> = gaps.iter().zip(&gaps[lag..]).map(|(a, b)| (a - 1.0) * (b - 1.0)).collect();
            let n = products.len() as f64;
            let correlation = products.iter().sum::<f64>() / n;
            assert!(correlation.abs() < 3.5 / n.sqrt(), "lag {lag}: {correlation}");
        }
    }

    #[test]
    fn counts_are_as_spread_as_poisson_at_every_scale() {
        // The variance over the mean of Poisson counts is 1; its standard error is √(2 / windows). Fixed numbers per
        // stratum would show as less than 1 in windows of about a stratum and longer.
        let times = times(11, 1000.0, 2_000_000);
        for window in [0.001, 0.01, 0.1, 0.256, 1.0, 4.0] {
            let counts = counts(&times, window);
            let n = counts.len() as f64;
            let mean = counts.iter().sum::<f64>() / n;
            let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / (n - 1.0);
            let error = (2.0 / n).sqrt();
            assert!((variance / mean - 1.0).abs() < 3.5 * error, "{window} s: {} ± {error}", variance / mean);
        }
    }

    #[test]
    fn counts_follow_the_poisson_distribution() {
        // Windows of 4 arrivals on average; cells 0 to 11 and the rest.
        let counts = counts(&times(13, 1000.0, 800_000), 0.004);
        let (n, cells) = (counts.len() as f64, 12);
        let mut p = (-4.0f64).exp();
        let (mut statistic, mut rest, mut others) = (0.0, n, n);
        for cell in 0..cells {
            let found = counts.iter().filter(|count| **count == f64::from(cell)).count() as f64;
            statistic += (found - n * p).powi(2) / (n * p);
            (rest, others) = (rest - found, others - n * p);
            p *= 4.0 / f64::from(cell + 1);
        }
        statistic += (rest - others).powi(2) / others;
        // 12 degrees of freedom: 32.9 is passed by chance in one of a thousand samples.
        assert!(statistic < 32.9, "{statistic}");
    }

    #[test]
    fn an_arrival_is_a_function_of_its_index() {
        let mut walk = PoissonArrivals::new(Seed(3), 50_000.0);
        let all: Vec<u64> = (0..10_000).map(|index| walk.due_ns(index)).collect();
        assert!(all.is_sorted());
        for start in [0, 1, 255, 256, 5_000, 9_999] {
            let mut other = PoissonArrivals::new(Seed(3), 50_000.0);
            assert_eq!(other.due_ns(start), all[start as usize], "asked for {start} first");
            assert_eq!(other.due_ns(17), all[17], "asked for an earlier one afterwards");
        }
        assert_ne!(PoissonArrivals::new(Seed(4), 50_000.0).due_ns(0), all[0]);
    }

    #[test]
    fn a_long_walk_keeps_its_rate() {
        // A thousand million arrivals; the standard deviation of the last one's time is its root of that many gaps.
        let mut walk = PoissonArrivals::new(Seed(5), 1e6);
        let last = walk.due_ns(999_999_999) as f64 / 1e9;
        assert!((last / 1000.0 - 1.0).abs() < 4.0 / 1e9f64.sqrt(), "{last} s");
    }

    #[test]
    fn exponential_times_have_their_mean_and_are_cut() {
        let mut rng = Seed(9).rng();
        let (mean, most) = (12_000_000_000u64, 120_000_000_000);
        let draws: Vec<f64> = (0..200_000).map(|_| exponential_ns(&mut rng, mean, most) as f64 / 1e9).collect();
        let found = draws.iter().sum::<f64>() / draws.len() as f64;
        // Cut at ten times the mean, the mean falls by a factor of 1 - e^-10.
        assert!((found - 12.0 * (1.0 - (-10.0f64).exp())).abs() < 3.5 * 12.0 / 200_000f64.sqrt(), "{found}");
        assert!(draws.iter().all(|draw| *draw <= 120.0));
        assert_eq!(exponential_ns(&mut rng, mean, 0), 0);
    }
}

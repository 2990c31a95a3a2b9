//! YCSB's own choices of a key, bit for bit: the same uniform numbers in, the same keys out.
//!
//! YCSB draws from a generator per thread that cannot be seeded, so equality is stated for the numbers it draws; they
//! come in through [`Draws`]. What YCSB 0.17.0 cuts to 31 bits (`intValue`) keeps its 64 bits here, and so differs
//! beyond 2^31 records, where YCSB fails. Its scrambled zipfian is no zipfian distribution over the records
//! (brianfrankcooper/YCSB#1495), which is why it has a name of its own.
//!
//! Sources: the classes of the same names in `site.ycsb.generator` and `CoreWorkload.nextKeynum`, YCSB 0.17.0; Gray et
//! al., "Quickly generating billion-record synthetic databases", SIGMOD 1994.

use super::YCSB_THETA;
use super::precise::{ln, power};
use super::real;

/// Uniform random numbers, as YCSB asks its generator for them.
pub trait Draws {
    /// A multiple of 2^-53 in 0 to below 1: Java's `nextDouble`.
    fn unit(&mut self) -> f64;
    /// 64 random bits: Java's `nextLong`.
    fn word(&mut self) -> u64;
}

/// FNV-1a of the eight octets of `number`, low end first, without its sign as `Math.abs` takes it: for the one
/// hash that has no positive counterpart, -2^63 stays.
#[must_use]
#[inline]
pub fn fnv_hash(number: u64) -> i64 {
    let hash = number
        .to_le_bytes()
        .into_iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, octet| (hash ^ u64::from(octet)).wrapping_mul(1_099_511_628_211));
    hash.cast_signed().wrapping_abs()
}

/// Gray's approximation of a zipfian distribution with skew 0.99, as `ZipfianGenerator` has it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Gray {
    /// The sum of k^-0.99 over the ranks k.
    zeta: f64,
    /// Ranks that the constant `eta` was made for: those of the start, also after growth.
    first_ranks: f64,
    eta: f64,
    /// End of the second rank's interval: 1 + 2^-0.99.
    second: f64,
}

impl Gray {
    fn new(ranks: u64, zeta: f64) -> Self {
        let second = 1.0 + power(0.5, YCSB_THETA);
        let mut gray = Self { zeta, first_ranks: ranks as f64, eta: 0.0, second };
        gray.set_zeta(zeta);
        gray
    }

    fn set_zeta(&mut self, zeta: f64) {
        self.zeta = zeta;
        self.eta = (1.0 - power(2.0 / self.first_ranks, 1.0 - YCSB_THETA)) / (1.0 - zeta_of(2) / zeta);
    }

    /// A rank from 0, of `ranks`.
    #[inline]
    fn rank(&self, unit: f64, ranks: u64) -> u64 {
        let area = unit * self.zeta;
        if area < 1.0 {
            return 0;
        }
        if area < self.second {
            return 1;
        }
        let base = self.eta * unit - self.eta + 1.0;
        let (ranks, exponent) = (ranks as f64, 1.0 / (1.0 - YCSB_THETA));
        let near = ranks * real::exp(exponent * real::ln(base));
        floor(near, || ranks * power(base, exponent))
    }
}

/// `ScrambledZipfianGenerator`: a rank of ten billion and one, hashed into the keyspace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScrambledZipfian {
    gray: Gray,
    keyspace: u64,
}

impl ScrambledZipfian {
    /// Ranks that are drawn from, whatever the keyspace.
    pub const RANKS: u64 = 10_000_000_001;
    /// The sum of k^-0.99 over 10^10 ranks as YCSB states it.
    const ZETA: f64 = 26.469_028_201_783_02;

    /// A distribution over the keys `0..keyspace`: records, twice the expected inserts, and one. YCSB's constructor
    /// draws once and drops what it drew; this one does not draw.
    #[must_use]
    pub fn new(keyspace: u64) -> Self {
        Self { gray: Gray::new(Self::RANKS, Self::ZETA), keyspace: keyspace.max(1) }
    }

    /// A key of the keyspace, whether or not a record has it.
    #[must_use]
    #[inline]
    pub fn draw(&self, draws: &mut impl Draws) -> u64 {
        let hash = fnv_hash(self.gray.rank(draws.unit(), Self::RANKS));
        (hash % self.keyspace.cast_signed()).unsigned_abs()
    }

    /// A key below `records`: others are drawn again, as `nextKeynum` does.
    #[must_use]
    #[inline]
    pub fn draw_below(&self, records: u64, draws: &mut impl Draws) -> u64 {
        loop {
            let key = self.draw(draws);
            if key < records {
                return key;
            }
        }
    }
}

/// `SkewedLatestGenerator`: the newest record less a rank. As in YCSB, record 0 is all but never drawn.
///
/// The sum over more than a hundred ranks is taken by a formula, at no cost, where YCSB adds term by term. Rounding
/// errors of its sum might move a draw by a rank; of a million draws from 10^8 records they move none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkewedLatest {
    gray: Gray,
    ranks: u64,
}

impl SkewedLatest {
    /// A distribution over `records` loaded records, at least 4. YCSB's constructors draw twice and drop what they
    /// drew; this one does not draw.
    #[must_use]
    pub fn new(records: u64) -> Self {
        let ranks = records.max(4) - 1;
        Self { gray: Gray::new(ranks, zeta_of(ranks)), ranks }
    }

    /// States how many records are readable now, no fewer than at the start.
    pub fn set_records(&mut self, records: u64) {
        let ranks = records - 1;
        if ranks != self.ranks {
            self.gray.set_zeta(zeta_of(ranks));
            self.ranks = ranks;
        }
    }

    /// A readable record.
    #[must_use]
    #[inline]
    pub fn draw(&self, draws: &mut impl Draws) -> u64 {
        self.ranks - self.gray.rank(draws.unit(), self.ranks).min(self.ranks)
    }
}

/// `HotspotIntegerGenerator`: a hot part of the records at the low end, the others cold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hotspot {
    hot: u64,
    cold: u64,
    operations: f64,
}

impl Hotspot {
    /// The share `set` of `records` is hot and gets the share `operations` of the draws. Where YCSB would divide by
    /// an empty part, the other part is taken.
    #[must_use]
    pub fn new(records: u64, set: f64, operations: f64) -> Self {
        let hot = ((records as f64 * set) as u64).min(records);
        Self { hot, cold: records - hot, operations }
    }

    /// A record.
    #[must_use]
    #[inline]
    pub fn draw(&self, draws: &mut impl Draws) -> u64 {
        let hot = draws.unit() < self.operations;
        if (hot && self.hot > 0) || self.cold == 0 {
            uniform(self.hot, draws)
        } else {
            self.hot + uniform(self.cold, draws)
        }
    }
}

/// `ExponentialGenerator`: the newest record less an exponentially distributed age.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exponential {
    gamma: f64,
}

impl Exponential {
    /// `percentile` per cent of the draws fall into the newest `share` of `records`.
    #[must_use]
    pub fn new(records: u64, percentile: f64, share: f64) -> Self {
        Self { gamma: -ln(1.0 - percentile / 100.0) / (records as f64 * share) }
    }

    /// A record below `records`; ages beyond the first record are drawn again, as the one of 0 is without end.
    #[must_use]
    #[inline]
    pub fn draw_below(&self, records: u64, draws: &mut impl Draws) -> u64 {
        loop {
            let unit = draws.unit();
            if unit > 0.0 {
                let age = floor(-real::ln(unit) / self.gamma, || -ln(unit) / self.gamma);
                if age < records {
                    return records - 1 - age;
                }
            }
        }
    }
}

/// `UniformLongGenerator` from 0: a record below `records`, which must be positive.
#[must_use]
#[inline]
pub fn uniform(records: u64, draws: &mut impl Draws) -> u64 {
    // YCSB takes the remainder of the absolute value; the one word without a positive counterpart is drawn again.
    loop {
        let word = draws.word().cast_signed();
        if let Some(positive) = word.checked_abs() {
            return positive.unsigned_abs() % records;
        }
    }
}

/// The whole part of what `precise` computes, of which `near` differs by less than a part in 10^12: most often that
/// leaves no doubt, at a fifth of the cost.
#[inline]
fn floor(near: f64, precise: impl FnOnce() -> f64) -> u64 {
    let spread = near * 1e-12;
    let (least, most) = ((near - spread) as u64, (near + spread) as u64);
    if least == most { least } else { precise() as u64 }
}

/// The largest number of ranks whose sum is taken term by term.
const MOST_TERMS: u64 = 100;

/// The sum of k^-0.99 over k = 1..=ranks, as YCSB adds it up but for rounding errors.
fn zeta_of(ranks: u64) -> f64 {
    if ranks <= MOST_TERMS {
        (1..=ranks).fold(0.0, |sum, rank| sum + 1.0 / power(rank as f64, YCSB_THETA))
    } else {
        zeta_by_formula(ranks)
    }
}

/// Euler and Maclaurin: ζ(θ) + n^(1-θ)/(1-θ) + n^-θ/2 - θ n^(-θ-1)/12 + θ(θ+1)(θ+2) n^(-θ-3)/720, with an error
/// below n^(-θ-5)/200.
fn zeta_by_formula(ranks: u64) -> f64 {
    /// Riemann's zeta at the double nearest to 0.99.
    const ZETA_AT_THETA: f64 = -99.423_512_977_728_1;
    const THETA: f64 = YCSB_THETA;
    let n = ranks as f64;
    let height = power(n, -THETA);
    let bend = THETA * (THETA + 1.0) * (THETA + 2.0) / (720.0 * n * n * n);
    ZETA_AT_THETA + power(n, 1.0 - THETA) / (1.0 - THETA) + height * (0.5 - THETA / (12.0 * n) + bend)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_gives_the_sum() {
        let mut sum = 0.0;
        for rank in 1..=100_000_u32 {
            sum += 1.0 / power(f64::from(rank), YCSB_THETA);
            if [100, 101, 1_000, 10_000, 100_000].contains(&rank) {
                let error = (zeta_by_formula(rank.into()) - sum).abs();
                assert!(error < 1e-13, "{rank}: {error:e}");
            }
        }
        // What YCSB states for ten billion.
        assert!((zeta_by_formula(10_000_000_000) - ScrambledZipfian::ZETA).abs() < 1e-9);
    }
}

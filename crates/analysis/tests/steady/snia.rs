//! SNIA's steady-state criterion, which the detector is compared with.

use proofload_analysis::distribution::mean;

/// What SNIA's performance test specification says of a window of rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Snia {
    /// (largest − smallest round) ÷ window mean; at most 0.20 to be steady.
    pub(crate) excursion: f64,
    /// Absolute rise or fall of the least-squares line over the window ÷ window mean; at most 0.10.
    pub(crate) slope: f64,
}

impl Snia {
    /// Whether both limits hold.
    pub(crate) fn is_steady(&self) -> bool {
        self.excursion <= 0.20 && self.slope <= 0.10
    }
}

/// The criterion over the means of consecutive rounds; `None` for fewer than two or a mean that is not
/// positive. The line's rise runs from the first to the last round, as the specification draws it.
pub(crate) fn snia(rounds: &[f64]) -> Option<Snia> {
    let centre = mean(rounds);
    if rounds.len() < 2 || centre <= 0.0 || !centre.is_finite() {
        return None;
    }
    let middle = (rounds.len() as f64 - 1.0) / 2.0;
    let spread: f64 = (0..rounds.len()).map(|i| (i as f64 - middle).powi(2)).sum();
    let slope = rounds.iter().enumerate().map(|(i, y)| (i as f64 - middle) * y).sum::<f64>() / spread;
    let largest = rounds.iter().copied().fold(f64::MIN, f64::max);
    let smallest = rounds.iter().copied().fold(f64::MAX, f64::min);
    Some(Snia { excursion: (largest - smallest) / centre, slope: (slope * (rounds.len() - 1) as f64 / centre).abs() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rounds: &[f64], steady: bool) {
        assert_eq!(snia(rounds).expect("rounds").is_steady(), steady, "{rounds:?}");
    }

    #[test]
    fn limits_of_twenty_and_ten_percent() {
        check(&[100.0, 110.0, 95.0, 104.0, 98.0], true);
        check(&[100.0, 125.0, 95.0, 104.0, 98.0], false);
        check(&[94.0, 97.0, 100.0, 103.0, 106.0], false);
        check(&[96.0, 98.0, 100.0, 102.0, 104.0], true);
        assert!(snia(&[0.0; 5]).is_none());
    }
}

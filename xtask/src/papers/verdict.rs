//! When a shape counts as the same. May not know where figures come from.

use super::description::Expected;

/// What an interval says of a relation, or all relations of a paper together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The whole interval lies where the publication's ratio does.
    Same,
    /// The whole interval lies elsewhere.
    Other,
    /// The interval holds both, or there is none.
    Unknown,
}

impl Verdict {
    /// Judges an interval of the ratio.
    pub(super) fn of(expected: Expected, (low, high): (f64, f64)) -> Self {
        let (floor, ceiling) = match expected {
            Expected::More => (1.0, f64::INFINITY),
            Expected::Less => (0.0, 1.0),
            Expected::Near(within) => (1.0 / (1.0 + within), 1.0 + within),
        };
        if low >= floor && high <= ceiling {
            Self::Same
        } else if high < floor || low > ceiling {
            Self::Other
        } else {
            Self::Unknown
        }
    }

    /// One verdict for several: other as soon as one is, same only when all are.
    pub(super) fn of_all(verdicts: impl Iterator<Item = Self>) -> Self {
        verdicts.fold(Self::Same, |whole, one| match (whole, one) {
            (Self::Other, _) | (_, Self::Other) => Self::Other,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Same, Self::Same) => Self::Same,
        })
    }

    /// Its words.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Same => "same shape",
            Self::Other => "other shape",
            Self::Unknown => "cannot be told",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_interval_tells() {
        for (expected, interval, verdict) in [
            (Expected::More, (1.2, 3.0), Verdict::Same),
            (Expected::More, (0.9, 3.0), Verdict::Unknown),
            (Expected::More, (0.2, 0.9), Verdict::Other),
            (Expected::Less, (0.2, 0.9), Verdict::Same),
            (Expected::Less, (1.1, 1.2), Verdict::Other),
            (Expected::Near(0.2), (0.9, 1.1), Verdict::Same),
            (Expected::Near(0.2), (0.7, 1.1), Verdict::Unknown),
            (Expected::Near(0.2), (0.5, 0.8), Verdict::Other),
        ] {
            assert_eq!(Verdict::of(expected, interval), verdict, "{expected:?} {interval:?}");
        }
        let all = |verdicts: &[Verdict]| Verdict::of_all(verdicts.iter().copied());
        assert_eq!(all(&[Verdict::Same, Verdict::Unknown, Verdict::Other]), Verdict::Other);
        assert_eq!(all(&[Verdict::Same, Verdict::Unknown]), Verdict::Unknown);
        assert_eq!(all(&[Verdict::Same]), Verdict::Same);
    }
}

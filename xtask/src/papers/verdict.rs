//! When a shape counts as the same. May not know where figures come from.

use super::description::ClaimOfRatio;

/// What an interval says of a relation, or all relations of a paper together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShapeVerdict {
    /// The whole interval lies where the publication's ratio does.
    Same,
    /// The whole interval lies elsewhere.
    Other,
    /// The interval holds both, or there is none.
    Unknown,
}

impl ShapeVerdict {
    /// Judges an interval of the ratio.
    pub(super) fn of(expected: ClaimOfRatio, (low, high): (f64, f64)) -> Self {
        let (floor, ceiling) = match expected {
            ClaimOfRatio::More => (1.0, f64::INFINITY),
            ClaimOfRatio::Less => (0.0, 1.0),
            ClaimOfRatio::Near(within) => (1.0 / (1.0 + within), 1.0 + within),
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
            (ClaimOfRatio::More, (1.2, 3.0), ShapeVerdict::Same),
            (ClaimOfRatio::More, (0.9, 3.0), ShapeVerdict::Unknown),
            (ClaimOfRatio::More, (0.2, 0.9), ShapeVerdict::Other),
            (ClaimOfRatio::Less, (0.2, 0.9), ShapeVerdict::Same),
            (ClaimOfRatio::Less, (1.1, 1.2), ShapeVerdict::Other),
            (ClaimOfRatio::Near(0.2), (0.9, 1.1), ShapeVerdict::Same),
            (ClaimOfRatio::Near(0.2), (0.7, 1.1), ShapeVerdict::Unknown),
            (ClaimOfRatio::Near(0.2), (0.5, 0.8), ShapeVerdict::Other),
        ] {
            assert_eq!(ShapeVerdict::of(expected, interval), verdict, "{expected:?} {interval:?}");
        }
        let all = |verdicts: &[ShapeVerdict]| ShapeVerdict::of_all(verdicts.iter().copied());
        assert_eq!(all(&[ShapeVerdict::Same, ShapeVerdict::Unknown, ShapeVerdict::Other]), ShapeVerdict::Other);
        assert_eq!(all(&[ShapeVerdict::Same, ShapeVerdict::Unknown]), ShapeVerdict::Unknown);
        assert_eq!(all(&[ShapeVerdict::Same]), ShapeVerdict::Same);
    }
}

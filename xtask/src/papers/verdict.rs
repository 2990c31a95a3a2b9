//! When a relation here is that of the publication. May not know where figures come from.

use super::description::ClaimOfRatio;

/// Factor within which a ratio of another machine, database and size counts as of the same size. Ours: no publication gives an interval.
pub(super) const SAME_SIZE: f64 = 1.5;

/// What is known of a ratio here.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RatioHere {
    /// The ratio.
    pub(super) value: f64,
    /// Its 95 % confidence interval.
    pub(super) interval: (f64, f64),
}

/// What an interval says of a relation, or all relations of a paper together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RelationVerdict {
    /// The whole interval lies on the published side, and the published ratio inside it or within [`SAME_SIZE`] of ours.
    SameSize,
    /// The whole interval lies on the published side; nothing more is claimed.
    SameDirection,
    /// The whole interval lies elsewhere.
    Other,
    /// The interval holds both, or there is none.
    Unknown,
}

impl RelationVerdict {
    /// Judges a ratio against the published one, if figures are printed.
    pub(super) fn of(expected: ClaimOfRatio, published: Option<f64>, here: RatioHere) -> Self {
        let (floor, ceiling) = match expected {
            ClaimOfRatio::More => (1.0, f64::INFINITY),
            ClaimOfRatio::Less => (0.0, 1.0),
            ClaimOfRatio::Near(within) => (1.0 / (1.0 + within), 1.0 + within),
        };
        let (low, high) = here.interval;
        if low >= floor && high <= ceiling {
            let is_near = |published: f64| {
                let factor = (published / here.value).max(here.value / published);
                (low..=high).contains(&published) || factor <= SAME_SIZE
            };
            if published.is_some_and(is_near) { Self::SameSize } else { Self::SameDirection }
        } else if high < floor || low > ceiling {
            Self::Other
        } else {
            Self::Unknown
        }
    }

    /// One verdict for several: other as soon as one is, the same size only when all are.
    pub(super) fn of_all(verdicts: impl Iterator<Item = Self>) -> Self {
        let strength = |verdict: &Self| match verdict {
            Self::Other => 0,
            Self::Unknown => 1,
            Self::SameDirection => 2,
            Self::SameSize => 3,
        };
        verdicts.min_by_key(strength).unwrap_or(Self::Unknown)
    }

    /// Its words.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::SameSize => "same size",
            Self::SameDirection => "same direction",
            Self::Other => "other",
            Self::Unknown => "cannot be told",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here(value: f64, low: f64, high: f64) -> RatioHere {
        RatioHere { value, interval: (low, high) }
    }

    #[test]
    fn only_a_whole_interval_tells_the_direction() {
        for (expected, found, verdict) in [
            (ClaimOfRatio::More, here(2.0, 1.2, 3.0), RelationVerdict::SameDirection),
            (ClaimOfRatio::More, here(2.0, 0.9, 3.0), RelationVerdict::Unknown),
            (ClaimOfRatio::More, here(0.5, 0.2, 0.9), RelationVerdict::Other),
            (ClaimOfRatio::Less, here(0.5, 0.2, 0.9), RelationVerdict::SameDirection),
            (ClaimOfRatio::Less, here(1.15, 1.1, 1.2), RelationVerdict::Other),
            (ClaimOfRatio::Near(0.2), here(1.0, 0.9, 1.1), RelationVerdict::SameDirection),
            (ClaimOfRatio::Near(0.2), here(0.9, 0.7, 1.1), RelationVerdict::Unknown),
            (ClaimOfRatio::Near(0.2), here(0.6, 0.5, 0.8), RelationVerdict::Other),
        ] {
            assert_eq!(RelationVerdict::of(expected, None, found), verdict, "{expected:?} {found:?}");
        }
    }

    #[test]
    fn a_size_is_the_same_inside_the_interval_or_within_a_factor_that_is_stated() {
        for (published, found, verdict) in [
            // Four times the published ratio has its direction alone.
            (2.05, here(7.13, 6.06, 8.58), RelationVerdict::SameDirection),
            (2.05, here(2.9, 2.5, 3.4), RelationVerdict::SameSize),
            (2.05, here(3.2, 2.0, 5.0), RelationVerdict::SameSize),
            (2.05, here(0.5, 0.4, 0.6), RelationVerdict::Other),
            (2.05, here(1.2, 0.9, 1.6), RelationVerdict::Unknown),
        ] {
            assert_eq!(RelationVerdict::of(ClaimOfRatio::More, Some(published), found), verdict, "{found:?}");
        }
    }

    #[test]
    fn a_paper_is_as_much_alike_as_its_least_alike_relation() {
        let all = |verdicts: &[RelationVerdict]| RelationVerdict::of_all(verdicts.iter().copied());
        let [size, direction] = [RelationVerdict::SameSize, RelationVerdict::SameDirection];
        assert_eq!(all(&[size, RelationVerdict::Unknown, RelationVerdict::Other]), RelationVerdict::Other);
        assert_eq!(all(&[size, RelationVerdict::Unknown]), RelationVerdict::Unknown);
        assert_eq!((all(&[size, direction]), all(&[size])), (direction, size));
    }
}

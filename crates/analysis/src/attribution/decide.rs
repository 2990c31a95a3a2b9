//! What the elasticities of a point allow to be said of each resource.

use super::estimate::KnobElasticity;
use crate::distribution::student_quantile;

/// Elasticity up to which a resource is of no account.
const OF_NO_ACCOUNT: f64 = 0.15;
/// Upper bound up to which a resource is cleared.
const CLEARED: f64 = 0.3;
/// Elasticity from which on a resource binds, and above which the lower bound must lie.
const BINDS: f64 = 0.7;
const BINDS_ABOVE: f64 = 0.5;
/// One-sided level, after Holm.
const LEVEL: f64 = 0.025;
/// Blocks beyond which it is not said how many more it would take.
const MOST_ADVISED: u32 = 200;

/// What is said of one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceVerdict {
    /// The result follows it about one for one: it binds.
    Confirmed,
    /// The result follows it in part.
    Contributes,
    /// The result does not follow it.
    Refuted {
        /// Whether even the upper bound is of no account.
        is_firm: bool,
    },
    /// Neither is shown.
    NotToldApart {
        /// Further blocks that it would take; `None` for too many.
        blocks: Option<u32>,
    },
    /// The resource was not changed, or not in a way that counts.
    NotTested {
        /// Why, as a lower-case fragment.
        why: String,
    },
}

impl ResourceVerdict {
    /// The word in reports and machine-readable output.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Contributes => "contributes",
            Self::Refuted { .. } => "refuted",
            Self::NotToldApart { .. } => "not told apart",
            Self::NotTested { .. } => "not tested",
        }
    }
}

/// A verdict with the probability that it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// Probability of the estimate if the resource were of no account, after Holm's correction for all resources; `None` when not tested.
    pub p: Option<f64>,
    /// The verdict.
    pub verdict: ResourceVerdict,
}

/// Decides over all resources of a point: the estimate of each, or why there is none.
///
/// Source: Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979).
pub fn decide(knobs: &[Result<KnobElasticity, String>]) -> Vec<Decision> {
    let raw: Vec<Option<f64>> =
        knobs.iter().map(|knob| knob.as_ref().ok().map(|found| found.p_above(OF_NO_ACCOUNT))).collect();
    let corrected = holm(&raw);
    let one = |(knob, p): (&Result<KnobElasticity, String>, Option<f64>)| match (knob, p) {
        (Ok(found), Some(p)) => Decision { p: Some(p), verdict: verdict(found, p) },
        (Ok(_), None) => Decision { p: None, verdict: ResourceVerdict::NotToldApart { blocks: None } },
        (Err(why), _) => Decision { p: None, verdict: ResourceVerdict::NotTested { why: why.clone() } },
    };
    knobs.iter().zip(corrected).map(one).collect()
}

fn verdict(found: &KnobElasticity, p: f64) -> ResourceVerdict {
    let (low, high) = found.bounds(0.05);
    if p <= LEVEL {
        let binds = low > BINDS_ABOVE && found.value >= BINDS;
        return if binds { ResourceVerdict::Confirmed } else { ResourceVerdict::Contributes };
    }
    if high <= CLEARED {
        return ResourceVerdict::Refuted { is_firm: high <= OF_NO_ACCOUNT };
    }
    ResourceVerdict::NotToldApart { blocks: blocks_needed(found) }
}

/// Probabilities after Holm's correction, in the order that they came in.
fn holm(raw: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> = raw.iter().enumerate().filter_map(|(at, p)| Some((at, (*p)?))).collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut corrected = vec![None; raw.len()];
    let (count, mut largest) = (order.len(), 0.0_f64);
    for (rank, (at, p)) in order.into_iter().enumerate() {
        largest = largest.max((p * (count - rank) as f64).min(1.0));
        corrected[at] = Some(largest);
    }
    corrected
}

/// Further blocks until an interval as wide as this spread makes it lets one of the verdicts be said.
fn blocks_needed(found: &KnobElasticity) -> Option<u32> {
    let (value, spread) = (found.value, found.error * (found.blocks as f64).sqrt());
    let reach = [CLEARED - value, value - OF_NO_ACCOUNT].into_iter().fold(0.02, f64::max);
    let enough = |blocks: &u32| {
        let blocks = f64::from(*blocks);
        student_quantile(0.975, blocks - 1.0) * spread / blocks.sqrt() <= reach
    };
    let now = u32::try_from(found.blocks).unwrap_or(u32::MAX);
    let first = (now.saturating_add(1)..=now.saturating_add(MOST_ADVISED)).find(enough)?;
    Some(first - now)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(value: f64, error: f64) -> Result<KnobElasticity, String> {
        Ok(KnobElasticity { value, error, freedom: 11.0, blocks: 12 })
    }

    #[track_caller]
    fn check(value: f64, error: f64, expected: &ResourceVerdict) {
        assert_eq!(&decide(&[known(value, error)])[0].verdict, expected, "{value} ± {error}");
    }

    #[test]
    fn verdicts_say_no_more_than_their_intervals() {
        check(0.99, 0.03, &ResourceVerdict::Confirmed);
        check(0.69, 0.03, &ResourceVerdict::Contributes);
        check(0.9, 0.2, &ResourceVerdict::Contributes);
        check(0.02, 0.03, &ResourceVerdict::Refuted { is_firm: true });
        check(0.1, 0.08, &ResourceVerdict::Refuted { is_firm: false });
        check(-0.4, 0.1, &ResourceVerdict::Refuted { is_firm: true });
        // t(11) = 2.20: 0.9 − 2.2 · 0.4 leaves 0.02, and 0.9 − 0.15 is not told from 0 at 2.5 %.
        assert!(matches!(decide(&[known(0.9, 0.4)])[0].verdict, ResourceVerdict::NotToldApart { blocks: Some(1..=6) }));
        assert_eq!(decide(&[known(0.2, 3.0)])[0].verdict, ResourceVerdict::NotToldApart { blocks: None });
    }

    #[test]
    fn many_resources_need_more_each() {
        // One-sided p of t = 2.5 with 11 degrees of freedom is 0.0148: enough alone, too much as the smallest of three.
        let (found, other) = (known(0.9, 0.3), known(0.0, 0.01));
        assert_eq!(decide(std::slice::from_ref(&found))[0].verdict, ResourceVerdict::Contributes);
        let all = decide(&[found, other.clone(), other]);
        assert!(matches!(all[0].verdict, ResourceVerdict::NotToldApart { .. }), "{all:?}");
        let p = holm(&[Some(0.01), None, Some(0.02), Some(0.02)]);
        assert_eq!(p, [Some(0.03), None, Some(0.04), Some(0.04)]);
    }

    #[test]
    fn what_was_not_changed_is_never_refuted() {
        let why = "the limit could not be set".to_owned();
        let found = decide(&[Err(why.clone()), known(1.0, 0.02)]);
        assert_eq!((found[0].p, &found[0].verdict), (None, &ResourceVerdict::NotTested { why }));
        assert_eq!(found[1].verdict, ResourceVerdict::Confirmed);
    }
}

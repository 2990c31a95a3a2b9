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
    let (corrected, shown) = (holm(&raw), blocks_shown(knobs, &raw));
    let all = knobs.iter().zip(corrected).zip(shown);
    all.map(|((knob, p), shown)| match (knob, p) {
        (Ok(found), Some(p)) => Decision { p: Some(p), verdict: verdict(found, p, shown) },
        (Ok(_), None) => Decision { p: None, verdict: ResourceVerdict::NotToldApart { blocks: None } },
        (Err(why), _) => Decision { p: None, verdict: ResourceVerdict::NotTested { why: why.clone() } },
    })
    .collect()
}

/// A decision on how a percentile of response times follows a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponseDecision {
    /// The decision on the size of the elasticity, whatever its sign. Its probability is two-sided, so that 5 % of it decide what 2.5 % of
    /// one side decide for throughput: both as a 95 % interval does.
    pub decision: Decision,
    /// True where less of the resource lengthens response times, false where it shortens them; `None` where neither is shown.
    pub lengthens: Option<bool>,
}

/// Decides how a percentile of response times follows each resource, by the same rule and corrected among themselves. Less of a limit that
/// binds lengthens response times, fewer users shorten them: the sign is told, and the size decided. Of an interval around a size its upper
/// bound is the farther one from 0.
pub fn decide_response(knobs: &[Result<KnobElasticity, String>]) -> Vec<ResponseDecision> {
    let size = |found: KnobElasticity| KnobElasticity { value: found.value.abs(), ..found };
    let sizes: Vec<Result<KnobElasticity, String>> = knobs.iter().map(|knob| knob.clone().map(size)).collect();
    let all = decide(&sizes).into_iter().zip(knobs);
    all.map(|(one, knob)| {
        let is_shown = matches!(one.verdict, ResourceVerdict::Confirmed | ResourceVerdict::Contributes);
        let lengthens = knob.as_ref().ok().filter(|_| is_shown).map(|found| found.value < 0.0);
        let p = one.p.map(|p| (2.0 * p).min(1.0));
        ResponseDecision { decision: Decision { p, ..one }, lengthens }
    })
    .collect()
}

/// The verdict on one estimate; `shown`: further blocks until it would be shown to be of account.
fn verdict(found: &KnobElasticity, p: f64, shown: Option<u32>) -> ResourceVerdict {
    let (low, high) = found.bounds(0.05);
    if p <= LEVEL {
        let binds = low > BINDS_ABOVE && found.value >= BINDS;
        return if binds { ResourceVerdict::Confirmed } else { ResourceVerdict::Contributes };
    }
    if high <= CLEARED {
        return ResourceVerdict::Refuted { is_firm: high <= OF_NO_ACCOUNT };
    }
    let blocks = [blocks_until(found, |blocks| is_cleared(found, blocks)), shown].into_iter().flatten().min();
    ResourceVerdict::NotToldApart { blocks: blocks.map(|blocks| blocks.max(1)) }
}

/// Probabilities after Holm's correction, in the order that they came in.
fn holm(raw: &[Option<f64>]) -> Vec<Option<f64>> {
    let order = smallest_first(raw);
    let mut corrected = vec![None; raw.len()];
    let (count, mut largest) = (order.len(), 0.0_f64);
    for (rank, (at, p)) in order.into_iter().enumerate() {
        largest = largest.max((p * (count - rank) as f64).min(1.0));
        corrected[at] = Some(largest);
    }
    corrected
}

/// Places of the probabilities that are known, the smallest first.
fn smallest_first(raw: &[Option<f64>]) -> Vec<(usize, f64)> {
    let mut order: Vec<(usize, f64)> = raw.iter().enumerate().filter_map(|(at, p)| Some((at, (*p)?))).collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    order
}

/// Further blocks until each resource is shown to be of account after Holm's correction, which is not before those with a smaller
/// probability; of one that seems to bind, until it is shown to. `None` for too many.
fn blocks_shown(knobs: &[Result<KnobElasticity, String>], raw: &[Option<f64>]) -> Vec<Option<u32>> {
    let order = smallest_first(raw);
    let (count, mut before) = (order.len(), Some(0));
    let mut shown = vec![None; knobs.len()];
    for (rank, (at, _)) in order.into_iter().enumerate() {
        let Ok(found) = &knobs[at] else { continue };
        let level = LEVEL / (count - rank) as f64;
        let of_account = blocks_until(found, |blocks| is_of_account(found, blocks, level));
        before = later(before, of_account);
        shown[at] = later(before, blocks_until(found, |blocks| found.value < BINDS || binds(found, blocks)));
    }
    shown
}

/// The later of two; `None` where one never comes.
fn later(one: Option<u32>, other: Option<u32>) -> Option<u32> {
    Some(one?.max(other?))
}

/// Further blocks until something would hold: 0 where it does, `None` where they are too many.
fn blocks_until(found: &KnobElasticity, holds: impl Fn(f64) -> bool) -> Option<u32> {
    let now = u32::try_from(found.blocks).unwrap_or(u32::MAX);
    let first = (now..=now.saturating_add(MOST_ADVISED)).find(|blocks| holds(f64::from(*blocks)))?;
    Some(first - now)
}

/// Whether an interval as wide as this spread makes it after so many blocks would clear the resource.
fn is_cleared(found: &KnobElasticity, blocks: f64) -> bool {
    found.value + half_width(found, blocks, LEVEL) <= CLEARED
}

/// Whether so many blocks would show at this one-sided level that the resource is of account.
fn is_of_account(found: &KnobElasticity, blocks: f64, level: f64) -> bool {
    found.value - half_width(found, blocks, level) > OF_NO_ACCOUNT
}

/// Whether the lower bound after so many blocks would be that of a resource that binds.
fn binds(found: &KnobElasticity, blocks: f64) -> bool {
    found.value - half_width(found, blocks, LEVEL) > BINDS_ABOVE
}

/// Half-width after so many blocks of an interval that leaves out this share on each side.
fn half_width(found: &KnobElasticity, blocks: f64, left_out: f64) -> f64 {
    let spread = found.error * (found.blocks as f64).sqrt();
    student_quantile(1.0 - left_out, blocks - 1.0) * spread / blocks.sqrt()
}

#[cfg(test)]
mod tests {
    use super::ResourceVerdict::NotToldApart;
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
        // t(11) = 2.20: 0.9 − 2.2 · 0.4 leaves 0.02, and 0.9 − 0.15 is not told from 0 at 2.5 %. A lower bound above 0.5 takes 49 blocks.
        let NotToldApart { blocks: Some(more) } = decide(&[known(0.9, 0.4)])[0].verdict else { panic!("told apart") };
        assert!((35..=39).contains(&more), "{more}");
        assert_eq!(decide(&[known(0.2, 3.0)])[0].verdict, ResourceVerdict::NotToldApart { blocks: None });
    }

    #[test]
    fn as_many_blocks_as_are_advised_tell_with_all_resources_and_one_less_does_not() {
        let after = |value: f64, error: f64, more: u32| {
            let blocks = 12 + more as usize;
            let error = error * (12.0 / blocks as f64).sqrt();
            Ok(KnobElasticity { value, error, freedom: blocks as f64 - 1.0, blocks })
        };
        let mut alone = None;
        for others in [0, 2, 8] {
            for (place, (value, error)) in [(0.45, 0.15), (0.9, 0.45), (0.2, 0.08)].into_iter().enumerate() {
                let all = |more: u32| {
                    let mut knobs = vec![after(value, error, more)];
                    knobs.resize_with(others + 1, || known(0.0, 0.01));
                    decide(&knobs)[0].verdict.clone()
                };
                let NotToldApart { blocks: Some(more) } = all(0) else { panic!("told apart: {:?}", all(0)) };
                assert!(!matches!(all(more), NotToldApart { .. }), "{value} ± {error}, {others} others, {more} more");
                if place == 1 {
                    assert_eq!(all(more), ResourceVerdict::Confirmed, "{more} more");
                    continue;
                }
                let fewer = all(more - 1);
                assert!(matches!(fewer, NotToldApart { .. }), "{value} ± {error}, {others} others, {more} more");
                if place == 0 {
                    assert!(alone.is_none_or(|fewer| more > fewer), "{others} others: {more} more");
                    alone = Some(more);
                }
            }
        }
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
    fn response_times_follow_either_way_and_the_sign_is_told() {
        let none = Err("too few".to_owned());
        let found =
            decide_response(&[known(-0.99, 0.03), known(1.0, 0.05), known(-0.05, 0.03), known(-0.3, 0.4), none]);
        let words: Vec<_> = found.iter().map(|one| (one.decision.verdict.word(), one.lengthens)).collect();
        let expected = [
            ("confirmed", Some(true)),
            ("confirmed", Some(false)),
            ("refuted", None),
            ("not told apart", None),
            ("not tested", None),
        ];
        assert_eq!(words, expected);
        // An interval from −0.5 to 0.3 does not clear: its farther bound counts.
        assert_eq!(decide_response(&[known(-0.1, 0.18)])[0].decision.verdict.word(), "not told apart");
        let (one, two) =
            (decide(&[known(0.5, 0.15)])[0].p.unwrap(), decide_response(&[known(-0.5, 0.15)])[0].decision.p);
        assert!((two.unwrap() - 2.0 * one).abs() < 1e-12, "{one} {two:?}");
    }

    #[test]
    fn what_was_not_changed_is_never_refuted() {
        let why = "the limit could not be set".to_owned();
        let found = decide(&[Err(why.clone()), known(1.0, 0.02)]);
        assert_eq!((found[0].p, &found[0].verdict), (None, &ResourceVerdict::NotTested { why }));
        assert_eq!(found[1].verdict, ResourceVerdict::Confirmed);
    }
}

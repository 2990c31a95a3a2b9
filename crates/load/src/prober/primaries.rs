//! Which instances took writes, and whether two did at once. Pure.

use super::claims::WriteClaim;
use super::operation::ProbeOperation;
use proofload_model::ledger::Leader;
use proofload_model::prober::ProberPaces;
use proofload_model::time::{Moment, Offset};
use std::collections::BTreeSet;
use std::time::Duration;

/// Shortest time from the last acknowledgement of one instance to the first of the next that may be a failover back: a promotion alone takes as
/// long. An instance that acknowledges again sooner had never stopped.
const SHORTEST_FAILOVER: Duration = Duration::from_millis(50);

/// Writes that come by turns lie as many periods apart at most, two of which may be late.
const PERIODS_OF_A_TURN: u32 = 3;

/// Longest question whose answer says something of one time.
const LONGEST_QUESTION: Duration = Duration::from_secs(1);

/// Longest time from when a write is sent until it is acknowledged, to look for those sent after a claim.
const LONGEST_WRITE: Duration = Duration::from_secs(10);

/// Shortest failover that is told from turns by a prober, which depends on how far apart its writes are.
pub(super) struct ShortestFailover<'a> {
    full: Duration,
    calm: Duration,
    paces: &'a ProberPaces,
}

impl<'a> ShortestFailover<'a> {
    /// Shortest failovers of a prober that writes once in a period at its full pace.
    pub(super) fn of(period: Duration, paces: &'a ProberPaces) -> Self {
        let of = |period: Duration| SHORTEST_FAILOVER.max(period.saturating_mul(PERIODS_OF_A_TURN));
        Self { full: of(period), calm: of(period.saturating_mul(paces.calm_step.max(1))), paces }
    }

    /// The one before a time.
    fn before(&self, at: Offset) -> Duration {
        self.within(Offset(at.0.saturating_sub(nanos(self.calm))), at)
    }

    /// The one around a stretch: the next write after it is that of the calm pace, too, where that comes into force soon.
    fn around(&self, from: Offset, to: Offset) -> Duration {
        let calm = nanos(self.calm);
        self.within(Offset(from.0.saturating_sub(calm)), Offset(to.0.saturating_add(calm)))
    }

    fn within(&self, from: Offset, to: Offset) -> Duration {
        if self.paces.has_calm_within(from, to) { self.calm } else { self.full }
    }
}

fn nanos(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

/// Instances by the order in which they acknowledged.
pub(super) fn leaders(writes: &[ProbeOperation], origin: Moment) -> Vec<Leader> {
    let mut acknowledged: Vec<(Moment, usize)> =
        writes.iter().filter(|write| write.is_acknowledged()).map(|write| (write.ended, write.node)).collect();
    acknowledged.sort_unstable();
    let mut leaders: Vec<Leader> = Vec::new();
    for (at, node) in acknowledged {
        let (at, node) = (at.offset_from(origin), small(node));
        match leaders.last_mut() {
            Some(last) if last.node == node => last.to = at,
            _ => leaders.push(Leader { node, from: at, to: at }),
        }
    }
    leaders
}

/// Seconds in which several instances took writes by turns. An instance takes writes from an acknowledgement to a later one of its own, unless
/// it was away for so long before that it may have been made the primary again.
pub(super) fn two_primaries(leaders: &[Leader], shortest: &ShortestFailover<'_>) -> f64 {
    let mut spans: Vec<Leader> = Vec::new();
    let mut last: Option<Leader> = None;
    for leader in leaders {
        let shortest = nanos(shortest.before(leader.from));
        let is_at_once = last.is_some_and(|last| leader.from.0 - last.to.0 < shortest);
        match spans.iter_mut().rev().find(|span| span.node == leader.node) {
            Some(span) if is_at_once => span.to = leader.to,
            _ => spans.push(*leader),
        }
        last = Some(*leader);
    }
    let pairs =
        spans.iter().enumerate().flat_map(|(place, one)| spans.iter().skip(place + 1).map(move |other| (one, other)));
    let mut together: Vec<(i64, i64)> =
        pairs.map(|(one, other)| (one.from.max(other.from).0, one.to.min(other.to).0)).collect();
    together.retain(|(from, to)| from < to);
    together.sort_unstable();
    let (mut sum, mut until) = (0, i64::MIN);
    for (from, to) in together {
        sum += (to - from.max(until)).max(0);
        until = until.max(to);
    }
    Offset(sum).as_seconds()
}

/// Seconds in which an instance said that it takes writes while another took some: the other acknowledged one before the question, and one that was
/// sent after the answer, with no time between for two failovers.
pub(super) fn two_claimed(
    claims: &[WriteClaim],
    writes: &[ProbeOperation],
    origin: Moment,
    shortest: &ShortestFailover<'_>,
) -> u64 {
    let mut acknowledged: Vec<(Moment, Moment, usize)> = writes
        .iter()
        .filter(|write| write.is_acknowledged())
        .filter_map(|write| Some((write.ended, write.sent?, write.node)))
        .collect();
    acknowledged.sort_unstable();
    let contradicted = claims.iter().filter(|claim| {
        let shortest = shortest.around(claim.asked.offset_from(origin), claim.answered.offset_from(origin));
        another_takes_writes(claim, &acknowledged, shortest)
    });
    let second = |claim: &WriteClaim| claim.answered.offset_from(origin).0.div_euclid(1_000_000_000);
    contradicted.map(second).collect::<BTreeSet<i64>>().len() as u64
}

/// Tells whether another instance took writes throughout a claim; `acknowledged`: when each was, when it was sent, and where, in this order.
fn another_takes_writes(claim: &WriteClaim, acknowledged: &[(Moment, Moment, usize)], shortest: Duration) -> bool {
    let question = claim.answered.since(claim.asked);
    if question > LONGEST_QUESTION {
        return false;
    }
    let (before, after) = acknowledged.split_at(acknowledged.partition_point(|(ended, ..)| *ended <= claim.asked));
    let recent = before.iter().rev().take_while(|(ended, ..)| claim.asked.since(*ended) < shortest);
    let mut others = recent.filter(|(.., node)| *node != claim.node);
    let soon = |ended: Moment| ended.since(claim.answered) < LONGEST_WRITE;
    others.any(|(ended, _, node)| {
        let later = after.iter().take_while(|(ended, ..)| soon(*ended));
        let mut later = later.filter(|(_, sent, by)| by == node && *sent >= claim.answered);
        later.any(|(_, sent, _)| sent.since(*ended) < question + shortest)
    })
}

pub(super) fn small(node: usize) -> u32 {
    u32::try_from(node).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::ledger::tests::write;
    use super::super::operation::ProbeOutcome;
    use super::*;
    use proofload_model::prober::{PaceCause, PaceChange, ProberPace};

    const PERIOD: Duration = Duration::from_millis(5);

    /// Writes, one in 5 ms, that instances acknowledge one after the other, each from a time in milliseconds until another.
    fn led(turns: &[(usize, u64, u64)]) -> Vec<ProbeOperation> {
        let of_turn = |(node, from, to): &(usize, u64, u64)| {
            let node = *node;
            (from / 5..to / 5).map(move |number| write(number, ProbeOutcome::Acknowledged, node))
        };
        turns.iter().flat_map(of_turn).collect()
    }

    fn claimed(node: usize, [asked, answered]: [u64; 2], writes: &[ProbeOperation]) -> u64 {
        let [asked, answered] = [asked, answered].map(|ms| Moment(ms * 1_000_000));
        let claim = WriteClaim { node, asked, answered };
        two_claimed(&[claim, claim], writes, Moment(0), &ShortestFailover::of(PERIOD, &ProberPaces::default()))
    }

    #[test]
    fn an_instance_that_claims_writes_while_another_takes_them_is_a_second_primary() {
        let failover = led(&[(0, 0, 1_000), (1, 1_200, 10_000)]);
        assert_eq!(claimed(0, [3_000, 3_001], &failover), 1, "the old one again; both claims are in one second");
        assert_eq!(claimed(1, [3_000, 3_001], &failover), 0, "it is the primary");
        // Both say so in the second of the failover, one after the other.
        assert_eq!([claimed(0, [990, 996], &failover), claimed(1, [1_150, 1_190], &failover)], [0, 0]);
        // It was asked before it hung, and answers when it goes on.
        assert_eq!(claimed(0, [995, 5_000], &failover), 0);
        let back = led(&[(0, 0, 1_000), (1, 1_200, 2_000), (0, 2_200, 3_000)]);
        assert_eq!(claimed(1, [1_100, 1_150], &back), 0, "promoted, with no write yet");
        let untold = led(&[(0, 0, 1_000), (0, 1_200, 3_000)]);
        assert_eq!(claimed(1, [1_100, 1_150], &untold), 0, "it may have led and have been replaced");
    }

    #[test]
    fn turns_of_a_slow_prober_are_no_failovers() {
        let turns: Vec<_> = (0..20).map(|turn: usize| turn % 2).collect();
        let of = |(number, node): (usize, &usize)| {
            let at = Moment(number as u64 * 100_000_000);
            ProbeOperation {
                due: at,
                sent: Some(at),
                ended: at + PERIOD,
                ..write(0, ProbeOutcome::Acknowledged, *node)
            }
        };
        let writes: Vec<_> = turns.iter().enumerate().map(of).collect();
        let leaders = leaders(&writes, Moment(0));
        let found =
            |period: Duration, paces: &ProberPaces| two_primaries(&leaders, &ShortestFailover::of(period, paces));
        let by_turns = found(Duration::from_millis(100), &ProberPaces::default());
        assert!((by_turns - 1.7).abs() < 1e-9, "{by_turns}");
        assert!(found(PERIOD, &ProberPaces::default()) <= 0.0, "as long apart as failovers of a prober of 200/s");
        let calm = PaceChange { from: Offset(0), pace: ProberPace::Calm, cause: PaceCause::Begin };
        let calm = ProberPaces { calm_step: 20, changes: vec![calm] };
        assert!((found(PERIOD, &calm) - 1.7).abs() < 1e-9, "the calm pace of a prober of 200/s");
    }

    #[test]
    fn claims_are_contradicted_at_the_calm_pace_too() {
        // A write each 50 ms by the second instance, while the first one says that it takes writes.
        let writes: Vec<_> = (0..40).map(|turn| write(10 * turn, ProbeOutcome::Acknowledged, 1)).collect();
        let claim = WriteClaim { node: 0, asked: Moment(1_005_000_000), answered: Moment(1_051_000_000) };
        let calm = PaceChange { from: Offset(0), pace: ProberPace::Calm, cause: PaceCause::Begin };
        let calm = ProberPaces { calm_step: 10, changes: vec![calm] };
        let found =
            |paces: &ProberPaces| two_claimed(&[claim], &writes, Moment(0), &ShortestFailover::of(PERIOD, paces));
        // The write before the question was acknowledged at 1,002 ms, and the next one after the answer was sent at 1,100 ms.
        assert_eq!((found(&ProberPaces::default()), found(&calm)), (0, 1));
    }

    #[test]
    fn a_claim_just_before_the_pace_turns_calm_is_contradicted_by_the_next_calm_write() {
        let change = |at: i64, pace, cause| PaceChange { from: Offset(at * 1_000_000), pace, cause };
        let changes =
            vec![change(0, ProberPace::Full, PaceCause::Order), change(1_000, ProberPace::Calm, PaceCause::Steady)];
        let numbers = (0..200).chain((200..400).step_by(10));
        let writes: Vec<_> = numbers.map(|number| write(number, ProbeOutcome::Acknowledged, 1)).collect();
        // Acknowledged at 997 ms before it, and sent at 1,100 ms after it.
        let claim = WriteClaim { node: 0, asked: Moment(998_000_000), answered: Moment(1_050_500_000) };
        let found = |changes: &[PaceChange]| {
            let paces = ProberPaces { calm_step: 10, changes: changes.to_vec() };
            two_claimed(&[claim], &writes, Moment(0), &ShortestFailover::of(PERIOD, &paces))
        };
        assert_eq!((found(&changes), found(&changes[..1])), (1, 0));
    }
}

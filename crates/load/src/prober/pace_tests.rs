//! Scripted outages at the switches of the pace and away from them. No clock: operations are computed.

use super::super::operation::ProbeOutcome;
use super::super::outage::report;
use super::super::scripted_service::{Answer, DEADLINE_MS, draws, due_ms, moment, operation};
use super::*;
use proofload_model::drill::{Ledger, Outage, ProbeKind, ProbeReport};
use proofload_model::time::Offset;

const ASKED: ProberAsked = ProberAsked { rate: 200, calm_rate: 20, deadline: Duration::from_secs(1) };
const PERIOD: Duration = Duration::from_millis(5);
const TAKES_MS: f64 = 2.0;

/// A stretch without service, ms, and how it fails.
type Away = (f64, f64, Answer);

/// What a prober finds of a service, with its paces.
struct PacedReport {
    writes: ProbeReport,
    ledger: Ledger,
}

impl PacedReport {
    /// The one outage, with its begin and its end, ms.
    fn one_outage(&self) -> (Outage, f64, f64) {
        let [outage] = self.writes.outages.as_slice() else { panic!("one outage: {:?}", self.writes.outages) };
        let millis = |at: Offset| at.0 as f64 / 1e6;
        (*outage, millis(outage.from), millis(outage.to.expect("it ended")))
    }

    fn causes(&self) -> Vec<PaceCause> {
        self.ledger.paces.changes.iter().map(|change| change.cause).collect()
    }
}

/// What the service answers to the operation of a number.
fn answer(number: u64, away: Option<Away>) -> Answer {
    let gone = away.filter(|(from, to, _)| (*from..*to).contains(&due_ms(number)));
    gone.map_or(Answer::After(TAKES_MS), |(.., failure)| failure)
}

/// What a stream of writes finds until a time, with orders at theirs.
fn found(until_ms: f64, orders: &[(f64, ProberPace)], away: Option<Away>) -> PacedReport {
    let (pace, mut numbers) = (ProbePace::new(ASKED), PacedNumbers::new(Moment(0), PERIOD));
    let (mut under_way, mut done) = (Vec::<ProbeOperation>::new(), Vec::<ProbeOperation>::new());
    let mut orders: Vec<(f64, ProberPace)> = orders.iter().rev().copied().collect();
    while numbers.due() < moment(until_ms) {
        let (due, was_calm) = (numbers.due(), pace.is_calm());
        let ends = under_way.iter().enumerate().min_by_key(|(_, one)| one.ended).map(|(place, one)| (one.ended, place));
        let ordered = orders.last().map(|(at, _)| moment(*at));
        let now = match (ordered, ends) {
            (Some(at), ends) if at <= due && ends.is_none_or(|(ended, _)| at <= ended) => {
                let (_, ordered) = orders.pop().expect("it is there");
                pace.order(ordered, at);
                at
            }
            (_, Some((ended, place))) if ended <= due => {
                let operation = under_way.swap_remove(place);
                pace.see(&operation);
                done.push(operation);
                ended
            }
            _ => {
                let number = numbers.take(&pace, due);
                under_way.push(operation(number, answer(number, away)));
                continue;
            }
        };
        if was_calm && !pace.is_calm() {
            numbers.hasten(now);
        }
    }
    done.extend(under_way);
    done.sort_by_key(|operation| operation.number);
    assert!(done.windows(2).all(|pair| pair[0].number < pair[1].number), "each number once");
    let paces = pace.paces(Moment(0));
    PacedReport {
        writes: report(ProbeKind::Write, &done, ASKED.rate, Moment(0)),
        ledger: Ledger { period_ns: 5_000_000, paces, ..Ledger::default() },
    }
}

#[test]
fn outages_after_an_order_are_told_as_closely_as_at_the_full_pace_alone() {
    let mut draw = draws();
    for number in 0..200 {
        let failure = if number % 2 == 0 { Answer::Refused } else { Answer::Silence };
        let fault = 6_000.0 + draw(50.0);
        let back = fault + 50.0 * 200f64.powf(draw(1.0));
        // As a drill orders: a second before the fault, and once it is in force, or undone.
        let calm = if number % 3 == 0 { fault + 5.0 } else { back };
        let orders = [(fault - 1_000.0, ProberPace::Full), (calm, ProberPace::Calm)];
        let found = found(back + 6_000.0, &orders, Some((fault, back, failure)));
        let (outage, begin, end) = found.one_outage();
        let told = format!("{failure:?} from {fault} to {back}: {outage:?}");
        assert!((0.0..=5.0).contains(&(begin - fault)) && (end - back).abs() <= 5.0 + TAKES_MS, "{told}");
        assert_eq!(found.ledger.period_before(outage.from), PERIOD, "{told}");
        assert_eq!(found.causes(), [PaceCause::Begin, PaceCause::Order, PaceCause::Steady], "{told}");
        // The last failed operation, and a second beyond the deadline.
        let steady = found.ledger.paces.changes[2].from.as_seconds() * 1e3;
        assert!(steady >= back.max(calm) + DEADLINE_MS - 5.0, "{told}; calm at {steady}");
        assert!(steady <= back.max(calm) + 3.1 * DEADLINE_MS, "{told}; calm at {steady}");
    }
}

#[test]
fn an_outage_that_nobody_expected_is_seen_and_told_less_closely() {
    let mut draw = draws();
    for number in 0..200 {
        let failure = if number % 2 == 0 { Answer::Refused } else { Answer::Silence };
        let from = 3_000.0 + draw(500.0);
        let to = from + 120.0 * 80f64.powf(draw(1.0));
        let found = found(to + 5_000.0, &[], Some((from, to, failure)));
        let (outage, begin, end) = found.one_outage();
        let told = format!("{failure:?} from {from} to {to}: {outage:?}");
        assert!((0.0..=50.0).contains(&(begin - from)), "{told}");
        // Silence is noticed at the deadline: an outage that is over by then has the calm pace at its end, too.
        let is_noticed = failure == Answer::Refused || to - from > 100.0 + DEADLINE_MS;
        let allowed = if is_noticed { 5.0 } else { 50.0 };
        assert!((end - to).abs() <= allowed + TAKES_MS, "{told}");
        assert_eq!(found.ledger.period_before(outage.from), 10 * PERIOD, "{told}");
        assert_eq!(found.causes(), [PaceCause::Begin, PaceCause::Trouble, PaceCause::Steady], "{told}");
        if is_noticed {
            assert_eq!(found.ledger.period_before(outage.to.expect("it ended")), PERIOD, "{told}");
        }
    }
}

#[test]
fn an_outage_at_a_switch_of_the_pace_is_seen_once() {
    for apart in -60..=60 {
        let (ordered, from) = (4_000.0, 4_000.0 + f64::from(apart));
        for failure in [Answer::Refused, Answer::Silence] {
            let orders = [(ordered, ProberPace::Full), (ordered + 100.0, ProberPace::Calm)];
            let found = found(12_000.0, &orders, Some((from, from + 1_500.0, failure)));
            let (outage, begin, end) = found.one_outage();
            let told = format!("{failure:?} from {from}: {outage:?}");
            let apart = found.ledger.period_before(outage.from).as_secs_f64() * 1e3;
            assert!((0.0..=apart).contains(&(begin - from)), "{told}, at most {apart} ms late");
            assert!((end - from - 1_500.0).abs() <= 5.0 + TAKES_MS, "{told}");
        }
    }
}

#[test]
fn a_calm_second_is_no_gap() {
    let found = found(20_000.0, &[(8_000.0, ProberPace::Full), (9_000.0, ProberPace::Calm)], None);
    assert_eq!((found.writes.outages.len(), found.writes.blips), (0, 0));
    assert_eq!(found.writes.tenths.len(), 200);
    let acknowledged = |tenth: usize| found.writes.tenths[tenth].acknowledged;
    assert!((0..79).chain(120..199).all(|tenth| acknowledged(tenth) == 2), "{:?}", found.writes.tenths);
    assert!((81..109).all(|tenth| acknowledged(tenth) == 20), "{:?}", found.writes.tenths);
    assert_eq!(found.ledger.period_before(Offset(5_000_000_000)), 10 * PERIOD);
    let counted: u64 = found.writes.tenths.iter().map(|tenth| u64::from(tenth.acknowledged)).sum();
    assert_eq!(found.writes.due, counted, "what was due is what was done");
}

#[test]
fn an_outage_of_connections_ends_at_a_low_rate() {
    // Two new connections a second, and one in five seconds at the calm pace.
    let asked = ProberAsked { rate: 50, calm_rate: 5, ..ASKED };
    let (pace, mut numbers) = (ProbePace::new(asked), PacedNumbers::new(Moment(0), Duration::from_millis(500)));
    let mut done = Vec::new();
    while numbers.due() < moment(25_000.0) {
        let (due, was_calm) = (numbers.due(), pace.is_calm());
        let is_away = (moment(5_000.0)..moment(8_000.0)).contains(&due);
        let outcome = if is_away { ProbeOutcome::Failed } else { ProbeOutcome::Acknowledged };
        let number = numbers.take(&pace, due);
        let one = ProbeOperation { number, due, sent: Some(due), ended: due, outcome, ..operation(0, Answer::Refused) };
        pace.see(&one);
        done.push(one);
        if was_calm && !pace.is_calm() {
            numbers.hasten(due);
        }
    }
    let found = report(ProbeKind::Connect, &done, 2, Moment(0));
    let [outage] = found.outages.as_slice() else { panic!("one outage: {:?}", found.outages) };
    assert_eq!((outage.from, outage.to), (Offset(5_000_000_000), Some(Offset(8_000_000_000))), "{done:?}");
    assert!(pace.is_calm(), "it is over");
}

#[test]
fn a_prober_without_a_calm_pace_never_changes() {
    let pace = ProbePace::new(ProberAsked { calm_rate: 200, ..ASKED });
    pace.order(ProberPace::Calm, moment(10.0));
    assert_eq!(pace.after(7, moment(90_000.0)), 8);
    assert_eq!(pace.paces(Moment(0)), ProberPaces { calm_step: 1, changes: Vec::new() });
}

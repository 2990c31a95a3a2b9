//! Users whose connection is lost, under a simulated clock: who comes back, what is reported, and that the outage is in
//! the response times.

use super::context::Retry;
use super::reconnect::{Patience, Reconnect, Waits};
use super::rounds::Rounds;
use super::schedule::{ConstantRate, SaturatedSchedule, Schedule};
use super::tests::{Simulated, Step, check_sums, context, fails, merged, run_through, well};
use super::virtual_user::VirtualUser;
use crate::operation::Completion;
use proofload_engine::{Error as EngineError, ErrorClass};
use proofload_model::samples::{IntervalSample, LatencyClock, LostSession, OperationCounts, PAST_DEADLINE, Reading};
use proofload_model::time::Clock as _;
use proofload_model::wire::Event;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// What a run left, and what was told.
struct Ran {
    samples: Vec<IntervalSample>,
    totals: Vec<OperationCounts>,
    went_well: bool,
    lost: Vec<LostSession>,
}

/// Runs a user of operations that take 100 ms; those that `ends` says so of lose their connection after 1 ms. Nobody
/// can connect for so long after time zero.
fn run(schedule: Arc<dyn Schedule>, (within, down): (Duration, Duration), loses: impl Fn(u64) -> bool) -> Ran {
    let (sender, told) = std::sync::mpsc::channel();
    let events: Arc<dyn Fn(Event) + Send + Sync> = Arc::new(move |event| sender.send(event).expect("the test listens"));
    let rounds = Rounds { user: 7, length: None, events: Arc::clone(&events) };
    let script = |number, _| if loses(number) { fails(ErrorClass::ConnectionLost) } else { well(100 * MS) };
    let reconnect = Reconnect { patience: Patience::reconnecting(within), session: 7, events };
    let (samples, totals, went_well) = run_through(rounds, (reconnect, down), schedule, 200, script);
    check_sums(&samples, &totals);
    let lost = told.try_iter().map(|event| match event {
        Event::SessionLost(lost) => lost,
        other => panic!("only lost sessions are told: {other:?}"),
    });
    Ran { samples, totals, went_well, lost: lost.collect() }
}

fn failed(ran: &Ran) -> u64 {
    ran.totals.iter().map(|total| total.failed).sum()
}

#[test]
fn waits_grow_to_their_limit_and_differ_between_sessions() {
    let of = |session| {
        let mut waits = Waits::of(session, Duration::from_secs(1));
        (0..12).map(|_| waits.next().as_secs_f64()).collect::<Vec<_>>()
    };
    let full = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.0, 1.0, 1.0, 1.0, 1.0];
    let one = of(1);
    assert!(one.iter().zip(full).all(|(wait, full)| (full / 2.0..=full).contains(wait)), "{one:?}");
    assert!(one.iter().zip(of(2)).all(|(one, other)| *one != other), "{one:?}");
}

#[test]
fn a_user_comes_back_and_its_next_response_time_holds_the_outage() {
    let ran = run(Arc::new(SaturatedSchedule), (60_000 * MS, 7_000 * MS), |number| number == 20);
    assert!(ran.went_well);
    assert_eq!(failed(&ran), 1);
    let [lost] = ran.lost[..] else { panic!("{:?}", ran.lost) };
    assert_eq!((lost.session, lost.lost.as_seconds()), (7, 2.001));
    let back = lost.returned.expect("it is back").as_seconds();
    assert!((7.0..8.1).contains(&back) && lost.tries > 8, "{lost:?}");
    let longest = merged(&ran.samples, LatencyClock::Response).max() as f64 / 1e9;
    assert!((longest - (back - 2.001 + 0.1)).abs() < 0.02, "{longest} s, back after {back} s");
    // Nothing was done in between, and every second of it is told.
    assert!(ran.samples[3..7].iter().all(|second| second.counts.iter().all(|counts| counts.done == 0)));
}

#[test]
fn operations_at_a_rate_wait_for_who_is_away() {
    let ran = run(Arc::new(ConstantRate::per_second(5.0)), (60_000 * MS, 4_000 * MS), |number| number == 10);
    assert!(ran.went_well);
    let back = ran.lost[0].returned.expect("it is back").as_seconds();
    // The one that was due right after the loss waited longest: due at 2.2 s.
    let longest = merged(&ran.samples, LatencyClock::Response).max() as f64 / 1e9;
    assert!((longest - (back - 2.2 + 0.1)).abs() < 0.02, "{longest} s, back after {back} s");
}

#[test]
fn who_cannot_come_back_in_time_ends_the_load() {
    let ran = run(Arc::new(SaturatedSchedule), (3_000 * MS, 60_000 * MS), |number| number == 20);
    assert!(!ran.went_well);
    assert_eq!((failed(&ran), ran.lost.len()), (1, 1));
    assert_eq!(ran.lost[0].returned, None);
}

#[test]
fn who_is_lost_again_and_again_ends_the_load() {
    let ran = run(Arc::new(SaturatedSchedule), (60_000 * MS, Duration::ZERO), |_| true);
    assert!(!ran.went_well);
    assert_eq!((failed(&ran), ran.lost.len()), (50, 49));
}

#[test]
fn without_time_to_come_back_a_loss_is_the_end() {
    let ran = run(Arc::new(SaturatedSchedule), (Duration::ZERO, Duration::ZERO), |number| number == 20);
    assert!(!ran.went_well && ran.lost.is_empty());
    assert_eq!(failed(&ran), 1);
}

#[test]
fn a_connection_that_is_found_lost_after_a_deadlock_is_made_again() {
    let deadlock = |number, tries| match (number, tries) {
        (20, 0) => Step { takes: MS, ends: Err(EngineError::new(ErrorClass::Retryable, "40P01", "deadlock")) },
        (20, _) => fails(ErrorClass::ConnectionLost),
        _ => Step { takes: MS, ends: Ok(Completion::Done) },
    };
    let patience = Patience::reconnecting(1_000 * MS);
    let reconnect = Reconnect { patience, session: 0, events: Arc::new(|_| {}) };
    let rounds = Rounds { user: 0, length: None, events: Arc::new(|_| {}) };
    let (samples, totals, went_well) =
        run_through(rounds, (reconnect, Duration::ZERO), Arc::new(SaturatedSchedule), 100, deadlock);
    check_sums(&samples, &totals);
    assert!(went_well);
    assert_eq!(totals.iter().map(|total| (total.failed, total.retries)).max(), Some((1, 1)));
}

/// A user whose second operation is never answered.
struct SilentUser {
    clock: Arc<Simulated>,
    number: u64,
}

impl VirtualUser for SilentUser {
    fn draw(&mut self) -> usize {
        self.number += 1;
        0
    }

    async fn run(&mut self) -> Result<Completion, EngineError> {
        if self.number == 2 {
            std::future::pending::<()>().await;
        }
        self.clock.sleep(MS);
        Ok(Completion::Done)
    }

    async fn recover(&mut self) -> Result<(), EngineError> {
        Ok(())
    }

    async fn reconnect(&mut self) -> Result<(), EngineError> {
        Ok(())
    }

    fn counters(&mut self, _into: &mut Vec<Reading>) {}
}

#[test]
fn an_operation_that_is_given_up_fails_with_the_code_of_its_deadline() {
    let (clock, schedule) = (Arc::new(Simulated::default()), Arc::new(SaturatedSchedule) as Arc<dyn Schedule>);
    let rounds = Rounds { user: 0, length: None, events: Arc::new(|_| {}) };
    let patience = Patience { deadline: Some(MS), ..Patience::reconnecting(1_000 * MS) };
    let reconnect = Reconnect { patience, session: 0, events: Arc::new(|_| {}) };
    let (context, collector) = context(&clock, (rounds, reconnect), &schedule, 5);
    let recorder = Rc::clone(&context.recorder);
    let mut user = SilentUser { clock: Arc::clone(&clock), number: 0 };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    assert!(runtime.block_on(context.drive(clock.now(), &mut user, Retry { at_most: 2 })).is_ok());
    recorder.borrow_mut().finish(clock.now());
    collector.retire(0);
    let seconds: Vec<IntervalSample> = std::iter::from_fn(|| collector.next()).collect();
    let errors = seconds.iter().flat_map(|second| &second.errors);
    let errors: Vec<(&str, u64)> = errors.map(|error| (error.code.as_str(), error.count)).collect();
    assert_eq!(errors, [(PAST_DEADLINE, 1)]);
}

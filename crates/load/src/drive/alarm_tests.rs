//! The alarm clock: which poll wakes which sleeper, and when a near time is polled for. The tests move the time.

use super::alarm::Alarm;
use super::tests::Simulated;
use proofload_model::time::Clock;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

/// Counts how often it is woken.
#[derive(Default)]
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A waker, and its count.
fn counted() -> (Waker, Arc<Woken>) {
    let woken = Arc::new(Woken::default());
    (Waker::from(Arc::clone(&woken)), woken)
}

fn times(woken: &Woken) -> u32 {
    woken.0.load(Ordering::Relaxed)
}

const fn micros(time: u64) -> Duration {
    Duration::from_micros(time)
}

#[test]
fn who_is_due_and_reads_the_clock_wakes_the_others_that_are_due() {
    let clock = Arc::new(Simulated::default());
    let alarm = Alarm::without_timer(Arc::clone(&clock) as Arc<dyn Clock>, 3);
    let now = clock.now();
    let wakers = [counted(), counted(), counted()];
    let mut waits =
        [(0, 100), (1, 110), (2, 900)].map(|(sleeper, due)| Box::pin(alarm.until(sleeper, now + micros(due))));
    for (wait, (waker, _)) in waits.iter_mut().zip(&wakers) {
        assert!(wait.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
    }
    clock.sleep(micros(200));
    // Nobody has rung; the first user's turn comes for another reason.
    assert!(waits[0].as_mut().poll(&mut Context::from_waker(&wakers[0].0)).is_ready());
    assert_eq!(wakers.each_ref().map(|(_, woken)| times(woken)), [0, 1, 0]);
    assert_eq!(alarm.earliest(), Some(now + micros(900)));
}

#[tokio::test]
async fn a_near_time_is_waited_for_awake_and_a_far_one_asleep() {
    let clock = Arc::new(Simulated::default());
    let alarm = Rc::new(Alarm::new(Arc::clone(&clock) as Arc<dyn Clock>, 1).expect("a timer of the kernel"));
    let mut poller = pin!(Rc::clone(&alarm).keep_waking());
    let ((ringer_waker, ringer_woken), (user_waker, user_woken)) = (counted(), counted());
    let mut turn = || assert!(poller.as_mut().poll(&mut Context::from_waker(&ringer_waker)).is_pending());
    turn();

    // An hour: the kernel's timer is set, and the ringer asks for no turn.
    alarm.wait_for(0, clock.now() + Duration::from_secs(3_600), &user_waker, clock.now());
    turn();
    assert_eq!((times(&ringer_woken), times(&user_woken)), (0, 0));

    // 5 µs: the ringer asks for a turn at once, and again while the time has not come.
    alarm.wait_for(0, clock.now() + micros(5), &user_waker, clock.now());
    assert_eq!(times(&ringer_woken), 1);
    turn();
    assert_eq!((times(&ringer_woken), times(&user_woken)), (2, 0));
    clock.sleep(micros(5));
    turn();
    assert_eq!((times(&ringer_woken), times(&user_woken)), (2, 1), "the user is woken, and the hour is far");
}

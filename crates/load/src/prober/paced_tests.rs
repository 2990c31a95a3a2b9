//! A whole prober with a calm pace on real sockets.

use super::scripted_server::{Rows, Script, Service};
use super::socket_tests::{Probed, RATE, TRIES, probed_at_paces, tried};
use proofload_model::drill::{ProbeKind, ProberAsked};
use proofload_model::ledger::LedgerPage;
use proofload_model::prober::{PaceCause, ProberPace};
use std::sync::Arc;
use std::time::Duration;

/// Times of the script, seconds: an outage that nobody expected, and one for which the full pace was ordered.
const UNEXPECTED: (f64, f64) = (2.0, 2.5);
const ORDERED: f64 = 6.0;
const EXPECTED: (f64, f64) = (6.6, 7.0);
const CALM_AGAIN: f64 = 7.1;
const UNTIL: f64 = 10.5;

#[test]
fn both_paces_are_kept_on_real_sockets_and_every_write_is_in_the_ledger() {
    tried(TRIES, check_both_paces).expect("both outages come about");
}

fn check_both_paces() -> Result<(), String> {
    let script: Script = Arc::new(|at: Duration| {
        let is_away = |(from, to): (f64, f64)| (from..to).contains(&at.as_secs_f64());
        if is_away(UNEXPECTED) || is_away(EXPECTED) { Service::Gone } else { Service::Well }
    });
    let asked = ProberAsked { rate: RATE, calm_rate: 20, deadline: Duration::from_secs(1) };
    let Probed { report, pages, origin, .. } =
        probed_at_paces(&Rows::default(), asked, vec![script], |begun, _, prober| {
            let sleep_until = |at: f64| std::thread::sleep(Duration::from_secs_f64(at).saturating_sub(begun.elapsed()));
            sleep_until(ORDERED);
            prober.set_pace(ProberPace::Full);
            sleep_until(CALM_AGAIN);
            prober.set_pace(ProberPace::Calm);
            sleep_until(UNTIL);
            Ok(())
        })?;
    let (ledger, told) = (&report.ledger, format!("from {origin:.3} s on: {:?}", report.ledger));
    // What was begun and handed over is all that there is, whatever the host is busy with.
    assert_eq!(pages.iter().map(LedgerPage::acknowledged).sum::<u64>(), ledger.kept, "{told}");
    assert_eq!((ledger.lost, ledger.holes, ledger.phantoms, ledger.doubles), (0, 0, 0, 0), "{told}");
    let writes = report.kinds.iter().find(|kind| kind.kind == ProbeKind::Write).expect("it writes");
    assert_eq!(pages.iter().map(LedgerPage::count).sum::<u64>(), writes.due, "{told}");
    assert!(pages.windows(2).all(|pair| pair[0].end() <= pair[1].first), "in the order of their numbers: {pages:?}");
    let causes: Vec<PaceCause> = ledger.paces.changes.iter().map(|change| change.cause).collect();
    let expected = [PaceCause::Begin, PaceCause::Trouble, PaceCause::Steady, PaceCause::Order, PaceCause::Steady];
    let [first, second] = writes.outages.as_slice() else { return Err(format!("{:?}; {told}", writes.outages)) };
    let periods = [first, second].map(|outage| ledger.period_before(outage.from).as_millis());
    // Of 10.5 s five or six are at the full pace. On a busy host threads come to their turn at other times.
    let is_calm = (writes.due as f64) < 0.75 * (UNTIL - origin) * f64::from(RATE);
    let came_about = causes == expected && periods == [50, 5] && is_calm;
    if came_about { Ok(()) } else { Err(format!("{causes:?}, {periods:?} ms, {} writes; {told}", writes.due)) }
}

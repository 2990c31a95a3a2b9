//! A PostgreSQL that stands still for a second under a load at a rate, in real time. The same under a simulated clock,
//! exactly, is in `drive/open_load_tests.rs`; this one needs a quiet machine and is run by hand: `cargo test --release
//! -p proofload-load --lib -- --ignored --nocapture tprocc::tests::stall`.

use super::case::Case;
use super::role::{End, run_for};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use proofload_model::samples::{IntervalSample, LatencyClock};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Operations a second, a rate that the server is far from.
const RATE: f64 = 400.0;
const SECONDS: u64 = 20;

/// All kinds of operations together.
pub(super) fn merged(seconds: &[IntervalSample], clock: LatencyClock) -> Histogram<u64> {
    let mut all = Histogram::<u64>::new(3).unwrap();
    for part in seconds.iter().flat_map(|second| &second.histograms).filter(|part| part.clock == clock) {
        let part: Histogram<u64> = Deserializer::new().deserialize(&mut part.payload.as_slice()).unwrap();
        all.add(part).unwrap();
    }
    all
}

/// Sends a signal to the server and to all its sessions.
fn signal(name: &str, server: u32) {
    let children = std::fs::read_to_string(format!("/proc/{server}/task/{server}/children")).unwrap();
    let mut command = Command::new("kill");
    command.arg(format!("-{name}")).arg(server.to_string()).args(children.split_whitespace());
    assert!(command.status().unwrap().success());
}

/// Runs; the server stands still for so long in the middle.
fn run(stall: Option<Duration>) -> Option<Vec<IntervalSample>> {
    let rate = RATE.to_string();
    let case = Case::new("postgresql", &[("warehouses", "10"), ("virtual_users", "8"), ("rate", &rate)])?;
    let folder = Path::new(&case.request.target.place.folder).join("instance");
    let server = case.request.engine.server().unwrap().running_pid(&folder).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let Some(stall) = stall else { return };
            std::thread::sleep(Duration::from_secs(SECONDS / 2));
            signal("STOP", server);
            std::thread::sleep(stall);
            signal("CONT", server);
        });
        Some(run_for(&case, End::After(Duration::from_secs(SECONDS))).seconds)
    })
}

#[test]
#[ignore = "issue 5: 40 s of real time on a quiet machine"]
fn a_stall_shows_in_the_response_time_and_not_in_the_service_time() {
    let Some((calm, stalled)) = run(None).zip(run(Some(Duration::from_secs(1)))) else { return };
    let (response, service) = (merged(&stalled, LatencyClock::Response), merged(&stalled, LatencyClock::Service));
    let calm = merged(&calm, LatencyClock::Service);
    // The one in a thousand with the longest response is the last of those that fell due soon after the server stood.
    let operations = RATE * SECONDS as f64;
    let analytic = 1.0 - operations / 1_000.0 / RATE;
    let found = response.value_at_quantile(0.999) as f64 / 1e9;
    let ms = |histogram: &Histogram<u64>, share: f64| histogram.value_at_quantile(share) as f64 / 1e6;
    eprintln!(
        "{} operations; response p99.9 {found:.3} s where {analytic:.3} s is analytic; service p50 {:.2}, p90 {:.2}, p99 {:.2} ms, calm {:.2}, {:.2}, {:.2} ms",
        response.len(),
        ms(&service, 0.5),
        ms(&service, 0.9),
        ms(&service, 0.99),
        ms(&calm, 0.5),
        ms(&calm, 0.9),
        ms(&calm, 0.99),
    );
    assert!((found / analytic - 1.0).abs() < 0.05, "{found} s");
    // One in twenty ran while the backlog drained, all users at work at once: they are slower, but not by the stall.
    assert!(
        ms(&service, 0.9) < 1.5 * ms(&calm, 0.9) && ms(&service, 0.99) < 30.0,
        "8 of 8,000 operations were in flight"
    );
}

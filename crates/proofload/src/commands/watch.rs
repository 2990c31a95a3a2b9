//! `watch`: the live page of a record. Each look reads what is new in the record, and looks are the rarer the longer reading takes, since it
//! may stand beside a measurement.

use super::live_page::LivePage;
use super::status::{Status, host_at};
use crate::cli::WatchArguments;
use crate::clock::SystemClock;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::live::DeviceNow;
use crate::output;
use crate::page::{PageSecond, PageShare};
use proofload_model::samples::OperationCounts;
use proofload_model::series::device;
use proofload_model::time::Clock;
use proofload_record::{Attempt, Follower, Record, State};
use proofload_report::findings::{RunSummary, response_ns_p99_of};
use std::collections::BTreeMap;
use std::time::Duration;

/// Shortest time between two looks.
const SECOND: Duration = Duration::from_secs(1);

/// A look takes at most this share of the time.
const SHARE: u32 = 50;

/// Serves it until somebody has seen enough.
pub(crate) fn run(arguments: &WatchArguments) -> Exit {
    match serve(arguments) {
        Ok(()) => Exit::Good,
        Err(text) => output::failure(false, Exit::Failure, &text),
    }
}

/// What the page shows already.
#[derive(Debug, Default)]
struct WatchState {
    /// Verdicts on attempts.
    known: BTreeMap<i64, RunSummary>,
    /// The attempt whose seconds are shown, and how many.
    seconds: Option<(i64, u64)>,
}

fn serve(arguments: &WatchArguments) -> Result<(), String> {
    let interrupt = Interrupt::install().map_err(|error| format!("failed to install signal handlers: {error}"))?;
    let (mut follower, mut state) = (Follower::new(&arguments.record), WatchState::default());
    let mut begun = SystemClock.now();
    let first = look(&mut follower, &mut state).map_err(|error| error.to_string())?;
    let page = LivePage::of(Some(&arguments.listen))?.ok_or("there is no address to listen on")?;
    output::note("Ctrl-C ends this page, not the study");
    let mut status = show(first, &mut state, page.share());
    while !is_over(&interrupt, SECOND.max(SystemClock.now().since(begun) * SHARE)) {
        begun = SystemClock.now();
        match look(&mut follower, &mut state) {
            Ok(record) => status = show(record, &mut state, page.share()),
            Err(error) => page.share().show(&status.head, &status.rows, status.work, (&error.to_string(), true)),
        }
    }
    Ok(())
}

/// Reads what is new, with all rows of runs that have finished since; of a file that was not there before, all rows.
fn look<'f>(follower: &'f mut Follower, state: &mut WatchState) -> Result<&'f Record, proofload_record::Error> {
    let is_another = follower.is_another_file();
    if is_another {
        *state = WatchState::default();
    }
    let is_new = |attempt: &Attempt| attempt.state == State::Finished && !state.known.contains_key(&attempt.id);
    follower.look(&|attempt| is_another || is_new(attempt))
}

/// Shows where a record stands, and the seconds that are not shown yet.
fn show(record: &Record, state: &mut WatchState, share: &PageShare) -> Status {
    let status = Status::of(record, &mut state.known, SystemClock.wall());
    state.seconds = seconds(record, state.seconds, share);
    let has_ended = status.is_complete() && !record.being_written;
    let doing = if record.being_written || has_ended { "" } else { "not running" };
    share.show(&status.head, &status.rows, status.work, (doing, has_ended));
    status
}

/// Waits, and tells whether somebody has seen enough in between.
fn is_over(interrupt: &Interrupt, pause: Duration) -> bool {
    let begun = SystemClock.now();
    while SystemClock.now().since(begun) < pause && !interrupt.asked() {
        SystemClock.sleep(SECOND.min(pause));
    }
    interrupt.asked()
}

/// Adds the seconds of the newest attempt that are not shown yet; tells which attempt and how many are.
fn seconds(record: &Record, shown: Option<(i64, u64)>, share: &PageShare) -> Option<(i64, u64)> {
    let Some(attempt) = record.attempts.iter().rev().find(|attempt| !attempt.intervals.is_empty()) else {
        return shown;
    };
    let from = match shown {
        Some((id, seen)) if id == attempt.id => seen,
        Some((id, _)) if id > attempt.id => return shown,
        _ => {
            share.begin_run();
            0
        }
    };
    let devices = devices(attempt);
    let mut seen = from;
    for sample in attempt.intervals.iter().filter(|sample| sample.index >= from) {
        let completed: u64 = sample.counts.iter().map(OperationCounts::completed).sum();
        share.add(PageSecond {
            index: sample.index,
            rate: Some(completed as f64),
            response_ns_p99: response_ns_p99_of(sample),
            device: devices
                .get(&(sample.index as i64))
                .and_then(|readings| DeviceNow::of(readings.iter().map(|(name, value)| (*name, *value)))),
            host: host_at(attempt, sample.index),
        });
        seen = sample.index + 1;
    }
    Some((attempt.id, seen))
}

/// Readings of the devices under the data by second.
fn devices(attempt: &Attempt) -> BTreeMap<i64, Vec<(&str, f64)>> {
    let mut found: BTreeMap<i64, Vec<(&str, f64)>> = BTreeMap::new();
    let series = attempt.series.iter().filter(|one| one.probe == device::PROBE && !one.instance.is_standby());
    for one in series {
        for (at, _, value) in &one.samples {
            found.entry(at.as_seconds().floor() as i64).or_default().push((one.name.as_str(), *value));
        }
    }
    found
}

//! `watch`: the live page of a record. Reads no more of the record than it shows, and less often the longer reading takes, since it may stand
//! beside a measurement.

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
use proofload_record::{Attempt, Record, State};
use proofload_report::findings::response_ns_p99_of;
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
        Err(text) => {
            output::error(&text);
            Exit::Failure
        }
    }
}

fn serve(arguments: &WatchArguments) -> Result<(), String> {
    let interrupt = Interrupt::install().map_err(|error| format!("failed to install signal handlers: {error}"))?;
    let first = proofload_record::read_progress(&arguments.record, &|_| true).map_err(|error| error.to_string())?;
    let page = LivePage::of(Some(&arguments.listen))?.ok_or("there is no address to listen on")?;
    output::note("Ctrl-C ends this page, not the study");
    let mut known = BTreeMap::new();
    let (mut shown, mut record) = (None, first);
    loop {
        let begun = SystemClock.now();
        let status = Status::of(&record, &mut known, SystemClock.wall());
        shown = seconds(&record, shown, page.share());
        let doing = if record.being_written { "" } else { "not running" };
        let has_ended = status.is_complete() && !record.being_written;
        page.share().show(&status.head, &status.rows, status.work, (doing, has_ended));
        let mut took = SystemClock.now().since(begun);
        record = loop {
            if is_over(&interrupt, SECOND.max(took * SHARE)) {
                return Ok(());
            }
            let begun = SystemClock.now();
            let is_new = |attempt: &Attempt| attempt.state == State::Finished && !known.contains_key(&attempt.id);
            let read = proofload_record::read_progress(&arguments.record, &is_new);
            took = SystemClock.now().since(begun);
            match read {
                Ok(read) => break read,
                Err(error) => {
                    page.share().show(&status.head, &status.rows, status.work, (&error.to_string(), true));
                }
            }
        };
    }
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

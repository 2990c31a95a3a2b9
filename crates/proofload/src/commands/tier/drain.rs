//! `tier drain`: cleans a pool within a time, an open one by its socket, or one that nobody serves by its devices.

use super::devices;
use super::units::{bytes, count, time as time_text};
use super::words::{Faults, OriginPlace, modes, origins, pool_settings, time};
use crate::cli_tier::DrainArguments;
use crate::clock::SystemClock;
use crate::exit::Exit;
use crate::output;
use proofload_tier::control::ControlClient;
use proofload_tier::policy::PolicyChoice;
use proofload_tier::tier::{DrainStatus, Tier};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How a drain ended.
struct DrainOutcome {
    status: DrainStatus,
    detached: bool,
}

/// Drains.
pub(super) fn run(arguments: &DrainArguments) -> Exit {
    let mut faults = Faults::default();
    let within = time("--within", &arguments.within, &mut faults);
    let origins = origins(&arguments.origins, &mut faults);
    let within = match faults.settle(arguments.json, within) {
        Ok(within) => within,
        Err(exit) => return exit,
    };
    let drained = match (&arguments.control, &arguments.cache) {
        (Some(control), _) => by_socket(control, within),
        (None, Some(cache)) => by_devices(arguments, cache, &origins, within),
        (None, None) => Err("no pool to drain was given".to_owned()),
    };
    match drained {
        Ok(drained) => {
            output::result(&if arguments.json { as_json(&drained) } else { as_text(&drained, within) });
            if drained.status.dirty_lines == 0 { Exit::Good } else { Exit::Failure }
        }
        Err(text) => output::failure(arguments.json, Exit::Failure, &text),
    }
}

fn by_socket(control: &Path, within: Duration) -> Result<DrainOutcome, String> {
    let drained = ControlClient::connect(control).and_then(|client| client.drain(within));
    drained.map(|status| DrainOutcome { status, detached: false }).map_err(|error| error.to_string())
}

/// Opens the pool for the drain alone. A pool that fail-stopped is opened as after a crash, its journal read again.
fn by_devices(
    arguments: &DrainArguments,
    cache: &Path,
    origins: &[OriginPlace],
    within: Duration,
) -> Result<DrainOutcome, String> {
    let text = |error: proofload_tier::Error| error.to_string();
    let opened = devices::open(cache, origins, devices::page_cache(arguments.page_cache), None)?;
    let modes = modes(&[], origins, &mut Faults::default());
    let settings = pool_settings(PolicyChoice::S3Fifo1, origins, &modes);
    let tier = Tier::open(opened.devices.clone(), settings, Arc::new(SystemClock)).map_err(text)?;
    let drained = tier.drain(within);
    let detach = arguments.detach && drained.as_ref().is_ok_and(|status| status.dirty_lines == 0);
    if detach {
        tier.detach(within).map_err(text)?;
    } else {
        // What was cleaned stays clean whatever happened to the rest.
        let closed = tier.close().map_err(text);
        return drained.map_err(text).and_then(|status| closed.map(|()| DrainOutcome { status, detached: false }));
    }
    drained.map(|status| DrainOutcome { status, detached: true }).map_err(text)
}

fn as_text(drained: &DrainOutcome, within: Duration) -> String {
    let status = &drained.status;
    if status.dirty_lines == 0 {
        let free = if drained.detached { "; the origins are detached from the cache" } else { "" };
        return format!("drained: no line is dirty{free}");
    }
    let rate = bytes(status.bytes_per_second as u64);
    let left = match status.left {
        Some(left) => format!("about {} more at {rate}/s", time_text(left)),
        None => "nothing was cleaned recently, so the remaining time is unknown".to_owned(),
    };
    format!("not drained within {}: {} lines are dirty; {left}", time_text(within), count(status.dirty_lines))
}

fn as_json(drained: &DrainOutcome) -> String {
    let status = &drained.status;
    let document = json!({
        "form": 1,
        "drained": status.dirty_lines == 0,
        "detached": drained.detached,
        "dirty_lines": status.dirty_lines,
        "bytes_per_second": status.bytes_per_second,
        "left_ns": status.left.map(|left| u64::try_from(left.as_nanos()).unwrap_or(u64::MAX)),
    });
    format!("{document:#}")
}

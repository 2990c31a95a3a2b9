//! `tier drain`: cleans a pool within a time, an open one by its socket, or one that nobody serves by its devices.

use super::devices;
use super::drained::{DrainOutcome, FoundSalvage, as_json, as_text};
use super::words::{Faults, OriginPlace, modes, origins, pool_settings, time};
use crate::cli_tier::DrainArguments;
use crate::clock::SystemClock;
use crate::exit::Exit;
use crate::output;
use proofload_tier::control::ControlClient;
use proofload_tier::policy::PolicyChoice;
use proofload_tier::tier::Tier;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Drains.
pub(super) fn run(arguments: &DrainArguments) -> Result<Exit, Exit> {
    let mut faults = Faults::default();
    let within = time("--within", &arguments.within, &mut faults);
    let origins = origins(&arguments.origins, &mut faults);
    let within = faults.settle(arguments.json, within)?;
    let drained = match (&arguments.control, &arguments.cache) {
        (Some(control), _) => by_socket(control, within),
        (None, Some(cache)) => by_devices(arguments, cache, &origins, within),
        (None, None) => Err("no pool to drain was given".to_owned()),
    };
    let drained = drained.map_err(|text| output::failure(arguments.json, Exit::Failure, &text))?;
    let text = if arguments.json { as_json(&drained) } else { as_text(&drained, within) };
    let exit = if drained.status.dirty_lines == 0 { Exit::Good } else { Exit::Failure };
    Ok(output::conclude(arguments.json, &text, exit))
}

fn by_socket(control: &Path, within: Duration) -> Result<DrainOutcome, String> {
    let drained = ControlClient::connect(control).and_then(|client| client.drain(within));
    drained.map(|status| DrainOutcome { status, detached: false, salvage: None }).map_err(|error| error.to_string())
}

/// Opens the pool for the drain alone, which goes on behind what cannot be read. A volume that failed while it was served has not failed yet.
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
    let salvage = tier.salvage(within).map_err(text)?;
    let status = salvage.drain;
    let detached = arguments.detach && status.dirty_lines == 0;
    if detached {
        tier.detach(within).map_err(text)?;
    } else {
        // What was cleaned stays clean whatever happened to the rest.
        tier.close().map_err(text)?;
    }
    let volumes = origins.iter().map(|place| place.class.name()).collect();
    Ok(DrainOutcome {
        status,
        detached,
        salvage: Some(FoundSalvage { status: salvage, volumes, cache: cache.to_owned() }),
    })
}

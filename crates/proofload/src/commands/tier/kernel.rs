//! `tier kernel`: sets up, reads, recovers and takes down caches of the kernel. Which steps that takes is known to the testbed.

use super::words::{Faults, mode, size, time};
use super::{kernel_json, kernel_text};
use crate::cli_tier_kernel::{
    KernelDeviceArguments, KernelRecoverArguments, KernelSetUpArguments, KernelStatsArguments, KernelTakeDownArguments,
    TierKernelCommand,
};
use crate::clock::SystemClock;
use crate::exit::Exit;
use crate::output;
use proofload_model::error::{Error, ErrorKind};
use proofload_model::time::Clock as _;
use proofload_model::units::Bytes;
use proofload_testbed::caches::{self, CacheOrder, CacheStatistics, CacheStep};
use proofload_tier::machine::CacheMode;
use std::time::Duration;

/// Runs one of them.
pub(super) fn run(command: &TierKernelCommand) -> Result<Exit, Exit> {
    match command {
        TierKernelCommand::SetUp(arguments) => set_up(arguments),
        TierKernelCommand::Stats(arguments) => stats(arguments),
        TierKernelCommand::Recover(arguments) => recover(arguments),
        TierKernelCommand::TakeDown(arguments) => take_down(arguments),
    }
}

/// Reads what all of them take.
fn order(devices: &KernelDeviceArguments, word: &str, block: Option<&str>, faults: &mut Faults) -> Option<CacheOrder> {
    let system = faults.take("--with", caches::cache_named(&devices.with));
    let mode = faults.take("--mode", mode(word));
    let block = block.map(|text| size("--block", text, faults));
    Some(CacheOrder {
        system: system?,
        cache: devices.cache.clone(),
        origin: devices.origin.clone(),
        mode: mode?,
        block: match block {
            Some(block) => Some(Bytes(block?)),
            None => None,
        },
    })
}

fn set_up(arguments: &KernelSetUpArguments) -> Result<Exit, Exit> {
    let mut faults = Faults::default();
    let order = order(&arguments.devices, &arguments.mode, arguments.block.as_deref(), &mut faults);
    let order = faults.settle(arguments.json, order)?;
    let confirmed: Vec<String> = arguments.yes.iter().flat_map(|names| names.split(',')).map(str::to_owned).collect();
    if arguments.dry_run {
        let against = caches::refusal(&order, &confirmed).map(|error| error.to_string());
        let planned = caches::plan(&order).map(|steps| vec![("", steps)]);
        return told(arguments.json, planned.map(|parts| plan_text(arguments.json, &parts, against.as_deref())));
    }
    let done = caches::set_up(&order, &confirmed, &SystemClock);
    told(arguments.json, done.map(|found| in_place(arguments.json, &order, "set up", &found)))
}

fn recover(arguments: &KernelRecoverArguments) -> Result<Exit, Exit> {
    let mut faults = Faults::default();
    let order = order(&arguments.devices, &arguments.mode, None, &mut faults);
    let order = faults.settle(arguments.json, order)?;
    if arguments.dry_run {
        let planned = caches::recovery_plan(&order).map(|steps| vec![("", steps)]);
        return told(arguments.json, planned.map(|parts| plan_text(arguments.json, &parts, None)));
    }
    let done = caches::recover(&order, &SystemClock);
    told(arguments.json, done.map(|found| in_place(arguments.json, &order, "back in place", &found)))
}

fn stats(arguments: &KernelStatsArguments) -> Result<Exit, Exit> {
    let mut faults = Faults::default();
    let over = arguments.over.as_ref().and_then(|text| time("--over", text, &mut faults));
    let order = order(&arguments.devices, CacheMode::WriteBack.name(), None, &mut faults);
    let order = faults.settle(arguments.json, order)?;
    let found = statistics(&order, over).map(|found| match arguments.json {
        true => kernel_json::of(order.system, &found),
        false => kernel_text::of(order.system, &found),
    });
    told(arguments.json, found)
}

fn statistics(order: &CacheOrder, over: Option<Duration>) -> Result<CacheStatistics, Error> {
    let first = caches::statistics(order, &SystemClock)?;
    let Some(over) = over else { return Ok(first) };
    SystemClock.sleep(over);
    Ok(caches::statistics(order, &SystemClock)?.since(&first, over))
}

fn take_down(arguments: &KernelTakeDownArguments) -> Result<Exit, Exit> {
    let mut faults = Faults::default();
    let within = time("--within", &arguments.within, &mut faults);
    let order = order(&arguments.devices, CacheMode::WriteBack.name(), None, &mut faults);
    let (within, order) = faults.settle(arguments.json, within.zip(order))?;
    if arguments.dry_run {
        let planned = caches::take_down_plan(&order);
        let planned = planned.map(|(drain, remove)| vec![("", drain), ("once nothing is dirty", remove)]);
        return told(arguments.json, planned.map(|parts| plan_text(arguments.json, &parts, None)));
    }
    let outcome = caches::take_down(&order, within, &SystemClock).map_err(|error| failure(arguments.json, &error))?;
    let text = match arguments.json {
        true => kernel_json::taken_down(order.system, &outcome),
        false => kernel_text::taken_down(order.system, &outcome, within),
    };
    let exit = if outcome.left == Bytes(0) { Exit::Good } else { Exit::Failure };
    Ok(output::conclude(arguments.json, &text, exit))
}

fn plan_text(json: bool, parts: &[(&str, Vec<CacheStep>)], against: Option<&str>) -> String {
    if json { kernel_json::plan(parts, against) } else { kernel_text::plan(parts, against) }
}

fn in_place(json: bool, order: &CacheOrder, what: &str, found: &CacheStatistics) -> String {
    if json { kernel_json::of(order.system, found) } else { kernel_text::in_place(order.system, what, found) }
}

fn told(json: bool, done: Result<String, Error>) -> Result<Exit, Exit> {
    let text = done.map_err(|error| failure(json, &error))?;
    Ok(output::conclude(json, &text, Exit::Good))
}

fn failure(json: bool, error: &Error) -> Exit {
    let exit = if error.kind() == ErrorKind::Refused { Exit::Usage } else { Exit::Failure };
    output::failure(json, exit, &error.to_string())
}

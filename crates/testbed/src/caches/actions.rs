//! What is done with a cache of the kernel: planned, set up, read, drained and taken down, put in place again. Devices of which content would be
//! lost are named twice and without signatures; whatever was begun and failed is undone.

use super::cache::{CacheOrder, CachePair};
use super::counts::CacheStatistics;
use super::device::CacheDevice;
use super::step::{CacheStep, carry_out, carry_out_or_undo, within};
use crate::guard::{self, DeviceUse};
use crate::sys;
use proofload_model::error::Error;
use proofload_model::time::Clock;
use proofload_model::units::Bytes;
use std::path::Path;
use std::time::Duration;

/// Interval at which a cache that is drained is asked whether it is clean.
const DRAIN_LOOK: Duration = Duration::from_millis(250);

/// How taking down ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenDownCache {
    /// Bytes that the origin still lacks; zero: the cache is gone.
    pub left: Bytes,
    /// What was cleaned in a second on average, bytes.
    pub cleaned_per_second: Bytes,
    /// Whether it was in place at all; if not, only what a set-up had left was removed.
    pub was_in_place: bool,
    /// What becomes of the origin.
    pub origin: &'static str,
}

/// The steps that set it up.
///
/// # Errors
/// It cannot be had with these devices and settings.
pub fn plan(order: &CacheOrder) -> Result<Vec<CacheStep>, Error> {
    steps(order.system.set_up(&new_pair(order)?)?)
}

/// The steps that put it in place again.
///
/// # Errors
/// The devices hold no such cache.
pub fn recovery_plan(order: &CacheOrder) -> Result<Vec<CacheStep>, Error> {
    steps(order.system.recover(&existing_pair(order)?)?)
}

/// The steps that drain it, and those that then remove it.
///
/// # Errors
/// The devices hold no such cache.
pub fn take_down_plan(order: &CacheOrder) -> Result<(Vec<CacheStep>, Vec<CacheStep>), Error> {
    let pair = existing_pair(order)?;
    Ok((order.system.drain(&pair)?, order.system.remove(&pair)?))
}

fn steps(with_undoing: Vec<(CacheStep, Option<CacheStep>)>) -> Result<Vec<CacheStep>, Error> {
    Ok(with_undoing.into_iter().map(|(step, _)| step).collect())
}

/// Why the devices would be refused; `None` when nothing stands against them. `confirmed`: those that were named again. Writes nothing.
pub fn refusal(order: &CacheOrder, confirmed: &[String]) -> Option<Error> {
    let devices = [&order.cache, &order.origin].map(|node| node.display().to_string());
    if devices[0] == devices[1] {
        return Some(Error::refused(format!("{} cannot be both cache and origin", devices[0])));
    }
    if let Some(stranger) = confirmed.iter().find(|name| !devices.contains(name)) {
        return Some(Error::refused(format!("--yes names {stranger}, which is not a device of this command")));
    }
    let reasons: Vec<String> = devices
        .iter()
        .filter_map(|device| {
            let named = confirmed.iter().find(|name| *name == device).map(String::as_str);
            guard::claim(device, named, Path::new("/"), DeviceUse::Cache).err()
        })
        .map(|error| error.to_string())
        .collect();
    (!reasons.is_empty()).then(|| Error::refused(reasons.join("\n")))
}

/// Sets it up; what it says of itself afterwards. ALL DATA OF BOTH DEVICES ARE LOST.
///
/// # Errors
/// No right, the devices are refused, or a step fails; those before it are undone then.
pub fn set_up(order: &CacheOrder, confirmed: &[String], clock: &dyn Clock) -> Result<CacheStatistics, Error> {
    expect_root("set up")?;
    let pair = new_pair(order)?;
    if let Some(refusal) = refusal(order, confirmed) {
        return Err(refusal);
    }
    let steps = order.system.set_up(&pair)?;
    carry_out_or_undo(&steps, clock)
        .map_err(|error| error.context(format!("failed to set up {}", order.system.name())))?;
    order.system.statistics(&pair, clock)
}

/// Puts it in place again after the machine was restarted or has crashed, or sets again what the kernel forgot of one that others put there; what it
/// says of itself afterwards.
///
/// # Errors
/// No right, the devices hold no such cache, it is in place, or a step fails.
pub fn recover(order: &CacheOrder, clock: &dyn Clock) -> Result<CacheStatistics, Error> {
    expect_root("put in place")?;
    let pair = existing_pair(order)?;
    if order.system.is_in_place(&pair) {
        let forgotten = order.system.settings_to_restore(&pair);
        if !forgotten.is_empty() {
            carry_out(&forgotten, clock)?;
            return order.system.statistics(&pair, clock);
        }
        return Err(Error::refused(format!(
            "{} is already in place in front of {}",
            order.system.name(),
            order.origin.display()
        )));
    }
    let steps = order.system.recover(&pair)?;
    let failed = |error: Error| error.context(format!("failed to put {} in place again", order.system.name()));
    carry_out_or_undo(&steps, clock).map_err(failed)?;
    order.system.statistics(&pair, clock)
}

/// State and counts since it was put in place.
///
/// # Errors
/// It is not in place, or what it says is not understood.
pub fn statistics(order: &CacheOrder, clock: &dyn Clock) -> Result<CacheStatistics, Error> {
    order.system.statistics(&existing_pair(order)?, clock)
}

/// Drains it within a time and removes it. When the time is over it stays in place, cleaning on, and what is left is told.
///
/// # Errors
/// No right, the volume is in use, or a step fails.
pub fn take_down(order: &CacheOrder, patience: Duration, clock: &dyn Clock) -> Result<TakenDownCache, Error> {
    expect_root("take down")?;
    let system = order.system;
    let failed = |error: Error| error.context(format!("failed to take down {}", system.name()));
    let mut outcome = TakenDownCache {
        left: Bytes(0),
        cleaned_per_second: Bytes(0),
        was_in_place: false,
        origin: system.origin_afterwards(),
    };
    let found = existing_pair(order);
    let pair = match &found {
        Ok(pair) => pair,
        Err(_) => &new_pair(order)?,
    };
    if !system.is_in_place(pair) {
        carry_out(&system.remains(pair), clock).map_err(failed)?;
        return match found {
            Ok(_) => Err(Error::refused(format!(
                "{} is not in place, and its cache may have newer content than the origin: put it in place again first",
                system.name()
            ))),
            Err(_) => Ok(outcome),
        };
    }
    outcome.was_in_place = true;
    let before = system.statistics(pair, clock)?;
    guard::expect_unused(Path::new(&before.volume)).map_err(failed)?;
    carry_out(&system.drain(pair)?, clock).map_err(failed)?;
    let begun = clock.now();
    let mut last = before.clone();
    let look = || system.statistics(pair, clock).map(|now| last = now).is_err() || last.is_clean;
    let is_over = within(patience, DRAIN_LOOK, clock, look);
    let took = clock.now().since(begun).as_secs_f64();
    let cleaned = before.dirty.unwrap_or_default().0.saturating_sub(last.dirty.unwrap_or_default().0);
    outcome.cleaned_per_second = Bytes(if took > 0.0 { (cleaned as f64 / took) as u64 } else { 0 });
    if !is_over {
        outcome.left = Bytes(last.dirty.unwrap_or_default().0.max(1));
        return Ok(outcome);
    }
    // Whoever removes sees for himself that nothing is dirty.
    if !system.statistics(pair, clock)?.is_clean {
        return Err(failed(Error::new("it was clean and is dirty again; is it in use?")));
    }
    carry_out(&system.remove(pair)?, clock).map_err(failed)?;
    Ok(outcome)
}

fn expect_root(what: &str) -> Result<(), Error> {
    if sys::is_root() { Ok(()) } else { Err(Error::refused(format!("{what} a cache of the kernel: this needs root"))) }
}

/// Devices for a new cache.
fn new_pair(order: &CacheOrder) -> Result<CachePair, Error> {
    let system = order.system;
    let block = order.block.unwrap_or(system.usual_block());
    system.expect_block(block)?;
    if system.mode(order.mode).is_none() {
        return Err(Error::refused(format!("{} has no mode {}", system.name(), order.mode.name())));
    }
    let (cache, origin) = (CacheDevice::find(&order.cache)?, CacheDevice::find(&order.origin)?);
    Ok(CachePair { cache, origin, mode: order.mode, block })
}

/// Devices of a cache that exists, with the size of its blocks.
fn existing_pair(order: &CacheOrder) -> Result<CachePair, Error> {
    let pair = new_pair(order)?;
    let block = order.system.recognise(&pair)?.unwrap_or(pair.block);
    let damaged = |error: Error| error.context(format!("the superblock of {} contains {block}", order.cache.display()));
    order.system.expect_block(block).map_err(damaged)?;
    Ok(CachePair { block, ..pair })
}

//! Builds whose process is killed at random instants and begun again each time.

use super::OltpBench;
use crate::workload::WorkloadRun as _;
use proofload_engine::{Engine, Target};
use proofload_gen::Rng;
use proofload_model::error::Error;
use std::process::Child;
use std::time::Duration;

/// Enough warehouses for several chunks to be open at once and for kills to meet every step.
pub(in crate::workloads::tprocc) const BUILD_CHANGES: &[(&str, &str)] = &[("warehouses", "6")];

/// Kills after which a build that does not end is given up.
const MOST_KILLS: u32 = 200;

/// Kills after which the time until the next is doubled.
const DOUBLED_EVERY: u32 = 50;

/// Builds data of order entry in a database; what a process does that is to be killed.
///
/// # Errors
/// The build failed.
pub fn build_apart(engine: &'static dyn Engine, target: &Target) -> Result<(), Error> {
    OltpBench::new(engine, target, BUILD_CHANGES)?.run()?.build().map(drop)
}

/// Latest time of a kill after so many, µs. Kills come later and later, so that a build ends at last, however slow its host.
fn latest_kill_us(kills: u32) -> u64 {
    (30_000 + u64::from(kills) * 10_000) << (kills / DOUBLED_EVERY)
}

/// Builds by processes of `start` and kills them until one comes to its end by itself; returns the number of kills.
pub(in crate::workloads::tprocc) fn build_with_kills(
    start: &dyn Fn() -> Result<Child, Error>,
    draw: &mut Rng,
) -> Result<u32, Error> {
    let failed = |error: std::io::Error| Error::new(format!("watch a build that is to be killed: {error}"));
    for kills in 0..MOST_KILLS {
        let mut child = start()?;
        std::thread::sleep(Duration::from_micros(draw.below(latest_kill_us(kills))));
        let ended = child.try_wait().map_err(failed)?;
        if ended.is_none() {
            child.kill().map_err(failed)?;
        }
        let output = child.wait_with_output().map_err(failed)?;
        match ended {
            None => {}
            Some(status) if status.success() => return Ok(kills),
            Some(_) => {
                let said = String::from_utf8_lossy(&output.stderr);
                let text = format!("after {kills} kills a build that was not killed failed: {}", said.trim());
                return Err(Error::new(text));
            }
        }
    }
    Err(Error::new(format!("a build did not end between {MOST_KILLS} kills")))
}

//! The list of faults, and how one is made: until it is found in force, or it is no fault.

use super::crash::Crash;
use super::fault::{FaultMaker, FaultSite};
use super::freeze::Freeze;
use super::kill::Kill;
use super::partition::Partition;
use super::stop::Stop;
use proofload_model::drill::{FaultInForce, FaultKind};
use proofload_model::error::Error;
use proofload_model::time::Clock;
use std::time::Duration;

/// Every fault.
const FAULTS: &[&dyn FaultMaker] = &[&Crash, &Kill, &Stop, &Freeze, &Partition];

/// How long a fault may take until it is in force. A clean stop first writes back what is in memory.
const IN_FORCE_WITHIN: Duration = Duration::from_secs(120);

/// How often is looked.
const LOOK: Duration = Duration::from_millis(1);

/// Makes a fault; answers once it is in force.
///
/// # Errors
/// It cannot be made here, or it did nothing.
pub(crate) fn make(kind: FaultKind, site: &FaultSite<'_>, clock: &dyn Clock) -> Result<FaultInForce, Error> {
    let fault = FAULTS.iter().find(|fault| fault.kind() == kind);
    let fault = fault.ok_or_else(|| Error::refused(format!("make a fault: there is none of the kind {kind:?}")))?;
    make_within(*fault, site, clock, IN_FORCE_WITHIN)
}

fn make_within(
    fault: &dyn FaultMaker,
    site: &FaultSite<'_>,
    clock: &dyn Clock,
    within: Duration,
) -> Result<FaultInForce, Error> {
    let begun = clock.now();
    let mut after = begun;
    fault.make(site)?;
    loop {
        let looked = clock.now();
        if fault.is_in_force(site) {
            return Ok(FaultInForce { after, at: clock.now() });
        }
        if looked.since(begun) > within {
            return Err(Error::verification(format!(
                "make a fault: {:?} did nothing that could be seen within {within:?}; this is no drill",
                fault.kind()
            )));
        }
        after = looked;
        clock.sleep(LOOK);
    }
}

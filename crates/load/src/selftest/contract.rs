//! The engine's own conformance suite as a part.

use super::bench::Bench;
use super::part::{SelftestPart, Steps, needs_sql};
use crate::workloads::blocking_session::runtime;
use proofload_engine::conformance::{self, CHECKS, CheckResult};
use proofload_model::error::Error;

/// Sessions keep the contract.
pub(super) const CONTRACT: SelftestPart = SelftestPart { name: "contract", lacking: needs_sql, run };

fn run(bench: &Bench, steps: &mut Steps<'_>) -> Result<(), Error> {
    let runtime = runtime()?;
    let place = conformance::Bench::new(bench.engine, &bench.target)?;
    runtime.block_on(bench.engine.create_database(&bench.target))?;
    for check in CHECKS {
        let name = format!("contract: {}", check.name);
        match runtime.block_on((check.look)(&place)) {
            Ok(CheckResult::Kept) => steps.end(&name, Ok(())),
            Ok(CheckResult::Skipped(why)) => steps.skip(&name, why),
            Err(error) => steps.end(&name, Err(error.into())),
        }
    }
    Ok(())
}

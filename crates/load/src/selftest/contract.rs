//! The engine's own conformance suite as a part. Its settings hold here only: some make a conflict show sooner than a load may bear.

use super::bench::Bench;
use super::part::{SelftestPart, Steps, needs_sql};
use crate::workloads::blocking_session::runtime;
use proofload_engine::conformance::{self, CHECKS, CheckResult, Words};
use proofload_model::error::Error;

/// Sessions keep the contract.
pub(super) const CONTRACT: SelftestPart = SelftestPart { name: "contract", lacking: needs_sql, run };

fn run(bench: &Bench, steps: &mut Steps<'_>) -> Result<(), Error> {
    let runtime = runtime()?;
    let mut target = bench.target.clone();
    if target.place.url.is_none() {
        target.place.settings = Words::of(bench.engine)?.settings;
    }
    let place = conformance::Bench::new(bench.engine, &target)?;
    runtime.block_on(bench.engine.create_database(&target))?;
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

//! Parts of the self-test: two of YCSB's core workloads, each loaded, run and read back in full.

use super::Ycsb;
use crate::LoadRole;
use crate::selftest::{Bench, SelftestPart, Steps, spec, whole_load};
use crate::workload::Workload as _;
use proofload_engine::Engine;
use proofload_model::error::Error;
use proofload_model::wire::load::{Build, LoadService as _, Open};
use std::sync::Arc;

/// Parts of this workload.
pub(super) const PARTS: &[SelftestPart] = &[
    SelftestPart { name: "key-value: core workload A", lacking, run: |bench, steps| run(bench, steps, "a") },
    SelftestPart { name: "key-value: core workload E", lacking, run: |bench, steps| run(bench, steps, "e") },
];

const OPERATIONS: u64 = 600;

fn lacking(engine: &dyn Engine) -> Option<String> {
    (!engine.facts().capabilities.durable).then(|| "the engine keeps no data".to_owned())
}

fn run(bench: &Bench, steps: &mut Steps<'_>, mix: &str) -> Result<(), Error> {
    let operations = OPERATIONS.to_string();
    let changes = [
        ("mix", mix),
        ("records", "1000"),
        ("fields", "4"),
        ("scan_most", "20"),
        ("operations", operations.as_str()),
        ("virtual_users", "2"),
        ("check_reads", "1"),
        ("verify", "full"),
    ];
    let spec = spec(&Ycsb.facts(), &bench.target, &changes)?;
    let name = |what: &str| format!("key-value: {what} of core workload {}", mix.to_uppercase());
    let mut role = LoadRole::new(Arc::clone(&bench.clock), Arc::new(|_| {}));
    role.open(Open { spec: Box::new(spec.clone()) })?;
    role.build(Build {})?;
    drop(role);
    steps.end(&name("1,000 records"), Ok(()));
    let ran = whole_load(spec, &bench.clock, || {}).and_then(|ran| ran.must_have_done(OPERATIONS));
    steps.end(&name("600 operations, all records read back,"), ran);
    Ok(())
}

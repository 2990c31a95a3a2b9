//! The fixture's place in the list of workloads, and its settings.

use super::rows::ExampleTable;
use super::user::KINDS;
use super::workload_run::ExampleRun;
use crate::division::indivisible;
use crate::workload::{RunRequest, Workload, WorkloadRun};
use proofload_model::catalogue::{Contradiction, WorkloadFacts};
use proofload_model::error::Error;
use proofload_model::settings::{Kind, Scope, SettingSpec, Settings, setting};
use proofload_model::units::Bytes;
use std::sync::Arc;

/// The word in `workload.kind`.
const NAME: &str = "example_rows";

const SCOPE: Scope = Scope::Workload(NAME);

/// Settings of the workload in a study.
const SETTINGS: &[SettingSpec] = &[
    SettingSpec::required("workload.rows", Kind::Integer { least: 1, most: 100_000 }, "Rows of the table.").only(SCOPE),
    SettingSpec::required(
        setting::WORKLOAD_VIRTUAL_USERS,
        Kind::Integer { least: 1, most: 1000 },
        "Virtual users: sessions that read rows.",
    )
    .load()
    .only(SCOPE),
];

/// The fixture.
#[derive(Debug)]
pub struct ExampleRows;

/// The contradiction of several load agents.
fn contradictions(settings: &Settings) -> Vec<Contradiction> {
    indivisible(settings, "the fixture needs one load agent").into_iter().collect()
}

/// Size of the rows: two numbers each.
fn raw_bytes(settings: &Settings) -> Bytes {
    Bytes(ExampleTable::read(settings, 0).map_or(0, |rows| rows.count * 16))
}

impl Workload for ExampleRows {
    fn facts(&self) -> WorkloadFacts {
        WorkloadFacts {
            name: NAME,
            title: "a fixture of the tests",
            settings: SETTINGS,
            needs_sql: true,
            operations: || KINDS,
            contradictions,
            raw_bytes,
        }
    }

    fn sessions(&self, settings: &Settings) -> u32 {
        settings.count(setting::WORKLOAD_VIRTUAL_USERS).unwrap_or(1)
    }

    fn data_label(&self, settings: &Settings, seed: u64) -> String {
        let rows = settings.integer("workload.rows").unwrap_or_default();
        format!("{NAME} seed {seed}, rows {rows}")
    }

    fn open(&self, request: RunRequest) -> Result<Arc<dyn WorkloadRun>, Error> {
        Ok(Arc::new(ExampleRun::new(request)?))
    }
}

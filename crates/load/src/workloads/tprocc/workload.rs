//! TPROC-C as a workload: its place in the list of workloads.

use super::opened::OpenedTprocc;
use super::settings::{NAME, SETTINGS, TproccSettings};
use crate::workload::{Job, Opened, Workload};
use proofload_model::catalogue::{WorkloadFacts, no_contradictions};
use proofload_model::error::Error;
use proofload_model::settings::Settings;
use proofload_model::units::Bytes;
use std::sync::Arc;

/// TPROC-C: derived from TPC-C; its results are not TPC results.
#[derive(Debug)]
pub struct Tprocc;

impl Workload for Tprocc {
    fn facts(&self) -> WorkloadFacts {
        WorkloadFacts {
            name: NAME,
            title: "OLTP: order entry of wholesale suppliers, derived from TPC-C",
            settings: SETTINGS,
            needs_sql: true,
            contradictions: no_contradictions,
        }
    }

    fn sessions(&self, settings: &Settings) -> u32 {
        settings.count("workload.virtual_users").unwrap_or(1)
    }

    fn data_label(&self, settings: &Settings, seed: u64) -> String {
        match TproccSettings::read(settings) {
            Ok(settings) => settings.label(seed),
            Err(error) => format!("{NAME} with faulty settings: {error}"),
        }
    }

    fn expected_bytes(&self, settings: &Settings) -> Bytes {
        TproccSettings::read(settings).map(|settings| settings.expected_bytes()).unwrap_or_default()
    }

    fn open(&self, job: Job) -> Result<Arc<dyn Opened>, Error> {
        Ok(Arc::new(OpenedTprocc::new(job)?))
    }
}

//! YCSB as a workload: its place in the list of workloads.

use super::opened::OpenedYcsb;
use super::settings::{NAME, SETTINGS, YcsbSettings};
use crate::workload::{Job, Opened, Rating, Workload};
use proofload_model::catalogue::{WorkloadFacts, no_contradictions};
use proofload_model::error::Error;
use proofload_model::settings::Settings;
use proofload_model::units::Bytes;
use std::sync::Arc;

/// The key-value workload in YCSB's vocabulary.
#[derive(Debug)]
pub struct Ycsb;

impl Workload for Ycsb {
    fn facts(&self) -> WorkloadFacts {
        WorkloadFacts {
            name: NAME,
            title: "key-value: reads, updates, inserts, scans of records by key, as YCSB defines them",
            settings: SETTINGS,
            needs_sql: false,
            contradictions: no_contradictions,
        }
    }

    fn sessions(&self, settings: &Settings) -> u32 {
        settings.count("workload.virtual_users").unwrap_or(1)
    }

    fn data_label(&self, settings: &Settings, seed: u64) -> String {
        match YcsbSettings::read(settings) {
            Ok(settings) => settings.label(seed),
            Err(error) => format!("{NAME} with faulty settings: {error}"),
        }
    }

    fn expected_bytes(&self, settings: &Settings) -> Bytes {
        YcsbSettings::read(settings).map(|settings| settings.expected_bytes()).unwrap_or_default()
    }

    fn rating(&self, settings: &Settings) -> Rating {
        if settings.get("workload.operations").is_some() { Rating::ToItsEnd } else { Rating::Window }
    }

    fn open(&self, job: Job) -> Result<Arc<dyn Opened>, Error> {
        Ok(Arc::new(OpenedYcsb::new(job)?))
    }
}

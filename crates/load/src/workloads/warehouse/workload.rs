//! The warehouse as a workload: its place in the list of workloads.

use super::settings::{NAME, SETTINGS, WarehouseSettings, contradictions};
use super::workload_run::WarehouseRun;
use crate::selftest::SelftestPart;
use crate::workload::{Calibration, Rating, RunRequest, USUAL_PATIENCE, Work, Workload, WorkloadRun};
use proofload_model::catalogue::WorkloadFacts;
use proofload_model::error::Error;
use proofload_model::settings::{Settings, setting};
use proofload_model::units::Bytes;
use std::sync::Arc;
use std::time::Duration;

/// Analytic queries over TPC-H-derived data.
#[derive(Debug)]
pub struct Warehouse;

impl Workload for Warehouse {
    fn facts(&self) -> WorkloadFacts {
        WorkloadFacts {
            name: NAME,
            title: "warehouse: streams of analytic queries over TPC-H-derived data",
            settings: SETTINGS,
            needs_sql: true,
            operations: super::suite::kinds,
            contradictions,
            raw_bytes,
        }
    }

    fn sessions(&self, settings: &Settings) -> u32 {
        settings.count(setting::WORKLOAD_STREAMS).unwrap_or(1)
    }

    fn data_label(&self, settings: &Settings, _seed: u64) -> String {
        match WarehouseSettings::read(settings) {
            Ok(settings) => settings.label(),
            Err(error) => format!("{NAME} with invalid settings: {error}"),
        }
    }

    fn calibration(&self, settings: &Settings) -> Option<Calibration> {
        WarehouseSettings::read(settings).ok()?.calibration()
    }

    fn rating(&self, settings: &Settings) -> Rating {
        if settings.get(setting::WORKLOAD_ROUNDS).is_none() {
            return Rating::Window;
        }
        Rating::WholeRun { warm_up_rounds: settings.count(setting::WORKLOAD_WARM_UP_ROUNDS).unwrap_or(0).into() }
    }

    fn work(&self, settings: &Settings) -> Option<Work> {
        WarehouseSettings::read(settings).ok()?.work()
    }

    fn patience(&self, settings: &Settings) -> Option<Duration> {
        settings.duration(setting::WORKLOAD_QUERY_CAP).ok().map(|cap| cap + USUAL_PATIENCE)
    }

    fn selftest(&self) -> &'static [SelftestPart] {
        super::selftest::PARTS
    }

    fn open(&self, request: RunRequest) -> Result<Arc<dyn WorkloadRun>, Error> {
        Ok(Arc::new(WarehouseRun::new(request)?))
    }
}

/// Size of the rows, without indexes; 0 for faulty settings.
fn raw_bytes(settings: &Settings) -> Bytes {
    WarehouseSettings::read(settings).map(|settings| settings.expected_bytes()).unwrap_or_default()
}

//! A case: a place, a job and what tests do with it.

use super::support::{Place, Special};
use crate::selftest;
use crate::workload::{RunRequest, Workload as _, WorkloadRun as _};
use crate::workloads::blocking_session::BlockingSession;
use crate::workloads::warehouse::Warehouse;
use crate::workloads::warehouse::answers::Answer;
use crate::workloads::warehouse::build::Load;
use crate::workloads::warehouse::selftest::answer;
use crate::workloads::warehouse::settings::WarehouseSettings;
use crate::workloads::warehouse::suite::{Dialect, Draw};
use crate::workloads::warehouse::workload_run::WarehouseRun;
use proofload_engine::{Engine, engine};
use proofload_model::settings::Settings;
use std::sync::Arc;

/// An engine at a place with a job.
pub(super) struct Case {
    _place: Place,
    pub(super) request: RunRequest,
    pub(super) settings: WarehouseSettings,
    pub(super) dialect: Dialect,
}

/// The settings of a study at scale factor 0.01, these changed.
pub(super) fn settings(engine: &str, changes: &[(&str, &str)]) -> Settings {
    selftest::settings(&Warehouse.facts(), engine, &[changes, SMALL].concat()).unwrap()
}

/// What is changed unless a test changes it otherwise: the first change counts.
const SMALL: &[(&str, &str)] = &[("scale_factor", "0.01")];

impl Case {
    /// A case on an engine with settings of its own; the error says why the engine cannot be had.
    pub(super) fn with_engine_settings(
        name: &str,
        engine_settings: &[(&str, &str)],
        changes: &[(&str, &str)],
    ) -> Result<Self, String> {
        let of_name = engine(name).ok_or("it is not built in")?;
        let special = Special { prefix: "proofload-warehouse-", kept: true, ..Special::default() };
        Ok(Self::at(Place::new(of_name, engine_settings, &special)?, of_name, changes))
    }

    /// A case on an engine; `None`, with a message, where the engine is not available.
    pub(super) fn new(name: &str, changes: &[(&str, &str)]) -> Option<Self> {
        match Self::with_engine_settings(name, &[], changes) {
            Ok(case) => Some(case),
            Err(reason) => {
                let required = format!("PROOFLOAD_REQUIRE_{}", name.to_uppercase());
                assert!(std::env::var_os(required).is_none(), "{name} is required: {reason}");
                eprintln!("SKIPPED: {name}: {reason}");
                None
            }
        }
    }

    fn at(place: Place, engine: &'static dyn Engine, changes: &[(&str, &str)]) -> Self {
        let spec = selftest::spec(&Warehouse.facts(), &place.target, &[changes, SMALL].concat()).unwrap();
        let settings = WarehouseSettings::read(&spec.settings).unwrap();
        let request = RunRequest { spec, engine, target: place.target.clone(), progress: Arc::new(|_, _| {}) };
        Self { _place: place, request, settings, dialect: Dialect::of(engine).unwrap() }
    }

    /// The same with data.
    pub(super) fn built(name: &str, changes: &[(&str, &str)]) -> Option<Self> {
        let case = Self::new(name, changes)?;
        case.workload_run().build().unwrap();
        Some(case)
    }

    pub(super) fn workload_run(&self) -> Arc<WarehouseRun> {
        Arc::new(WarehouseRun::new(self.request.clone()).unwrap())
    }

    /// The same place with other settings.
    pub(super) fn opened_with(&self, changes: &[(&str, &str)]) -> Arc<WarehouseRun> {
        let mut request = self.request.clone();
        request.spec.settings = self.settings_with(changes);
        Arc::new(WarehouseRun::new(request).unwrap())
    }

    /// Settings of this case's engine, these changed.
    pub(super) fn settings_with(&self, changes: &[(&str, &str)]) -> Settings {
        settings(self.request.engine.facts().name, changes)
    }

    pub(super) fn load(&self) -> Load<'_> {
        Load::new(&self.request, &self.dialect, &self.settings)
    }

    pub(super) fn session(&self) -> BlockingSession {
        BlockingSession::open(self.request.engine, &self.request.target).unwrap()
    }

    /// The answer of a query, written.
    pub(super) fn answer(&self, session: &mut BlockingSession, place: usize, draw: Draw) -> Answer {
        answer(&self.dialect, self.settings.scale, session, place, draw).unwrap_or_else(|error| panic!("{error}"))
    }
}

//! Data before the first run: built once, kept as a snapshot, found again by its label.

use super::crew::{Crew, Role};
use super::preparation::Prepared;
use proofload_model::deployment::InstancePlan;
use proofload_model::error::Error;
use proofload_model::events::{DataCopy, RunEvent};
use proofload_model::wire::LimitsAsked;
use proofload_model::wire::host::{self, Copied};
use proofload_model::wire::load::{self, DataState};

impl Crew<'_> {
    /// Makes sure that the data of a run exists: as a snapshot when runs restore it, else in place.
    pub(crate) fn ensure_data(&mut self, prepared: &Prepared, load_command: &[String]) -> Result<(), Error> {
        if !prepared.keeps_data() {
            return Ok(());
        }
        let InstancePlan { name, place, .. } = prepared.primary();
        if place.url.is_some() {
            return self.ensure_data_of_url(prepared, load_command);
        }
        let (instance, place, label) = (|| name.clone(), || place.clone(), || prepared.label.clone());
        if self.host(host::FindSnapshot { place: place(), label: label() })? {
            return Ok(());
        }
        self.journal.event(RunEvent::Building(prepared.label.clone()))?;
        self.host(host::Create { instance: instance(), place: place() })?;
        self.build(prepared, load_command)?;
        self.host(host::Stop { instance: instance() })?;
        self.host(host::Detach { instance: instance() })?;
        self.view.progress("saving the snapshot", 0, 0);
        let copied = self.host(host::SaveSnapshot { instance: instance(), place: place() })?;
        self.host(host::LabelSnapshot { place: place(), label: label() })?;
        self.journal.event(RunEvent::Built(data_copy(copied)))
    }

    /// An existing server: data that fits is used, an empty schema of ours is filled, anything else is refused.
    fn ensure_data_of_url(&mut self, prepared: &Prepared, load_command: &[String]) -> Result<(), Error> {
        self.start(Role::Load, load_command)?;
        self.load(load::Open { spec: Box::new(prepared.load_spec(None)) })?;
        let fits = self.load(load::CheckData {}).and_then(DataState::must_fit);
        self.stop(Role::Load);
        match fits {
            Ok(()) => Ok(()),
            Err(_) => {
                self.journal.event(RunEvent::Building(prepared.label.clone()))?;
                self.build(prepared, load_command)
            }
        }
    }

    /// Builds without limits: they belong to the measured runs.
    fn build(&mut self, prepared: &Prepared, load_command: &[String]) -> Result<(), Error> {
        let address = if prepared.starts_instance() {
            let instance = || prepared.primary().name.clone();
            self.attach(prepared)?;
            self.host(host::PrepareLimits { instance: instance(), limits: LimitsAsked::default() })?;
            let place = prepared.building_place();
            Some(self.host(host::Start { instance: instance(), place })?.address)
        } else {
            None
        };
        self.start(Role::Load, load_command)?;
        self.load(load::Open { spec: Box::new(prepared.building_spec(address)) })?;
        let facts = self.load(load::Build {})?;
        self.load(load::Close {})?;
        self.stop(Role::Load);
        self.journal.facts(&facts)
    }
}

/// What a copy was, for the record.
pub(crate) fn data_copy(copied: Copied) -> DataCopy {
    let Copied { bytes, method, took } = copied;
    DataCopy { bytes: bytes.0, method, seconds: took.as_secs_f64() }
}

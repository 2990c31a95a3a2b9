//! Data before the first run: built once, kept as a snapshot, found again by its label.

use super::crew::{Crew, Role, unexpected};
use super::preparation::Prepared;
use proofload_model::error::Error;
use proofload_model::events::{DataCopy, RunEvent};
use proofload_model::wire::{HostRequest, LimitsAsked, LoadRequest, Reply};

impl Crew<'_> {
    /// Makes sure that the data of a run exists: as a snapshot when runs restore it, else in place.
    pub(crate) fn ensure_data(&mut self, prepared: &Prepared, load_command: &[String]) -> Result<(), Error> {
        if !prepared.keeps_data() {
            return Ok(());
        }
        if prepared.place.url.is_some() {
            return self.ensure_data_of_url(prepared, load_command);
        }
        let found =
            self.host(HostRequest::FindSnapshot { place: prepared.place.clone(), label: prepared.label.clone() })?;
        if found == Reply::Found(true) {
            return Ok(());
        }
        self.journal.event(RunEvent::Building(prepared.label.clone()))?;
        self.host(HostRequest::CreateInstance { place: prepared.place.clone() })?;
        self.build(prepared, load_command)?;
        self.host(HostRequest::StopInstance)?;
        self.view.progress("saving the snapshot", 0, 0);
        let copied = self.host(HostRequest::SaveSnapshot { place: prepared.place.clone() })?;
        self.host(HostRequest::LabelSnapshot { place: prepared.place.clone(), label: prepared.label.clone() })?;
        self.journal.event(RunEvent::Built(data_copy(copied)?))
    }

    /// An existing server: data that fits is used, an empty schema of ours is filled, anything else is refused.
    fn ensure_data_of_url(&mut self, prepared: &Prepared, load_command: &[String]) -> Result<(), Error> {
        self.start(Role::Load, load_command)?;
        self.load(LoadRequest::Open { spec: Box::new(prepared.load_spec(None)) })?;
        let fits = self.load(LoadRequest::CheckData);
        self.stop(Role::Load);
        match fits {
            Ok(_) => Ok(()),
            Err(_) => {
                self.journal.event(RunEvent::Building(prepared.label.clone()))?;
                self.build(prepared, load_command)
            }
        }
    }

    /// Builds without limits: they belong to the measured runs.
    fn build(&mut self, prepared: &Prepared, load_command: &[String]) -> Result<(), Error> {
        let address = if prepared.starts_instance() {
            self.host(HostRequest::PrepareLimits { place: prepared.place.clone(), limits: LimitsAsked::default() })?;
            let place = prepared.building_place();
            match self.host(HostRequest::StartInstance { place })? {
                Reply::Started { address, .. } => Some(address),
                other => return Err(unexpected(&other)),
            }
        } else {
            None
        };
        self.start(Role::Load, load_command)?;
        self.load(LoadRequest::Open { spec: Box::new(prepared.building_spec(address)) })?;
        let built = self.load(LoadRequest::Build)?;
        self.load(LoadRequest::Close)?;
        self.stop(Role::Load);
        match built {
            Reply::Built { facts } => self.journal.facts(&facts),
            other => Err(unexpected(&other)),
        }
    }
}

/// What a copy was, for the record.
pub(crate) fn data_copy(reply: Reply) -> Result<DataCopy, Error> {
    match reply {
        Reply::Copied { bytes, method, took } => Ok(DataCopy { bytes: bytes.0, method, seconds: took.as_secs_f64() }),
        other => Err(unexpected(&other)),
    }
}

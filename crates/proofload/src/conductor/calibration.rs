//! Calibration before the first run: what the device reads in order, what a core consumes, what queries cost; without the memory limit and
//! under all others. What is found out holds for every run with equal data and limits, and for the rest of the record.

use super::crew::{Crew, Role};
use super::preparation::Prepared;
use crate::live::Phase;
use proofload_analysis::calibration::{Pass, device_facts, missing_facts, query_facts, scan_facts};
use proofload_model::error::Error;
use proofload_model::events::RunEvent;
use proofload_model::facts::calibration;
use proofload_model::samples::Fact;
use proofload_model::units::Bytes;
use proofload_model::wire::{Probed, Used, host, load};
use proofload_record::AttemptEvent;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long the device is read: a drive shows its rate in a second or two.
const READ_TIME: Duration = Duration::from_secs(5);

/// The file that is read is as large as the raw data, between these.
const SMALLEST_FILE: Bytes = Bytes::mebi(64);
const LARGEST_FILE: Bytes = Bytes::mebi(4096);

/// Passes in cache: the first one is discarded.
const WARM_PASSES: usize = 4;

/// What has been found out, by what it holds for.
#[derive(Debug, Default)]
pub(crate) struct Calibrations(BTreeMap<String, Vec<Fact>>);

impl Calibrations {
    /// What earlier sessions of a record found out; what they could not is tried again.
    pub(crate) fn of_events(events: &[AttemptEvent]) -> Self {
        let read = |event: &AttemptEvent| match &event.event {
            RunEvent::Calibrated { key, facts } => Some((key.clone(), facts.clone())),
            _ => None,
        };
        Self(events.iter().filter_map(read).collect())
    }

    pub(super) fn knows(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    pub(super) fn add(&mut self, key: String, facts: Vec<Fact>) {
        self.0.insert(key, facts);
    }

    pub(super) fn facts(&self, key: &str) -> &[Fact] {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }
}

/// What is found out by itself, and is missing by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// Sequential reads of the device.
    Device,
    /// What a core consumes, by this query.
    Scan { query: &'static str, under: String },
    /// What these queries cost.
    Queries { queries: Vec<&'static str>, under: String },
}

impl Part {
    /// What a run wants to be known.
    pub(crate) fn wanted(prepared: &Prepared) -> Vec<Self> {
        let Some(asked) = prepared.calibration() else { return Vec::new() };
        let mut parts = vec![Self::Device, Self::Scan { query: asked.scan, under: asked.under.clone() }];
        if !asked.queries.is_empty() {
            parts.push(Self::Queries { queries: asked.queries, under: asked.under });
        }
        parts
    }

    /// Its name in messages.
    pub(super) const fn word(&self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Scan { .. } => "consumption",
            Self::Queries { .. } => "queries",
        }
    }

    /// What it holds for: equal limits but memory; but for the device also equal data, settings of the instance and of its sessions.
    pub(crate) fn key(&self, prepared: &Prepared) -> String {
        let (limits, settings) = (prepared.calibration_limits(), prepared.building_place().settings);
        let key = match self {
            Self::Device => json!({ "part": self.word(), "limits": limits }),
            Self::Scan { query, under } => {
                json!({ "part": self.word(), "limits": limits, "data": prepared.label, "settings": settings, "query": query, "under": under })
            }
            Self::Queries { queries, under } => {
                json!({ "part": self.word(), "limits": limits, "data": prepared.label, "settings": settings, "queries": queries, "under": under })
            }
        };
        key.to_string()
    }

    /// What a run notes when it could not be found out.
    pub(super) fn missing(&self, error: &Error) -> Vec<Fact> {
        let why = error.to_string();
        match self {
            Self::Device => missing_facts(&[calibration::DEVICE_READ], &why),
            Self::Scan { .. } => missing_facts(&[calibration::IN_CACHE, calibration::COLD], &why),
            Self::Queries { queries, .. } => {
                let names: Vec<_> = queries.iter().map(|query| calibration::QUERY_CPU.of(query)).collect();
                missing_facts(&names, &why)
            }
        }
    }
}

impl Crew<'_> {
    /// Finds out one part. On an error the caller cleans up. `number`: of calibrations in this record, for names of documents.
    pub(super) fn find_out(
        &mut self,
        part: &Part,
        prepared: &Prepared,
        load_command: &[String],
        number: usize,
    ) -> Result<Vec<Fact>, Error> {
        if prepared.primary().place.url.is_some() {
            return Err(Error::new("an existing server (engine.url) is neither started nor limited by us"));
        }
        match part {
            Part::Device => self.read_device(prepared, number),
            Part::Scan { query, .. } => self.scan(prepared, load_command, query),
            Part::Queries { queries, .. } => self.cost_of(prepared, load_command, queries),
        }
    }

    fn read_device(&mut self, prepared: &Prepared, number: usize) -> Result<Vec<Fact>, Error> {
        self.view.phase(Phase::CalibratingDevice);
        let (instance, limits) = (|| prepared.primary().name.clone(), prepared.calibration_limits());
        self.attach(prepared)?;
        self.host(host::PrepareLimits { instance: instance(), limits })?;
        let size = prepared.raw_size().clamp(SMALLEST_FILE, LARGEST_FILE);
        let place = prepared.primary().place.clone();
        let measured = self.host(host::MeasureReads { instance: instance(), place, size, time: READ_TIME })?;
        self.host(host::Detach { instance: instance() })?;
        let host::ReadsMeasured { rate, how, documents } = measured;
        for (name, body) in documents {
            self.journal.document(&name.replacen("fio/", &format!("fio/calibration-{number}/"), 1), &body)?;
        }
        Ok(device_facts(rate, &how))
    }

    /// One pass cold, then passes in cache.
    fn scan(&mut self, prepared: &Prepared, load_command: &[String], query: &str) -> Result<Vec<Fact>, Error> {
        self.view.phase(Phase::CalibratingConsumption);
        self.open_place(prepared, load_command)?;
        self.host(host::DropPageCache { place: prepared.primary().place.clone() })?;
        let cold = self.pass(prepared, query)?;
        let mut warm = Vec::new();
        for done in 0..WARM_PASSES {
            self.view.progress("passes in cache", done as u64, WARM_PASSES as u64);
            warm.push(self.pass(prepared, query)?);
        }
        self.close_place(prepared)?;
        let well = |(pass, failed): (Pass, Option<String>)| match failed {
            None => Ok(pass),
            Some(why) => Err(Error::new(why).context(query.to_owned())),
        };
        let cold = well(cold)?;
        let warm = warm.into_iter().skip(1).map(well).collect::<Result<Vec<_>, _>>()?;
        scan_facts(query, &cold, &warm).map_err(Error::new)
    }

    /// Each query once, with nothing of the data in the page cache and, where the engine lives in its session, nothing in its own.
    fn cost_of(&mut self, prepared: &Prepared, load_command: &[String], queries: &[&str]) -> Result<Vec<Fact>, Error> {
        self.view.phase(Phase::CalibratingQueries);
        self.open_place(prepared, load_command)?;
        let mut facts = Vec::new();
        for (done, query) in queries.iter().enumerate() {
            self.view.progress(query, done as u64, queries.len() as u64);
            self.host(host::DropPageCache { place: prepared.primary().place.clone() })?;
            self.load(load::OpenProbe {})?;
            let (pass, failed) = self.pass(prepared, query)?;
            facts.extend(query_facts(query, &pass, failed.as_deref()));
        }
        self.close_place(prepared)?;
        Ok(facts)
    }

    /// The instance just started, under the limits but memory, with a session for probe queries.
    fn open_place(&mut self, prepared: &Prepared, load_command: &[String]) -> Result<(), Error> {
        self.restore(prepared)?;
        self.attach(prepared)?;
        let (instance, limits) = (|| prepared.primary().name.clone(), prepared.calibration_limits());
        self.host(host::PrepareLimits { instance: instance(), limits })?;
        let address = match prepared.starts_instance() {
            false => None,
            true => {
                let place = prepared.building_place();
                Some(self.host(host::Start { instance: instance(), place })?.address)
            }
        };
        self.start(Role::Load, load_command)?;
        let pid = self.load(load::Open { spec: Box::new(prepared.building_spec(address)) })?;
        if prepared.is_embedded() {
            self.host(host::JoinLimits { instance: instance(), pid })?;
        }
        self.load(load::OpenProbe {})
    }

    fn close_place(&mut self, prepared: &Prepared) -> Result<(), Error> {
        let instance = || prepared.primary().name.clone();
        self.load(load::Close {})?;
        self.stop(Role::Load);
        if prepared.starts_instance() {
            self.host(host::Stop { instance: instance() })?;
        }
        self.host(host::Release { instance: instance() })?;
        self.host(host::Detach { instance: instance() })
    }

    /// One query with what it used, and why it failed if it did.
    fn pass(&mut self, prepared: &Prepared, query: &str) -> Result<(Pass, Option<String>), Error> {
        let before = self.used(prepared)?;
        let probed = self.probe(query)?;
        let after = self.used(prepared)?;
        self.troubled()?;
        Ok((Pass::between(&before, &probed, &after), probed.failed))
    }

    fn probe(&mut self, query: &str) -> Result<Probed, Error> {
        self.load(load::Probe { query: query.to_owned() })
    }

    fn used(&mut self, prepared: &Prepared) -> Result<Used, Error> {
        let pid = if prepared.is_embedded() { self.pid(Role::Load) } else { None };
        self.host(host::ReadUsed { instance: prepared.primary().name.clone(), pid })
    }
}

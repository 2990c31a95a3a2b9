//! Calibration before the first run: what the device reads in order, what a core consumes, what queries cost; without the memory limit and
//! under all others. What is found out holds for every run with equal data and limits, and for the rest of the record.

use super::agents::LoadCommand;
use super::preparation::PreparedRun;
use super::run_context::RunContext;
use crate::live::Phase;
use proofload_analysis::calibration::{Pass, device_facts, missing_facts, query_facts, scan_facts};
use proofload_model::error::Error;
use proofload_model::events::RunEvent;
use proofload_model::facts::calibration;
use proofload_model::load_share::LoadShare;
use proofload_model::samples::Fact;
use proofload_model::step_count::{StepCount, StepUnit};
use proofload_model::units::Bytes;
use proofload_model::wire::host::ReadsMeasured;
use proofload_model::wire::load::{Close, Open, OpenProbe, Probe};
use proofload_record::AttemptEvent;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How long the device is read: a drive shows its rate in a second or two.
const READ_TIME: Duration = Duration::from_secs(5);

/// The file that is read is as large as the raw data, between these.
const SMALLEST_FILE: Bytes = Bytes::mebi(64);
const LARGEST_FILE: Bytes = Bytes::mebi(4096);

/// Passes in cache: the first one is discarded.
const WARM_PASSES: usize = 4;

/// Results of calibration steps by cache key.
#[derive(Debug, Default)]
pub(crate) struct Calibrations {
    facts: BTreeMap<String, Vec<Fact>>,
    /// Keys of the calibrations of commits.
    commits: BTreeSet<String>,
}

impl Calibrations {
    /// Results of earlier sessions of a record; steps that failed then are tried again.
    pub(crate) fn of_events(events: &[AttemptEvent]) -> Self {
        let read = |event: &AttemptEvent| match &event.event {
            RunEvent::Calibrated { key, facts } => Some((key.clone(), facts.clone())),
            _ => None,
        };
        let commits = events.iter().filter_map(|event| match &event.event {
            RunEvent::CommitsCalibrated(found) => Some(found.key.clone()),
            _ => None,
        });
        Self { facts: events.iter().filter_map(read).collect(), commits: commits.collect() }
    }

    /// Keys of the calibrations of commits.
    pub(super) fn commits(&self) -> impl Iterator<Item = &String> {
        self.commits.iter()
    }

    pub(super) fn knows(&self, key: &str) -> bool {
        self.facts.contains_key(key)
    }

    pub(super) fn count(&self) -> usize {
        self.facts.len()
    }

    pub(super) fn add(&mut self, key: String, facts: Vec<Fact>) {
        self.facts.insert(key, facts);
    }

    pub(super) fn facts(&self, key: &str) -> &[Fact] {
        self.facts.get(key).map_or(&[], Vec::as_slice)
    }
}

/// Step of a calibration; each succeeds or fails by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CalibrationStep {
    /// Sequential reads of the device.
    Device,
    /// What a core consumes, by this query.
    Scan { query: &'static str, under: String },
    /// What these queries cost.
    Queries { queries: Vec<&'static str>, under: String },
}

impl CalibrationStep {
    /// Steps that a run asks for.
    pub(crate) fn wanted(prepared: &PreparedRun) -> Vec<Self> {
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

    /// Cache key. Device: all limits except memory. Others: also the data and the settings of the instance and its sessions.
    pub(crate) fn key(&self, prepared: &PreparedRun) -> String {
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

    /// Facts that a run notes when the step failed.
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

/// Finds out one step. On an error the caller cleans up. `number`: of calibrations in this record, for names of documents.
pub(super) fn find_out(
    context: &mut RunContext<'_>,
    step: &CalibrationStep,
    prepared: &PreparedRun,
    command: &LoadCommand,
    number: usize,
) -> Result<Vec<Fact>, Error> {
    if prepared.primary().place.url.is_some() {
        return Err(Error::refused("an existing server (engine.url) is neither started nor limited by Proofload"));
    }
    match step {
        CalibrationStep::Device => read_device(context, prepared, number),
        CalibrationStep::Scan { query, .. } => scan(context, prepared, command, query),
        CalibrationStep::Queries { queries, .. } => cost_of(context, prepared, command, queries),
    }
}

fn read_device(context: &mut RunContext<'_>, prepared: &PreparedRun, number: usize) -> Result<Vec<Fact>, Error> {
    context.heard.view.phase(Phase::CalibratingDevice);
    let size = prepared.raw_size().clamp(SMALLEST_FILE, LARGEST_FILE);
    let mut testbed = context.primary_alone(prepared);
    testbed.prepare(|_| prepared.calibration_limits())?;
    let ReadsMeasured { rate, how, documents } = testbed.measure_reads(size, READ_TIME)?;
    testbed.stop()?;
    for (name, body) in documents {
        let name = name.replacen("fio/", &format!("fio/calibration-{number}/"), 1);
        context.heard.journal.document(&name, &body)?;
    }
    Ok(device_facts(rate, &how))
}

/// Runs a query once cold, then in cache.
fn scan(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    command: &LoadCommand,
    query: &str,
) -> Result<Vec<Fact>, Error> {
    context.heard.view.phase(Phase::CalibratingConsumption);
    open(context, prepared, command)?;
    context.primary_alone(prepared).drop_page_cache()?;
    let cold = pass(context, prepared, query)?;
    let mut warm = Vec::new();
    for done in 0..WARM_PASSES {
        let count = StepCount::of(done as u64, WARM_PASSES as u64, StepUnit::Passes);
        context.heard.view.progress("passes in cache", Some(count));
        warm.push(pass(context, prepared, query)?);
    }
    close(context, prepared)?;
    let well = |(pass, failed): (Pass, Option<String>)| match failed {
        None => Ok(pass),
        Some(why) => Err(Error::new(why).context(query.to_owned())),
    };
    let cold = well(cold)?;
    let warm = warm.into_iter().skip(1).map(well).collect::<Result<Vec<_>, _>>()?;
    scan_facts(query, &cold, &warm).map_err(Error::new)
}

/// Runs each query once, with nothing of the data in the page cache and, where the engine lives in its session, nothing in its own.
fn cost_of(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    command: &LoadCommand,
    queries: &[&str],
) -> Result<Vec<Fact>, Error> {
    context.heard.view.phase(Phase::CalibratingQueries);
    open(context, prepared, command)?;
    let mut facts = Vec::new();
    for (done, query) in queries.iter().enumerate() {
        let count = StepCount::of(done as u64, queries.len() as u64, StepUnit::Queries);
        context.heard.view.progress(query, Some(count));
        context.primary_alone(prepared).drop_page_cache()?;
        context.ask_load(OpenProbe {})?;
        let (pass, failed) = pass(context, prepared, query)?;
        facts.extend(query_facts(query, &pass, failed.as_deref()));
    }
    close(context, prepared)?;
    Ok(facts)
}

/// Starts the instance under the limits but memory, with a session for probe queries.
fn open(context: &mut RunContext<'_>, prepared: &PreparedRun, command: &LoadCommand) -> Result<(), Error> {
    let mut testbed = context.primary_alone(prepared);
    testbed.restore(|primary| primary.place.folder.clone(), prepared.procedure.restore_every_run)?;
    testbed.prepare(|_| prepared.calibration_limits())?;
    let mut endpoints = Vec::new();
    if prepared.starts_instance() {
        endpoints = testbed.start(None, |_, _| prepared.building())?.endpoints(false);
    }
    context.agents.start_load(std::slice::from_ref(command))?;
    context.authenticate()?;
    let pid = context.ask_load(Open { spec: Box::new(prepared.building_spec(endpoints, LoadShare::default())) })?;
    if prepared.is_embedded() {
        context.primary_alone(prepared).join(pid)?;
    }
    context.ask_load(OpenProbe {})
}

fn close(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<(), Error> {
    context.ask_load(Close {})?;
    context.agents.stop_load();
    context.primary_alone(prepared).end(prepared.instance_end())
}

/// Runs one query; gives what it used, and why it failed if it did.
fn pass(context: &mut RunContext<'_>, prepared: &PreparedRun, query: &str) -> Result<(Pass, Option<String>), Error> {
    let pid = context.load_pid(prepared);
    let before = context.primary_alone(prepared).used(pid)?;
    let probed = context.ask_load(Probe { query: query.to_owned() })?;
    let after = context.primary_alone(prepared).used(pid)?;
    context.expect_no_trouble()?;
    Ok((Pass::between(&before, &probed, &after), probed.failed))
}

//! The host role: one method per request. Knows the order of things; how they are done stands in the other modules.

use super::remains::Remains;
use super::sweep::sweep;
use super::used::used;
use crate::agents::EventSink;
use crate::facts;
use crate::instances::{self, Server, Start};
use crate::limits::{Enclosure, of_machine};
use crate::preconditioning::{self, Preconditioned, Reads, ToRead, Within};
use crate::probes::{Probes, Subject};
use crate::snapshots::{self, FolderLock};
use proofload_engine::{Engine, Target};
use proofload_model::error::Error;
use proofload_model::samples::Fact;
use proofload_model::time::{Clock, Moment};
use proofload_model::units::Bytes;
use proofload_model::wire::{DataPlace, Event, HostRequest, LimitsAsked, Preconditioning, Reply, Scraped, Used};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// What an agent holds on its host. Dropping it stops the instance and lifts the limits.
pub struct HostRole {
    clock: Arc<dyn Clock>,
    events: EventSink,
    // In this order they are dropped: nobody watches what is gone, and the limits outlive who is under them.
    probes: Option<Probes>,
    server: Option<Running>,
    limits: Option<Enclosure>,
    remains: Arc<Remains>,
    lock: Option<FolderLock>,
}

/// A server that we started, and from what.
#[derive(Debug)]
struct Running {
    server: Server,
    target: Target,
}

impl std::fmt::Debug for HostRole {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostRole").field("server", &self.server).field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl HostRole {
    /// A role that holds nothing yet. `events` is told of telemetry, warnings and servers that die.
    pub fn new(clock: Arc<dyn Clock>, events: EventSink) -> Self {
        Self { clock, events, probes: None, server: None, limits: None, remains: Arc::default(), lock: None }
    }

    /// What frees everything that must not stay behind, callable while a request is stuck: kills the server, removes the limits.
    pub fn abandon(&self) -> Arc<dyn Fn() + Send + Sync> {
        let remains = Arc::clone(&self.remains);
        Arc::new(move || remains.abandon())
    }

    /// Carries out one request.
    ///
    /// # Errors
    /// What was to be done, on what, what came back, what to try.
    pub fn handle(&mut self, request: HostRequest) -> Result<Reply, Error> {
        match request {
            HostRequest::Describe { folder } => Ok(Reply::Facts(facts::describe(Path::new(&folder)))),
            HostRequest::Sweep { folder } => self.sweep(&folder),
            HostRequest::Precondition { place, how } => self.precondition(&place, &how),
            HostRequest::CreateInstance { place } => self.create_instance(&place),
            HostRequest::PrepareLimits { place, limits } => self.prepare_limits(&place, limits),
            HostRequest::JoinLimits { pid } => self.join_limits(pid),
            HostRequest::StartInstance { place } => self.start_instance(&place),
            HostRequest::VerifyLimits => self.verify_limits(),
            HostRequest::MeasureReads { place, size, time } => self.measure_reads(&place, size, time),
            HostRequest::ReadUsed { place, pid } => Ok(Reply::Used(self.used(&place, pid))),
            HostRequest::ReadUsage => Ok(Reply::Facts(self.usage())),
            HostRequest::StopInstance => self.stop_instance(),
            HostRequest::SaveSnapshot { place } => self.save(&place),
            HostRequest::RestoreSnapshot { place } => self.restore(&place),
            HostRequest::FindSnapshot { place, label } => {
                Ok(Reply::Found(snapshots::find(Path::new(&place.folder), &label)))
            }
            HostRequest::LabelSnapshot { place, label } => done(snapshots::label(Path::new(&place.folder), &label)),
            HostRequest::DropPageCache { place } => done(snapshots::drop_page_cache(Path::new(&place.folder))),
            HostRequest::StartProbes { origin, place, pid, scraped } => self.start_probes(origin, &place, pid, scraped),
            HostRequest::StopProbes => {
                self.probes = None;
                Ok(Reply::Done)
            }
            HostRequest::Release => done(self.release()),
        }
    }

    /// Takes the study's folder for this agent, then frees what others left.
    fn sweep(&mut self, folder: &str) -> Result<Reply, Error> {
        if self.lock.is_none() {
            self.lock = Some(snapshots::hold(Path::new(folder), &*self.clock)?);
        }
        for text in sweep(Path::new(folder), &*self.clock)? {
            (self.events)(Event::Log { level: "info".to_owned(), text });
        }
        Ok(Reply::Done)
    }

    fn precondition(&self, place: &DataPlace, how: &Preconditioning) -> Result<Reply, Error> {
        // Ours before the first file, so that a sweep finds what a killed agent leaves.
        snapshots::claim(Path::new(&place.folder))?;
        let tell = |what: &str, done: u64, total: u64| {
            (self.events)(Event::Progress { what: what.to_owned(), done, total });
        };
        self.remains.set_preconditioned(Some(Path::new(&place.folder)));
        let done = preconditioning::precondition(place, how, &tell);
        self.remains.set_preconditioned(None);
        let Preconditioned { documents, facts } = done?;
        Ok(Reply::Documents { documents, facts })
    }

    fn measure_reads(&self, place: &DataPlace, size: Bytes, time: Duration) -> Result<Reply, Error> {
        let limits = self.limits.as_ref().ok_or_else(|| Error::new("measure reads: no limits were prepared"))?;
        let (groups, cores) = limits.entrance()?;
        snapshots::claim(Path::new(&place.folder))?;
        let tell = |what: &str, done: u64, total: u64| {
            (self.events)(Event::Progress { what: what.to_owned(), done, total });
        };
        let folder = Path::new(&place.folder);
        self.remains.set_preconditioned(Some(folder));
        let read = ToRead { folder, size, time };
        let measured = preconditioning::measure_reads(&read, Within { groups, cores }, &tell);
        self.remains.set_preconditioned(None);
        let Reads { rate, how, documents } = measured?;
        Ok(Reply::ReadsMeasured { rate, how, documents })
    }

    fn used(&self, place: &DataPlace, pid: Option<u32>) -> Used {
        let process = self.server.as_ref().map(|running| running.server.process()).or(pid);
        let group = self.limits.as_ref().map(Enclosure::group);
        used(group, process, &snapshots::data_folder(Path::new(&place.folder)))
    }

    fn create_instance(&self, place: &DataPlace) -> Result<Reply, Error> {
        if place.url.is_some() {
            return Ok(Reply::Done);
        }
        self.refuse_while_running("make an instance")?;
        let folder = absolute(place)?;
        snapshots::claim(&folder)?;
        snapshots::remove_data(&folder)?;
        let data = snapshots::data_folder(&folder);
        std::fs::create_dir(&data).map_err(|error| Error::new(format!("make {}: {error}", data.display())))?;
        let Some(recipe) = engine(place)?.server() else { return Ok(Reply::Done) };
        let made = instances::create(recipe, &data, &*self.clock, &self.remains);
        if made.is_err() {
            let _half_made = snapshots::remove_data(&folder);
        }
        done(made)
    }

    fn prepare_limits(&mut self, place: &DataPlace, asked: LimitsAsked) -> Result<Reply, Error> {
        self.drop_limits();
        let limits = Enclosure::prepare(asked, &snapshots::data_folder(Path::new(&place.folder)))?;
        self.remains.set_group(Some(limits.group().clone()));
        let facts = limits.verify();
        self.limits = Some(limits);
        Ok(Reply::Facts(facts))
    }

    fn drop_limits(&mut self) {
        self.limits = None;
        self.remains.set_group(None);
    }

    fn join_limits(&mut self, process: u32) -> Result<Reply, Error> {
        let limits = self.limits.as_mut().ok_or_else(|| Error::new("join limits: none were prepared"))?;
        self.remains.add_guest(process);
        done(limits.join(process))
    }

    fn start_instance(&mut self, place: &DataPlace) -> Result<Reply, Error> {
        self.refuse_while_running("start the server")?;
        let without = || Error::new(format!("start the server: no recipe says how to run {}", place.engine));
        let (server, facts) = instances::start(Start {
            recipe: engine(place)?.server().ok_or_else(without)?,
            data: snapshots::data_folder(&absolute(place)?),
            settings: &place.settings,
            limits: self.limits.as_mut(),
            clock: &self.clock,
            events: &self.events,
            remains: &self.remains,
        })?;
        let address = server.address().to_owned();
        let target = Target { place: place.clone(), address: Some(address.clone()) };
        self.server = Some(Running { server, target });
        Ok(Reply::Started { address, facts })
    }

    fn verify_limits(&self) -> Result<Reply, Error> {
        let limits = self.limits.as_ref().ok_or_else(|| Error::new("verify limits: none were prepared"))?;
        let mut facts = limits.verify();
        if let Some(running) = &self.server {
            facts.extend(settings_in_force(&running.target)?);
        }
        Ok(Reply::Facts(facts))
    }

    fn usage(&self) -> Vec<Fact> {
        let mut facts = self.limits.as_ref().map(Enclosure::usage).unwrap_or_default();
        facts.extend(of_machine());
        facts
    }

    fn stop_instance(&mut self) -> Result<Reply, Error> {
        done(self.server.take().map_or(Ok(()), |running| running.server.stop()))
    }

    fn refuse_while_running(&self, what: &str) -> Result<(), Error> {
        match &self.server {
            None => Ok(()),
            Some(Running { server, .. }) => {
                Err(Error::new(format!("{what}: process {} still serves the data; stop it first", server.process())))
            }
        }
    }

    fn save(&self, place: &DataPlace) -> Result<Reply, Error> {
        self.refuse_while_running("save a snapshot")?;
        snapshots::save(Path::new(&place.folder), &*self.clock).map(copied)
    }

    fn restore(&self, place: &DataPlace) -> Result<Reply, Error> {
        self.refuse_while_running("restore the snapshot")?;
        snapshots::restore(Path::new(&place.folder), &*self.clock).map(copied)
    }

    fn start_probes(
        &mut self,
        origin: Moment,
        place: &DataPlace,
        pid: Option<u32>,
        scraped: Scraped,
    ) -> Result<Reply, Error> {
        self.probes = None;
        let address = self.server.as_ref().map(|running| running.server.address().to_owned());
        let target = Target { place: place.clone(), address };
        let observer = engine(place)?.observer(&target).unwrap_or_else(|error| {
            let text = format!("the engine's statistics are not observed: {error}");
            (self.events)(Event::Log { level: "warning".to_owned(), text });
            None
        });
        let subject = Subject {
            folder: snapshots::data_folder(Path::new(&place.folder)),
            pid: self.server.as_ref().map(|running| running.server.process()).or(pid),
            group: self.limits.as_ref().map(Enclosure::group).cloned().unwrap_or_default(),
            cores: self.limits.as_ref().and_then(Enclosure::cores).cloned(),
            observer,
            scraped,
        };
        self.probes = Some(Probes::start(&self.clock, &self.events, origin, subject));
        Ok(Reply::Done)
    }

    fn release(&mut self) -> Result<(), Error> {
        self.limits.as_mut().map_or(Ok(()), Enclosure::lift)
    }
}

impl Drop for HostRole {
    /// Lifts the limits before the server is stopped: what waits for a slow device or for CPU time ends too late.
    fn drop(&mut self) {
        let _as_far_as_it_goes = self.release();
    }
}

fn engine(place: &DataPlace) -> Result<&'static dyn Engine, Error> {
    proofload_engine::engine(&place.engine).ok_or_else(|| Error::new(format!("there is no engine {:?}", place.engine)))
}

/// The folder as processes see it that work elsewhere.
fn absolute(place: &DataPlace) -> Result<PathBuf, Error> {
    std::path::absolute(&place.folder).map_err(|error| Error::new(format!("find the folder {}: {error}", place.folder)))
}

/// The engine's own view of its settings. What cannot be read back is a fact that does not hold.
fn settings_in_force(target: &Target) -> Result<Vec<Fact>, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Error::new(format!("make a runtime: {error}")))?;
    let engine = engine(&target.place)?;
    Ok(runtime.block_on(engine.verify_settings(target)).unwrap_or_else(|error| {
        vec![Fact {
            subject: "engine".to_owned(),
            name: "settings".to_owned(),
            requested: Some("readable".to_owned()),
            effective: None,
            source: error.to_string(),
            holds: Some(false),
            ..Fact::default()
        }]
    }))
}

fn done(outcome: Result<(), Error>) -> Result<Reply, Error> {
    outcome.map(|()| Reply::Done)
}

fn copied(copy: snapshots::Copied) -> Reply {
    Reply::Copied { bytes: copy.bytes, method: copy.method, took: copy.took }
}

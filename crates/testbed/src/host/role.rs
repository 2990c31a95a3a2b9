//! The host role: one method per request. Knows the order of things; how they are done stands in the other modules.

use super::remains::Remains;
use super::sweep::sweep;
use crate::agents::EventSink;
use crate::facts;
use crate::limits::{Enclosure, Group, of_machine};
use crate::probes::{Probes, Subject};
use crate::snapshots;
use proofload_engine::{Engine, Target};
use proofload_model::error::Error;
use proofload_model::samples::Fact;
use proofload_model::time::{Clock, Moment};
use proofload_model::wire::{DataPlace, Event, HostRequest, LimitsAsked, Reply};
use std::path::Path;
use std::sync::Arc;

/// What an agent holds on its host. Dropping it stops the instance and lifts the limits.
pub struct HostRole {
    clock: Arc<dyn Clock>,
    events: EventSink,
    // In this order they are dropped: nobody watches what is gone, and the limits outlive who is under them.
    probes: Option<Probes>,
    limits: Option<Enclosure>,
    remains: Arc<Remains>,
}

impl std::fmt::Debug for HostRole {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostRole").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl HostRole {
    /// A role that holds nothing yet. `events` is told of telemetry, warnings and servers that die.
    pub fn new(clock: Arc<dyn Clock>, events: EventSink) -> Self {
        Self { clock, events, probes: None, limits: None, remains: Arc::default() }
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
            HostRequest::Precondition { .. } => Err(Error::new("this agent cannot precondition storage")),
            HostRequest::CreateInstance { place } => self.create_instance(&place),
            HostRequest::PrepareLimits { limits, .. } => self.prepare_limits(limits),
            HostRequest::JoinLimits { pid } => self.join_limits(pid),
            HostRequest::StartInstance { place } => self.start_instance(&place),
            HostRequest::VerifyLimits => self.verify_limits(),
            HostRequest::ReadUsage => Ok(Reply::Facts(self.usage())),
            HostRequest::StopInstance => self.stop_instance(),
            HostRequest::SaveSnapshot { place } => snapshots::save(Path::new(&place.folder), &*self.clock).map(copied),
            HostRequest::RestoreSnapshot { place } => {
                snapshots::restore(Path::new(&place.folder), &*self.clock).map(copied)
            }
            HostRequest::FindSnapshot { place, label } => {
                Ok(Reply::Found(snapshots::find(Path::new(&place.folder), &label)))
            }
            HostRequest::LabelSnapshot { place, label } => done(snapshots::label(Path::new(&place.folder), &label)),
            HostRequest::DropPageCache { place } => done(snapshots::drop_page_cache(Path::new(&place.folder))),
            HostRequest::StartProbes { origin, place, pid } => self.start_probes(origin, &place, pid),
            HostRequest::StopProbes => {
                self.probes = None;
                Ok(Reply::Done)
            }
            HostRequest::Release => done(self.release()),
        }
    }

    fn sweep(&self, folder: &str) -> Result<Reply, Error> {
        for text in sweep(Path::new(folder), &*self.clock)? {
            (self.events)(Event::Log { level: "info".to_owned(), text });
        }
        Ok(Reply::Done)
    }

    fn create_instance(&self, place: &DataPlace) -> Result<Reply, Error> {
        if place.url.is_some() {
            return Ok(Reply::Done);
        }
        let folder = Path::new(&place.folder);
        snapshots::claim(folder)?;
        snapshots::remove_data(folder)?;
        let data = snapshots::data_folder(folder);
        std::fs::create_dir(&data).map_err(|error| Error::new(format!("make {}: {error}", data.display())))?;
        match engine(place)?.server() {
            None => Ok(Reply::Done),
            Some(_) => Err(Error::new(format!("this agent cannot create instances of {}", place.engine))),
        }
    }

    fn prepare_limits(&mut self, asked: LimitsAsked) -> Result<Reply, Error> {
        self.drop_limits();
        let limits = Enclosure::prepare(asked)?;
        self.remains.set_group(limits.group().cloned());
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
        done(limits.join(process))
    }

    fn start_instance(&mut self, place: &DataPlace) -> Result<Reply, Error> {
        Err(Error::new(format!("this agent cannot start instances of {}", place.engine)))
    }

    fn verify_limits(&self) -> Result<Reply, Error> {
        let limits = self.limits.as_ref().ok_or_else(|| Error::new("verify limits: none were prepared"))?;
        Ok(Reply::Facts(limits.verify()))
    }

    fn usage(&self) -> Vec<Fact> {
        let mut facts = self.limits.as_ref().map(Enclosure::usage).unwrap_or_default();
        facts.extend(of_machine());
        facts
    }

    fn stop_instance(&mut self) -> Result<Reply, Error> {
        Ok(Reply::Done)
    }

    fn start_probes(&mut self, origin: Moment, place: &DataPlace, pid: Option<u32>) -> Result<Reply, Error> {
        self.probes = None;
        let target = Target { place: place.clone(), address: None };
        let observer = engine(place)?.observer(&target).unwrap_or_else(|error| {
            let text = format!("the engine's statistics are not observed: {error}");
            (self.events)(Event::Log { level: "warning".to_owned(), text });
            None
        });
        let subject = Subject {
            folder: snapshots::data_folder(Path::new(&place.folder)),
            pid,
            group: self.limits.as_ref().and_then(Enclosure::group).map(|group: &Group| group.folder().to_owned()),
            cores: self.limits.as_ref().and_then(Enclosure::cores).cloned(),
            observer,
        };
        self.probes = Some(Probes::start(&self.clock, &self.events, origin, subject));
        Ok(Reply::Done)
    }

    fn release(&mut self) -> Result<(), Error> {
        self.limits.as_mut().map_or(Ok(()), Enclosure::lift)
    }
}

fn engine(place: &DataPlace) -> Result<&'static dyn Engine, Error> {
    proofload_engine::engine(&place.engine).ok_or_else(|| Error::new(format!("there is no engine {:?}", place.engine)))
}

fn done(outcome: Result<(), Error>) -> Result<Reply, Error> {
    outcome.map(|()| Reply::Done)
}

fn copied(copy: snapshots::Copied) -> Reply {
    Reply::Copied { bytes: copy.bytes, method: copy.method, took: copy.took }
}

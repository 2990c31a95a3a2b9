//! Takes the events of all agents and passes them to the record, to the view, and to the state of the attempt. Decides what an event
//! means for the run; may not ask an agent anything.

use super::agent::Agent;
use super::journal::Journal;
use super::run_state::{LoadEnd, RunState};
use crate::live::{RunEnd, SecondSeen, View};
use proofload_load::intervals::MergedSecond;
use proofload_model::error::Error;
use proofload_model::events::RunEvent;
use proofload_model::log_level::LogLevel;
use proofload_model::wire::{Event, load};
use proofload_testbed::agents::AgentEvent;

/// Record, view and state of the attempt.
pub(crate) struct Heard<'a> {
    pub(crate) journal: &'a mut Journal,
    pub(crate) view: &'a mut dyn View,
    pub(crate) state: RunState,
    /// Whether the load of the last run that failed had begun.
    pub(super) failed_under_load: bool,
    /// Runs of another study that the view shows before those of this one.
    pub(crate) shown_before: u32,
    events: u64,
}

/// Agent that tells something.
#[derive(Clone, Copy)]
pub(super) enum Teller<'a> {
    /// The agent of a host under test.
    Host(&'a Agent),
    /// One of the load agents.
    Load { number: usize, all: &'a [Agent] },
}

impl Teller<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Host(agent) => &agent.name,
            Self::Load { number, all } => &all[*number].name,
        }
    }
}

impl<'a> Heard<'a> {
    pub(crate) fn new(journal: &'a mut Journal, view: &'a mut dyn View) -> Self {
        Self { journal, view, state: RunState::default(), failed_under_load: false, shown_before: 0, events: 0 }
    }

    /// Shows that a run begins.
    pub(super) fn show_begin(&mut self, run: u32) {
        self.view.begin_run(self.shown_before + run);
    }

    /// Shows that a run ended.
    pub(super) fn show_end(&mut self, run: u32, ended: &RunEnd) {
        self.view.end_run(self.shown_before + run, ended);
    }

    /// Number of events so far.
    pub(super) fn count(&self) -> u64 {
        self.events
    }

    /// Takes what an agent tells. Errors are errors of the record only.
    pub(super) fn take(&mut self, teller: Teller<'_>, event: AgentEvent) -> Result<(), Error> {
        self.events += 1;
        let event = match event {
            AgentEvent::Lost { reason } => {
                self.state.loader_lost |= matches!(teller, Teller::Load { .. });
                return self.lose(teller.name(), &reason);
            }
            AgentEvent::Event(event) => event,
        };
        match event {
            // Of several that do the same, the first tells how far they are.
            Event::Progress { .. } if matches!(teller, Teller::Load { number: 1.., .. }) => {}
            Event::Progress { what, count } => self.view.progress(&what, count),
            Event::Log { level, text } => self.journal.log(level, teller.name(), &text)?,
            Event::Heartbeat => {}
            // No drill asks for it: whichever instance it is, the run is over.
            Event::InstanceEnded { reason, .. } => {
                self.fail(teller.name(), Error::lost(format!("the server ended during the run: {reason}")))?;
            }
            Event::LoadFailed { error } => self.fail(teller.name(), error)?,
            event => match teller {
                Teller::Host(agent) => self.take_of_host(agent, event)?,
                Teller::Load { number, all } => self.take_of_load(number, all, event)?,
            },
        }
        Ok(())
    }

    fn take_of_host(&mut self, agent: &Agent, event: Event) -> Result<(), Error> {
        let (Event::Telemetry(telemetry), Some(origin)) = (event, self.state.origin) else { return Ok(()) };
        let at = agent.in_our_time(telemetry.moment).offset_from(origin);
        if telemetry.instance.is_standby() {
            self.state.host.has_standbys = true;
        } else {
            self.state.host.take(at, &telemetry);
            self.state.observed.take(at, &telemetry);
        }
        self.journal.telemetry(at, &telemetry)
    }

    fn take_of_load(&mut self, number: usize, all: &[Agent], event: Event) -> Result<(), Error> {
        match event {
            Event::Interval(sample) => {
                let merged = self.state.merger.take(number, *sample);
                self.keep_merged(number, all, merged)?;
            }
            Event::OperationsEnded { below } => self.state.set_ended_below(number, below),
            Event::LedgerPage(page) => self.journal.event(RunEvent::LedgerPage(page))?,
            Event::RoundEnded(round) => self.state.rounds.push(round),
            Event::SessionLost(lost) => self.state.lost.push(lost),
            Event::LoadEnded { intervals, first_without_work, ran } => {
                let end = first_without_work.map(|first| LoadEnd { intervals, first_without_work: first, ran });
                let merged = self.state.merger.end(number, intervals);
                self.keep_merged(number, all, merged)?;
                self.state.add_end(end, all.len());
            }
            Event::Document { name, body } if number == 0 => self.journal.document_of_run(&name, &body)?,
            Event::Document { name, body } => {
                self.journal.document_of_run(&format!("{}/{name}", all[number].name), &body)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Writes the seconds that are complete now to the record; then acknowledges them.
    fn keep_merged(
        &mut self,
        number: usize,
        all: &[Agent],
        merged: Result<Vec<MergedSecond>, Error>,
    ) -> Result<(), Error> {
        let name = &all[number].name;
        let seconds = match merged {
            Ok(seconds) => seconds,
            Err(error) => {
                return self.fail(name, error.context(format!("the load seconds of the {name} agent do not add up")));
            }
        };
        for MergedSecond { sample, agents } in seconds {
            self.journal.interval(&sample, &agents)?;
            self.state.add(&sample);
            let (throughput, host, device) = (&self.state.throughput, self.state.host.now(), self.state.host.device());
            let modelled_busy = self.state.observed.modelled_busy();
            self.view.second(&SecondSeen { throughput, sample: &sample, host, device, modelled_busy });
            let ended_below = self.state.ended_below();
            for agent in all {
                agent.process.tell(load::Acknowledge { intervals: sample.index + 1, ended_below });
            }
        }
        Ok(())
    }

    /// Notes that an agent is lost, and with it the attempt.
    pub(super) fn lose(&mut self, name: &str, reason: &str) -> Result<(), Error> {
        self.journal.log(LogLevel::Error, name, reason)?;
        if self.state.trouble.is_none() {
            self.journal.event(RunEvent::AgentLost { agent: name.to_owned(), reason: reason.to_owned() })?;
            self.state.set_trouble(Error::lost(format!("the {name} agent was lost: {reason}")));
        }
        Ok(())
    }

    /// Notes that the run cannot go on.
    fn fail(&mut self, name: &str, error: Error) -> Result<(), Error> {
        self.journal.log(LogLevel::Error, name, &error.to_string())?;
        self.state.set_trouble(error);
        Ok(())
    }
}

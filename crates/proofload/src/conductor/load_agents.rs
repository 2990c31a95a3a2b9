//! The load agents of a run as one load: started together, begun at one instant, heard as one, ended together. With a single agent this
//! is the same way with one traveller.

use super::crew::{Crew, Ended, Role};
use super::member::{CLOCK_WITHIN, ClockPlace, Member, place_of_clock};
use super::preparation::Prepared;
use proofload_load::intervals::{MergedSecond, Merger};
use proofload_model::error::Error;
use proofload_model::events::{LoadAgentStart, LoadAgentStop, RunEvent};
use proofload_model::facts::{FactName, FactValue, client, load_agent};
use proofload_model::part::Part;
use proofload_model::samples::{Check, CheckOutcome, Fact, IntervalSample, OperationCounts, add_counts};
use proofload_model::time::{Moment, Offset};
use proofload_model::wire::load;
use std::sync::Arc;
use std::time::Duration;

/// Time between the order to start and time zero, so that probes are ready.
const LEAD: Duration = Duration::from_secs(1);

/// The same with several agents, so that the slowest way is travelled in time.
const LEAD_OF_SEVERAL: Duration = Duration::from_secs(3);

/// How one load agent is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LoadCommand {
    /// Its name in messages: `load`, or its host.
    pub(crate) name: String,
    pub(crate) command: Vec<String>,
}

impl Crew<'_> {
    /// Starts the load agents of a run, all at the same time.
    pub(super) fn start_load_agents(&mut self, commands: &[LoadCommand]) -> Result<(), Error> {
        let clock = self.clock();
        let started: Vec<Result<Member, Error>> = std::thread::scope(|scope| {
            let starting: Vec<_> = commands
                .iter()
                .map(|one| {
                    let clock = clock.as_ref();
                    scope.spawn(move || Member::start(&one.name, &one.command, clock))
                })
                .collect();
            starting.into_iter().map(|one| one.join().unwrap_or_else(|_| Err(broke_off()))).collect()
        });
        self.set_load_agents(started.into_iter().collect::<Result<_, _>>()?);
        Ok(())
    }

    /// Opens the workload in each of them; gives the process of the first.
    pub(super) fn open_load(&mut self, prepared: &Prepared, address: Option<&str>) -> Result<u32, Error> {
        let parts = prepared.parts();
        let opened = self.each_load(|agent| {
            let part = parts.get(agent).cloned().unwrap_or_default();
            load::Open { spec: Box::new(prepared.load_spec_of(address.map(str::to_owned), part)) }
        })?;
        opened.into_iter().next().ok_or_else(|| Error::new("no load agent was started"))
    }

    /// Who the agents are, for readers and for the report.
    fn keep_agents(&mut self, parts: &[Part], users: &[u32]) -> Result<(), Error> {
        let (mut facts, mut started) = (Vec::new(), Vec::new());
        let whole: u32 = parts.first().map_or(1, |part| part.shares.iter().sum());
        for ((member, part), users) in self.load_agents().iter().zip(parts).zip(users) {
            let share = part.shares[part.agent as usize];
            let ClockPlace { within, .. } = member.clock;
            let name = &member.name;
            facts.push(load_agent::SHARE.of(name).observed(format!("{share} of {whole}"), "study"));
            facts.push(load_agent::USERS.of(name).observed(*users, "study"));
            facts.push(clock_fact(
                &load_agent::CLOCK_PLACED.of(name),
                within,
                "32 exchanges of four stamps, the shortest",
            ));
            started.push(LoadAgentStart {
                number: part.agent,
                name: name.clone(),
                share,
                users: Some(u64::from(*users)),
                pid: Some(member.pid),
                clock_bound_ns: Some(nanos(within)),
            });
        }
        self.journal.facts(&facts)?;
        self.journal.event(RunEvent::LoadAgents(started))
    }

    /// Connects the users of all agents; facts that differ between agents name theirs.
    pub(super) fn connect_load(&mut self, prepared: &Prepared) -> Result<(), Error> {
        let lists = self.each_load(|_| load::Connect {})?;
        let names: Vec<String> = self.load_agents().iter().map(|member| member.name.clone()).collect();
        let users: Vec<u32> = lists.iter().map(|facts| users_of(facts)).collect();
        self.journal.facts(&of_all(&names, lists))?;
        if names.len() > 1 {
            let users_of_all = client::VIRTUAL_USERS.observed(users.iter().sum::<u32>(), "load agents");
            self.journal.facts(&[users_of_all])?;
            self.keep_agents(&prepared.parts(), &users)?;
        }
        Ok(())
    }

    /// Begins the load of all agents at one instant, which is told ahead in the time of each.
    pub(super) fn start_load(&mut self) -> Result<(), Error> {
        let lead = if self.load_agents().len() > 1 { LEAD_OF_SEVERAL } else { LEAD };
        let origin = self.now() + lead;
        let times: Vec<Moment> = self.load_agents().iter().map(|member| member.in_its_time(origin)).collect();
        self.watch.origin = Some(origin);
        for (agent, origin) in self.each_load(|agent| load::Start { at: times[agent] })?.into_iter().enumerate() {
            // One that is alone may have begun later, and then no second has come before its answer.
            if agent == 0 && times.len() == 1 {
                self.watch.origin = self.load_agents().first().map(|member| member.in_our_time(origin));
            }
        }
        Ok(())
    }

    /// A second of an agent. What is complete with it goes to the record; then it is acknowledged.
    pub(super) fn hear_second(&mut self, agent: usize, sample: IntervalSample) -> Result<(), Error> {
        let merged = self.watch.merger.take(agent, sample);
        self.keep_merged(agent, merged)
    }

    /// An agent's load has come to its end.
    pub(super) fn hear_end(&mut self, agent: usize, ended: Option<Ended>, intervals: u64) -> Result<(), Error> {
        let merged = self.watch.merger.end(agent, intervals);
        self.keep_merged(agent, merged)?;
        self.watch.ends.push(ended);
        if self.watch.ends.len() == self.load_agents().len().max(1) {
            self.watch.ended = all_ended(&self.watch.ends);
        }
        Ok(())
    }

    fn keep_merged(&mut self, agent: usize, merged: Result<Vec<MergedSecond>, Error>) -> Result<(), Error> {
        let name = self.load_agents().get(agent).map_or("load", |member| &member.name).to_owned();
        let seconds = match merged {
            Ok(seconds) => seconds,
            Err(error) => {
                let error = error.context(format!("the {name} agent's seconds of load do not add up"));
                self.journal.log("error", &name, &error.to_string())?;
                self.watch.trouble.get_or_insert(error);
                return Ok(());
            }
        };
        for MergedSecond { sample, agents } in seconds {
            self.journal.interval(&sample, &agents)?;
            self.watch.add(&sample);
            self.view.interval(&self.watch.throughput);
            for member in self.load_agents() {
                member.process.tell(load::Acknowledge { intervals: sample.index + 1 });
            }
        }
        Ok(())
    }

    /// Ends the load of all agents; gives the seconds there were, and the totals of all. What does not add up is a check that fails.
    pub(super) fn stop_load(&mut self) -> Result<(u64, Vec<OperationCounts>), Error> {
        let stopped = self.each_load(|_| load::Stop {})?;
        let (mut intervals, mut totals, mut faults) = (0, Vec::new(), Vec::new());
        for (agent, load::Stopped { intervals: of_agent, totals: counted }) in stopped.into_iter().enumerate() {
            if let Err(error) = self.watch.merger.check(agent, of_agent, &counted) {
                faults.push(format!("{}: {error}", self.load_agents()[agent].name));
            }
            intervals = intervals.max(of_agent);
            add_counts(&mut totals, &counted);
        }
        if self.load_agents().len() > 1 {
            self.keep_sums(faults, &totals)?;
            self.keep_clocks()?;
            self.journal.of_agents(&self.watch.merger.of_window())?;
        }
        Ok((intervals, totals))
    }

    /// Do the agents' own totals agree with what came of them?
    fn keep_sums(&mut self, faults: Vec<String>, totals: &[OperationCounts]) -> Result<(), Error> {
        let agents = self.load_agents().len();
        let operations: u64 = totals.iter().map(|counts| counts.done + counts.rolled_back + counts.failed).sum();
        self.journal.checks(&[Check {
            group: "load agents".to_owned(),
            name: "counts of each agent".to_owned(),
            rule: "what was merged of each load agent's seconds is what the agent counted, by kind of operation; each completed \
                   operation has one response time"
                .to_owned(),
            found: format!("{operations} operations of {agents} agents, {} differ", faults.len()),
            outcome: if faults.is_empty() { CheckOutcome::Met } else { CheckOutcome::Failed },
            offenders: faults,
            sample: None,
        }])
    }

    /// How far the agents' clocks have moved against ours since before the load: a second of one must be a second of all.
    fn keep_clocks(&mut self) -> Result<(), Error> {
        let clock = self.clock();
        let processes: Vec<_> = self.load_agents().iter().map(|member| Arc::clone(&member.process)).collect();
        let places: Vec<Result<ClockPlace, Error>> = std::thread::scope(|scope| {
            let clock = clock.as_ref();
            let placing: Vec<_> =
                processes.iter().map(|process| scope.spawn(move || place_of_clock(process, clock))).collect();
            placing.into_iter().map(|one| one.join().unwrap_or_else(|_| Err(broke_off()))).map(|it| Ok(it?.0)).collect()
        });
        let (mut facts, mut stopped) = (Vec::new(), Vec::new());
        for (number, (member, now)) in (0..).zip(self.load_agents().iter().zip(places)) {
            let (now, before) = (now?, member.clock);
            let moved = now.ahead_ns - before.ahead_ns;
            let moved_by = Duration::from_nanos(moved.unsigned_abs());
            // What the exchanges cannot tell is not held against a clock.
            let certain = moved_by.saturating_sub(before.within + now.within);
            let fact = clock_fact(&load_agent::CLOCK_MOVED.of(&member.name), moved_by, "placed again after the load");
            facts.push(Fact { holds: Some(certain <= CLOCK_WITHIN), ..fact });
            stopped.push(LoadAgentStop {
                number,
                clock_moved_ns: Some(moved),
                clock_bound_ns: Some(nanos(now.within)),
            });
        }
        self.journal.facts(&facts)?;
        self.journal.event(RunEvent::LoadAgentsStopped(stopped))
    }

    /// Brings what the users of the other agents left to the first, which checks for all.
    pub(super) fn gather_evidence(&mut self) -> Result<(), Error> {
        for agent in 1..self.load_agents().len() {
            let (mut piece, mut last) = (0, false);
            while !last {
                let given = self.ask_load(agent, load::GiveEvidence { piece })?;
                (piece, last) = (piece + 1, given.last);
                self.load(load::TakeEvidence { piece: given })?;
            }
        }
        Ok(())
    }

    /// Closes and ends all load agents.
    pub(super) fn release_load(&mut self) -> Result<(), Error> {
        self.each_load(|_| load::Close {})?;
        self.stop(Role::Load);
        Ok(())
    }
}

/// A load has come to the end of its operations when all agents have; users were without work from the first agent's on.
fn all_ended(ends: &[Option<Ended>]) -> Option<Ended> {
    let ends = ends.iter().copied().collect::<Option<Vec<Ended>>>()?;
    Some(Ended {
        intervals: ends.iter().map(|end| end.intervals).max()?,
        first_without_work: ends.iter().map(|end| end.first_without_work).min()?,
        ran: ends.iter().map(|end| end.ran).max().unwrap_or(Offset(0)),
    })
}

/// Facts that are the same everywhere once; others under a name that says whose they are.
fn of_all(names: &[String], lists: Vec<Vec<Fact>>) -> Vec<Fact> {
    let (first, others) = lists.split_first().map_or((&[][..], &[][..]), |(first, others)| (first.as_slice(), others));
    let is_of_all = |fact: &Fact| others.iter().all(|facts| facts.contains(fact));
    let mut facts: Vec<Fact> = first.iter().filter(|fact| is_of_all(fact)).cloned().collect();
    let common = facts.clone();
    for (name, list) in names.iter().zip(lists) {
        let own = list.into_iter().filter(|fact| !common.contains(fact));
        facts.extend(own.map(|fact| Fact { name: format!("{} ({name})", fact.name), ..fact }));
    }
    facts
}

/// Virtual users by an agent's facts.
fn users_of(facts: &[Fact]) -> u32 {
    client::VIRTUAL_USERS.number(facts).map_or(0, |users| users as u32)
}

/// A fact about a clock, which must be within its limit.
fn clock_fact(name: &FactName, found: Duration, source: &str) -> Fact {
    let milliseconds = |time: Duration| format!("within {:.3} ms", time.as_secs_f64() * 1e3);
    let value = FactValue::written(milliseconds(found), found.as_secs_f64());
    name.compared(milliseconds(CLOCK_WITHIN), Some(value), found <= CLOCK_WITHIN, source)
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn broke_off() -> Error {
    Error::new("asking a load agent broke off")
}

impl Crew<'_> {
    /// The merger that a run with so many agents begins with.
    pub(super) fn expect_agents(&mut self, agents: usize) {
        self.watch.merger = Merger::new(agents);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_of_all_agents_are_told_once_and_others_name_theirs() {
        let fact = |name: &str, value: &str| client::QUERY.of(name).observed(value, "test");
        let lists = vec![
            vec![fact("form", "statements"), fact("threads", "2")],
            vec![fact("form", "statements"), fact("threads", "4")],
        ];
        let told = of_all(&["a".to_owned(), "b".to_owned()], lists);
        let told: Vec<(&str, Option<&str>)> =
            told.iter().map(|fact| (fact.name.as_str(), fact.effective.as_deref())).collect();
        let expected =
            [("query.form", Some("statements")), ("query.threads (a)", Some("2")), ("query.threads (b)", Some("4"))];
        assert_eq!(told, expected);
        let one = vec![vec![fact("threads", "2")]];
        assert_eq!(of_all(&["load".to_owned()], one.clone()), one[0]);
    }

    #[test]
    fn a_load_has_ended_when_all_its_agents_have() {
        let end = |seconds: i64| Ended {
            intervals: seconds as u64,
            first_without_work: Offset(seconds * 1_000_000_000 - 5),
            ran: Offset(seconds * 1_000_000_000),
        };
        assert!(all_ended(&[Some(end(3)), None]).is_none());
        let all = all_ended(&[Some(end(3)), Some(end(7))]).expect("all have ended");
        assert_eq!((all.intervals, all.first_without_work, all.ran), (7, Offset(2_999_999_995), Offset(7_000_000_000)));
    }
}

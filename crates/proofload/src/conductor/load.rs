//! The load agents of a run as one load: started together, begun at one instant, ended together. A single agent takes the same code path.

use super::agent::{Agent, CLOCK_WITHIN, ClockOffset, clock_offset};
use super::preparation::PreparedRun;
use super::run_context::RunContext;
use crate::clock::SystemClock;
use proofload_model::error::Error;
use proofload_model::events::{LoadAgentStart, LoadAgentStop, RunEvent};
use proofload_model::facts::{FactName, FactValue, client, load_agent, of_agent};
use proofload_model::load_share::LoadShare;
use proofload_model::samples::{Check, CheckOutcome, Fact, OperationCounts, add_counts};
use proofload_model::time::{Clock, Moment};
use proofload_model::wire::{LoadSpec, load};
use std::sync::Arc;
use std::time::Duration;

/// Time between the order to start and time zero, so that probes are ready.
const LEAD: Duration = Duration::from_secs(1);

/// The same with several agents, so that the slowest connection passes the order on in time.
const LEAD_OF_SEVERAL: Duration = Duration::from_secs(3);

/// Opens the workload in each load agent; gives the process of the first.
pub(super) fn open(context: &mut RunContext<'_>, prepared: &PreparedRun, endpoints: &[String]) -> Result<u32, Error> {
    context.authenticate()?;
    let parts = prepared.parts();
    let input_seed = prepared.input_seed(SystemClock.wall());
    let opened = context.ask_all_load(|agent| {
        let part = parts.get(agent).cloned().unwrap_or_default();
        load::Open { spec: Box::new(LoadSpec { input_seed, ..prepared.load_spec_of(endpoints.to_vec(), part) }) }
    })?;
    opened.into_iter().next().ok_or_else(|| Error::lost("no load agent was started"))
}

/// Connects the users of all agents; facts that differ between agents name theirs.
pub(super) fn connect(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<(), Error> {
    let lists = context.ask_all_load(|_| load::Connect {})?;
    let names: Vec<String> = context.agents.load().iter().map(|agent| agent.name.clone()).collect();
    let users: Vec<u32> = lists.iter().map(|facts| users_of(facts)).collect();
    let mut facts = of_all(&names, lists);
    let several = names.len() > 1;
    if several {
        facts.push(client::VIRTUAL_USERS.observed(users.iter().sum::<u32>(), "load agents"));
    }
    context.heard.journal.facts(&facts)?;
    if several { keep_agents(context, &prepared.parts(), &users) } else { Ok(()) }
}

/// Notes who the agents are, for readers and for the report.
fn keep_agents(context: &mut RunContext<'_>, parts: &[LoadShare], users: &[u32]) -> Result<(), Error> {
    let (mut facts, mut started) = (Vec::new(), Vec::new());
    let whole: u32 = parts.first().map_or(1, |part| part.shares.iter().sum());
    for ((agent, part), users) in context.agents.load().iter().zip(parts).zip(users) {
        let share = part.shares[part.agent as usize];
        let ClockOffset { within, .. } = agent.clock;
        let name = &agent.name;
        facts.push(load_agent::SHARE.of(name).observed(format!("{share} of {whole}"), "study"));
        facts.push(load_agent::USERS.of(name).observed(*users, "study"));
        facts.push(clock_fact(&load_agent::CLOCK_PLACED.of(name), within, "32 exchanges of four stamps, the shortest"));
        started.push(LoadAgentStart {
            number: part.agent,
            name: name.clone(),
            share,
            users: Some(u64::from(*users)),
            pid: Some(agent.pid),
            clock_bound_ns: Some(nanos(within)),
        });
    }
    context.heard.journal.facts(&facts)?;
    context.heard.journal.event(RunEvent::LoadAgents(started))
}

/// Begins the load of all agents at one instant, announced to each in the time of its own clock.
pub(super) fn start(context: &mut RunContext<'_>) -> Result<(), Error> {
    let agents = context.agents.load();
    let origin = context.agents.now() + if agents.len() > 1 { LEAD_OF_SEVERAL } else { LEAD };
    let times: Vec<Moment> = agents.iter().map(|agent| agent.in_its_time(origin)).collect();
    context.heard.state.origin = Some(origin);
    let origins = context.ask_all_load(|agent| load::Start { at: times[agent] })?;
    // One that is alone may have begun later, and then no second has come before its answer.
    if let ([agent], [origin]) = (context.agents.load(), origins.as_slice()) {
        context.heard.state.origin = Some(agent.in_our_time(*origin));
    }
    Ok(())
}

/// Ends the load of all agents; gives the seconds there were, and the totals of all. A sum that does not add up is a failed check.
pub(super) fn stop(context: &mut RunContext<'_>) -> Result<(u64, Vec<OperationCounts>), Error> {
    let stopped = context.ask_all_load(|_| load::Stop {})?;
    let (mut intervals, mut totals, mut faults) = (0, Vec::new(), Vec::new());
    let (agents, state) = (context.agents.load(), &mut context.heard.state);
    for (number, (agent, stopped)) in agents.iter().zip(&stopped).enumerate() {
        if let Err(error) = state.merger.check(number, stopped.intervals, &stopped.totals) {
            faults.push(format!("{}: {error}", agent.name));
        }
        intervals = intervals.max(stopped.intervals);
        add_counts(&mut totals, &stopped.totals);
    }
    if agents.len() > 1 {
        context.heard.journal.checks(&[sums(agents.len(), faults, &totals)])?;
        keep_clocks(context)?;
        let histograms = context.heard.state.merger.of_window();
        context.heard.journal.of_agents(&histograms)?;
    }
    Ok((intervals, totals))
}

/// Compares the agents' own totals with what was merged of their seconds.
fn sums(agents: usize, faults: Vec<String>, totals: &[OperationCounts]) -> Check {
    let operations: u64 = totals.iter().map(|counts| counts.done + counts.rolled_back + counts.failed).sum();
    Check {
        group: "load agents".to_owned(),
        name: "counts of each agent".to_owned(),
        rule: "the merged seconds of each load agent equal its own counts, by kind of operation; each completed \
               operation has one response time"
            .to_owned(),
        found: format!("{operations} operations of {agents} agents, {} differ", faults.len()),
        outcome: if faults.is_empty() { CheckOutcome::Met } else { CheckOutcome::Failed },
        offenders: faults,
        sample: None,
        lost: None,
    }
}

/// Notes how far the agents' clocks have moved against ours since before the load: a second of one must be a second of all.
fn keep_clocks(context: &mut RunContext<'_>) -> Result<(), Error> {
    let clock = context.agents.clock();
    let agents = context.agents.load();
    let offsets: Vec<Result<ClockOffset, Error>> = std::thread::scope(|scope| {
        let clock = clock.as_ref();
        let measure = |agent: &Agent| {
            let process = Arc::clone(&agent.process);
            scope.spawn(move || clock_offset(&process, clock))
        };
        let measuring: Vec<_> = agents.iter().map(measure).collect();
        let broke_off = || Err(Error::new("a request to a load agent failed"));
        measuring.into_iter().map(|one| one.join().unwrap_or_else(|_| broke_off()).map(|(offset, _)| offset)).collect()
    });
    let (mut facts, mut stopped) = (Vec::new(), Vec::new());
    for (number, (agent, now)) in (0..).zip(agents.iter().zip(offsets)) {
        let (now, before) = (now?, agent.clock);
        let moved = now.ahead_ns - before.ahead_ns;
        let moved_by = Duration::from_nanos(moved.unsigned_abs());
        // What the exchanges cannot tell is not held against a clock.
        let certain = moved_by.saturating_sub(before.within + now.within);
        let fact = clock_fact(&load_agent::CLOCK_MOVED.of(&agent.name), moved_by, "aligned again after the load");
        facts.push(Fact { holds: Some(certain <= CLOCK_WITHIN), ..fact });
        stopped.push(LoadAgentStop { number, clock_moved_ns: Some(moved), clock_bound_ns: Some(nanos(now.within)) });
    }
    context.heard.journal.facts(&facts)?;
    context.heard.journal.event(RunEvent::LoadAgentsStopped(stopped))
}

/// Brings what the users of the other agents left to the first, which checks for all.
pub(super) fn gather_evidence(context: &mut RunContext<'_>) -> Result<(), Error> {
    for agent in 1..context.agents.load().len() {
        let (mut number, mut last) = (0, false);
        while !last {
            let ask = load::GiveEvidence { piece: number };
            let piece = context.agents.ask_load(agent, ask, &mut context.heard)?;
            (number, last) = (number + 1, piece.last);
            context.ask_load(load::TakeEvidence { piece })?;
        }
    }
    Ok(())
}

/// Closes and ends all load agents.
pub(super) fn release(context: &mut RunContext<'_>) -> Result<(), Error> {
    context.ask_all_load(|_| load::Close {})?;
    context.agents.stop_load();
    Ok(())
}

/// Facts that are the same everywhere, once; others under a name that says whose they are.
fn of_all(names: &[String], lists: Vec<Vec<Fact>>) -> Vec<Fact> {
    let (first, others) = lists.split_first().map_or((&[][..], &[][..]), |(first, others)| (first.as_slice(), others));
    let is_of_all = |fact: &Fact| others.iter().all(|facts| facts.contains(fact));
    let mut facts: Vec<Fact> = first.iter().filter(|fact| is_of_all(fact)).cloned().collect();
    let common = facts.clone();
    for (name, list) in names.iter().zip(lists) {
        let own = list.into_iter().filter(|fact| !common.contains(fact));
        facts.extend(own.map(|fact| Fact { name: of_agent(&fact.name, name), ..fact }));
    }
    facts
}

/// Virtual users of an agent, by its facts.
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
}

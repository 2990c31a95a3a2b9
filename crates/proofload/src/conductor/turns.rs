//! Two studies measured in turns: the runs of one repetition side by side, each pair in an order that is drawn, so that what neighbours change
//! from minute to minute is in both.

use super::agents::Agents;
use super::heard::Heard;
use super::journal::Journal;
use super::partner_choice::PartnerChoice;
use super::run_context::RunContext;
use super::study::{self, Assignment, Commands, Outcome};
use crate::interrupt::Interrupt;
use crate::live::View;
use proofload_model::error::Error;
use proofload_model::plan::{Plan, Run};
use proofload_model::time::Clock;
use std::sync::Arc;

/// One of the two studies with its record.
pub(crate) struct Side {
    pub(crate) assignment: Assignment,
    pub(crate) journal: Journal,
}

/// A run of one of the two studies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Turn {
    /// 0 for the first study, 1 for the second.
    side: usize,
    run: Run,
}

/// Carries out all that is missing of both. Their agents are the same.
pub(crate) fn conduct_in_turns(
    sides: &mut [Side; 2],
    view: &mut dyn View,
    clock: Arc<dyn Clock>,
    interrupt: Interrupt,
) -> Result<Outcome, Error> {
    let [first, second] = sides;
    let Side { assignment: one, journal } = first;
    let Side { assignment: other, journal: other_journal } = second;
    let mut context = RunContext::new(Agents::new(clock, interrupt), Heard::new(journal, view), None);
    let mut both = Both { assignments: [one, other], waiting: other_journal, current: 0 };
    let outcome = both.runs(&mut context);
    context.agents.stop_load();
    context.agents.stop_hosts();
    both.switch(&mut context, 0);
    match outcome {
        Err(error) if error.is_interrupted() => Ok(Outcome::Interrupted),
        other => other,
    }
}

/// Both studies while one of them has the context.
struct Both<'s> {
    assignments: [&'s mut Assignment; 2],
    /// The journal of the study that waits.
    waiting: &'s mut Journal,
    current: usize,
}

impl Both<'_> {
    /// Gives the context to a study.
    fn switch(&mut self, context: &mut RunContext<'_>, side: usize) {
        if side != self.current {
            std::mem::swap(context.heard.journal, self.waiting);
            self.current = side;
        }
        let before = self.assignments[0].plan.runs.len() as u32;
        context.heard.shown_before = if side == 0 { 0 } else { before };
    }

    fn runs(&mut self, context: &mut RunContext<'_>) -> Result<Outcome, Error> {
        let commands = Commands::of(&self.assignments[0].study)?;
        if commands != Commands::of(&self.assignments[1].study)? {
            return Err(Error::new(
                "the two studies have different agents (agents.host, agents.standby_hosts, agents.load, \
                 agents.load_hosts): studies measured in turns must use the same hosts",
            ));
        }
        study::start_hosts(context, &self.assignments[0].study, &commands)?;
        for side in [0, 1] {
            self.switch(context, side);
            study::sweep(context, &self.assignments[side].study, &commands)?;
            study::begin(self.assignments[side], context)?;
        }
        let mut reasons = Vec::new();
        for Turn { side, run } in turns([&self.assignments[0].plan, &self.assignments[1].plan]) {
            if self.assignments[side].finished.contains(&run.index) {
                continue;
            }
            self.switch(context, side);
            reasons.extend(study::attempt(self.assignments[side], context, &commands, run)?);
        }
        Ok(Outcome::of(&reasons))
    }
}

/// The runs of both plans: by repetition, in the order of the first plan, each with its partner before or after it.
fn turns(plans: [&Plan; 2]) -> Vec<Turn> {
    let mut turns = Vec::new();
    for (run, partner) in partners(plans) {
        let mut pair: Vec<Turn> = run.map(|run| Turn { side: 0, run }).into_iter().collect();
        pair.extend(partner.map(|run| Turn { side: 1, run }));
        // Seeds of runs are drawn; one bit of one tells who goes first.
        if pair.first().is_some_and(|turn| turn.run.seed.count_ones() % 2 == 1) {
            pair.reverse();
        }
        turns.extend(pair);
    }
    turns
}

/// Runs of the first plan with those of the second that have the same repetition and levels; without one, the next of that repetition.
pub(super) fn partners([first, second]: [&Plan; 2]) -> Vec<(Option<Run>, Option<Run>)> {
    let mut choice = PartnerChoice::of(second);
    let mut pairs: Vec<(Option<Run>, Option<Run>)> =
        first.runs.iter().map(|run| (Some(*run), choice.take(first, run))).collect();
    pairs.extend(choice.rest().map(|run| (None, Some(run))));
    pairs
}

/// Runs of two plans whose partner is not finished: a block is measured whole, so both are missing.
pub(crate) fn half_done(assignments: [&Assignment; 2]) -> [Vec<u32>; 2] {
    let pairs = partners(assignments.map(|assignment| &assignment.plan));
    let mut half = [Vec::new(), Vec::new()];
    for (one, other) in pairs.iter().filter_map(|(one, other)| one.as_ref().zip(other.as_ref())) {
        let done = [assignments[0].finished.contains(&one.index), assignments[1].finished.contains(&other.index)];
        if done[0] != done[1] {
            half[0].push(one.index);
            half[1].push(other.index);
        }
    }
    half
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::study::{parse_assignment, validate};

    fn plan(seed: u32, repetitions: u32) -> Plan {
        let text = format!(
            "[study]\nname = \"t\"\ntitle = \"t\"\nseed = {seed}\nrepetitions = {repetitions}\n[workload]\nkind = \"tprocc\"\nwarehouses = 1\n\
             virtual_users = 1\n[engine]\nkind = \"null\"\n[[factor]]\nsetting = \"limits.cores\"\nlevels = [1, 2]\n"
        );
        let order = parse_assignment("study.order=given").unwrap();
        let study = validate(&text, &[order], &crate::catalogue::catalogue()).unwrap();
        proofload_model::plan::expand(&study)
    }

    #[test]
    fn every_run_has_its_turn_beside_its_partner() {
        let (first, second) = (plan(1, 6), plan(1, 6));
        let found = turns([&first, &second]);
        assert_eq!(found.len(), 24);
        let mut first_of_pair = [0, 0];
        for pair in found.chunks(2) {
            assert_ne!(pair[0].side, pair[1].side);
            assert_eq!((pair[0].run.point, pair[0].run.repetition), (pair[1].run.point, pair[1].run.repetition));
            first_of_pair[pair[0].side] += 1;
        }
        assert!(first_of_pair.iter().all(|count| *count > 0), "{first_of_pair:?}");
    }

    #[test]
    fn more_repetitions_of_one_study_come_alone_at_the_end() {
        let (first, second) = (plan(1, 2), plan(1, 3));
        let found = turns([&first, &second]);
        assert_eq!(found.len(), 10);
        assert!(found[8..].iter().all(|turn| turn.side == 1 && turn.run.repetition == 2), "{found:?}");
    }
}

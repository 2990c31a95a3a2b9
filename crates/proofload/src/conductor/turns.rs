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
use proofload_record::{Record, State};
use proofload_report::findings::comparison::AttemptsByTime;
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

/// Runs of two records that were measured and have no partner: a block is measured whole, so both are missing. An older attempt that finished
/// is no partner where its repeat failed, or where the other run was measured at another time.
pub(crate) fn half_done(records: [&Record; 2]) -> [Vec<u32>; 2] {
    let (attempts, by_time) = (records.map(Record::by_run), AttemptsByTime::of(records));
    let last_finished =
        |side: usize, run: &Run| attempts[side].last(run.index).filter(|attempt| attempt.state == State::Finished);
    let mut half = [Vec::new(), Vec::new()];
    for (one, other) in partners(records.map(|record| &record.plan)) {
        let Some((one, other)) = one.zip(other) else { continue };
        let is_begun = attempts[0].finished(one.index).or_else(|| attempts[1].finished(other.index)).is_some();
        let pair = last_finished(0, &one).zip(last_finished(1, &other));
        if is_begun && !pair.is_some_and(|(one, other)| by_time.are_partners(one, other)) {
            half[0].push(one.index);
            half[1].push(other.index);
        }
    }
    half
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::events::RunEvent;
    use proofload_model::study::{parse_assignment, validate};
    use proofload_model::time::WallTime;
    use proofload_record::{Attempt, AttemptEvent};
    use std::path::Path;

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

    /// How an attempt ends.
    #[derive(Clone, Copy)]
    enum End {
        Finished,
        Failed,
        Killed,
    }

    /// Second in which an attempt at a run begins, the run, and how it ends half a minute later.
    type Told = (i64, u32, End);

    /// Two records of one point in two repetitions with these attempts.
    fn measured(told: [&[Told]; 2], at_once: bool) -> [Record; 2] {
        let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/records/format-4-memory.proof");
        let stored = proofload_record::read(Path::new(stored)).expect("the record is read");
        let some = stored.attempts.first().expect("it has an attempt").clone();
        told.map(|told| {
            let mut record = stored.clone();
            record.plan = plan(1, 2);
            record.plan.points.truncate(1);
            record.plan.runs.retain(|run| run.point == 0);
            for (index, run) in (0..).zip(&mut record.plan.runs) {
                run.index = index;
            }
            let turns = RunEvent::InTurns { with: "the other".to_owned(), token: "t".to_owned(), at_once };
            record.events = vec![AttemptEvent::new(WallTime(0), turns)];
            let attempt = |(id, (second, run, end)): (i64, &Told)| {
                let (state, ended) = match end {
                    End::Finished => (State::Finished, Some(RunEvent::Finished)),
                    End::Failed => {
                        let reason = "it broke".to_owned();
                        (State::Failed { reason: reason.clone() }, Some(RunEvent::Failed(reason)))
                    }
                    End::Killed => (State::Open, None),
                };
                let events = ended.map(|event| AttemptEvent::new(WallTime((second + 30) * 1_000_000), event));
                Attempt {
                    id,
                    run: record.plan.runs[*run as usize],
                    state,
                    started: WallTime(second * 1_000_000),
                    events: events.into_iter().collect(),
                    ..some.clone()
                }
            };
            let attempts = (1..).zip(told).map(attempt).collect();
            record.attempts = attempts;
            record
        })
    }

    #[track_caller]
    fn check_half_done(told: [&[Told]; 2], at_once: bool, expected: &[u32]) {
        let records = measured(told, at_once);
        let found = half_done(records.each_ref());
        assert_eq!(found, [expected.to_vec(), expected.to_vec()]);
    }

    #[test]
    fn a_pair_whose_repeat_failed_is_missing_although_older_attempts_finished() {
        use End::{Failed, Finished, Killed};
        let first = (0, 0, Finished);
        let second: [&[Told]; 2] = [&[(100, 1, Finished)], &[(130, 1, Finished)]];
        let with = |one: &[Told], other: &[Told]| {
            let [mut one, mut other] = [one.to_vec(), other.to_vec()];
            one.extend(second[0]);
            other.extend(second[1]);
            [one, other].map(|mut told| {
                told.sort_by_key(|(second, ..)| *second);
                told
            })
        };
        let check = |one: &[Told], other: &[Told], expected: &[u32]| {
            let told = with(one, other);
            check_half_done([&told[0], &told[1]], false, expected);
        };
        check(&[first], &[(31, 0, Finished)], &[]);
        check(&[first], &[], &[0]);
        check(&[first], &[(31, 0, Failed)], &[0]);
        check(&[], &[], &[]);
        // The repeat of the first side failed or was killed, and its partner finished.
        check(&[first, (900, 0, Failed)], &[(31, 0, Failed), (931, 0, Finished)], &[0]);
        check(&[first, (900, 0, Killed)], &[(31, 0, Failed), (931, 0, Finished)], &[0]);
        // The next repeat was interrupted before its partner began.
        let again = [first, (900, 0, Failed), (9_000, 0, Finished)];
        check(&again, &[(31, 0, Failed), (931, 0, Finished)], &[0]);
        check(&again, &[(31, 0, Failed), (931, 0, Finished), (9_031, 0, Finished)], &[]);
        // A disturbed attempt that was repeated at once.
        check(&[first, (31, 0, Finished)], &[(62, 0, Finished)], &[]);
    }

    #[test]
    fn a_pair_of_a_duet_is_missing_unless_both_ran_at_once() {
        use End::{Failed, Finished};
        let done = [(0, 0, Finished), (100, 1, Finished)];
        check_half_done([&done, &done], true, &[]);
        let failed = [(0, 0, Failed), (100, 1, Finished)];
        check_half_done([&done, &failed], true, &[0]);
        let other = [(0, 0, Failed), (100, 1, Finished), (200, 0, Finished)];
        check_half_done([&[(0, 0, Finished), (100, 1, Finished), (200, 0, Failed)], &other], true, &[0]);
        check_half_done([&done, &other], true, &[0]);
        check_half_done([&[(0, 0, Finished), (100, 1, Finished), (201, 0, Finished)], &other], true, &[]);
    }
}

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
use proofload_model::load_share::LOAD_HOSTS;
use proofload_model::network::{NETWORK, is_in_namespaces};
use proofload_model::plan::{Plan, Run};
use proofload_model::settings::setting;
use proofload_model::standby_hosts::{STANDBY_COMMAND, STANDBY_HOSTS};
use proofload_model::study::Study;
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

/// Settings that say on which hosts agents are, and how they are started.
const OF_AGENTS: [&str; 7] =
    [setting::AGENTS_HOST, STANDBY_HOSTS, STANDBY_COMMAND, setting::AGENTS_LOAD, LOAD_HOSTS, NETWORK, STANDBYS];

/// Number of standbys, each of which has an agent where the study is in namespaces.
const STANDBYS: &str = "replication.standbys";

/// Refuses two studies that have not the same agents: studies in turns share theirs, on whichever hosts they are. A duet compares two databases on
/// the same hosts, each with agents of its own: there only the number of standbys may differ.
pub(crate) fn expect_same_agents([one, other]: [&Study; 2], is_duet: bool) -> Result<(), Error> {
    let commands = [Commands::of(one)?, Commands::of(other)?];
    if commands[0] == commands[1] {
        return Ok(());
    }
    let have_standby_agents = commands.iter().any(|commands| commands.hosts.len() > 1);
    let in_namespaces = [one, other].iter().any(|study| is_in_namespaces(&study.settings));
    // Settings from which no agent follows may differ.
    let counts = |path: &str| match path {
        STANDBYS => in_namespaces && !is_duet,
        STANDBY_COMMAND => have_standby_agents,
        _ => true,
    };
    let told = |study: &Study, path: &str| study.settings.get(path).map_or("not set".to_owned(), ToString::to_string);
    let differing = OF_AGENTS.iter().filter(|path| counts(path) && one.settings.get(path) != other.settings.get(path));
    let differing: Vec<String> =
        differing.map(|path| format!("{path} ({} in A, {} in B)", told(one, path), told(other, path))).collect();
    if differing.is_empty() {
        return Ok(());
    }
    Err(Error::new(format!(
        "the two studies have different agents: {}; studies measured with each other use the same hosts: set this alike in both, or \
         measure each with proofload run and compare the two records",
        differing.join(", ")
    )))
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
        expect_same_agents([&self.assignments[0].study, &self.assignments[1].study], false)?;
        let commands = Commands::of(&self.assignments[0].study)?;
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
    use proofload_model::settings::Value;
    use proofload_model::standby_hosts::PRIMARY_ADDRESS;
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
    fn studies_with_other_hosts_are_refused_with_what_differs() {
        let on = |hosts: &str| {
            let text = format!(
                "[study]\nname = \"t\"\ntitle = \"t\"\n[workload]\nkind = \"tprocc\"\nwarehouses = 1\nvirtual_users = 4\n\
                 [engine]\nkind = \"null\"\n[agents]\nload = [\"ssh\", \"{{host}}\", \"proofload\", \"agent\"]\nload_hosts = [{hosts}]\n"
            );
            validate(&text, &[], &crate::catalogue::catalogue()).unwrap()
        };
        let two = on("\"loader1\", \"loader2\"");
        assert!(expect_same_agents([&two, &two], false).is_ok(), "several load hosts are taken");
        let told = expect_same_agents([&two, &on("\"loader1\", \"loader3\"")], false).unwrap_err().to_string();
        assert!(
            told.contains("different agents: agents.load_hosts (loader1 loader2 in A, loader1 loader3 in B);"),
            "{told}"
        );
    }

    #[test]
    fn settings_from_which_no_agent_follows_are_not_blamed() {
        let text = "[study]\nname = \"t\"\ntitle = \"t\"\n[workload]\nkind = \"tprocc\"\nwarehouses = 1\nvirtual_users = 4\n\
                    [engine]\nkind = \"null\"\n";
        let study = validate(text, &[], &crate::catalogue::catalogue()).unwrap();
        let words = |words: &[&str]| Value::List(words.iter().map(|word| (*word).to_owned()).collect());
        let with = |settings: &[(&str, Value)]| {
            let mut study = study.clone();
            study.settings.0.extend(settings.iter().map(|(path, value)| ((*path).to_owned(), value.clone())));
            study
        };
        let blamed = |more: &[(&str, Value)]| {
            let one = with(&[&[(STANDBYS, Value::Integer(1)), (STANDBY_COMMAND, words(&["a"]))][..], more].concat());
            let own = [
                (STANDBYS, Value::Integer(2)),
                (STANDBY_COMMAND, words(&["b"])),
                (setting::AGENTS_LOAD, words(&["c"])),
            ];
            let told = expect_same_agents([&one, &with(&[&own[..], more].concat())], false).unwrap_err().to_string();
            OF_AGENTS.into_iter().filter(|path| told.contains(&format!("{path} ("))).collect::<Vec<_>>()
        };
        assert_eq!(blamed(&[]), [setting::AGENTS_LOAD]);
        let listed = [(STANDBY_HOSTS, words(&["b=10.0.0.2"])), (PRIMARY_ADDRESS, Value::Text("10.0.0.1".to_owned()))];
        assert_eq!(blamed(&listed), [STANDBY_COMMAND, setting::AGENTS_LOAD]);
        let namespaces = [(NETWORK, Value::Text("namespaces".to_owned()))];
        assert_eq!(blamed(&namespaces), [STANDBY_COMMAND, setting::AGENTS_LOAD, STANDBYS]);
        let (one, two) = (with(&[(STANDBYS, Value::Integer(1))]), with(&[(STANDBYS, Value::Integer(2))]));
        assert!(expect_same_agents([&one, &two], false).is_ok(), "standbys beside the primary have its agent");
        let both = [&one, &two].map(|study| {
            let mut study = study.clone();
            study.settings.0.insert(NETWORK.to_owned(), Value::Text("namespaces".to_owned()));
            study
        });
        assert!(expect_same_agents([&both[0], &both[1]], true).is_ok(), "each side of a duet has agents of its own");
        assert!(expect_same_agents([&both[0], &both[1]], false).is_err());
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

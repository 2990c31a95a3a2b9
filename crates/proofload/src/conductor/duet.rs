//! Two studies measured at once: each run beside its partner, each with agents, data and limits of its own, so that what neighbours take
//! hits both in the same second. Runs swap their cores from repetition to repetition.

use super::agents::Agents;
use super::heard::Heard;
use super::meeting::Meeting;
use super::run_context::RunContext;
use super::study::{self, Assignment, Commands, Outcome};
use super::turns::{Side, partners};
use crate::interrupt::Interrupt;
use crate::live::{Phase, RunEnd, SecondSeen, View};
use crate::run_times::PlannedRun;
use proofload_model::error::Error;
use proofload_model::plan::{Plan, Run};
use proofload_model::replication::instances_together;
use proofload_model::settings::setting;
use proofload_model::step_count::StepCount;
use proofload_model::time::Clock;
use std::sync::{Arc, Mutex, PoisonError};

/// A run, and how many cores of its partner come before its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DuetRun {
    pub(super) run: Run,
    pub(super) cores_before: u32,
}

/// Carries out all pairs of which a run is missing.
pub(crate) fn conduct_duet(
    sides: &mut [Side; 2],
    view: &mut dyn View,
    clock: &Arc<dyn Clock>,
    interrupt: &Interrupt,
) -> Result<Outcome, Error> {
    let pairs = pairs([&sides[0].assignment, &sides[1].assignment]);
    let shown_before = sides[0].assignment.plan.runs.len() as u32;
    let shown = Mutex::new(view);
    let outcomes = std::thread::scope(|scope| {
        let begin = |(number, (side, meeting)): (usize, (_, Meeting))| {
            let runs: Vec<DuetRun> = pairs.iter().map(|pair| pair[number]).collect();
            let (clock, interrupt) = (Arc::clone(clock), interrupt.clone());
            let before = if number == 0 { 0 } else { shown_before };
            let indexes = runs.iter().map(|of_pair| before + of_pair.run.index).collect();
            let mut view = SharedView::of(&shown, number == 0, indexes);
            scope.spawn(move || {
                let outcome = carry_out(side, &runs, meeting, (&mut view, before), (clock, interrupt));
                view.end(&outcome);
                outcome
            })
        };
        let threads: Vec<_> = sides.iter_mut().zip(Meeting::of_two()).enumerate().map(begin).collect();
        let ended = |thread: std::thread::ScopedJoinHandle<'_, Result<Outcome, Error>>| {
            thread
                .join()
                .unwrap_or_else(|_| Err(Error::new("one of the two studies ended because of a bug in Proofload")))
        };
        threads.into_iter().map(ended).collect::<Vec<_>>()
    });
    let mut worst = Outcome::Complete;
    for outcome in outcomes {
        worst = match (worst, outcome?) {
            (Outcome::Interrupted, _) | (_, Outcome::Interrupted) => Outcome::Interrupted,
            (Outcome::Complete, other) => other,
            (failed, _) => failed,
        };
    }
    Ok(worst)
}

/// One of the two studies to its end.
fn carry_out(
    side: &mut Side,
    runs: &[DuetRun],
    meeting: Meeting,
    (view, shown_before): (&mut dyn View, u32),
    (clock, interrupt): (Arc<dyn Clock>, Interrupt),
) -> Result<Outcome, Error> {
    let heard = Heard::new(&mut side.journal, view);
    let mut context = RunContext::new(Agents::new(clock, interrupt), heard, Some(meeting));
    context.heard.shown_before = shown_before;
    let outcome = measure(&mut side.assignment, &mut context, runs);
    context.meeting = None;
    context.agents.stop_load();
    context.agents.stop_hosts();
    match outcome {
        Err(error) if error.is_interrupted() => Ok(Outcome::Interrupted),
        other => other,
    }
}

fn measure(assignment: &mut Assignment, context: &mut RunContext<'_>, runs: &[DuetRun]) -> Result<Outcome, Error> {
    let commands = Commands::of(&assignment.study)?;
    study::start_hosts(context, &assignment.study, &commands)?;
    study::begin(assignment, context)?;
    let mut reasons = Vec::new();
    for (pair, DuetRun { run, cores_before }) in runs.iter().enumerate() {
        if let Some(meeting) = &mut context.meeting {
            meeting.prepare(pair);
        }
        reasons.extend(study::attempt_behind(assignment, context, &commands, (*run, *cores_before))?);
        let Some(meeting) = &context.meeting else { break };
        meeting.done();
        if meeting.is_alone() && pair + 1 < runs.len() {
            reasons.push("the other study ended before this one".to_owned());
            break;
        }
    }
    Ok(Outcome::of(&reasons))
}

/// The pairs of which a run is missing. The first study has the first cores in every other repetition.
fn pairs(assignments: [&Assignment; 2]) -> Vec<[DuetRun; 2]> {
    let plans = assignments.map(|assignment| &assignment.plan);
    let both = partners(plans).into_iter().filter_map(|(one, other)| Some([one?, other?]));
    let is_missing = |pair: &[Run; 2]| pair.iter().zip(assignments).any(|(run, of)| !of.finished.contains(&run.index));
    let placed = |pair: [Run; 2]| {
        let cores = [0, 1].map(|side| cores_of(assignments[side], plans[side], pair[side]));
        let swapped = pair[0].repetition % 2 == 1;
        let behind = |side: usize| if (side == 1) == swapped { 0 } else { cores[1 - side] };
        [0, 1].map(|side| DuetRun { run: pair[side], cores_before: behind(side) })
    };
    both.filter(is_missing).map(placed).collect()
}

/// Cores that a run is limited to; 0 where it is not, so that nobody comes behind it.
fn cores_of(assignment: &Assignment, plan: &Plan, run: Run) -> u32 {
    let settings = plan.settings(&assignment.study, run.point);
    settings.count(setting::LIMITS_CORES).unwrap_or(0) * instances_together(&settings)
}

/// One side's part of the view: runs of the first study go on as in any other, those of the other one beside them.
struct SharedView<'v, 'w> {
    shown: &'v Mutex<&'w mut dyn View>,
    leads: bool,
    /// Runs of this side, in their order.
    runs: Vec<u32>,
    /// The one of them that goes on, or that comes next: what is prepared before it is told of it.
    run: Option<u32>,
    /// Whether it was shown and has not ended.
    is_open: bool,
}

impl<'v, 'w> SharedView<'v, 'w> {
    /// The part of a side with these runs.
    fn of(shown: &'v Mutex<&'w mut dyn View>, leads: bool, runs: Vec<u32>) -> Self {
        let run = runs.first().copied();
        Self { shown, leads, runs, run, is_open: false }
    }

    /// Ends the run that was left open when its side came to an end, which the other side may outlive.
    fn end(&mut self, outcome: &Result<Outcome, Error>) {
        let Some(run) = self.run.filter(|_| self.is_open) else { return };
        let ended = match outcome {
            Ok(_) => RunEnd::Interrupted,
            Err(error) => RunEnd::Failed(error.to_string()),
        };
        self.end_run(run, &ended);
    }

    /// Shows something of both.
    fn show(&self, show: impl FnOnce(&mut dyn View)) {
        show(&mut **self.shown.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Shows something of the first study.
    fn lead(&self, show: impl FnOnce(&mut dyn View)) {
        if self.leads {
            self.show(show);
        }
    }
}

impl View for SharedView<'_, '_> {
    fn begin_run(&mut self, run: u32) {
        (self.run, self.is_open) = (Some(run), true);
        if self.leads {
            self.show(|view| view.begin_run(run));
        } else {
            self.show(|view| view.beside(run, Phase::Starting));
        }
    }

    fn planned(&mut self, _runs: &[PlannedRun]) {}

    fn phase(&mut self, phase: Phase) {
        if self.leads {
            self.show(|view| view.phase(phase));
        } else if let Some(run) = self.run {
            self.is_open = true;
            self.show(|view| view.beside(run, phase));
        }
    }

    fn progress(&mut self, what: &str, count: Option<StepCount>) {
        self.lead(|view| view.progress(what, count));
    }

    fn second(&mut self, second: &SecondSeen<'_>) {
        self.lead(|view| view.second(second));
    }

    fn note(&mut self, text: &str) {
        self.lead(|view| view.note(text));
    }

    fn end_run(&mut self, run: u32, ended: &RunEnd) {
        self.run = self.runs.iter().skip_while(|other| **other != run).nth(1).copied();
        self.is_open = false;
        if self.leads {
            self.show(|view| view.end_run(run, ended));
        } else {
            self.show(|view| view.end_beside(run, ended));
        }
    }

    fn beside(&mut self, _run: u32, _phase: Phase) {}
    fn end_beside(&mut self, _run: u32, _ended: &RunEnd) {}
    fn tick(&mut self) {}
    fn close(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A view that notes what it is told.
    #[derive(Default)]
    struct Noted(Vec<String>);

    impl View for Noted {
        fn begin_run(&mut self, run: u32) {
            self.0.push(format!("begin {run}"));
        }
        fn planned(&mut self, _runs: &[PlannedRun]) {}
        fn phase(&mut self, phase: Phase) {
            self.0.push(format!("{phase:?}"));
        }
        fn progress(&mut self, _what: &str, _count: Option<StepCount>) {}
        fn second(&mut self, _second: &SecondSeen<'_>) {}
        fn note(&mut self, _text: &str) {}
        fn end_run(&mut self, run: u32, ended: &RunEnd) {
            self.0.push(format!("end {run} {ended:?}"));
        }
        fn beside(&mut self, run: u32, phase: Phase) {
            self.0.push(format!("beside {run} {phase:?}"));
        }
        fn end_beside(&mut self, run: u32, ended: &RunEnd) {
            self.0.push(format!("end beside {run} {ended:?}"));
        }
        fn tick(&mut self) {}
        fn close(&mut self) {}
    }

    #[test]
    fn the_other_study_has_its_phases_beside_those_of_the_first() {
        let mut noted = Noted::default();
        let shown: Mutex<&mut dyn View> = Mutex::new(&mut noted);
        let mut first = SharedView::of(&shown, true, vec![0, 1]);
        let mut other = SharedView::of(&shown, false, vec![5, 6]);
        other.phase(Phase::Building);
        first.begin_run(0);
        other.begin_run(5);
        other.phase(Phase::Measuring);
        first.phase(Phase::Verifying);
        other.end_run(5, &RunEnd::Failed("it broke".to_owned()));
        first.end_run(0, &RunEnd::Interrupted);
        other.phase(Phase::WaitingForQuiet);
        other.begin_run(6);
        other.end_run(6, &RunEnd::Interrupted);
        other.phase(Phase::Stopping);
        let expected = [
            "beside 5 Building",
            "begin 0",
            "beside 5 Starting",
            "beside 5 Measuring",
            "Verifying",
            "end beside 5 Failed(\"it broke\")",
            "end 0 Interrupted",
            "beside 6 WaitingForQuiet",
            "beside 6 Starting",
            "end beside 6 Interrupted",
        ];
        assert_eq!(noted.0, expected);
    }

    #[test]
    fn a_run_that_its_side_left_open_ends_with_it() {
        let mut noted = Noted::default();
        let shown: Mutex<&mut dyn View> = Mutex::new(&mut noted);
        let side = |leads: bool, run: u32| SharedView::of(&shown, leads, vec![run, run + 1]);
        let mut other = side(false, 5);
        other.end(&Ok(Outcome::Interrupted));
        other.phase(Phase::Building);
        other.end(&Err(Error::new("no room")));
        other.end(&Ok(Outcome::Interrupted));
        let mut first = side(true, 0);
        first.phase(Phase::Building);
        first.end(&Ok(Outcome::Interrupted));
        first.begin_run(0);
        first.end(&Ok(Outcome::Interrupted));
        let expected =
            ["beside 5 Building", "end beside 5 Failed(\"no room\")", "Building", "begin 0", "end 0 Interrupted"];
        assert_eq!(noted.0, expected);
    }
}

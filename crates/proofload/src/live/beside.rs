//! A run that goes on beside the one that a view was told of last: the second of two studies that are measured at once. Pure.

use super::view::Phase;
use proofload_model::time::Moment;

/// The run, by its place among those of the view.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunBeside {
    pub(super) run: usize,
    pub(super) phase: Phase,
    pub(super) began: Moment,
    pub(super) phase_began: Moment,
    /// Whether this is its first phase.
    pub(super) is_new: bool,
}

impl RunBeside {
    /// A run that enters a phase now, after what was known of it.
    pub(super) fn entered(known: Option<Self>, run: u32, phase: Phase, now: Moment) -> Self {
        let run = run as usize;
        match known.filter(|known| known.run == run) {
            Some(known) => Self { phase, phase_began: now, is_new: false, ..known },
            None => Self { run, phase, began: now, phase_began: now, is_new: true },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::board::Board;
    use super::super::row::Standing;
    use super::super::view::{Program, RunEnd};
    use super::*;
    use crate::clock::SystemClock;
    use crate::run_times::{PlannedRun, RunTimes, Span};
    use std::sync::Arc;
    use std::time::Duration;

    fn planned(label: &str) -> PlannedRun {
        let times = RunTimes { span: Span::ZERO, phases: None, work: None, begins_measured: false };
        PlannedRun { label: label.to_owned(), times, around: Duration::ZERO, build: Duration::ZERO, is_beside: false }
    }

    #[test]
    fn two_runs_that_go_on_at_once_have_a_phase_each() {
        let runs = Vec::from(["A", "B"].map(|label| (planned(label), None)));
        let (whole, continued_by) = ("total", "nothing");
        let program = Program { name: "two studies", work: "operations", runs, most: 2, whole, continued_by };
        let mut board = Board::new(program, Arc::new(SystemClock));
        let phases = |board: &Board| {
            let phase = |standing: &Standing| match standing {
                Standing::Running(running) => Some((running.phase, running.attempt)),
                _ => None,
            };
            board.rows().iter().map(|row| phase(&row.standing)).collect::<Vec<_>>()
        };
        board.begin_run(0);
        board.beside(1, Phase::Starting);
        board.beside(1, Phase::WarmingUp);
        board.phase(Phase::Measuring);
        assert_eq!(phases(&board), [Some((Phase::Measuring, 1)), Some((Phase::WarmingUp, 1))]);
        board.end_beside(1, &RunEnd::Interrupted);
        assert_eq!(phases(&board), [Some((Phase::Measuring, 1)), None]);
        assert_eq!(board.rows()[1].standing, Standing::Ended(RunEnd::Interrupted));
    }
}

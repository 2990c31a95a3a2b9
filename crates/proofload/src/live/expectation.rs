//! How long a study still takes, by its plan and by what its finished runs took. Pure.

use crate::run_times::PlannedRun;
use std::time::Duration;

/// What is expected of each run, and how long those took that ended in this session.
#[derive(Debug, Clone)]
pub(crate) struct Expectation {
    runs: Vec<RunExpectation>,
    /// Runs that there can be; more than are known while a search goes on.
    most: usize,
}

#[derive(Debug, Clone, Copy)]
struct RunExpectation {
    /// Time under load; `None` where only its end tells.
    load: Option<Duration>,
    /// What comes before and after it.
    around: Duration,
    /// Building the data.
    build: Duration,
    /// How long it took, once it has ended in this session.
    took: Option<Duration>,
    /// Whether it adds no time, because another run goes on meanwhile.
    is_beside: bool,
    is_done: bool,
}

/// Time that is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeLeft {
    pub(crate) time: Duration,
    /// Whether it is the longest that a search takes, not the expected time.
    pub(crate) at_most: bool,
}

impl Expectation {
    /// What a plan says; runs that are done take no time.
    pub(crate) fn of<'r>(runs: impl IntoIterator<Item = (&'r PlannedRun, bool)>, most: usize) -> Self {
        let mut expectation = Self { runs: Vec::new(), most };
        expectation.extend(runs);
        expectation
    }

    /// Adds runs.
    pub(crate) fn extend<'r>(&mut self, runs: impl IntoIterator<Item = (&'r PlannedRun, bool)>) {
        let expected = |(run, is_done): (&PlannedRun, bool)| RunExpectation {
            load: run.times.expected(),
            around: run.around,
            build: run.build,
            took: None,
            is_beside: run.is_beside,
            is_done,
        };
        self.runs.extend(runs.into_iter().map(expected));
    }

    /// Notes that a run begins, again.
    pub(crate) fn begin(&mut self, run: usize) {
        if let Some(run) = self.runs.get_mut(run) {
            run.is_done = false;
        }
    }

    /// Notes how long a run took.
    pub(crate) fn end(&mut self, run: usize, took: Duration) {
        if let Some(run) = self.runs.get_mut(run) {
            (run.took, run.is_done) = (Some(took), true);
        }
    }

    /// Notes that the study has ended: a search that ended adds no more runs.
    pub(crate) fn end_study(&mut self) {
        if self.runs.iter().all(|run| run.is_done) {
            self.most = self.runs.len();
        }
    }

    /// Runs that are done, and all that there can be.
    pub(crate) fn count(&self) -> (usize, usize) {
        (self.runs.iter().filter(|run| run.is_done).count(), self.most.max(self.runs.len()))
    }

    /// What is left after the running run has gone on for so long; `None` while nothing tells.
    pub(crate) fn left(&self, running: Option<(usize, Duration)>) -> Option<TimeLeft> {
        let learned = LearnedTimes::of(&self.runs);
        let mut time = Duration::ZERO;
        for (index, run) in self.runs.iter().enumerate().filter(|(_, run)| !run.is_done && !run.is_beside) {
            let gone = running.filter(|(running, _)| *running == index).map_or(Duration::ZERO, |(_, gone)| gone);
            time += learned.expected(run)?.saturating_sub(gone);
        }
        let open = self.most.saturating_sub(self.runs.len());
        if open > 0 {
            let longest = self.runs.iter().filter_map(|run| learned.expected(run)).max()?;
            time += longest.saturating_mul(u32::try_from(open).unwrap_or(u32::MAX));
        }
        Some(TimeLeft { time, at_most: open > 0 })
    }
}

/// Mean times of the runs that have ended, found once for all that are expected.
#[derive(Debug, Clone, Copy)]
struct LearnedTimes {
    /// What came before and after the load of runs that built no data.
    around: Option<Duration>,
    /// Time from the begin of a run to its end.
    took: Option<Duration>,
}

impl LearnedTimes {
    fn of<'r>(runs: impl IntoIterator<Item = &'r RunExpectation>) -> Self {
        let (mut around, mut all) = (MeanDuration::default(), MeanDuration::default());
        for run in runs {
            let Some(took) = run.took else { continue };
            all.add(took);
            if let Some(load) = run.load.filter(|_| run.build.is_zero()) {
                around.add(took.saturating_sub(load));
            }
        }
        Self { around: around.value(), took: all.value() }
    }

    fn expected(&self, run: &RunExpectation) -> Option<Duration> {
        match run.load {
            Some(load) => Some(load + self.around.unwrap_or(run.around) + run.build),
            None => self.took,
        }
    }
}

/// Mean of durations that come one after the other.
#[derive(Debug, Clone, Copy, Default)]
struct MeanDuration {
    sum: Duration,
    count: u32,
}

impl MeanDuration {
    fn add(&mut self, value: Duration) {
        self.sum += value;
        self.count += 1;
    }

    fn value(self) -> Option<Duration> {
        self.sum.checked_div(self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_times::{Phases, RunTimes, Span};

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn planned(load: Option<u64>, build: u64) -> PlannedRun {
        let span = |time| Span { at_least: time, at_most: Some(time) };
        let phases = load.map(|load| Phases { warm_up: Span::ZERO, measure: span(seconds(load)), drill: Span::ZERO });
        let times = RunTimes { span: Span::ZERO, phases, work: None, begins_measured: false };
        PlannedRun { label: String::new(), times, around: seconds(7), build: seconds(build), is_beside: false }
    }

    fn left(expectation: &Expectation, running: Option<(usize, u64)>) -> Option<u64> {
        expectation.left(running.map(|(run, gone)| (run, seconds(gone)))).map(|left| left.time.as_secs())
    }

    #[test]
    fn what_is_left_is_known_from_the_first_second_and_learns_from_runs_that_ended() {
        let runs = [planned(Some(20), 30), planned(Some(20), 0), planned(Some(40), 0)];
        let mut found = Expectation::of(runs.iter().map(|run| (run, false)), 3);
        assert_eq!((left(&found, None), found.count()), (Some(30 + 80 + 21), (0, 3)));
        assert_eq!(left(&found, Some((0, 10))), Some(121));
        assert_eq!(left(&found, Some((0, 500))), Some(74), "a run that takes longer leaves the others");
        found.end(0, seconds(60));
        assert_eq!(left(&found, None), Some(74), "a run that built its data tells nothing of the others");
        found.end(1, seconds(24));
        assert_eq!(left(&found, None), Some(44));
        found.begin(1);
        assert_eq!((left(&found, Some((1, 4))), found.count()), (Some(20 + 44), (1, 3)));
    }

    #[test]
    fn of_two_runs_at_once_one_takes_time() {
        let runs = [planned(Some(20), 0), PlannedRun { is_beside: true, ..planned(Some(20), 0) }];
        let found = Expectation::of(runs.iter().map(|run| (run, false)), 2);
        assert_eq!((left(&found, None), found.count()), (Some(27), (0, 2)));
    }

    #[test]
    fn runs_that_end_by_their_work_take_as_long_as_those_before() {
        let runs = [planned(None, 0), planned(None, 0)];
        let mut found = Expectation::of(runs.iter().map(|run| (run, false)), 2);
        assert_eq!(left(&found, None), None);
        found.end(0, seconds(50));
        assert_eq!(left(&found, Some((1, 20))), Some(30));
    }

    #[test]
    fn what_ended_runs_took_is_looked_at_once_whatever_is_expected() {
        let mut found = Expectation::of(std::iter::repeat_n((&planned(Some(20), 0), false), 1000), 1000);
        found.end(0, seconds(30));
        let mut looked_at = 0;
        let learned = LearnedTimes::of(found.runs.iter().inspect(|_| looked_at += 1));
        let expected = found.runs.iter().filter_map(|run| learned.expected(run)).sum::<Duration>();
        assert_eq!((expected, looked_at), (seconds(1000 * 30), 1000));
        assert_eq!(left(&found, None), Some(999 * 30));
    }

    #[test]
    fn a_search_tells_the_longest_that_it_takes() {
        let run = planned(Some(13), 0);
        let found = Expectation::of([(&run, true)], 4);
        assert_eq!(found.left(None), Some(TimeLeft { time: seconds(60), at_most: true }));
    }
}

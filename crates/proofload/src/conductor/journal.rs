//! The record as the conductor writes it: every row with its time, committed once per interval. May not decide anything.

use proofload_model::deployment::InstanceName;
use proofload_model::error::Error;
use proofload_model::events::RunEvent;
use proofload_model::log_level::LogLevel;
use proofload_model::plan::Plan;
use proofload_model::samples::{AgentHistogram, AgentSecond, Check, Fact, IntervalSample, Mark, MarkLabel, Telemetry};
use proofload_model::settings::Settings;
use proofload_model::time::{Clock, Moment, Offset};
use proofload_record::{Attempt, AttemptEvent, AttemptId, Follower, GrowingRecord, LogLine, Record, Recorder, State};
use std::sync::Arc;

/// A recorder with a clock, and the attempt that is going on.
pub(crate) struct Journal {
    recorder: Recorder,
    clock: Arc<dyn Clock>,
    attempt: Option<AttemptId>,
    /// The attempt that finished last.
    last_finished: Option<AttemptId>,
    /// The attempt's time zero by our clock, once there is one.
    origin: Option<Moment>,
    /// The record as it was read back for one attempt or some, from where they begin.
    progress: Follower,
    /// The record as it was read back and proved whole, kept for what is newer.
    grown: GrowingRecord,
}

impl Journal {
    pub(crate) fn new(recorder: Recorder, clock: Arc<dyn Clock>) -> Self {
        let (progress, grown) = (Follower::new(recorder.path()), GrowingRecord::new(recorder.path()));
        Self { recorder, clock, attempt: None, last_finished: None, origin: None, progress, grown }
    }

    /// The attempt that is going on.
    fn current(&self) -> Result<AttemptId, Error> {
        self.attempt.ok_or_else(|| Error::new("samples arrived while no run was active"))
    }

    pub(crate) fn begin(&mut self, run_index: u32) -> Result<(), Error> {
        self.recorder.commit()?;
        // Rows of this attempt are read back from here on.
        self.progress.look(&|_| false)?;
        self.attempt = Some(self.recorder.begin_attempt(run_index, self.clock.wall())?);
        self.origin = None;
        Ok(self.recorder.commit()?)
    }

    /// Sets time zero of the attempt: its later events carry their offset from it, which ties it to the wall clock.
    pub(crate) fn time_zero(&mut self, origin: Option<Moment>) {
        self.origin = origin;
    }

    /// Writes an event of the attempt, or of the study while there is no attempt.
    pub(crate) fn event(&mut self, event: RunEvent) -> Result<(), Error> {
        self.event_of(&InstanceName::default(), event)
    }

    /// Writes an event of one instance.
    pub(crate) fn event_of(&mut self, instance: &InstanceName, event: RunEvent) -> Result<(), Error> {
        let offset = self.origin.filter(|_| self.attempt.is_some()).map(|origin| self.clock.now().offset_from(origin));
        let instance = instance.clone();
        let event = AttemptEvent { offset, instance, ..AttemptEvent::new(self.clock.wall(), event) };
        self.recorder.event(self.attempt, &event)?;
        Ok(self.recorder.commit()?)
    }

    /// Writes an event that holds beyond the attempt.
    pub(crate) fn study_event(&mut self, event: RunEvent) -> Result<(), Error> {
        self.recorder.event(None, &AttemptEvent::new(self.clock.wall(), event))?;
        Ok(self.recorder.commit()?)
    }

    /// Writes what a search chose, its events and the plan as it is now, in one commit.
    pub(crate) fn search(&mut self, plan: Option<&Plan>, events: Vec<RunEvent>) -> Result<(), Error> {
        for event in events {
            self.recorder.event(None, &AttemptEvent::new(self.clock.wall(), event))?;
        }
        if let Some(plan) = plan {
            self.recorder.plan(self.clock.wall(), plan)?;
        }
        Ok(self.recorder.commit()?)
    }

    /// The record as a reader finds it now. What was read and proved before is not read again.
    pub(crate) fn read_back(&mut self) -> Result<Arc<Record>, Error> {
        self.recorder.commit()?;
        Ok(self.grown.look()?)
    }

    /// The same for the last time: nothing of it is kept.
    pub(crate) fn read_back_last(&mut self) -> Result<Arc<Record>, Error> {
        let record = self.read_back();
        self.grown = GrowingRecord::new(self.recorder.path());
        record
    }

    /// The last finished attempt at a run as a reader finds it now; `None` when there is none.
    pub(crate) fn read_back_run(&mut self, run_index: u32) -> Result<Option<(Attempt, Settings)>, Error> {
        self.recorder.commit()?;
        let last = self.last_finished;
        let is_wanted = |attempt: &Attempt| attempt.run.index == run_index && Some(AttemptId(attempt.id)) == last;
        let record = self.progress.look(&is_wanted)?;
        let settings = |attempt: &Attempt| record.plan.settings(&record.study, attempt.run.point);
        Ok(record.finished(run_index).map(|attempt| (attempt.clone(), settings(attempt))))
    }

    pub(crate) fn facts(&mut self, facts: &[Fact]) -> Result<(), Error> {
        Ok(self.recorder.facts(self.attempt, facts)?)
    }

    pub(crate) fn document(&mut self, name: &str, body: &str) -> Result<(), Error> {
        Ok(self.recorder.document(self.clock.wall(), name, body)?)
    }

    /// Writes a document that belongs to the attempt.
    pub(crate) fn document_of_run(&mut self, name: &str, body: &str) -> Result<(), Error> {
        let attempt = self.current()?;
        self.document(&format!("attempt-{}/{name}", attempt.0), body)
    }

    /// Writes one second of load, and what each of several agents did in it; committed before it counts.
    pub(crate) fn interval(&mut self, sample: &IntervalSample, agents: &[AgentSecond]) -> Result<(), Error> {
        let attempt = self.current()?;
        self.recorder.interval(attempt, sample)?;
        for second in agents {
            self.recorder.agent_second(attempt, second)?;
        }
        Ok(self.recorder.commit()?)
    }

    /// The latencies of several load agents over the window.
    pub(crate) fn of_agents(&mut self, histograms: &[AgentHistogram]) -> Result<(), Error> {
        let attempt = self.current()?;
        for histogram in histograms {
            self.recorder.agent_histogram(attempt, histogram)?;
        }
        Ok(())
    }

    pub(crate) fn telemetry(&mut self, at: Offset, telemetry: &Telemetry) -> Result<(), Error> {
        let attempt = self.current()?;
        Ok(self.recorder.telemetry(attempt, at, telemetry)?)
    }

    pub(crate) fn mark(&mut self, label: MarkLabel, mark: &Mark) -> Result<(), Error> {
        let attempt = self.current()?;
        Ok(self.recorder.mark(attempt, label, mark)?)
    }

    pub(crate) fn checks(&mut self, checks: &[Check]) -> Result<(), Error> {
        let attempt = self.current()?;
        Ok(self.recorder.checks(attempt, checks)?)
    }

    pub(crate) fn log(&mut self, level: LogLevel, source: &str, text: &str) -> Result<(), Error> {
        let line = LogLine {
            attempt: self.attempt.map(|attempt| attempt.0),
            at: self.clock.wall(),
            level,
            source: source.to_owned(),
            instance: InstanceName::default(),
            text: text.to_owned(),
        };
        Ok(self.recorder.log(&line)?)
    }

    /// Marks the attempt as finished.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        let attempt = self.current()?;
        self.attempt = None;
        self.last_finished = Some(attempt);
        Ok(self.recorder.finish(attempt, self.clock.wall())?)
    }

    /// The attempt that finished a run; `None` when there is none.
    pub(crate) fn read_finished(&mut self, run_index: u32) -> Result<Option<(Attempt, Settings)>, Error> {
        let is_wanted = |attempt: &Attempt| attempt.run.index == run_index && attempt.state == State::Finished;
        let record = self.progress.look(&is_wanted)?;
        let settings = |attempt: &Attempt| record.plan.settings(&record.study, attempt.run.point);
        Ok(record.finished(run_index).map(|attempt| (attempt.clone(), settings(attempt))))
    }

    /// Ends an attempt that was an experiment with its point.
    pub(crate) fn end_experiment(&mut self) -> Result<(), Error> {
        let attempt = self.current()?;
        self.attempt = None;
        Ok(self.recorder.end_experiment(attempt)?)
    }

    /// The record as far as experiments with a point need it: all rows of those.
    pub(crate) fn read_experiments(&mut self, point: u32) -> Result<&Record, Error> {
        self.recorder.commit()?;
        let is_wanted = |attempt: &Attempt| attempt.run.point == point && attempt.is_experiment();
        Ok(self.progress.look(&is_wanted)?)
    }

    /// Marks the attempt as failed, with the kind of its error; `resume` tries its run again.
    pub(crate) fn fail(&mut self, error: &Error) -> Result<(), Error> {
        self.event(RunEvent::FailedAs(error.kind()))?;
        let reason = error.to_string();
        match self.attempt.take() {
            Some(attempt) => Ok(self.recorder.fail(attempt, self.clock.wall(), &reason)?),
            None => self.event(RunEvent::Failed(reason)),
        }
    }

    /// Folds the write-ahead log in, so that the record is one file.
    pub(crate) fn close(self) -> Result<(), Error> {
        Ok(self.recorder.close()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;
    use proofload_model::intervention::{ConfirmAsked, Experiment};
    use proofload_model::plan::expand;
    use proofload_model::settings::Value;
    use proofload_model::study::Study;
    use proofload_model::time::WallTime;
    use proofload_record::Opening;
    use std::collections::BTreeMap;

    /// Begins an attempt at the only run that has one fact.
    fn begin(journal: &mut Journal) {
        journal.begin(0).expect("it begins");
        journal.facts(&[Fact::observed("host", "cores", "2", "test")]).expect("a fact fits");
    }

    #[test]
    fn what_was_written_is_read_back_whole_however_often_and_in_whatever_order() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("x.proof");
        let settings = Settings([("study.name".to_owned(), Value::Text("toy".to_owned()))].into());
        let study = Study { settings, factors: Vec::new() };
        let plan = expand(&study);
        let opening = Opening { study_text: "", study: &study, plan: &plan, program: "test", at: WallTime(1) };
        let recorder = Recorder::create(&path, &opening).expect("an empty folder takes a record");
        let mut journal = Journal::new(recorder, Arc::new(SystemClock));
        for number in 1..=3 {
            begin(&mut journal);
            journal.finish().expect("it ends");
            let (attempt, _) = journal.read_back_run(0).expect("it is read").expect("it has finished");
            assert_eq!((attempt.id, attempt.facts.len()), (number, 1));
            let record = journal.read_back().expect("it is read");
            let proved = |attempt: &Attempt| attempt.facts.len() == 1 && attempt.seal_holds == Some(true);
            assert_eq!(record.attempts.iter().filter(|attempt| proved(attempt)).count() as i64, number);
        }
        for number in 1..=2 {
            begin(&mut journal);
            let (asked, resources, not_tried) = (ConfirmAsked::USUAL, Vec::new(), BTreeMap::new());
            let experiment = Experiment { asked, seed: 1, resources, not_tried };
            journal.event(RunEvent::ExperimentBegun(experiment)).expect("an event fits");
            for _ in 0..2 {
                let experiments = &journal.read_experiments(0).expect("it is read").experiments;
                assert_eq!(experiments.iter().filter(|attempt| attempt.facts.len() == 1).count(), number);
            }
            journal.end_experiment().expect("it ends");
            let (attempt, _) = journal.read_finished(0).expect("it is read").expect("a run has finished");
            assert_eq!((attempt.id, attempt.facts.len()), (3, 1));
        }
        let record = journal.read_back_last().expect("it is read");
        assert_eq!((record.attempts.len(), record.experiments.len(), record.faults.len()), (3, 2, 0));
        journal.close().expect("the record closes");
    }
}

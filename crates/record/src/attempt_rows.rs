//! Rows of attempts, each table read by one scan whatever their number. May not open files.

use crate::agents::{self, AgentRows};
use crate::compat::Format;
use crate::content::{Attempt, AttemptEvent, SeriesPoint};
use crate::rows::{self, Owned, RowChoice, sampled};
use crate::samples::{self, Samples};
use proofload_model::samples::{Check, Fact, IntervalSample, Mark};
use rusqlite::Connection;
use std::collections::{HashMap, HashSet};

/// Everything that tables hold of attempts besides their events.
pub(crate) struct AttemptRows {
    facts: Owned<Fact>,
    intervals: HashMap<i64, Vec<IntervalSample>>,
    agents: HashMap<i64, AgentRows>,
    series: Owned<(i64, SeriesPoint)>,
    samples: Samples,
    marks: Owned<(String, Mark)>,
    checks: Owned<Check>,
}

impl AttemptRows {
    /// Reads the rows of those that are wanted.
    pub(crate) fn read(connection: &Connection, format: Format, choice: RowChoice<'_>) -> rusqlite::Result<Self> {
        let series = rows::series(connection, format, choice)?;
        let known: HashSet<i64> = series.values().flatten().map(|(number, _)| *number).collect();
        Ok(Self {
            facts: rows::facts(connection, format, choice)?,
            intervals: rows::intervals(connection, format, choice)?,
            agents: agents::read(connection, format, choice)?,
            samples: samples::samples(connection, format, &|number| known.contains(&number), choice.after)?,
            series,
            marks: rows::marks(connection, choice)?,
            checks: rows::checks(connection, choice)?,
        })
    }

    /// Gives an attempt what is its own; the numbers of its series, in their order.
    pub(crate) fn fill(&mut self, attempt: &mut Attempt) -> Vec<i64> {
        let owner = Some(attempt.id);
        let series = self.series.remove(&owner).unwrap_or_default();
        let numbers = series.iter().map(|(number, _)| *number).collect();
        attempt.facts = self.facts.remove(&owner).unwrap_or_default();
        attempt.intervals = self.intervals.remove(&attempt.id).unwrap_or_default();
        attempt.agents = self.agents.remove(&attempt.id).unwrap_or_default();
        attempt.series = sampled(series, &mut self.samples);
        attempt.marks = self.marks.remove(&owner).unwrap_or_default();
        attempt.checks = self.checks.remove(&owner).unwrap_or_default();
        numbers
    }

    /// Facts of the study as a whole.
    pub(crate) fn of_study(&mut self) -> Vec<Fact> {
        self.facts.remove(&None).unwrap_or_default()
    }
}

/// Gives attempts their events, and how they stand; those of the study.
pub(crate) fn tell_events(
    connection: &Connection,
    format: Format,
    attempts: &mut [Attempt],
    choice: RowChoice<'_>,
) -> rusqlite::Result<Vec<AttemptEvent>> {
    let mut events = rows::events(connection, format, choice)?;
    for attempt in attempts {
        attempt.events = events.remove(&Some(attempt.id)).unwrap_or_default();
        attempt.state = rows::state(&attempt.events);
    }
    Ok(events.remove(&None).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use crate::rows::ROWS_READ;
    use crate::{Opening, Recorder, read, read_progress};
    use proofload_model::deployment::InstanceName;
    use proofload_model::plan::expand;
    use proofload_model::samples::{
        ClientSelf, Fact, HistogramDelta, IntervalSample, LatencyClock, OperationCounts, Reading, Telemetry,
    };
    use proofload_model::settings::{Settings, Value};
    use proofload_model::study::{Factor, Study};
    use proofload_model::time::{Moment, Offset, WallTime};
    use std::path::Path;

    /// Points of the record, each with one run of two seconds.
    const POINTS: i64 = 40;

    fn write(path: &Path) {
        let levels = (1..=POINTS).map(Value::Integer).collect();
        let settings = Settings([("study.name".to_owned(), Value::Text("toy".to_owned()))].into());
        let study = Study { settings, factors: vec![Factor { setting: "limits.cores".to_owned(), levels }] };
        let plan = expand(&study);
        let opening = Opening { study_text: "", study: &study, plan: &plan, program: "test", at: WallTime(1) };
        let mut recorder = Recorder::create(path, &opening).expect("an empty folder takes a record");
        for run in &plan.runs {
            let attempt = recorder.begin_attempt(run.index, WallTime(2)).expect("it begins");
            recorder.facts(Some(attempt), &[Fact::observed("host", "cores", "2", "test")]).expect("a fact fits");
            for number in 0..2 {
                recorder.interval(attempt, &second(number)).expect("a second fits");
                let reading = Reading { name: "busy".into(), component: "0".into(), unit: "%".into(), value: 1.0 };
                let telemetry = Telemetry {
                    instance: InstanceName::default(),
                    probe: "cores".to_owned(),
                    moment: Moment(0),
                    span_ns: 1,
                    readings: vec![reading],
                };
                recorder.telemetry(attempt, Offset(number as i64), &telemetry).expect("readings fit");
            }
            recorder.finish(attempt, WallTime(3)).expect("it ends");
        }
        recorder.close().expect("the record closes");
    }

    fn second(index: u64) -> IntervalSample {
        let (kind, clock) = ("read".to_owned(), LatencyClock::Response);
        let part = HistogramDelta { kind: kind.clone(), clock, count: 1, sum_ns: 1, max_ns: 1, payload: vec![1] };
        let counts = OperationCounts { kind, due: 1, done: 1, ..OperationCounts::default() };
        let client = ClientSelf::default();
        IntervalSample { index, counts: vec![counts], histograms: vec![part], errors: vec![], client, engine: vec![] }
    }

    #[test]
    fn a_row_is_read_once_whatever_the_number_of_attempts() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("x.proof");
        write(&path);
        let rows = |work: &dyn Fn()| {
            let before = ROWS_READ.get();
            work();
            ROWS_READ.get() - before
        };
        let whole = rows(&|| {
            let record = read(&path).expect("it is read");
            assert!(record.attempts.iter().all(|attempt| attempt.intervals[1].histograms.len() == 1));
            assert!(record.attempts.iter().all(|attempt| attempt.series[0].samples.len() == 2));
        });
        // Of each attempt one event, one fact, two seconds with their counts and histograms, one series with two samples. Layouts are not counted.
        assert_eq!(whole, POINTS as u64 * (1 + 1 + 3 * 2 + 1 + 2));
        let none = rows(&|| drop(read_progress(&path, &|_| false).expect("it is read")));
        assert_eq!(none, POINTS as u64, "only events");
    }
}

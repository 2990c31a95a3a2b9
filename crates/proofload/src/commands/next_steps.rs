//! What to do with void points, in the same words at the end of a study and in `status`: a remedy for each class of reasons, and the command that
//! measures again what the host alone spoilt, with the time that it takes.

use super::verdict::counted;
use crate::run_times::planned_runs;
use proofload_model::events::RunEvent;
use proofload_model::units::duration_words;
use proofload_record::Record;
use proofload_report::findings::{Findings, RunFindings, Verdict, Void, VoidClass, is_mendable};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// The way out on a host that never is quiet. A setting makes another study, so that it needs a record of its own.
const LESS_CPU: &str = "proofload run STUDY.toml --set limits.cpu=N -o NEW.proof   makes a new record, with less CPU than the host always has";

/// What continues two studies that are measured with each other.
const SAME_COMMAND: &str = "the same proofload compare --run … or gate --run …";

/// Next steps after a study with void points.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct NextSteps {
    /// Classes of the reasons, the gravest first.
    classes: BTreeSet<VoidClass>,
    /// Points that `resume --void` measures again.
    again: usize,
    /// How long that takes, about; `None` where neither the plan nor an attempt tells.
    takes: Option<Duration>,
    /// Whether the study was measured with another one, which would not be measured again.
    has_partner: bool,
}

impl NextSteps {
    /// Finds them.
    pub(super) fn of(record: &Record, findings: &Findings<'_>) -> Self {
        let classes = findings.points.iter().flat_map(|point| reasons_of(&point.verdict)).map(|reason| reason.class);
        let again: Vec<_> = findings.points.iter().filter(|point| is_mendable(reasons_of(&point.verdict))).collect();
        let runs = again.iter().flat_map(|point| &point.runs).filter(|run| !run.voids.is_empty());
        let takes = time_of(record, runs);
        Self { classes: classes.collect(), again: again.len(), takes, has_partner: partner(record).is_some() }
    }

    /// One line each.
    pub(super) fn lines(&self, path: &Path) -> Vec<String> {
        let mut lines: Vec<String> = self.classes.iter().map(|class| class.remedy().to_owned()).collect();
        if self.again > 0 {
            let takes = self.takes.map(|time| format!(", about {}", duration_words(time))).unwrap_or_default();
            let alone =
                if self.has_partner { "; without the partners of their runs, which leave the comparison" } else { "" };
            let points = counted(self.again, "void point");
            lines.push(format!("{}   measures {points} again{takes}{alone}", command(path)));
            lines.push(format!("{}   does so once the host is quiet, after 2 h each at most", waiting(path)));
            lines.push(LESS_CPU.to_owned());
        }
        lines
    }

    /// Steps as JSON, one for each class.
    pub(super) fn json(&self, path: &Path) -> Json {
        let step = |class: &VoidClass| {
            let is_command = *class == VoidClass::Host && self.again > 0;
            json!({
                "class": class.word(), "remedy": class.remedy(), "command": is_command.then(|| command(path)),
                "wait_command": is_command.then(|| waiting(path)),
                "takes_s": self.takes.filter(|_| is_command).map(|time| time.as_secs()),
            })
        };
        self.classes.iter().map(step).collect()
    }
}

/// Name of the study that a study was measured with, in turns or at once; `None` where it was measured alone.
fn partner(record: &Record) -> Option<&str> {
    record.events.iter().find_map(|event| match &event.event {
        RunEvent::InTurns { with, .. } => Some(with.as_str()),
        _ => None,
    })
}

/// How a record is continued that lacks runs.
pub(super) fn way_on(record: &Record, path: &Path) -> String {
    match partner(record) {
        None => format!("continue with: proofload resume {}", path.display()),
        Some(partner) => {
            format!("continue with: {SAME_COMMAND}; resume measures it without its partner, the study {partner}")
        }
    }
}

/// What is said when a record is resumed that was measured with another one; `None` where it was measured alone.
pub(super) fn without_partner(record: &Record) -> Option<String> {
    let partner = partner(record)?;
    Some(format!(
        "measuring without the partner, the study {partner}: the runs of this session have no pair in the comparison; to measure both: \
         {SAME_COMMAND}"
    ))
}

fn command(path: &Path) -> String {
    format!("proofload resume {} --void", path.display())
}

/// The same that waits before each run.
fn waiting(path: &Path) -> String {
    format!("{} --wait 2h", command(path))
}

/// Planned time of runs, without building data; of one that ends by its work, as long as it took.
fn time_of<'r>(record: &Record, runs: impl Iterator<Item = &'r RunFindings>) -> Option<Duration> {
    let planned = planned_runs(&record.study, &record.plan);
    let took = |id: i64| {
        let attempt = record.attempts.iter().find(|attempt| attempt.id == id)?;
        let ended = attempt.events.last()?.at.0;
        u64::try_from(ended - attempt.started.0).ok().map(Duration::from_micros)
    };
    let time = |run: &RunFindings| {
        let planned = planned.get(run.run.index as usize)?;
        planned.times.expected().map(|load| load + planned.around).or_else(|| took(run.attempt))
    };
    runs.map(time).sum()
}

/// Reasons of a void point; none of others.
fn reasons_of(verdict: &Verdict) -> &[Void] {
    match verdict {
        Verdict::Void(reasons) => reasons,
        Verdict::Valid | Verdict::Wide | Verdict::NotRun(_) => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_record::AttemptEvent;
    use proofload_report::findings::evaluate;

    fn path() -> &'static Path {
        Path::new("x.proof")
    }

    #[test]
    fn steps_have_a_remedy_each_and_the_command_its_time() {
        let classes = BTreeSet::from([VoidClass::Host, VoidClass::NotSteady]);
        let steps = NextSteps { classes, again: 2, takes: Some(Duration::from_secs(300)), has_partner: false };
        let lines = steps.lines(path());
        assert_eq!(lines[..2], [VoidClass::Host, VoidClass::NotSteady].map(VoidClass::remedy));
        assert_eq!(lines[2], "proofload resume x.proof --void   measures 2 void points again, about 5 min");
        let waiting = "proofload resume x.proof --void --wait 2h";
        assert!(lines[3].starts_with(waiting) && lines[4].contains("--set limits.cpu=N -o NEW.proof"), "{lines:?}");
        let json = steps.json(path());
        assert_eq!((&json[0]["wait_command"], &json[1]["wait_command"]), (&waiting.into(), &Json::Null));
        assert_eq!((&json[0]["class"], &json[0]["takes_s"]), (&"host".into(), &300.into()));
        assert_eq!(json[0]["command"], "proofload resume x.proof --void");
        assert_eq!((&json[1]["class"], &json[1]["command"]), (&"settling".into(), &Json::Null));
        let partner = NextSteps { has_partner: true, ..steps }.lines(path());
        assert!(partner[2].ends_with("which leave the comparison"), "{partner:?}");
    }

    #[test]
    fn a_study_without_void_points_has_no_step() {
        let steps = NextSteps::default();
        assert_eq!((steps.lines(path()), steps.json(path())), (Vec::new(), json!([])));
    }

    /// Resumed alone, one of two studies breaks their pairs.
    #[test]
    fn a_record_that_has_a_partner_is_continued_with_it() {
        let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/records/format-3-memory.proof");
        let mut record = proofload_record::read(Path::new(stored)).expect("the record is read");
        assert_eq!(way_on(&record, path()), "continue with: proofload resume x.proof");
        assert_eq!(without_partner(&record), None);
        let in_turns = RunEvent::InTurns { with: "other".to_owned(), token: "token".to_owned(), at_once: false };
        record.events.push(AttemptEvent::new(record.created, in_turns));
        let way = way_on(&record, path());
        assert!(way.starts_with("continue with: the same proofload compare --run"), "{way}");
        assert!(!way.contains("proofload resume x.proof"), "{way}");
        let note = without_partner(&record).expect("it has a partner");
        assert!(note.contains("without the partner, the study other") && note.contains("compare --run"), "{note}");
    }

    /// The time is the plan's, for the void runs alone.
    #[test]
    fn void_runs_take_the_time_that_the_plan_says() {
        let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/records/format-3-memory.proof");
        let record = proofload_record::read(Path::new(stored)).expect("the record is read");
        let findings = evaluate(&record);
        let runs = || findings.points.iter().flat_map(|point| &point.runs);
        assert!(runs().count() > 0);
        let planned = planned_runs(&record.study, &record.plan);
        let one = runs().next().map(|run| &planned[run.run.index as usize]).expect("there is one");
        let expected = one.times.expected().map(|load| load + one.around);
        assert!(expected.is_some());
        assert_eq!(time_of(&record, runs().take(1)), expected);
        assert_eq!(time_of(&record, runs().take(0)), Some(Duration::ZERO));
    }
}

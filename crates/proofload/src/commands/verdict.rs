//! What a finished study came to, for scripts: the exit code and its causes. What voids a point is decided by `report::findings`; here it
//! only gets its number.

use crate::exit::Exit;
pub(crate) use proofload_model::units::counted;
use proofload_record::Record;
use proofload_report::findings::{Findings, PointFindings, Verdict, VoidClass, evaluate};
use serde_json::{Map, Value as Json, json};

/// Points and searches of a study by what became of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StudyResult {
    points: usize,
    valid: usize,
    not_run: usize,
    /// Void points by the gravest class of their reasons, in the order of [`VoidClass::ALL`].
    void: [usize; VoidClass::ALL.len()],
    /// Void points of a search whose load was measured again with a valid result; they change no code.
    measured_anew: usize,
    searches_without_answer: usize,
}

impl StudyResult {
    /// Counts what there is to count.
    pub(crate) fn of(findings: &Findings<'_>) -> Self {
        let unanswered = findings.searches.iter().filter(|search| search.found().is_none());
        let mut result = Self { searches_without_answer: unanswered.count(), ..Self::default() };
        for point in &findings.points {
            result.points += 1;
            match &point.verdict {
                Verdict::Valid | Verdict::Wide => result.valid += 1,
                _ if measured_anew(findings, point) => result.measured_anew += 1,
                Verdict::NotRun(_) => result.not_run += 1,
                Verdict::Void(reasons) => {
                    let class = reasons.iter().map(|reason| reason.class).min().unwrap_or(VoidClass::Verification);
                    result.void[class as usize] += 1;
                }
            }
        }
        result
    }

    /// The same of a record.
    pub(crate) fn of_record(record: &Record) -> Self {
        Self::of(&evaluate(record))
    }

    /// The exit code: what must not be overheard comes first.
    pub(crate) fn exit(&self) -> Exit {
        let void: usize = self.void.iter().sum();
        if self.void[VoidClass::Verification as usize] > 0 {
            Exit::VerificationFailed
        } else if self.not_run > 0 {
            Exit::Failure
        } else if void + self.searches_without_answer > 0 {
            Exit::NoResult
        } else {
            Exit::Good
        }
    }

    /// How many points are results, in words.
    pub(crate) fn text(&self) -> String {
        let points = counted(self.points, "point");
        match self.valid {
            0 => format!("no result: none of {points} is valid"),
            valid => format!("{valid} of {points} valid"),
        }
    }

    /// Why not all are, in words: `host (2 points), search without an answer (1)`; empty when all are.
    pub(crate) fn causes(&self) -> String {
        let classes = VoidClass::ALL.iter().zip(self.void).filter(|(_, count)| *count > 0);
        let mut causes: Vec<String> =
            classes.map(|(class, count)| format!("{} ({})", class.word(), counted(count, "point"))).collect();
        if self.not_run > 0 {
            causes.push(format!("not run ({})", counted(self.not_run, "point")));
        }
        if self.searches_without_answer > 0 {
            causes.push(format!("search without an answer ({})", self.searches_without_answer));
        }
        causes.join(", ")
    }

    /// The same for programs.
    pub(crate) fn json(&self) -> Json {
        let classes = VoidClass::ALL.iter().zip(self.void);
        let void: Map<String, Json> = classes.map(|(class, count)| (class.word().to_owned(), json!(count))).collect();
        json!({
            "exit": self.exit().number(), "points": self.points, "valid": self.valid, "not_run": self.not_run, "void": void,
            "measured_anew": self.measured_anew, "searches_without_answer": self.searches_without_answer,
        })
    }
}

/// Whether a point of a search is void but its load was measured again with a valid result.
fn measured_anew(findings: &Findings<'_>, point: &PointFindings) -> bool {
    let same = |other: &&PointFindings| other.id > point.id && other.levels == point.levels;
    !findings.searches.is_empty()
        && !point.verdict.is_valid()
        && findings.points.iter().filter(same).any(|other| other.verdict.is_valid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(result: &StudyResult, exit: Exit, causes: &str) {
        assert_eq!((result.exit(), result.causes().as_str()), (exit, causes));
    }

    #[test]
    fn the_gravest_cause_gives_the_code_and_all_are_told() {
        let all = StudyResult { points: 4, valid: 4, ..StudyResult::default() };
        check(&all, Exit::Good, "");
        let noisy = StudyResult { valid: 1, void: [0, 2, 0, 1], ..all.clone() };
        check(&noisy, Exit::NoResult, "host (2 points), generator (1 point)");
        assert_eq!((all.text().as_str(), noisy.text().as_str()), ("4 of 4 points valid", "1 of 4 points valid"));
        let unanswered = StudyResult { searches_without_answer: 1, measured_anew: 1, ..all.clone() };
        check(&unanswered, Exit::NoResult, "search without an answer (1)");
        let failed = StudyResult { not_run: 1, ..noisy.clone() };
        check(&failed, Exit::Failure, "host (2 points), generator (1 point), not run (1 point)");
        let lost = StudyResult { void: [1, 2, 0, 1], ..failed };
        check(
            &lost,
            Exit::VerificationFailed,
            "verification (1 point), host (2 points), generator (1 point), not run (1 point)",
        );
        assert_eq!(lost.json()["void"]["host"], 2);
    }
}

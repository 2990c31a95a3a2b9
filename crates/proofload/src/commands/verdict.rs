//! The exit code of a finished study. What voids a point is decided by `report::findings`; here it only gets its number.

use crate::exit::Exit;
use proofload_record::Record;
use proofload_report::findings::{Findings, PointFindings, Verdict, VoidClass, evaluate};

/// Good when every point is valid and every search has its answer, else the first code that applies.
pub(crate) fn exit_of(record: &Record) -> Exit {
    let findings = evaluate(record);
    let searches = findings.searches.iter();
    let nothing = searches.map(|search| if search.found().is_some() { Exit::Good } else { Exit::NothingFound });
    let counted = findings.points.iter().filter(|point| !measured_anew(&findings, point));
    let codes = counted.map(|point| match &point.verdict {
        Verdict::Valid | Verdict::Wide => Exit::Good,
        Verdict::Void(reasons) => {
            reasons.iter().map(|reason| code(reason.class)).min().unwrap_or(Exit::VerificationFailed)
        }
        Verdict::NotRun(_) => Exit::Failure,
    });
    codes.chain(nothing).filter(|code| *code != Exit::Good).min().unwrap_or(Exit::Good)
}

/// Whether a point of a search is void but its load was measured again with a valid result.
fn measured_anew(findings: &Findings<'_>, point: &PointFindings) -> bool {
    let same = |other: &&PointFindings| other.id > point.id && other.levels == point.levels;
    !findings.searches.is_empty()
        && !point.verdict.is_valid()
        && findings.points.iter().filter(same).any(|other| other.verdict.is_valid())
}

/// A count and what is counted: `1 void run`, `3 void runs`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

const fn code(class: VoidClass) -> Exit {
    match class {
        VoidClass::Verification => Exit::VerificationFailed,
        VoidClass::Host | VoidClass::NotSteady => Exit::NotSteady,
        VoidClass::GeneratorBound => Exit::GeneratorBound,
    }
}

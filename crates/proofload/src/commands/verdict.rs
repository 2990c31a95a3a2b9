//! The exit code of a finished study. What voids a point is decided by `report::findings`; here it only gets its number.

use crate::exit::Exit;
use proofload_record::Record;
use proofload_report::findings::{Verdict, VoidClass, evaluate};

/// Good when every point is valid, else the first code that applies.
pub(crate) fn exit_of(record: &Record) -> Exit {
    let findings = evaluate(record);
    let codes = findings.points.iter().map(|point| match &point.verdict {
        Verdict::Valid => Exit::Good,
        Verdict::Void(reasons) => {
            reasons.iter().map(|reason| code(reason.class)).min().unwrap_or(Exit::VerificationFailed)
        }
        Verdict::NotRun(_) => Exit::Failure,
    });
    codes.filter(|code| *code != Exit::Good).min().unwrap_or(Exit::Good)
}

const fn code(class: VoidClass) -> Exit {
    match class {
        VoidClass::Verification => Exit::VerificationFailed,
        VoidClass::NotSteady => Exit::NotSteady,
        VoidClass::GeneratorBound => Exit::GeneratorBound,
    }
}

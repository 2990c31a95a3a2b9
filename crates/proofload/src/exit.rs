//! Exit codes: documented, stable, one exhaustive match. Source: the table in docs/exit-codes.md.

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Everything asked was done and every point is valid.
    Good,
    /// Something failed that has no code of its own.
    Failure,
    /// The command line was wrong.
    Usage,
    /// The study file has faults.
    StudyInvalid,
    /// A gate failed: a loss beyond the tolerance is shown, or there was no result to judge.
    GateFailed,
    /// A limit, a count or a consistency condition did not verify.
    VerificationFailed,
    /// Throughput of a point moved while it was measured, or varied too much.
    NotSteady,
    /// The load generator was the bottleneck.
    GeneratorBound,
    /// A gate cannot tell.
    GateUndecided,
    /// A search came to its end without an answer.
    NothingFound,
    /// A record is not as it was written, or is not signed as was asked.
    NotProved,
    /// Interrupted; `resume` goes on.
    Interrupted,
    /// Interrupted before anything was recorded.
    InterruptedEarly,
}

impl Exit {
    /// Every one, in the order of the numbers.
    pub(crate) const ALL: &[Self] = &[
        Self::Good,
        Self::Failure,
        Self::Usage,
        Self::StudyInvalid,
        Self::GateFailed,
        Self::VerificationFailed,
        Self::NotSteady,
        Self::GeneratorBound,
        Self::GateUndecided,
        Self::NothingFound,
        Self::NotProved,
        Self::Interrupted,
        Self::InterruptedEarly,
    ];

    /// What it means, in half a sentence, for the manual pages.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Good => "everything asked for was done; after run and resume: every point is valid",
            Self::Failure => "a failure without a code of its own",
            Self::Usage => "the command line was wrong, or a destructive step was not confirmed",
            Self::StudyInvalid => "the study file has faults",
            Self::GateFailed => "a gate failed: a loss beyond the tolerance is shown, or a point is void or missing",
            Self::VerificationFailed => "a limit, a count, a consistency condition or an audit did not verify",
            Self::NotSteady => "throughput of a point moved while it was measured, or varied too much",
            Self::GeneratorBound => "the load generator was the bottleneck",
            Self::GateUndecided => "a gate is undecided: a loss beyond the tolerance is neither shown nor excluded",
            Self::NothingFound => "a search ended without an answer at its resolution",
            Self::NotProved => "a record is not as it was written, or is not signed as was asked",
            Self::Interrupted => "interrupted; nothing finished is lost",
            Self::InterruptedEarly => "interrupted before anything was recorded",
        }
    }

    /// The number that the shell sees.
    pub(crate) const fn number(self) -> u8 {
        match self {
            Self::Good => 0,
            Self::Failure => 1,
            Self::Usage => 2,
            Self::StudyInvalid => 3,
            Self::GateFailed => 4,
            Self::VerificationFailed => 5,
            Self::NotSteady => 6,
            Self::GeneratorBound => 7,
            Self::GateUndecided => 8,
            Self::NothingFound => 9,
            Self::NotProved => 10,
            Self::Interrupted => 75,
            Self::InterruptedEarly => 130,
        }
    }

    /// The process's exit code, for `main`.
    pub(crate) fn code(self) -> std::process::ExitCode {
        std::process::ExitCode::from(self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_and_the_list_have_every_code_in_order() {
        let page = include_str!("../../../docs/exit-codes.md");
        let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next()?.parse::<u8>().ok());
        let listed: Vec<u8> = Exit::ALL.iter().map(|exit| exit.number()).collect();
        assert_eq!(rows.collect::<Vec<_>>(), listed);
        assert!(listed.is_sorted_by(|one, next| one < next), "{listed:?}");
    }
}

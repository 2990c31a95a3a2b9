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
    /// A limit, a count or a consistency condition did not verify.
    VerificationFailed,
    /// A point never settled, or drifted inside its window.
    NotSteady,
    /// The load generator was the bottleneck.
    GeneratorBound,
    /// Interrupted; `resume` goes on.
    Interrupted,
    /// Interrupted before anything was recorded.
    InterruptedEarly,
}

impl Exit {
    /// The number that the shell sees.
    pub(crate) const fn number(self) -> u8 {
        match self {
            Self::Good => 0,
            Self::Failure => 1,
            Self::Usage => 2,
            Self::StudyInvalid => 3,
            Self::VerificationFailed => 5,
            Self::NotSteady => 6,
            Self::GeneratorBound => 7,
            Self::Interrupted => 75,
            Self::InterruptedEarly => 130,
        }
    }

    /// For `main`.
    pub(crate) fn code(self) -> std::process::ExitCode {
        std::process::ExitCode::from(self.number())
    }
}

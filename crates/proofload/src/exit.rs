//! Exit codes: documented, stable, one exhaustive match. `docs/exit-codes.md` shows this table.

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Everything asked was done.
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
    /// Points are void for other reasons, or a search has no answer.
    NoResult,
    /// A gate cannot tell.
    GateUndecided,
    /// A record is not as it was written, or is not signed as was asked.
    NotProved,
    /// Interrupted; `resume` goes on.
    Interrupted,
    /// Interrupted before anything was recorded.
    InterruptedEarly,
}

/// One row of the table.
struct ExitRow {
    number: u8,
    meaning: &'static str,
    remedy: &'static str,
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
        Self::NoResult,
        Self::GateUndecided,
        Self::NotProved,
        Self::Interrupted,
        Self::InterruptedEarly,
    ];

    const fn row(self) -> ExitRow {
        let (number, meaning, remedy) = match self {
            Self::Good => (0, "success; after run and resume: every point is valid and every search has an answer", ""),
            Self::Failure => (
                1,
                "a failure without its own code: a file, a server, an agent, a run that did not finish",
                "read the message, fix the cause, continue with proofload resume",
            ),
            Self::Usage => (
                2,
                "the command line is wrong, or a destructive step was not confirmed by repeating the name of its device or server",
                "proofload --help",
            ),
            Self::StudyInvalid => (3, "the study file has faults", "the message lists all of them"),
            Self::GateFailed => (
                4,
                "a gate failed: a loss beyond the tolerance was shown, a point is void or missing, nothing could be compared, or acknowledged writes were lost",
                "the last line of proofload gate says which",
            ),
            Self::VerificationFailed => (
                5,
                "verification failed: a limit, a count, a consistency condition or an audit does not hold",
                "read the report's section on validity; measuring again does not fix it",
            ),
            Self::NoResult => (
                6,
                "no result: points are void because of the host, settling or the load generator, or a search has no answer",
                "see the last lines of proofload run or proofload status; with --void ok the code is 0",
            ),
            Self::GateUndecided => (
                8,
                "a gate is undecided: a loss beyond the tolerance was neither shown nor excluded, or the runs did not alternate",
                "use gate --run, more repetitions, longer windows or a wider tolerance; with --undecided pass the code is 0",
            ),
            Self::NotProved => (
                10,
                "a record was changed, or lacks the required signature",
                "use another copy of the record; proofload verify prints what was changed",
            ),
            Self::Interrupted => (75, "interrupted; finished runs are kept", "proofload resume"),
            Self::InterruptedEarly => (130, "interrupted before anything was recorded", "run it again"),
        };
        ExitRow { number, meaning, remedy }
    }

    /// What it means, in half a sentence.
    pub(crate) const fn meaning(self) -> &'static str {
        self.row().meaning
    }

    /// What to do about it; empty where nothing is to be done.
    pub(crate) const fn remedy(self) -> &'static str {
        self.row().remedy
    }

    /// The number that the shell sees.
    pub(crate) const fn number(self) -> u8 {
        self.row().number
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
    fn the_page_has_the_table_row_by_row() {
        let page = include_str!("../../../docs/exit-codes.md");
        let (table, _before) = page.split_once("## Before this version").expect("the page tells of earlier codes");
        let told: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
        let row = |exit: &Exit| format!("| {} | {} | {} |", exit.number(), exit.meaning(), exit.remedy());
        let rows: Vec<String> = Exit::ALL.iter().map(row).map(|row| row.replace("|  |", "| |")).collect();
        assert_eq!(told, rows);
        assert!(Exit::ALL.is_sorted_by_key(|exit| exit.number()));
    }
}

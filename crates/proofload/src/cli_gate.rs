//! The command line of `gate`. Words only: `commands` does the work.

use crate::cli::PairArguments;
use clap::{Args, ValueEnum};

/// What `gate` takes.
#[derive(Debug, Args)]
pub(crate) struct GateArguments {
    #[command(flatten)]
    pub(crate) pair: PairArguments,
    /// Largest loss that still passes, such as `3%`; needed unless each `--metric` has its own
    #[arg(long, value_name = "PERCENT")]
    pub(crate) tolerance: Option<String>,
    /// Metric to judge, optionally with its own tolerance (`response_ns_p99.read=10%`); may be repeated [default: the
    /// workload's throughput]
    #[arg(long = "metric", value_name = "METRIC[=PERCENT]")]
    pub(crate) metrics: Vec<String>,
    /// Result if a loss beyond the tolerance is neither shown nor excluded
    #[arg(long, value_enum, default_value_t = GatePolicy::Fail, value_name = "POLICY")]
    pub(crate) undecided: GatePolicy,
    /// Result if a point is void or missing
    #[arg(long, value_enum, default_value_t = GatePolicy::Fail, value_name = "POLICY")]
    pub(crate) void: GatePolicy,
    /// Result of comparisons whose runs did not alternate (`gate --run` makes them alternate)
    #[arg(long, value_enum, default_value_t = NotInTurnsPolicy::Undecided, value_name = "POLICY")]
    pub(crate) not_in_turns: NotInTurnsPolicy,
    /// Fail if drills of the candidate, including void ones, lost more acknowledged writes than this under modes that promise no loss
    #[arg(long, value_name = "COUNT")]
    pub(crate) lost: Option<u64>,
}

/// What a gate does with a case that is neither good nor bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GatePolicy {
    /// Let it pass
    Pass,
    /// Let it fail
    Fail,
}

/// What a gate does with comparisons whose runs did not alternate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum NotInTurnsPolicy {
    /// Judge them, and say so
    Warn,
    /// Leave them undecided
    Undecided,
}

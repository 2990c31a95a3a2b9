//! The command line of what a study goes through: `validate`, `plan`, `run`, `resume`, `confirm`. Words only: `commands` does the work.

use clap::{Args, ValueEnum};
use proofload_model::units::parse_duration;
use std::path::PathBuf;
use std::time::Duration;

/// A study file, with changes.
#[derive(Debug, Clone, Args)]
pub(crate) struct StudyArguments {
    /// The study file
    pub(crate) study: PathBuf,
    /// Replace a setting (`limits.cores=1`) or a factor's levels (`factor.limits.memory=["64MiB"]`)
    #[arg(long = "set", value_name = "SETTING=VALUE")]
    pub(crate) set: Vec<String>,
}

/// What `validate` and `plan` take.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub(crate) study: StudyArguments,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `plan` takes.
#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    pub(crate) check: CheckArguments,
    /// Record of a short run of this study, to estimate the repetitions and seconds that wanted intervals take
    #[arg(long, value_name = "RECORD")]
    pub(crate) pilot: Option<PathBuf>,
}

/// What `run` and `resume` show and write besides the record.
#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// Show progress in this form [default: live on a terminal, else plain]
    #[arg(long, value_enum, value_name = "FORM")]
    pub(crate) progress: Option<ProgressForm>,
    /// Do not write the report beside the record
    #[arg(long)]
    pub(crate) no_report: bool,
    /// Serve a live page for browsers, such as 127.0.0.1:7070; other than on loopback its address has a random token
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<String>,
}

/// Forms of progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressForm {
    /// One line per run, updated every second
    Live,
    /// A line at each change of phase and every 30 s
    Plain,
    /// The same lines, each a JSON object
    Json,
    /// Nothing
    None,
}

/// What `run` does with a study that ends without a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum VoidPolicy {
    /// Exit with 0; a failed verification keeps its code
    Ok,
    /// Exit with the code for no result
    Fail,
}

/// What `resume` does about void points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResumeVoid {
    /// Repeat points that are void because of the host; earlier attempts stay in the record
    Again,
    /// Exit with 0 even if points are void; a failed verification keeps its code
    Ok,
}

/// What `run` takes.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) study: StudyArguments,
    /// The record to write [default: <study name>.proof]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print the plan, as `proofload plan` does, and start nothing
    #[arg(long, visible_alias = "dry-run")]
    pub(crate) plan: bool,
    /// Confirm destructive steps and changes of a server by repeating devices and HOST/DATABASE, separated by commas
    #[arg(long, value_name = "NAMES")]
    pub(crate) yes: Option<String>,
    /// Skip limits that this machine does not allow; the title of the result says which
    #[arg(long)]
    pub(crate) without_limits: bool,
    /// What to do when points are void or a search has no answer
    #[arg(long, value_enum, default_value_t = VoidPolicy::Fail, value_name = "POLICY")]
    pub(crate) void: VoidPolicy,
    #[command(flatten)]
    pub(crate) show: ShowArguments,
}

/// Longest time that `procedure.wait_for_quiet` may be as well.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3600);

/// Reads how long a run may wait for a quiet host.
fn waiting_time(text: &str) -> Result<Duration, String> {
    let time = parse_duration(text).map_err(|error| error.to_string())?;
    if time > LONGEST_WAIT { Err("more than 24 h; give at most 24h".to_owned()) } else { Ok(time) }
}

/// What `resume` takes.
#[derive(Debug, Args)]
pub(crate) struct ResumeArguments {
    /// The record
    pub(crate) record: PathBuf,
    #[command(flatten)]
    pub(crate) show: ShowArguments,
    /// Repeat points that are void because of the host (`--void` after the record), or exit with 0 even if points are void
    /// (`--void ok`); may be given twice
    #[arg(long, value_enum, value_name = "POLICY", num_args = 0..=1, default_missing_value = "again")]
    pub(crate) void: Vec<ResumeVoid>,
    /// Let each run of this session wait up to this long for a quiet host, in place of `procedure.wait_for_quiet`
    #[arg(long, value_name = "TIME", value_parser = waiting_time)]
    pub(crate) wait: Option<Duration>,
    /// Confirm destructive steps and changes of a server by repeating devices and HOST/DATABASE, separated by commas
    #[arg(long, value_name = "NAMES")]
    pub(crate) yes: Option<String>,
}

/// What `confirm` takes.
#[derive(Debug, Args)]
pub(crate) struct ConfirmArguments {
    /// The record
    pub(crate) record: PathBuf,
    /// Points: `largest`, `knee`, `all`, numbers from 1 in the order of the levels, as the report lists its points (not the runs of
    /// `plan`), or levels (`limits.memory=64MiB`), separated by commas
    #[arg(long, default_value = "largest", value_name = "POINTS")]
    pub(crate) points: String,
    /// Share by which a resource is lowered, 0.05 to 0.5 [default: `confirm.step` of the study, or 0.2]
    #[arg(long, value_name = "SHARE")]
    pub(crate) step: Option<f64>,
    /// Blocks of each point at most, 2 to 100 [default: `confirm.blocks` of the study, or 12]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(2..=100))]
    pub(crate) blocks: Option<u32>,
    /// Show what would be done and how long it takes at most; start nothing
    #[arg(long, visible_alias = "dry-run")]
    pub(crate) plan: bool,
    #[command(flatten)]
    pub(crate) show: ShowArguments,
    /// Confirm destructive steps and changes of a server by repeating devices and HOST/DATABASE, separated by commas
    #[arg(long, value_name = "NAMES")]
    pub(crate) yes: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Arguments, Command};
    use clap::Parser;

    #[test]
    fn both_commands_take_a_policy_with_and_without_an_equals_sign() {
        let parsed = |line: &str| Arguments::try_parse_from(line.split(' ')).expect(line).command;
        for line in ["proofload run x.toml --void ok", "proofload run x.toml --void=ok"] {
            let Command::Run(run) = parsed(line) else { panic!("{line} is of run") };
            assert_eq!(run.void, VoidPolicy::Ok, "{line}");
        }
        let asked = |line: &str| match parsed(line) {
            Command::Resume(resume) => resume.void,
            other => panic!("{line} is {other:?}"),
        };
        assert_eq!(asked("proofload resume x.proof --void"), [ResumeVoid::Again]);
        assert_eq!(asked("proofload resume x.proof --void --wait 2h"), [ResumeVoid::Again]);
        for line in ["proofload resume x.proof --void ok", "proofload resume x.proof --void=ok"] {
            assert_eq!(asked(line), [ResumeVoid::Ok], "{line}");
        }
    }

    #[test]
    fn what_starts_nothing_has_one_name_beside_that_of_each_command() {
        for option in ["--plan", "--dry-run"] {
            for line in ["proofload run x.toml", "proofload confirm x.proof"] {
                let line = format!("{line} {option}");
                let asked = match Arguments::try_parse_from(line.split(' ')).expect(&line).command {
                    Command::Run(run) => run.plan,
                    Command::Confirm(confirm) => confirm.plan,
                    other => panic!("{line} is {other:?}"),
                };
                assert!(asked, "{line}");
            }
            let devices = "/dev/a --origin /dev/b --with bcache";
            let take_down = format!("proofload tier kernel take-down {devices} {option}");
            assert!(Arguments::try_parse_from(take_down.split(' ')).is_ok(), "{take_down}");
        }
    }

    #[test]
    fn a_waiting_time_has_a_unit_and_an_end() {
        let hours = |count: u64| Duration::from_secs(3_600 * count);
        assert_eq!((waiting_time("2h"), waiting_time("24h")), (Ok(hours(2)), Ok(hours(24))));
        assert!(waiting_time("25h").is_err() && waiting_time("2").is_err());
    }
}

//! Chores of the project, run as `cargo xtask <chore>`.
//!
//! Each chore is one line in [`chores::CHORES`]. Nothing here ships with the product, and nothing here may
//! need a database, a network or a release build just to list the chores.

use std::io::Write;
use std::process::ExitCode;

mod answers;
mod causes;
mod chores;
mod crash;
mod day;
mod dist;
mod drills;
mod engines;
mod files;
mod fsx;
mod hosts;
mod installation;
mod kernel;
mod loads;
mod page;
mod papers;
mod parse_tsql;
mod pdf;
mod perf;
mod policies;
mod program;
mod publish;
mod python;
mod rehearse;
mod site;
mod test;
mod tidy;
mod tsql_answers;
mod verdicts;
mod work_folder;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match chores::run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            // Nobody is left to tell when standard error is closed; the exit code still says it.
            let _ = writeln!(std::io::stderr(), "{text}");
            ExitCode::FAILURE
        }
    }
}

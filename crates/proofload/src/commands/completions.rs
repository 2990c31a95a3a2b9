//! `completions`: what a shell needs to complete our command lines, derived from the command line itself.

use crate::cli::{Arguments, CompletionsArguments};
use crate::exit::Exit;
use crate::output;
use clap::CommandFactory;

/// Prints the script of a shell.
pub(crate) fn run(arguments: &CompletionsArguments) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "proofload", &mut script);
    output::conclude(false, &String::from_utf8_lossy(&script), Exit::Good)
}

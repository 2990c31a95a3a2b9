//! Hands a parsed command to the module that carries it out. Decides nothing else.

use super::{
    agents, built_in, compare, completions, confirm, doctor, export, gate, history, import, init, man, plan, release,
    report, run, schema, selftest, sign, status, studies, tier, validate, verify, watch,
};
use crate::cli::Command;
use crate::exit::Exit;

/// Runs one command.
pub(crate) fn dispatch(command: Command) -> Exit {
    match command {
        Command::Init(arguments) => init::run(&arguments),
        Command::Studies(arguments) => studies::run(&arguments),
        Command::Validate(arguments) => validate::run(&arguments),
        Command::Plan(arguments) => plan::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Resume(arguments) => run::resume(&arguments),
        Command::Confirm(arguments) => confirm::run(&arguments),
        Command::Status(arguments) => status::run(&arguments),
        Command::Watch(arguments) => watch::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments),
        Command::Sign(arguments) => sign::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Gate(arguments) => gate::run(&arguments),
        Command::History(arguments) => history::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Engines(arguments) => built_in::engines(&arguments),
        Command::Selftest(arguments) => selftest::run(&arguments),
        Command::Release(arguments) => release::run(&arguments),
        Command::Workloads(arguments) => built_in::workloads(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Man(arguments) => man::run(&arguments),
        Command::Tier(command) => tier::run(&command),
        Command::Agents(arguments) => agents::run(&arguments),
        Command::Agent => crate::agent::run(),
    }
}

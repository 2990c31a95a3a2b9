//! Programs that studies use, as found here.

use super::describe::fact;
use proofload_model::facts::tool;
use proofload_model::samples::Fact;

pub(super) fn facts() -> Vec<Fact> {
    let mut facts = vec![fact(&tool::FIO, fio_version(), "fio --version"), program()];
    for engine in proofload_engine::ENGINES {
        let found = engine.locate();
        let value = found.as_ref().ok().map(|found| found.version.clone());
        let source = found.map_or_else(|error| error.to_string(), |found| found.place);
        facts.push(fact(&tool::ENGINE.of(engine.facts().name), value, &source));
    }
    facts
}

/// Version of fio, if it is on the path.
pub(crate) fn fio_version() -> Option<String> {
    let output = std::process::Command::new("fio").arg("--version").output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn program() -> Fact {
    let build = if cfg!(debug_assertions) { "debug build" } else { "release build" };
    fact(&tool::PROOFLOAD, Some(format!("{} ({build})", env!("CARGO_PKG_VERSION"))), "compiled in")
}

//! `engines`: writes the page of engines, as the program prints it.

use crate::program::cargo;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/engines.md");

/// Runs the program and keeps what it prints.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    if !arguments.is_empty() {
        return Err("engines takes no arguments".to_owned());
    }
    let mut command = cargo();
    // As the tests build it; fixtures have no name for readers and are not on the page.
    command.args([
        "run",
        "--quiet",
        "--features",
        "mongodb-driver,fixtures,ublk",
        "--bin",
        "proofload",
        "--",
        "engines",
        "--page",
    ]);
    let output = command.output().map_err(|error| format!("started cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("proofload engines --page failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    std::fs::write(PAGE, output.stdout).map_err(|error| format!("wrote {PAGE}: {error}"))
}

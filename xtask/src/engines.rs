//! `engines`: writes the page of engines, as the program prints it.

use crate::files::write;
use crate::program::{cargo, output};
use std::path::Path;

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
    write(Path::new(PAGE), output(&mut command)?)
}

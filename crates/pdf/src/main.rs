//! A PDF from the Typst source of a paper: source on standard input, PDF on standard output. Reads no other file, no clock and no
//! network, so that equal sources give equal bytes.

mod glyphs;
mod paper;
mod world;

use std::io::{Read, Write};
use std::process::ExitCode;

/// What is said to who asks.
const HELP: &str = "Makes a PDF of a paper. `proofload report X.proof -o X.pdf` calls it.\n\n\
    Usage: proofload-pdf < paper.typ > paper.pdf\n\nOptions:\n  --version  Print the version\n  --help     Print this help\n";

/// Most bytes of a source.
const SOURCE_MOST: u64 = 256 << 20;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => convert(),
        ["--version" | "-V"] => print(concat!("proofload-pdf ", env!("CARGO_PKG_VERSION"), "\n").as_bytes()),
        ["--help" | "-h"] => print(HELP.as_bytes()),
        [other, ..] => Err(format!("there is no argument {other:?}; proofload-pdf --help lists those there are")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            tell(&text);
            ExitCode::FAILURE
        }
    }
}

fn convert() -> Result<(), String> {
    let mut source = String::new();
    let mut input = std::io::stdin().lock().take(SOURCE_MOST);
    input.read_to_string(&mut source).map_err(|error| format!("failed to read the source of a paper: {error}"))?;
    if source.trim().is_empty() {
        return Err("the source is empty; proofload report X.proof --format typst writes one".to_owned());
    }
    let paper = paper::paper(source)?;
    paper.notes.iter().for_each(|note| tell(&format!("note: {note}")));
    print(&paper.pdf)
}

fn print(bytes: &[u8]) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)
        .and_then(|()| out.flush())
        .map_err(|error| format!("failed to write to standard output: {error}"))
}

fn tell(text: &str) {
    // Nobody is left to tell when standard error is closed.
    let _ = writeln!(std::io::stderr(), "proofload-pdf: {text}");
}

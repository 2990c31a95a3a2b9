//! `man`: a manual page for the program and one for each command, derived from the command line and the exit codes.

use crate::cli::{Arguments, ManArguments};
use crate::exit::Exit;
use crate::output;
use clap::CommandFactory;
use clap_mangen::Man;
use std::path::Path;

/// A page: its file name and its text.
type Page = (String, Vec<u8>);

/// Writes the pages.
pub(crate) fn run(arguments: &ManArguments) -> Exit {
    let pages = pages().map_err(|error| format!("making the manual pages: {error}"));
    match pages.and_then(|pages| write(&arguments.output, &pages, arguments.overwrite)) {
        Ok(()) => {
            output::note(&format!("manual: {}", arguments.output.display()));
            Exit::Good
        }
        Err(text) => {
            output::error(&text);
            Exit::Failure
        }
    }
}

fn pages() -> std::io::Result<Vec<Page>> {
    let mut program = Arguments::command();
    program.build();
    let mut pages = vec![page(program.clone(), "proofload")?];
    for command in program.get_subcommands() {
        let name = format!("proofload-{}", command.get_name());
        pages.push(page(command.clone(), &name)?);
    }
    Ok(pages)
}

fn page(command: clap::Command, name: &str) -> std::io::Result<Page> {
    let mut text = Vec::new();
    let page =
        Man::new(command).title(name.to_uppercase()).section("1").source(super::run::PROGRAM).manual("Proofload");
    page.render(&mut text)?;
    text.extend(exit_codes().into_bytes());
    Ok((format!("{name}.1"), text))
}

/// The section on exit codes. No word of ours begins with a dot, which would be a command of roff.
fn exit_codes() -> String {
    let code = |exit: &Exit| {
        let remedy = if exit.remedy().is_empty() { String::new() } else { format!(".br\n{}\n", exit.remedy()) };
        format!(".TP\n{}\n{}\n{remedy}", exit.number(), exit.meaning())
    };
    format!(".SH \"EXIT STATUS\"\n{}", Exit::ALL.iter().map(code).collect::<String>())
}

/// All pages or, when one of them is there already and may not be replaced, none.
fn write(folder: &Path, pages: &[Page], overwrite: bool) -> Result<(), String> {
    let there = pages.iter().map(|(name, _)| folder.join(name)).find(|path| path.exists());
    if let Some(path) = there.filter(|_| !overwrite) {
        return Err(format!(
            "{} exists; replace it with --overwrite, or choose another folder with -o",
            path.display()
        ));
    }
    let made = std::fs::create_dir_all(folder);
    made.map_err(|error| format!("making the folder {}: {error}", folder.display()))?;
    for (name, text) in pages {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| format!("writing {}: {error}", path.display()))?;
    }
    Ok(())
}

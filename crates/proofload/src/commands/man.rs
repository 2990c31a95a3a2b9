//! `man`: a manual page for the program and one for each command, derived from the command line and the exit codes.

use super::target;
use crate::cli::{Arguments, ManArguments};
use crate::examples::examples_of;
use crate::exit::Exit;
use crate::output;
use clap::{Arg, ArgAction, Command, CommandFactory};
use clap_mangen::Man;
use std::path::Path;

/// A page: its file name and its text.
type Page = (String, Vec<u8>);

/// Writes the pages.
pub(crate) fn run(arguments: &ManArguments) -> Exit {
    let pages = pages().map_err(|error| format!("failed to create the manual pages: {error}"));
    match pages.and_then(|pages| write(&arguments.output, &pages, arguments.overwrite)) {
        Ok(()) => {
            target::say_written(&arguments.output);
            Exit::Good
        }
        Err(text) => output::failure(false, Exit::Failure, &text),
    }
}

fn pages() -> std::io::Result<Vec<Page>> {
    let mut program = Arguments::command();
    program.build();
    let mut pages = Vec::new();
    add(&program, "", &mut pages)?;
    Ok(pages)
}

/// Adds the page of a command and those of the commands below it. `words` are what follows `proofload`.
fn add(command: &Command, words: &str, pages: &mut Vec<Page>) -> std::io::Result<()> {
    let name = format!("proofload {words}").trim_end().replace(' ', "-");
    let mut text = Vec::new();
    let shown = command.clone().override_usage(synopsis(command));
    let page = Man::new(shown).title(name.to_uppercase()).section("1").source(super::run::PROGRAM).manual("Proofload");
    page.render(&mut text)?;
    text.extend(examples(words).into_bytes());
    text.extend(exit_codes().into_bytes());
    pages.push((format!("{name}.1"), text));
    for below in command.get_subcommands() {
        add(below, format!("{words} {}", below.get_name()).trim_start(), pages)?;
    }
    Ok(())
}

/// Every argument with its value, as the name of a value alone says what to write.
fn synopsis(command: &Command) -> String {
    let mut words = vec![command.get_bin_name().unwrap_or("proofload").to_owned()];
    let (positional, options): (Vec<&Arg>, Vec<&Arg>) = command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set())
        .partition(|argument| argument.is_positional());
    let required = |option: &&&Arg| option.is_required_set();
    words.extend(options.iter().filter(|option| !required(option)).map(|option| word(option)));
    words.extend(options.iter().filter(required).map(|option| word(option)));
    words.extend(positional.into_iter().map(word));
    if command.has_subcommands() {
        words.push("COMMAND".to_owned());
    }
    words.join(" ")
}

/// An argument in a synopsis: `[-o|--output FILE]`, `[--set SETTING=VALUE]...`, `STUDY`.
fn word(argument: &Arg) -> String {
    let short = argument.get_short().map(|short| format!("-{short}"));
    let long = argument.get_long().map(|long| format!("--{long}"));
    let flags = short.into_iter().chain(long).collect::<Vec<_>>().join("|");
    let takes = argument.get_action().takes_values();
    let value = argument.get_value_names().filter(|_| takes).map(|names| names.join(" ")).unwrap_or_default();
    let both = format!("{flags} {value}").trim().to_owned();
    let repeated = matches!(argument.get_action(), ArgAction::Append | ArgAction::Count)
        || argument.get_num_args().is_some_and(|number| number.max_values() > 1);
    let dots = if repeated { "..." } else { "" };
    if argument.is_required_set() { format!("{both}{dots}") } else { format!("[{both}]{dots}") }
}

/// The section of examples: each line in bold, and what it does.
fn examples(words: &str) -> String {
    let escaped = |text: &str| text.replace('\\', "\\\\").replace('-', "\\-");
    let example = |(line, does): &(&str, &str)| format!(".TP\n\\fB{}\\fR\n{}\n", escaped(line), escaped(does));
    format!(".SH EXAMPLES\n{}", examples_of(words).iter().map(example).collect::<String>())
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
    if let Some(path) = there.as_deref().filter(|_| !overwrite) {
        return Err(target::exists(path, "folder"));
    }
    let made = std::fs::create_dir_all(folder);
    made.map_err(|error| format!("failed to create the folder {}: {error}", folder.display()))?;
    for (name, text) in pages {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| format!("failed to write {}: {error}", path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The synopsis of a command by its words.
    fn check(words: &[&str], expected: &str) {
        let mut program = Arguments::command();
        program.build();
        let command = words.iter().fold(&program, |command, word| command.find_subcommand(word).unwrap());
        assert_eq!(synopsis(command), expected);
    }

    #[test]
    fn a_synopsis_names_the_value_of_each_option() {
        check(&["validate"], "proofload validate [--set SETTING=VALUE]... [--json] [-h|--help] STUDY");
        check(&["sign"], "proofload sign [-o|--output FILE] [--overwrite] [-h|--help] --key FILE RECORD");
        check(&["tier"], "proofload tier [-h|--help] COMMAND");
        check(
            &["import"],
            "proofload import [--overwrite] [--title TITLE] [--as FORM] [--engine ENGINE] [--json] [-h|--help] -o|--output FILE FILES...",
        );
    }
}

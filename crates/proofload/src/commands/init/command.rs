//! `init` itself: asks or takes the answers, writes the file, says what to type next.

use super::answers::{Answers, answers};
use super::questions::Questioner;
use super::template::study_text;
use crate::cli_first::InitArguments;
use crate::commands::target;
use crate::exit::Exit;
use crate::output;
use std::path::{Path, PathBuf};

/// Writes a study.
pub(in crate::commands) fn run(arguments: &InitArguments) -> Exit {
    match carry_out(arguments) {
        Ok(()) => Exit::Good,
        Err((exit, text)) => output::failure(false, exit, &text),
    }
}

fn carry_out(arguments: &InitArguments) -> Result<(), (Exit, String)> {
    let failed = |text: String| (Exit::Failure, text);
    if let Some(file) = arguments.output.as_ref().filter(|file| file.as_os_str() != "-") {
        target::expect_free(file, arguments.overwrite).map_err(failed)?;
    }
    let Answers { choice, taken } = found(arguments).map_err(|text| (Exit::Usage, text))?;
    if !taken.is_empty() {
        output::note(&format!("not interactive, using: {}", taken.join(" ")));
    }
    let file = arguments.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.toml", choice.name())));
    let name = name_of(&file).unwrap_or_else(|| choice.name());
    let text = study_text(&choice, &name).map_err(|text| (Exit::Usage, text))?;
    target::write(Some(&file), arguments.overwrite, &text).map_err(failed)?;
    if file.as_os_str() != "-" {
        tell_next(&file);
    }
    Ok(())
}

fn found(arguments: &InitArguments) -> Result<Answers, String> {
    if !output::can_ask() {
        return answers(arguments, None);
    }
    let mut input = std::io::stdin().lock();
    let mut show = output::prompt;
    answers(arguments, Some(&mut Questioner { input: &mut input, show: &mut show }))
        .map_err(|text| format!("{text}; `proofload init --help` lists the flags that answer the questions"))
}

/// The name of a study after its file, where a study may be called so.
fn name_of(file: &Path) -> Option<String> {
    let stem = file.file_stem()?.to_str()?;
    let is_name = stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    (is_name && stem != "-" && (1..=64).contains(&stem.len())).then(|| stem.to_owned())
}

/// Says what to type after a study was written.
pub(in crate::commands) fn tell_next(file: &Path) {
    let shown = shell_word(&file.display().to_string());
    output::note(&format!("next     proofload doctor {shown}   can it run here?"));
    output::note(&format!("         proofload plan {shown}     what will be done, how long, how large?"));
    output::note(&format!("         proofload run {shown}      run it"));
}

/// A word as a shell takes it, in quotes where it needs them.
fn shell_word(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./~+,:@%".contains(letter);
    if text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_study_is_named_after_its_file_where_it_can_be() {
        let name = |file: &str| name_of(Path::new(file));
        assert_eq!(name("a/my-study_2.toml").as_deref(), Some("my-study_2"));
        assert_eq!((name("-"), name("my study.toml"), name("größe.toml")), (None, None, None));
        assert_eq!((shell_word("a/b.toml"), shell_word("it's")), ("a/b.toml".to_owned(), r"'it'\''s'".to_owned()));
    }
}

//! Cargo as chores call it, and the program as they run it: a release build.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

/// Cargo without what a `cargo run` has told this program of its own package. Build scripts of dependencies (of ring) ask for these variables, so
/// that everything above them would be built anew by each call from here, and again by the next one from a shell.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let is_ours = |name: &std::ffi::OsString| {
        let name = name.to_string_lossy();
        name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
    };
    std::env::vars_os().map(|(name, _)| name).filter(is_ours).for_each(|name| {
        cargo.env_remove(name);
    });
    cargo
}

/// Builds the program; its absolute path.
pub(crate) fn release_program() -> Result<PathBuf, String> {
    let built = cargo().args(["build", "--release", "--package", "proofload"]).status();
    match built {
        Ok(status) if status.success() => {}
        Ok(status) => return Err(format!("building the program: cargo ended with {status}")),
        Err(error) => return Err(format!("building the program: {error}")),
    }
    std::path::absolute(target_folder().join("release/proofload"))
        .map_err(|error| format!("finding the program: {error}"))
}

/// Folder in which cargo builds.
pub(crate) fn target_folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from)
}

/// The number that an argument gives, `usual` where there is none. Errors: it is no number, of `what`.
pub(crate) fn number_or<T: FromStr>(argument: Option<&String>, usual: T, what: &str) -> Result<T, String> {
    argument.map_or(Ok(usual), |text| text.parse().map_err(|_| format!("{text:?} is not a number of {what}")))
}

/// Lets cargo do its work, whose output goes where ours does. Errors: `fault`, where it fails.
pub(crate) fn succeeds(cargo: &mut Command, fault: &str) -> Result<(), String> {
    let status = cargo.status().map_err(|error| format!("starting cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err(fault.to_owned()) }
}

/// Runs a program that must succeed; what it wrote to standard output.
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>, String> {
    let name = named(command);
    let output = command.output().map_err(|error| format!("started {name}: {error}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned());
    Err(format!("{name}: {}: {}", output.status, last_lines(said.join("\n").trim(), 20)))
}

/// A command without its environment, for messages.
fn named(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    cut(&words.join(" "))
}

/// The end of what a program said, for messages: at most so many lines.
fn last_lines(said: &str, most: usize) -> String {
    let lines: Vec<&str> = said.lines().collect();
    let last = &lines[lines.len().saturating_sub(most)..];
    last.iter().map(|line| cut(line)).collect::<Vec<_>>().join("\n")
}

/// The first letters of a text, as many as a message has room for.
fn cut(text: &str) -> String {
    text.chars().take(300).collect()
}

/// Runs a program whose output is one text.
pub(crate) fn text(command: &mut Command) -> Result<String, String> {
    Ok(String::from_utf8_lossy(&output(command)?).trim().to_owned())
}

/// Runs the program in a folder; its standard output. A void point (6), as one that drifts may be, has its verdict all the same.
pub(crate) fn proofload(program: &Path, folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    let output = output.map_err(|error| format!("starting {}: {error}", program.display()))?;
    match output.status.code() {
        Some(0 | 6) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        code => {
            let said = String::from_utf8_lossy(&output.stderr);
            let why = if said.trim().is_empty() { "nothing".to_owned() } else { last_lines(said.trim(), 15) };
            Err(format!("{} ended with {code:?} and said: {why}", arguments[0]))
        }
    }
}

/// Prints a line for whoever waits.
pub(crate) fn tell(text: &str) {
    let mut out = std::io::stdout();
    let _nobody_reads = writeln!(out, "{text}").and_then(|()| out.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_fails_is_named_with_the_end_of_what_it_said() {
        let mut command = Command::new("sh");
        command.args(["-c", "seq 1 40; printf '%0400d' 7 >&2; echo >&2; echo last >&2; exit 3"]);
        for number in 0..40 {
            command.env_remove(format!("A_VARIABLE_OF_THE_PACKAGE_{number}"));
        }
        let told = output(&mut command).expect_err("it fails");
        let lines: Vec<&str> = told.lines().collect();
        assert!(lines[0].starts_with("sh -c seq 1 40;") && lines[0].ends_with("exit status: 3: 23"), "{told}");
        assert_eq!((lines.len(), lines[18].len(), lines[19]), (20, 300, "last"), "{told}");
        assert!(output(&mut Command::new("/no/such/program")).is_err_and(|told| told.contains("started /no/such")));
    }

    #[test]
    fn a_panic_and_a_list_of_faults_are_told_whole() {
        let said =
            |script: &str| proofload(Path::new("/bin/sh"), Path::new("/"), &["-c", script]).expect_err("it fails");
        let told = said("echo 'proofload: two faults' >&2; echo '  one' >&2; echo '  another' >&2; exit 3");
        assert!(told.ends_with("said: proofload: two faults\n  one\n  another"), "{told}");
        let told = said("echo 'proofload: note' >&2; seq 1 14 >&2; echo panicked >&2; exit 101");
        assert!(told.contains("said: 1\n") && told.ends_with("14\npanicked"), "{told}");
        assert!(said("exit 1").ends_with("said: nothing"));
    }
}

//! Builds all test programs, and lints what it compiles when that is asked for.
//!
//! Clippy's driver is a compiler that lints: as the wrapper of the compiler for this workspace it does in one build what `cargo clippy` and
//! `cargo test` do in two. Its artifacts lie beside those of a plain `cargo test`.

use crate::program::cargo;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One test program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TestProgram {
    pub(super) package: String,
    pub(super) target: String,
    pub(super) executable: PathBuf,
    /// Folder of the package; cargo runs its tests there.
    pub(super) folder: PathBuf,
    /// Word in the names of ignored tests, if these are run and no others.
    pub(super) ignored: Option<String>,
}

impl TestProgram {
    pub(super) fn is(&self, package: &str, target: &str) -> bool {
        self.package == package && self.target == target
    }
}

/// What the chore is asked for, and what goes to cargo.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BuildRequest {
    /// Lints are checked by the build, of benches too, and warnings are errors.
    lint: bool,
    /// Tests are built, not run.
    pub(super) build_only: bool,
    /// Word in the names of ignored tests, if these are run and nothing else.
    pub(super) ignored: Option<String>,
    arguments: Vec<String>,
}

impl BuildRequest {
    pub(super) fn of(arguments: &[String]) -> Self {
        const IGNORED: &str = "--ignored=";
        let is_ours =
            |argument: &String| ["--lint", "--no-run"].contains(&argument.as_str()) || argument.starts_with(IGNORED);
        let (ours, others): (Vec<_>, Vec<_>) = arguments.iter().cloned().partition(is_ours);
        let has = |name: &str| ours.iter().any(|argument| argument == name);
        let ignored = ours.iter().find_map(|argument| argument.strip_prefix(IGNORED)).map(str::to_owned);
        Self { lint: has("--lint"), build_only: has("--no-run"), ignored, arguments: others }
    }

    /// A call of `cargo test` whose artifacts are those of this request.
    pub(super) fn cargo_test(&self) -> Command {
        let mut command = cargo();
        if self.lint {
            command.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
        }
        command.args(["test", "--workspace"]).args(&self.arguments);
        command
    }
}

/// Builds every test program; an error when the build fails or, if lints are asked for, warns.
pub(super) fn build(request: &BuildRequest) -> Result<Vec<TestProgram>, String> {
    let mut command = request.cargo_test();
    command.args(["--no-run", "--message-format=json"]).stderr(Stdio::inherit());
    if request.lint {
        command.arg("--all-targets");
    }
    let output = command.output().map_err(|error| format!("starting cargo: {error}"))?;
    let messages = messages_in(&String::from_utf8_lossy(&output.stdout))?;
    let warnings = warnings_in(&messages);
    warnings.iter().for_each(|warning| super::run::tell(warning.trim_end()));
    if !output.status.success() {
        return Err("the tests do not build".to_owned());
    }
    if request.lint && !warnings.is_empty() {
        return Err(format!("the tests' build gave {} warnings", warnings.len()));
    }
    programs_in(&messages)
}

/// Cargo's messages, one a line.
fn messages_in(lines: &str) -> Result<Vec<Value>, String> {
    lines
        .lines()
        .map(|line| serde_json::from_str(line).map_err(|error| format!("reading cargo's messages: {error}")))
        .collect()
}

/// Warnings and errors of the compiler as it shows them, each once: a file may be part of several programs.
fn warnings_in(messages: &[Value]) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for message in messages.iter().map(|message| &message["message"]) {
        // Without either it is the count of the others.
        let counts = !message["code"].is_null() || message["spans"].as_array().is_some_and(|spans| !spans.is_empty());
        if let (true, Some(text)) = (counts, message["rendered"].as_str())
            && !found.contains(&text)
        {
            found.push(text);
        }
    }
    found
}

/// The test programs that messages name. Benches are built for their lints alone.
fn programs_in(messages: &[Value]) -> Result<Vec<TestProgram>, String> {
    let mut programs = Vec::new();
    for message in messages {
        let (Some(executable), Some(true)) = (message["executable"].as_str(), message["profile"]["test"].as_bool())
        else {
            continue;
        };
        if message["target"]["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "bench")) {
            continue;
        }
        let manifest = Path::new(message["manifest_path"].as_str().ok_or("a test program without a manifest")?);
        let folder = manifest.parent().ok_or("a manifest without a folder")?.to_owned();
        let target = message["target"]["name"].as_str().ok_or("a test program without a name")?.to_owned();
        let package = package_of(message["package_id"].as_str().unwrap_or_default(), &folder);
        programs.push(TestProgram { package, target, executable: executable.into(), folder, ignored: None });
    }
    Ok(programs)
}

/// A package's name from its id: `path+file:///…/crates/load#proofload-load@0.1.0`, or `…/xtask#0.1.0` where it is the folder's.
fn package_of(id: &str, folder: &Path) -> String {
    match id.rsplit_once('#').and_then(|(_, rest)| rest.split_once('@')) {
        Some((name, _)) => name.to_owned(),
        None => folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
    }
}

/// Messages of a build of two test programs, a bench and a program.
#[cfg(test)]
pub(super) fn example() -> Vec<TestProgram> {
    programs_in(&messages_in(tests::MESSAGES).unwrap()).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) const MESSAGES: &str = r#"{"reason":"compiler-artifact","package_id":"path+file:///p/crates/load#proofload-load@0.1.0","manifest_path":"/p/crates/load/Cargo.toml","target":{"name":"ycsb","kind":["test"]},"profile":{"test":true},"executable":"/p/target/debug/deps/ycsb-1"}
{"reason":"compiler-artifact","package_id":"path+file:///p/crates/load#proofload-load@0.1.0","manifest_path":"/p/crates/load/Cargo.toml","target":{"name":"pacing","kind":["bench"]},"profile":{"test":true},"executable":"/p/target/debug/deps/pacing-1"}
{"reason":"compiler-artifact","package_id":"path+file:///p/xtask#0.1.0","manifest_path":"/p/xtask/Cargo.toml","target":{"name":"xtask","kind":["bin"]},"profile":{"test":true},"executable":"/p/target/debug/deps/xtask-1"}
{"reason":"compiler-artifact","package_id":"path+file:///p/xtask#0.1.0","manifest_path":"/p/xtask/Cargo.toml","target":{"name":"xtask","kind":["bin"]},"profile":{"test":false},"executable":"/p/target/debug/xtask"}
{"reason":"build-finished","success":true}"#;

    #[test]
    fn test_programs_are_found_in_messages() {
        let found: Vec<String> = example()
            .iter()
            .map(|program| format!("{} {} {}", program.package, program.target, program.folder.display()))
            .collect();
        assert_eq!(found, ["proofload-load ycsb /p/crates/load", "xtask xtask /p/xtask"]);
    }

    #[test]
    fn a_warning_of_two_programs_is_told_once_and_its_count_is_none() {
        let warning = r#"{"reason":"compiler-message","message":{"level":"warning","spans":[{"line_start":1}],"rendered":"warning: unused"}}"#;
        let count = r#"{"reason":"compiler-message","message":{"level":"warning","spans":[],"rendered":"warning: 1 warning emitted"}}"#;
        let messages = messages_in(&[warning, count, warning, MESSAGES].join("\n")).unwrap();
        assert_eq!(warnings_in(&messages), ["warning: unused"]);
    }

    #[test]
    fn what_is_not_ours_goes_to_cargo() {
        let arguments = ["--lint", "--features", "fixtures", "--ignored=mysql"].map(str::to_owned);
        let request = BuildRequest::of(&arguments);
        assert_eq!(
            request,
            BuildRequest {
                lint: true,
                build_only: false,
                ignored: Some("mysql".to_owned()),
                arguments: vec!["--features".to_owned(), "fixtures".to_owned()]
            }
        );
        let driver = request.cargo_test().get_envs().any(|(name, _)| name == "RUSTC_WORKSPACE_WRAPPER");
        let plain = BuildRequest::of(&arguments[1..])
            .cargo_test()
            .get_envs()
            .any(|(name, _)| name == "RUSTC_WORKSPACE_WRAPPER");
        assert!(driver && !plain);
    }
}

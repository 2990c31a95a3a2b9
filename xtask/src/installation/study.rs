//! A study of seconds on SQLite, run by an installed program as an ordinary user, with its proof and its report.

use crate::program::text;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The user and group that nothing belongs to, as a number for `setpriv`.
const NOBODY: &str = "65534";

/// The study.
const STUDY: &str = r#"[study]
name = "toy"
title = "Does an installed program run?"

[workload]
kind = "ycsb"
records = 1000
virtual_users = 2

[engine]
kind = "sqlite"

[procedure]
measure = "3s"
warm_up = { at_least = "1s", at_most = "1s" }
"#;

/// A program that was installed.
pub(super) struct InstalledProgram {
    /// Where it lies.
    pub(super) program: PathBuf,
    /// The emulator that runs it, for another processor.
    pub(super) emulator: Option<&'static str>,
    /// A folder that the ordinary user may write to.
    pub(super) home: PathBuf,
}

impl InstalledProgram {
    /// A call of it as an ordinary user: nobody, where this is root.
    fn command(&self, arguments: &[&str]) -> Result<Command, String> {
        let words = self.emulator.iter().map(Path::new).chain([self.program.as_path()]);
        let words: Vec<&Path> = words.collect();
        let mut command = match text(Command::new("id").arg("-u"))?.as_str() {
            "0" => {
                let mut command = Command::new("setpriv");
                command.arg(format!("--reuid={NOBODY}")).arg(format!("--regid={NOBODY}")).arg("--clear-groups");
                command.args(&words);
                command
            }
            _ => {
                let mut command = Command::new(words[0]);
                command.args(&words[1..]);
                command
            }
        };
        command
            .args(arguments)
            .current_dir(&self.home)
            .env_clear()
            .env("HOME", &self.home)
            .env("PATH", "/usr/bin:/bin");
        Ok(command)
    }

    fn call(&self, arguments: &[&str]) -> Result<String, String> {
        text(&mut self.command(arguments)?)
    }

    /// Runs the study and proves its record; the program's version and what it wrote.
    pub(super) fn study(&self) -> Result<String, String> {
        let version = self.call(&["--version"])?;
        let file = self.home.join("toy.toml");
        std::fs::write(&file, STUDY.to_owned() + &self.agents())
            .map_err(|error| format!("wrote {}: {error}", file.display()))?;
        // A window of 3 s may be void on a host that others disturb: that is a result, too.
        self.call(&["run", "toy.toml", "-o", "toy.proof", "--void", "ok", "--progress", "plain"])?;
        self.call(&["verify", "toy.proof"])?;
        self.call(&["report", "toy.proof", "-o", "toy.html"])?;
        let (record, page) = (self.size("toy.proof")?, self.size("toy.html")?);
        Ok(format!("{version}, study run as {}, record {record} kB, report {page} kB", self.user()?))
    }

    /// Lines of the study that start its agents under the emulator: the kernel cannot start a program of another processor by itself.
    fn agents(&self) -> String {
        let Some(emulator) = self.emulator else { return String::new() };
        let command = format!("[{emulator:?}, {:?}, \"agent\"]", self.program);
        format!("\n[agents]\nhost = {command}\nload = {command}\n")
    }

    /// Writes the record's report as PDF; its size, kB.
    pub(super) fn pdf(&self) -> Result<u64, String> {
        self.call(&["report", "toy.proof", "-o", "toy.pdf"])?;
        let bytes = std::fs::read(self.home.join("toy.pdf")).map_err(|error| format!("read toy.pdf: {error}"))?;
        if bytes.starts_with(b"%PDF-") { self.size("toy.pdf") } else { Err("toy.pdf is no PDF".to_owned()) }
    }

    /// The owner of the record.
    fn user(&self) -> Result<String, String> {
        text(Command::new("stat").args(["-c", "%U"]).arg(self.home.join("toy.proof")))
    }

    fn size(&self, name: &str) -> Result<u64, String> {
        let path = self.home.join(name);
        let file = std::fs::metadata(&path).map_err(|error| format!("looked at {}: {error}", path.display()))?;
        Ok(file.len().div_ceil(1000))
    }
}

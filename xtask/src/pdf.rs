//! Builds the program that makes PDFs, makes the papers of records with it, and looks at each: pages, fonts, tags, order of the text, and
//! that the same record gives the same bytes. No part of `make test`: the typesetter takes minutes to compile.

use crate::program::{self, cargo, output, release_program, succeeds, target_folder, tell};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Records that are always here.
const RECORDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/papers");

/// A study of seconds whose title would be markup, code and letters that the fonts do not have.
const STUDY: &str = r##"[study]
name = "wild"
title = "#panic(1) $x^2$ *bold* _it_ `raw` [c] <l> @ref \\ \" 数 = head"

[workload]
kind = "ycsb"
records = 1000
virtual_users = 1

[engine]
kind = "null"

[procedure]
measure = "3s"
warm_up = { at_least = "1s", at_most = "1s" }
restore = "never"
"##;

/// Title of the study as it is shown: one of its letters has no glyph.
const TITLE: &str = "#panic(1) $x^2$ *bold* _it_ `raw` [c] <l> @ref \\ \" \u{fffd} = head";

/// Most pages of a paper without its appendix: studies of one factor have at most 6, one of replication with its standby 8.
const PAGES_MOST: u32 = 8;

/// The programs at work, and where their papers go.
struct Bench {
    /// `proofload`.
    program: PathBuf,
    /// The search path, which begins with the folder of `proofload-pdf`.
    path: OsString,
    folder: PathBuf,
}

impl Bench {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.env("PATH", &self.path);
        command
    }
}

/// Makes and looks at the papers of the records that are named, or of those that are here and of a study with a wild title.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let named = arguments.iter().find_map(|one| one.strip_prefix("program=")).map(PathBuf::from);
    let program = named.map_or_else(release_program, Ok)?;
    let typesetter = build()?;
    let folder = typesetter.join("papers");
    // What an earlier call left there is not of this program.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(|error| format!("made {}: {error}", folder.display()))?;
    let mut path = typesetter.into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let bench = Bench { program, path, folder };
    let mut records: Vec<PathBuf> =
        arguments.iter().filter(|one| !one.starts_with("program=")).map(PathBuf::from).collect();
    if records.is_empty() {
        records = here()?;
        records.push(wild(&bench)?);
    }
    let faults: Vec<String> = records.iter().flat_map(|record| look(&bench, record)).collect();
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

/// Builds and tests `proofload-pdf`; its folder.
fn build() -> Result<PathBuf, String> {
    let began = Instant::now();
    for words in ["build", "test"] {
        let mut command = cargo();
        command.args([words, "--release", "--package", "proofload-pdf", "--features", "typst"]);
        succeeds(&mut command, &format!("cargo {words} of proofload-pdf failed; its output above says why"))?;
    }
    let folder =
        std::path::absolute(target_folder().join("release")).map_err(|error| format!("found the program: {error}"))?;
    let size = std::fs::metadata(folder.join("proofload-pdf")).map_or(0, |file| file.len());
    tell(&format!(
        "proofload-pdf has {:.1} MB; built and tested in {} s",
        size as f64 / 1e6,
        began.elapsed().as_secs()
    ));
    Ok(folder)
}

fn here() -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(RECORDS).map_err(|error| format!("read {RECORDS}: {error}"))?;
    let mut records: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    records.retain(|path| path.extension().is_some_and(|ending| ending == "proof"));
    records.sort();
    if records.is_empty() { Err(format!("there is no record in {RECORDS}")) } else { Ok(records) }
}

/// Runs the study with the wild title.
fn wild(bench: &Bench) -> Result<PathBuf, String> {
    let (study, record) = (bench.folder.join("wild.toml"), bench.folder.join("wild.proof"));
    std::fs::write(&study, STUDY).map_err(|error| format!("wrote {}: {error}", study.display()))?;
    output(bench.command().arg("run").arg(&study).arg("-o").arg(&record).args(["--void", "ok"]))?;
    Ok(record)
}

/// Makes the papers of a record; what is wrong with them.
fn look(bench: &Bench, record: &Path) -> Vec<String> {
    let name = record.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let mut faults = Vec::new();
    for (kind, arguments) in [("", &[][..]), ("-full", &["--appendix", "full"])] {
        let file = |again: &str| bench.folder.join(format!("{name}{kind}{again}.pdf"));
        let made = [file(""), file("-again")].iter().try_for_each(|pdf| make(bench, record, pdf, arguments));
        let found = made.and_then(|()| check(&file(""), &file("-again"), kind.is_empty(), name == "wild"));
        match found {
            Ok(found) => tell(&format!("{name}{kind}: {found}")),
            Err(why) => faults.push(format!("{name}{kind}: {why}")),
        }
    }
    faults
}

fn make(bench: &Bench, record: &Path, pdf: &Path, arguments: &[&str]) -> Result<(), String> {
    let output = bench.command().arg("report").arg(record).arg("-o").arg(pdf).args(arguments).output();
    let output = output.map_err(|error| format!("started the program: {error}"))?;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() || told.contains("not PDF/UA-1") {
        return Err(told);
    }
    Ok(())
}

/// Looks at a paper with the programs of poppler; what it has, for those who wait.
fn check(pdf: &Path, again: &Path, is_short: bool, is_wild: bool) -> Result<String, String> {
    let read = |path: &Path| std::fs::read(path).map_err(|error| format!("read {}: {error}", path.display()));
    let bytes = read(pdf)?;
    if bytes != read(again)? {
        return Err("the same record gave other bytes".to_owned());
    }
    let info = text(Command::new("pdfinfo").arg(pdf))?;
    let value = |key: &str| {
        let line = info.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        line.map(str::trim).unwrap_or_default().to_owned()
    };
    let pages: u32 = value("Pages").parse().map_err(|_| format!("pdfinfo names no pages: {info}"))?;
    let fonts = text(Command::new("pdffonts").arg(pdf))?;
    let words = text(Command::new("pdftotext").arg(pdf).arg("-"))?;
    // Name, type (which has spaces), encoding, embedded, subset, text of it, object.
    let embedded = |line: &str| line.split_whitespace().rev().nth(4) == Some("yes");
    let lost: Vec<&str> = fonts.lines().skip(2).filter(|line| !embedded(line)).collect();
    let faults = [
        (value("Tagged") != "yes", "it is not tagged".to_owned()),
        (value("Author").is_empty() || value("Title").is_empty(), format!("title or author is missing: {info}")),
        (value("CreationDate").is_empty(), "it has no date".to_owned()),
        (fonts.lines().count() < 3 || !lost.is_empty(), format!("fonts are not embedded: {}", lost.join("; "))),
        (is_short && pages > PAGES_MOST, format!("it has {pages} pages, more than {PAGES_MOST}")),
        (is_wild && value("Title") != TITLE, format!("its title is {:?}", value("Title"))),
        (!in_order(&words, &["valid", "Figure 1.", "Generated by Proofload"]), "its text is out of order".to_owned()),
    ];
    match faults.into_iter().find(|(is, _)| *is) {
        Some((_, why)) => Err(why),
        None => Ok(format!("{pages} pages, {} fonts embedded, {} kB", fonts.lines().count() - 2, bytes.len() / 1000)),
    }
}

/// Whether texts stand behind each other.
fn in_order(text: &str, parts: &[&str]) -> bool {
    let found = parts.iter().try_fold(text, |rest, part| rest.split_once(part).map(|(_, rest)| rest));
    found.is_some()
}

fn text(command: &mut Command) -> Result<String, String> {
    program::text(command).map_err(|error| format!("{error}; it is in Debian's package poppler-utils"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_in_order_or_not() {
        assert!(in_order("a b c", &["a", "c"]));
        assert!(!in_order("a b c", &["c", "a"]));
    }
}

//! The steps of `dist`, one target after the other.

use super::build::{Binary, build, build_typesetter, lacks};
use super::deb::DebContent;
use super::paperwork::{self, Paperwork};
use super::product::{PROOFLOAD, TYPESETTER};
use super::target::{DistTarget, TARGETS};
use super::{archive, deb, wheel};
use crate::files::{copy, make_folder, write};
use crate::program::{output, target_folder, text};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What all files of a release share.
#[derive(Debug)]
pub(super) struct Release {
    /// Its version.
    pub(super) version: String,
    /// Where its sources are.
    pub(super) repository: String,
    /// Name and address of those who answer for its packages.
    pub(super) maintainer: String,
    /// When its last commit was made, in seconds since 1970: the time of all files.
    pub(super) seconds: String,
    /// The same as a date.
    pub(super) date: String,
    /// Where its files go.
    pub(super) dist: PathBuf,
}

/// Builds what was asked for, or all that can be built here; `pdf=no` leaves out the typesetter, which takes longer to compile than the rest.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    std::env::set_current_dir(root).map_err(|error| format!("went to {}: {error}", root.display()))?;
    let (words, names): (Vec<String>, Vec<String>) =
        arguments.iter().cloned().partition(|word| word.starts_with("pdf="));
    let has_typesetter = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] | ["pdf=yes"] => true,
        ["pdf=no"] => false,
        _ => return Err(format!("say pdf=yes or pdf=no, not {}", words.join(" "))),
    };
    let targets = chosen(&names)?;
    let release = release()?;
    make_folder(&release.dist)?;
    let mut made = Vec::new();
    let mut papers = None;
    for target in targets {
        made.extend(of_target(&release, target, &mut papers)?);
        if has_typesetter && target.has_typesetter {
            made.extend(typesetter(&release, target)?);
        }
    }
    sums(&release.dist, &made)?;
    made.iter().try_for_each(|path| say(&format!("made {}", path.display())))
}

/// The targets that were named; without a name those that can be built here.
fn chosen(names: &[String]) -> Result<Vec<&'static DistTarget>, String> {
    // The pages are written by the binary of this machine, which is built first.
    let (first, others) = TARGETS.split_first().ok_or("there is no target")?;
    let known = |name: &String| TARGETS.iter().any(|target| target.triple == name);
    if let Some(name) = names.iter().find(|name| !known(name)) {
        let triples: Vec<&str> = TARGETS.iter().map(|target| target.triple).collect();
        return Err(format!("there is no target {name:?}; there are {}", triples.join(", ")));
    }
    let mut targets = vec![first];
    for target in others {
        match lacks(target) {
            _ if !names.is_empty() && !names.iter().any(|name| name == target.triple) => {}
            None => targets.push(target),
            Some(why) if names.is_empty() => say(&format!("left out {}: {why}", target.triple))?,
            Some(why) => return Err(format!("{} cannot be built here: {why}", target.triple)),
        }
    }
    Ok(targets)
}

fn release() -> Result<Release, String> {
    let seconds = text(Command::new("git").args(["log", "-1", "--format=%ct"]))?;
    let date = text(Command::new("date").args(["-u", "-d", &format!("@{seconds}"), "+%Y-%m-%d"]))?;
    let manifest = std::fs::read_to_string("Cargo.toml").map_err(|error| format!("read Cargo.toml: {error}"))?;
    let value = |key: &str| {
        let found =
            manifest.lines().find_map(|line| line.strip_prefix(key)?.trim().strip_prefix("= \"")?.split('"').next());
        found.map(str::to_owned).ok_or(format!("Cargo.toml has no {key}"))
    };
    let repository = value("repository")?;
    let host = repository.split('/').nth(2).unwrap_or("example.org").to_owned();
    Ok(Release {
        version: value("version")?,
        maintainer: format!("The authors of Proofload <proofload@{host}>"),
        repository,
        seconds,
        date,
        dist: PathBuf::from("dist"),
    })
}

/// Makes all files of a target.
fn of_target(release: &Release, target: &DistTarget, papers: &mut Option<Paperwork>) -> Result<Vec<PathBuf>, String> {
    let work = target_folder().join("dist-work").join(target.triple);
    // What an earlier call left there is not of this release.
    let _ = std::fs::remove_dir_all(&work);
    make_folder(&work)?;
    say(&format!("building for {}", target.triple))?;
    let binary = build(target, &work)?;
    if papers.is_none() {
        *papers = Some(paperwork::make(&binary.program, &work)?);
    }
    let papers = papers.as_ref().ok_or("no binary of this machine was built")?;
    let mut made = vec![archived(release, target, &binary, papers, &work)?];
    if let Some(architecture) = target.debian {
        let content = DebContent { product: PROOFLOAD, program: &binary.program, paperwork: Some(papers) };
        made.push(deb::make(release, target, architecture, content, &work)?);
    }
    if let Some(platform) = target.wheel {
        made.push(wheel::make(release, target, platform, &binary.program, &work)?);
    }
    let symbols = release.dist.join(format!("proofload-{}-{}.debug.xz", release.version, target.triple));
    let packed = output(Command::new("xz").args(["-T1", "-2", "-c"]).arg(&binary.symbols))?;
    write(&symbols, packed)?;
    made.push(symbols);
    if *target == TARGETS[0] {
        copy(&binary.program, &release.dist.join("proofload"))?;
        copy(&binary.symbols, &release.dist.join("proofload.debug"))?;
    }
    Ok(made)
}

/// Makes the files of the typesetter for a target.
fn typesetter(release: &Release, target: &DistTarget) -> Result<Vec<PathBuf>, String> {
    let work = target_folder().join("dist-work").join(target.triple);
    say(&format!("building {} for {}", TYPESETTER.name, target.triple))?;
    let program = build_typesetter(target, &work)?;
    let name = format!("{}-{}-{}", TYPESETTER.name, release.version, target.triple);
    let (folder, file) = (work.join(&name), release.dist.join(format!("{name}.tar.gz")));
    copy(&program, &folder.join(TYPESETTER.name))?;
    paperwork::texts(TYPESETTER, target, &folder)?;
    archive::pack(&work, &name, &file, &release.seconds)?;
    let mut made = vec![file];
    if let Some(architecture) = target.debian {
        let content = DebContent { product: TYPESETTER, program: &program, paperwork: None };
        made.push(deb::make(release, target, architecture, content, &work)?);
    }
    Ok(made)
}

fn archived(
    release: &Release,
    target: &DistTarget,
    binary: &Binary,
    papers: &Paperwork,
    work: &Path,
) -> Result<PathBuf, String> {
    let name = format!("proofload-{}-{}", release.version, target.triple);
    let folder = work.join(&name);
    copy(&binary.program, &folder.join("proofload"))?;
    paperwork::texts(PROOFLOAD, target, &folder)?;
    for part in [&papers.man, &papers.completions] {
        output(Command::new("cp").arg("-r").arg(part).arg(&folder))?;
    }
    let file = release.dist.join(format!("{name}.tar.gz"));
    archive::pack(work, &name, &file, &release.seconds)?;
    Ok(file)
}

/// Writes the checksums of all files, as `sha256sum --check` reads them.
fn sums(dist: &Path, made: &[PathBuf]) -> Result<(), String> {
    let names: Vec<_> = made.iter().filter_map(|path| path.file_name()).collect();
    let sums = output(Command::new("sha256sum").args(names).current_dir(dist))?;
    write(&dist.join("SHA256SUMS"), sums)
}

fn say(text: &str) -> Result<(), String> {
    writeln!(std::io::stdout(), "dist: {text}").map_err(|error| format!("printed what was done: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_that_is_not_known_is_refused_with_those_that_are() {
        let error = chosen(&["riscv64gc-unknown-linux-gnu".to_owned()]).expect_err("it is in no table");
        assert!(error.contains("riscv64gc") && error.contains("x86_64-unknown-linux-musl"), "{error}");
    }

    #[test]
    fn what_is_no_answer_about_the_typesetter_is_refused() {
        let error = run(&["pdf=perhaps".to_owned()]).expect_err("it is neither yes nor no");
        assert!(error.contains("pdf=perhaps"), "{error}");
    }

    #[test]
    fn the_machine_that_builds_is_always_built_first() {
        let targets = chosen(&[TARGETS[0].triple.to_owned()]).expect("it is known");
        assert_eq!(targets, [&TARGETS[0]]);
    }
}

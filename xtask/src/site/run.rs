//! The steps of `site`: pages and a table of contents into a folder of work, mdBook, the check of all links.

use super::contents::contents;
use super::links::broken;
use super::sources::{Sources, gather};
use crate::files::write;
use crate::program::tell;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What mdBook is told.
const BOOK: &str = r##"[book]
title = "Proofload"
description = "Puts a proof load on databases and records what held"
language = "en"

[output.html]
no-section-label = true
additional-css = ["site.css"]

[output.html.fold]
enable = true
level = 0

[output.html.print]
enable = false
"##;

/// Tables of ours are wide.
const CSS: &str = ":root { --content-max-width: 1000px; }\n.content table { margin: 0 0 1em; }\n.content td { vertical-align: top; }\n";

/// Makes the site in the named folder, or in `target/site`.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let site = match arguments {
        [] => target.join("site"),
        [folder] => std::env::current_dir().map_err(|error| format!("found the folder: {error}"))?.join(folder),
        _ => return Err("site takes one folder at most".to_owned()),
    };
    let work = target.join("site-work");
    // Of an earlier call; pages that are gone since then must go.
    let _ = std::fs::remove_dir_all(&work);
    let sources = gather(root)?;
    put(&work, &sources)?;
    build(&work, &site)?;
    let broken = broken(&site)?;
    if !broken.is_empty() {
        return Err(format!("{} links of {} lead nowhere:\n{}", broken.len(), site.display(), broken.join("\n")));
    }
    tell(&format!("{} pages in {}, all links lead somewhere", sources.pages.len(), site.display()));
    Ok(())
}

fn put(work: &Path, sources: &Sources) -> Result<(), String> {
    let source = work.join("src");
    for (path, text) in &sources.pages {
        write(&source.join(path), text.as_bytes())?;
    }
    for (path, content) in &sources.files {
        write(&source.join(path), content)?;
    }
    write(&source.join("SUMMARY.md"), contents(&sources.pages).as_bytes())?;
    write(&work.join("book.toml"), BOOK.as_bytes())?;
    write(&work.join("site.css"), CSS.as_bytes())
}

fn build(work: &Path, site: &Path) -> Result<(), String> {
    let output = Command::new("mdbook").arg("build").arg(work).arg("--dest-dir").arg(site).output();
    let output = output.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "mdbook is not installed; cargo install mdbook --locked".to_owned(),
        _ => format!("started mdbook: {error}"),
    })?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || said.contains("ERROR") || said.contains("WARN") {
        return Err(format!("mdbook build {}: {}: {}", work.display(), output.status, said.trim()));
    }
    Ok(())
}

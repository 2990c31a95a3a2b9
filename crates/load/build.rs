//! Embeds the files of `suites/` in the program, so that a query or a dialect is added without a line of Rust.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let variable = |name: &str| std::env::var(name).map_err(io::Error::other);
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let mut roots = vec![here.join("suites")];
    if std::env::var_os("CARGO_FEATURE_FIXTURES").is_some() {
        roots.push(here.join("fixtures/suites"));
    }
    let mut lines = Vec::new();
    for root in &roots {
        let mut files = Vec::new();
        for workload in folders(root)?.into_iter().filter(|folder| !folder.ends_with("engines")) {
            collect(&workload, &mut files)?;
        }
        for file in files {
            let name = file.strip_prefix(root).map_err(io::Error::other)?.display().to_string();
            lines.push((format!("suites/{name}"), file.display().to_string()));
        }
        writeln!(io::stdout(), "cargo:rerun-if-changed={}", root.display())?;
    }
    // By their text, as they are looked up; paths sort otherwise.
    lines.sort();
    let mut list = "&[\n".to_owned();
    for (name, path) in lines {
        writeln!(list, "    ({name:?}, include_str!({path:?})),").map_err(io::Error::other)?;
    }
    list.push_str("]\n");
    fs::write(Path::new(&variable("OUT_DIR")?).join("suites.rs"), list)
}

/// Folders in a folder.
fn folders(root: &Path) -> io::Result<Vec<PathBuf>> {
    let paths = fs::read_dir(root)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    Ok(paths.into_iter().filter(|path| path.is_dir()).collect())
}

/// Files of a folder and of those in it: queries, lists, answers, descriptions of dialects.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.ends_with("dialect.toml")
            || path.extension().is_some_and(|kind| kind == "sql" || kind == "csv" || kind == "txt")
        {
            files.push(path);
        }
    }
    Ok(())
}

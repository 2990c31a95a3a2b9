//! Embeds the files of `suites/warehouse/` in the program, so that a query is added without a line of Rust.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let variable = |name: &str| std::env::var(name).map_err(io::Error::other);
    let root = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("../../suites/warehouse");
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    let mut list = "&[\n".to_owned();
    for file in &files {
        let name = file.strip_prefix(&root).map_err(io::Error::other)?.display().to_string();
        let path = file.display().to_string();
        writeln!(list, "    ({name:?}, include_str!({path:?})),").map_err(io::Error::other)?;
    }
    list.push_str("]\n");
    fs::write(Path::new(&variable("OUT_DIR")?).join("warehouse_files.rs"), list)?;
    writeln!(io::stdout(), "cargo:rerun-if-changed={}", root.display())
}

/// Files of a folder and of those in it: queries, lists, answers.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|kind| kind == "sql" || kind == "csv" || kind == "txt") {
            files.push(path);
        }
    }
    Ok(())
}

//! Embeds the files of `suites/engines/` in the program, so that an engine is given its words without a line of Rust.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

fn main() -> io::Result<()> {
    let variable = |name: &str| std::env::var(name).map_err(io::Error::other);
    let root = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("suites/engines");
    let mut paths = fs::read_dir(&root)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|kind| kind == "toml"));
    paths.sort();
    let mut list = "&[\n".to_owned();
    for path in paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let path = path.display().to_string();
        writeln!(list, "    ({name:?}, include_str!({path:?})),").map_err(io::Error::other)?;
    }
    list.push_str("]\n");
    fs::write(Path::new(&variable("OUT_DIR")?).join("engines.rs"), list)?;
    writeln!(io::stdout(), "cargo:rerun-if-changed={}", root.display())
}

//! Embeds what the conformance suite has to know of each engine: the file `conformance.toml` of its folder, where it has one.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

fn main() -> io::Result<()> {
    let variable = |name: &str| std::env::var(name).map_err(io::Error::other);
    let root = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("src/engines");
    let mut folders = fs::read_dir(&root)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    folders.sort();
    let mut list = "&[\n".to_owned();
    for folder in folders {
        let file = folder.join("conformance.toml");
        if file.is_file() {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let path = file.display().to_string();
            writeln!(list, "    ({name:?}, include_str!({path:?})),").map_err(io::Error::other)?;
            writeln!(io::stdout(), "cargo:rerun-if-changed={path}")?;
        }
    }
    list.push_str("]\n");
    fs::write(Path::new(&variable("OUT_DIR")?).join("conformance.rs"), list)?;
    writeln!(io::stdout(), "cargo:rerun-if-changed={}", root.display())
}

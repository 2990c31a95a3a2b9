//! Programs that do the work, and their failures as text.

use std::path::Path;
use std::process::Command;

/// Runs a program that must succeed; what it wrote to standard output.
pub(super) fn output(command: &mut Command) -> Result<Vec<u8>, String> {
    let words = || format!("{command:?}").chars().take(300).collect::<String>();
    let name = words();
    let output = command.output().map_err(|error| format!("started {name}: {error}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(format!("{name}: {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim()))
}

/// Runs a program whose output is one text.
pub(super) fn text(command: &mut Command) -> Result<String, String> {
    Ok(String::from_utf8_lossy(&output(command)?).trim().to_owned())
}

/// Writes a file, with the folders above it.
pub(super) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), String> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, content));
    written.map_err(|error| format!("wrote {}: {error}", path.display()))
}

/// Copies a file, with its mode, making the folders above it.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let folder = to.parent().unwrap_or(Path::new("."));
    let copied = std::fs::create_dir_all(folder).and_then(|()| std::fs::copy(from, to));
    copied.map(|_| ()).map_err(|error| format!("copied {} to {}: {error}", from.display(), to.display()))
}

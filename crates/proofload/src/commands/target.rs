//! Where a command writes its result: standard output, or a file that is not replaced unopposed.

use crate::output;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Makes a file; one that is there already is left alone unless it may be replaced.
pub(super) fn make(path: &Path, overwrite: bool) -> Result<File, String> {
    let made = if overwrite { File::create(path) } else { File::create_new(path) };
    made.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            format!("{} exists; replace it with --overwrite, or choose another file with -o", path.display())
        }
        _ => format!("writing {}: {error}", path.display()),
    })
}

/// Writes a text to a file, or to standard output when none is named or it is `-`.
pub(super) fn write(path: Option<&Path>, overwrite: bool, text: &str) -> Result<(), String> {
    match path.filter(|path| path.as_os_str() != "-") {
        None => output::result(text),
        Some(path) => {
            let mut file = make(path, overwrite)?;
            file.write_all(text.as_bytes()).map_err(|error| format!("writing {}: {error}", path.display()))?;
            output::note(&format!("written: {}", path.display()));
        }
    }
    Ok(())
}

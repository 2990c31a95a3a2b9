//! Finds DuckDB's library on this machine: the setting, the environment, the user's data folder, the usual folders.
//! Loads the first that is there; a named one that is not there is an error and not a reason to look further.

use super::failure::{REMEDY, unusable};
use super::library::{LoadedLibrary, load};
use crate::contract::Error;
use std::path::{Path, PathBuf};

/// Environment variable with the library's path.
const VARIABLE: &str = "PROOFLOAD_DUCKDB";
/// The library's file name.
const FILE: &str = if cfg!(target_os = "macos") { "libduckdb.dylib" } else { "libduckdb.so" };
/// Where libraries usually stand.
const FOLDERS: &[&str] = &["/usr/local/lib", "/usr/lib", "/usr/lib64", "/lib", "/opt/homebrew/lib", "/opt/duckdb"];
/// Why a program without a dynamic linker loads nothing.
const STATIC: &str = "this build of Proofload is statically linked and cannot load DuckDB's library; use the Debian package or the archive for \
                      linux-gnu, or build from source";
/// The oldest version that has all functions; the conformance suite was run with 1.5.0 and 1.5.6.
const LEAST: [u32; 2] = [1, 5];

/// The library to use; `named` is `engine.library`.
pub(super) fn library(named: Option<&str>) -> Result<LoadedLibrary, Error> {
    if cfg!(target_feature = "crt-static") {
        return Err(Error::other(STATIC));
    }
    let environment = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    let path = match named.map(PathBuf::from).or(environment) {
        Some(path) => file_of(path),
        None => candidates().into_iter().find(|path| path.exists()).ok_or_else(missing)?,
    };
    let loaded = load(&path).map_err(|failure| unusable(&path, failure))?;
    accept(loaded.version).map_err(|why| Error::other(format!("{} is {why}; {REMEDY}", path.display())))?;
    Ok(loaded)
}

/// A folder stands for the library in it.
fn file_of(path: PathBuf) -> PathBuf {
    if path.is_dir() { path.join(FILE) } else { path }
}

/// Where a library may stand when nothing names it: beside the program, with the user's data, in the usual folders.
fn candidates() -> Vec<PathBuf> {
    let beside = std::env::current_exe().ok().and_then(|program| program.parent().map(Path::to_path_buf));
    let usual = FOLDERS.iter().map(PathBuf::from);
    beside.into_iter().chain(data_folder()).chain(usual).map(|folder| folder.join(FILE)).collect()
}

/// `$XDG_DATA_HOME/proofload`, else `~/.local/share/proofload`; `make duckdb` puts the library there.
fn data_folder() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = set("XDG_DATA_HOME").or_else(|| Some(set("HOME")?.join(".local/share")))?;
    Some(data.join("proofload"))
}

fn missing() -> Error {
    let places: Vec<String> = candidates().iter().map(|path| path.display().to_string()).collect();
    Error::other(format!("{FILE} was not found ({}); {REMEDY}", places.join(", ")))
}

/// An error for versions older than the oldest that is known to work. Texts that are no version are let through: they are
/// recorded, and what does not work shows itself.
fn accept(version: &str) -> Result<(), String> {
    let mut numbers = version.trim_start_matches('v').split(['.', '-']).map(str::parse::<u32>);
    let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else { return Ok(()) };
    if [major, minor] >= LEAST {
        return Ok(());
    }
    Err(format!("DuckDB {version}, but {}.{} or later is needed", LEAST[0], LEAST[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_refused(path: &Path, words: &str) {
        let error = library(Some(&path.display().to_string())).expect_err("it is no library of DuckDB").to_string();
        assert!(error.contains(words) && error.contains("make duckdb") && !error.contains('\n'), "{error}");
    }

    #[test]
    fn a_missing_file_and_a_file_that_is_no_library_are_refused_with_the_remedy() {
        let folder = tempfile::tempdir().expect("a folder");
        check_refused(&folder.path().join("absent.so"), "absent.so");
        check_refused(folder.path(), FILE);
        let text = folder.path().join("text.so");
        std::fs::write(&text, "not a library").expect("a file");
        check_refused(&text, "text.so");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_library_that_is_not_duckdb_names_the_function_that_it_lacks() {
        let folders = ["/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib"];
        let other = folders.iter().map(|folder| Path::new(folder).join("libm.so.6")).find(|path| path.exists());
        let Some(other) = other else { return };
        check_refused(&other, "lacks the function duckdb_create_config");
    }

    #[test]
    fn old_versions_are_refused() {
        for version in ["v1.5.0", "v1.5.6", "v2.0.0-dev12", "v10.0.0", "nightly"] {
            assert_eq!(accept(version), Ok(()));
        }
        assert!(accept("v1.4.5").is_err_and(|why| why.contains("v1.4.5") && why.contains("1.5")));
        assert!(accept("v0.10.3").is_err());
    }
}

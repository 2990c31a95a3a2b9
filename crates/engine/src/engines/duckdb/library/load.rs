//! Opens a library and resolves what is called. A library is loaded once per path and never unloaded: DuckDB has threads
//! of its own, and nothing tells when the last of them has left its code.

use super::functions::{Functions, text};
use std::ffi::c_char;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// A loaded library.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct LoadedLibrary {
    /// Its functions.
    pub(super) functions: &'static Functions,
    /// Its version as it says, such as `v1.5.6`.
    pub(in super::super) version: &'static str,
    /// Where it was found.
    pub(in super::super) path: &'static Path,
}

/// Why a library cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) enum LoadFailure {
    /// The loader of the operating system refused it, and its words.
    Refused(String),
    /// It loads, but lacks a function.
    Lacks {
        /// Its name.
        function: &'static str,
        /// The version that the library reports; `None` when it lacks that function too.
        version: Option<String>,
    },
}

/// Libraries that are loaded.
static LOADED: Mutex<Vec<LoadedLibrary>> = Mutex::new(Vec::new());

/// Loads a library, or gives the one that was loaded from this path before.
pub(in super::super) fn load(path: &Path) -> Result<LoadedLibrary, LoadFailure> {
    let mut loaded = LOADED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(known) = loaded.iter().find(|known| known.path == path) {
        return Ok(*known);
    }
    let new = open(path)?;
    loaded.push(new);
    Ok(new)
}

fn open(path: &Path) -> Result<LoadedLibrary, LoadFailure> {
    // SAFETY: runs the initialisers of a library that the user named or put into a folder for it. DuckDB's need nothing
    // of their process.
    let library = unsafe { libloading::Library::new(path) }.map_err(|error| LoadFailure::Refused(words(&error)))?;
    // SAFETY: a library that has all these names of `duckdb.h` is taken to be DuckDB's; it is never unloaded, see below.
    let resolved = unsafe { Functions::resolve(&library) };
    let functions = resolved.map_err(|function| LoadFailure::Lacks { function, version: version_of(&library) })?;
    let version = version_of(&library).unwrap_or_default();
    std::mem::forget(library);
    let path: &'static PathBuf = Box::leak(Box::new(path.to_owned()));
    Ok(LoadedLibrary { functions: Box::leak(Box::new(functions)), version: version.leak(), path })
}

/// The version that a library says to have.
fn version_of(library: &libloading::Library) -> Option<String> {
    // SAFETY: the type is that of `duckdb.h`, and no other library has a function of this name.
    let version = unsafe { library.get::<unsafe extern "C" fn() -> *const c_char>("duckdb_library_version") }.ok()?;
    // SAFETY: takes nothing, and gives a constant text that ends with a zero byte.
    Some(unsafe { text(version(), "unknown") })
}

/// The words of the operating system's loader, on one line.
fn words(error: &libloading::Error) -> String {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    cause.unwrap_or_else(|| error.to_string()).lines().collect::<Vec<_>>().join(" ")
}

//! A database handle and the options that it is opened with.

use super::functions::{Functions, RawConfiguration, RawDatabase, SUCCESS, text};
use super::load::LoadedLibrary;
use std::ffi::CString;
use std::path::Path;
use std::ptr;

/// Options of a database that is to be opened.
pub(in super::super) struct Configuration {
    functions: &'static Functions,
    raw: *mut RawConfiguration,
}

impl Configuration {
    /// No options yet.
    pub(in super::super) fn new(library: LoadedLibrary) -> Self {
        let mut raw = ptr::null_mut();
        // SAFETY: writes a configuration, or null when there is no memory, to a place of ours.
        unsafe { (library.functions.create_config)(&raw mut raw) };
        Self { functions: library.functions, raw }
    }

    /// Sets an option; false when DuckDB does not take it at the start, be it for its name, its value or its scope.
    pub(in super::super) fn set(&mut self, name: &str, value: &str) -> bool {
        let (Ok(name), Ok(value)) = (CString::new(name), CString::new(value)) else { return false };
        // SAFETY: the configuration lives; both texts end with a zero byte and are copied.
        !self.raw.is_null()
            && unsafe { (self.functions.set_config)(self.raw, name.as_ptr(), value.as_ptr()) } == SUCCESS
    }
}

impl Drop for Configuration {
    fn drop(&mut self) {
        // SAFETY: the configuration is ours alone and not used again; null is passed over.
        unsafe { (self.functions.destroy_config)(&raw mut self.raw) };
    }
}

/// An open database. Closed, and thereby checkpointed, when it is dropped.
#[derive(Debug)]
pub(in super::super) struct Database {
    pub(super) functions: &'static Functions,
    pub(super) raw: *mut RawDatabase,
}

// SAFETY: DuckDB guards a database against its own threads and lets any thread connect; it has no thread of its own to live on.
unsafe impl Send for Database {}
// SAFETY: as above; through a shared reference nothing but `duckdb_connect` is called.
unsafe impl Sync for Database {}

impl Database {
    /// Opens or creates the file; the error is DuckDB's text.
    pub(in super::super) fn open(library: LoadedLibrary, path: &Path, options: &Configuration) -> Result<Self, String> {
        let functions = library.functions;
        let file =
            CString::new(path.as_os_str().as_encoded_bytes()).map_err(|_| "the path contains a NUL byte".to_owned())?;
        let (mut raw, mut error) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the path ends with a zero byte, the options live, both places are ours.
        let state = unsafe { (functions.open_ext)(file.as_ptr(), &raw mut raw, options.raw, &raw mut error) };
        if state == SUCCESS {
            return Ok(Self { functions, raw });
        }
        // SAFETY: on failure the error is null or a text that ends with a zero byte.
        let reason = unsafe { text(error, "DuckDB gave no reason") };
        // SAFETY: that text is ours to free, once; null is passed over.
        unsafe { (functions.free)(error.cast()) };
        Err(reason)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // SAFETY: the handle came from `duckdb_open_ext`; connections hold the database, so none is left.
        unsafe { (self.functions.close)(&raw mut self.raw) };
    }
}

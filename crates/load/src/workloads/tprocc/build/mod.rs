//! Making the data. Lists and re-exports.

mod chunk_loader;
mod manifest;
mod rows_loaded;
mod run;
mod tables;

#[cfg(test)]
pub(super) use manifest::add_chunk;
pub(super) use manifest::{Manifest, add as add_entry, remove as remove_entry, wanted};
pub(super) use run::Build;

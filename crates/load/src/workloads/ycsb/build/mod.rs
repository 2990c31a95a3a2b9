//! Loading the data, in chunks that are each loaded and noted, or not. Lists and re-exports.

mod chunk;
mod load;
mod manifest;

pub(super) use load::Load;
pub(super) use manifest::{Manifest, wanted};

//! Results of others, published or imported, to draw beside the study's own. Reads and checks; may not draw.

mod built_in;
mod file;
mod little;
mod parts;
mod types;

pub use built_in::{REFERENCES, find_reference};
pub use file::{REFERENCE_FILE_MOST, read_reference};
pub use types::{
    Origin, PublishedFigure, Reference, ReferenceOperation, ReferencePoint, percentile_key, percentile_title,
};

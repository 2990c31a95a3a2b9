//! Results of others as references, which are drawn beside a study's own: published ones, and files that other programs wrote.
//! Pure: from the bytes of files to a reference or the list of everything that is wrong with them. May not open files, draw, or
//! change a number.

mod assemble;
mod cleanse;
mod go_ycsb;
mod hdr_log;
mod hdr_v1;
mod kinds;
mod logs;
mod properties;
mod reference;
mod reference_file;
mod source;
mod ycsb_lines;
mod ycsb_notes;
mod ycsb_text;

pub use assemble::{Labels, import};
pub use properties::study_text;
pub use reference::{
    Origin, PublishedFigure, REFERENCE_FILE_MOST, REFERENCES, Reference, ReferenceOperation, ReferencePoint,
    find_reference, percentile_key, percentile_title, read_reference,
};
pub use reference_file::reference_text;
pub use source::{Fault, SOURCE_FILE_MOST, SourceFile, faults_text};

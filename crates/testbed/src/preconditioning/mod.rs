//! Bringing a drive to the state in which it will stay, with fio, before anything on it is measured. May not know what is
//! measured afterwards. Lists and re-exports.
//!
//! Order of the SNIA Performance Test Specification: sequential fills of the whole size, random passes over it, then rounds
//! of the test's own pattern until five in a row are steady. Purging a drive is apart from it, before each run.
//!
//! fio also says how fast a drive reads in order, for the calibration of a study.

mod access;
mod job;
mod output;
mod procedure;
mod program;
mod purge;
mod reads;
mod run;
mod scratch;
mod steady;
mod summary;
mod target;

pub use procedure::{precondition, refusal};
pub(crate) use purge::purge;
pub use purge::purge_refusal;
pub(crate) use reads::{ToRead, measure_reads};
pub(crate) use run::{Within, abandon};
pub use scratch::sweep;

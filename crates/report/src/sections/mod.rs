//! The sections of the paper, in its order, from findings to blocks. May not compute statistics or know a format.

mod agents;
mod beside;
mod bottleneck;
mod charts;
mod comparison;
mod cores;
mod departures;
mod disclosure;
mod document;
mod efficiency;
mod facts;
mod failures;
mod input_audits;
mod latency;
mod method;
mod offered;
mod pacing;
mod reference;
mod resources;
mod results;
mod rounds;
mod search;
mod section;
mod settings;
mod stalls;
mod summary;
mod tested;
mod throughput;
mod timeline;
mod validity;
mod warehouse;

pub use comparison::comparison_document;
pub(crate) use document::date;
pub use document::document;
pub use section::{SECTIONS, Section};

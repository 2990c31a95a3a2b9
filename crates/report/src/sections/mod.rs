//! The sections of the paper, in its order, from findings to blocks. May not compute statistics or know a format.

mod bottleneck;
mod charts;
mod cores;
mod disclosure;
mod document;
mod facts;
mod latency;
mod method;
mod reference;
mod resources;
mod results;
mod section;
mod settings;
mod summary;
mod tested;
mod throughput;
mod timeline;
mod validity;

pub use document::document;
pub use section::{SECTIONS, Section};

//! The live page: a study that runs, or its record, in a browser. Lists and re-exports.

mod address;
mod metrics;
mod second;
mod server;
mod share;
mod view;

pub(crate) use address::bind;
pub(crate) use second::PageSecond;
pub(crate) use server::PageServer;
pub(crate) use share::PageShare;
pub(crate) use view::PageView;

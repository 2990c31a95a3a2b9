//! `doctor`: what this machine allows, with a remedy for what it does not. With a study: whether it can run here, whether the host is quiet
//! enough for it, and what the machine does to results. Lists and re-exports.

mod examination;
mod study;

pub(crate) use examination::run;

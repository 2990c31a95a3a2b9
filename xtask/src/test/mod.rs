//! All tests, built once and run side by side.

mod build;
mod place;
mod run;

pub(crate) use run::run;

//! All tests, built once and run side by side.

mod build;
mod ignored;
mod place;
mod run;
mod texts;

pub(crate) use run::run;

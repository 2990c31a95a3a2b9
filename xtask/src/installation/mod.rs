//! `installation`: installs what `dist` made, each way into a folder of its own, and runs a study from it as an ordinary user. Changes nothing of the
//! machine.

mod run;
mod study;
mod ways;

pub(crate) use run::run;

//! The conductor: carries out a plan run by run, through agents, and writes the record. Lists and re-exports.

mod calibration;
mod crew;
mod data;
mod journal;
mod labels;
mod load_agents;
mod member;
mod preparation;
mod run;
mod search;
mod study;
mod warm_up;
mod whole_run;

pub(crate) use calibration::{Calibrations, Part};
pub(crate) use journal::Journal;
pub(crate) use labels::labels;
pub(crate) use preparation::Prepared;
pub(crate) use study::{Assignment, Outcome, conduct};

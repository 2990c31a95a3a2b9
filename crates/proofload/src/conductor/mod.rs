//! The conductor: carries out a plan run by run, through agents, and writes the record. Lists and re-exports.

mod agent;
mod agents;
mod calibration;
mod commit_levels;
mod data;
mod drill;
mod duet;
mod heard;
mod journal;
mod labels;
mod load;
mod managed_drill;
mod meeting;
mod preparation;
mod promotion;
pub(crate) mod quiet_check;
mod quiet_window;
mod rejoin;
mod replication;
mod retry;
mod run;
mod run_context;
mod run_state;
mod search;
mod study;
mod testbed;
mod turns;
mod warm_up;
mod whole_run;

pub(crate) use calibration::{CalibrationStep, Calibrations};
pub(crate) use duet::conduct_duet;
pub(crate) use journal::Journal;
pub(crate) use labels::labels;
pub(crate) use preparation::PreparedRun;
pub(crate) use study::{Assignment, Outcome, conduct};
pub(crate) use turns::{Side, conduct_in_turns, half_done};

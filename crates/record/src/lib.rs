//! The record: one append-only SQLite file per study, enough to rebuild every figure years later.
//!
//! This crate is its only writer and its only reader. It may not compute statistics, read a clock or know what a workload is.

mod agents;
mod attempt_rows;
mod chain;
mod compat;
mod content;
mod digest;
mod error;
mod events;
mod file;
mod follower;
mod growing;
mod last_rows;
mod lock;
mod reader;
mod recorder;
mod resumption;
mod rows;
mod run_attempts;
mod samples;
mod schema;
mod seal;
mod verification;

pub use agents::AgentRows;
pub use content::{
    Attempt, AttemptEvent, LogLine, PLAN_DOCUMENT, Record, STUDY_DOCUMENT, STUDY_FILE, SeriesPoint, SessionLine, State,
};
pub use error::Error;
pub use file::{file_sha256, is_record};
pub use follower::Follower;
pub use growing::GrowingRecord;
pub use reader::{prove, read, read_progress, read_proved};
pub use recorder::{AttemptId, Opening, Recorder};
pub use run_attempts::RunAttempts;
pub use schema::{APPLICATION_ID, FORMAT};
pub use verification::Proof;

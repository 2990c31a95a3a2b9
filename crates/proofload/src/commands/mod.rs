//! One file per command. Lists them.

mod built_in;
mod compare;
mod completions;
mod confirm;
mod dispatch;
mod doctor;
mod duet;
mod ending;
mod export;
mod gate;
mod import;
mod init;
mod logo;
mod man;
mod pilot;
mod plan;
mod plan_json;
mod plan_times;
mod refused_limits;
mod report;
mod run;
mod schema;
mod sign;
mod ssh_keygen;
mod status;
mod status_json;
mod studies;
mod study_file;
mod study_needs;
mod target;
mod tier;
mod turns;
mod validate;
mod verdict;
mod verify;

pub(crate) use dispatch::dispatch;

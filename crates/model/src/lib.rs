//! The words that all of Proofload shares: units, settings, the study file, the plan, samples and the messages of agents.
//!
//! Everything here is pure. This crate may not read a clock, start a thread, or touch a file system, an environment or a network.

pub mod catalogue;
pub mod commit_levels;
pub mod data_file;
pub mod deployment;
pub mod drill;
pub mod duet_check;
pub mod engines;
pub mod error;
pub mod events;
pub mod facts;
pub mod fault_strength;
pub mod group_failover;
pub mod intervention;
pub mod ledger;
pub mod letters;
pub mod load_share;
pub mod log_level;
pub mod manager;
pub mod network;
pub mod plan;
pub mod prober;
pub mod readiness;
pub mod replication;
pub mod samples;
pub mod secret;
pub mod series;
pub mod server_url;
pub mod session_state;
pub mod setting_words;
pub mod settings;
pub mod standby_hosts;
pub mod step_count;
pub mod study;
pub mod tier;
pub mod tier_cleaning;
pub mod tier_warming;
pub mod time;
pub mod units;
pub mod wire;
mod words;

//! Local instances of servers: made, started under limits, watched, stopped. Knows recipes, not engines. Lists and re-exports.

mod create;
mod killed;
mod launch;
mod log;
mod rewind;
mod secrets;
mod server;
mod start;
mod user;

pub(crate) use create::{create, fill};
pub(crate) use killed::{free_after_kill, free_after_kill_or_warn, freed_after_kill};
pub(crate) use launch::{Launch, launch};
pub(crate) use rewind::{rewind, rewind_passwords, unlead};
pub(crate) use secrets::{SecretFiles, write_secret};
pub(crate) use server::{Server, StopSignals};
pub(crate) use start::{Start, WayIn, free_port, lead, refit_log, start};
pub(crate) use user::{User, give_to_server};

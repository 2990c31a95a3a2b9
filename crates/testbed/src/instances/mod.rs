//! Local instances of servers: made, started under limits, watched, stopped. Knows recipes, not engines. Lists and re-exports.

mod create;
mod log;
mod server;
mod start;
mod user;

pub(crate) use create::create;
pub(crate) use server::Server;
pub(crate) use start::{Start, lead, start};
pub(crate) use user::give_to_server;

//! A database on a cache tier in this process: its file and its log are volumes of a pool, which SQLite reads and writes by a VFS. Lists and
//! re-exports.

mod guard;
mod log_file;
mod mount;
mod sized_file;
#[cfg(test)]
mod tests;
mod vfs;

pub(super) use guard::{MountGuard, is_behind_a_tier};
pub(super) use vfs::register;

//! Databases that are made at a server for one use and dropped after it. Each has a mark, by which it is known again after a kill; no other
//! database is ever dropped.

use super::engine::{Target, Work};
use super::error::Error;

/// What stands at a server under the name of a scratch database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScratchState {
    /// Nothing.
    Absent,
    /// A scratch database that was left behind, or that is in use.
    Marked,
    /// A database without the mark: somebody's.
    Foreign,
}

/// Makes and drops scratch databases at a server.
pub trait ScratchDatabases: Sync {
    /// The URL with this database in the place of the one that it names.
    ///
    /// # Errors
    /// The URL is not understood.
    fn url(&self, url: &str, database: &str) -> Result<String, Error>;

    /// What stands under this name at the server of a target.
    fn look<'a>(&'a self, server: &'a Target, database: &'a str) -> Work<'a, ScratchState>;

    /// Makes an empty one with its mark. Fails where anything stands under this name.
    fn make<'a>(&'a self, server: &'a Target, database: &'a str) -> Work<'a, ()>;

    /// Drops a marked one; refuses every other, and one that somebody else is connected to.
    fn remove<'a>(&'a self, server: &'a Target, database: &'a str) -> Work<'a, ()>;
}

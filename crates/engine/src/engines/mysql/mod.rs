//! MySQL 8.4 and later: a local instance that Proofload starts, or a server reached by URL.

mod flavour;

pub(super) use flavour::FLAVOUR;
pub use flavour::Mysql;

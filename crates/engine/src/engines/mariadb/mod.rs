//! MariaDB 10.6 and later: a local instance that Proofload starts, or a server reached by URL.

mod flavour;
mod page_flushing;

pub(super) use flavour::FLAVOUR;
pub use flavour::Mariadb;

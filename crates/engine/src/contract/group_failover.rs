//! Failover of a group of servers that Proofload did not start, by the servers' own command. May not decide when.

use super::engine::Target;
use super::error::Error;
use proofload_model::group_failover::{FailoverChoice, FailoverKind, SeedingReading};

/// Servers of a group that make one of their standbys the primary when they are told to.
pub trait GroupFailover: Sync {
    /// Chooses the standby that takes over, and makes sure that it may; nothing is changed. Blocking.
    fn prepare(&self, servers: &Target, kind: FailoverKind) -> Result<Box<dyn FailoverOrder>, Error>;

    /// Lets standbys follow again that a forced failover has suspended, as far as they are standbys by now; tells whether each server takes
    /// part. Blocking.
    fn resume(&self, servers: &Target) -> Result<bool, Error>;

    /// Reads which standbys do not follow since they are being filled, or since that has failed. Blocking.
    fn seeding(&self, servers: &Target) -> Result<Vec<SeedingReading>, Error>;
}

/// Order to fail over that has not been given yet. Owns its connections and its runtime; blocking.
pub trait FailoverOrder: Send {
    /// Tells who takes over from whom.
    fn choice(&self) -> &FailoverChoice;

    /// Gives the order, and waits until the servers have carried it out.
    fn give(&mut self) -> Result<(), Error>;

    /// Tells whether the chosen standby is the primary by its own word, and takes writes.
    fn is_in_force(&mut self) -> Result<bool, Error>;
}

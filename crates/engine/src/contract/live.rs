//! Settings of a running local instance that experiments change.

use super::engine::Target;
use super::error::Error;
use std::time::Duration;

/// What is changed of an engine in an experiment.
#[derive(Debug, Clone, Copy)]
pub struct LiveSetting {
    /// Name of the resource, one of `proofload_model::intervention::LIVE_ENGINE`.
    pub resource: &'static str,
    /// How it is changed.
    pub change: LiveChange,
    /// How long a change takes to act.
    pub settles: Duration,
}

/// How it is changed.
#[derive(Debug, Clone, Copy)]
pub enum LiveChange {
    /// Work of the server's own is off while these settings have these values, each as the server itself spells it.
    Off(&'static [(&'static str, &'static str)]),
    /// Work of the server's own is off while this size has at least so many bytes; there is nothing to change where it has them already.
    OffFrom(&'static str, u64),
    /// A size in bytes: the setting.
    Size(&'static str),
}

/// Settings that can be changed while an instance of ours runs.
pub trait LiveSettings: Sync {
    /// What can be changed.
    fn known(&self) -> &'static [LiveSetting];

    /// Reads the values in force, in the server's spelling, in the order of the names. Blocking.
    fn read(&self, instance: &Target, names: &[&str]) -> Result<Vec<String>, Error>;

    /// Puts values in force in the running instance and for none of its later starts; answers once they are. Blocking.
    fn put(&self, instance: &Target, settings: &[(String, String)]) -> Result<(), Error>;

    /// Tells whether work of a resource goes on in the running instance at this moment, which its settings may let end later; false of what
    /// is no work. Blocking.
    fn is_at_work(&self, _instance: &Target, _resource: &str) -> Result<bool, Error> {
        Ok(false)
    }

    /// Does what work of a resource has left undone while it was off, as far as that takes a limited time; an error where it takes longer.
    /// Blocking.
    fn catch_up(&self, _instance: &Target, _resource: &str) -> Result<(), Error> {
        Ok(())
    }
}

//! The deployment under test: instances of a database server, each with a name. May not know how an instance is run.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Name of an instance in its deployment. The empty name, the default, belongs to no instance; records of formats 1 to 3 know no other.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InstanceName(String);

impl InstanceName {
    /// A name as a study or a record gives it.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name of the only instance of a deployment of one.
    pub fn primary() -> Self {
        Self::new("primary")
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Tells whether this is the name of no instance.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for InstanceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

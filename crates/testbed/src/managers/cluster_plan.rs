//! Everything about a cluster that a manager's configuration needs. Built before anything runs; may not know a manager.

use proofload_engine::ManagedServer;
use proofload_model::deployment::InstanceName;
use proofload_model::manager::ManagerAsked;
use proofload_model::replication::ReplicationMode;
use proofload_model::secret::Secret;
use std::path::{Path, PathBuf};

/// Folder, in that of an instance or of the arbiter, in which a manager's processes work.
pub(crate) fn folder(place: &Path) -> PathBuf {
    place.join("manager")
}

/// A cluster.
#[derive(Clone)]
pub(crate) struct ClusterPlan {
    pub(crate) asked: ManagerAsked,
    pub(crate) mode: ReplicationMode,
    /// Instances, the first of which shall lead.
    pub(crate) nodes: Vec<NodePlan>,
    pub(crate) arbiter: ArbiterPlan,
    /// Password of the accounts that come over the network.
    pub(crate) password: Secret,
}

/// An instance of a cluster.
#[derive(Debug, Clone)]
pub(crate) struct NodePlan {
    pub(crate) name: InstanceName,
    /// Folder in which its manager works.
    pub(crate) folder: PathBuf,
    /// Data folder of its server.
    pub(crate) data: PathBuf,
    /// Port of its server.
    pub(crate) port: u16,
    /// Port of its manager.
    pub(crate) own_port: u16,
    pub(crate) server: ManagedServer,
}

/// What decides who leads.
#[derive(Debug, Clone)]
pub(crate) struct ArbiterPlan {
    /// Folder in which it works.
    pub(crate) folder: PathBuf,
    /// Port for managers.
    pub(crate) port: u16,
    /// Port for others like it.
    pub(crate) peer_port: u16,
}

impl ClusterPlan {
    /// The node of a name.
    pub(crate) fn node(&self, name: &str) -> Option<&NodePlan> {
        self.nodes.iter().find(|node| node.name.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_managers_folder_lies_in_that_of_its_instance() {
        assert_eq!(folder(Path::new("/d/x.standby-1")), Path::new("/d/x.standby-1/manager"));
    }
}

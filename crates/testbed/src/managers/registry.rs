//! The list of managers, and whether one can be used on this host.

use super::manager::Manager;
use super::patroni::Patroni;
use super::pg_auto_failover::PgAutoFailover;
use super::programs::{find, refuse_services};
use proofload_model::error::Error;
use proofload_model::manager::ManagerKind;

/// Every manager.
const MANAGERS: &[&dyn Manager] = &[&Patroni, &PgAutoFailover];

/// The manager of a kind.
pub(crate) fn manager(kind: ManagerKind) -> Result<&'static dyn Manager, Error> {
    let found = MANAGERS.iter().find(|manager| manager.kind() == kind);
    found.copied().ok_or_else(|| Error::refused(format!("failed to run {kind}: it is not supported")))
}

/// Makes sure that a manager can be used on this host.
///
/// # Errors
/// A program that is missing, with its package, or a service that is in the way.
pub(crate) fn ready(kind: ManagerKind) -> Result<(), Error> {
    let manager = manager(kind)?;
    let missing: Vec<String> =
        manager.programs().iter().filter_map(|program| find(*program).err()).map(|error| error.to_string()).collect();
    if !missing.is_empty() {
        return Err(Error::refused(format!("replication.manager {}: {}", kind.word(), missing.join("; "))));
    }
    refuse_services(manager.services()).map_err(|error| error.context(format!("replication.manager {}", kind.word())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_one_adapter() {
        for kind in ManagerKind::ALL {
            assert_eq!(MANAGERS.iter().filter(|manager| manager.kind() == kind).count(), 1, "{kind}");
        }
    }
}

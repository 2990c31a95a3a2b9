//! Names that the parts of this engine share.

/// The database of a local instance, and of a URL that names none.
pub(super) const DATABASE: &str = "proofload";
/// The name under which a server lists our connections.
pub(super) const APPLICATION: &str = "proofload";
/// The replica set of a local instance.
pub(super) const REPLICA_SET: &str = "proofload";
/// The collection that marks a database as ours.
pub(super) const MARK_COLLECTION: &str = "proofload_mark";
/// How the names of collections begin on which both client paths are compared; they are gone afterwards.
pub(super) const SCRATCH_COLLECTIONS: &str = "proofload_selfcheck_";

/// Whether this collection belongs to the server or to this engine's mark, and not to a workload.
pub(super) fn is_internal(collection: &str) -> bool {
    collection == MARK_COLLECTION || ["system.", SCRATCH_COLLECTIONS].iter().any(|start| collection.starts_with(start))
}

//! Kinds of operations of a paced load. A table.

/// Those of a user, and the Deliveries that were queued and are done later.
pub(in crate::workloads::tprocc) const KINDS: &[&str] =
    &["new_order", "payment", "order_status", "delivery", "stock_level", "deferred_delivery"];

/// Number of the kind of Deliveries that are done later.
pub(in crate::workloads::tprocc) const DEFERRED: usize = 5;

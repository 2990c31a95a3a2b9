//! Kinds of operations of a paced load. A table.

/// Kinds of a user's operations, and the Deliveries that were queued and are done later.
pub(crate) const KINDS: &[&str] =
    &["new_order", "payment", "order_status", "delivery", "stock_level", "deferred_delivery"];

/// Number of the kind of Deliveries that are done later.
pub(crate) const DEFERRED: usize = 5;

//! The five transactions, each written once for all engines. Lists them.

pub(super) mod delivery;
pub(super) mod new_order;
pub(super) mod order_status;
pub(super) mod payment;
pub(super) mod stock_level;

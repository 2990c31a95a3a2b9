//! The five transactions, each written once for all engines, as statements and as calls of procedures. Lists them.

mod by_procedure;
pub(super) mod delivery;
mod in_one_flight;
pub(super) mod new_order;
pub(super) mod order_status;
pub(super) mod payment;
pub(super) mod stock_level;

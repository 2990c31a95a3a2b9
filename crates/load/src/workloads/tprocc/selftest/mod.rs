//! What holds of order entry on every engine, as functions of a small database: for the self-test and for the tests. Lists and re-exports.

mod bench;
mod isolation;
mod kills;
mod meeting;
mod parts;
mod races;

pub(super) use bench::OltpBench;
#[cfg(test)]
pub(super) use bench::toy;
#[cfg(test)]
pub(super) use isolation::{
    a_delivery_that_found_no_order, a_payment_and_a_delivery, one_price_of_an_item, orders_are_seen_when_committed,
    two_orders_of_one_district, whole_orders,
};
pub use kills::build_apart;
#[cfg(test)]
pub(super) use kills::{BUILD_CHANGES, build_with_kills};
pub(super) use meeting::MEETING_KEYS;
pub(super) use meeting::MeetingWords;
pub(super) use parts::PARTS;
#[cfg(test)]
pub(super) use races::{an_order_rolled_back, two_deliveries, two_payments};

//! `limits.read_iops`: requests per second from the block device under the data.

use super::throttle::{Direction, RateUnit, Throttle};
use proofload_model::facts::limit;
use proofload_model::settings::setting;

/// The limit.
pub(super) const LIMIT: Throttle = Throttle {
    setting: setting::LIMITS_READ_IOPS,
    fact: limit::READ_IOPS,
    direction: Direction::Read,
    unit: RateUnit::Requests,
    file: "blkio.throttle.read_iops_device",
    key: "riops",
    rate: |asked| asked.read_iops.map(u64::from),
    text: |rate| format!("{rate} requests/s"),
};

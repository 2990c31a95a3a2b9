//! `limits.write_iops`: requests per second to the block device under the data.

use super::throttle::{Direction, RateUnit, Throttle};
use proofload_model::facts::limit;
use proofload_model::settings::setting;

/// The limit.
pub(super) const LIMIT: Throttle = Throttle {
    setting: setting::LIMITS_WRITE_IOPS,
    fact: limit::WRITE_IOPS,
    direction: Direction::Write,
    unit: RateUnit::Requests,
    file: "blkio.throttle.write_iops_device",
    key: "wiops",
    rate: |asked| asked.write_iops.map(u64::from),
    text: |rate| format!("{rate} requests/s"),
};

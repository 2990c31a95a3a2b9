//! `limits.read_bandwidth`: bytes per second from the block device under the data.

use super::throttle::{Direction, RateUnit, Throttle};
use proofload_model::facts::limit;
use proofload_model::settings::setting;
use proofload_model::units::BytesPerSecond;

/// The limit.
pub(super) const LIMIT: Throttle = Throttle {
    setting: setting::LIMITS_READ_BANDWIDTH,
    fact: limit::READ_BANDWIDTH,
    direction: Direction::Read,
    unit: RateUnit::Bytes,
    file: "blkio.throttle.read_bps_device",
    key: "rbps",
    rate: |asked| asked.read_bandwidth.map(|rate| rate.0),
    text: |rate| BytesPerSecond(rate).to_string(),
};

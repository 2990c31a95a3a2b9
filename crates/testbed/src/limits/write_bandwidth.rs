//! `limits.write_bandwidth`: bytes per second to the block device under the data.

use super::throttle::{Direction, RateUnit, Throttle};
use proofload_model::facts::limit;
use proofload_model::settings::setting;
use proofload_model::units::BytesPerSecond;

/// The limit.
pub(super) const LIMIT: Throttle = Throttle {
    setting: setting::LIMITS_WRITE_BANDWIDTH,
    fact: limit::WRITE_BANDWIDTH,
    direction: Direction::Write,
    unit: RateUnit::Bytes,
    file: "blkio.throttle.write_bps_device",
    key: "wbps",
    rate: |asked| asked.write_bandwidth.map(|rate| rate.0),
    text: |rate| BytesPerSecond(rate).to_string(),
};

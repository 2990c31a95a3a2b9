//! One second of load as the live page draws it.

use crate::live::{DeviceNow, HostNow};
use serde_json::{Value as Json, json};

/// One second of load.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PageSecond {
    /// Its number since the load began.
    pub(crate) index: u64,
    /// Units of work; `None` where the load generator stood still.
    pub(crate) rate: Option<f64>,
    /// 99th percentile of response times, ns.
    pub(crate) response_ns_p99: Option<u64>,
    /// What the devices under the data did.
    pub(crate) device: Option<DeviceNow>,
    /// What others took of the processor.
    pub(crate) host: Option<HostNow>,
}

impl PageSecond {
    /// Numbers in the units of the page's axes, in their order: second, work/s, ms, MB/s read, MB/s written, requests, % stolen, % taken by
    /// other processes.
    pub(crate) fn json(&self) -> Json {
        let rounded = |value: f64| (value * 1000.0).round() / 1000.0;
        let device = |of: fn(&DeviceNow) -> f64, factor: f64| self.device.as_ref().map(|now| rounded(of(now) * factor));
        let host =
            |of: fn(&HostNow) -> Option<f64>| self.host.as_ref().and_then(of).map(|share| rounded(100.0 * share));
        json!([
            self.index,
            self.rate.map(rounded),
            self.response_ns_p99.map(|p99| rounded(p99 as f64 * 1e-6)),
            device(|now| now.read, 1e-6),
            device(|now| now.written, 1e-6),
            device(|now| now.queue, 1.0),
            host(|now| now.stolen),
            host(|now| now.foreign),
        ])
    }
}

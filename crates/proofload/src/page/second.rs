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
    /// other processes, % of the reads that were of others, % of its time in which the spin probe had no core.
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
            host(|now| now.reads),
            host(|now| now.spin),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_has_a_number_for_each_axis() {
        let host = HostNow { stolen: Some(0.5), foreign: None, reads: Some(0.125), spin: Some(0.25) };
        let second = PageSecond {
            index: 3,
            rate: Some(10.0),
            response_ns_p99: Some(2_000_000),
            device: Some(DeviceNow { read: 1e6, written: 2e6, queue: 1.5 }),
            host: Some(host),
        };
        assert_eq!(second.json(), json!([3, 10.0, 2.0, 1.0, 2.0, 1.5, 50.0, null, 12.5, 25.0]));
        let page = include_str!("page.html");
        let axes = page.lines().find(|line| line.starts_with("const STRIPS")).expect("the page names its axes");
        assert_eq!(axes.matches("[\"").count() + 1, 10, "the second's number, and an axis for each of the others");
    }
}

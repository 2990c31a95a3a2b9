//! The state of a running study as OpenMetrics text, for a scraper. Source of the form: OpenMetrics 1.0.

use super::share::PageShare;
use std::fmt::Write;

/// The media type of the text.
pub(super) const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Renders the gauges; what is not known has no line.
pub(super) fn metrics(share: &PageShare) -> String {
    let (head, _, last) = share.last();
    let mut text = String::new();
    let study =
        head["study"].as_str().unwrap_or_default().replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let mut gauge = |name: &str, unit: &str, help: &str, value: Option<f64>| {
        let Some(value) = value.filter(|value| value.is_finite()) else { return };
        let full = if unit.is_empty() { format!("proofload_{name}") } else { format!("proofload_{name}_{unit}") };
        let _ = writeln!(text, "# TYPE {full} gauge");
        if !unit.is_empty() {
            let _ = writeln!(text, "# UNIT {full} {unit}");
        }
        let _ = writeln!(text, "# HELP {full} {help}\n{full}{{study=\"{study}\"}} {value}");
    };
    gauge("runs_done", "", "Finished runs of the study.", head["done"].as_f64());
    gauge("runs", "", "Runs that the study can have.", head["of"].as_f64());
    gauge("left", "seconds", "Expected time until the study ends.", head["left_s"].as_f64());
    gauge("ended", "", "1 when the study has ended.", head["ended"].as_bool().map(|ended| f64::from(u8::from(ended))));
    if let Some(last) = last {
        let device = last.device.as_ref();
        let host = last.host.as_ref();
        gauge("throughput", "", "Units of work in the last second.", last.rate);
        let p99 = last.response_ns_p99.map(|p99| p99 as f64 * 1e-9);
        gauge("response_p99", "seconds", "99th percentile of response times in the last second.", p99);
        gauge("device_read", "bytes", "Bytes read from the devices in the last second.", device.map(|now| now.read));
        gauge(
            "device_written",
            "bytes",
            "Bytes written to the devices in the last second.",
            device.map(|now| now.written),
        );
        gauge("device_queue", "", "Mean requests in flight in the last second.", device.map(|now| now.queue));
        gauge("host_stolen", "ratio", "Share of demanded CPU that other guests got.", host.and_then(|now| now.stolen));
        gauge(
            "host_foreign",
            "ratio",
            "Share of the cores that other processes used.",
            host.and_then(|now| now.foreign),
        );
        gauge(
            "host_foreign_reads",
            "ratio",
            "Share of the reads from the devices that were not the database's.",
            host.and_then(|now| now.reads),
        );
        gauge(
            "host_spin",
            "ratio",
            "Share of its time in which the spin probe had no core.",
            host.and_then(|now| now.spin),
        );
    }
    text.push_str("# EOF\n");
    text
}

#[cfg(test)]
mod tests {
    use super::super::second::PageSecond;
    use super::*;
    use crate::live::HostNow;

    /// What others did with the processor and with the devices has a gauge each; what was not observed has none.
    #[test]
    fn what_others_did_is_told_where_it_was_observed() {
        let told = |host: HostNow| {
            let share = PageShare::new();
            share.add(PageSecond { index: 0, rate: None, response_ns_p99: None, device: None, host: Some(host) });
            metrics(&share)
        };
        let all = told(HostNow { stolen: Some(0.5), foreign: Some(0.25), reads: Some(0.125), spin: Some(0.75) });
        for (name, value) in [("stolen", "0.5"), ("foreign", "0.25"), ("foreign_reads", "0.125"), ("spin", "0.75")] {
            let line = format!("proofload_host_{name}_ratio{{study=\"\"}} {value}\n");
            assert!(all.contains(&line), "{line}{all}");
        }
        let none = told(HostNow::default());
        assert!(!none.contains("proofload_host") && none.ends_with("# EOF\n"), "{none}");
    }
}

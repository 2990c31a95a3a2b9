//! One endpoint as a probe: its text becomes readings of `cores`, `device`, `memory`, and `scraped` for what the study names besides.

use super::super::probe::ProbeReadings;
use super::super::rates::Rates;
use super::super::runner::Source;
use super::endpoint::fetch;
use super::exposition::{Sample, samples};
use super::hosts::{
    CPU, Counter, DEVICE_LABELS, DEVICE_LEVELS, DEVICES, MEMORY, MEMORY_IN_USE, Mode, mode, stands_on_others,
};
use super::kept::SelectedSeries;
use proofload_model::error::Error;
use proofload_model::samples::Reading;
use proofload_model::series::{self, SeriesName};
use proofload_model::wire::ScrapeSpec;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// An endpoint.
pub(in super::super) struct Endpoint {
    url: String,
    device: Option<String>,
    kept: SelectedSeries,
    rates: Rates,
}

/// A probe for each endpoint.
pub(in super::super) fn open(scraped: &ScrapeSpec) -> Vec<Endpoint> {
    let endpoint = |url: &String| Endpoint {
        url: url.clone(),
        device: scraped.device.clone(),
        kept: SelectedSeries::new(&scraped.series),
        rates: Rates::default(),
    };
    scraped.endpoints.iter().map(endpoint).collect()
}

impl Source for Endpoint {
    fn parts(&mut self, span: Option<Duration>) -> Result<Vec<ProbeReadings>, Error> {
        let text = fetch(&self.url)?;
        self.understand(&text, span)
    }
}

impl Endpoint {
    fn understand(&mut self, text: &str, span: Option<Duration>) -> Result<Vec<ProbeReadings>, Error> {
        let device = self.the_device(text)?;
        self.rates.turn(span);
        let parts = [
            (series::cores::PROBE, self.cores(text)),
            (series::device::PROBE, device.map(|device| self.of_device(text, &device, span)).unwrap_or_default()),
            (series::memory::PROBE, self.memory(text)),
            ("scraped", self.kept.read(text, span)),
        ];
        Ok(parts.into_iter().filter(|(_, readings)| !readings.is_empty()).collect())
    }

    /// Use of each core, per cent, and their mean.
    fn cores(&mut self, text: &str) -> Vec<Reading> {
        let mut by_core: BTreeMap<&str, BTreeMap<&'static str, (SeriesName, f64)>> = BTreeMap::new();
        for sample in samples(text) {
            let Some((_, label)) = CPU.iter().find(|(metric, _)| *metric == sample.name) else { continue };
            let (Some(core), Some(of)) = (sample.label(label), sample.label("mode")) else { continue };
            let all: &[SeriesName] = match mode(of) {
                Mode::User => &[series::cores::USER, series::cores::BUSY],
                Mode::System => &[series::cores::SYSTEM, series::cores::BUSY],
                Mode::Iowait => &[series::cores::IOWAIT],
                Mode::Steal => &[series::cores::STEAL, series::cores::BUSY],
                Mode::Nothing => continue,
            };
            for series in all {
                let of_core = by_core.entry(core).or_default();
                of_core.entry(series.name).or_insert((*series, 0.0)).1 += sample.value;
            }
        }
        let (mut readings, mut busy) = (Vec::new(), Vec::new());
        for (core, seconds) in by_core {
            for (name, (series, total)) in seconds {
                let rate = self.rates.per_second(&format!("core {core} {name}"), total);
                let Some(percent) = rate.map(|rate| (rate * 100.0).min(100.0)) else { continue };
                if series == series::cores::BUSY {
                    busy.push(percent);
                }
                readings.push(series.reading(core, percent));
            }
        }
        if !busy.is_empty() {
            readings.push(series::cores::BUSY_MEAN.reading("", busy.iter().sum::<f64>() / busy.len() as f64));
        }
        readings
    }

    /// The device whose readings are kept: the named one, or the only one. `None` where the exporter reports no
    /// devices.
    fn the_device(&self, text: &str) -> Result<Option<String>, Error> {
        let told: BTreeSet<&str> = samples(text).filter_map(|sample| device_of(&sample)).collect();
        if told.is_empty() {
            return Ok(None);
        }
        if let Some(named) = &self.device {
            let there = || told.iter().copied().collect::<Vec<_>>().join(", ");
            let found = told.contains(named.as_str()).then(|| named.clone());
            let missing =
                || Error::new(format!("failed to scrape {}: unknown device {named}; known: {}", self.url, there()));
            return found.map(Some).ok_or_else(missing);
        }
        let mut own = told.iter().filter(|device| !stands_on_others(device));
        match (own.next(), own.next()) {
            (Some(only), None) => Ok(Some((*only).to_owned())),
            _ => Err(Error::new(format!(
                "failed to scrape {}: it reports several devices ({}); set observe.device to the database's",
                self.url,
                told.iter().copied().collect::<Vec<_>>().join(", ")
            ))),
        }
    }

    fn of_device(&mut self, text: &str, device: &str, span: Option<Duration>) -> Vec<Reading> {
        let mut readings = Vec::new();
        for sample in samples(text).filter(|sample| device_of(sample) == Some(device)) {
            if let Some(counter) = DEVICES.iter().find(|counter| counter.metric == sample.name) {
                readings.extend(self.rate(counter, device, sample.value));
            }
            let level = DEVICE_LEVELS.iter().find(|(metric, _)| *metric == sample.name);
            readings.extend(level.filter(|_| span.is_some()).map(|(_, series)| series.reading(device, sample.value)));
        }
        readings
    }

    fn memory(&mut self, text: &str) -> Vec<Reading> {
        let value = |wanted: &str| samples(text).find(|sample| sample.name == wanted).map(|sample| sample.value);
        let mut readings = Vec::new();
        for counter in MEMORY {
            let total = value(counter.metric);
            readings.extend(total.and_then(|total| self.rate(counter, "", total)));
        }
        for (all, left) in MEMORY_IN_USE {
            if let (Some(all), Some(left)) = (value(all), value(left)) {
                readings.push(series::memory::HOST_IN_USE.reading("", all - left));
            }
        }
        readings
    }

    fn rate(&mut self, counter: &Counter, component: &str, total: f64) -> Option<Reading> {
        let rate = self.rates.per_second(&format!("{component} {}", counter.metric), total)? * counter.factor;
        let value = if counter.is_idle { (counter.factor - rate).clamp(0.0, counter.factor) } else { rate };
        Some(counter.series.reading(component, value))
    }
}

/// The device that a sample is about, when it is one that is kept.
fn device_of<'t>(sample: &Sample<'t>) -> Option<&'t str> {
    let known = DEVICES.iter().any(|counter| counter.metric == sample.name)
        || DEVICE_LEVELS.iter().any(|(metric, _)| *metric == sample.name);
    known.then(|| DEVICE_LABELS.iter().find_map(|label| sample.label(label))).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(device: Option<&str>) -> Endpoint {
        Endpoint {
            url: "http://db1:9100/metrics".to_owned(),
            device: device.map(str::to_owned),
            kept: SelectedSeries::default(),
            rates: Rates::default(),
        }
    }

    #[track_caller]
    fn check(device: Option<&str>, before: &str, after: &str, seconds: u64, expected: &[(&str, &str, &str, f64)]) {
        let mut endpoint = endpoint(device);
        endpoint.understand(before, None).unwrap();
        let parts = endpoint.understand(after, Some(Duration::from_secs(seconds))).unwrap();
        let flat = |(probe, readings): &ProbeReadings| {
            let probe = *probe;
            readings
                .iter()
                .map(move |each| (probe, each.name.clone(), each.component.clone(), each.value))
                .collect::<Vec<_>>()
        };
        let found: Vec<_> = parts.iter().flat_map(flat).collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(probe, name, component, value)| (*probe, (*name).to_owned(), (*component).to_owned(), *value))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_linux_host_is_read_as_our_own_probes_would() {
        let text = |user: f64, steal: f64, bytes: f64, io: f64| {
            format!(
                "node_cpu_seconds_total{{cpu=\"0\",mode=\"idle\"}} 90\nnode_cpu_seconds_total{{cpu=\"0\",mode=\"user\"}} {user}\n\
                 node_cpu_seconds_total{{cpu=\"0\",mode=\"steal\"}} {steal}\n\
                 node_disk_read_bytes_total{{device=\"nvme0n1\"}} {bytes}\nnode_disk_read_bytes_total{{device=\"dm-0\"}} {bytes}\n\
                 node_disk_io_time_seconds_total{{device=\"nvme0n1\"}} {io}\nnode_disk_io_now{{device=\"nvme0n1\"}} 3\n\
                 node_memory_MemTotal_bytes 1000\nnode_memory_MemAvailable_bytes 400\n"
            )
        };
        let expected = [
            ("cores", "busy", "0", 50.0),
            ("cores", "steal", "0", 25.0),
            ("cores", "user", "0", 25.0),
            ("cores", "busy_mean", "", 50.0),
            ("device", "read_bytes", "nvme0n1", 2048.0),
            ("device", "busy", "nvme0n1", 75.0),
            ("device", "in_flight", "nvme0n1", 3.0),
            ("memory", "host_in_use", "", 600.0),
        ];
        check(None, &text(10.0, 1.0, 0.0, 5.0), &text(10.5, 1.5, 4096.0, 6.5), 2, &expected);
    }

    #[test]
    fn a_windows_host_is_read_as_our_own_probes_would() {
        let text = |privileged: f64, idle: f64| {
            format!(
                "windows_cpu_time_total{{core=\"0,0\",mode=\"privileged\"}} {privileged}\n\
                 windows_cpu_time_total{{core=\"0,0\",mode=\"dpc\"}} {privileged}\n\
                 windows_logical_disk_idle_seconds_total{{volume=\"D:\"}} {idle}\n\
                 windows_logical_disk_idle_seconds_total{{volume=\"C:\"}} {idle}\n"
            )
        };
        let expected = [
            ("cores", "busy", "0,0", 50.0),
            ("cores", "system", "0,0", 50.0),
            ("cores", "busy_mean", "", 50.0),
            ("device", "busy", "D:", 75.0),
        ];
        check(Some("D:"), &text(1.0, 10.0), &text(2.0, 10.5), 2, &expected);
    }

    #[test]
    fn several_devices_want_one_named() {
        let text = "node_disk_read_bytes_total{device=\"sda\"} 1\nnode_disk_read_bytes_total{device=\"sdb\"} 1\n";
        let refused = |device| endpoint(device).understand(text, None).unwrap_err().to_string();
        assert!(refused(None).contains("several devices (sda, sdb); set observe.device to the database's"));
        assert!(refused(Some("sdc")).contains("unknown device sdc; known: sda, sdb"));
    }
}

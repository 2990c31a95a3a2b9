//! One endpoint as a probe: its text becomes readings of `cores`, `device`, `network`, `memory`, and `scraped` for what the study names
//! besides.

use super::super::probe::ProbeReadings;
use super::super::rates::Rates;
use super::super::runner::Source;
use super::endpoint::fetch;
use super::exposition::{Sample, samples};
use super::hosts::{
    CPU, Counter, DEVICE_LABELS, DEVICE_LEVELS, DEVICE_TIMES, DEVICES, INTERFACE_LABELS, MEMORY, MEMORY_IN_USE, Mode,
    NETWORK, mode, stands_on_others, stays_inside,
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
            (series::network::PROBE, self.network(text)),
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
        readings.extend(self.queue(text, device));
        readings
    }

    /// Mean requests in flight, where the exporter tells the time of reads and that of writes.
    fn queue(&mut self, text: &str, device: &str) -> Option<Reading> {
        let is_wanted = |each: &Sample<'_>, wanted: &str| each.name == wanted && device_of(each) == Some(device);
        let total = |wanted: &str| samples(text).find(|each| is_wanted(each, wanted)).map(|sample| sample.value);
        let both =
            |(read, write): &(&'static str, &'static str)| Some([(*read, total(read)?), (*write, total(write)?)]);
        let totals = DEVICE_TIMES.iter().find_map(both)?;
        // Both totals get their new base before either may turn out to have been reset.
        let [reads, writes] = totals.map(|(metric, total)| self.rates.per_second(&format!("{device} {metric}"), total));
        Some(series::device::QUEUE.reading(device, reads? + writes?))
    }

    /// Bytes of each interface that may lead to another host.
    fn network(&mut self, text: &str) -> Vec<Reading> {
        let mut readings = Vec::new();
        for sample in samples(text) {
            let Some(counter) = NETWORK.iter().find(|counter| counter.metric == sample.name) else { continue };
            let interface = INTERFACE_LABELS.iter().find_map(|label| sample.label(label));
            let Some(interface) = interface.filter(|interface| !stays_inside(interface)) else { continue };
            readings.extend(self.rate(counter, interface, sample.value));
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
        || DEVICE_LEVELS.iter().any(|(metric, _)| *metric == sample.name)
        || DEVICE_TIMES.iter().any(|(read, write)| [*read, *write].contains(&sample.name));
    known.then(|| DEVICE_LABELS.iter().find_map(|label| sample.label(label))).flatten()
}

#[cfg(test)]
mod tests;

//! The block devices under the data, from the block layer's counters in `/sys`. Sectors there are always 512 bytes.

use super::probe::{OpenedProbe, Probe, Subject, read_file};
use super::rates::Rates;
use crate::storages::BlockDevice;
use proofload_model::error::Error;
use proofload_model::samples::Reading;
use proofload_model::series::{SeriesName, device as names};
use std::time::Duration;

/// Bytes of a sector in the kernel's counters. Source: Documentation/block/stat.rst.
const SECTOR: f64 = 512.0;

struct Device {
    devices: Vec<(BlockDevice, Rates)>,
}

pub(super) fn open(subject: &mut Subject) -> OpenedProbe {
    let devices = subject.devices.all()?.iter().map(|device| (device.clone(), Rates::default())).collect();
    Ok(Some(Box::new(Device { devices })))
}

impl Probe for Device {
    fn read(&mut self, span: Option<Duration>) -> Result<Vec<Reading>, Error> {
        let counters: Result<Vec<DeviceCounters>, Error> =
            self.devices.iter().map(|(device, _)| device_counters(device)).collect();
        let each = self.devices.iter_mut().zip(counters?);
        Ok(each.flat_map(|((device, rates), counters)| readings(device, rates, &counters, span)).collect())
    }
}

fn readings(
    device: &BlockDevice,
    rates: &mut Rates,
    counters: &DeviceCounters,
    span: Option<Duration>,
) -> Vec<Reading> {
    rates.turn(span);
    let mut readings = Vec::new();
    let mut rate = |series: SeriesName, total: f64| {
        if let Some(value) = rates.per_second(series.name, total) {
            readings.push(series.reading(device.name.as_str(), value));
        }
    };
    rate(names::READS, counters.reads);
    rate(names::WRITES, counters.writes);
    rate(names::READ_BYTES, counters.bytes_read());
    rate(names::WRITE_BYTES, counters.sectors_written * SECTOR);
    rate(names::FLUSHES, counters.flushes);
    // Milliseconds per second, as a share of the time.
    rate(names::BUSY, counters.busy_ms / 10.0);
    // Time-weighted requests in flight: milliseconds of waiting per millisecond.
    rate(names::QUEUE, counters.weighted_ms / 1000.0);
    if span.is_some() {
        readings.push(names::IN_FLIGHT.reading(device.name.as_str(), counters.in_flight));
    }
    readings
}

/// Reads the counters of a device since the machine started.
pub(crate) fn device_counters(device: &BlockDevice) -> Result<DeviceCounters, Error> {
    counters(&read_file(device.folder.join("stat"))?)
}

/// The fields of a device's `stat` that are used. Source: Documentation/block/stat.rst.
#[derive(Debug, PartialEq)]
pub(crate) struct DeviceCounters {
    reads: f64,
    sectors_read: f64,
    writes: f64,
    sectors_written: f64,
    in_flight: f64,
    busy_ms: f64,
    weighted_ms: f64,
    flushes: f64,
}

impl DeviceCounters {
    /// Reads and writes that were done.
    pub(crate) fn requests(&self) -> [f64; 2] {
        [self.reads, self.writes]
    }

    /// Time in which the device had something to do.
    pub(crate) fn busy(&self) -> Duration {
        Duration::try_from_secs_f64(self.busy_ms / 1e3).unwrap_or_default()
    }

    /// Bytes that were read.
    pub(crate) fn bytes_read(&self) -> f64 {
        self.sectors_read * SECTOR
    }
}

fn counters(text: &str) -> Result<DeviceCounters, Error> {
    let fields: Vec<f64> = text.split_ascii_whitespace().map_while(|field| field.parse().ok()).collect();
    if fields.len() < 11 {
        return Err(Error::new(format!("the device has {} counters, but 11 are needed", fields.len())));
    }
    Ok(DeviceCounters {
        reads: fields[0],
        sectors_read: fields[2],
        writes: fields[4],
        sectors_written: fields[6],
        in_flight: fields[8],
        busy_ms: fields[9],
        weighted_ms: fields[10],
        flushes: fields.get(15).copied().unwrap_or(0.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_stand_where_the_kernel_says() {
        let found = counters("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17").unwrap();
        let expected = DeviceCounters {
            reads: 1.0,
            sectors_read: 3.0,
            writes: 5.0,
            sectors_written: 7.0,
            in_flight: 9.0,
            busy_ms: 10.0,
            weighted_ms: 11.0,
            flushes: 16.0,
        };
        assert_eq!(found, expected);
        assert!(counters("1 2 3").is_err());
    }
}

//! The control group of the component by the kernel's own accounting: CPU time, and what it moved to and from the device under the data.
//! Nothing that ends between two readings is missed, and nothing of other processes is in it.

use super::device::device_of;
use super::probe::{OpenedProbe, Probe, Subject, reading};
use super::rates::Rates;
use crate::limits::{Branch, Controller, cpu_time, transfers};
use proofload_model::error::Error;
use proofload_model::samples::Reading;
use std::time::Duration;

struct Group {
    cpu: Branch,
    /// Where transfers are counted, for which device: its number and its name.
    device: Option<(Branch, String, String)>,
    rates: Rates,
}

pub(super) fn open(subject: &mut Subject) -> OpenedProbe {
    let Ok(cpu) = subject.group.branch(Controller::CpuAccounting).cloned() else { return Ok(None) };
    let device = || {
        let branch = subject.group.branch(Controller::Io).ok()?.clone();
        let device = device_of(&subject.folder).ok()?;
        Some((branch, device.number().ok()?, device.name))
    };
    Ok(Some(Box::new(Group { cpu, device: device(), rates: Rates::default() })))
}

impl Probe for Group {
    fn read(&mut self, span: Option<Duration>) -> Result<Vec<Reading>, Error> {
        let time = cpu_time(&self.cpu)?;
        let mut readings = Vec::new();
        let mut rate = |series: &str, component: &str, unit: &str, total: f64| {
            let value = self.rates.per_second(series, total, span);
            readings.extend(value.map(|value| reading(series, component, unit, value)));
        };
        rate("cpu", "", "CPU s/s", time.total.as_secs_f64());
        if let Some((user, system)) = time.parts {
            rate("cpu_user", "", "CPU s/s", user.as_secs_f64());
            rate("cpu_system", "", "CPU s/s", system.as_secs_f64());
        }
        if let Some((branch, number, name)) = &self.device
            && let Some(moved) = transfers(branch, number)
        {
            rate("read_bytes", name, "B/s", moved.read_bytes as f64);
            rate("write_bytes", name, "B/s", moved.written_bytes as f64);
            rate("reads", name, "1/s", moved.reads as f64);
            rate("writes", name, "1/s", moved.writes as f64);
        }
        Ok(readings)
    }
}

#[cfg(test)]
mod tests;

//! The control group of the instance by the kernel's own accounting: CPU time, and what it moved to and from the device under the data.
//! Nothing that ends between two readings is missed, and nothing of other processes is in it.

use super::probe::{OpenedProbe, Probe, Subject, reading};
use super::rates::Rates;
use crate::limits::{CgroupDir, Controller, cpu_time, transfers};
use crate::storages::BlockDevice;
use proofload_model::error::Error;
use proofload_model::samples::Reading;
use std::time::Duration;

struct Group {
    cpu: CgroupDir,
    /// Where transfers are counted, for which devices: number and name.
    devices: Option<(CgroupDir, Vec<(String, String)>)>,
    rates: Rates,
}

pub(super) fn open(subject: &mut Subject) -> OpenedProbe {
    let Ok(cpu) = subject.group.dir(Controller::CpuAccounting).cloned() else { return Ok(None) };
    let devices = || {
        let dir = subject.group.dir(Controller::Io).ok()?.clone();
        let named = |device: &BlockDevice| Some((device.number().ok()?, device.name.clone()));
        Some((dir, subject.devices.all().ok()?.iter().map(named).collect::<Option<Vec<_>>>()?))
    };
    Ok(Some(Box::new(Group { cpu, devices: devices(), rates: Rates::default() })))
}

impl Probe for Group {
    fn read(&mut self, span: Option<Duration>) -> Result<Vec<Reading>, Error> {
        let time = cpu_time(&self.cpu)?;
        let mut readings = Vec::new();
        let mut rate = |series: &str, component: &str, unit: &str, total: f64| {
            let value = self.rates.per_second(&format!("{series} {component}"), total, span);
            readings.extend(value.map(|value| reading(series, component, unit, value)));
        };
        rate("cpu", "", "CPU s/s", time.total.as_secs_f64());
        if let Some((user, system)) = time.parts {
            rate("cpu_user", "", "CPU s/s", user.as_secs_f64());
            rate("cpu_system", "", "CPU s/s", system.as_secs_f64());
        }
        for (dir, number, name) in
            self.devices.iter().flat_map(|(dir, all)| all.iter().map(move |(number, name)| (dir, number, name)))
        {
            let Some(moved) = transfers(dir, number) else { continue };
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

//! The control group of the instance by the kernel's own accounting: CPU time, and what it moved to and from the device under the data.
//! Nothing that ends between two readings is missed, and nothing of other processes is in it.

use super::probe::{OpenedProbe, Probe, Subject};
use super::rates::Rates;
use crate::limits::{CgroupDir, Controller, cpu_time, throttling, transfers};
use crate::storages::BlockDevice;
use proofload_model::error::Error;
use proofload_model::samples::Reading;
use proofload_model::series::{SeriesName, group};
use std::time::Duration;

struct Group {
    cpu: CgroupDir,
    /// Where the quota of CPU time is.
    quota: Option<CgroupDir>,
    /// Where transfers are counted, for which devices: number and name.
    devices: Option<(CgroupDir, Vec<(String, String)>)>,
    rates: Rates,
    /// Quota periods, and those in which the allowance was used up, at the reading before.
    periods: Option<(u64, u64)>,
}

pub(super) fn open(subject: &mut Subject) -> OpenedProbe {
    let Ok(cpu) = subject.group.dir(Controller::CpuAccounting).cloned() else { return Ok(None) };
    let devices = || {
        let dir = subject.group.dir(Controller::Io).ok()?.clone();
        let named = |device: &BlockDevice| Some((device.number().ok()?, device.name.clone()));
        Some((dir, subject.devices.all().ok()?.iter().map(named).collect::<Option<Vec<_>>>()?))
    };
    let quota = subject.group.dir(Controller::Cpu).ok().cloned();
    Ok(Some(Box::new(Group { cpu, quota, devices: devices(), rates: Rates::default(), periods: None })))
}

impl Group {
    /// Share of the quota periods since the reading before in which the allowance was used up; `None` without a quota.
    fn throttled(&mut self) -> Option<Reading> {
        let now = throttling(self.quota.as_ref()?).map(|now| (now.periods, now.throttled));
        let (before, now) = (std::mem::replace(&mut self.periods, now)?, now?);
        let periods = now.0.checked_sub(before.0).filter(|periods| *periods > 0)?;
        Some(group::THROTTLED.reading("", 100.0 * now.1.saturating_sub(before.1) as f64 / periods as f64))
    }
}

impl Probe for Group {
    fn read(&mut self, span: Option<Duration>) -> Result<Vec<Reading>, Error> {
        let time = cpu_time(&self.cpu)?;
        self.rates.turn(span);
        let mut readings: Vec<Reading> = self.throttled().into_iter().collect();
        let mut rate = |series: SeriesName, component: &str, total: f64| {
            let value = self.rates.per_second(&format!("{} {component}", series.name), total);
            readings.extend(value.map(|value| series.reading(component, value)));
        };
        rate(group::CPU, "", time.total.as_secs_f64());
        if let Some((user, system)) = time.parts {
            rate(group::CPU_USER, "", user.as_secs_f64());
            rate(group::CPU_SYSTEM, "", system.as_secs_f64());
        }
        for (dir, number, name) in
            self.devices.iter().flat_map(|(dir, all)| all.iter().map(move |(number, name)| (dir, number, name)))
        {
            let Some(moved) = transfers(dir, number) else { continue };
            rate(group::READ_BYTES, name, moved.read_bytes as f64);
            rate(group::WRITE_BYTES, name, moved.written_bytes as f64);
            rate(group::READS, name, moved.reads as f64);
            rate(group::WRITES, name, moved.writes as f64);
        }
        Ok(readings)
    }
}

#[cfg(test)]
mod tests;

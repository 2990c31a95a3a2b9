//! CPU time of every core, from `/proc/stat`. Percent of one core.

use super::probe::{OpenedProbe, Probe, Subject, read_file};
use super::rates::Rates;
use super::visible::KernelView;
use proofload_model::error::Error;
use proofload_model::samples::Reading;
use proofload_model::series::{SeriesName, cores};
use std::time::Duration;

/// `/proc/stat` counts in hundredths of a second on every Linux that userland sees (`USER_HZ`).
const TICKS_PER_SECOND: f64 = 100.0;

struct Cores {
    rates: Rates,
    counted: Option<Vec<usize>>,
    /// Whether a hypervisor runs this host.
    is_guest: bool,
    /// Whether the counters are the host's, and not a container's own.
    is_of_host: bool,
}

pub(super) fn open(subject: &mut Subject) -> OpenedProbe {
    let view = KernelView::read();
    let (counted, is_of_host) = (subject.cores.clone(), view.tells_host());
    Ok(Some(Box::new(Cores { rates: Rates::default(), counted, is_guest: view.is_guest, is_of_host })))
}

impl Probe for Cores {
    fn read(&mut self, span: Option<Duration>) -> Result<Vec<Reading>, Error> {
        let text = read_file("/proc/stat")?;
        self.rates.turn(span);
        let mut readings = Vec::new();
        let mut busy_of_counted = Vec::new();
        let all: Vec<(usize, Times)> = text.lines().filter_map(core_line).collect();
        let tells_steal = self.is_of_host && tells_steal(&all, self.is_guest);
        for (core, times) in all {
            let mut percent = |series: SeriesName, ticks: u64| {
                let rate = self.rates.per_second(&format!("{core}{}", series.name), ticks as f64)?;
                let percent = (rate / TICKS_PER_SECOND * 100.0).min(100.0);
                readings.push(series.reading(core.to_string(), percent));
                Some(percent)
            };
            let busy = percent(cores::BUSY, times.busy());
            percent(cores::USER, times.user);
            percent(cores::SYSTEM, times.system);
            percent(cores::IOWAIT, times.iowait);
            if let Some(steal) = times.steal.filter(|_| tells_steal) {
                percent(cores::STEAL, steal);
            }
            if self.counted.as_ref().is_none_or(|cores| cores.contains(&core)) {
                busy_of_counted.extend(busy);
            }
        }
        if !busy_of_counted.is_empty() {
            let mean = busy_of_counted.iter().sum::<f64>() / busy_of_counted.len() as f64;
            readings.push(cores::BUSY_MEAN.reading("", mean));
        }
        Ok(readings)
    }
}

/// Ticks of one core since boot.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Times {
    user: u64,
    system: u64,
    iowait: u64,
    /// The hypervisor ran somebody else while this core had work; `None` where the kernel does not count it.
    steal: Option<u64>,
}

impl Times {
    pub(super) fn busy(&self) -> u64 {
        self.user + self.system + self.steal.unwrap_or(0)
    }
}

/// Whether steal is observed. Hypervisors that hide it leave the counters of a guest at 0 since boot; without a hypervisor 0 is what there was.
pub(super) fn tells_steal(cores: &[(usize, Times)], is_guest: bool) -> bool {
    !is_guest || cores.iter().any(|(_, times)| times.steal.is_some_and(|ticks| ticks > 0))
}

/// Reads a line `cpuN user nice system idle iowait irq softirq steal …`; `None` for other lines.
pub(super) fn core_line(line: &str) -> Option<(usize, Times)> {
    let (name, rest) = line.split_once(' ')?;
    let core = name.strip_prefix("cpu")?.parse().ok()?;
    let ticks: Vec<u64> = rest.split_ascii_whitespace().map_while(|field| field.parse().ok()).collect();
    let at = |place: usize| ticks.get(place).copied().unwrap_or(0);
    Some((
        core,
        Times { user: at(0) + at(1), system: at(2) + at(5) + at(6), iowait: at(4), steal: ticks.get(7).copied() },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_line_is_taken_apart_and_the_sum_line_left_out() {
        let times = Times { user: 3, system: 16, iowait: 5, steal: Some(8) };
        assert_eq!(core_line("cpu1 1 2 3 4 5 6 7 8 0 0"), Some((1, times)));
        assert_eq!(core_line("cpu  1 2 3 4 5 6 7 8 0 0"), None);
        assert_eq!(core_line("intr 5"), None);
    }

    #[test]
    fn counters_of_a_container_tell_no_steal() {
        let told = |is_of_host: bool| {
            let mut probe = Cores { rates: Rates::default(), counted: None, is_guest: false, is_of_host };
            probe.read(None).unwrap();
            let readings = probe.read(Some(Duration::from_secs(1))).unwrap();
            ["busy", "steal"].map(|name| readings.iter().any(|reading| reading.name == name))
        };
        assert_eq!([told(true), told(false)], [[true, true], [true, false]]);
    }

    #[test]
    fn a_guest_whose_steal_was_never_counted_does_not_tell_it() {
        let old = core_line("cpu0 1 2 3 4 5 6 7").unwrap();
        assert_eq!((old.1.steal, old.1.busy()), (None, 19), "a kernel without the field");
        let core = |number: usize, steal: &str| core_line(&format!("cpu{number} 1 2 3 4 5 6 7 {steal} 0 0")).unwrap();
        let hidden = [core(0, "0"), core(1, "0")];
        assert!(!tells_steal(&hidden, true) && tells_steal(&hidden, false));
        assert!(tells_steal(&[core(0, "0"), core(1, "3")], true), "one core was stolen from once");
    }
}

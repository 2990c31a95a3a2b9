//! Memory of the control group: what the limit counts, and what came back in after it was pushed out. Else the process's own.

use super::probe::{OpenedProbe, Probe, Subject, read_file};
use super::rates::Rates;
use crate::limits::Controller;
use proofload_model::error::Error;
use proofload_model::samples::Reading;
use proofload_model::series::{SeriesName, memory};
use std::path::PathBuf;
use std::time::Duration;

/// Names in `memory.stat`: ours, then those of version 2 and of version 1 (hierarchical).
const LEVELS: &[(SeriesName, &[&str])] = &[
    (memory::ANON, &["anon", "total_rss"]),
    (memory::FILE, &["file", "total_cache"]),
    (memory::DIRTY, &["file_dirty", "total_dirty"]),
];
const COUNTERS: &[(SeriesName, &[&str])] = &[
    (memory::REFAULTS, &["workingset_refault_file", "total_workingset_refault_file", "workingset_refault"]),
    (memory::MAJOR_FAULTS, &["pgmajfault", "total_pgmajfault"]),
];

enum MemorySource {
    Group(PathBuf),
    Process(u32),
}

struct Memory {
    source: MemorySource,
    rates: Rates,
}

pub(super) fn open(subject: &mut Subject) -> OpenedProbe {
    let source = subject
        .group
        .dir(Controller::Memory)
        .ok()
        .map(|dir| MemorySource::Group(dir.folder().to_owned()))
        .or(subject.pid.map(MemorySource::Process));
    Ok(source.map(|source| Box::new(Memory { source, rates: Rates::default() }) as Box<dyn Probe>))
}

impl Probe for Memory {
    fn read(&mut self, span: Option<Duration>) -> Result<Vec<Reading>, Error> {
        match &self.source {
            MemorySource::Process(pid) => {
                let status = read_file(format!("/proc/{pid}/status"))?;
                let resident = status.lines().find_map(|line| {
                    line.strip_prefix("VmRSS:")?.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()
                });
                Ok(resident.map(|kibibytes| memory::RESIDENT.reading("", kibibytes * 1024.0)).into_iter().collect())
            }
            MemorySource::Group(folder) => {
                let usage = read_file(folder.join("memory.current"))
                    .or_else(|_| read_file(folder.join("memory.usage_in_bytes")))?;
                let stat = read_file(folder.join("memory.stat"))?;
                self.rates.turn(span);
                let mut readings = vec![memory::CURRENT.reading("", usage.trim().parse().unwrap_or(f64::NAN))];
                readings
                    .extend(LEVELS.iter().filter_map(|(series, keys)| Some(series.reading("", find(&stat, keys)?))));
                for (series, keys) in COUNTERS {
                    let rate = find(&stat, keys).and_then(|total| self.rates.per_second(series.name, total));
                    readings.extend(rate.map(|rate| series.reading("", rate)));
                }
                Ok(readings)
            }
        }
    }
}

/// The value of the first key that is there.
fn find(stat: &str, keys: &[&str]) -> Option<f64> {
    keys.iter()
        .find_map(|key| stat.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_of_the_statistics_are_understood() {
        for stat in ["anon 5\nfile 7\nfile_dirty 2\n", "cache 1\ntotal_cache 7\ntotal_rss 5\ntotal_dirty 2\n"] {
            let values: Vec<_> = LEVELS.iter().map(|(_, keys)| find(stat, keys)).collect();
            assert_eq!(values, [Some(5.0), Some(7.0), Some(2.0)]);
        }
        assert_eq!(find("anonymous 5\n", &["anon"]), None);
    }
}

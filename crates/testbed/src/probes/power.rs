//! Power of the processor packages and their memory by the processor's own energy counters (RAPL), watts.
//!
//! Source of the files: Linux, `Documentation/power/powercap/powercap.rst`: `energy_uj` counts microjoules and wraps at
//! `max_energy_range_uj`. Packages (`intel-rapl:0`) include their cores; only packages and memory (`dram`) are read, so that nothing is
//! counted twice. Since 2020 the counters are readable by root only; where they are not, nothing is observed.

use super::probe::{OpenedProbe, Probe, Subject, read_file};
use proofload_model::error::Error;
use proofload_model::samples::Reading;
use proofload_model::series::power;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where the kernel shows the counters.
const ZONES: &str = "/sys/class/powercap";

/// One counter.
struct Zone {
    /// `package-0`, or `dram of package-0`.
    name: String,
    file: PathBuf,
    /// Microjoules at which the counter begins again.
    range: f64,
    before: Option<f64>,
}

struct Power {
    zones: Vec<Zone>,
}

pub(super) fn open(_subject: &mut Subject) -> OpenedProbe {
    let zones = zones(Path::new(ZONES));
    Ok((!zones.is_empty()).then(|| Box::new(Power { zones }) as Box<dyn Probe>))
}

/// The packages and memories below a folder whose counters can be read.
fn zones(folder: &Path) -> Vec<Zone> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().filter_map(|path| zone(path)).collect()
}

fn zone(path: &Path) -> Option<Zone> {
    let text = |file: &str| std::fs::read_to_string(path.join(file)).map(|text| text.trim().to_owned()).ok();
    let place = path.file_name()?.to_str()?.strip_prefix("intel-rapl:")?.to_owned();
    let name = match (text("name")?, place.split_once(':')) {
        (name, None) if name.starts_with("package") => name,
        (name, Some((package, _))) if name == "dram" => format!("dram of package-{package}"),
        _ => return None,
    };
    let file = path.join("energy_uj");
    let range = text("max_energy_range_uj")?.parse().ok()?;
    std::fs::read_to_string(&file).ok()?;
    Some(Zone { name, file, range, before: None })
}

impl Probe for Power {
    fn read(&mut self, span: Option<Duration>) -> Result<Vec<Reading>, Error> {
        let mut readings = Vec::new();
        for zone in &mut self.zones {
            let text = read_file(&zone.file)?;
            let now: f64 =
                text.trim().parse().map_err(|_| Error::new(format!("{}: not a number", zone.file.display())))?;
            let before = zone.before.replace(now);
            if let (Some(before), Some(span)) = (before, span.filter(|span| !span.is_zero())) {
                let spent = if now >= before { now - before } else { now - before + zone.range };
                readings.push(power::WATTS.reading(&zone.name, spent / 1e6 / span.as_secs_f64()));
            }
        }
        Ok(readings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(folder: &Path, zone: &str, name: &str, energy: &str) {
        let path = folder.join(zone);
        std::fs::create_dir_all(&path).unwrap();
        for (file, text) in [("name", name), ("energy_uj", energy), ("max_energy_range_uj", "1000000000")] {
            std::fs::write(path.join(file), format!("{text}\n")).unwrap();
        }
    }

    #[test]
    fn packages_and_memory_are_counted_once_and_a_wrap_is_no_gap() {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), "intel-rapl:0", "package-0", "999000000");
        put(folder.path(), "intel-rapl:0:0", "core", "5");
        put(folder.path(), "intel-rapl:0:1", "dram", "100");
        put(folder.path(), "dtpm", "other", "1");
        let mut power = Power { zones: zones(folder.path()) };
        assert!(power.read(None).unwrap().is_empty());
        put(folder.path(), "intel-rapl:0", "package-0", "29000000");
        put(folder.path(), "intel-rapl:0:1", "dram", "4000100");
        let readings = power.read(Some(Duration::from_secs(2))).unwrap();
        let found: Vec<(&str, f64)> =
            readings.iter().map(|reading| (reading.component.as_str(), reading.value)).collect();
        assert_eq!(found, [("package-0", 15.0), ("dram of package-0", 2.0)]);
    }
}

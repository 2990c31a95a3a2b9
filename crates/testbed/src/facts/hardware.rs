//! Processor, memory, machine.

use super::describe::{fact, of_file};
use proofload_model::samples::Fact;

pub(super) fn facts() -> Vec<Fact> {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    vec![
        fact("host", "cpu", cpu(&info), "/proc/cpuinfo"),
        fact(
            "host",
            "cores",
            std::thread::available_parallelism().ok().map(|cores| cores.to_string()),
            "sched_getaffinity",
        ),
        fact("host", "sockets", sockets(&info), "/proc/cpuinfo"),
        of_file("host", "smt", "/sys/devices/system/cpu/smt/control"),
        of_file("host", "governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        fact("host", "memory", meminfo(&memory, "MemTotal"), "/proc/meminfo"),
        fact("host", "swap", meminfo(&memory, "SwapTotal"), "/proc/meminfo"),
        fact("host", "huge_pages", huge_pages(&memory), "/proc/meminfo"),
        of_file("host", "model", "/sys/class/dmi/id/product_name"),
        fact(
            "host",
            "hypervisor",
            info.contains(" hypervisor").then(|| "yes (the processor says so)".to_owned()),
            "/proc/cpuinfo",
        ),
    ]
}

/// Value of the first line `key : value`.
fn field<'a>(info: &'a str, key: &str) -> Option<&'a str> {
    info.lines()
        .find_map(|line| line.split_once(':').filter(|(name, _)| name.trim() == key).map(|(_, value)| value.trim()))
}

fn cpu(info: &str) -> Option<String> {
    field(info, "model name").or_else(|| field(info, "Processor")).map(str::to_owned)
}

fn sockets(info: &str) -> Option<String> {
    let mut ids: Vec<&str> = info.lines().filter(|line| line.starts_with("physical id")).collect();
    ids.sort_unstable();
    ids.dedup();
    (!ids.is_empty()).then(|| ids.len().to_string())
}

/// A size of `/proc/meminfo` as text.
pub(crate) fn meminfo(memory: &str, key: &str) -> Option<String> {
    let kibibytes: u64 = field(memory, key)?.strip_suffix(" kB")?.parse().ok()?;
    Some(proofload_model::units::Bytes(kibibytes * 1024).to_string())
}

fn huge_pages(memory: &str) -> Option<String> {
    let total = field(memory, "HugePages_Total")?;
    Some(format!("{total} of {}", field(memory, "Hugepagesize").unwrap_or("unknown size")))
}

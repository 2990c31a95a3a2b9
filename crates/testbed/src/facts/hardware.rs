//! Processor, memory, machine.

use super::describe::{fact, of_file};
use proofload_model::facts::host;
use proofload_model::samples::Fact;
use proofload_model::units::Bytes;

pub(super) fn facts() -> Vec<Fact> {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    vec![
        fact(&host::CPU, cpu(&info), "/proc/cpuinfo"),
        host::CORES.found(std::thread::available_parallelism().ok().map(usize::from), "sched_getaffinity"),
        fact(&host::SOCKETS, sockets(&info), "/proc/cpuinfo"),
        of_file(&host::SMT_CONTROL, "/sys/devices/system/cpu/smt/control"),
        of_file(&host::GOVERNOR, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        host::MEMORY.found(meminfo(&memory, "MemTotal"), "/proc/meminfo"),
        host::SWAP.found(meminfo(&memory, "SwapTotal"), "/proc/meminfo"),
        fact(&host::HUGE_PAGES, huge_pages(&memory), "/proc/meminfo"),
        of_file(&host::MODEL, "/sys/class/dmi/id/product_name"),
        fact(
            &host::HYPERVISOR,
            tells_hypervisor(&info).then(|| "yes (the processor says so)".to_owned()),
            "/proc/cpuinfo",
        ),
    ]
}

/// Tells whether a hypervisor runs this machine, as its processor says; only those of x86 do.
pub(crate) fn is_guest() -> bool {
    tells_hypervisor(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
}

fn tells_hypervisor(info: &str) -> bool {
    info.contains(" hypervisor")
}

/// Memory of this machine.
pub(crate) fn memory() -> Option<Bytes> {
    meminfo(&std::fs::read_to_string("/proc/meminfo").unwrap_or_default(), "MemTotal")
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

/// A size of `/proc/meminfo`.
pub(crate) fn meminfo(memory: &str, key: &str) -> Option<Bytes> {
    let kibibytes: u64 = field(memory, key)?.strip_suffix(" kB")?.parse().ok()?;
    Some(Bytes(kibibytes * 1024))
}

fn huge_pages(memory: &str) -> Option<String> {
    let total = field(memory, "HugePages_Total")?;
    Some(format!("{total} of {}", field(memory, "Hugepagesize").unwrap_or("unknown size")))
}

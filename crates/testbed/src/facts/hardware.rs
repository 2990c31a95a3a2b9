//! Processor, memory, machine.

use super::describe::{fact, of_file};
use proofload_model::facts::host;
use proofload_model::samples::Fact;
use proofload_model::units::Bytes;
use std::path::Path;

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
            hypervisor(&info).map(str::to_owned),
            "/proc/cpuinfo, /sys/class/dmi/id, /proc/device-tree/hypervisor",
        ),
    ]
}

/// Tells whether a hypervisor runs this machine.
pub(crate) fn is_guest() -> bool {
    hypervisor(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default()).is_some()
}

/// The source that says that a hypervisor runs this machine: the processor, which only those of x86 do, the device tree, or the machine's name.
fn hypervisor(info: &str) -> Option<&'static str> {
    let names = ["sys_vendor", "product_name"]
        .map(|file| std::fs::read_to_string(format!("/sys/class/dmi/id/{file}")).unwrap_or_default());
    match () {
        () if info.contains(" hypervisor") => Some("yes (the processor says so)"),
        () if Path::new("/proc/device-tree/hypervisor").exists() => Some("yes (the device tree says so)"),
        () if is_virtual(&names[0], &names[1]) => Some("yes (the machine's name says so)"),
        () => None,
    }
}

/// Whether a maker and a product are those of a virtual machine. Source: the tables of systemd's `detect-virt` (src/basic/virt.c).
fn is_virtual(vendor: &str, product: &str) -> bool {
    let (vendor, product) = (vendor.trim(), product.trim());
    let starts = |of: &str, names: &[&str]| names.iter().any(|name| of.starts_with(name));
    let of_cloud = starts(vendor, &["Amazon EC2", "Alibaba Cloud"]) && !product.contains("metal");
    starts(vendor, &["QEMU", "VMware", "Xen", "Parallels", "innotek GmbH", "BHYVE", "Hetzner"])
        || starts(product, &["KVM", "VMware", "Virtual Machine", "VirtualBox", "Google Compute Engine", "OpenStack"])
        || of_cloud
}

/// Memory of this machine.
pub(crate) fn memory() -> Option<Bytes> {
    meminfo(&std::fs::read_to_string("/proc/meminfo").unwrap_or_default(), "MemTotal")
}

/// Memory of this machine that processes can have without swap, as the kernel estimates it.
pub(crate) fn available_memory() -> Option<Bytes> {
    meminfo(&std::fs::read_to_string("/proc/meminfo").unwrap_or_default(), "MemAvailable")
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
#[test]
fn machines_of_hypervisors_are_told_by_their_names() {
    for (vendor, product, expected) in [
        ("QEMU", "QEMU Virtual Machine", true),
        ("Microsoft Corporation", "Virtual Machine", true),
        ("Amazon EC2", "m7g.large", true),
        ("Amazon EC2", "m7g.metal", false),
        ("Google", "Google Compute Engine", true),
        ("Ampere", "Mt. Jade", false),
        ("", "", false),
    ] {
        assert_eq!(is_virtual(vendor, product), expected, "{vendor} {product}");
    }
}

//! What exporters of hosts call the things that our own probes read. A table; may not fetch or keep anything.
//!
//! Sources: node_exporter's collectors cpu, diskstats, meminfo, netdev and vmstat; windows_exporter's cpu, logical_disk, physical_disk,
//! memory and net, whose names of disks and interfaces have been the same since it has its name.
//! windows_exporter: untested on the real thing.

use proofload_model::series::{SeriesName, device, memory, network};

/// A total that becomes a rate, of one core or device.
pub(super) struct Counter {
    /// Name at the exporter.
    pub(super) metric: &'static str,
    /// Series of ours.
    pub(super) series: SeriesName,
    /// Rate of the exporter's unit in ours, such as 100 from seconds per second to per cent.
    pub(super) factor: f64,
    /// Whether it counts the time in which *nothing* was done.
    pub(super) is_idle: bool,
}

/// CPU time by core and mode: metric, label of the core.
pub(super) const CPU: &[(&str, &str)] = &[("node_cpu_seconds_total", "cpu"), ("windows_cpu_time_total", "core")];

/// What a mode of CPU time counts as. `system` includes interrupts, as on the host itself; windows_exporter's `privileged`
/// includes `interrupt` and `dpc` already, which therefore count as nothing.
pub(super) const fn mode(of: &str) -> Mode {
    match of.as_bytes() {
        b"user" | b"nice" => Mode::User,
        b"system" | b"irq" | b"softirq" | b"privileged" => Mode::System,
        b"iowait" => Mode::Iowait,
        b"steal" => Mode::Steal,
        _ => Mode::Nothing,
    }
}

/// A kind of CPU time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Programs.
    User,
    /// The kernel, interrupts included.
    System,
    /// Idle, while requests to a device are open.
    Iowait,
    /// Taken by another guest: busy, for who waits for it.
    Steal,
    /// Idle, or part of another mode.
    Nothing,
}

/// Labels that name a device.
pub(super) const DEVICE_LABELS: &[&str] = &["device", "volume", "disk"];

const fn counter(metric: &'static str, series: SeriesName, factor: f64) -> Counter {
    Counter { metric, series, factor, is_idle: false }
}

/// Totals of devices.
pub(super) const DEVICES: &[Counter] = &[
    counter("node_disk_reads_completed_total", device::READS, 1.0),
    counter("node_disk_writes_completed_total", device::WRITES, 1.0),
    counter("node_disk_read_bytes_total", device::READ_BYTES, 1.0),
    counter("node_disk_written_bytes_total", device::WRITE_BYTES, 1.0),
    counter("node_disk_flush_requests_total", device::FLUSHES, 1.0),
    counter("node_disk_io_time_seconds_total", device::BUSY, 100.0),
    counter("node_disk_io_time_weighted_seconds_total", device::QUEUE, 1.0),
    counter("windows_logical_disk_reads_total", device::READS, 1.0),
    counter("windows_logical_disk_writes_total", device::WRITES, 1.0),
    counter("windows_logical_disk_read_bytes_total", device::READ_BYTES, 1.0),
    counter("windows_logical_disk_write_bytes_total", device::WRITE_BYTES, 1.0),
    Counter { metric: "windows_logical_disk_idle_seconds_total", series: device::BUSY, factor: 100.0, is_idle: true },
    counter("windows_physical_disk_reads_total", device::READS, 1.0),
    counter("windows_physical_disk_writes_total", device::WRITES, 1.0),
    counter("windows_physical_disk_read_bytes_total", device::READ_BYTES, 1.0),
    counter("windows_physical_disk_write_bytes_total", device::WRITE_BYTES, 1.0),
    Counter { metric: "windows_physical_disk_idle_seconds_total", series: device::BUSY, factor: 100.0, is_idle: true },
];

/// Totals of the time that read requests took, and write requests, each from start to end. Their rates together are the mean number of
/// requests in flight, [`device::QUEUE`]; over the rate of requests that is the mean time of one.
///
/// Sources: windows_exporter, whose totals are those behind "% Disk Read Time" and "% Disk Write Time", counted in units of 100 ns;
/// Microsoft, article 310067: they add up the times of requests that overlap. The exporter's `…_latency_seconds_total` are ticks of the
/// performance counter, each taken for 100 ns: right only where it has 10 MHz.
pub(super) const DEVICE_TIMES: &[(&str, &str)] = &[
    ("windows_logical_disk_read_seconds_total", "windows_logical_disk_write_seconds_total"),
    ("windows_physical_disk_read_seconds_total", "windows_physical_disk_write_seconds_total"),
];

/// What devices hold at the moment: metric and series.
pub(super) const DEVICE_LEVELS: &[(&str, SeriesName)] = &[
    ("node_disk_io_now", device::IN_FLIGHT),
    ("windows_logical_disk_requests_queued", device::IN_FLIGHT),
    ("windows_physical_disk_requests_queued", device::IN_FLIGHT),
];

/// Devices that stand on others, whose bytes would be counted twice.
pub(super) fn stands_on_others(device: &str) -> bool {
    ["dm-", "md", "loop", "ram", "zram", "sr"].iter().any(|prefix| device.starts_with(prefix)) || device == "_Total"
}

/// Labels that name a network interface.
pub(super) const INTERFACE_LABELS: &[&str] = &["device", "nic"];

/// Totals of network interfaces.
pub(super) const NETWORK: &[Counter] = &[
    counter("node_network_receive_bytes_total", network::RECEIVED, 1.0),
    counter("node_network_transmit_bytes_total", network::SENT, 1.0),
    counter("windows_net_bytes_received_total", network::RECEIVED, 1.0),
    counter("windows_net_bytes_sent_total", network::SENT, 1.0),
];

/// Interfaces of Linux that lead to no other host: the loopback, and the host's ends of containers and guests, which may be hundreds.
pub(super) fn stays_inside(interface: &str) -> bool {
    interface == "lo" || ["veth", "vnet", "tap", "cali", "lxc"].iter().any(|prefix| interface.starts_with(prefix))
}

/// Totals of the host's memory.
pub(super) const MEMORY: &[Counter] = &[
    counter("node_vmstat_pgmajfault", memory::MAJOR_FAULTS, 1.0),
    counter("windows_memory_swap_page_reads_total", memory::MAJOR_FAULTS, 1.0),
];

/// Memory of the host: all of it, and what is still to be had. The difference is in use.
pub(super) const MEMORY_IN_USE: &[(&str, &str)] = &[
    ("node_memory_MemTotal_bytes", "node_memory_MemAvailable_bytes"),
    ("windows_memory_physical_total_bytes", "windows_memory_available_bytes"),
];

//! The table of telemetry series: probe, name, unit, component and kind of each, as handles that probes write by and findings read
//! by; what a series is stands at its handle. Series that an exporter or an engine names itself are in no table.

use crate::samples::Reading;

/// How the values of a series come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeriesKind {
    /// A counter, recorded as its rate over the span of a reading.
    Rate,
    /// A level at the moment of the reading.
    Level,
}

/// Row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeriesName {
    /// Probe that reads it.
    pub probe: &'static str,
    /// Name within its probe.
    pub name: &'static str,
    /// Unit of the values.
    pub unit: &'static str,
    /// Kind of thing that each component is; empty where there is only one.
    pub component: &'static str,
    /// How the values come about.
    pub kind: SeriesKind,
}

impl SeriesName {
    /// A value of one component.
    pub fn reading(&self, component: impl Into<String>, value: f64) -> Reading {
        Reading { name: self.name.to_owned(), component: component.into(), unit: self.unit.to_owned(), value }
    }

    /// True for a series of this probe and name.
    pub fn is_of(&self, probe: &str, name: &str) -> bool {
        (self.probe, self.name) == (probe, name)
    }
}

macro_rules! series {
    ($($(#[$doc:meta])* $module:ident = $probe:literal {
        $($handle:ident = $name:literal, $what:literal, $unit:literal, $component:literal, $kind:ident;)*
    })*) => {
        $($(#[$doc])* pub mod $module {
            use super::{SeriesKind, SeriesName};

            /// Name of the probe.
            pub const PROBE: &str = $probe;
            $(#[doc = concat!("`", $name, "`: ", $what, ".")]
            pub const $handle: SeriesName = SeriesName {
                probe: PROBE,
                name: $name,
                unit: $unit,
                component: $component,
                kind: SeriesKind::$kind,
            };)*
        })*

        /// All rows, by probe.
        pub const SERIES: &[SeriesName] = &[$($($module::$handle,)*)*];
    };
}

series! {
    /// Cores of the host.
    cores = "cores" {
        BUSY = "busy", "Core utilization", "%", "core", Rate;
        USER = "user", "Utilization in user space", "%", "core", Rate;
        SYSTEM = "system", "Utilization in the kernel", "%", "core", Rate;
        IOWAIT = "iowait", "Idle, waiting for I/O", "%", "core", Rate;
        STEAL = "steal", "Steal: taken by other guests while there was work", "%", "core", Rate;
        BUSY_MEAN = "busy_mean", "Mean utilization of the cores that the database may run on", "%", "", Rate;
    }

    /// Block devices under the data.
    device = "device" {
        READS = "reads", "Read requests", "1/s", "device", Rate;
        WRITES = "writes", "Write requests", "1/s", "device", Rate;
        READ_BYTES = "read_bytes", "Bytes read", "B/s", "device", Rate;
        WRITE_BYTES = "write_bytes", "Bytes written", "B/s", "device", Rate;
        FLUSHES = "flushes", "Flushes", "1/s", "device", Rate;
        BUSY = "busy", "Time busy", "%", "device", Rate;
        QUEUE = "queue", "Mean requests in flight", "requests", "device", Rate;
        IN_FLIGHT = "in_flight", "Requests in flight", "requests", "device", Level;
    }

    /// Network interfaces of a host that an exporter observes.
    network = "network" {
        RECEIVED = "received", "Bytes received", "B/s", "interface", Rate;
        SENT = "sent", "Bytes sent", "B/s", "interface", Rate;
    }

    /// Threads of the database.
    threads = "threads" {
        CPU = "cpu", "CPU of the thread", "%", "thread", Rate;
        ROLE = "role", "CPU of all threads of one role", "%", "role", Rate;
        ROLE_THREADS = "role_threads", "Threads of one role", "threads", "role", Level;
        ROLE_WAIT = "role_wait", "Time that threads of one role waited for a core or for CPU quota", "%", "role", Rate;
        CPU_SUM = "cpu_sum", "CPU of all threads; threads that end between two readings are missed", "%", "", Rate;
    }

    /// The control group of the database.
    group = "group" {
        CPU = "cpu", "CPU time", "CPU s/s", "", Rate;
        CPU_USER = "cpu_user", "CPU time in user space", "CPU s/s", "", Rate;
        CPU_SYSTEM = "cpu_system", "CPU time in the kernel", "CPU s/s", "", Rate;
        READ_BYTES = "read_bytes", "Bytes read from the device", "B/s", "device", Rate;
        WRITE_BYTES = "write_bytes", "Bytes written to the device", "B/s", "device", Rate;
        READS = "reads", "Read requests", "1/s", "device", Rate;
        WRITES = "writes", "Write requests", "1/s", "device", Rate;
        THROTTLED = "throttled", "Periods in which the CPU quota was used up", "%", "", Level;
    }

    /// Use of the host's processor by others, and Proofload's own.
    foreign = "foreign" {
        CPU = "cpu", "CPU time of processes that belong neither to the instance nor to Proofload", "CPU s/s", "", Rate;
        PROCESS = "process", "CPU time of the largest of these processes, summed by name", "CPU s/s", "name", Rate;
        CLIENT_CPU = "client_cpu", "CPU time of Proofload itself", "CPU s/s", "", Rate;
        CLIENT_CPU_THERE = "client_cpu_there", "CPU time of Proofload on the cores that the database is limited to", "CPU s/s", "", Rate;
        CLIENT_WAIT = "client_wait", "Time that threads of Proofload waited for a core", "s/s", "", Rate;
    }

    /// A thread of Proofload's that computes 5 ms in every 100 ms, where the kernel shows nothing of others.
    spin = "spin" {
        RATIO = "ratio", "Wall time of pieces of 5 ms of computing over their time on a core", "s/s", "", Level;
        RATIO_MEDIAN = "ratio_median", "Wall time of the median piece since the reading before over its time on a core", "s/s", "", Level;
        RATIO_MAX = "ratio_max", "Wall time over time on a core of the piece since the reading before that was off it most", "s/s", "", Level;
        PIECES = "pieces", "Pieces since the reading before", "pieces", "", Level;
    }

    /// Memory of the database, or of the host where an exporter observes it.
    memory = "memory" {
        CURRENT = "current", "Memory charged to the control group", "B", "", Level;
        ANON = "anon", "Anonymous memory of the control group", "B", "", Level;
        FILE = "file", "Page cache of the control group", "B", "", Level;
        DIRTY = "dirty", "Dirty pages of the control group", "B", "", Level;
        RESIDENT = "resident", "Resident memory of the process", "B", "", Level;
        HOST_IN_USE = "host_in_use", "Memory of the host in use", "B", "", Level;
        MAJOR_FAULTS = "major_faults", "Major page faults", "1/s", "", Rate;
        REFAULTS = "refaults", "File pages read again after eviction", "1/s", "", Rate;
    }

    /// Time in which something waited for a resource.
    pressure = "pressure" {
        SOME = "some", "Time that at least one task stalled", "%", "resource", Rate;
        FULL = "full", "Time that all tasks stalled", "%", "resource", Rate;
    }

    /// Power of the host; the zones are taken to be disjoint.
    power = "power" {
        WATTS = "watts", "Power", "W", "zone", Rate;
    }

    /// Replication as the primary sees it.
    replication = "replication" {
        OUT_OF_FORCE = "out_of_force", "1 while the mode is not in force, 0 while it is", "", "why", Level;
        UNPROTECTED = "unprotected", "1 while commits do not have to wait as the mode requires, 0 while they do", "", "", Level;
        LOG = "log", "Log flushed by the primary", "B/s", "", Rate;
        UNSENT = "unsent", "Log flushed by the primary but not sent", "B", "standby", Level;
        UNWRITTEN = "unwritten", "Log flushed by the primary but not written by the standby", "B", "standby", Level;
        UNFLUSHED = "unflushed", "Log flushed by the primary but not flushed by the standby", "B", "standby", Level;
        UNAPPLIED = "unapplied", "Log flushed by the primary but not applied by the standby", "B", "standby", Level;
        LAG = "lag", "Time by which the standby trails in applying log, as the engine tells it", "s", "standby", Level;
    }

    /// The relay of the instance's link.
    relay = "relay" {
        LATE_P50 = "late_p50", "Lateness of the bytes that left since the reading before, median", "ms", "direction", Level;
        LATE_P99 = "late_p99", "Lateness of the bytes that left since the reading before, 99th percentile", "ms", "direction", Level;
        RELEASES = "releases", "Times that bytes left", "1/s", "direction", Rate;
        CPU = "cpu", "CPU time of the threads that relay the direction", "CPU s/s", "direction", Rate;
    }

    /// The cache tier under the data, by volume, and its modelled drives.
    tier = "tier" {
        READS = "reads", "Reads of cache lines, whole or in part", "1/s", "volume", Rate;
        READ_HITS = "read_hits", "Reads found entirely in the cache", "1/s", "volume", Rate;
        READ_PARTIAL_HITS = "read_partial_hits", "Reads found partly in the cache", "1/s", "volume", Rate;
        READ_BYTES = "read_bytes", "Bytes read", "B/s", "volume", Rate;
        WRITES = "writes", "Writes to cache lines, whole or in part", "1/s", "volume", Rate;
        WRITE_HITS = "write_hits", "Writes to a line that was in the cache", "1/s", "volume", Rate;
        WRITES_ABSORBED = "writes_absorbed", "Writes completed on the cache alone", "1/s", "volume", Rate;
        WRITES_BYPASSED = "writes_bypassed", "Writes of a write-back volume that bypassed the cache", "1/s", "volume", Rate;
        WRITE_BYTES = "write_bytes", "Bytes written", "B/s", "volume", Rate;
        FLUSHES = "flushes", "Flushes", "1/s", "volume", Rate;
        PROMOTED = "promoted", "Bytes brought into the cache by reads", "B/s", "volume", Rate;
        EVICTIONS = "evictions", "Lines evicted", "1/s", "volume", Rate;
        CLEANED = "cleaned", "Bytes written to the slow medium by the cleaner", "B/s", "volume", Rate;
        CLEAN_WRITES = "clean_writes", "Writes of the cleaner, with adjacent lines merged", "1/s", "volume", Rate;
        CLEAN_DEPTH = "clean_depth", "Writes of a cleaner of depth auto that may be under way at once", "requests", "", Level;
        ERRORS = "errors", "Failed reads and writes of the cache and of the slow medium", "1/s", "volume", Rate;
        LATENCY = "latency", "Requests by class (hit, miss, flush) whose time lies in the bucket that ends here, an eighth of a power of two", "1/s", "volume, class and ns", Rate;
        IN_USE = "in_use", "Cache that holds lines of the volume", "B", "volume", Level;
        DIRTY = "dirty", "Cache that holds dirty lines of the volume", "B", "volume", Level;
        MISSES_AT = "misses_at", "Reads that would miss in a cache of this size with the policy in use, from a sample of references", "1/s", "volume and bytes", Rate;
        LRU_MISSES_AT = "lru_misses_at", "Reads that would miss in an LRU cache of this size, from a sample of references", "1/s", "volume and bytes", Rate;
        WRITE_MISSES_AT = "write_misses_at", "Writes to lines that a cache of this size would not hold, from a sample of references", "1/s", "volume and bytes", Rate;
        CLEANED_AT = "cleaned_at", "Bytes that the cleaner of a cache of this size would write, from a sample of references", "B/s", "volume and bytes", Rate;
        SAMPLED = "sampled", "References in the sample", "1/s", "", Rate;
        SAMPLE_LOST = "sample_lost", "References dropped from the sample buffer before they were read", "1/s", "", Rate;
        DISK_REQUESTS = "disk_requests", "Requests to the modelled medium", "1/s", "", Rate;
        DISK_BUSY = "disk_busy", "Mean utilization of the modelled drives", "%", "", Rate;
        DISK_QUEUE = "disk_queue", "Mean requests at the modelled medium, queued or in service", "requests", "", Rate;
        DISK_RESPONSE = "disk_response", "Mean time of a request at the modelled medium", "ms", "", Level;
        DISK_LATE = "disk_late", "Total delay of requests and syncs beyond the model", "s/s", "", Rate;
        DISK_LATE_P50 = "disk_late_p50", "Delay of requests and syncs beyond the model since the reading before, median", "ms", "", Level;
        DISK_LATE_P99 = "disk_late_p99", "Delay of requests and syncs beyond the model since the reading before, 99th percentile", "ms", "", Level;
        DISK_SYNCS = "disk_syncs", "Syncs of the files under the modelled medium", "1/s", "", Rate;
        DISK_OUTRUN = "disk_outrun", "Requests and syncs for which the file took longer than the model", "1/s", "", Rate;
        DISK_OUTRUN_P50 = "disk_outrun_p50", "Time by which the file took longer than the model where it did, since the reading before, median", "ms", "", Level;
        DISK_OUTRUN_P99 = "disk_outrun_p99", "Time by which the file took longer than the model where it did, since the reading before, 99th percentile", "ms", "", Level;
    }

    /// Sessions of the load, looked at many times a second.
    sessions = "sessions" {
        STATE = "state", "Sessions of the load in one state, mean over the second", "sessions", "state", Level;
        LOOKS = "looks", "Samples taken of all sessions", "1/s", "", Rate;
        COST = "cost", "CPU time that the server spent on these samples", "CPU s/s", "", Rate;
    }

    /// The server's own statistics; its counters have the server's names.
    engine = "engine" {
        ACTIVE_SESSIONS = "active_sessions", "Sessions in a transaction, by what they wait for", "sessions", "wait", Level;
        WAL_BYTES = "wal_bytes", "Bytes written to the write-ahead log", "B/s", "", Rate;
        JOURNAL_BYTES = "journal_bytes", "Bytes written to the journal", "B/s", "", Rate;
        LOG_BYTES = "log_bytes", "Bytes written to the redo log", "B/s", "", Rate;
        CHECKPOINTS = "checkpoints", "Checkpoints begun", "1/s", "", Rate;
        CHECKPOINTS_TIMED = "checkpoints_timed", "Checkpoints begun because their time had come", "1/s", "", Rate;
        CHECKPOINTS_REQUESTED = "checkpoints_requested", "Checkpoints begun because the log was full or somebody asked", "1/s", "", Rate;
    }
}

/// Bytes that an engine says it wrote to its log, by the names that engines have for it.
pub const ENGINE_LOG: &[SeriesName] = &[engine::WAL_BYTES, engine::JOURNAL_BYTES, engine::LOG_BYTES];

/// Checkpoints of an engine, by the names that engines have for them.
pub const ENGINE_CHECKPOINTS: &[SeriesName] =
    &[engine::CHECKPOINTS, engine::CHECKPOINTS_TIMED, engine::CHECKPOINTS_REQUESTED];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_stands_once() {
        for (place, row) in SERIES.iter().enumerate() {
            assert!(SERIES[place + 1..].iter().all(|other| !other.is_of(row.probe, row.name)), "{row:?} stands twice");
        }
        let reading = device::READS.reading("nvme0n1", 7.0);
        assert_eq!((reading.name.as_str(), reading.unit.as_str()), ("reads", "1/s"));
    }
}

//! The table of metrics of a point: name, title, unit, better direction, digits in a terminal, words at an axis. Findings write by these
//! handles; sections, comparisons and the table for a terminal read by them. A title stands once.
//!
//! Response and service times of one kind of operation are a family, `response_ns_p99.<kind>`: the table has those that a workload has
//! columns for. Counters of an engine, `engine.<name>`, have the engine's names.

pub use crate::metric_key::{LatencyKey, LatencyStatistic, MetricKey, PERCENTILES};
use Better::{Higher, Lower, Neither};
use Digits::{Tenths, Three, Whole};
use proofload_analysis::quantity::Unit;
use proofload_model::samples::ALL_KINDS;

/// Direction in which a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Throughput.
    Higher,
    /// Times.
    Lower,
    /// Neither: use of a resource.
    Neither,
}

impl Better {
    /// The word in machine-readable output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Higher => "higher",
            Self::Lower => "lower",
            Self::Neither => "neither",
        }
    }
}

/// Digits of a number in a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digits {
    /// Whole numbers, without digits behind the point.
    Whole,
    /// One behind the point.
    Tenths,
    /// Three in all, at most hundredths.
    Three,
}

/// Row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricName {
    /// Name among the metrics of a point.
    pub name: &'static str,
    /// Title in tables.
    pub title: &'static str,
    /// Head of a column whose table says the rest; the title where there is no such table.
    pub head: &'static str,
    /// Unit of the value.
    pub unit: &'static str,
    /// Unit behind a title: in words, or empty where the title says it; of times in ns, the ms that are shown.
    pub told: &'static str,
    /// Direction in which it is better.
    pub better: Better,
    /// Head in a terminal, with the unit.
    pub terminal: &'static str,
    /// Digits in a terminal.
    pub digits: Digits,
    /// Title of an axis and of the data behind a chart.
    pub axis: &'static str,
    /// Unit of the axis.
    pub axis_unit: &'static str,
}

const fn row(name: &'static str, title: &'static str, unit: &'static str, better: Better) -> MetricName {
    MetricName {
        name,
        title,
        head: title,
        unit,
        told: unit,
        better,
        terminal: title,
        digits: Digits::Three,
        axis: title,
        axis_unit: unit,
    }
}

/// A row of a response time, which tables show in ms.
const fn response(name: &'static str, title: &'static str) -> MetricName {
    row(name, title, "ns", Better::Lower).told("ms").axis("Response time", "ms")
}

impl MetricName {
    const fn head(self, head: &'static str) -> Self {
        Self { head, ..self }
    }

    const fn told(self, told: &'static str) -> Self {
        Self { told, ..self }
    }

    const fn terminal(self, terminal: &'static str, digits: Digits) -> Self {
        Self { terminal, digits, ..self }
    }

    const fn axis(self, axis: &'static str, axis_unit: &'static str) -> Self {
        Self { axis, axis_unit, ..self }
    }

    /// The same with its short head for a title.
    pub const fn headed(self) -> Self {
        Self { title: self.head, ..self }
    }

    /// The same with another title, for a table that says the rest.
    pub const fn headed_as(self, title: &'static str) -> Self {
        Self { title, ..self }
    }

    /// The same with title and unit of its axis, for the data behind a chart.
    pub const fn drawn(self) -> Self {
        Self { title: self.axis, told: self.axis_unit, ..self }
    }

    /// Unit of the value, as quantities have it.
    pub const fn quantity_unit(&self) -> Unit {
        Unit::named(self.unit)
    }

    /// Title with the unit behind it: `Power, W`.
    pub fn title_with_unit(&self) -> String {
        if self.told.is_empty() { self.title.to_owned() } else { format!("{}, {}", self.title, self.told) }
    }

    /// Key among the metrics of a point.
    pub fn key(&self) -> MetricKey {
        MetricKey::from(self)
    }

    /// Kind of operation of a latency, as in `response_ns_p99.read`; `None` where it counts all work.
    pub fn kind(&self) -> Option<String> {
        self.key().latency().map(|latency| latency.kind.clone()).filter(|kind| kind != ALL_KINDS)
    }
}

macro_rules! metrics {
    ($($handle:ident = $row:expr;)*) => {
        $(#[doc = concat!("Row of the metric `", stringify!($handle), "`.")]
        pub const $handle: MetricName = $row;)*

        /// All rows.
        pub const METRICS: &[MetricName] = &[$($handle),*];
    };
}

metrics! {
    THROUGHPUT = row("throughput", "Throughput", "1/s", Higher).head("Measured window").told("operations/s")
        .axis("Throughput", "operations per second").terminal("ops/s", Whole);
    TPM = row("tpm", "TPM", "1/min", Higher).told("per minute").axis("Throughput", "transactions per minute").terminal("TPM", Whole);
    TPM_ENGINE = row("tpm_engine", "TPM by the engine's counters", "1/min", Neither).told("per minute");
    TPM_ENGINE_RATIO = row("tpm_engine_ratio", "Engine's TPM by ours", "ratio", Neither).told("");
    NOPM = row("nopm", "NOPM, client", "1/min", Higher).told("per minute").axis("New orders", "per minute").terminal("NOPM", Whole);
    NOPM_DATABASE = row("nopm_database", "NOPM, database", "1/min", Higher).told("per minute");
    QUERIES_PER_HOUR = row("queries_per_hour", "Valid queries", "1/h", Higher).axis("Throughput", "valid queries per hour")
        .terminal("queries/h", Whole);
    QUERIES_PER_HOUR_PER_TB = row("queries_per_hour_per_tb", "Throughput × size", "queries/h × TB", Higher)
        .terminal("q/h x TB", Three);
    QUERY_TIME = row("query_time_s", "Query time, geometric mean", "s", Lower).head("Query time");
    RELATIVE = row("relative_percent", "Share of the largest", "%", Higher).terminal("% of max", Tenths);
    RUN_THROUGHPUT = row("run_throughput", "run throughput", "1/s", Higher).head("Whole run").told("operations/s");
    RUN_TIME = row("run_time_s", "Run time", "s", Lower);
    WRITES_AWAY = row("writes_away_s", "Write outage", "s", Lower);
    READS_AWAY = row("reads_away_s", "Read outage", "s", Lower);
    FAILED = row("failed_percent", "Failed", "%", Lower).terminal("failed %", Three);
    PACED = row("paced_per_minute", "Paced transactions", "1/min", Higher);
    PACED_BY_SCALE = row("paced_per_minute_and_scale", "Paced transactions, by scale", "1/min", Higher);
    PACED_EFFICIENCY = row("efficiency_percent", "Efficiency", "%", Higher);
    RESPONSE_P99 = response("response_ns_p99.all", "All kinds p99, response time").head("p99").terminal("p99 ms", Three);
    NEW_ORDER_P99 = response("response_ns_p99.new_order", "New-Order p99, response time").head("New-Order p99")
        .terminal("p99 NO ms", Three);
    READ_MEAN = response("response_ns_mean.read", "Read mean, response time").head("Read, mean").terminal("read ms", Three);
    READ_P99 = response("response_ns_p99.read", "Read p99, response time").terminal("p99", Three);
    UPDATE_MEAN = response("response_ns_mean.update", "Update mean, response time").head("Update, mean").terminal("update ms", Three);
    UPDATE_P99 = response("response_ns_p99.update", "Update p99, response time").terminal("p99", Three);
    INSERT_MEAN = response("response_ns_mean.insert", "Insert mean, response time").head("Insert, mean");
    SCAN_MEAN = response("response_ns_mean.scan", "Scan mean, response time").head("Scan, mean");
    READ_MODIFY_WRITE_MEAN = response("response_ns_mean.read_modify_write", "Read-modify-write mean, response time")
        .head("Read-modify-write, mean");
    CPU = row("cpu_percent", "CPU", "%", Neither).head("CPU, all").axis("Processor", "% of the cores").terminal("host CPU %", Tenths);
    CPU_STEAL = row("cpu_steal_percent", "Steal", "%", Lower).told("% of the cores");
    DATABASE_CPU = row("database_cpu_percent", "CPU, database", "%", Neither).head("CPU");
    WORK_PER_CPU = row("work_per_cpu_s", "Work per CPU second", "1/CPU s", Higher).told("units of work per CPU s");
    DRIVER_CPU = row("driver_cpu_percent", "Driver overhead, share of CPU", "%", Lower);
    CPU_TIME = row("cpu_seconds_per_s", "CPU time", "CPU s/s", Neither);
    DEVICE_READ_BANDWIDTH = row("device_read_mb_s", "Device reads", "MB/s", Neither).axis("Drive reads", "MB/s")
        .terminal("read MB/s", Three);
    DEVICE_WRITE_BANDWIDTH = row("device_write_mb_s", "Device writes", "MB/s", Neither).axis("Drive writes", "MB/s")
        .terminal("write MB/s", Three);
    DEVICE_READ_REQUESTS = row("device_reads_s", "Device read requests", "1/s", Neither);
    DEVICE_WRITE_REQUESTS = row("device_writes_s", "Device write requests", "1/s", Neither);
    DEVICE_BUSY = row("device_busy_percent", "Device busy", "%", Neither).axis("Drive busy", "% of the time");
    DEVICE_FLUSHES = row("device_flushes_s", "Device flushes", "1/s", Neither).head("Flushes");
    DEVICE_QUEUE = row("device_queue", "Device queue", "requests", Neither).head("Queue").told("mean requests");
    DEVICE_LATENCY = row("device_latency_ms", "Device latency", "ms", Lower).head("Latency");
    DEVICE_READ_SIZE = row("device_read_kb", "Device read size", "kB", Neither).head("Read size").told("kB per request");
    DEVICE_WRITE_SIZE = row("device_write_kb", "Device write size", "kB", Neither).head("Write size").told("kB per request");
    MAJOR_FAULTS = row("major_faults_s", "Major faults", "1/s", Neither);
    REFAULTS = row("refaults_s", "File pages read again", "1/s", Neither);
    SCAN_PHYSICAL = row("scan_physical_mb_s", "Scan, physical", "MB/s", Neither).head("Physical, device").terminal("scan MB/s", Three);
    SCAN_FILE = row("scan_file_mb_s", "File reads, engine", "MB/s", Neither);
    SCAN_LOGICAL = row("scan_logical_mb_s", "Scan, logical", "MB/s", Neither).head("Logical");
    IO_THROUGHPUT = row("io_throughput_mb_s", "Mean of physical and logical", "MB/s", Neither).head("I/O throughput");
    HIT_SHARE = row("hit_percent", "Hit ratio", "%", Neither);
    PHYSICAL_BY_CPU = row("physical_mb_per_cpu_s", "Scan by CPU time, physical", "MB per CPU s", Higher).head("Physical");
    LOGICAL_BY_CPU = row("logical_mb_per_cpu_s", "Scan by CPU time, logical", "MB per CPU s", Higher).head("Logical");
    COMPRESSION = row("compression", "Compression", "ratio", Higher).told("").terminal("compr.", Three);
    COMPRESSION_WITH_INDEXES = row("compression_with_indexes", "Compression with indexes", "ratio", Higher).told("").head("With indexes");
    VALUES_WRITTEN = row("logical_write_mb_s", "Values written", "MB/s", Neither);
    VALUES_READ = row("logical_read_mb_s", "Values read", "MB/s", Neither);
    DEVICE_WRITTEN_PER_BYTE = row("device_bytes_written_per_logical_byte", "Device bytes written per byte of values written", "B/B", Lower)
        .told("");
    DEVICE_WRITTEN_PER_LOG_BYTE =
        row("device_bytes_written_per_log_byte", "Device bytes written per byte of the engine's log", "B/B", Lower).head("Written per log byte").told("B/B");
    DEVICE_READ_PER_BYTE = row("device_bytes_read_per_logical_byte", "Device bytes read per byte of values read", "B/B", Lower).told("");
    POWER = row("power_w.measured", "Power", "W", Lower);
    POWER_OF_SHEET = row("power_w.data_sheet", "Power, data sheet", "W", Lower);
    OPERATIONS_PER_WATT = row("operations_per_watt.measured", "Operations/s per W", "operations/s per W", Higher).told("");
    OPERATIONS_PER_WATT_OF_SHEET =
        row("operations_per_watt.data_sheet", "Operations/s per W, data sheet", "operations/s per W", Higher).told("");
    REQUESTS_PER_GB = row("device_iops_per_gb.measured", "Device requests/s per GB of capacity", "1/s per GB", Neither).told("");
    REQUESTS_PER_GB_OF_SHEET = row("device_iops_per_gb.data_sheet", "Maximum device requests/s per GB", "1/s per GB", Higher).told("");
    CAPACITY_PER_RACK_UNIT =
        row("capacity_per_rack_unit.data_sheet", "Capacity per rack unit", "TB per rack unit", Higher).told("TB");
}

/// Use of the host and its device during the windows, of every workload.
pub const OBSERVED: &[MetricName] = &[
    CPU,
    DEVICE_READ_BANDWIDTH,
    DEVICE_WRITE_BANDWIDTH,
    DEVICE_READ_REQUESTS,
    DEVICE_WRITE_REQUESTS,
    DEVICE_BUSY,
    MAJOR_FAULTS,
];

/// The same without the CPU, for a workload that rates it over whole runs.
pub const OBSERVED_BUT_CPU: &[MetricName] = OBSERVED.split_at(1).1;

/// What one unit of work costs on the device; the name of the metric ends in the workload's word for the unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CostName {
    /// Start of the name: `reads` of `reads_per_transaction`.
    pub start: &'static str,
    /// Title in tables.
    pub title: &'static str,
    /// Unit, before `/transaction`.
    pub unit: &'static str,
    /// The same in words, before `per transaction`; empty where the title says it.
    pub told: &'static str,
}

impl CostName {
    /// Key of the metric where the unit of work has this name.
    pub fn key(&self, work: &str) -> MetricKey {
        MetricKey::Cost(self.start, work.to_owned())
    }

    /// Unit of its value.
    pub fn quantity_unit(&self, work: &str) -> Unit {
        Unit(format!("{}/{work}", self.unit).into())
    }

    /// Unit in the head of a column.
    pub fn told(&self, work: &str) -> String {
        format!("{} per {work}", self.told).trim_start().to_owned()
    }
}

/// Read requests.
pub const READS: CostName = CostName { start: "reads", title: "Reads", unit: "reads", told: "" };
/// Bytes read.
pub const READ_BYTES: CostName = CostName { start: "read_kb", title: "Read", unit: "kB", told: "kB" };
/// Write requests.
pub const WRITES: CostName = CostName { start: "writes", title: "Writes", unit: "writes", told: "" };
/// Bytes written.
pub const WRITTEN_BYTES: CostName = CostName { start: "write_kb", title: "Written", unit: "kB", told: "kB" };

/// Flushes.
pub const FLUSHES: CostName = CostName { start: "flushes", title: "Flushes", unit: "flushes", told: "" };

/// Costs of a unit of work, in the order of tables.
pub const COSTS: &[CostName] = &[READS, READ_BYTES, WRITES, WRITTEN_BYTES, FLUSHES];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_titles_stand_once() {
        for (place, row) in METRICS.iter().enumerate() {
            let again = METRICS[place + 1..].iter().find(|other| other.name == row.name || other.title == row.title);
            assert_eq!(again, None, "like {row:?}");
            assert!(!row.unit.is_empty() && !row.head.is_empty(), "{row:?}");
        }
        assert!(!OBSERVED_BUT_CPU.contains(&CPU) && OBSERVED_BUT_CPU.len() + 1 == OBSERVED.len());
    }

    #[test]
    fn titles_have_their_unit_behind_them() {
        assert_eq!(
            POWER.title_with_unit() + " " + &OPERATIONS_PER_WATT.title_with_unit(),
            "Power, W Operations/s per W"
        );
        assert_eq!(READ_BYTES.told("query") + ", " + &READS.told("query"), "kB per query, per query");
        assert_eq!((READ_P99.kind().as_deref(), RESPONSE_P99.kind(), POWER.kind()), (Some("read"), None, None));
    }
}

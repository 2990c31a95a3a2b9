//! The table of metrics that two records are compared by, besides latencies and the rates in the columns of a workload: name, title and
//! better direction of each. A title stands once.

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

/// Row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricName {
    /// Name among the metrics of a point.
    pub name: &'static str,
    /// Title in tables.
    pub title: &'static str,
    /// Direction in which it is better.
    pub better: Better,
}

macro_rules! metrics {
    ($($handle:ident = $name:literal, $title:literal, $better:ident;)*) => {
        $(#[doc = concat!("`", $name, "`: ", $title, ".")]
        pub const $handle: MetricName = MetricName { name: $name, title: $title, better: Better::$better };)*

        /// All rows.
        pub const METRICS: &[MetricName] = &[$($handle),*];
    };
}

metrics! {
    QUERIES_PER_HOUR = "queries_per_hour", "Valid queries", Higher;
    QUERIES_PER_HOUR_PER_TB = "queries_per_hour_per_tb", "By size", Higher;
    RUN_THROUGHPUT = "run_throughput", "run throughput", Higher;
    RUN_TIME = "run_time_s", "Run time", Lower;
    CPU = "cpu_percent", "CPU", Neither;
    DEVICE_READ_BANDWIDTH = "device_read_mb_s", "Device reads", Neither;
    DEVICE_WRITE_BANDWIDTH = "device_write_mb_s", "Device writes", Neither;
    DEVICE_READ_REQUESTS = "device_reads_s", "Device read requests", Neither;
    DEVICE_WRITE_REQUESTS = "device_writes_s", "Device write requests", Neither;
    DEVICE_BUSY = "device_busy_percent", "Device busy", Neither;
    MAJOR_FAULTS = "major_faults_s", "Major faults", Neither;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_titles_stand_once() {
        for (place, row) in METRICS.iter().enumerate() {
            let again = METRICS[place + 1..].iter().find(|other| other.name == row.name || other.title == row.title);
            assert_eq!(again, None, "like {row:?}");
        }
        assert!(!OBSERVED_BUT_CPU.contains(&CPU) && OBSERVED_BUT_CPU.len() + 1 == OBSERVED.len());
    }
}

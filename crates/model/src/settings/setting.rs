//! Paths of the settings that several crates read, one name for each: another path of a setting is changed here alone, and a name that is gone
//! does not compile. May not say what a setting means: that is the tables' business.

macro_rules! paths {
    ($($name:ident = $path:literal,)+) => {
        $(
            #[doc = concat!("Path of the setting `", $path, "`.")]
            pub const $name: &str = $path;
        )+

        /// Every path that has a name here.
        pub const NAMED: &[&str] = &[$($name),+];
    };
}

paths! {
    STUDY_NAME = "study.name",
    STUDY_REFERENCE = "study.reference",
    STUDY_REPETITIONS = "study.repetitions",
    STUDY_SENTINEL_EVERY = "study.sentinel_every",
    STUDY_TITLE = "study.title",
    SEARCH_SETTING = "search.setting",
    WORKLOAD_ALL_WAREHOUSES = "workload.all_warehouses",
    WORKLOAD_ARRIVALS = "workload.arrivals",
    WORKLOAD_CLIENT_THREADS = "workload.client_threads",
    WORKLOAD_DEADLINE = "workload.deadline",
    WORKLOAD_DEPARTURES = "workload.departures",
    WORKLOAD_FORM = "workload.form",
    WORKLOAD_KEY_MODE = "workload.key_mode",
    WORKLOAD_KEYS = "workload.keys",
    WORKLOAD_KIND = "workload.kind",
    WORKLOAD_LAYOUT = "workload.layout",
    WORKLOAD_LINES = "workload.lines",
    WORKLOAD_MIX = "workload.mix",
    WORKLOAD_OPERATIONS = "workload.operations",
    WORKLOAD_PARALLELISM = "workload.parallelism",
    WORKLOAD_PARAMETERS = "workload.parameters",
    WORKLOAD_PROFILE = "workload.profile",
    WORKLOAD_QUERIES = "workload.queries",
    WORKLOAD_QUERY_CAP = "workload.query_cap",
    WORKLOAD_QUEUE_AT_MOST = "workload.queue_at_most",
    WORKLOAD_RATE = "workload.rate",
    WORKLOAD_RECORDS = "workload.records",
    WORKLOAD_ROUNDS = "workload.rounds",
    WORKLOAD_SCALE_FACTOR = "workload.scale_factor",
    WORKLOAD_STREAMS = "workload.streams",
    WORKLOAD_VIRTUAL_USERS = "workload.virtual_users",
    WORKLOAD_WAREHOUSES = "workload.warehouses",
    WORKLOAD_WARM_UP_ROUNDS = "workload.warm_up_rounds",
    ENGINE_CHANGES = "engine.changes",
    ENGINE_KIND = "engine.kind",
    ENGINE_URL = "engine.url",
    STORAGE_PATH = "storage.path",
    STORAGE_PRECONDITION_DEVICE = "storage.precondition.device",
    STORAGE_PURGE_STANDBY_DEVICES = "storage.purge.standby_devices",
    STORAGE_VOLUME = "storage.volume",
    LIMITS_CORES = "limits.cores",
    LIMITS_CPU = "limits.cpu",
    LIMITS_MEMORY = "limits.memory",
    LIMITS_MEMORY_PER_DATA = "limits.memory_per_data",
    LIMITS_READ_BANDWIDTH = "limits.read_bandwidth",
    LIMITS_READ_IOPS = "limits.read_iops",
    LIMITS_STANDBY_CPU = "limits.standby_cpu",
    LIMITS_WRITE_BANDWIDTH = "limits.write_bandwidth",
    LIMITS_WRITE_IOPS = "limits.write_iops",
    REPLICATION_BANDWIDTH = "replication.bandwidth",
    REPLICATION_MODE = "replication.mode",
    REPLICATION_RTT = "replication.rtt",
    DRILL_FAULT = "drill.fault",
    DRILL_PROMOTE_AFTER = "drill.promote_after",
    PROCEDURE_MEASURE = "procedure.measure",
    PROCEDURE_PRECISION = "procedure.precision",
    PROCEDURE_QUIET_SECONDS = "procedure.quiet_seconds",
    PROCEDURE_RETRIES = "procedure.retries",
    PROCEDURE_STEAL_TOLERANCE = "procedure.steal_tolerance",
    PROCEDURE_WARM_UP_AT_LEAST = "procedure.warm_up.at_least",
    AGENTS_HOST = "agents.host",
    AGENTS_LOAD = "agents.load",
    OBSERVE_PROMETHEUS = "observe.prometheus",
    HARDWARE_CAPACITY = "hardware.capacity",
    HARDWARE_DRIVE_IOPS = "hardware.drive_iops",
    HARDWARE_RACK_UNITS = "hardware.rack_units",
    HARDWARE_WATTS = "hardware.watts",
    PAPER_DRIVE = "paper.drive",
    PAPER_LOGO = "paper.logo",
    CONFIRM_POINTS = "confirm.points",
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::STANDARD;

    /// Paths of workloads and engines are compared with their tables where those are known.
    #[test]
    fn each_path_has_one_name_and_is_of_the_table_or_of_a_workload_or_an_engine() {
        for path in NAMED {
            let is_standard = STANDARD.iter().any(|spec| spec.path == *path);
            assert!(is_standard || path.starts_with("workload.") || path.starts_with("engine."), "{path}");
            assert_eq!(NAMED.iter().filter(|other| *other == path).count(), 1, "{path}");
        }
    }
}

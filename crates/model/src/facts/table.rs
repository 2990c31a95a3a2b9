//! The rows. A title in backquotes is a name of the kernel or the engine; `detail` marks what only those need who repeat a run,
//! `passing` what differs from run to run by its nature.

use super::fact_name::{FactFamily, FactName};
use super::value::Reading::{
    self, Answer, Bytes, Count, Items, Kibibytes, Milliseconds, PagesOrKibibytes, Rate, Seconds, Size, Text, Words,
};

macro_rules! facts {
    ($($(#[$doc:meta])* $module:ident = $subject:literal {
        $($handle:ident = $name:literal, $title:literal, $reading:expr $(, $mark:ident)*;)*
        $(* $family:ident = $before:literal .. $after:literal, $of:expr $(, $detail:ident)?;)*
    })*) => {
        $($(#[$doc])* pub mod $module {
            use super::*;

            /// Subject of these facts.
            pub const SUBJECT: &str = $subject;
            $(#[doc = concat!("`", $name, "`: ", $title, ".")]
            pub const $handle: FactName = FactName::new(SUBJECT, $name, $title, $reading)$(.$mark())*;)*
            $(#[doc = concat!("`", $before, "*", $after, "`.")]
            pub const $family: FactFamily = FactFamily {
                subject: SUBJECT,
                before: $before,
                after: $after,
                reading: $of,
                is_detail: facts!(@ $($detail)?),
            };)*
        })*

        /// All rows, by subject.
        pub static FACTS: &[FactName] = &[$($($module::$handle,)*)*];

        /// All families; one that takes every name of its subject is the last of it.
        pub static FAMILIES: &[FactFamily] = &[$($($module::$family,)*)*];
    };
    (@) => { false };
    (@ detail) => { true };
}

const YES_NO: Reading = Words(&[("0", "no"), ("1", "yes")]);

/// What `/sys/devices/system/cpu/smt/control` says. Source: Documentation/ABI/testing/sysfs-devices-system-cpu.
const SMT: Reading = Words(&[
    ("notsupported", "not supported"),
    ("notimplemented", "unknown to the kernel"),
    ("forceoff", "forced off"),
]);

/// `vm.overcommit_memory`. Source: Documentation/mm/overcommit-accounting.rst.
const OVERCOMMIT: Reading = Words(&[("0", "0 (by heuristic)"), ("1", "1 (always)"), ("2", "2 (never)")]);

const MIX: Reading = Words(&[("Deck", "a shuffled deck of 23 for each user"), ("Draw", "drawn, 10/10/1/1/1 of 23")]);

const HOMES: Reading = Words(&[
    ("Fixed", "one for each user"),
    ("AllWarehouses", "drawn from all warehouses for each transaction"),
    ("AtRandom", "one for each user, drawn at random, so users may share one"),
]);

facts! {
    /// The machine and its kernel.
    host = "host" {
        CPU = "cpu", "CPU", Text;
        CORES = "cores", "Cores", Count("");
        SOCKETS = "sockets", "Sockets", Count("");
        SMT_CONTROL = "smt", "SMT", SMT;
        GOVERNOR = "governor", "Frequency governor", Text;
        MEMORY = "memory", "Memory", Size;
        SWAP = "swap", "Swap", Size;
        HUGE_PAGES = "huge_pages", "Huge pages", Text;
        MODEL = "model", "Machine model", Text;
        HYPERVISOR = "hypervisor", "Hypervisor", Text;
        KERNEL = "kernel", "Kernel", Text;
        SYSTEM = "system", "Operating system", Text;
        CLOCK_SOURCE = "clock_source", "Clock source", Text, detail;
        TRANSPARENT_HUGE_PAGES = "transparent_huge_pages", "Transparent huge pages", Text;
        SWAPPINESS = "vm.swappiness", "`vm.swappiness`", Text, detail;
        DIRTY_RATIO = "vm.dirty_ratio", "`vm.dirty_ratio`", Count("%"), detail;
        DIRTY_BACKGROUND_RATIO = "vm.dirty_background_ratio", "`vm.dirty_background_ratio`", Count("%"), detail;
        OVERCOMMIT_MEMORY = "vm.overcommit_memory", "`vm.overcommit_memory`", OVERCOMMIT, detail;
        CONTROL_GROUPS = "control_groups", "Control groups", Text, detail;
    }

    /// The cache tier under the data.
    tier = "tier" {
        MEDIUM = "medium", "Slow medium", Text;
        STROKE = "stroke", "Data on the modelled drives", Text;
        FLUSH_DELAY = "flush_delay", "Delay of each flush", Text;
        DATA = "data", "Data behind the cache", Size;
        CACHE = "cache", "Cache", Size;
        LINE = "line", "Cache line", Size;
        POLICY = "policy", "Cache policy", Text;
        CLEAN_DEPTH = "clean_depth", "Writes of the cleaner at once", Count("");
        CLEAN_MARKS = "clean_marks", "Marks of the cleaner", Text;
        CLEAN_TIMES = "clean_times", "Times of the cleaner", Text;
        EXPORT = "export", "Export", Text;
        CACHE_IO = "cache_io", "I/O mode of the cache", Text;
        LINES_AT_START = "lines_at_start", "Cache in use when opened", Size;
        WARM_LIST = "warm_list", "List that the cache was filled from", Text;
        WARM_NAMED = "warm_named", "Lines of that list", Count("");
        WARMED = "warmed", "Lines filled from the list", Count("");
        DIRTY_AT_START = "dirty_at_start", "Dirty when opened", Size;
        MEMORY = "memory", "Memory of the line table", Size, detail;
        * MODE = "mode." .. "", Text;
        * QUOTA = "quota." .. "", Size;
        * NOT_WARMED = "not_warmed." .. "", Count("");
    }

    /// The storage under the data, and its preconditioning.
    storage = "storage" {
        VOLUME = "volume", "Volume made for the study", Text;
        FILE_SYSTEM = "file_system", "File system", Text;
        MOUNT_POINT = "mount_point", "Mount point", Text;
        MOUNT_OPTIONS = "mount_options", "Mount options", Items;
        FREE = "free", "Free space", Size, passing;
        DEVICE = "device", "Device", Text;
        DEVICE_MODEL = "device_model", "Device model", Text;
        DEVICE_FIRMWARE = "device_firmware", "Device firmware", Text;
        DEVICE_SIZE = "device_size", "Device size", Size;
        ROTATIONAL = "rotational", "Rotational drive (reported by the device)", YES_NO;
        SCHEDULER = "scheduler", "I/O scheduler", Text;
        WRITE_CACHE = "write_cache", "Write cache", Text;
        READ_AHEAD = "read_ahead_kb", "Read-ahead", Kibibytes;
        PRECONDITION_VERDICT = "precondition.verdict", "Precondition verdict", Text;
        PRECONDITION_TARGET = "precondition.target", "Precondition target", Text;
        PRECONDITION_FIO = "precondition.fio", "Precondition fio", Text;
        PRECONDITION_PURGE = "precondition.purge", "Precondition purge", Text;
        PRECONDITION_DIRECT = "precondition.direct", "Precondition direct", Text;
        PRECONDITION_IO_ENGINE = "precondition.io_engine", "Precondition io engine", Text;
        PRECONDITION_QUEUE_DEPTH = "precondition.queue_depth", "Precondition queue depth", Text;
        PRECONDITION_ROUNDS = "precondition.rounds", "Precondition rounds", Text;
        PRECONDITION_ROUNDS_IOPS = "precondition.rounds.iops", "Precondition rounds iops", Text;
        PRECONDITION_WINDOW = "precondition.window", "Precondition window", Text;
        PRECONDITION_STAY_WRITTEN = "precondition.blocks_stay_written", "Precondition blocks kept after the test", Text;
        * PRECONDITION_STEP_BYTES = "precondition." .. ".bytes", Size;
        * PRECONDITION_STEP_SPEED = "precondition." .. ".speed", Text;
    }

    /// Programs on the machine.
    tool = "tool" {
        FIO = "fio", "Fio", Text;
        PROOFLOAD = "proofload", "Proofload", Text;
        * ENGINE = "" .. "", Text;
    }

    /// The network between a primary and a standby.
    replication = "replication" {
        MODE = "mode", "Mode, as reported", Text;
        RTT = "link.rtt", "Shortest round trip", Milliseconds;
        RTT_P50 = "link.rtt.p50", "Round trip, median", Milliseconds, passing;
        RTT_P99 = "link.rtt.p99", "Round trip, 99th percentile", Milliseconds, passing;
        BANDWIDTH = "link.bandwidth", "Bandwidth", Text;
        MANAGER = "manager", "Failover manager", Text;
        MANAGER_STARTED = "manager.started", "Time to start the manager and its instances", Seconds, passing;
        * MANAGER_SETTING = "manager." .. "", Text;
    }

    /// The database: its version, its instance, its settings as it says them itself.
    engine = "engine" {
        VERSION = "version", "Version", Text;
        SERVER_VERSION = "server_version", "Version", Text;
        PRODUCT = "product", "`product`", Text;
        LIBRARY = "library", "`library`", Text;
        FILE = "file", "`file`", Text;
        DATABASE = "database", "`database`", Text;
        TOPOLOGY = "topology", "`topology`", Text;
        WIRE_VERSION = "wire_version", "`wire_version`", Text;
        STORAGE_ENGINE = "storage_engine", "`storage_engine`", Text;
        SETTINGS = "settings", "`settings`", Text;
        SERVICE_TIME = "service_time", "`service_time`", Text;
        PARALLELISM = "parallelism", "`parallelism`", Text;
        PAGE_SIZE = "page_size", "`page_size`", Bytes;
        BLOCK_SIZE = "block_size", "`block_size`", Bytes;
        PAGE_COUNT = "page_count", "`page_count`", Count("pages");
        MMAP_SIZE = "mmap_size", "`mmap_size`", Bytes;
        WAL_AUTOCHECKPOINT = "wal_autocheckpoint", "`wal_autocheckpoint`", Count("pages");
        THREADS = "threads", "`threads` (worker threads of one query)", Text;
        CACHE_SIZE = "cache_size", "`cache_size`", PagesOrKibibytes;
        ISOLATION = "isolation", "Isolation of transactions", Text;
        DURABLE_COMMITS = "durable_commits", "Commits are in the log before they are acknowledged", Answer;
        POWER_SAFE_COMMITS = "power_safe_commits", "Commits survive a loss of the host's power", Answer;
        BUSY_TIMEOUT = "busy_timeout", "`busy_timeout`", Milliseconds;
        INSTANCE_COMMAND = "instance.command", "Command", Text, detail, passing;
        INSTANCE_USER = "instance.user", "Run as", Text;
        INSTANCE_PROCESS = "instance.process", "Process ID", Text, detail, passing;
        INSTANCE_START_TIME = "instance.start_time", "Time to start", Seconds, passing;
        * SETTING = "" .. "", Text;
    }

    /// The data, from the manifest that stands beside them.
    data = "data" {
        FORMAT = "format", "Format", Text, detail;
        GENERATOR_VERSION = "generator_version", "Generator version", Text, detail;
        CONTENT_HASH_VERSION = "content_hash_version", "Content hash version", Text, detail;
        PROFILE = "profile", "Profile", Text;
        SCALE = "scale", "Scale", Text;
        WAREHOUSES = "warehouses", "Warehouses", Text;
        SEED = "seed", "Seed of the data", Text;
        C_LOAD = "c_load", "Constant C for C_LAST during the load", Text, detail;
        LOAD_TIME = "load_time", "Timestamp in loaded rows, µs since 1970", Count(""), detail;
        ROWS = "rows", "Rows, all tables", Count("");
        BYTES = "bytes", "Size after the build", Bytes;
        PROCEDURES = "procedures", "Procedures", Text;
        CONDITIONS_AT_LOAD = "conditions_at_load", "Consistency conditions after the load", Text;
        DATA = "data", "Data", Answer;
        GENERATOR = "generator", "Generator of the data", Answer;
        SCALE_FACTOR = "scale_factor", "Scale factor", Answer;
        ORDERS_PER_CHUNK = "orders_per_chunk", "Orders per chunk", Text;
        LAYOUT = "layout", "Layout of the tables", Answer;
        RAW_BYTES = "raw_bytes", "Raw size, bytes", Answer;
        TABLE_BYTES = "table_bytes", "Size of the tables in the database, bytes", Answer;
        INDEX_BYTES = "index_bytes", "Size of their indexes, bytes", Answer;
        COMPRESSION = "compression", "Compression", Text;
        COMPRESSION_WITH_INDEXES = "compression_with_indexes", "Compression with indexes", Text;
        CHECKED_AFTER_LOAD = "checked_after_load", "Checked after the load", Answer;
        RECORDS = "records", "Records", Answer;
        RECORD_SHAPE = "record shape", "Shape of a record", Answer;
        LOADED_BY = "loaded_by", "Load agents that shared the loading", Answer;
        READ_BACK = "read back after the load", "Read back after the load", Answer;
        * ROWS_OF = "rows." .. "", Count(""), detail;
        * CONTENT_HASH_OF = "content_hash." .. "", Text, detail;
        * NOTED = "" .. "", Text;
    }

    /// The load generator and the inputs of a run.
    client = "client" {
        THREADS = "threads", "Threads", Text;
        VIRTUAL_USERS = "virtual_users", "Virtual users", Text;
        ENGINE_IN_PROCESS = "engine_in_process", "Engine runs inside the load generator", Answer;
        NULL_CEILING = "null_ceiling", "Throughput of the generator against the null engine", Count("operations/s"), passing;
        ARRIVALS = "arrivals", "Arrivals", Text;
        QUEUE_AT_MOST = "queue_at_most", "Longest queue", Text;
        FORM = "form", "Form", Text;
        LINES = "lines", "Lines of a New-Order", Text;
        PROFILE = "profile", "Profile", Text;
        DEPARTURES = "departures", "Departures from TPC-C", Text;
        CONNECTIONS = "connections", "Connections", Text;
        DELIVERY_WORKERS = "delivery_workers", "Delivery workers", Text;
        CEILING = "ceiling_per_minute", "Ceiling per minute", Text;
        INPUT_SEED = "inputs.seed", "Seed of the inputs", Text, detail, passing;
        INPUT_PROFILE = "inputs.profile", "Profile", Text;
        INPUT_MIX = "inputs.mix", "Mix of transactions", MIX;
        INPUT_HOMES = "inputs.homes", "Home warehouses", HOMES;
        C_RUN = "inputs.c_run", "Constant C for C_LAST in the run", Text, detail, passing;
        C_OF_C_ID = "inputs.c_of_c_id", "Constant C for C_ID", Text, detail, passing;
        C_OF_OL_I_ID = "inputs.c_of_ol_i_id", "Constant C for OL_I_ID", Text, detail, passing;
        PATH = "path", "Client path", Answer;
        SELF_CHECK = "self_check", "Self check", Text;
        WRITE_CONCERN = "write_concern", "Write concern", Text;
        JOURNAL = "journal", "Journal", Text;
        TIMEOUT = "timeout", "Timeout", Text;
        STATEMENT_TIMEOUT = "statement_timeout", "Statement timeout", Text;
        OPERATION_MIX = "mix", "Mix of operations", Answer;
        KEY_CHOICE = "keys.choice", "Choice of keys", Answer;
        KEY_MODE = "keys.mode", "Mode of key choice", Answer;
        RECORD_SHAPE = "record shape", "Shape of a record", Answer;
        DATA_RECORDS = "data.records", "Records available to operations", Answer;
        READS_CHECKED = "reads checked", "Reads checked", Answer, passing;
        READS_COMPARED = "reads compared", "Reads compared with what was written", Answer, passing;
        QUERIES = "queries", "Queries", Answer;
        QUERIES_PER_ROUND = "queries_per_round", "Queries in a round of a stream", Answer;
        PARAMETERS = "parameters", "Values in queries", Answer;
        QUERY_CAP = "query_cap", "Query cap", Text;
        ANSWERS = "answers", "Answers", Answer;
        SIMPLE_SHARE = "class_share.simple", "Simple queries in a round (declared)", Answer, detail;
        AVERAGE_SHARE = "class_share.average", "Average queries in a round (declared)", Answer, detail;
        COMPLEX_SHARE = "class_share.complex", "Complex queries in a round (declared)", Answer, detail;
        * DEPARTURE = "departure." .. "", Text, detail;
        * CLASS_SHARE = "class_share." .. "", Answer, detail;
        * QUERY = "query." .. "", Text, detail;
    }

    /// One of several load agents: the names begin with the agent's.
    load_agent = "load agent" {
        * SHARE = "" .. ": share", Text;
        * USERS = "" .. ": virtual users", Text;
        * CLOCK_PLACED = "" .. ": clock aligned", Text;
        * CLOCK_MOVED = "" .. ": clock drift", Text;
    }

    /// Limits of an instance, as asked and as read back.
    limit = "limit" {
        MEMORY = "memory.max", "`memory.max`", Size;
        SWAP = "memory.swap.max", "`memory.swap.max`", Size;
        MEMORY_MEMBERS = "memory.members", "`memory.members`", Text, passing;
        CORES = "cores", "`cores`", Count("");
        CPU = "cpu", "`cpu`", Rate("CPU s/s");
        CPU_MEMBERS = "cpu.members", "`cpu.members`", Text;
        THREAD_CPU = "thread.cpu", "`thread.cpu`", Rate("CPU s/s");
        THREAD_MEMBERS = "thread.members", "`thread.members`", Text;
        WEIGHT = "cpu.weight", "`cpu.weight`", Text, passing;
        SLICE = "cpu.slice", "`cpu.slice`", Text, passing;
        CLIENTS_WEIGHT = "clients.weight", "`cpu.weight` of the load generator", Text, passing;
        CLIENTS_SLICE = "clients.slice", "`cpu.slice` of the load generator", Text, passing;
        READ_BANDWIDTH = "read_bandwidth", "`read_bandwidth`", Rate("B/s");
        WRITE_BANDWIDTH = "write_bandwidth", "`write_bandwidth`", Rate("B/s");
        READ_IOPS = "read_iops", "`read_iops`", Rate("requests/s");
        WRITE_IOPS = "write_iops", "`write_iops`", Rate("requests/s");
        IO_MEMBERS = "io.members", "`io.members`", Text;
        GROUP = "group", "`group`", Text, passing;
        GROUP_IO = "group.io", "`group.io`", Text, passing;
        GROUP_CPU = "group.cpu", "`group.cpu`", Text, passing;
        GROUP_CPU_ACCOUNTING = "group.cpu_accounting", "`group.cpu_accounting`", Text, passing;
        * REACH = "" .. ".reach", Text;
    }

    /// Resources used up to the end of a run, by the kernel's counters.
    usage = "usage" {
        MEMORY_USAGE = "memory.usage", "Now", Size, passing;
        MEMORY_PEAK = "memory.peak", "Peak", Size, passing;
        MEMORY_ANON = "memory.anon", "Anonymous", Size, passing;
        MEMORY_FILE = "memory.file", "Page cache", Size, passing;
        MEMORY_DIRTY = "memory.dirty", "Dirty pages", Size, passing;
        MEMORY_SOCK = "memory.sock", "Socket buffers", Size, passing;
        REFAULTS_FILE = "memory.refaults.file", "Pages read again (refaults)", Count(""), passing;
        REFAULTS_ANON = "memory.refaults.anon", "Anonymous pages read again (refaults)", Count(""), passing;
        MAJOR_FAULTS = "memory.major_faults", "Major faults", Count(""), passing;
        LIMIT_HITS = "memory.limit_hits", "Times the limit was hit", Count(""), passing;
        OOM_KILLS = "memory.oom_kills", "Processes killed", Count(""), passing;
        CPU_TIME = "cpu.time", "CPU time", Seconds, passing;
        CPU_USER = "cpu.user", "CPU time in user space", Seconds, passing;
        CPU_SYSTEM = "cpu.system", "CPU time in the kernel", Seconds, passing;
        CPU_PERIODS = "cpu.periods", "Active CPU quota periods", Count(""), passing;
        THROTTLED_PERIODS = "cpu.throttled_periods", "CPU quota periods that hit the limit", Count(""), passing;
        THROTTLED_TIME = "cpu.throttled_time", "Time throttled at the CPU limit", Seconds, passing;
        IO_READ = "io.read", "Read", Size, passing;
        IO_READS = "io.reads", "Read requests", Count(""), passing;
        IO_WRITTEN = "io.written", "Written", Size, passing;
        IO_WRITES = "io.writes", "Write requests", Count(""), passing;
        * PRESSURE = "pressure." .. "", Seconds;
    }

    /// Class and title of each query, as records before version 0.1 name them.
    query = "query" {
        * DESCRIBED = "" .. "", Text;
    }

    /// The machine at its most and the cost of queries, found out before a run. MB are 10^6 bytes.
    calibration = "calibration" {
        DEVICE_READ = "device_read_mb_s", "Sequential read rate of the device", Rate("MB/s");
        IN_CACHE = "mcr_mb_per_cpu_s", "Consumption in cache", Count("MB per CPU s");
        IN_CACHE_PASSES = "mcr_passes_mb_per_cpu_s", "Consumption in cache, each pass", Items;
        COLD = "bcr_mb_per_cpu_s", "Consumption cold", Count("MB per CPU s");
        FOOTPRINT = "cold_footprint_mb", "Bytes read from the device in the cold pass", Count("MB");
        SCANNED = "scan_mb", "Bytes consumed by a pass", Count("MB");
        SCAN_TIMES = "scan_s", "Time of the cold pass and mean time of the warm passes", Items;
        * QUERY_CPU = "query." .. ".cpu_s", Count("s");
        * QUERY_DEVICE = "query." .. ".device_mb", Count("MB");
        * QUERY_TIME = "query." .. ".elapsed_s", Count("s");
        * QUERY_FAILED = "query." .. ".failed", Text;
    }
}

/// Facts by which one host is told from another, on which figures of the first need not hold.
pub static HOST_IDENTITY: &[FactName] = &[host::CPU, host::CORES, host::MEMORY, host::SYSTEM];

//! The planted causes: what is limited so that it binds, and what must be named then. Numbers are those of the method.

use super::decoy::Decoy;

/// A planted cause.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Plant {
    /// Its number.
    pub(super) number: u32,
    /// What is planted, in words.
    pub(super) title: &'static str,
    /// The engine.
    pub(super) engine: &'static str,
    /// Lines of `[workload]` beside its kind.
    pub(super) workload: &'static str,
    /// Lines of `[limits]`.
    pub(super) limits: &'static str,
    /// Further tables.
    pub(super) more: &'static str,
    /// Resources that must be confirmed; no other may be.
    pub(super) expected: &'static [&'static str],
    /// What looks busy beside the cause and does not bind.
    pub(super) decoy: Option<Decoy>,
}

/// Reads of records that are all in cache.
const CACHED: &str = "mix = \"c\"\nrecords = 20000\nvirtual_users = 8";
/// Reads of records far beyond the memory of the database.
const RANDOM: &str = "mix = \"c\"\nkeys = \"uniform\"\nrecords = 400000\nvirtual_users = 8";
/// Reads of records of which some are read often, of twice to three times the memory of the database: where more are not in memory, less
/// of it loses less (with 400,000 records memory had an elasticity of 0.66).
const ZIPFIAN: &str = "mix = \"c\"\nkeys = \"zipfian\"\nrecords = 200000\nvirtual_users = 8";
/// Updates of one user, each committed.
const ONE_WRITER: &str = "mix = \"own\"\nupdate = 1.0\nkeys = \"uniform\"\nrecords = 20000\nvirtual_users = 1";
/// Updates, each committed; of keys that are equally likely, since users who wait for the same row share no flush.
const COMMITS: &str = "mix = \"own\"\nupdate = 1.0\nkeys = \"uniform\"\nrecords = 20000\nvirtual_users = 8";
/// Scans of many records.
const SCANS: &str = "mix = \"own\"\nscan = 1.0\nscan_least = 200\nscan_most = 200\nrecords = 400000\nvirtual_users = 4";
const CPU: &[&str] = &["limits.cpu"];
const READS: &[&str] = &["limits.read_iops"];
const MEMORY_AND_READS: &[&str] = &["limits.memory", "limits.read_iops"];
/// Updates of one row, which each transaction keeps locked.
const HOT_ROW: &str =
    "mix = \"own\"\nupdate = 1.0\nkeys = \"uniform\"\nhot_rows = 1\nhold = \"4ms\"\nrecords = 20000\nvirtual_users = 8";
/// Transactions of users who share connections.
const POOLED: &str =
    "mix = \"own\"\nupdate = 1.0\nkeys = \"uniform\"\npool = 2\nhold = \"5ms\"\nrecords = 20000\nvirtual_users = 16";
/// Autovacuum that looks at the table each second, and collects its statistics anew.
const VACUUMED: &str = "[engine.settings]\nsynchronous_commit = \"off\"\nautovacuum_naptime = \"1s\"\nautovacuum_vacuum_cost_delay = \"0\"\nautovacuum_vacuum_threshold = \"50\"\nautovacuum_vacuum_scale_factor = \"0\"\nautovacuum_analyze_threshold = \"50\"\nautovacuum_analyze_scale_factor = \"0\"\n[confirm]\nengine = [\"autovacuum\"]\n";
/// Limits that are far away.
const ROOM: &str = "cpu = 1.2\nread_iops = 2000\nwrite_iops = 1000";
/// What holds a row is part of what the lock costs: a transaction that is held shorter lets the next one in earlier.
const HELD_ROW: &[&str] = &["workload.hot_rows", "workload.hold"];
const HELD_POOL: &[&str] = &["workload.pool", "workload.hold"];
const THREAD: &[&str] = &["limits.thread_cpu"];
/// Storage on which nothing is slow but flushes: all requests pass to the file system as they are.
const DELAYED: &str =
    "[storage]\npath = \"data\"\nkind = \"tier\"\nvolume = \"2GiB\"\nslow.drive = \"none\"\nflush_delay = \"10ms\"\n";
/// The same in the load agent's process.
const DELAYED_IN_PROCESS: &str = "[engine.settings]\nsynchronous = \"FULL\"\n[storage]\npath = \"data\"\nkind = \"tier\"\nslow.drive = \"none\"\nflush_delay = \"10ms\"\n";
const FLUSHES: &[&str] = &["storage.flush_delay"];
/// Users who commit in groups share a flush: fewer of them share it with fewer (4 users did 127 commits/s, 3 did 103).
const FLUSHES_AND_USERS: &[&str] = &["storage.flush_delay", "users"];
/// Four rows, not one: PostgreSQL flushes its log one after another, so that the commits of two rows take turns and do no more than those of
/// one (86 and 84 commits/s). From two rows on each flush takes half of them.
const FLUSHES_AND_ROWS: &[&str] = &["workload.hot_rows", "storage.flush_delay"];

/// Cached reads by PostgreSQL, whose limits are far away.
const POSTGRESQL: Plant = Plant {
    number: 0,
    title: "",
    engine: "postgresql",
    workload: CACHED,
    limits: ROOM,
    more: "",
    expected: &[],
    decoy: None,
};
/// The same by SQLite.
const SQLITE: Plant = Plant { engine: "sqlite", ..POSTGRESQL };
/// The same by MariaDB.
const MARIADB: Plant = Plant { engine: "mariadb", ..POSTGRESQL };

/// All of them, in their order.
pub(super) const PLANTS: &[Plant] = &[
    Plant {
        number: 1,
        title: "PostgreSQL, cached reads, CPU time 0.4",
        limits: "cpu = 0.4\nread_iops = 2000\nwrite_iops = 1000",
        expected: CPU,
        ..POSTGRESQL
    },
    Plant {
        number: 2,
        title: "SQLite, cached reads, CPU time 0.3",
        limits: "cpu = 0.3\nread_iops = 2000\nwrite_iops = 1000",
        expected: CPU,
        ..SQLITE
    },
    Plant {
        number: 3,
        title: "MariaDB, cached reads, CPU time 0.5",
        limits: "cpu = 0.5\nread_iops = 2000\nwrite_iops = 1000",
        expected: CPU,
        ..MARIADB
    },
    Plant {
        number: 4,
        title: "PostgreSQL, cached reads on one core",
        limits: "cores = 1\nread_iops = 2000\nwrite_iops = 1000",
        expected: &["limits.cores"],
        ..POSTGRESQL
    },
    Plant {
        number: 5,
        title: "MariaDB, cached reads on one core",
        limits: "cores = 1\nread_iops = 2000\nwrite_iops = 1000",
        // Pages that a writer of the database writes cannot be updated meanwhile, so that users would wait for its limit.
        more: "[clients]\ncpu = 1.0\n",
        expected: &["limits.cores"],
        decoy: Some(Decoy { limit: "clients.cpu", used: 0.85 }),
        ..MARIADB
    },
    Plant {
        number: 6,
        title: "PostgreSQL, synchronous standby, walsender with CPU time 0.02",
        workload: COMMITS,
        limits: "cpu = 1.2\nread_iops = 4000\nwrite_iops = 20000\nthread = \"walsender\"\nthread_cpu = 0.02",
        more: "[replication]\nmode = \"remote_write\"\nstandbys = 1\n",
        expected: THREAD,
        ..POSTGRESQL
    },
    Plant {
        number: 7,
        title: "PostgreSQL, standby that applies before a commit returns, its startup process with CPU time 0.02",
        workload: COMMITS,
        limits: "cpu = 1.2\nread_iops = 4000\nwrite_iops = 20000\nthread = \"startup\"\nthread_on = \"standby\"\nthread_cpu = 0.02",
        more: "[replication]\nmode = \"remote_apply\"\nstandbys = 1\n",
        expected: THREAD,
        ..POSTGRESQL
    },
    Plant {
        number: 8,
        title: "MariaDB, semi-synchronous standby, thread that sends the binary log with CPU time 0.02",
        workload: COMMITS,
        limits: "cpu = 1.2\nread_iops = 4000\nwrite_iops = 20000\nthread = \"binlog_dump\"\nthread_cpu = 0.02",
        more: "[engine.settings]\nlog_bin = \"ON\"\n[replication]\nmode = \"remote_write\"\nstandbys = 1\n",
        expected: THREAD,
        ..MARIADB
    },
    Plant {
        number: 9,
        title: "PostgreSQL, random reads, read IOPS 800",
        workload: RANDOM,
        limits: "memory = \"96MiB\"\ncpu = 1.2\nread_iops = 800\nwrite_iops = 1000",
        expected: READS,
        ..POSTGRESQL
    },
    Plant {
        number: 10,
        title: "MariaDB, random reads, read IOPS 800",
        workload: RANDOM,
        limits: "memory = \"256MiB\"\ncpu = 1.2\nread_iops = 800\nwrite_iops = 1000",
        expected: READS,
        ..MARIADB
    },
    Plant {
        number: 11,
        title: "SQLite, random reads, read IOPS 800",
        workload: RANDOM,
        limits: "memory = \"64MiB\"\ncpu = 1.2\nread_iops = 800\nwrite_iops = 1000",
        expected: READS,
        ..SQLITE
    },
    Plant {
        number: 12,
        title: "PostgreSQL, scans, reads of 20 MB/s",
        workload: SCANS,
        limits: "memory = \"96MiB\"\ncpu = 1.2\nread_bandwidth = \"20MB\"\nwrite_iops = 1000",
        expected: &["limits.read_bandwidth"],
        ..POSTGRESQL
    },
    Plant {
        number: 13,
        title: "MariaDB, updates, writes of 2 MB/s",
        workload: COMMITS,
        limits: "cpu = 1.2\nwrite_bandwidth = \"2MB\"",
        // A log that is not full before the experiment ends: the server writes no pages for its sake meanwhile.
        more: "[engine.settings]\ninnodb_log_file_size = \"2GiB\"\n",
        expected: &["limits.write_bandwidth"],
        ..MARIADB
    },
    Plant {
        number: 14,
        title: "PostgreSQL, commits, write IOPS 150, 8 users",
        workload: COMMITS,
        limits: "cpu = 0.8\nread_iops = 4000\nwrite_iops = 150",
        expected: &["limits.write_iops", "users"],
        ..POSTGRESQL
    },
    Plant {
        number: 15,
        title: "SQLite, full synchronisation, writers in a queue, a checkpoint every 100 pages, write IOPS 150",
        workload: COMMITS,
        limits: "cpu = 0.8\nread_iops = 4000\nwrite_iops = 150",
        more: "writers = \"queue\"\n[engine.settings]\nsynchronous = \"FULL\"\nwal_autocheckpoint = \"100\"\n",
        expected: &["limits.write_iops"],
        ..SQLITE
    },
    Plant {
        number: 16,
        title: "MariaDB, a flush for each commit, write IOPS 150",
        workload: COMMITS,
        limits: "cpu = 0.8\nread_iops = 4000\nwrite_iops = 150",
        expected: &["limits.write_iops"],
        ..MARIADB
    },
    Plant {
        number: 17,
        title: "PostgreSQL, sync + 10 ms, one user",
        workload: ONE_WRITER,
        more: DELAYED,
        expected: FLUSHES,
        ..POSTGRESQL
    },
    Plant {
        number: 18,
        title: "SQLite, sync + 10 ms, one user",
        workload: ONE_WRITER,
        more: DELAYED_IN_PROCESS,
        expected: FLUSHES,
        ..SQLITE
    },
    Plant {
        number: 19,
        title: "MariaDB, sync + 10 ms, 4 users",
        workload: "mix = \"own\"\nupdate = 1.0\nkeys = \"uniform\"\nrecords = 20000\nvirtual_users = 4",
        more: DELAYED,
        expected: FLUSHES_AND_USERS,
        decoy: Some(Decoy { limit: "limits.write_iops", used: 0.85 }),
        ..MARIADB
    },
    Plant {
        number: 20,
        title: "PostgreSQL, CPU time and read IOPS matched",
        // So many that memory, of which less loses little, is not a third cause.
        workload: "mix = \"c\"\nkeys = \"uniform\"\nrecords = 800000\nvirtual_users = 8",
        // What 800 reads a second took where they were the only limit.
        limits: "memory = \"96MiB\"\ncpu = 0.105\nread_iops = 800\nwrite_iops = 1000",
        expected: &["limits.cpu", "limits.read_iops"],
        ..POSTGRESQL
    },
    Plant {
        number: 21,
        title: "PostgreSQL, zipfian reads, memory 96 MiB, read IOPS 800",
        workload: ZIPFIAN,
        limits: "memory = \"96MiB\"\ncpu = 1.2\nread_iops = 800\nwrite_iops = 1000",
        expected: MEMORY_AND_READS,
        ..POSTGRESQL
    },
    Plant {
        number: 22,
        title: "MariaDB, uniform reads of a set somewhat larger than its pool, read IOPS 300",
        workload: "mix = \"c\"\nkeys = \"uniform\"\nrecords = 120000\nvirtual_users = 8",
        limits: "cpu = 1.2\nread_iops = 300",
        more: "[engine.settings]\ninnodb_buffer_pool_size = \"128MiB\"\n[confirm]\nengine = [\"cache\"]\n",
        expected: &["engine.cache", "limits.read_iops"],
        ..MARIADB
    },
    Plant {
        number: 23,
        title: "SQLite, cache of 2 MB, memory 64 MiB, read IOPS 800",
        workload: ZIPFIAN,
        limits: "memory = \"64MiB\"\ncpu = 1.2\nread_iops = 800\nwrite_iops = 1000",
        more: "[engine.settings]\ncache_size = \"2MiB\"\n",
        expected: MEMORY_AND_READS,
        ..SQLITE
    },
    Plant {
        number: 24,
        title: "PostgreSQL, uniform reads of a set somewhat larger than memory, read IOPS 400",
        workload: "mix = \"c\"\nkeys = \"uniform\"\nrecords = 45000\nvirtual_users = 8",
        limits: "memory = \"96MiB\"\ncpu = 1.2\nread_iops = 400",
        expected: MEMORY_AND_READS,
        ..POSTGRESQL
    },
    Plant {
        number: 25,
        title: "PostgreSQL, one hot row held 4 ms, no sync",
        workload: HOT_ROW,
        more: "[engine.settings]\nsynchronous_commit = \"off\"\n",
        expected: HELD_ROW,
        ..POSTGRESQL
    },
    Plant {
        // Without a decoy: a quota stops all threads of its group whatever their priority, so that a process that fills it makes CPU time
        // bind, and so little of it is used that a quota near the use would stop users, too.
        number: 26,
        title: "MariaDB, one hot row held 4 ms, a log flushed each second",
        workload: HOT_ROW,
        more: "[engine.settings]\ninnodb_flush_log_at_trx_commit = \"2\"\n",
        expected: HELD_ROW,
        ..MARIADB
    },
    Plant {
        number: 27,
        title: "SQLite, 8 writers in a queue, 4 ms of think time in transactions",
        workload: "mix = \"own\"\nupdate = 1.0\nhold = \"4ms\"\nrecords = 20000\nvirtual_users = 8",
        more: "writers = \"queue\"\n[engine.settings]\nsynchronous = \"OFF\"\n",
        expected: &["workload.hold"],
        ..SQLITE
    },
    Plant {
        number: 28,
        title: "PostgreSQL, four hot rows, synced commit, sync + 10 ms",
        workload: "mix = \"own\"\nupdate = 1.0\nkeys = \"uniform\"\nhot_rows = 4\nrecords = 20000\nvirtual_users = 16",
        more: DELAYED,
        expected: FLUSHES_AND_ROWS,
        ..POSTGRESQL
    },
    Plant {
        number: 29,
        title: "PostgreSQL, a relay that adds 10 ms, 4 users",
        workload: "mix = \"c\"\nrecords = 20000\nvirtual_users = 4",
        more: "[clients]\nrtt = \"10ms\"\n",
        expected: &["clients.rtt", "users"],
        ..POSTGRESQL
    },
    Plant {
        number: 30,
        title: "MariaDB, a relay that adds 10 ms, 16 users",
        // So many that the CPU time that they take is a decoy: a quota below two slices of the kernel would stop users more often.
        workload: "mix = \"c\"\nrecords = 20000\nvirtual_users = 16",
        more: "[clients]\nrtt = \"10ms\"\n",
        expected: &["clients.rtt", "users"],
        decoy: Some(Decoy { limit: "limits.cpu", used: 0.85 }),
        ..MARIADB
    },
    Plant {
        number: 31,
        title: "PostgreSQL, wide rows, a relay of 2 MB/s",
        workload: "mix = \"c\"\nfield_length = 1000\nrecords = 20000\nvirtual_users = 8",
        more: "[clients]\nbandwidth = \"2MB\"\n",
        expected: &["clients.bandwidth"],
        ..POSTGRESQL
    },
    Plant {
        number: 32,
        title: "PostgreSQL, CPU time of the load generator 0.1",
        more: "[clients]\ncpu = 0.1\n",
        expected: &["clients.cpu"],
        ..POSTGRESQL
    },
    Plant {
        number: 33,
        title: "MariaDB, CPU time of the load generator 0.1",
        more: "[clients]\ncpu = 0.1\n",
        expected: &["clients.cpu"],
        ..MARIADB
    },
    Plant {
        number: 34,
        title: "SQLite in the load generator's process, CPU time 0.3, one limit alone",
        limits: "cpu = 0.3",
        expected: CPU,
        ..SQLITE
    },
    Plant {
        number: 35,
        title: "PostgreSQL, 16 users share 2 connections, 5 ms in transactions",
        workload: POOLED,
        more: "[engine.settings]\nsynchronous_commit = \"off\"\n",
        expected: HELD_POOL,
        ..POSTGRESQL
    },
    Plant {
        number: 36,
        title: "MariaDB, 16 users share 2 connections, 5 ms in transactions",
        workload: POOLED,
        more: "[engine.settings]\ninnodb_flush_log_at_trx_commit = \"2\"\n",
        expected: HELD_POOL,
        ..MARIADB
    },
    Plant {
        number: 37,
        title: "PostgreSQL, 10 users who think for 50 ms in transactions, no limit reached",
        workload: "mix = \"own\"\nupdate = 1.0\nkeys = \"uniform\"\nhold = \"50ms\"\nrecords = 20000\nvirtual_users = 10",
        limits: "cpu = 1.2\nread_iops = 4000\nwrite_iops = 20000",
        more: "[engine.settings]\nsynchronous_commit = \"off\"\n",
        expected: &["users", "workload.hold"],
        ..POSTGRESQL
    },
    Plant {
        number: 38,
        title: "PostgreSQL, autovacuum without delay every second, CPU time 0.4",
        // So many that what visits without autovacuum leave behind is a small part of the table, which makes the next visits slower.
        workload: "mix = \"own\"\nupdate = 1.0\nkeys = \"uniform\"\nrecords = 160000\nvirtual_users = 8",
        limits: "cpu = 0.4\nwrite_iops = 2000",
        more: VACUUMED,
        expected: &["limits.cpu", "engine.autovacuum"],
        ..POSTGRESQL
    },
    Plant {
        number: 39,
        title: "PostgreSQL, a checkpoint every 32 MB of log, writes of 6 MB/s",
        workload: "mix = \"own\"\nupdate = 1.0\nkeys = \"uniform\"\nrecords = 8000\nvirtual_users = 8",
        limits: "cpu = 1.2\nwrite_bandwidth = \"6MB\"",
        more: "[engine.settings]\ncheckpoint_timeout = \"30s\"\nmax_wal_size = \"32MB\"\n[confirm]\nengine = [\"checkpoints\"]\n",
        expected: &["limits.write_bandwidth", "engine.checkpoints"],
        ..POSTGRESQL
    },
    Plant {
        number: 40,
        title: "MariaDB, a redo log of 4 MB, write IOPS 300",
        workload: "mix = \"own\"\nupdate = 1.0\nkeys = \"uniform\"\nrecords = 20000\nvirtual_users = 8",
        limits: "cpu = 1.2\nwrite_iops = 300",
        more: "[engine.settings]\ninnodb_log_file_size = \"4MiB\"\ninnodb_log_buffer_size = \"2MiB\"\ninnodb_flush_log_at_trx_commit = \"2\"\n[confirm]\nengine = [\"checkpoints\"]\n",
        expected: &["limits.write_iops", "engine.checkpoints"],
        ..MARIADB
    },
];

/// The study file of this name for a plant, without its decoy.
pub(super) fn study_text(name: &str, plant: &Plant) -> String {
    let Plant { engine, workload, limits, more, expected, .. } = plant;
    // A cache is full once it has been read at the limit of reads.
    let fills = expected.iter().any(|name| ["limits.memory", "engine.cache"].contains(name));
    let warm_up = if fills { "60s" } else { "5s" };
    // Standbys start from a snapshot of the primary.
    let restore = if more.contains("[replication]") { "every-run" } else { "never" };
    let storage = if more.contains("[storage]") { "" } else { "[storage]\npath = \"data\"\n" };
    format!(
        "[study]\nname = \"{name}\"\ntitle = \"A point whose cause is known\"\n\
         [workload]\nkind = \"ycsb\"\n{workload}\n[engine]\nkind = \"{engine}\"\n{more}\
         [limits]\n{limits}\n{storage}\
         [procedure]\nrestore = \"{restore}\"\nmeasure = \"10s\"\nwarm_up.at_least = \"{warm_up}\"\ndrift_tolerance = 1.0\nprecision = 0.3\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_forty_in_order_and_each_names_something() {
        let numbers: Vec<u32> = PLANTS.iter().map(|plant| plant.number).collect();
        assert_eq!(numbers, (1..=40).collect::<Vec<_>>());
        assert!(PLANTS.iter().all(|plant| !plant.expected.is_empty()));
    }

    #[test]
    fn decoys_are_limits_of_their_studies_and_no_causes() {
        let decoyed: Vec<&Plant> = PLANTS.iter().filter(|plant| plant.decoy.is_some()).collect();
        assert_eq!(decoyed.iter().map(|plant| plant.number).collect::<Vec<_>>(), [5, 19, 30]);
        for plant in decoyed {
            let decoy = plant.decoy.unwrap();
            assert!(!plant.expected.contains(&decoy.limit), "{}", plant.number);
            assert!(decoy.text(&study_text("before", plant), 0.5).is_ok(), "{}", plant.number);
        }
    }
}

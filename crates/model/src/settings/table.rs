//! The settings that every study has. Workloads and engines add their own through the catalogue. This file is a table.

use super::kind::Kind;
use super::spec::SettingSpec;
use crate::drill::{FAULT_WORDS, Rejoin};
use crate::manager::ManagerKind;
use crate::network::NETWORK_WORDS;
use crate::replication::{Confirmation, MOST_STANDBYS, ReplicationMode};
use crate::tier::{DriveModel, EvictionPolicy, RaidLevel, TIER, WriteMode};

/// A span between a millisecond floor and 30 days.
const fn span(least_ms: u64) -> Kind {
    Kind::Duration { least_ms, most_ms: 30 * 24 * 3_600_000 }
}

/// A delay of flushes: longer ones would be taken for a device that hangs.
const FLUSH_DELAY: Kind = Kind::Duration { least_ms: 1, most_ms: 1000 };

/// A positive count.
const fn count(most: i64) -> Kind {
    Kind::Integer { least: 1, most }
}

/// Bytes per second below which a device is too slow to open a database on.
const BANDWIDTH: u64 = 64 << 10;

/// Requests per second beyond any device; the kernel counts them in 32 bits.
const IOPS: i64 = 1_000_000_000;

/// Settings of every study, in the order of the reference page.
pub const STANDARD: &[SettingSpec] = &[
    SettingSpec::required("study.name", Kind::Name, "Short name of the study, used for folders and files.").fixed(),
    SettingSpec::required("study.title", Kind::Text, "Title of the report.").fixed(),
    SettingSpec::new("study.repetitions", count(1000), "1", "Runs of each point, 1 to 1000.").fixed(),
    SettingSpec::new("study.seed", Kind::Integer { least: 0, most: i64::MAX }, "1", "Seed of data, inputs and order.").fixed(),
    SettingSpec::new("study.order", Kind::OneOf(&["random", "given"]), "random", "Order of the points: shuffled in each repetition (derived from the seed), or in the order of the levels.").fixed(),
    SettingSpec::optional("study.sentinel_every", count(1000), "Repeat the first point of the plan after every so many points; a drift of its result is reported.").fixed(),
    SettingSpec::optional("study.reference", Kind::Name, "Published results to show beside the study's own, as the name of a file in `references/`.").fixed(),
    SettingSpec::optional("search.setting", Kind::Text, "The load that a search varies: `workload.virtual_users`, `workload.streams` or `workload.rate`. Each point is chosen from the results of the earlier ones.").fixed(),
    SettingSpec::optional("search.find", Kind::OneOf(&["max"]), "`max`: find the smallest load with the largest throughput. Or a table with a limit on a percentile of response times, such as `{ p99 = \"10ms\" }`: find the largest load within the limit.").fixed(),
    SettingSpec::optional("search.find.p50", span(0), "The largest load whose median response time is at most this.").fixed(),
    SettingSpec::optional("search.find.p95", span(0), "The largest load whose 95th percentile of response times is at most this.").fixed(),
    SettingSpec::optional("search.find.p99", span(0), "The largest load whose 99th percentile of response times is at most this.").fixed(),
    SettingSpec::optional("search.find.p999", span(0), "The largest load whose 99.9th percentile of response times is at most this.").fixed(),
    SettingSpec::optional("search.operation", Kind::Text, "Kind of operation whose percentile is limited, such as `new_order`; by default all operations together.").fixed(),
    SettingSpec::optional("search.plateau", Kind::Share { least: 0.001, most: 0.5 }, "With `max`: how far below the largest throughput a load may be and still count as reaching it, as a share of it; by default 0.02.").fixed(),
    SettingSpec::optional("search.from", Kind::Free, "The smallest load, tried first: a value of the searched setting.").fixed(),
    SettingSpec::optional("search.to", Kind::Free, "The largest load, tried only if the search reaches it.").fixed(),
    SettingSpec::optional("search.resolution", Kind::Share { least: 0.001, most: 1.0 }, "The search ends when the range that contains the answer is at most this wide, as a share of the answer, or 1 for whole numbers; by default 0.05.").fixed(),
    SettingSpec::optional("search.points", Kind::Integer { least: 2, most: 1000 }, "Maximum number of measurements for each combination of the factors' levels, including repeated ones; each measurement has `study.repetitions` runs. By default 24.").fixed(),
    SettingSpec::optional("search.blocks", Kind::Boolean, "With `max`: measure each load side by side with the best one so far, in random order, and judge it by their ratio, so that other activity on the host affects both; by default true. Every measurement except the first then takes two runs.").fixed(),
    SettingSpec::required("workload.kind", Kind::Name, "The workload; `proofload workloads` lists them.").fixed(),
    SettingSpec::optional("workload.rate", Kind::Rate { least: 0.001, most: 1e9 }, "Rate at which operations become due, for all users together, such as `\"500/s\"`; a bare number is per second. The next free user takes each operation, and its response time counts from its due time. By default each user starts its next operation as soon as it is free.").load().titled("offered load in 1/s"),
    SettingSpec::optional("workload.arrivals", Kind::OneOf(&["constant", "poisson"]), "With `workload.rate`: `constant` (the default), operations become due at equal intervals; or `poisson`, at random with exponential intervals, derived from the seed."),
    SettingSpec::optional("workload.queue_at_most", Kind::Duration { least_ms: 0, most_ms: 24 * 3_600_000 }, "With `workload.rate`: an operation that finds no free user for this long after its due time is dropped and counted; by default 10s. `0s`: operations never wait."),
    SettingSpec::new("workload.reconnect_within", Kind::Duration { least_ms: 0, most_ms: 24 * 3_600_000 }, "60s", "How long a session tries to reconnect after it loses its connection; after that the run ends without a result (with `0s`, at once); a drill adds the longest time that it may take. The operation in flight fails with an unknown outcome; `procedure.error_budget` decides whether the point still counts."),
    SettingSpec::optional("workload.reconnect_wait", span(1), "Longest wait of a session between two attempts to reconnect, and so the longest time until it notices that a server is back; the waits grow from 10 ms. By default 1s."),
    SettingSpec::optional("workload.deadline", span(10), "Time after which a session gives up an operation without an answer: it closes the connection, counts the outcome as unknown, and reconnects. By default it waits forever, even for a host that is gone. For servers."),
    SettingSpec::required("engine.kind", Kind::Name, "The database engine; `proofload engines` lists them.").titled("engine"),
    SettingSpec::optional("engine.url", Kind::Text, "URL of an existing server, instead of an instance that Proofload starts. With several hosts, such as `postgresql://a:5432,b:5432/db` or `host=a,b`, Proofload looks for the one that accepts writes, and looks again whenever a connection is lost or a write is rejected as read-only. The URL must not contain a password: use the engine's own environment variable or password file on the load host.").fixed(),
    SettingSpec::optional("engine.settings.*", Kind::Free, "A setting of the engine under its own name, such as `shared_buffers = \"64MiB\"`; read back before each run. In a study with several engines, prefix a setting with its engine: `postgresql.jit = \"off\"`."),
    SettingSpec::new("storage.path", Kind::Text, "proofload-data", "Folder for data and snapshots on the host under test; the study gets its own folder inside it.").fixed(),
    SettingSpec::new("storage.kind", Kind::OneOf(&["directory", TIER]), "directory", "Storage of the data: a `directory` of an existing file system, or a `tier`: a modelled slow medium (`storage.slow.*`) with a cache on a fast one in front of it (`storage.cache.*`). SQLite uses the tier inside the load agent's process; a server that Proofload starts gets the volumes as file systems (FUSE and loop devices), which needs Linux, root and `storage.volume`. The cache file is stored beside the data.").fixed(),
    SettingSpec::optional("storage.slow.drive", Kind::OneOf(DriveModel::WORDS), "Modelled drive under a tier, given by its revolutions per minute or as the published reference; by default `7.2k`. `none`: use the storage of `storage.path` itself; servers may have `storage.cache.path` on a faster one.").titled("slow drive"),
    SettingSpec::optional("storage.slow.raid", Kind::OneOf(RaidLevel::WORDS), "How the modelled drives are combined into one medium; by default `raid-5`.").titled("slow medium"),
    SettingSpec::optional("storage.slow.drives", count(64), "Modelled drives under a tier; by default 8.").titled("slow drives"),
    SettingSpec::optional("storage.slow.write_cache", Kind::Bytes { least: 0 }, "Battery-backed write cache in the controller of the modelled drives; by default none.").titled("controller cache"),
    SettingSpec::optional("storage.cache.size", Kind::Bytes { least: 0 }, "Size of the cache of a tier, as room for cache lines; `0B` (the default): no cache, all requests go to the slow medium.").titled("cache"),
    SettingSpec::optional("storage.cache.percent", Kind::Integer { least: 0, most: 1000 }, "Size of the cache in per cent of the data at the time the cache is created, instead of `storage.cache.size`.").titled("cache (per cent of the data)"),
    SettingSpec::optional("storage.cache.mode", Kind::OneOf(WriteMode::WORDS), "Where a write completes: `write-back` (the default), on the cache; `write-through`, on the slow medium, and it is also cached; `write-around`, on the slow medium alone.").titled("cache mode"),
    SettingSpec::optional("storage.cache.policy", Kind::OneOf(EvictionPolicy::WORDS), "Policy that chooses which clean lines are evicted; by default `w-tinylfu`.").titled("cache policy"),
    SettingSpec::optional("storage.cache.line", Kind::Bytes { least: 4096 }, "Size of a cache line: 4, 8, 16, 32 or 64 KiB; by default 8KiB.").titled("cache line"),
    SettingSpec::optional("storage.cache.accelerate", Kind::List, "Volumes to cache, from `data` and `log`; the others use the slow medium alone and share its drives. By default `[\"data\"]`.").titled("cached volumes"),
    SettingSpec::optional("storage.cache.path", Kind::Text, "Folder on fast storage for the cache file, for servers; by default the file is stored beside the data.").titled("cache folder"),
    SettingSpec::optional("storage.flush_delay", FLUSH_DELAY, "Time that every flush of a tier takes longer, such as `5ms`: slept after it is durable and before it is acknowledged; flushes that overlap wait side by side. Experiments can make it longer, to find out whether the latency of commits binds. By default none. With `storage.slow.drive = \"none\"` and no cache, the delay is all that a tier changes.").titled("delay of each flush"),
    SettingSpec::optional("storage.volume", Kind::Bytes { least: 64 << 20 }, "Size of a volume made for the study: an ext4 file system in a file, mounted where the primary keeps its data and snapshot, so that it can be filled or stalled without harm to other programs. Needs Linux and root, and room for data and snapshot. With `storage.kind = \"tier\"` it is the slow volume. By default the data are in a folder of the existing file system.").fixed(),
    SettingSpec::optional("storage.purge.device", Kind::Text, "Block device that is purged (returned to the fresh-out-of-box state) before each run and then holds the primary's data in a new file system. The data are built and kept at `storage.path`, on another device. DESTRUCTIVE: all its data is lost; `run` requires its name again with `--yes`. Needs Linux and root.").fixed(),
    SettingSpec::optional("storage.purge.standby_devices", Kind::List, "The same for each standby, in the order of their numbers. DESTRUCTIVE: `--yes` must name all devices, separated by commas.").fixed(),
    SettingSpec::optional("storage.precondition.device", Kind::Text, "Block device to precondition, such as `/dev/nvme1n1`. DESTRUCTIVE: all its data is lost; `run` requires its name again with `--yes`.").fixed(),
    SettingSpec::optional("storage.precondition.size", Kind::Bytes { least: 1 << 20 }, "Size of the file to precondition if no device is set.").fixed(),
    SettingSpec::new("storage.precondition.sequential_fills", Kind::Integer { least: 0, most: 10 }, "1", "Sequential writes over the whole size before the first point.").fixed(),
    SettingSpec::new("storage.precondition.random_passes", Kind::Integer { least: 0, most: 10 }, "2", "Passes of random 4 KiB writes over the whole size.").fixed(),
    SettingSpec::new("storage.precondition.round", span(1000), "1m", "Length of a round of the SNIA steady-state check.").fixed(),
    SettingSpec::new("storage.precondition.rounds", Kind::Integer { least: 0, most: 25 }, "25", "Maximum number of rounds of the steady-state check; 0 skips the check.").fixed(),
    SettingSpec::optional("limits.memory", Kind::Bytes { least: 1 << 20 }, "Memory of the database, enforced by a control group; the engine's own memory setting is derived from it.").titled("database memory"),
    SettingSpec::optional("limits.memory_per_data", Kind::Share { least: 0.001, most: 100.0 }, "Memory of the database as a share of the raw size of the data, instead of limits.memory: 0.125 is an eighth. The raw size is the size of the rows as the workload counts them, without indexes and the engine's overhead.").titled("database memory (part of the raw size)"),
    SettingSpec::optional("limits.cores", count(4096), "Cores that the database may run on (by affinity).").titled("cores"),
    SettingSpec::optional("limits.cpu", Kind::Number { least: 0.01, most: 4096.0 }, "CPU time that the database may use, in CPU seconds per second on any cores; when the quota is used up, the database waits for the rest of each 0.1 s period.").titled("CPU seconds per second"),
    SettingSpec::optional("limits.standby_cpu", Kind::Number { least: 0.01, most: 4096.0 }, "CPU time that each standby may use, in CPU seconds per second; by default the value of `limits.cpu`. As a factor it shows how throughput depends on the CPU time of the standbys.").titled("CPU seconds per second of a standby"),
    SettingSpec::optional("limits.thread", Kind::Text, "Role of a thread or process of the database that `limits.thread_cpu` limits, as reports name it: walsender, startup, checkpointer and so on.").fixed(),
    SettingSpec::optional("limits.thread_on", Kind::OneOf(&["primary", "standby"]), "Where that role runs: on the `primary` (the default) or on each `standby`.").fixed(),
    SettingSpec::optional("limits.thread_cpu", Kind::Number { least: 0.01, most: 1.0 }, "CPU time that all threads of the role `limits.thread` may use together, in CPU seconds per second, by a control group of their own. It shows what a stage that cannot be divided costs.").titled("CPU seconds per second of one role"),
    SettingSpec::optional("limits.read_bandwidth", Kind::Bandwidth { least: BANDWIDTH }, "Bytes per second that the database may read from the block device under its data; pages already in memory do not count, the kernel's read-ahead does.").titled("read bandwidth (limit per second)"),
    SettingSpec::optional("limits.write_bandwidth", Kind::Bandwidth { least: BANDWIDTH }, "Bytes per second that the database may write to the block device under its data. With control groups v1 it applies to direct writes and to writes caused by the database's own syncs, not to later write-back by the kernel.").titled("write bandwidth (limit per second)"),
    SettingSpec::optional("limits.read_iops", count(IOPS), "Read requests per second that the database may send to the block device under its data.").titled("read requests per second (limit)"),
    SettingSpec::optional("limits.write_iops", count(IOPS), "Write requests per second that the database may send to the block device under its data; with control groups v1 it has the same exceptions as `limits.write_bandwidth`.").titled("write requests per second (limit)"),
    SettingSpec::optional("limits.when_refused", Kind::OneOf(&["fail", "without"]), "What happens if this machine does not allow a limit, as for most users who are not root: `fail` (the default), nothing is started; `without`, the study runs without the limit, and its title says so.").fixed(),
    SettingSpec::optional("clients.cpu", Kind::Number { least: 0.01, most: 4096.0 }, "CPU time that the load generator may use, in CPU seconds per second, where it is a process of its own on the host of the database.").titled("CPU seconds per second of the load generator"),
    SettingSpec::optional("clients.rtt", span(0), "Round-trip time that a relay adds between the users and the database, such as `10ms`; measured before each run. By default they are connected directly.").titled("round trip of the users"),
    SettingSpec::optional("clients.bandwidth", Kind::Bandwidth { least: BANDWIDTH }, "Bytes per second that the relay lets pass between all users and the database, in each direction.").titled("bandwidth of the users"),
    SettingSpec::optional("replication.mode", Kind::OneOf(ReplicationMode::WORDS), "What a commit of the load waits for: `none` (the default), there is no standby; `async`, only the primary's own log; `remote_write`, `remote_flush`, `remote_apply`, until standbys have written, flushed or applied the log. Verified before each run by holding the link, and checked every second.").titled("replication"),
    SettingSpec::optional("replication.standbys", count(MOST_STANDBYS as i64), "Standbys of the primary, 1 to 3; by default 1. Proofload starts them from the same snapshot, with the same limits and, with `limits.cores`, their own cores.").titled("standbys"),
    SettingSpec::optional("replication.confirm", Kind::OneOf(Confirmation::WORDS), "Standbys that must confirm a commit: `any n`, whichever answer first (by default `any 1`); `first n`, the first n connected ones, in the order of their numbers.").titled("standbys that confirm"),
    SettingSpec::optional("replication.rtt", span(0), "Round-trip time that a relay adds between the primary and each standby, such as `1ms`; measured before each run. By default they are connected directly.").titled("round trip to the standby"),
    SettingSpec::optional("replication.bandwidth", Kind::Bandwidth { least: BANDWIDTH }, "Bytes per second that the relay lets pass between the primary and each standby, in each direction.").titled("bandwidth to the standby (per second)"),
    SettingSpec::optional("replication.network", Kind::OneOf(NETWORK_WORDS), "`namespaces`: the primary, each standby and each load agent on this machine get their own network namespace on a separate bridge, created with `ip` as root and removed at the end; instances are reached by address and password as on other hosts, and `partition link-1` takes the standby's device down. By default they share the machine's network, or run on `agents.standby_hosts`.").fixed(),
    SettingSpec::optional("replication.manager", Kind::OneOf(ManagerKind::WORDS), "Who promotes a standby when the primary fails: `by-hand` (the default), Proofload, without failure detection; `patroni` (with etcd) or `pg_auto_failover`, the program of that name, which runs both instances from the restored snapshot. Needs exactly one standby, connected directly.").titled("failover"),
    SettingSpec::optional("replication.manager_settings.*", Kind::Free, "A setting of the failover manager under its own name: for Patroni from its dynamic configuration, such as `ttl = 20`; for pg_auto_failover a parameter `pgautofailover.*` of its monitor, without that prefix. Other settings keep the manager's defaults."),
    SettingSpec::optional("drill.fault", Kind::OneOf(FAULT_WORDS), "Fault that is injected after the measured window while the load goes on; each run of the point is one drill. Faults of the primary: `crash` kills all its processes at once; `kill` kills its first process; `stop` stops it cleanly; `freeze` suspends it and closes nothing. `partition clients` blocks all traffic between the users and the primary, which keeps running. After each of these a standby is promoted; all other faults are undone after `drill.lasts`. Faults of the first standby: `crash`, `stop`, `freeze`, and `replay pause`, where it stops applying the log. Faults of its link, which need a relay: `partition` blocks all traffic, or one direction alone, and closes nothing; `reset` closes all connections and refuses new ones; `latency`; `bandwidth`. Faults of a disk: `slow disk` limits writes per second; `disk stall` blocks all writes, if the data have their own file system; `full disk` needs `storage.volume`. With a failover manager also `switchover`, its own command, and `crash arbiter`, which kills etcd or the monitor and is undone after `drill.lasts`. `none`: no fault, only the prober, for comparison. Needs standbys and `workload.deadline`.").titled("fault"),
    SettingSpec::optional("drill.rtt", span(1), "Round-trip time of the link during `latency link-1`; verified by an echo.").titled("round trip in the fault"),
    SettingSpec::optional("drill.bandwidth", Kind::Bandwidth { least: 1 << 10 }, "Bytes per second through the link in each direction during `bandwidth link-1`; verified by a transfer.").titled("bandwidth in the fault (per second)"),
    SettingSpec::optional("drill.write_iops", count(10_000), "Write requests per second that reach each device under the data during `slow disk`; verified by reading the kernel's value back and by synced writes.").titled("writes per second in the fault"),
    SettingSpec::optional("drill.phase", span(0), "Longest wait before a fault: each drill waits a random time between 0s and this, derived from the study's seed, so that faults fall anywhere in the polling period of the failure detector. By default 0s."),
    SettingSpec::optional("drill.lasts", span(1000), "How long a fault of a standby or of a link lasts, or a drill without a fault; by default 10s."),
    SettingSpec::optional("drill.promote_after", span(0), "Time from a fault of the primary to the promotion of a standby, as an assumed detection time, which is not measured; by default 0s.").titled("detection time (assumed)"),
    SettingSpec::optional("drill.rejoin", Kind::OneOf(Rejoin::WORDS), "What happens to a failed primary that was replaced by hand. `restore` (the default): the next run restores its data from the snapshot. `rewind`: once users are back, `pg_rewind` makes it a standby of the new primary, as operators do; when commits wait for it again, the drill is *protected again*."),
    SettingSpec::optional("drill.within", span(1000), "Time limit from the fault to the recovery; after that the drill counts as never recovered. By default 2m."),
    SettingSpec::optional("prober.rate", Kind::Rate { least: 1.0, most: 1000.0 }, "Writes per second of the prober, and as many reads: due at fixed times, each with its own number in a separate table; in addition it opens a twentieth as many new connections. By default 200/s."),
    SettingSpec::optional("prober.deadline", span(100), "Time after which the prober gives up an operation: it closes the connection and counts the outcome as unknown. By default 1s."),
    SettingSpec::optional("paper.author", Kind::Text, "Author of the study, for the head of its report.").fixed(),
    SettingSpec::optional("paper.organisation", Kind::Text, "Organisation of the author.").fixed(),
    SettingSpec::optional("paper.question", Kind::Text, "The question that the study answers, in a sentence.").fixed(),
    SettingSpec::optional("paper.drive", Kind::Text, "Model of the drive under the data, if the kernel does not report it; printed as stated by the study.").fixed(),
    SettingSpec::optional("paper.firmware", Kind::Text, "Firmware of that drive, likewise.").fixed(),
    SettingSpec::optional("paper.parts", Kind::List, "Parts of the system under test, for the bill of materials, one string for each.").fixed(),
    SettingSpec::optional("paper.price", Kind::Number { least: 0.01, most: 1e12 }, "Price of all parts together; the report divides it by the throughput.").fixed(),
    SettingSpec::optional("paper.currency", Kind::Text, "Currency of the price, such as `EUR`.").fixed(),
    SettingSpec::optional("paper.logo", Kind::Text, "Logo for the head of the report: a PNG, JPEG or SVG file of at most 64 KiB, named from the study's folder. The record keeps the image.").fixed(),
    SettingSpec::optional("paper.notes", Kind::Text, "Remarks on the set-up that Proofload cannot detect.").fixed(),
    SettingSpec::optional("hardware.watts", Kind::Number { least: 0.1, most: 1e6 }, "Power of the host under load according to its data sheet, in W; printed beside the measured power.").fixed(),
    SettingSpec::optional("hardware.capacity", Kind::Bytes { least: 1 }, "Capacity of the drives according to their data sheet.").fixed(),
    SettingSpec::optional("hardware.rack_units", Kind::Number { least: 0.1, most: 1e4 }, "Height of the host in rack units.").fixed(),
    SettingSpec::optional("hardware.drive_iops", Kind::Number { least: 1.0, most: 1e9 }, "Random reads per second of the drives according to their data sheet.").fixed(),
    SettingSpec::new("procedure.restore", Kind::OneOf(&["every-run", "never"]), "every-run", "Restore the snapshot before every run, or run all runs on the same data."),
    SettingSpec::new("procedure.prewarm", Kind::Boolean, "false", "Read the data files once in order before the load, under the limits, so that a run does not start with an empty page cache."),
    SettingSpec::new("procedure.warm_up.at_least", span(0), "10s", "Shortest warm-up; before a measurement shorter than 3 minutes, every warm-up has this length."),
    SettingSpec::new("procedure.warm_up.at_most", span(0), "5m", "Longest warm-up before a measurement of 3 minutes or more; a run that is not steady by then is still measured, and judged by its window."),
    SettingSpec::new("procedure.warm_up.round", span(1000), "2s", "Length of a round of the steady-state detector: whole seconds, and a multiple of the engine's checkpoint period, if known."),
    SettingSpec::new("procedure.warm_up.tolerance", Kind::Share { least: 0.005, most: 0.5 }, "0.05", "Drift over the window, as a share of its mean, that still counts as steady."),
    SettingSpec::new("procedure.measure", span(1000), "5m", "Length of the measured load in whole seconds. Up to a quarter of it is cut off at the start if throughput is still changing there."),
    SettingSpec::new("procedure.drift_tolerance", Kind::Share { least: 0.005, most: 1.0 }, "0.02", "Change of throughput over the measured load, as a share of its mean, that voids the point if it is statistically shown."),
    SettingSpec::new("procedure.precision", Kind::Share { least: 0.001, most: 0.3 }, "0.05", "Wanted half-width of the 95 % interval of throughput, as a share of throughput. A wider point is still valid, marked wide, up to 0.3; beyond that it is void."),
    SettingSpec::new("procedure.steal_tolerance", Kind::Share { least: 0.0, most: 1.0 }, "0.05", "Share of the processor that others (guests of the hypervisor, other processes) may use in the measured window for a result to count as one of a quiet host; with more, the result is reported `as given` by this host. It never voids a point."),
    SettingSpec::new("procedure.error_budget", Kind::Share { least: 0.0, most: 1.0 }, "0", "Share of operations that may fail; more voids the point."),
    SettingSpec::new("procedure.retries", Kind::Integer { least: 0, most: 3 }, "0", "How often a run is repeated because of outside events: others used more of the processor than `procedure.steal_tolerance` and no limit of the study made that irrelevant, the load generator stood still, telemetry is missing, or an agent was lost. Throughput plays no role. No further attempt starts once all attempts of a run took three times as long as the first; the last attempt counts, and all are shown.").fixed(),
    SettingSpec::new("procedure.quiet_seconds", Kind::Integer { least: 0, most: 86_400 }, "0", "Number of quiet seconds that the measured load needs before it ends. A second is quiet if others use no more of the processor than `procedure.steal_tolerance`, and have not for at least 5 s. The load lasts at least `procedure.measure` and at most five times this number of seconds. The mean over quiet seconds is reported beside the mean over all. For saturated loads of one load agent.").fixed(),
    SettingSpec::new("procedure.wait_for_quiet", Kind::Duration { least_ms: 0, most_ms: 24 * 3_600_000 }, "0s", "How long a run waits to start while others use more of the processor than `procedure.steal_tolerance`; after that it starts anyway. Proofload observes the host for 10 s and, if it is busy, until it has been quiet for 30 s; `0s` skips the check.").fixed(),
    SettingSpec::optional("confirm.points", Kind::OneOf(&["largest", "knee", "all"]), "Points with which an experiment is made after all runs: each of their limits, and the number of users, is lowered in turn while the load runs, to find out what bound throughput. `largest`: the point with the largest throughput; `knee`: the points on both sides of the knee, if there is one, and the largest; `all`. By default none; `proofload confirm` does it later.").fixed(),
    SettingSpec::optional("confirm.step", Kind::Share { least: 0.05, most: 0.5 }, "Share by which a resource is lowered in an experiment; by default 0.2. Smaller steps tell limits that are near each other apart and need more blocks.").fixed(),
    SettingSpec::optional("confirm.blocks", count(100), "Blocks of an experiment at most, each with two visits of the untouched point and one of each resource that is still in question; by default 12.").fixed(),
    SettingSpec::optional("confirm.engine", Kind::List, "What experiments change of the database itself beside its limits, where it has it: `cache` (a size, lowered like a limit), `autovacuum`, `checkpoints` (background work that is off for a visit, which bounds what can be had of it). What is changed is as the study says it again afterwards, also after a kill.").fixed(),
    SettingSpec::optional("confirm.visit", span(1000), "Seconds that count of each visit of an experiment, at least: each is drawn up to half as long again; by default 6s. Use at least 20 times the mean response time.").fixed(),
    SettingSpec::optional("observe.sessions", Kind::Integer { least: 0, most: 100 }, "How often per second, at random intervals, Proofload samples what each session of the load waits for; the report shows from this where the time of a transaction goes. By default 20 in a study with `replication.mode` and saturated users, else 0. For servers that report waits.").titled("samples of sessions (1/s)"),
    SettingSpec::optional("observe.prometheus", Kind::List, "Exporters that observe the host under test if no agent can run there (Windows, appliances): addresses of node_exporter, windows_exporter or any other endpoint in Prometheus' text format, such as [\"http://db1:9100/metrics\"]. They replace the agent's probes of the host; only with engine.url.").fixed(),
    SettingSpec::optional("observe.device", Kind::Text, "The database's block device or volume under the exporter's name, such as `nvme0n1` or `D:`; required if the exporter reports several.").fixed(),
    SettingSpec::optional("observe.series", Kind::List, "Further series of the exporters to store in the record: names, or prefixes followed by `*`. Counters are stored as rates per second.").fixed(),
    SettingSpec::optional("agents.host", Kind::List, "Command that starts the agent on the host under test, such as [\"ssh\", \"-T\", \"db1\", \"proofload\", \"agent\"]; empty: a child process on this machine.").fixed(),
    SettingSpec::optional("agents.load", Kind::List, "Command that starts the load agent; empty: a child process on this machine. Embedded engines need it on the host under test. `{host}` is replaced by each name of `agents.load_hosts`.").fixed(),
    SettingSpec::optional("agents.standby_hosts", Kind::List, "Hosts of the standbys, one for each in order, with the address at which other hosts reach it: [\"db2=10.0.0.2\", \"db3=10.0.0.3\"]. Instances then listen at these addresses, and all clients connect with a password that is generated for each run, also at points without standbys. By default standbys run beside the primary. Without `agents.host` and `agents.standby` all agents are child processes on this machine, and the addresses are optional.").fixed(),
    SettingSpec::optional("agents.standby", Kind::List, "Command that starts the agent on each of `agents.standby_hosts`, whose name replaces `{host}`: [\"ssh\", \"-T\", \"{host}\", \"proofload\", \"agent\"]; empty: child processes on this machine.").fixed(),
    SettingSpec::optional("agents.address", Kind::Text, "Address of the host under test at which the hosts of standbys and the load agents reach the primary, such as `10.0.0.1`; needed with `agents.standby_hosts` on other machines.").fixed(),
    SettingSpec::optional("agents.load_hosts", Kind::List, "Hosts that generate the load together, each with a load agent. A number after a colon is the host's share of users and arrivals, by default 1: [\"loader1\", \"loader2:2\"]. Without `agents.load` these are child processes on this machine. By default there is one load agent.").fixed(),
];

/// The settings that limit the database: those below `limits.` that have a title.
pub fn limit_settings() -> impl Iterator<Item = &'static SettingSpec> {
    STANDARD.iter().filter(|spec| spec.path.starts_with("limits.") && spec.title.is_some())
}

/// Titles of groups of settings whose last part alone would say too little, by their common beginning.
pub const GROUP_TITLES: &[(&str, &str)] =
    &[("engine.settings", "engine settings"), ("replication.manager_settings", "manager settings")];

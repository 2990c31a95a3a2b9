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
    SettingSpec::required("study.name", Kind::Name, "Short name, used for folders and files.").fixed(),
    SettingSpec::required("study.title", Kind::Text, "Title of the report.").fixed(),
    SettingSpec::new("study.repetitions", count(1000), "1", "Runs of each point, 1..=1000.").fixed(),
    SettingSpec::new("study.seed", Kind::Integer { least: 0, most: i64::MAX }, "1", "Seed of data, inputs and order.").fixed(),
    SettingSpec::new("study.order", Kind::OneOf(&["random", "given"]), "random", "Order of the points: shuffled by the seed in each repetition, or in the order of the levels.").fixed(),
    SettingSpec::optional("study.sentinel_every", count(1000), "Repeat the first point of the plan each time after this many points; its drift flags the study.").fixed(),
    SettingSpec::optional("study.reference", Kind::Name, "Published results to draw beside the study's own, by the name of a file in `references/`.").fixed(),
    SettingSpec::optional("search.setting", Kind::Text, "The load that a search varies: `workload.virtual_users`, `workload.streams` or `workload.rate`. Each point is chosen from the results of earlier ones.").fixed(),
    SettingSpec::optional("search.find", Kind::OneOf(&["max"]), "`max`: the smallest load with the largest throughput. Or a table with the limit of a percentile of response times, such as `{ p99 = \"10ms\" }`: the largest load that keeps it.").fixed(),
    SettingSpec::optional("search.find.p50", span(0), "The largest load whose median response time is at most this.").fixed(),
    SettingSpec::optional("search.find.p95", span(0), "The largest load whose 95th percentile of response times is at most this.").fixed(),
    SettingSpec::optional("search.find.p99", span(0), "The largest load whose 99th percentile of response times is at most this.").fixed(),
    SettingSpec::optional("search.find.p999", span(0), "The largest load whose 99.9th percentile of response times is at most this.").fixed(),
    SettingSpec::optional("search.operation", Kind::Text, "Kind of operation whose percentile is limited, such as `new_order`; by default all operations together.").fixed(),
    SettingSpec::optional("search.plateau", Kind::Share { least: 0.001, most: 0.5 }, "With `max`: how far below the largest throughput a load may be and still count as reaching it, as a share; by default 0.02.").fixed(),
    SettingSpec::optional("search.from", Kind::Free, "The smallest load, tried first: a value of the searched setting.").fixed(),
    SettingSpec::optional("search.to", Kind::Free, "The largest load, tried only if the search reaches it.").fixed(),
    SettingSpec::optional("search.resolution", Kind::Share { least: 0.001, most: 1.0 }, "The search ends when the range that holds the answer is at most this share of it wide, or 1 for whole numbers; by default 0.05.").fixed(),
    SettingSpec::optional("search.points", Kind::Integer { least: 2, most: 1000 }, "Largest number of measurements, repeated ones included, for each combination of the factors' levels; each has `study.repetitions` runs. By default 24.").fixed(),
    SettingSpec::optional("search.blocks", Kind::Boolean, "With `max`: whether each load is measured side by side with the best so far, in an order that is drawn, and judged by their ratio, so that neighbours that change from minute to minute are in both; by default true. Each measurement but the first then takes two runs.").fixed(),
    SettingSpec::required("workload.kind", Kind::Name, "The workload; `proofload workloads` lists them.").fixed(),
    SettingSpec::optional("workload.rate", Kind::Rate { least: 0.001, most: 1e9 }, "Operations that become due, for all users together, such as `\"500/s\"`; a bare number is in 1/s. Any free user takes the next one; response times count from its due time. By default each user starts its next operation as soon as it is free.").load().titled("offered load in 1/s"),
    SettingSpec::optional("workload.arrivals", Kind::OneOf(&["constant", "poisson"]), "With `workload.rate`: `constant` (the default), operations become due at equal distances; or `poisson`, at random with exponential distances, drawn from the seed."),
    SettingSpec::optional("workload.queue_at_most", Kind::Duration { least_ms: 0, most_ms: 24 * 3_600_000 }, "With `workload.rate`: an operation that has found no free user for this long after its due time is dropped and counted as dropped; by default 10s. `0s`: no operation may wait."),
    SettingSpec::new("workload.reconnect_within", Kind::Duration { least_ms: 0, most_ms: 24 * 3_600_000 }, "60s", "How long a session tries to reconnect after its connection is lost; then, and with `0s` at once, the run ends without a result. The operation in flight has failed with an unknown outcome; `procedure.error_budget` decides whether the point may count."),
    SettingSpec::optional("workload.reconnect_wait", span(1), "Longest wait of a session between two tries to connect again, and the bound of how late it finds a server that is back; the waits grow from 10 ms. By default 1s."),
    SettingSpec::optional("workload.deadline", span(10), "Time after which a session gives up an operation without an answer: it closes the connection, the outcome is unknown, and it connects again. Left out, it waits for ever, as for a host that is gone. For servers."),
    SettingSpec::required("engine.kind", Kind::Name, "The database engine; `proofload engines` lists them.").titled("engine"),
    SettingSpec::optional("engine.url", Kind::Text, "An existing server instead of an instance that Proofload starts. With several hosts, as `postgresql://a:5432,b:5432/db` or `host=a,b`, each is asked whether it takes writes, again whenever a connection is lost or a write is refused as read-only. It must not contain a password: use the engine's own environment variable or file on the load host.").fixed(),
    SettingSpec::optional("engine.settings.*", Kind::Free, "A setting of the engine under its own name, such as `shared_buffers = \"64MiB\"`; read back before each run. In a study of several engines, put the settings of one below its name: `postgresql.jit = \"off\"`."),
    SettingSpec::new("storage.path", Kind::Text, "proofload-data", "Folder for data and snapshots on the host under test; the study gets a folder of its own below it.").fixed(),
    SettingSpec::new("storage.kind", Kind::OneOf(&["directory", TIER]), "directory", "What the data lie on: a `directory` of a file system that is there, or a `tier`: a modelled slow medium (`storage.slow.*`) and a cache on a fast one before it (`storage.cache.*`). SQLite reads and writes through it in the load agent's process; a server that Proofload starts gets its volumes as file systems (FUSE and loop devices), which needs Linux, root and `storage.volume`. The cache file lies beside the data.").fixed(),
    SettingSpec::optional("storage.slow.drive", Kind::OneOf(DriveModel::WORDS), "Modelled drive under a tier, by its revolutions per minute, or the published reference; by default `7.2k`. `none`, for servers: the storage of `storage.path` as it is, with `storage.cache.path` on a faster one.").titled("slow drive"),
    SettingSpec::optional("storage.slow.raid", Kind::OneOf(RaidLevel::WORDS), "How the modelled drives are one medium; by default `raid-5`.").titled("slow medium"),
    SettingSpec::optional("storage.slow.drives", count(64), "Modelled drives under a tier; by default 8.").titled("slow drives"),
    SettingSpec::optional("storage.slow.write_cache", Kind::Bytes { least: 0 }, "Battery-backed cache for writes in the controller of the modelled drives; by default none.").titled("controller cache"),
    SettingSpec::optional("storage.cache.size", Kind::Bytes { least: 0 }, "Room for lines in the cache of a tier; `0B`: no cache, all requests go to the slow medium. By default no cache.").titled("cache"),
    SettingSpec::optional("storage.cache.percent", Kind::Integer { least: 0, most: 1000 }, "The same as a part of the data as they are when the cache is made, in per cent, instead of `storage.cache.size`.").titled("cache (per cent of the data)"),
    SettingSpec::optional("storage.cache.mode", Kind::OneOf(WriteMode::WORDS), "The way of a write: `write-back` (the default), it completes on the cache; `write-through`, on the slow medium, and is cached; `write-around`, on the slow medium alone.").titled("cache mode"),
    SettingSpec::optional("storage.cache.policy", Kind::OneOf(EvictionPolicy::WORDS), "Order in which clean lines are given up; by default `s3-fifo-2`.").titled("cache policy"),
    SettingSpec::optional("storage.cache.line", Kind::Bytes { least: 4096 }, "Bytes of a line: 4, 8, 16, 32 or 64 KiB; by default 8KiB.").titled("cache line"),
    SettingSpec::optional("storage.cache.accelerate", Kind::List, "Volumes that are cached, of `data` and `log`; the others are on the slow medium alone, and contend for its drives. By default `[\"data\"]`.").titled("cached volumes"),
    SettingSpec::optional("storage.cache.path", Kind::Text, "Folder on the fast storage that gets the file of the cache, for servers; by default it lies beside the data.").titled("cache folder"),
    SettingSpec::optional("storage.volume", Kind::Bytes { least: 64 << 20 }, "Size of a volume of the study's own: an ext4 file system in a file, mounted where the primary's data and snapshot lie, so that it can be filled or stalled without harm to others. Linux, as root; must hold data and snapshot. With `storage.kind = \"tier\"` it is the slow volume. Left out: a folder of the file system that is there.").fixed(),
    SettingSpec::optional("storage.purge.device", Kind::Text, "Block device that is returned to fresh out of box before each run, then holds the primary's data in a new file system: all of it is discarded. The data are built and kept at `storage.path`, on another device. DESTRUCTIVE: `run` requires the name again with `--yes`. Linux, as root.").fixed(),
    SettingSpec::optional("storage.purge.standby_devices", Kind::List, "The same for each standby, in the order of their numbers. DESTRUCTIVE: `--yes` names all devices, with commas between.").fixed(),
    SettingSpec::optional("storage.precondition.device", Kind::Text, "Block device to precondition, such as `/dev/nvme1n1`. DESTRUCTIVE: all its data is lost; `run` requires its name again with `--yes`.").fixed(),
    SettingSpec::optional("storage.precondition.size", Kind::Bytes { least: 1 << 20 }, "Size of the file to precondition if no device is named.").fixed(),
    SettingSpec::new("storage.precondition.sequential_fills", Kind::Integer { least: 0, most: 10 }, "1", "Sequential writes over the whole size before the first point.").fixed(),
    SettingSpec::new("storage.precondition.random_passes", Kind::Integer { least: 0, most: 10 }, "2", "Passes of random 4 KiB writes over the whole size.").fixed(),
    SettingSpec::new("storage.precondition.round", span(1000), "1m", "Length of a round of the SNIA steady-state check.").fixed(),
    SettingSpec::new("storage.precondition.rounds", Kind::Integer { least: 0, most: 25 }, "25", "Largest number of rounds of the steady-state check; 0 omits the check.").fixed(),
    SettingSpec::optional("limits.memory", Kind::Bytes { least: 1 << 20 }, "Memory of the database: a control group around it and the engine's own setting derived from it.").titled("database memory"),
    SettingSpec::optional("limits.memory_per_data", Kind::Share { least: 0.001, most: 100.0 }, "Memory of the database as a share of the raw size of the data, instead of limits.memory: 0.125 is an eighth. The raw size is that of the rows as the workload counts them, without indexes and the engine's overhead.").titled("database memory (part of the raw size)"),
    SettingSpec::optional("limits.cores", count(4096), "Cores that the database may run on (by affinity).").titled("cores"),
    SettingSpec::optional("limits.cpu", Kind::Number { least: 0.01, most: 4096.0 }, "CPU time that the database may use, in CPU seconds per second on any cores; once it is used up, the database waits for the rest of each 0.1 s.").titled("CPU seconds per second"),
    SettingSpec::optional("limits.standby_cpu", Kind::Number { least: 0.01, most: 4096.0 }, "CPU time that each standby may use, in CPU seconds per second; by default what `limits.cpu` says. As a factor it shows how far throughput follows the CPU time of the standbys.").titled("CPU seconds per second of a standby"),
    SettingSpec::optional("limits.read_bandwidth", Kind::Bandwidth { least: BANDWIDTH }, "Bytes per second that the database may read from the block device under its data; pages in memory do not count, what the kernel reads ahead does.").titled("read bandwidth (limit per second)"),
    SettingSpec::optional("limits.write_bandwidth", Kind::Bandwidth { least: BANDWIDTH }, "Bytes per second that the database may write to the block device under its data. With control groups of version 1 it applies to direct writes and to writes caused by the database's own syncs, not to what the kernel writes back later.").titled("write bandwidth (limit per second)"),
    SettingSpec::optional("limits.read_iops", count(IOPS), "Read requests per second that the database may send to the block device under its data.").titled("read requests per second (limit)"),
    SettingSpec::optional("limits.write_iops", count(IOPS), "Write requests per second that the database may send to the block device under its data; with control groups of version 1 as for `limits.write_bandwidth`.").titled("write requests per second (limit)"),
    SettingSpec::optional("limits.when_refused", Kind::OneOf(&["fail", "without"]), "What happens where this machine does not allow a limit, as to most users who are not root: `fail` (the default), nothing is started; `without`, the study is carried out without the limit, and its title says so.").fixed(),
    SettingSpec::optional("replication.mode", Kind::OneOf(ReplicationMode::WORDS), "What a commit of the load waits for: `none` (the default), there is no standby; `async`, its own log alone; `remote_write`, `remote_flush`, `remote_apply`, that standbys have written, flushed or applied its log. Proved before each run by holding the link, and looked at in each second.").titled("replication"),
    SettingSpec::optional("replication.standbys", count(MOST_STANDBYS as i64), "Standbys beside the primary, 1..=3; by default 1. They are started by us from the same snapshot, and have the same limits and, with `limits.cores`, cores of their own.").titled("standbys"),
    SettingSpec::optional("replication.confirm", Kind::OneOf(Confirmation::WORDS), "Standbys that must confirm a commit: `any n`, whichever answer first (by default `any 1`); `first n`, the first of those that are connected, in the order of their numbers.").titled("standbys that confirm"),
    SettingSpec::optional("replication.rtt", span(0), "Time there and back that a relay of ours adds between the primary and each standby, such as `1ms`; measured before each run. Left out, they are connected directly.").titled("round trip to the standby"),
    SettingSpec::optional("replication.bandwidth", Kind::Bandwidth { least: BANDWIDTH }, "Bytes per second that the relay lets pass between the primary and each standby, in each direction.").titled("bandwidth to the standby (per second)"),
    SettingSpec::optional("replication.network", Kind::OneOf(NETWORK_WORDS), "`namespaces`: the primary, each standby and each load agent on this machine have a network namespace of their own on a bridge of the study's own, made by `ip` as root and removed at the end; instances are reached by address and password as on other hosts, and `partition link-1` takes the standby's device down. Left out: beside each other, or on `agents.standby_hosts`.").fixed(),
    SettingSpec::optional("replication.manager", Kind::OneOf(ManagerKind::WORDS), "Who makes a standby the primary when that fails: `by-hand` (the default), we do, without detection; `patroni` (with etcd), `pg_auto_failover`: the programs of that name, which run both instances from the restored snapshot. With one standby, connected directly.").titled("failover"),
    SettingSpec::optional("replication.manager_settings.*", Kind::Free, "A setting of the failover manager under its own name, such as `ttl = 20` of Patroni's dynamic configuration or a parameter `pgautofailover.*` of pg_auto_failover's monitor without that prefix; what is left out is as the manager has it."),
    SettingSpec::optional("drill.fault", Kind::OneOf(FAULT_WORDS), "What is made to fail after the measured window while load goes on, and how; each run of the point is one drill. Of the primary: `crash`, all its processes end at once; `kill`, its first process; `stop`, its clean stop; `freeze`, nothing runs and nothing is closed: then a standby is promoted; so after `partition clients`: nothing passes between users and the primary, which runs on. All others are undone after `drill.lasts`. Of the first standby: `crash`, `stop`, `freeze`, and `replay pause`, it applies no log. Of its link, which needs a relay: `partition`, nothing passes and nothing is closed, also in one direction alone; `reset`, all connections are closed and new ones refused; `latency`; `bandwidth`. Of a disk: `slow disk`, fewer writes a second; `disk stall`, none, where the data have a file system of their own; `full disk`, with `storage.volume`. With a manager also `switchover`, its own command, and `crash arbiter`: etcd or the monitor, undone after `drill.lasts`. `none`: the prober alone, to compare with. Needs standbys and `workload.deadline`.").titled("fault"),
    SettingSpec::optional("drill.rtt", span(1), "Time there and back through the link during `latency link-1`; proved by an echo.").titled("round trip in the fault"),
    SettingSpec::optional("drill.bandwidth", Kind::Bandwidth { least: 1 << 10 }, "Bytes per second that pass the link in each direction during `bandwidth link-1`; proved by a transfer.").titled("bandwidth in the fault (per second)"),
    SettingSpec::optional("drill.write_iops", count(10_000), "Write requests per second that reach each device under the data during `slow disk`; proved by the kernel's value and by synced writes under it.").titled("writes per second in the fault"),
    SettingSpec::optional("drill.phase", span(0), "Longest of the waits before a fault: each drill waits a time of its own between nothing and this, drawn from the study's seed, so that faults fall anywhere in the periods of what detects them. By default 0s."),
    SettingSpec::optional("drill.lasts", span(1000), "How long a fault of a standby or of a link lasts, or a drill without a fault; by default 10s."),
    SettingSpec::optional("drill.promote_after", span(0), "Time from a fault of the primary to the order to promote: the detection, which is declared and not measured; by default 0s.").titled("detection (declared)"),
    SettingSpec::optional("drill.rejoin", Kind::OneOf(Rejoin::WORDS), "What becomes of a primary that failed and was replaced by hand. `restore`: the next run restores its data from the snapshot. `rewind`: once users are back it is put behind the new primary by `pg_rewind`, as operators do, and follows it; when commits wait for it again, the drill is *protected again*. By default restore."),
    SettingSpec::optional("drill.within", span(1000), "Longest time from the fault to the recovery; beyond it the drill has never recovered. By default 2m."),
    SettingSpec::optional("prober.rate", Kind::Rate { least: 1.0, most: 1000.0 }, "Writes per second of the prober, and reads per second: due at fixed times, each a number of its own in a table of its own; beside them a twentieth as many new connections. By default 200/s."),
    SettingSpec::optional("prober.deadline", span(100), "Time after which the prober gives up an operation: it closes the connection, and the outcome is unknown. By default 1s."),
    SettingSpec::optional("paper.author", Kind::Text, "Who made the study, for the head of its report.").fixed(),
    SettingSpec::optional("paper.organisation", Kind::Text, "Organisation of the author.").fixed(),
    SettingSpec::optional("paper.question", Kind::Text, "The question that the study is to answer, in a sentence.").fixed(),
    SettingSpec::optional("paper.drive", Kind::Text, "Model of the drive under the data, where the kernel does not tell it; printed as stated by the study.").fixed(),
    SettingSpec::optional("paper.firmware", Kind::Text, "Firmware of that drive, likewise.").fixed(),
    SettingSpec::optional("paper.parts", Kind::List, "Parts of the system under test, for the bill of materials, one text each.").fixed(),
    SettingSpec::optional("paper.price", Kind::Number { least: 0.01, most: 1e12 }, "Price of all parts together; the report divides it by the throughput.").fixed(),
    SettingSpec::optional("paper.currency", Kind::Text, "Currency of the price, such as `EUR`.").fixed(),
    SettingSpec::optional("paper.logo", Kind::Text, "Logo for the head of the report: a PNG, JPEG or SVG file of at most 64 KiB, named from the study's folder. The record keeps the image.").fixed(),
    SettingSpec::optional("paper.notes", Kind::Text, "Remarks on the set-up that no fact tells.").fixed(),
    SettingSpec::optional("hardware.watts", Kind::Number { least: 0.1, most: 1e6 }, "Power of the host under load by its data sheet, W; printed beside the measured power.").fixed(),
    SettingSpec::optional("hardware.capacity", Kind::Bytes { least: 1 }, "Capacity of the drives by their data sheet.").fixed(),
    SettingSpec::optional("hardware.rack_units", Kind::Number { least: 0.1, most: 1e4 }, "Height of the host in a rack, rack units.").fixed(),
    SettingSpec::optional("hardware.drive_iops", Kind::Number { least: 1.0, most: 1e9 }, "Random reads per second of the drives by their data sheet, 1/s.").fixed(),
    SettingSpec::new("procedure.restore", Kind::OneOf(&["every-run", "never"]), "every-run", "Restore the snapshot before every run, or let runs follow each other on the same data."),
    SettingSpec::new("procedure.prewarm", Kind::Boolean, "false", "Read the files of the data once in order before the load, under the limits, so that a run does not begin with an empty page cache."),
    SettingSpec::new("procedure.warm_up.at_least", span(0), "10s", "Shortest warm-up; before a measurement of less than 3 minutes every warm-up is this long."),
    SettingSpec::new("procedure.warm_up.at_most", span(0), "5m", "Longest warm-up before a measurement of 3 minutes or more; one that has not settled by then is measured all the same, and judged by its window."),
    SettingSpec::new("procedure.warm_up.round", span(1000), "2s", "Length of a round of the steady-state detector; whole seconds, and a whole number of the engine's checkpoint periods, if they are known."),
    SettingSpec::new("procedure.warm_up.tolerance", Kind::Share { least: 0.005, most: 0.5 }, "0.05", "Drift over the window, as a share of its mean, that still counts as steady."),
    SettingSpec::new("procedure.measure", span(1000), "5m", "Length of the measured load; whole seconds. Up to a quarter of it is cut away at its begin if it still moves there."),
    SettingSpec::new("procedure.drift_tolerance", Kind::Share { least: 0.005, most: 1.0 }, "0.02", "Movement of throughput over the measured load, as a share of its mean, that voids the point when it is shown."),
    SettingSpec::new("procedure.precision", Kind::Share { least: 0.001, most: 0.3 }, "0.05", "Largest half-width of the 95 % interval of throughput, as a share of it, for which a point is valid; up to 0.3 it is valid with a wide interval, beyond that it says nothing and is void."),
    SettingSpec::new("procedure.steal_tolerance", Kind::Share { least: 0.0, most: 1.0 }, "0.05", "Share of the processor that others (guests of the hypervisor, other processes) may take in the measured window while a figure still claims to be of a quiet host; with more it is `as given` by this host. It voids nothing."),
    SettingSpec::new("procedure.error_budget", Kind::Share { least: 0.0, most: 1.0 }, "0", "Share of operations that may fail; more voids the point."),
    SettingSpec::new("procedure.retries", Kind::Integer { least: 0, most: 3 }, "0", "How often a run is measured again because of what happened outside it: others took more of the processor than `procedure.steal_tolerance` and no limit of the study made that irrelevant, the load generator stood still, telemetry is missing, or an agent was lost. Throughput is not looked at. No further attempt begins once all of a run together took three times as long as its first; the last one stands, and all are shown.").fixed(),
    SettingSpec::new("procedure.quiet_seconds", Kind::Integer { least: 0, most: 86_400 }, "0", "Seconds in which others take no more of the processor than `procedure.steal_tolerance`, and which lie at least 5 s after others last took more, that the measured load wants before it ends: it lasts `procedure.measure` at least, and five times this number of seconds at most. The mean over them is reported beside the mean over all. For saturated loads of one load agent.").fixed(),
    SettingSpec::new("procedure.wait_for_quiet", Kind::Duration { least_ms: 0, most_ms: 24 * 3_600_000 }, "0s", "How long a run waits before it begins while others take more of the processor than `procedure.steal_tolerance`; then it runs all the same. The host is looked at for 10 s, and a busy one waited for until 30 s were quiet; with `0s` nobody looks.").fixed(),
    SettingSpec::optional("observe.sessions", Kind::Integer { least: 0, most: 100 }, "Times a second, at random distances, that is looked what each session of the load waits for, from which a report says where the time of a transaction goes; by default 20 in a study with `replication.mode` whose users never wait for their turn, else 0. For servers that tell it.").titled("looks at sessions (1/s)"),
    SettingSpec::optional("observe.prometheus", Kind::List, "Exporters that observe the host under test if no agent can run there (Windows, appliances): addresses of node_exporter, windows_exporter or any other endpoint of Prometheus' text format, such as [\"http://db1:9100/metrics\"]. They replace the agent's probes of the host; only with engine.url.").fixed(),
    SettingSpec::optional("observe.device", Kind::Text, "The database's block device or volume as the exporter names it, such as `nvme0n1` or `D:`; required if the exporter reports several.").fixed(),
    SettingSpec::optional("observe.series", Kind::List, "Further series of the exporters to keep in the record: names, or prefixes followed by `*`. Counters are kept as rates per second.").fixed(),
    SettingSpec::optional("agents.host", Kind::List, "Command that starts the agent on the host under test, such as [\"ssh\", \"-T\", \"db1\", \"proofload\", \"agent\"]; empty: a child process on this machine.").fixed(),
    SettingSpec::optional("agents.load", Kind::List, "Command that starts the load agent; empty: a child process on this machine. Embedded engines need it on the host under test. `{host}` is replaced by each name of `agents.load_hosts`.").fixed(),
    SettingSpec::optional("agents.standby_hosts", Kind::List, "Hosts of the standbys, one for each in order, with the address at which the others reach it: [\"db2=10.0.0.2\", \"db3=10.0.0.3\"]. Instances then listen at these addresses, and all clients come there by a password that is made anew for each run, in points without standbys too. Left out, standbys run beside the primary. Without `agents.host` and `agents.standby` all are child processes on this machine, and addresses may be left out.").fixed(),
    SettingSpec::optional("agents.standby", Kind::List, "Command that starts the agent on each of `agents.standby_hosts`, whose name replaces `{host}`: [\"ssh\", \"-T\", \"{host}\", \"proofload\", \"agent\"]; empty: child processes on this machine.").fixed(),
    SettingSpec::optional("agents.address", Kind::Text, "Address of the host under test at which the hosts of standbys and the load agents reach the primary, such as `10.0.0.1`; needed with `agents.standby_hosts` on other machines.").fixed(),
    SettingSpec::optional("agents.load_hosts", Kind::List, "Hosts that generate the load together, with a load agent on each. A number after a colon is the host's share of users and arrivals, by default 1: [\"loader1\", \"loader2:2\"]. Without `agents.load` these are child processes on this machine. By default there is one load agent.").fixed(),
];

/// The settings that limit the database: those below `limits.` that have a title.
pub fn limit_settings() -> impl Iterator<Item = &'static SettingSpec> {
    STANDARD.iter().filter(|spec| spec.path.starts_with("limits.") && spec.title.is_some())
}

/// Titles of groups of settings whose last part alone would say too little, by their common beginning.
pub const GROUP_TITLES: &[(&str, &str)] =
    &[("engine.settings", "engine settings"), ("replication.manager_settings", "manager settings")];

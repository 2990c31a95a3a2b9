//! What requests speak of: where data lie, limits, what a load agent runs, what was used.

use crate::load_share::LoadShare;
use crate::settings::Settings;
use crate::tier::TierPlan;
use crate::time::WallTime;
use crate::units::{Bytes, BytesPerSecond, CpuRate};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Where the data of a study lives on its host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataLocation {
    /// Kind of engine.
    pub engine: String,
    /// Folder of the study on the host under test: `<storage.path>/<name>`; all that Proofload creates lies below it.
    pub folder: String,
    /// URL of an existing server; `None` when we start an instance or the engine is embedded.
    pub url: Option<String>,
    /// Settings of the engine by name, later ones win: what the memory limit implies, the engine's own (`engine.<name>`), then
    /// `engine.settings.*`. Made by `proofload_engine::place_settings`.
    pub settings: Vec<(String, String)>,
    /// Cache tier under the data; `None` where they lie on the folder's file system.
    pub tier: Option<Box<TierPlan>>,
}

impl DataLocation {
    /// Data of an engine in a folder, with no settings and no cache tier.
    pub fn in_folder(engine: &str, folder: impl Into<String>) -> Self {
        Self { engine: engine.to_owned(), folder: folder.into(), url: None, settings: Vec::new(), tier: None }
    }

    /// Data of an existing server, with no settings.
    pub fn at_url(engine: &str, url: impl Into<String>) -> Self {
        Self { url: Some(url.into()), ..Self::in_folder(engine, "") }
    }
}

/// A host that no agent runs on, observed through exporters of Prometheus' text format.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ScrapeSpec {
    /// Where they serve, such as `http://db1:9100/metrics`; empty: the host is observed by its own agent.
    pub endpoints: Vec<String>,
    /// The database's device as they name it, such as `nvme0n1` or `D:`.
    pub device: Option<String>,
    /// Further series to keep: names, or beginnings of names with a `*` after them.
    pub series: Vec<String>,
}

/// CPU time of the threads of one role of a database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadLimit {
    /// The role, as a process tells it in its title or a server of its threads: `walsender`.
    pub role: String,
    /// CPU time per time of all of them together.
    pub cpu: CpuRate,
    /// Whether a server without such a thread is no fault: a primary without standbys, of a study that has points with them.
    pub may_be_absent: bool,
}

/// Limits to put on what is tested.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LimitsAsked {
    /// Memory of the instance or embedded engine: control group and engine setting.
    pub memory: Option<Bytes>,
    /// Number of cores.
    pub cores: Option<u32>,
    /// How many of the cores that the agent may use come before them: those of another study that is measured at once.
    pub cores_before: u32,
    /// CPU time per time, on whatever cores.
    pub cpu: Option<CpuRate>,
    /// Whether there is no precedence over other processes: neither by a limit of CPU time nor of the load generator's group.
    #[serde(default)]
    pub without_precedence: bool,
    /// CPU time of the threads of one role.
    #[serde(default)]
    pub thread: Option<ThreadLimit>,
    /// Reads from the block device under the data.
    pub read_bandwidth: Option<BytesPerSecond>,
    /// Writes to the block device under the data.
    pub write_bandwidth: Option<BytesPerSecond>,
    /// Reads from the block device under the data, requests per second.
    pub read_iops: Option<u32>,
    /// Writes to the block device under the data, requests per second.
    pub write_iops: Option<u32>,
}

/// Preconditioning by fio, of the folder's file system or of a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preconditioning {
    /// A device such as `/dev/nvme1n1`; `None` for a file in the study's folder.
    pub device: Option<String>,
    /// The device named a second time, with `--yes`; must equal `device`.
    pub device_confirmed: Option<String>,
    /// Size of the file when there is no device.
    pub size: Bytes,
    /// Sequential fills of the whole size.
    pub sequential_fills: u32,
    /// Random-write passes over the whole size.
    pub random_passes: u32,
    /// Length of one round of the steady-state test.
    pub round: Duration,
    /// Rounds at most; 0 leaves the steady-state test out.
    pub rounds_at_most: u32,
}

/// What the processes of a place used since they began. Only differences say something, and only between readings of one source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceUse {
    /// CPU time; `None` when it is not known.
    pub cpu: Option<Duration>,
    /// Where it was read.
    pub cpu_source: String,
    /// Bytes read from the block device under the data; `None` when it is not known.
    pub device_read: Option<Bytes>,
    /// Where it was read, and of whom.
    pub device_source: String,
}

/// A probe query that was run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeResult {
    /// Time from sending it to its last row.
    pub took: Duration,
    /// Bytes of the pages that it asked for, in the engine's cache or not; `None` where the engine does not count them.
    pub logical: Option<Bytes>,
    /// Reason of its failure, such as `query_cap`; `None` when it succeeded.
    pub failed: Option<String>,
}

/// What a load agent runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadSpec {
    /// Kind of workload.
    pub workload: String,
    /// All resolved settings of the point (the workload reads `workload.*`).
    pub settings: Settings,
    /// Where the data is.
    pub place: DataLocation,
    /// Addresses of started instances, such as `host=127.0.0.1 port=5433 user=proofload dbname=proofload`, in the order in which they are
    /// tried; empty for embedded engines and URLs.
    pub endpoints: Vec<String>,
    /// Seed of the data (the study's).
    pub data_seed: u64,
    /// Seed of the inputs (of study and run).
    pub input_seed: u64,
    /// Date of every date column at load, from the study.
    pub load_time: WallTime,
    /// The agent's share of the load.
    pub part: LoadShare,
}

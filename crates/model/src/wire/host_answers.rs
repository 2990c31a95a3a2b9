//! Answers of the host role that are more than a value.

use crate::samples::Fact;
use crate::units::{Bytes, BytesPerSecond};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A server that was started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StartedInstance {
    /// Connection string for its own host, without secrets.
    pub address: String,
    /// The same for other hosts; `None` where they do not reach it.
    pub reached_at: Option<String>,
    /// Settings asked and in force, version.
    pub facts: Vec<Fact>,
}

/// A copy that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotCopy {
    /// Bytes of the files.
    pub bytes: Bytes,
    /// `reflink` or `copy`.
    pub method: String,
    /// Time that it took.
    pub took: Duration,
}

/// Data that were read once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrewarmResult {
    /// Bytes of the files.
    pub bytes: Bytes,
    /// Time that it took.
    pub took: Duration,
}

/// The processor in one second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ProcessorUse {
    /// CPU seconds that the cores in question were used, with what was given to other guests.
    pub used: f64,
    /// CPU seconds wanted there and given to other guests; `None` where it is not told.
    pub stolen: Option<f64>,
    /// CPU seconds of processes that are not Proofload's, on whatever core; `None` where they cannot be seen.
    pub foreign: Option<f64>,
    /// CPU seconds of Proofload on the cores in question; `None` where that is not known.
    pub clients: Option<f64>,
}

/// What a process used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProcessUse {
    /// Its name; processes of one name are taken together.
    pub name: String,
    /// Mean CPU time, CPU s/s.
    pub cpu: f64,
}

/// What others did on a host while nothing was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuietCheck {
    /// How long it was looked at.
    pub time: Duration,
    /// Cores in question.
    pub cores: u32,
    /// Cores of the host.
    pub cores_of_host: u32,
    /// The processor, second by second.
    pub seconds: Vec<ProcessorUse>,
    /// The largest processes of others.
    pub processes: Vec<ProcessUse>,
    /// Time in which 5 ms of computing were done, 99th percentile; `None` if none were.
    pub spin_p99: Option<Duration>,
    /// Wall time of these pieces of computing over their time on a core, all cores together; `None` if none were.
    pub spin_ratio: Option<f64>,
    /// Time in which a written page was made durable in the folder, 99th percentile; `None` where nothing can be written.
    pub sync_p99: Option<Duration>,
    /// What others did with the devices under the folder; `None` where these cannot be told.
    pub devices: Option<DeviceUse>,
}

/// What others did with devices, without the durable writes of the look itself.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DeviceUse {
    /// Requests of others, 1/s.
    pub requests: f64,
    /// Share of the time in which a device was busy with them.
    pub busy: f64,
}

/// Where the log of stopped data ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataEnd {
    /// What is common to all copies of one database.
    pub system: String,
    /// Place of the last checkpoint in the log, with its timeline.
    pub checkpoint: String,
}

/// Documents to keep, such as fio's JSON, and facts drawn from them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PreconditioningResult {
    /// Name and body.
    pub documents: Vec<(String, String)>,
    /// Facts.
    pub facts: Vec<Fact>,
}

/// How fast a device was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadsMeasured {
    /// Rate.
    pub rate: BytesPerSecond,
    /// How, in words.
    pub how: String,
    /// fio's JSON: name and body.
    pub documents: Vec<(String, String)>,
}

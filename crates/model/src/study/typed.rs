//! Typed views of a point's settings, for those who carry them out.

use crate::error::Error;
use crate::intervention::{CLIENTS_CPU, THREAD_CPU};
use crate::setting_words::{LoadPacing, RestorePolicy};
use crate::settings::{Settings, Value, setting};
use crate::tier::tier_plan;
use crate::units::{Bytes, BytesPerSecond, CpuRate};
use crate::wire::{DataLocation, LimitsAsked, Preconditioning, ScrapeSpec, ThreadLimit};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long to warm up and when it counts as settled.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WarmUp {
    /// Shortest duration.
    pub at_least: Duration,
    /// Longest duration.
    pub at_most: Duration,
    /// Length of a round.
    pub round: Duration,
    /// Share of the mean.
    pub tolerance: f64,
}

/// The procedure of a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Procedure {
    /// Whether data are restored before every run.
    pub restore_every_run: bool,
    /// Whether the data are read once before the load.
    pub prewarm: bool,
    /// Warm-up.
    pub warm_up: WarmUp,
    /// Measured window.
    pub measure: Duration,
    /// Share of the mean: movement of the window, or drift of rounds, that voids when it is shown.
    pub drift_tolerance: f64,
    /// Largest half-width of a valid result's interval, as a share of the mean; `None` in records from before windows were judged by it.
    pub precision: Option<f64>,
    /// Share of the database's cores that other guests of the host may take.
    pub steal_tolerance: f64,
    /// Share of operations that may fail.
    pub error_budget: f64,
    /// How often a run is measured again for what happened outside it.
    pub retries: u32,
    /// Quiet seconds that the measured load wants before it ends; 0: it lasts `measure`.
    pub quiet_seconds: u32,
    /// How long a run waits for others to leave the processor alone; zero: nobody looks.
    pub wait_for_quiet: Duration,
}

/// A measurement at least this long may begin as soon as the detector declares the load steady; before a shorter one the warm-up has a
/// fixed length, since an early declaration would choose the result.
const DETECTED_FROM: Duration = Duration::from_secs(180);

/// A load that wants quiet seconds ends at this many times their number, quiet or not.
const LONGEST_FOR_QUIET: u32 = 5;

impl Procedure {
    /// Longest measured load: it goes on beyond `measure` for quiet seconds that are still missing.
    pub fn longest_measured(&self) -> Duration {
        self.measure.max(Duration::from_secs(u64::from(self.quiet_seconds) * u64::from(LONGEST_FOR_QUIET)))
    }

    /// Whether the warm-up lasts as long as planned, whatever is seen in it.
    pub fn has_fixed_warm_up(&self) -> bool {
        self.precision.is_some() && self.measure < DETECTED_FROM
    }
}

/// The procedure of a point.
pub fn procedure(settings: &Settings) -> Result<Procedure, Error> {
    Ok(Procedure {
        restore_every_run: RestorePolicy::of(settings.text(RestorePolicy::PATH)?) == Some(RestorePolicy::EveryRun),
        prewarm: settings.boolean("procedure.prewarm").unwrap_or(false),
        warm_up: WarmUp {
            at_least: settings.duration(setting::PROCEDURE_WARM_UP_AT_LEAST)?,
            at_most: settings.duration("procedure.warm_up.at_most")?,
            round: settings.duration("procedure.warm_up.round")?,
            tolerance: settings.number("procedure.warm_up.tolerance")?,
        },
        measure: settings.duration(setting::PROCEDURE_MEASURE)?,
        drift_tolerance: settings.number("procedure.drift_tolerance")?,
        precision: settings.number(setting::PROCEDURE_PRECISION).ok(),
        // Records from before there was a limit have none.
        steal_tolerance: settings.number(setting::PROCEDURE_STEAL_TOLERANCE).unwrap_or(1.0),
        error_budget: settings.number("procedure.error_budget")?,
        retries: settings.count(setting::PROCEDURE_RETRIES).unwrap_or(0),
        quiet_seconds: settings.count(setting::PROCEDURE_QUIET_SECONDS).unwrap_or(0),
        wait_for_quiet: settings.duration("procedure.wait_for_quiet").unwrap_or_default(),
    })
}

/// The limits of a point.
pub fn limits_asked(settings: &Settings) -> LimitsAsked {
    let bandwidth = |path: &str| settings.bytes(path).ok().map(|bytes| BytesPerSecond(bytes.0));
    LimitsAsked {
        memory: settings.bytes(setting::LIMITS_MEMORY).ok(),
        cores: settings.count(setting::LIMITS_CORES).ok(),
        cpu: settings.number(setting::LIMITS_CPU).ok().map(CpuRate::from_seconds),
        read_bandwidth: bandwidth(setting::LIMITS_READ_BANDWIDTH),
        write_bandwidth: bandwidth(setting::LIMITS_WRITE_BANDWIDTH),
        read_iops: settings.count(setting::LIMITS_READ_IOPS).ok(),
        write_iops: settings.count(setting::LIMITS_WRITE_IOPS).ok(),
        cores_before: 0,
        without_precedence: false,
        thread: thread_limit(settings).filter(|_| !limits_standby_thread(settings)),
    }
}

/// Setting that names the role that is limited.
pub(super) const THREAD: &str = "limits.thread";
/// Setting that tells where it runs.
pub(super) const THREAD_ON: &str = "limits.thread_on";

/// The limit of a role, wherever it runs.
pub fn thread_limit(settings: &Settings) -> Option<ThreadLimit> {
    let cpu = settings.number(THREAD_CPU).ok().map(CpuRate::from_seconds)?;
    Some(ThreadLimit { role: settings.text(THREAD).ok()?.to_owned(), cpu, may_be_absent: false })
}

/// Whether the role that is limited runs on the standbys.
pub fn limits_standby_thread(settings: &Settings) -> bool {
    settings.text(THREAD_ON) == Ok("standby")
}

/// The CPU time that the load generator may use; `None`: as much as it gets.
pub fn clients_cpu(settings: &Settings) -> Option<CpuRate> {
    settings.number(CLIENTS_CPU).ok().map(CpuRate::from_seconds)
}

/// The CPU time that each standby of a point may use; `None`: as much as the primary.
pub fn standby_cpu(settings: &Settings) -> Option<CpuRate> {
    settings.number(setting::LIMITS_STANDBY_CPU).ok().map(CpuRate::from_seconds)
}

/// Settings of a point with `limits.memory` in the place of what `limits.memory_per_data` makes of the raw size of its data, in whole
/// pages of 4 KiB.
pub fn with_memory(mut settings: Settings, raw: Bytes) -> Settings {
    if let Ok(share) = settings.number(setting::LIMITS_MEMORY_PER_DATA) {
        let pages = (raw.0 as f64 * share / 4096.0).round() as u64;
        settings.0.insert(setting::LIMITS_MEMORY.to_owned(), Value::Bytes(Bytes(pages * 4096)));
    }
    settings
}

/// Where the data of a point lies; `engine_settings` as the engine crate resolves them.
pub fn data_place(settings: &Settings, engine_settings: Vec<(String, String)>) -> Result<DataLocation, Error> {
    let (root, name) = (settings.text(setting::STORAGE_PATH)?, settings.text(setting::STUDY_NAME)?);
    Ok(DataLocation {
        engine: settings.text(setting::ENGINE_KIND)?.to_owned(),
        folder: format!("{}/{name}", root.trim_end_matches('/')),
        url: settings.text(setting::ENGINE_URL).ok().map(str::to_owned),
        settings: engine_settings,
        tier: tier_plan(settings)?.map(Box::new),
    })
}

/// Exporters that observe the host; empty when its own agent does.
pub fn scraped(settings: &Settings) -> ScrapeSpec {
    ScrapeSpec {
        endpoints: settings.list(setting::OBSERVE_PROMETHEUS).to_vec(),
        device: settings.text("observe.device").ok().map(str::to_owned),
        series: settings.list("observe.series").to_vec(),
    }
}

/// Devices that are purged before each run, the primary's first; empty where the study asks for none.
pub fn purged_devices(settings: &Settings) -> Vec<String> {
    let primary = settings.text("storage.purge.device").ok().map(str::to_owned).into_iter();
    primary.chain(settings.list(setting::STORAGE_PURGE_STANDBY_DEVICES).iter().cloned()).collect()
}

/// A device as `--yes` names it among others with commas between; where none of them is it, all that was named.
pub fn confirmation_of(device: &str, confirmed: Option<&str>) -> Option<String> {
    let named = confirmed?;
    let found = named.split(',').map(str::trim).find(|name| *name == device);
    Some(found.unwrap_or(named).to_owned())
}

/// Times a second that the sessions of the load are looked at in a study of replication.
const LOOKS_AT_SESSIONS: u32 = 20;

/// Times a second that the sessions of the load are looked at; 0: not at all. Sessions that wait for their turn tell nothing of a
/// transaction's time.
pub fn session_looks(settings: &Settings) -> u32 {
    let takes_turns = settings.get(setting::WORKLOAD_RATE).is_some() || LoadPacing::is_paced(settings);
    let is_told = settings.get(setting::REPLICATION_MODE).is_some() && !takes_turns;
    settings.count("observe.sessions").unwrap_or(if is_told { LOOKS_AT_SESSIONS } else { 0 })
}

/// Preconditioning, when the study asks for it; `confirmed` is the device named by `--yes`.
pub fn preconditioning(settings: &Settings, confirmed: Option<&str>) -> Result<Option<Preconditioning>, Error> {
    let device = settings.text(setting::STORAGE_PRECONDITION_DEVICE).ok().map(str::to_owned);
    let size = settings.bytes("storage.precondition.size").ok();
    if device.is_none() && size.is_none() {
        return Ok(None);
    }
    Ok(Some(Preconditioning {
        device_confirmed: match &device {
            Some(device) => confirmation_of(device, confirmed),
            None => confirmed.map(str::to_owned),
        },
        device,
        size: size.unwrap_or(Bytes(0)),
        sequential_fills: settings.count("storage.precondition.sequential_fills")?,
        random_passes: settings.count("storage.precondition.random_passes")?,
        round: settings.duration("storage.precondition.round")?,
        rounds_at_most: settings.count("storage.precondition.rounds")?,
    }))
}

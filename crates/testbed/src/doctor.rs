//! What a machine allows, judged, with a remedy for what it does not. Tries things for real where looking is not enough. May not change
//! the machine beyond what it takes back at once.

use crate::facts::{chosen, control_groups, fio_version, free};
pub use crate::limits::{Way, ways};
use crate::storages::Devices;
use crate::storages::tier_needs;
use proofload_model::error::Error;
use proofload_model::manager::ManagerKind;
use proofload_model::tier::TierPlan;
use proofload_model::units::{Bytes, BytesPerSecond, CpuRate};
use proofload_model::wire::LimitsAsked;
use std::path::Path;

/// How something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The host is as a measurement wants it.
    Good,
    /// Works, but moves results.
    Warning,
    /// Studies that need it will be refused.
    Missing,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnosis {
    /// What.
    pub subject: String,
    /// How it stands.
    pub state: State,
    /// What was found.
    pub found: String,
    /// What to do about it.
    pub remedy: Option<String>,
}

impl Diagnosis {
    /// Makes one of what is as it should be.
    pub fn good(subject: &str, found: impl Into<String>) -> Self {
        good(subject, found)
    }

    /// Makes one of what is not.
    pub fn bad(subject: &str, state: State, found: impl Into<String>, remedy: &str) -> Self {
        bad(subject, state, found, remedy)
    }
}

/// Looks at everything. `folder`: where a study's data would lie.
pub fn diagnose(folder: &Path) -> Vec<Diagnosis> {
    let mut found = limits(folder);
    found.push(fio());
    found.extend(engines());
    found.extend(managers());
    found.push(unprivileged_user());
    found.push(space(folder));
    found.extend(machine(folder));
    found
}

/// Looks at what moves results on this machine whatever is measured.
pub fn machine(folder: &Path) -> Vec<Diagnosis> {
    vec![governor(), smt(), swap(), huge_pages(), clock_source(), scheduler(folder), build()]
}

/// Room for data in a folder, or in the nearest folder above it that is there; `None` where it cannot be read.
pub fn free_space(folder: &Path) -> Option<Bytes> {
    free(folder)
}

/// Memory of this machine.
pub fn memory() -> Option<Bytes> {
    crate::facts::memory()
}

/// Makes a control group with these limits for data in a folder, reads them back and removes the group.
///
/// # Errors
/// What stands in the way; of kind refused where the machine is too small.
pub fn try_limits(asked: LimitsAsked, folder: &Path) -> Result<(), Error> {
    let has = crate::facts::memory();
    if let (Some(memory), Some(has)) = (asked.memory, has)
        && memory > has
    {
        let gib = |bytes: Bytes| format!("{:.1} GiB", bytes.0 as f64 / f64::from(1 << 30));
        let text = format!("limits.memory {} exceeds the memory of this machine, {}", gib(memory), gib(has));
        return Err(Error::refused(text));
    }
    crate::limits::try_out(asked, Devices::under(folder)).map(|_version| ())
}

fn good(subject: &str, found: impl Into<String>) -> Diagnosis {
    Diagnosis { subject: subject.to_owned(), state: State::Good, found: found.into(), remedy: None }
}

fn bad(subject: &str, state: State, found: impl Into<String>, remedy: &str) -> Diagnosis {
    Diagnosis { subject: subject.to_owned(), state, found: found.into(), remedy: Some(remedy.to_owned()) }
}

fn trimmed(path: impl AsRef<Path>) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

/// Makes a group with each limit, reads the limits back, removes the group.
fn limits(folder: &Path) -> Vec<Diagnosis> {
    let rate = Some(BytesPerSecond(1 << 30));
    let device = LimitsAsked {
        read_bandwidth: rate,
        write_bandwidth: rate,
        read_iops: Some(100_000),
        write_iops: Some(100_000),
        ..LimitsAsked::default()
    };
    let tries = [
        ("memory limit", "memory", LimitsAsked { memory: Some(Bytes::mebi(64)), ..LimitsAsked::default() }),
        ("CPU limit", "cpu", LimitsAsked { cpu: Some(CpuRate::from_seconds(0.5)), ..LimitsAsked::default() }),
        ("bandwidth limits", "io (blkio in v1)", device),
    ];
    tries.into_iter().map(|(subject, controller, asked)| limit(subject, controller, asked, folder)).collect()
}

fn limit(subject: &str, controller: &str, asked: LimitsAsked, folder: &Path) -> Diagnosis {
    let writes = asked.write_bandwidth.is_some();
    match crate::limits::try_out(asked, Devices::under(folder)) {
        Ok(how) => {
            let reach = if writes && how == "version 1" { "; not for later write-back by the kernel" } else { "" };
            good(subject, format!("control group {how}; set, read back and released{reach}"))
        }
        Err(error) => bad(
            subject,
            State::Missing,
            format!("control groups: {}; {error}", control_groups()),
            &ways_in_words(controller),
        ),
    }
}

/// What may help, in one line.
fn ways_in_words(controller: &str) -> String {
    let ways = ways();
    if ways.is_empty() {
        return format!("check whether the kernel has the controller {controller}");
    }
    ways.iter().map(|way| format!("{} ({})", way.typed(), way.when)).collect::<Vec<_>>().join("; or ")
}

/// Looks for fio.
pub fn fio() -> Diagnosis {
    match fio_version() {
        Some(version) => good("fio", version),
        None => bad(
            "fio",
            State::Warning,
            "not found; needed to precondition storage",
            "install fio, such as apt-get install fio",
        ),
    }
}

fn engines() -> Vec<Diagnosis> {
    proofload_engine::ENGINES.iter().map(|one| engine(*one)).collect()
}

/// Looks for an engine on this machine.
pub fn engine(engine: &dyn proofload_engine::Engine) -> Diagnosis {
    let name = engine.facts().name;
    match engine.locate() {
        Ok(found) => good(name, format!("{} ({})", found.version, found.place)),
        Err(error) => bad(name, State::Warning, "not found; needed by studies of this engine", &error.to_string()),
    }
}

/// Tells whether a cache tier can be served to a server here.
///
/// # Errors
/// All that is missing for it.
pub fn find_tier(plan: &TierPlan) -> Result<(), Error> {
    tier_needs(plan)
}

/// Reads the list that the cache of a tier is filled from, without filling one.
///
/// # Errors
/// What is wrong with it.
pub fn find_list(plan: &TierPlan) -> Result<(), Error> {
    proofload_engine::tiers::check_list(plan).map_err(|fault| Error::refused(fault.to_string()))
}

/// Looks for the programs of a failover manager on this machine, and for services that are in its way.
///
/// # Errors
/// What is missing, with the package that has it, or what is in the way.
pub fn find_manager(kind: ManagerKind) -> Result<(), Error> {
    crate::managers::ready(kind)
}

fn managers() -> Vec<Diagnosis> {
    let one = |kind: ManagerKind| match find_manager(kind) {
        Ok(()) => good(kind.title(), "found"),
        Err(error) => {
            bad(kind.title(), State::Warning, "not usable; needed by drills with this manager", &error.to_string())
        }
    };
    ManagerKind::ALL.into_iter().map(one).collect()
}

/// Looks for a user that servers run as.
pub fn unprivileged_user() -> Diagnosis {
    let subject = "user for servers";
    if !crate::sys::is_root() {
        return good(subject, "this user, which is not root");
    }
    let users = trimmed("/etc/passwd").unwrap_or_default();
    let recipes = proofload_engine::ENGINES.iter().filter_map(|engine| engine.server());
    let wanted: Vec<&[&str]> =
        recipes.map(|recipe| recipe.unprivileged_users()).filter(|wanted| !wanted.is_empty()).collect();
    let exists = |name: &&&str| users.lines().any(|line| line.split(':').next() == Some(**name));
    match wanted.iter().find(|wanted| !wanted.iter().any(|name| exists(&name))) {
        None => {
            let found: Vec<&str> = wanted.iter().filter_map(|wanted| wanted.iter().find(&exists).copied()).collect();
            good(subject, format!("{}; servers refuse to run as root", found.join(", ")))
        }
        Some(missing) => bad(
            subject,
            State::Missing,
            format!("running as root, but the user {} does not exist", missing.join(" or ")),
            &format!("create one: useradd --system {}", missing[0]),
        ),
    }
}

fn governor() -> Diagnosis {
    match trimmed("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") {
        None => good("governor", "not available on this machine (usual for virtual machines)"),
        Some(word) if word == "performance" => good("governor", word),
        Some(word) => bad(
            "governor",
            State::Warning,
            word,
            "cpupower frequency-set -g performance; other governors change results",
        ),
    }
}

fn smt() -> Diagnosis {
    match trimmed("/sys/devices/system/cpu/smt/active").as_deref() {
        Some("1") => bad(
            "SMT",
            State::Warning,
            "on: two threads share a core",
            "decide whether you want this; to turn it off: echo off > /sys/devices/system/cpu/smt/control",
        ),
        Some(_) => good("SMT", "off"),
        None => good("SMT", "not reported by this machine"),
    }
}

fn swap() -> Diagnosis {
    let lines = trimmed("/proc/swaps").unwrap_or_default();
    match lines.lines().skip(1).count() {
        0 => good("swap", "off"),
        count => bad(
            "swap",
            State::Warning,
            format!("{count} areas; memory beyond a limit spills into swap"),
            "run swapoff -a while studies run",
        ),
    }
}

fn huge_pages() -> Diagnosis {
    let text = trimmed("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    match chosen(&text) {
        Some("always") => bad(
            "huge pages",
            State::Warning,
            "transparent huge pages: always",
            "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled; databases advise against always",
        ),
        Some(word) => good("huge pages", format!("transparent huge pages: {word}")),
        None => good("huge pages", "transparent huge pages are not available"),
    }
}

fn clock_source() -> Diagnosis {
    let source = trimmed("/sys/devices/system/clocksource/clocksource0/current_clocksource")
        .unwrap_or_else(|| "unknown".to_owned());
    if ["tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"].contains(&source.as_str()) {
        return good("clock source", source);
    }
    bad(
        "clock source",
        State::Warning,
        source,
        "this clock needs a system call for each reading: boot with clocksource=tsc if the machine allows it",
    )
}

fn scheduler(folder: &Path) -> Diagnosis {
    let subject = "I/O scheduler";
    let device = match crate::storages::device_of(folder) {
        Ok(device) => device,
        Err(error) => {
            return bad(subject, State::Warning, error.to_string(), "put the study's folder on a local block device");
        }
    };
    let text = trimmed(device.folder.join("queue/scheduler")).unwrap_or_default();
    match chosen(&text) {
        Some(word @ ("none" | "mq-deadline")) => good(subject, format!("{word} on {}", device.name)),
        Some(word) => bad(
            subject,
            State::Warning,
            format!("{word} on {}", device.name),
            "none is usual for NVMe: echo none > /sys/block/<device>/queue/scheduler",
        ),
        None => good(subject, format!("none available on {}", device.name)),
    }
}

/// Room below which even quick studies do not fit.
const LEAST_SPACE: Bytes = Bytes(4 << 30);

fn space(folder: &Path) -> Diagnosis {
    match free(folder) {
        Some(bytes) if bytes < LEAST_SPACE => bad(
            "free space",
            State::Warning,
            format!("{} MiB", bytes.0 >> 20),
            "quick studies need 4 GiB; `proofload plan` says what a study needs",
        ),
        Some(bytes) => good("free space", format!("{} GiB in {}", bytes.0 >> 30, folder.display())),
        None => bad(
            "free space",
            State::Warning,
            format!("cannot be read for {}", folder.display()),
            "choose another storage.path",
        ),
    }
}

fn build() -> Diagnosis {
    if cfg!(debug_assertions) {
        return bad(
            "this program",
            State::Warning,
            "a debug build: its client is many times slower",
            "cargo build --release",
        );
    }
    good("this program", "a release build")
}

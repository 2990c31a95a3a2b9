//! What a study asks of this machine, held against what there is. Starts nothing of the study.

use crate::clock::SystemClock;
use crate::commands::refused_limits::RefusedLimit;
use crate::commands::{plan, refused_limits, rights};
use crate::conductor::quiet_check::{self, Neighbours};
use proofload_analysis::disturbance::Quietness;
use proofload_engine::{ENGINES, Engine};
use proofload_model::error::Error;
use proofload_model::plan::expand;
use proofload_model::settings::{Settings, Value};
use proofload_model::study::{Study, preconditioning};
use proofload_model::units::Bytes;
use proofload_model::wire::host::{CheckQuiet, DeviceUse};
use proofload_testbed::doctor::{self, Diagnosis, State};
use proofload_testbed::quiet_check::{SPIN, check_quiet};
use serde_json::{Value as Json, json};
use std::path::Path;
use std::time::Duration;

/// Cores that the clients should have outside a limit of the database, CPU s/s; ours.
const LEFT_TO_CLIENTS: f64 = 0.3;

/// Share of the cores that a load can keep busy which a limit of CPU time may allow, if it is to be reached in every second: of simulated quotas for
/// each 0.1 s, beside steal in pieces of 5 to 30 ms, those up to it were given in full but for a hundredth.
const GIVEN: f64 = 2.0 / 3.0;

/// A piece of computing that took this many times its CPU time shows a crowded processor; ours.
const CROWDED: f64 = 2.0;

/// A durable page that takes longer waited for the writes of others: a drive of 7,200 rpm alone needs 12.7 ms (seek 8.5 ms, half a turn 4.2 ms) for
/// it and as much for the journal of its file system. Twice that; ours.
const SLOW_SYNC: Duration = Duration::from_millis(50);

/// What to do about a cache tier that cannot be served here.
const NO_TIER: &str = "have this machine provide it, or leave the storage.* settings of the tier out of the study";

/// What to do about a list that is missing or is none.
const NO_LIST: &str = "name a list in storage.cache.warm that proofload tier dump CACHE --lines --json wrote for these data, or leave out \
                       storage.cache.warm to begin with an empty cache";

/// Looks at the host.
pub(super) fn neighbours(study: &Study, folder: &Path) -> Result<Neighbours, Error> {
    let folder = folder.to_string_lossy().into_owned();
    // A study that sweeps its cores is looked at on all of them.
    let cores = study.settings.count("limits.cores").ok();
    let ask = CheckQuiet { folder, time: quiet_check::LOOK, cores, cores_before: 0 };
    let check = check_quiet(&ask, &SystemClock)?;
    let tolerated = study.settings.number("procedure.steal_tolerance").unwrap_or(1.0);
    Ok(Neighbours::of(check, tolerated))
}

impl Neighbours {
    fn is_quiet(&self) -> bool {
        matches!(self.quietness(), Quietness::Quiet | Quietness::QuietBySpin)
    }

    /// The answer in words.
    pub(super) fn verdict(&self) -> String {
        let said = self.said();
        let bar = format!("up to {:.0} % counts as quiet", 100.0 * self.tolerated);
        match self.quietness() {
            Quietness::Hidden => format!("unknown: CPU time used by others is not visible here ({said})"),
            Quietness::QuietWhereSeen => {
                format!("unknown: this host does not show {} ({said})", self.hidden().unwrap_or("everything"))
            }
            Quietness::Quiet | Quietness::QuietBySpin => format!("yes: {said}; {bar}"),
            Quietness::Busy => format!("no: {said}; {bar}"),
        }
    }

    pub(super) fn json(&self) -> Json {
        let processes: Vec<Json> =
            self.check.processes.iter().map(|one| json!({ "name": one.name, "cpu_s_per_s": one.cpu })).collect();
        json!({
            "seconds": self.check.time.as_secs_f64(), "quiet": self.is_quiet(), "taken": self.disturbance.observed(),
            "stolen": self.disturbance.stolen, "foreign": self.disturbance.foreign, "tolerated": self.tolerated,
            "spin": self.spin_share(), "device_busy": self.check.devices.map(|device| device.busy),
            "device_requests_per_s": self.check.devices.map(|device| device.requests),
            "processes": processes, "spin_p99_s": self.check.spin_p99.map(|time| time.as_secs_f64()),
            "sync_p99_s": self.check.sync_p99.map(|time| time.as_secs_f64()),
        })
    }
}

/// Whether everything that the study asks for is here.
pub(super) fn can_run(study: &Study, folder: &Path) -> Vec<Diagnosis> {
    if refused_limits::is_elsewhere(study) {
        return std::iter::once(host_under_test(study)).chain(rights::diagnoses(study)).collect();
    }
    let refused = refused_limits::refused(study);
    let mut found: Vec<Diagnosis> = lost_factors(study, &refused).into_iter().chain(limits(study, &refused)).collect();
    found.extend(memory(study));
    found.extend(space(study, folder));
    let used = used_engines(study);
    found.extend(used.iter().map(|engine| {
        let found = doctor::engine(*engine);
        let state = if found.state == State::Good { State::Good } else { State::Missing };
        Diagnosis { subject: format!("engine {}", found.subject), state, ..found }
    }));
    if used.iter().any(|engine| engine.server().is_some()) {
        found.push(doctor::unprivileged_user());
    }
    if !refused_limits::served_tiers(study).is_empty() {
        let missing = refused_limits::missing_tier(study);
        found.push(of_cache("cache tier", "can be served by FUSE and loop devices", missing, NO_TIER));
    }
    if refused_limits::has_list(study) {
        let unfit = refused_limits::unfit_list(study);
        found.push(of_cache("list that fills the cache", "read to its end", unfit, NO_LIST));
    }
    if preconditioning(&study.settings, None).is_ok_and(|how| how.is_some()) {
        let fio = doctor::fio();
        let state = if fio.state == State::Good { State::Good } else { State::Missing };
        found.push(Diagnosis { state, ..fio });
    }
    found
}

/// What is found of a cache tier, and what to do about it.
fn of_cache(subject: &str, fits: &str, missing: Option<Error>, remedy: &str) -> Diagnosis {
    match missing {
        None => Diagnosis::good(subject, fits),
        Some(why) => Diagnosis::bad(subject, State::Missing, why.to_string(), remedy),
    }
}

/// Where the database of a study is that Proofload does not start here.
fn host_under_test(study: &Study) -> Diagnosis {
    const SUBJECT: &str = "host under test";
    if refused_limits::is_server_here(study) {
        let found = "this machine by engine.url, unless a forwarded port or a container stands behind that address";
        return Diagnosis::good(SUBJECT, found);
    }
    Diagnosis::bad(
        SUBJECT,
        State::Warning,
        "(possibly) another machine (engine.url, agents.host), which was not checked; what follows is about this machine",
        "run proofload doctor with this study on that machine, without engine.url and agents.host",
    )
}

/// What a study that runs without these limits does not vary any more.
fn lost_factors(study: &Study, refused: &[RefusedLimit]) -> Option<Diagnosis> {
    let may_run = study.settings.text("limits.when_refused") == Ok("without");
    let lost = refused_limits::lost_factors(study, refused).filter(|_| may_run)?;
    Some(Diagnosis::bad("factors", State::Warning, lost, "get the limit as said below, or vary something else"))
}

/// Every limit that the study asks for; one that may be left out is no obstacle.
fn limits(study: &Study, refused: &[RefusedLimit]) -> Vec<Diagnosis> {
    let without = study.settings.text("limits.when_refused") == Ok("without");
    let asked = plan::limits(study).into_iter().filter(|(_, values)| !values.is_empty());
    let each = asked.map(|(setting, values)| {
        let values = values.join(", ");
        match refused.iter().find(|limit| limit.setting == setting) {
            None => Diagnosis::good(setting, format!("{values}; can be set and read back")),
            Some(limit) if limit.is_beyond_the_machine() => Diagnosis::bad(
                setting,
                if without { State::Warning } else { State::Missing },
                format!("{values}; {}", limit.why.cause()),
                "use less than the machine has",
            ),
            Some(limit) => Diagnosis {
                subject: setting.to_owned(),
                state: if without { State::Warning } else { State::Missing },
                found: format!("{values}; {}", limit.why.cause()),
                // The same for all of them, said once.
                remedy: refused.first().filter(|first| first.setting == setting).map(|_| ways_in_words(without)),
            },
        }
    });
    each.collect()
}

/// What gives this user the right to set limits, in one line.
fn ways_in_words(without: bool) -> String {
    let ways: Vec<String> = doctor::ways().iter().map(|way| format!("{} ({})", way.typed(), way.when)).collect();
    let ways =
        if ways.is_empty() { "check whether the kernel has the controller".to_owned() } else { ways.join("; or ") };
    match without {
        true => format!("{ways}; otherwise the limits are dropped, and the title of the result says so"),
        false => format!("{ways}; or --without-limits"),
    }
}

/// The largest value of a setting over all points.
fn largest(study: &Study, of: impl Fn(&Settings) -> Option<f64>) -> Option<f64> {
    let points = expand(study).points;
    points.iter().filter_map(|point| of(&study.settings.with(&point.levels))).reduce(f64::max)
}

/// Memory that the study lets the database have against what the machine has.
fn memory(study: &Study) -> Option<Diagnosis> {
    let asked = Bytes(largest(study, |settings| Some(settings.bytes("limits.memory").ok()?.0 as f64))? as u64);
    let has = doctor::memory()?;
    (asked <= has).then(|| {
        let found = format!("{} for the database, the machine has {}", gib(asked), gib(has));
        if asked.0 as f64 > 0.9 * has.0 as f64 {
            let remedy = "lower limits.memory to leave a tenth of the memory to the kernel and the clients";
            Diagnosis::bad("memory", State::Warning, found, remedy)
        } else {
            Diagnosis::good("memory", found)
        }
    })
}

fn space(study: &Study, folder: &Path) -> Option<Diagnosis> {
    let plan = expand(study);
    let data = plan::space(&plan::data_sizes(study, &plan).ok()?, plan::copies(study).ok()?);
    let needed = Bytes(data.0 + plan::largest_cache(study, &plan).ok()?.0);
    let shown = folder.display();
    Some(match doctor::free_space(folder) {
        Some(free) if free >= needed => {
            Diagnosis::good("space", format!("needs about {} in {shown}, {} are free", gib(needed), gib(free)))
        }
        Some(free) => Diagnosis::bad(
            "space",
            State::Missing,
            format!("needs about {} in {shown}, only {} are free", gib(needed), gib(free)),
            "choose another storage.path or use less data",
        ),
        None => Diagnosis::bad(
            "space",
            State::Warning,
            format!("needs about {} in {shown}; the free space cannot be read", gib(needed)),
            "choose another storage.path",
        ),
    })
}

/// What the neighbours mean for this study.
pub(super) fn quiet(study: &Study, neighbours: &Result<Neighbours, Error>) -> Vec<Diagnosis> {
    let neighbours = match neighbours {
        Ok(neighbours) => neighbours,
        Err(error) => {
            return vec![Diagnosis::bad(
                "others",
                State::Warning,
                error.to_string(),
                "run this where /proc is readable",
            )];
        }
    };
    let mut found = vec![claim(neighbours)];
    found.extend(allowance(study, neighbours));
    found.extend(hidden(neighbours));
    found.extend(neighbours.check.spin_p99.map(computing));
    found.extend(neighbours.check.devices.map(|device| drive(device, neighbours.tolerated)));
    found.extend(neighbours.check.sync_p99.map(durable_writes));
    found
}

/// What figures may claim while the host stays as it is.
fn claim(neighbours: &Neighbours) -> Diagnosis {
    match neighbours.is_quiet() {
        true => Diagnosis::good("figures", "as of a quiet host, while it stays like this"),
        false => Diagnosis::bad(
            "figures",
            State::Warning,
            "those of this host with its other work, not of a quiet host; only a point that always reaches a limit of the study has those of both",
            "stop the programs named above, or run with --set procedure.wait_for_quiet=10m --set procedure.retries=2; ratios inside repetitions still hold",
        ),
    }
}

/// Whether the processor gives what `limits.cpu` allows, also in the worst second that was seen, with something left for the clients; of the point
/// where that is least so.
fn allowance(study: &Study, neighbours: &Neighbours) -> Option<Diagnosis> {
    let of_point = |settings: &Settings| {
        let asked = settings.number("limits.cpu").ok()?;
        let (most, why) = largest_allowance(settings, neighbours);
        Some((asked, most, why))
    };
    let points = expand(study).points;
    let asked = points.iter().filter_map(|point| of_point(&study.settings.with(&point.levels)));
    let (asked, most, why) = asked.max_by(|one, other| (one.0 - one.1).total_cmp(&(other.0 - other.1)))?;
    let found = format!("limits.cpu allows {asked} CPU s/s; as seen here, the host provides up to {most:.2}: {why}");
    Some(if asked <= most {
        Diagnosis::good("allowance", found)
    } else {
        let remedy = "lower limits.cpu so that it is reached whatever other programs do; with limits.cpu the database's group has precedence over them";
        Diagnosis::bad("allowance", State::Warning, found, remedy)
    })
}

/// The largest limit of CPU time that a point reaches in every second beside what was seen of others, CPU s/s, and what it follows from.
fn largest_allowance(settings: &Settings, neighbours: &Neighbours) -> (f64, String) {
    let cores =
        settings.count("limits.cores").map_or(neighbours.check.cores, |cores| cores.min(neighbours.check.cores));
    let kind = settings.text("engine.kind").unwrap_or_default();
    let in_turn = ENGINES.iter().any(|engine| engine.about().name == kind && engine.writes_in_turn());
    // Its streams only read while they are measured.
    let reads_alone = settings.text("workload.kind") == Ok("warehouse");
    let (usable, busy) = match in_turn && !reads_alone {
        true => (cores.min(1), ", since sessions write one at a time"),
        false => (cores, ""),
    };
    let worst = neighbours.worst_stolen().unwrap_or(0.0);
    let given = GIVEN * f64::from(usable) * (1.0 - worst);
    let left = f64::from(cores) * (1.0 - neighbours.disturbance.at_least());
    if left - LEFT_TO_CLIENTS < given {
        let why = format!("other programs leave {left:.1}, of which the clients take {LEFT_TO_CLIENTS}");
        return ((left - LEFT_TO_CLIENTS).max(0.0), why);
    }
    let stolen = if worst > 0.0 {
        format!("; other guests took up to {:.0} % in a second", 100.0 * worst)
    } else {
        String::new()
    };
    let cores = if usable == 1 { "1 core".to_owned() } else { format!("{usable} cores") };
    (given, format!("two thirds of {cores}{busy}{stolen}"))
}

/// What figures are where others are hidden.
const OF_THIS_HOST: &str = "figures are those of this host with its other work, whatever that is; only a point that always reaches a limit of the study has those of a quiet host too";

/// What the machine hides of others, and what stands in for it; `None` where it shows everything.
fn hidden(neighbours: &Neighbours) -> Option<Diagnosis> {
    let hidden = neighbours.hidden()?;
    let instead = if neighbours.disturbance.is_blind() {
        "runs will have a thread that computes 5 ms in every 100 ms; figures are of a quiet host only by this spin probe"
    } else {
        OF_THIS_HOST
    };
    Some(Diagnosis::bad("hidden", State::Warning, format!("{hidden} cannot be seen on this machine"), instead))
}

/// What others do with the drive under the data.
fn drive(device: DeviceUse, tolerated: f64) -> Diagnosis {
    let DeviceUse { requests, busy } = device;
    let found = format!("others make {requests:.0} requests/s and keep it busy for {:.0} % of the time", 100.0 * busy);
    if busy > tolerated {
        let remedy =
            "stop what uses this drive, or choose another storage.path; if it lasts, figures are as given by this host";
        Diagnosis::bad("drive", State::Warning, found, remedy)
    } else {
        Diagnosis::good("drive", found)
    }
}

fn computing(p99: Duration) -> Diagnosis {
    let (work, took) = (milliseconds(SPIN), milliseconds(p99));
    let found = format!("work of {work} of CPU time ended after {took}, at the 99th percentile");
    if p99.as_secs_f64() > CROWDED * SPIN.as_secs_f64() {
        Diagnosis::bad("computing", State::Warning, found, "tails of response times will contain such waits")
    } else {
        Diagnosis::good("computing", found)
    }
}

fn durable_writes(p99: Duration) -> Diagnosis {
    let found = format!("one page: {} at the 99th percentile", milliseconds(p99));
    if p99 > SLOW_SYNC {
        let remedy = "commits will wait for it: stop what writes to this drive, or choose another storage.path";
        Diagnosis::bad("durable writes", State::Warning, found, remedy)
    } else {
        Diagnosis::good("durable writes", found)
    }
}

fn gib(bytes: Bytes) -> String {
    format!("{:.1} GiB", bytes.0 as f64 / f64::from(1 << 30))
}

fn milliseconds(time: Duration) -> String {
    let milliseconds = 1e3 * time.as_secs_f64();
    if milliseconds < 10.0 { format!("{milliseconds:.1} ms") } else { format!("{milliseconds:.0} ms") }
}

/// The engines of all points.
fn used_engines(study: &Study) -> Vec<&'static dyn Engine> {
    let points = expand(study).points;
    let kind = |levels| study.settings.with(levels).get("engine.kind").map(Value::to_string);
    let kinds: Vec<String> = points.iter().filter_map(|point| kind(&point.levels)).collect();
    ENGINES.iter().copied().filter(|engine| kinds.iter().any(|kind| kind == engine.facts().name)).collect()
}

/// The engines of no point, in one line; nothing of them is looked for.
pub(super) fn unused_engines(study: &Study) -> Diagnosis {
    let used: Vec<&str> = used_engines(study).iter().map(|engine| engine.facts().name).collect();
    let others = ENGINES.iter().map(|engine| engine.facts().name).filter(|name| !used.contains(name));
    Diagnosis::good("other engines", format!("not needed by this study: {}", others.collect::<Vec<_>>().join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::tier_warming::WRITE_LIST;
    use proofload_model::wire::host::{ProcessorUse, QuietCheck};

    fn seen(second: ProcessorUse, spin_ratio: Option<f64>, busy: f64) -> Neighbours {
        let check = QuietCheck {
            time: quiet_check::LOOK,
            cores: 2,
            cores_of_host: 2,
            seconds: vec![second; 10],
            processes: Vec::new(),
            spin_p99: None,
            spin_ratio,
            sync_p99: None,
            devices: Some(DeviceUse { requests: 300.0, busy }),
        };
        Neighbours::of(check, 0.05)
    }

    const OPEN: ProcessorUse = ProcessorUse { used: 0.4, stolen: Some(0.0), foreign: Some(0.0), clients: Some(0.4) };
    const BLIND: ProcessorUse = ProcessorUse { stolen: None, foreign: None, ..OPEN };

    #[test]
    fn a_server_behind_a_loopback_address_is_on_this_machine() {
        let told = |url: &str, more: &str| {
            let text = format!(
                "[study]\nname = \"s\"\ntitle = \"t\"\n[workload]\nkind = \"tprocc\"\nwarehouses = 1\nvirtual_users = 1\n\
                 [engine]\nkind = \"postgresql\"\nurl = {url:?}\n[procedure]\nrestore = \"never\"\n{more}"
            );
            let study =
                proofload_model::study::validate(&text, &[], &crate::catalogue::catalogue()).expect("it is valid");
            host_under_test(&study)
        };
        for here in
            ["postgresql://me@127.0.0.1/shop", "postgresql://me@[::1]:5433/shop", "host=/run/postgresql dbname=shop"]
        {
            let told = told(here, "");
            assert_eq!(told.state, State::Good, "{told:?}");
            assert!(told.found.starts_with("this machine by engine.url, unless") && told.remedy.is_none(), "{told:?}");
        }
        let elsewhere = told("postgresql://me@db1/shop", "");
        assert!(elsewhere.state == State::Warning && elsewhere.found.contains("another machine"), "{elsewhere:?}");
        // The address is one of the host that the load goes out from.
        let from_there =
            told("postgresql://me@localhost/shop", "[agents]\nload = [\"ssh\", \"db1\", \"proofload\", \"agent\"]\n");
        assert_eq!(from_there.state, State::Warning, "{from_there:?}");
    }

    #[test]
    fn a_list_that_cannot_be_read_comes_with_what_to_do() {
        assert_eq!(of_cache("list", "read", None, NO_LIST).state, State::Good);
        let told = of_cache("list", "read", Some(Error::refused("it begins no list")), NO_LIST);
        assert_eq!((told.state, told.found.as_str()), (State::Missing, "it begins no list"));
        let remedy = told.remedy.expect("there is something to do");
        assert!(remedy.contains("storage.cache.warm") && remedy.contains(WRITE_LIST), "{remedy}");
    }

    #[test]
    fn a_machine_that_hides_others_is_told_by_what_computing_took() {
        let free = seen(BLIND, Some(1.01), 0.0);
        assert!(
            free.is_quiet() && free.verdict().starts_with("yes: a thread that computed was kept"),
            "{}",
            free.verdict()
        );
        let crowded = seen(BLIND, Some(1.25), 0.0);
        assert!(!crowded.is_quiet() && crowded.verdict().contains("20 % of its time"), "{}", crowded.verdict());
        let unknown = seen(BLIND, None, 0.0);
        assert!(!unknown.is_quiet() && unknown.verdict().starts_with("unknown"), "{}", unknown.verdict());
        let told = [&free, &seen(OPEN, Some(1.25), 0.0)].map(|seen| hidden(seen).map(|found| found.subject));
        assert_eq!(told, [Some("hidden".to_owned()), None]);
        assert!(seen(OPEN, Some(1.25), 0.0).is_quiet(), "where others are seen, computing says nothing more");
    }

    #[test]
    fn others_on_the_drive_make_a_host_that_is_not_quiet() {
        let beside = seen(OPEN, None, 0.3);
        assert!(!beside.is_quiet() && beside.verdict().starts_with("no: "), "{}", beside.verdict());
        assert!(beside.verdict().contains("others kept the drive busy for 30 % of the time"), "{}", beside.verdict());
        let device = |busy| drive(DeviceUse { requests: 300.0, busy }, 0.05).state;
        assert_eq!([0.3, 0.04].map(device), [State::Warning, State::Good]);
    }

    #[test]
    fn what_is_found_says_what_it_means_and_what_to_type() {
        let busy = claim(&seen(OPEN, None, 0.3));
        assert!(busy.found.contains("not of a quiet host"), "{busy:?}");
        let remedy = busy.remedy.expect("there is something to do");
        assert!(remedy.contains("--set procedure.wait_for_quiet=10m --set procedure.retries=2"), "{remedy}");
        let slow = computing(Duration::from_millis(139));
        assert_eq!(slow.found, "work of 5.0 ms of CPU time ended after 139 ms, at the 99th percentile");
    }

    /// A study with this engine and limit of CPU time.
    fn limited(kind: &str, cpu: f64) -> Study {
        let text = format!(
            "[study]\nname = \"s\"\ntitle = \"t\"\n[workload]\nkind = \"tprocc\"\nwarehouses = 1\nvirtual_users = 1\n\
             [engine]\nkind = {kind:?}\n[limits]\ncpu = {cpu:?}\n"
        );
        proofload_model::study::validate(&text, &[], &crate::catalogue::catalogue()).expect("it is valid")
    }

    #[test]
    fn an_allowance_is_what_the_host_provides_in_its_worst_second() {
        let quiet = seen(OPEN, None, 0.0);
        let mut stolen = seen(OPEN, None, 0.0);
        stolen.check.seconds[3].stolen = Some(0.2);
        let crowded = seen(ProcessorUse { used: 1.6, foreign: Some(1.2), ..OPEN }, None, 0.0);
        let told = |kind: &str, cpu: f64, seen: &Neighbours| {
            let found = allowance(&limited(kind, cpu), seen).expect("the study has a limit");
            (found.state, found.found)
        };
        for (kind, cpu, seen, state, words) in [
            ("postgresql", 1.2, &quiet, State::Good, "up to 1.33: two thirds of 2 cores"),
            (
                "postgresql",
                1.5,
                &quiet,
                State::Warning,
                "limits.cpu allows 1.5 CPU s/s; as seen here, the host provides up to 1.33",
            ),
            ("sqlite", 0.6, &quiet, State::Good, "up to 0.67"),
            ("sqlite", 1.2, &quiet, State::Warning, "two thirds of 1 core, since sessions write one at a time"),
            ("postgresql", 0.6, &stolen, State::Good, "up to 0.67"),
            ("postgresql", 0.8, &stolen, State::Warning, "other guests took up to 50 % in a second"),
            ("postgresql", 0.8, &crowded, State::Warning, "other programs leave 0.8, of which the clients take 0.3"),
        ] {
            let found = told(kind, cpu, seen);
            assert!(found.0 == state && found.1.contains(words), "{kind} {cpu}: {found:?}");
        }
    }

    #[test]
    fn a_host_that_hides_processes_is_not_called_busy_for_it() {
        let no_processes = seen(ProcessorUse { foreign: None, ..OPEN }, None, 0.0);
        let told = no_processes.verdict();
        assert!(told.starts_with("unknown: this host does not show what other processes take ("), "{told}");
        let beside = seen(ProcessorUse { used: 1.0, stolen: Some(0.4), foreign: None, ..OPEN }, None, 0.0);
        assert!(!beside.is_quiet() && beside.verdict().starts_with("no: others took 40 %"), "{}", beside.verdict());
    }

    #[test]
    fn a_drive_that_others_keep_busy_is_no_good_sign() {
        let states = [25, 205].map(|time| durable_writes(Duration::from_millis(time)).state);
        assert_eq!(states, [State::Good, State::Warning]);
    }
}

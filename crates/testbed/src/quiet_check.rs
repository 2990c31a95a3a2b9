//! What others do on this host while Proofload measures nothing: a few seconds of looking, with a little work of our own, since a hypervisor
//! takes only from those who ask. Judges nothing.

use crate::limits::chosen_cores;
use crate::probes::{self, DeviceCounters, SpinPiece, device_counters, host_probes, piece, ratio_of};
use crate::storages::{BlockDevice, Devices};
use crate::sys;
use proofload_model::error::Error;
use proofload_model::samples::Reading;
use proofload_model::series::{cores, foreign};
use proofload_model::time::Clock;
use proofload_model::wire::host::{CheckQuiet, DeviceUse, ProcessUse, ProcessorUse, QuietCheck};
use rustix::fs::{Mode, OFlags};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Time on a core of one piece of work.
pub const SPIN: Duration = probes::SPIN;

/// Rest between two pieces: each core is asked for a fifth of its time, enough for steal to show in every second.
const REST: Duration = Duration::from_millis(20);

/// Time between two writes that are made durable.
const SYNC_INTERVAL: Duration = Duration::from_millis(200);

/// Bytes of such a write, a page.
const SYNCED: usize = 4096;

/// Requests that such a write may cost a device: itself, and descriptor, metadata and commit record in the journal of its file system. Source:
/// fs/jbd2/commit.c.
const REQUESTS_OF_SYNC: f64 = 4.0;

/// Processes that are named.
const NAMED: usize = 3;

/// Looks at the host for some time, at least 2 s, and at the cores that the database will be limited to. If the folder where data would lie is
/// missing, the nearest one above it that is there takes its place.
///
/// # Errors
/// `/proc` is not readable.
pub fn check_quiet(ask: &CheckQuiet, clock: &dyn Clock) -> Result<QuietCheck, Error> {
    let CheckQuiet { folder, time, cores, cores_before } = ask;
    let all = sys::allowed_cores(None)?;
    // Too few are refused when the limit is put in place.
    let limited = cores.and_then(|count| chosen_cores(&all, count, *cores_before)).map(<[usize]>::to_vec);
    let on: &[usize] = limited.as_deref().unwrap_or(&all);
    let stop = AtomicBool::new(false);
    let devices = WatchedDevices::under(Path::new(folder));
    std::thread::scope(|scope| {
        let spinning: Vec<_> = on.iter().map(|core| scope.spawn(|| spin(*core, &stop, clock))).collect();
        let syncing = scope.spawn(|| sync(Path::new(folder), &stop, clock));
        let seen = watch(*time, limited.as_deref(), clock);
        stop.store(true, Ordering::Relaxed);
        let spins: Vec<SpinPiece> = spinning.into_iter().filter_map(|thread| thread.join().ok()).flatten().collect();
        let syncs = syncing.join().unwrap_or_default();
        let HostUse { time, cores, cores_of_host, seconds, processes } = seen?;
        let spin_p99 = p99(spins.iter().map(|spin| spin.wall).collect());
        let (spin_ratio, devices) = (ratio_of(&spins), devices.and_then(|devices| devices.used(time, syncs.len())));
        let sync_p99 = p99(syncs);
        Ok(QuietCheck { time, cores, cores_of_host, seconds, processes, spin_p99, spin_ratio, sync_p99, devices })
    })
}

/// The devices under a folder with their counters at the beginning.
struct WatchedDevices(Vec<(BlockDevice, DeviceCounters)>);

impl WatchedDevices {
    fn under(folder: &Path) -> Option<Self> {
        let devices = Devices::under(folder);
        let watched = devices.all().ok()?.iter().map(|device| Some((device.clone(), device_counters(device).ok()?)));
        watched.collect::<Option<Vec<_>>>().map(Self)
    }

    /// What others did with them in a time in which we made so many writes durable.
    fn used(&self, time: Duration, syncs: usize) -> Option<DeviceUse> {
        let (mut requests, mut busy) = ([0.0; 2], Duration::ZERO);
        for (device, before) in &self.0 {
            let now = device_counters(device).ok()?;
            let [reads, writes] = now.requests();
            let [reads_before, writes_before] = before.requests();
            requests[0] += (reads - reads_before).max(0.0);
            requests[1] += (writes - writes_before).max(0.0);
            busy = busy.max(now.busy().saturating_sub(before.busy()));
        }
        (!time.is_zero()).then(|| of_others(requests, busy, time, syncs))
    }
}

/// The part of others in requests and in the time that a device was busy.
fn of_others([reads, writes]: [f64; 2], busy: Duration, time: Duration, syncs: usize) -> DeviceUse {
    let (requests, own) = (reads + writes, REQUESTS_OF_SYNC * syncs as f64);
    let foreign = reads + (writes - own).max(0.0);
    let busy = (busy.as_secs_f64() / time.as_secs_f64()).min(1.0);
    DeviceUse {
        requests: foreign / time.as_secs_f64(),
        // Below device mapper and in file systems that copy on write, a sync of our own costs more requests than we know of.
        busy: if foreign > own { busy * foreign / requests } else { 0.0 },
    }
}

/// What the probes read.
struct HostUse {
    time: Duration,
    cores: u32,
    cores_of_host: u32,
    seconds: Vec<ProcessorUse>,
    processes: Vec<ProcessUse>,
}

fn watch(time: Duration, limited: Option<&[usize]>, clock: &dyn Clock) -> Result<HostUse, Error> {
    let mut probes = host_probes(std::process::id(), limited.map(<[usize]>::to_vec))?;
    let mut read = |span: Option<Duration>| -> Result<Vec<Reading>, Error> {
        probes.iter_mut().map(|probe| probe.read(span)).collect::<Result<Vec<_>, _>>().map(|lists| lists.concat())
    };
    read(None)?;
    let begun = clock.now();
    let mut last = begun;
    let (mut seconds, mut by_name) = (Vec::new(), BTreeMap::<String, f64>::new());
    let (mut cores, mut cores_of_host) = (0, 0);
    // A host that pauses has fewer readings than it has seconds.
    while seconds.len() < 2 || clock.now().since(begun) < time.max(Duration::from_secs(2)) {
        clock.sleep(Duration::from_secs(1));
        let now = clock.now();
        let span = now.since(last);
        last = now;
        let readings = read(Some(span))?;
        let (found, second) = second(&readings, limited);
        (cores, cores_of_host) = found;
        seconds.push(second);
        for reading in readings.iter().filter(|reading| reading.name == foreign::PROCESS.name) {
            *by_name.entry(reading.component.clone()).or_default() += reading.value;
        }
    }
    let count = seconds.len() as f64;
    let mut processes: Vec<ProcessUse> =
        by_name.into_iter().map(|(name, sum)| ProcessUse { name, cpu: sum / count }).collect();
    processes.sort_by(|a, b| b.cpu.total_cmp(&a.cpu));
    processes.truncate(NAMED);
    Ok(HostUse { time: clock.now().since(begun), cores, cores_of_host, seconds, processes })
}

/// Cores in question and all cores, and a second of those in question, by default all.
fn second(readings: &[Reading], limited: Option<&[usize]>) -> ((u32, u32), ProcessorUse) {
    let is_there =
        |core: &str| limited.is_none_or(|cores| core.parse::<usize>().is_ok_and(|core| cores.contains(&core)));
    let of = |name: &'static str| readings.iter().filter(move |reading| reading.name == name);
    let sum_there = |name: &'static str| {
        let there = of(name).filter(|reading| is_there(&reading.component)).map(|reading| reading.value);
        there.reduce(|one, other| one + other).map(|percent| percent / 100.0)
    };
    let value = |name: &'static str| of(name).map(|reading| reading.value).next();
    let all = of(cores::BUSY.name).count();
    let there = of(cores::BUSY.name).filter(|reading| is_there(&reading.component)).count();
    let clients = value(foreign::CLIENT_CPU_THERE.name);
    let seen = ProcessorUse {
        used: sum_there(cores::BUSY.name).unwrap_or(0.0),
        stolen: sum_there(cores::STEAL.name),
        foreign: value(foreign::CPU.name),
        clients: clients.or_else(|| value(foreign::CLIENT_CPU.name)),
    };
    ((there as u32, all as u32), seen)
}

/// Works in pieces on one core.
fn spin(core: usize, stop: &AtomicBool, clock: &dyn Clock) -> Vec<SpinPiece> {
    // A thread that may run on several cores is put on an idle one, and sees no others until all are busy.
    if sys::restrict(sys::this_thread(), &[core]).is_err() {
        return Vec::new();
    }
    let mut found = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        found.push(piece(clock, stop));
        clock.sleep(REST);
    }
    found.retain(SpinPiece::is_whole);
    found
}

/// Writes a page and makes it durable, again and again, in a file without a name, which a kill leaves nothing of.
fn sync(folder: &Path, stop: &AtomicBool, clock: &dyn Clock) -> Vec<Duration> {
    let existing = folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("."));
    let opened =
        rustix::fs::open(existing, OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR);
    let Ok(mut file) = opened.map(File::from) else { return Vec::new() };
    let mut took = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let begun = clock.now();
        if file.write_all(&[0; SYNCED]).and_then(|()| file.sync_data()).is_err() {
            break;
        }
        took.push(clock.now().since(begun));
        clock.sleep(SYNC_INTERVAL);
    }
    took
}

/// 99th percentile, the largest of fewer than 100; `None` of nothing.
fn p99(mut values: Vec<Duration>) -> Option<Duration> {
    values.sort();
    let place = (values.len() * 99).div_ceil(100).checked_sub(1)?;
    values.get(place).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let ms = Duration::from_millis;
        assert_eq!(p99((1..=200).rev().map(ms).collect()), Some(ms(198)));
        assert_eq!((p99(vec![ms(7), ms(3)]), p99(Vec::new())), (Some(ms(7)), None));
    }

    #[test]
    fn requests_of_the_look_itself_are_not_of_others() {
        let seconds = Duration::from_secs;
        let alone = of_others([0.0, 200.0], seconds(3), seconds(10), 50);
        assert_eq!(alone, DeviceUse { requests: 0.0, busy: 0.0 }, "the page and what the journal adds");
        let mapped = of_others([0.0, 400.0], seconds(10), seconds(10), 50);
        assert_eq!((mapped.requests, mapped.busy), (20.0, 0.0), "each sync is on two devices");
        let beside = of_others([100.0, 900.0], seconds(5), seconds(10), 50);
        assert_eq!((beside.requests, beside.busy), (80.0, 0.4));
    }

    #[test]
    fn seconds_are_made_of_the_probes_readings() {
        let reading = |name: &str, component: &str, value: f64| Reading {
            name: name.to_owned(),
            component: component.to_owned(),
            unit: String::new(),
            value,
        };
        let readings = [
            reading("busy", "0", 80.0),
            reading("busy", "1", 40.0),
            reading("steal", "0", 20.0),
            reading("steal", "1", 0.0),
            reading("cpu", "", 0.5),
            reading("client_cpu", "", 0.4),
        ];
        let whole = ProcessorUse { used: 1.2, stolen: Some(0.2), foreign: Some(0.5), clients: Some(0.4) };
        assert_eq!(second(&readings, None), ((2, 2), whole));
        let limited = ProcessorUse { used: 0.4, stolen: Some(0.0), ..whole };
        assert_eq!(second(&readings, Some(&[1])), ((1, 2), limited));
        let there = [readings.as_slice(), &[reading("client_cpu_there", "", 0.1)]].concat();
        assert_eq!(second(&there, Some(&[1])).1.clients, Some(0.1), "where they ran");
        let blind = second(&readings[..2], None).1;
        assert_eq!((blind.stolen, blind.foreign), (None, None));
    }
}

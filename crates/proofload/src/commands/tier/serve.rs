//! `tier serve`: opens a pool and serves its volumes until a signal or the control socket says stop.

use super::cleaning;
use super::devices::{self, OpenDevices};
use super::ending::{ServerParts, end};
use super::guarding::guard;
use super::mounts::{Mounts, is_built};
use super::slow;
use super::ublk::{self, BlockDevices};
use super::units::{bytes, count};
use super::warming::{self, WarmingThread};
use super::words::{Faults, OriginPlace, for_volume, modes, origins, policy, pool_settings, time};
use crate::cli_tier::ServeArguments;
use crate::clock::SystemClock;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::output;
use proofload_engine::tiers::WarmList;
use proofload_model::tier::{MOST_FLUSH_DELAY_ASKED, SlowMedium};
use proofload_model::tier_cleaning::{CachePart, CleaningPlan};
use proofload_model::units::{Bytes, duration_text};
use proofload_tier::control::{ControlServer, ControlSubject};
use proofload_tier::export::{NbdServer, TierVolume};
use proofload_tier::forecast::SampleSettings;
use proofload_tier::machine::PoolSettings;
use proofload_tier::tier::{CacheInspection, Maintenance, Tier};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// Time between two looks at signals.
const LOOK: Duration = Duration::from_millis(100);
/// Looks between two looks at whether a volume has failed.
const LOOKS_PER_CHECK: u32 = 10;
/// What is said of a volume that has failed.
const FAILED: &str = "has failed and is no longer served; stop, repair it and serve again";
/// What is said of a volume whose cache failed while nothing was dirty.
const DEGRADED: &str = "lost its cache while no line was dirty and goes on in mode pass; stop, and serve again with a \
                        repaired cache, or format a new one if its origins are told to be detached";

/// What is asked for.
struct ServeOrder {
    origins: Vec<OriginPlace>,
    settings: PoolSettings,
    cleaning: CleaningPlan,
    /// Parts of the cache that the volumes may hold at most.
    quotas: Vec<Option<CachePart>>,
    slow: Option<SlowMedium>,
    /// Volumes by their place, and their sockets.
    nbd: Vec<(usize, PathBuf)>,
    within: Duration,
    /// What every flush is delayed by.
    flush_delay: Duration,
    /// Data of which references are sampled, if they are.
    sample: Option<Bytes>,
    /// Bytes per second to read for warming, at most.
    warm_rate: Bytes,
}

/// Serves.
pub(super) fn run(arguments: &ServeArguments) -> Result<Exit, Exit> {
    let wanted = wanted(arguments)?;
    serve(arguments, &wanted).map_err(|text| output::failure(false, Exit::Failure, &text))
}

fn wanted(arguments: &ServeArguments) -> Result<ServeOrder, Exit> {
    let mut faults = Faults::default();
    let origins = origins(&arguments.devices.origins, &mut faults);
    let modes = modes(&arguments.modes, &origins, &mut faults);
    let policy = faults.take("--policy", policy(&arguments.policy));
    let slow = arguments.slow.as_ref().and_then(|text| faults.take("--slow", slow::parse(text)));
    let within = time("--within", &arguments.within, &mut faults);
    let delay = arguments.flush_delay.as_ref().and_then(|text| time("--flush-delay", text, &mut faults));
    let flush_delay = delay.unwrap_or_default();
    if flush_delay > MOST_FLUSH_DELAY_ASKED {
        faults.add(format!("--flush-delay: at most {}", duration_text(MOST_FLUSH_DELAY_ASKED)));
    }
    let cleaning = cleaning::plan(&arguments.cleaning, &mut faults);
    let quotas = cleaning::quotas(&arguments.quotas, (&origins, &modes), &mut faults);
    let sample = arguments.sample.as_ref().and_then(|text| faults.take("--sample", Bytes::parse(text)));
    let warm_rate = faults.take("--warm-rate", Bytes::parse(&arguments.warm_rate)).unwrap_or(Bytes(1));
    if warm_rate.0 == 0 {
        faults.add("--warm-rate: at least 1B");
    }
    let mut nbd: Vec<(usize, PathBuf)> = Vec::new();
    for text in &arguments.nbd {
        if let Some((place, path)) = faults.take(&format!("--nbd {text}"), for_volume(text, &origins)) {
            nbd.push((place, path.into()));
        }
    }
    if arguments.fuse.is_some() && !is_built() {
        faults.add("--fuse: this program was built without FUSE; build it with its default features");
    }
    if arguments.ublk && !ublk::is_built() {
        faults.add(format!("--ublk: {}", ublk::LEFT_OUT));
    }
    let wanted = policy.zip(within).map(|(policy, within)| {
        let mut settings = pool_settings(policy, &origins, &modes);
        settings.cleaner = proofload_engine::tiers::cleaner(&cleaning);
        ServeOrder { origins, settings, cleaning, quotas, slow, nbd, within, flush_delay, sample, warm_rate }
    });
    faults.settle(false, wanted)
}

fn serve(arguments: &ServeArguments, wanted: &ServeOrder) -> Result<Exit, String> {
    let text = |error: proofload_tier::Error| error.to_string();
    // Before any thread: each inherits it.
    let guarded = guard();
    let interrupt = Interrupt::install().map_err(|error| format!("failed to listen to signals: {error}"))?;
    // Before the pool is opened: a refusal leaves it as it was.
    let left = arguments.ublk.then(ublk::release_left).transpose()?;
    let list = arguments.warm.as_deref().map(WarmList::open).transpose().map_err(|error| error.to_string())?;
    let page_cache = devices::page_cache(arguments.devices.page_cache);
    let opened = devices::open(&arguments.devices.cache, &wanted.origins, page_cache, wanted.slow.as_ref())?;
    let settings = parted(wanted, &opened).map_err(text)?;
    let tier = Tier::open(opened.devices.clone(), settings, Arc::new(SystemClock)).map_err(text)?;
    tier.delay_flushes(wanted.flush_delay).map_err(text)?;
    if let Some(data) = wanted.sample {
        let line = u64::from(tier.status().line_bytes).max(1);
        tier.sample(SampleSettings::of_data(data.0.div_ceil(line)));
    }
    let tier = Arc::new(tier);
    let (mut served, stops) = start(arguments, wanted, &tier, opened, left)?;
    served.warming = list.map(|list| WarmingThread::start(list, wanted.warm_rate.0, &tier));
    if let Err(text) = output::result(&told(arguments, wanted, &tier, &[guarded, served.lines()].concat())) {
        // The pool serves all the same.
        output::error(&text);
    }
    wait(&interrupt, &stops, &tier, wanted);
    Ok(end(served, tier, wanted.within))
}

/// The settings of a pool, with the parts of its cache in lines.
fn parted(wanted: &ServeOrder, opened: &OpenDevices) -> Result<PoolSettings, proofload_tier::Error> {
    let lines = CacheInspection::lines_in_use(&*opened.devices.cache)?;
    let mut settings = wanted.settings.clone();
    for (volume, part) in settings.volumes.iter_mut().zip(&wanted.quotas) {
        volume.quota_lines = part.map(|part| part.of_lines(lines));
    }
    Ok(settings)
}

/// Starts everything that serves; what was started ends again when a part cannot. `left`: of earlier block devices, where there are to be some.
fn start(
    arguments: &ServeArguments,
    wanted: &ServeOrder,
    tier: &Arc<Tier>,
    opened: OpenDevices,
    left: Option<Vec<String>>,
) -> Result<(ServerParts, Receiver<()>), String> {
    let text = |error: proofload_tier::Error| error.to_string();
    let (stop, stops) = sync_channel(1);
    let mut served = ServerParts { devices: Some(opened), ..ServerParts::default() };
    served.maintenance = Some(Maintenance::start(tier));
    for (place, socket) in &wanted.nbd {
        let volume = u8::try_from(*place).expect("three volumes at most");
        let service = Arc::new(TierVolume::new(Arc::clone(tier), volume));
        let name = wanted.origins[*place].class.name();
        served.nbd.push(NbdServer::start(socket, name, service).map_err(text)?);
    }
    if let Some(folder) = &arguments.fuse {
        served.mounts = Some(Mounts::start(folder, arguments.with_loop, tier, &wanted.origins)?);
    }
    if let Some(left) = left {
        served.blocks = Some(BlockDevices::start(left, tier, &wanted.origins)?);
    }
    let disks = served.devices.as_ref().map_or(Vec::new(), |opened| opened.disks.clone());
    let subject = ControlSubject { tier: Arc::clone(tier), disks, stops: stop };
    served.control = Some(ControlServer::start(&arguments.control, subject).map_err(text)?);
    Ok((served, stops))
}

/// What is served, and what it costs. The first line says that everything is in its place.
fn told(arguments: &ServeArguments, wanted: &ServeOrder, tier: &Tier, more: &[(&'static str, String)]) -> String {
    let (status, snapshot) = (tier.status(), tier.snapshot());
    let each = status.memory_bytes as f64 / f64::from(status.active_lines.max(1));
    let mut lines = vec![format!("serving: {}", arguments.devices.cache.display())];
    let mut line = |name: &str, text: String| lines.push(format!("  {name:<9} {text}"));
    line(
        "cache",
        format!(
            "{} lines of {} ({}), {} dirty, policy {}, {}",
            count(status.active_lines),
            bytes(status.line_bytes.into()),
            bytes(u64::from(status.active_lines) * u64::from(status.line_bytes)),
            count(status.dirty_lines),
            wanted.settings.policy.name(),
            if status.after_crash { "after a crash: clean lines are checked before use" } else { "after a clean stop" }
        ),
    );
    line("memory", format!("{} for the table of lines ({each:.1} B a line)", bytes(status.memory_bytes)));
    let cleaning = &wanted.cleaning;
    line("cleaner", format!("{} writes at once, {}, {}", cleaning.depth, cleaning.marks_text(), cleaning.times_text()));
    for (volume, place) in snapshot.volumes.iter().zip(&wanted.origins) {
        let quota = volume.quota_lines.map(|lines| format!(", at most {} lines", count(lines))).unwrap_or_default();
        let text = format!("{}, {}, {}{quota}", place.class.name(), bytes(volume.bytes), volume.mode.name());
        line("volume", format!("{text}, in front of {}", place.path.display()));
    }
    if let Some(medium) = &wanted.slow {
        line("slow disk", slow::text(medium));
    }
    if !snapshot.flush_times.delay.is_zero() {
        line("flushes", format!("each delayed by {}", duration_text(snapshot.flush_times.delay)));
    }
    for (place, socket) in &wanted.nbd {
        line("nbd", format!("{} at {}", wanted.origins[*place].class.name(), socket.display()));
    }
    if let Some(path) = &arguments.warm {
        let (name, text) = warming::line(path, wanted.warm_rate.0);
        line(name, text);
    }
    more.iter().for_each(|(name, text)| line(name, text.clone()));
    line("control", arguments.control.display().to_string());
    lines.join("\n")
}

/// Waits for a reason to stop; tells once of each volume that fails or loses its cache meanwhile.
fn wait(interrupt: &Interrupt, stops: &Receiver<()>, tier: &Tier, wanted: &ServeOrder) {
    let mut told: Vec<Option<&str>> = vec![None; wanted.origins.len()];
    for look in 0_u32.. {
        if interrupt.asked() || !matches!(stops.recv_timeout(LOOK), Err(RecvTimeoutError::Timeout)) {
            return;
        }
        if look % LOOKS_PER_CHECK != 0 {
            continue;
        }
        let volumes = tier.snapshot().volumes;
        for (number, ((volume, place), told)) in (0..).zip(volumes.iter().zip(&wanted.origins).zip(&mut told)) {
            let degraded = tier.is_degraded(number).then_some(DEGRADED);
            let trouble = if volume.failed { Some(FAILED) } else { degraded };
            if let Some(text) = trouble
                && told.replace(text) != Some(text)
            {
                output::error(&format!("volume {} {text}", place.class.name()));
            }
        }
    }
}

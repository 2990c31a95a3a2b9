//! An open tier of one database: opened again as it was left, or made for data that were put in its place; closed so that the next opening is
//! warm. May not know SQLite's interfaces.

use super::log_file::{LogFile, LogVolume};
use super::sized_file::SizedFile;
use crate::contract::Error;
use crate::tiers::{self, NewCache, OpenCache, ReadTier};
use proofload_model::facts::tier;
use proofload_model::samples::Fact;
use proofload_model::tier::{CONTROL_SOCKET, CachePlan, CacheSize, TierPlan};
use proofload_model::tier_cleaning::CleaningPlan;
use proofload_model::tier_warming::WarmedList;
use proofload_model::units::Bytes;
use proofload_tier::control::{ControlServer, ControlSubject};
use proofload_tier::device::{Clock, Device, LabelledFile, MachineClock};
use proofload_tier::disk::ModelledDisk;
use proofload_tier::forecast::SampleSettings;
use proofload_tier::tier::{CacheInspection, Maintenance, PoolSnapshot, Tier, TierDevices};
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// Room of a volume: sparse, so that it costs nothing.
const ROOM: u64 = 1 << 40;
/// Number of the data volume in a pool.
const DATA: u8 = 0;
/// Number of the log volume in a pool.
const LOG: u8 = 1;
/// Bytes of one read when a cache is warmed.
const WARM_BYTES: usize = 1 << 20;

/// The files of a tier.
#[derive(Debug, Clone)]
pub(super) struct TierFiles {
    /// The database's file.
    pub(super) data: PathBuf,
    /// Its log.
    pub(super) log: PathBuf,
    /// Folder of the cache and its notes.
    folder: PathBuf,
    socket: PathBuf,
}

impl TierFiles {
    /// The files of a database.
    pub(super) fn of(data: &Path) -> Self {
        let instance = data.parent().and_then(Path::parent).unwrap_or(Path::new("."));
        let socket = instance.join(CONTROL_SOCKET);
        let folder = socket.parent().unwrap_or(instance).to_owned();
        Self { data: data.to_owned(), log: with(data, "-wal"), folder, socket }
    }

    /// The label of the data, which is put beside them so that it goes when they are replaced.
    pub(super) fn data_label(&self) -> PathBuf {
        with(&self.data, "-tier")
    }

    fn log_label(&self) -> PathBuf {
        with(&self.log, "-tier")
    }

    fn cache(&self) -> PathBuf {
        self.folder.join("cache")
    }

    /// The plan that the cache was made by, as text that is only compared.
    fn made_by(&self) -> PathBuf {
        self.folder.join("made-by")
    }

    /// What became of the list that the cache was filled from when it was made.
    fn warmed(&self) -> PathBuf {
        self.folder.join("warmed")
    }

    /// Reads that; `None` where it was filled from none.
    fn warmed_list(&self) -> Option<WarmedList> {
        fs::read_to_string(self.warmed()).ok().and_then(|note| WarmedList::of_note(&note))
    }

    /// Tells whether the cache was made by a plan in that text, and filled as it asks where it names a list.
    fn has_cache_of(&self, plan: &TierPlan, made_by: &str) -> bool {
        let is_filled = || self.warmed_list().is_some_and(|warmed| warmed.is_as_asked());
        fs::read_to_string(self.made_by()).is_ok_and(|text| text == made_by)
            && (plan.cache.warming().is_none() || is_filled())
    }
}

/// A path with something after its name.
fn with(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// A tier that is open. Dropping it closes it.
pub(in crate::engines::sqlite) struct TierMount {
    /// Ends before the pool does.
    control: Option<ControlServer>,
    maintenance: Option<Maintenance>,
    tier: Option<Arc<Tier>>,
    plan: TierPlan,
    asked_size: Bytes,
    /// What became of the list that the cache was filled from when it was made.
    warmed: Option<WarmedList>,
    /// What the volumes were when it was opened.
    first: PoolSnapshot,
    data: SizedFile<File>,
    /// Bytes of the data.
    length: AtomicU64,
    log: LogFile,
    log_file: SizedFile<File>,
    is_direct: bool,
    /// Held as long as this process has the tier open.
    _lock: File,
}

impl TierMount {
    /// Opens the tier of a database, or makes one.
    ///
    /// # Errors
    /// When another process has it open, when cache and data do not belong together, or when files fail.
    pub(super) fn open(files: &TierFiles, plan: &TierPlan) -> Result<Self, Error> {
        let said = |what: &str, path: &Path| {
            let text = format!("failed to {what} {}", path.display());
            move |error: std::io::Error| Error::other(format!("{text}: {error}"))
        };
        fs::create_dir_all(&files.folder).map_err(said("create folder", &files.folder))?;
        let lock = lock(&files.folder.join("lock"))?;
        let data = open_file(&files.data, false).map_err(said("open", &files.data))?;
        let log_file = open_file(&files.log, true).map_err(said("open", &files.log))?;
        let length = data.metadata().map_err(said("inspect", &files.data))?.len();
        let log_length = log_file.metadata().map_err(said("inspect", &files.log))?.len();
        let OpenPool { tier, disk, is_direct, asked_size } = open_pool(files, plan, Bytes(length))?;
        tier.delay_flushes(plan.flush_delay.unwrap_or_default()).map_err(tier_error)?;
        let mut log = vec![0; usize::try_from(log_length).unwrap_or(usize::MAX)];
        tier.read(LOG, 0, &mut log).map_err(tier_error)?;
        let tier = Arc::new(tier);
        let maintenance = Maintenance::start(&tier);
        // Nobody listens to a wish to stop: the tier lasts as long as its sessions.
        let (stops, _) = std::sync::mpsc::sync_channel(1);
        let subject = ControlSubject { tier: Arc::clone(&tier), disks: disk.into_iter().collect(), stops };
        let control = ControlServer::start(&files.socket, subject).map_err(tier_error)?;
        let mount = Self {
            control: Some(control),
            maintenance: Some(maintenance),
            warmed: files.warmed_list(),
            first: tier.snapshot(),
            tier: Some(tier),
            asked_size,
            plan: plan.clone(),
            data: SizedFile::of(data),
            length: AtomicU64::new(length),
            log: LogFile::of(log),
            log_file: SizedFile::of(log_file),
            is_direct,
            _lock: lock,
        };
        if plan.cache.prewarm && mount.first.volumes.iter().all(|volume| volume.lines == 0) {
            mount.warm()?;
        }
        // After the cache is warmed, which who reads the sample can do with a cache of any size.
        mount.tier().sample(SampleSettings::of_data(length.div_ceil(plan.cache.line.0.max(1))));
        Ok(mount)
    }

    fn tier(&self) -> &Tier {
        self.tier.as_ref().expect("it is open until it is dropped")
    }

    /// What it was asked to be.
    pub(super) fn plan(&self) -> &TierPlan {
        &self.plan
    }

    /// What it was when it was opened, before it was warmed, and what it is now.
    #[cfg(test)]
    pub(super) fn snapshots(&self) -> (&PoolSnapshot, PoolSnapshot) {
        (&self.first, self.tier().snapshot())
    }

    /// What it was asked to be and is, as facts.
    pub(in crate::engines::sqlite) fn facts(&self) -> Vec<Fact> {
        tiers::facts(&ReadTier {
            plan: &self.plan,
            volumes: tiers::volumes(true),
            asked_size: self.asked_size,
            data: Bytes(self.data_length()),
            export: tier::EXPORT.observed("in the load agent's process, as an SQLite VFS", tiers::SOURCE),
            is_direct: self.is_direct,
            warmed: self.warmed,
            first: &self.first,
            now: &self.tier().snapshot(),
        })
    }

    /// Reads the data once in order, through the cache.
    fn warm(&self) -> Result<(), Error> {
        let (mut piece, length) = (vec![0; WARM_BYTES], self.length.load(Ordering::Acquire));
        for at in (0..length).step_by(WARM_BYTES) {
            let count = piece.len().min(usize::try_from(length - at).unwrap_or(usize::MAX));
            self.tier().read(DATA, at, &mut piece[..count]).map_err(tier_error)?;
        }
        Ok(())
    }

    /// Bytes of the data.
    pub(super) fn data_length(&self) -> u64 {
        self.length.load(Ordering::Acquire)
    }

    /// Fills a buffer as far as the data go; returns how far.
    pub(super) fn read_data(&self, at: u64, into: &mut [u8]) -> Result<usize, Error> {
        let left = usize::try_from(self.data_length().saturating_sub(at)).unwrap_or(usize::MAX);
        let count = into.len().min(left);
        self.tier().read(DATA, at, &mut into[..count]).map_err(tier_error)?;
        Ok(count)
    }

    /// Writes data, beyond their end too.
    pub(super) fn write_data(&self, at: u64, from: &[u8]) -> Result<(), Error> {
        let end = at + from.len() as u64;
        if end > self.data_length() {
            // The file is as long as the data, so that it is a database without the tier once that is clean.
            self.data.set_len(end).map_err(|error| Error::other(format!("failed to extend the data: {error}")))?;
            self.length.fetch_max(end, Ordering::AcqRel);
        }
        self.tier().write(DATA, at, from).map_err(tier_error)
    }

    /// Cuts the data, or lengthens them by zeros.
    pub(super) fn truncate_data(&self, length: u64) -> Result<(), Error> {
        let before = self.length.swap(length, Ordering::AcqRel);
        if length < before {
            self.tier().discard(DATA, length, before - length).map_err(tier_error)?;
        }
        self.data.set_len(length).map_err(|error| Error::other(format!("failed to truncate the data: {error}")))
    }

    /// Makes data durable.
    pub(super) fn sync_data(&self) -> Result<(), Error> {
        // The next opening takes the length of the file for that of the data.
        self.data
            .sync_length()
            .map_err(|error| Error::other(format!("failed to sync the length of the data: {error}")))?;
        self.tier().flush(DATA).map_err(tier_error)
    }

    /// The log.
    pub(super) fn log(&self) -> &LogFile {
        &self.log
    }

    /// Makes the log durable.
    pub(super) fn sync_log(&self) -> Result<(), Error> {
        self.log.sync(self)
    }

    /// Cuts the log, or lengthens it by zeros.
    pub(super) fn truncate_log(&self, length: u64) -> Result<(), Error> {
        let before = self.log.len();
        self.log.truncate(length);
        if length < before {
            self.tier().discard(LOG, length, before - length).map_err(tier_error)?;
        }
        self.log_file.set_len(length).map_err(|error| Error::other(format!("failed to truncate the log: {error}")))
    }
}

impl LogVolume for TierMount {
    fn write(&self, at: u64, from: &[u8]) -> Result<(), Error> {
        let end = at + from.len() as u64;
        let failed = |error| Error::other(format!("failed to extend the log: {error}"));
        if self.log_file.file().metadata().map_err(failed)?.len() < end {
            self.log_file.set_len(end).map_err(failed)?;
        }
        self.tier().write(LOG, at, from).map_err(tier_error)
    }

    fn flush(&self) -> Result<(), Error> {
        let failed = |error| Error::other(format!("failed to sync the length of the log: {error}"));
        self.log_file.sync_length().map_err(failed)?;
        self.tier().flush(LOG).map_err(tier_error)
    }
}

impl Drop for TierMount {
    fn drop(&mut self) {
        drop(self.control.take());
        drop(self.maintenance.take());
        if let Some(tier) = self.tier.take().and_then(Arc::into_inner) {
            // Where closing fails, the next opening recovers as after a crash.
            let _closed = tier.close();
        }
    }
}

/// An error of the tier.
fn tier_error(error: proofload_tier::Error) -> Error {
    Error::other(format!("cache tier: {error}"))
}

/// Takes the lock of a tier.
fn lock(path: &Path) -> Result<File, Error> {
    let told = |error: std::io::Error| Error::other(format!("failed to open {}: {error}", path.display()));
    let file = open_file(path, true).map_err(told)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => Err(Error::other(format!(
            "failed to lock {}: another process has the cache tier open; end it first",
            path.display()
        ))),
        Err(fs::TryLockError::Error(error)) => Err(told(error)),
    }
}

fn open_file(path: &Path, make: bool) -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).create(make).truncate(false).open(path)
}

/// A pool that was opened or made.
struct OpenPool {
    tier: Tier,
    /// The modelled drives; `None` where the slow medium is no model.
    disk: Option<Arc<ModelledDisk>>,
    /// Whether the cache is read and written without the page cache of the operating system.
    is_direct: bool,
    /// Room for lines that was asked for when the cache was made.
    asked_size: Bytes,
}

/// Opens the pool of a database as it was left, where its data are still those, the plan and its list are the same, the cache was filled as the
/// plan asks and the pool has not given it up; else makes one.
fn open_pool(files: &TierFiles, plan: &TierPlan, data: Bytes) -> Result<OpenPool, Error> {
    let clock: Arc<dyn Clock> = Arc::new(MachineClock::new());
    let volumes = tiers::volumes(true);
    // A label without a cache, or a cache whose label went with the data that it was before, is of no use.
    let is_left = files.data_label().exists() && files.log_label().exists() && files.cache().exists();
    // Neither a delay of flushes nor the way of cleaning nor quotas make another cache.
    let cache = CachePlan { cleaning: CleaningPlan::usual(), quotas: Vec::new(), ..plan.cache.clone() };
    let asked = TierPlan { flush_delay: None, cache, ..plan.clone() };
    let asked = format!("{asked:?}, list {:?}", list_version(plan));
    let mut is_same = is_left && files.has_cache_of(plan, &asked);
    let labelled = |content: &Path, label: &Path| -> Result<Arc<dyn Device>, Error> {
        Ok(Arc::new(LabelledFile::open(content, label, ROOM).map_err(tier_error)?))
    };
    let devices = (labelled(&files.data, &files.data_label())?, labelled(&files.log, &files.log_label())?);
    let disks = tiers::disks(&plan.slow, data, devices.0.clone(), devices.1.clone(), Arc::clone(&clock));
    let slow: Vec<Arc<dyn Device>> = match &disks {
        Some([data, log]) => vec![data.clone(), log.clone()],
        None => vec![devices.0.clone(), devices.1.clone()],
    };
    // At the speed of the files: nobody measures.
    let content = [devices.0, devices.1];
    if is_left && !is_same {
        tiers::empty_cache(&files.cache(), volumes, content.to_vec(), Arc::clone(&clock))?;
    }
    let make = || -> Result<(), Error> {
        let _none = fs::remove_file(files.made_by());
        tiers::make_cache(&files.cache(), plan, data, &slow)?;
        fill_cache(files, plan, content.to_vec())?;
        noted(&files.made_by(), &asked)
    };
    let open = || -> Result<_, Error> {
        let OpenCache { device, is_direct } = tiers::open_cache(&files.cache())?;
        // What is no cache is refused when it is opened.
        let lines = CacheInspection::lines_in_use(&*device).unwrap_or(u32::MAX);
        let devices = TierDevices { cache: device, origins: slow.clone() };
        Ok((Tier::open(devices, tiers::settings(plan, volumes, lines), Arc::clone(&clock)), is_direct))
    };
    if !is_same {
        make()?;
    }
    let (mut opened, mut is_direct) = open()?;
    if is_same && opened.as_ref().is_err_and(proofload_tier::Error::is_detached) {
        // The files have everything: a pool sets them free only when nothing is dirty.
        is_same = false;
        make()?;
        (opened, is_direct) = open()?;
    }
    let tier = opened.map_err(tier_error)?;
    let made = Bytes(u64::from(tier.status().active_lines) * plan.cache.line.0);
    let is_part = matches!(plan.cache.size, CacheSize::PercentOfData(_));
    let asked_size = if is_same && is_part { made } else { plan.cache.size.before(data) };
    Ok(OpenPool { tier, disk: disks.map(|[data, _]| data), is_direct, asked_size })
}

/// Length of the list of a plan, and the time at which it was written; `None` where it is not there.
fn list_version(plan: &TierPlan) -> Option<(u64, Option<SystemTime>)> {
    let found = fs::metadata(&plan.cache.warming()?.list).ok()?;
    Some((found.len(), found.modified().ok()))
}

/// Fills a cache that was just made from the list of its plan, and notes what became of its lines.
fn fill_cache(files: &TierFiles, plan: &TierPlan, origins: Vec<Arc<dyn Device>>) -> Result<(), Error> {
    let _none = fs::remove_file(files.warmed());
    let (path, clock) = (files.cache(), Arc::new(MachineClock::new()));
    // Volumes have far more room than the files have bytes.
    let contents = [length_of(&files.data)?, length_of(&files.log)?];
    let cache = NewCache { path: &path, plan, volumes: tiers::volumes(true), contents: &contents, origins, clock };
    tiers::warm_cache(cache)?.map_or(Ok(()), |warmed| noted(&files.warmed(), &warmed.note()))
}

fn length_of(path: &Path) -> Result<Bytes, Error> {
    let failed = |error| Error::other(format!("failed to inspect {}: {error}", path.display()));
    fs::metadata(path).map(|found| Bytes(found.len())).map_err(failed)
}

/// Writes a note beside a cache.
fn noted(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(|error| Error::other(format!("failed to write {}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::super::tests::plan;
    use super::*;
    use proofload_model::tier::{DriveModel, TierVolume};
    use std::time::Duration;

    #[test]
    fn a_cache_that_was_given_up_is_replaced_by_an_empty_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = TierFiles::of(&folder.path().join("data/database"));
        fs::create_dir_all(files.data.parent().expect("a folder")).expect("makes");
        fs::create_dir_all(&files.folder).expect("makes");
        fs::write(&files.data, vec![0_u8; 1 << 16]).expect("writes");
        fs::write(&files.log, "").expect("writes");
        let mut plan = plan(CacheSize::Bytes(Bytes::mebi(1)), &[TierVolume::Data, TierVolume::Log]);
        plan.slow.drive = DriveModel::NotModelled;
        let opened = |plan: &TierPlan| open_pool(&files, plan, Bytes(1 << 16)).expect("opens").tier;
        // With the same plan, and with one that asks for another cache.
        for line in [plan.cache.line, plan.cache.line, Bytes(16384)] {
            plan.cache.line = line;
            let tier = opened(&plan);
            tier.write(DATA, 0, &[7; 8192]).expect("writes");
            // A pool whose cache fails while nothing is dirty leaves its volumes in the same way.
            tier.detach(Duration::from_secs(100)).expect("sets free");
            drop(tier);
            assert_eq!(fs::read(&files.data).expect("reads")[..8192], [7; 8192]);
            let tier = opened(&plan);
            assert_eq!(u64::from(tier.status().line_bytes), line.0);
            let mut bytes = [0; 8192];
            tier.read(DATA, 0, &mut bytes).expect("reads");
            assert_eq!(bytes, [7; 8192]);
            tier.detach(Duration::from_secs(100)).expect("sets free");
        }
    }
}

//! The storage `tier`: volumes with a cache before them, served by a process of this program, mounted, read back, and given back without a
//! cache. May not know an engine beyond where it keeps its log.

use super::super::Devices;
use super::super::storage::{AttachedStorage, Storage, StorageOrder};
use super::super::volume::is_mounted;
use super::log_folder;
use super::mounts::{expect_released, mount_file, mount_served, mounted_file, unmount, unmount_dead};
use super::needs::needs;
use super::server_command::server_command;
use super::tier_place::{ENDING, TierPlace};
use crate::instances::{Launch, Server, StopSignals, launch};
use crate::snapshots;
use crate::sys;
use proofload_engine::tiers::{self, NewCache, ReadTier};
use proofload_model::error::Error;
use proofload_model::facts::tier;
use proofload_model::samples::Fact;
use proofload_model::tier::{TIER, TierPlan, TierVolume};
use proofload_model::tier_warming::WarmedList;
use proofload_model::units::Bytes;
use proofload_tier::control::ControlClient;
use proofload_tier::device::{Device, FileDevice, MachineClock, PageCache};
use proofload_tier::tier::PoolSnapshot;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Signals by which the server of a tier is stopped: SIGTERM, after which it makes everything durable, and SIGKILL.
const SIGNALS: StopSignals = StopSignals { polite: 15, firm: 9, patience: Duration::from_secs(90) };

/// What a server reads and writes, for people and as it is read back.
const EXPORT: &str = "FUSE files and direct loop devices, ext4";

/// SIGKILL.
const KILL: i32 = 9;

/// The storage `tier`.
pub(in super::super) struct TierVolumes;

impl Storage for TierVolumes {
    fn name(&self) -> &'static str {
        TIER
    }

    fn attach(&self, order: &StorageOrder<'_>) -> Result<Box<dyn AttachedStorage>, Error> {
        let plan = order.place.tier.as_deref().ok_or_else(|| Error::refused("the storage has no tier"))?;
        needs(plan)?;
        let folder = order.data.parent().unwrap_or(order.data);
        let folder = fs::canonicalize(folder)
            .map_err(|error| Error::new(format!("failed to look at the volume {}: {error}", folder.display())))?;
        let engine = proofload_engine::engine(&order.place.engine);
        let log = engine.and_then(|engine| engine.server()).and_then(|recipe| recipe.log_folder());
        let mut served = ServedTier {
            place: TierPlace::of(&folder),
            data: order.data.to_owned(),
            plan: plan.clone(),
            volumes: tiers::volumes(log.is_some()),
            size: Bytes(0),
            is_direct: true,
            warmed: None,
            server: None,
            first: None,
        };
        served.prepare(log)?;
        served.serve(order)?;
        Ok(Box::new(served))
    }
}

/// A tier that is served. Dropping it gives the data back as they are without one.
#[derive(Debug)]
struct ServedTier {
    place: TierPlace,
    data: PathBuf,
    plan: TierPlan,
    /// Its volumes in the order of their numbers.
    volumes: &'static [TierVolume],
    /// Data behind the cache when it was made.
    size: Bytes,
    /// Whether the cache is read and written without the page cache of the operating system.
    is_direct: bool,
    /// What became of the list that the cache was filled from.
    warmed: Option<WarmedList>,
    server: Option<Server>,
    /// What it was when it was opened.
    first: Option<PoolSnapshot>,
}

impl ServedTier {
    /// Makes a cache before the volumes, empty or filled from the list of its plan, which nothing is mounted from afterwards.
    fn prepare(&mut self, log: Option<&str>) -> Result<(), Error> {
        let folder = self.place.folder();
        // The user of a server passes through.
        let made = fs::create_dir_all(folder)
            .and_then(|()| fs::set_permissions(folder, fs::Permissions::from_mode(0o711)))
            .and_then(|()| fs::create_dir_all(self.place.files()));
        made.map_err(|error| Error::new(format!("failed to create {}: {error}", folder.display())))?;
        free_of_cache(&self.place)?;
        if let Some(log) = log {
            let size = fs::metadata(self.place.data_origin()).map_or(0, |found| found.len());
            log_folder::lay_apart(&self.place, &self.data, log, Bytes(size))?;
        }
        self.size = snapshots::size_of(&self.data)?;
        unmount(&self.place.instance)?;
        expect_released(&self.place.data_origin())?;
        let file = self.place.lay_out_cache(self.plan.cache.folder.as_deref())?;
        let origins = origins(&self.place)?;
        tiers::make_cache(&file, &self.plan, self.size, &origins)?;
        let clock = Arc::new(MachineClock::new());
        // File systems have data anywhere.
        let contents = vec![Bytes(u64::MAX); self.volumes.len()];
        let (plan, volumes) = (&self.plan, self.volumes);
        let cache = NewCache { path: &file, plan, volumes, contents: &contents, origins, clock };
        self.warmed = tiers::warm_cache(cache)?;
        self.is_direct = tiers::open_cache(&self.place.cache())?.is_direct;
        Ok(())
    }

    /// Starts the server and mounts its volumes.
    fn serve(&mut self, order: &StorageOrder<'_>) -> Result<(), Error> {
        let control = self.place.control();
        let means = order.means;
        let server = launch(Launch {
            instance: means.instance,
            command: server_command(means.program, &self.place, &self.plan, self.volumes, (self.size, self.is_direct))?,
            folder: self.place.folder(),
            log: self.place.server_log(),
            user: None,
            signals: SIGNALS,
            runs: None,
            port: 0,
            address: control.display().to_string(),
            answers: &|_| ControlClient::connect(&control).map(drop).map_err(tier_error),
            limits: None,
            clock: means.clock,
            events: means.events,
            remains: &means.remains,
        });
        self.server = Some(server.map_err(|error| error.context("failed to serve the cache tier"))?);
        self.first = Some(self.read()?);
        mount_served(&self.place.files().join(TierVolume::Data.word()), &self.place.instance)?;
        if self.volumes.contains(&TierVolume::Log) {
            mount_served(&self.place.files().join(TierVolume::Log.word()), &self.place.log())?;
        }
        Ok(())
    }

    fn read(&self) -> Result<PoolSnapshot, Error> {
        let client = ControlClient::connect(&self.place.control()).map_err(tier_error)?;
        client.reading().map(|reading| reading.pool).map_err(tier_error)
    }

    /// Whether all volumes are mounted from the files that are served, by direct devices.
    fn is_mounted(&self) -> bool {
        let folder = |volume: &TierVolume| match volume {
            TierVolume::Data => self.place.instance.clone(),
            TierVolume::Log => self.place.log(),
        };
        self.volumes.iter().all(|volume| {
            mounted_file(&folder(volume)).is_some_and(|(file, direct)| direct && file.starts_with(self.place.files()))
        })
    }
}

impl AttachedStorage for ServedTier {
    fn folder(&self) -> &Path {
        &self.data
    }

    fn devices(&self) -> Devices {
        Devices::under(&self.data)
    }

    fn processes(&self) -> Vec<u32> {
        self.server.iter().flat_map(Server::roots).collect()
    }

    fn control(&self) -> Option<PathBuf> {
        Some(self.place.control())
    }

    /// The drives stop being slow: checks are not what is measured.
    fn release(&self) -> Result<(), Error> {
        ControlClient::connect(&self.place.control()).and_then(|client| client.free_disks()).map_err(tier_error)
    }

    fn verify(&self) -> Vec<Fact> {
        let is_mounted = self.is_mounted();
        let export = tier::EXPORT.compared(EXPORT, is_mounted.then_some(EXPORT), is_mounted, "the mounts and loop/dio");
        let now = match self.read() {
            Ok(now) => now,
            Err(error) => return vec![tier::EXPORT.compared(EXPORT, None::<String>, false, error.to_string())],
        };
        tiers::facts(&ReadTier {
            plan: &self.plan,
            volumes: self.volumes,
            asked_size: self.plan.cache.size.before(self.size),
            data: self.size,
            export,
            is_direct: self.is_direct,
            warmed: self.warmed,
            first: self.first.as_ref().unwrap_or(&now),
            now: &now,
        })
    }

    fn detach(&mut self) -> Result<(), Error> {
        unmount(&self.place.instance)?;
        unmount(&self.place.log())?;
        self.server.take().map_or(Ok(()), Server::stop)?;
        self.volumes.iter().try_for_each(|volume| expect_released(&self.place.files().join(volume.word())))?;
        give_back(&self.place)
    }
}

impl Drop for ServedTier {
    fn drop(&mut self) {
        let _as_far_as_it_goes = (unmount_served(&self.place, unmount), unmount(&self.place.log()));
        drop(self.server.take());
        let _dead = (unmount_served(&self.place, unmount_dead), unmount_dead(&self.place.log()));
        // What cannot be done now the next sweep does.
        let _swept_later = give_back(&self.place);
    }
}

/// The slow volumes of a tier, as devices.
fn origins(place: &TierPlace) -> Result<Vec<Arc<dyn Device>>, Error> {
    let files = [place.data_origin(), place.log_origin()].into_iter().filter(|file| file.exists());
    let open =
        |file: PathBuf| FileDevice::open(&file, PageCache::Used).map(|device| Arc::new(device) as Arc<dyn Device>);
    files.map(|file| open(file).map_err(tier_error)).collect()
}

/// Unmounts the folder of an instance where it is mounted by its tier.
fn unmount_served(place: &TierPlace, unmount: fn(&Path) -> Result<(), Error>) -> Result<(), Error> {
    match mounted_file(&place.instance) {
        Some((file, _)) if file.starts_with(place.files()) => unmount(&place.instance),
        _ => Ok(()),
    }
}

/// Writes what a cache alone has to the volumes and removes it.
fn free_of_cache(place: &TierPlace) -> Result<(), Error> {
    let cache = place.cache();
    // A link alone is what is left where a cache was about to be made.
    if cache.exists() {
        let volumes = tiers::volumes(place.log_origin().exists());
        tiers::empty_cache(&cache, volumes, origins(place)?, Arc::new(MachineClock::new()))?;
    }
    place.remove_cache()
}

/// Mounts the data as they are without a tier that is no longer served, with their log in them. What a server that was killed has left goes
/// first.
fn give_back(place: &TierPlace) -> Result<(), Error> {
    release_files(&place.files())?;
    free_of_cache(place)?;
    if !is_mounted(&place.instance) {
        mount_file(&place.data_origin(), &place.instance)?;
    }
    log_folder::put_back(place, &snapshots::data_folder(&place.instance))
}

/// Gives back the data of tiers directly below a study's folder that a dead agent has left; tells what was found, in words.
///
/// # Errors
/// A process does not die, or a cache does not belong to its volumes.
pub(in super::super) fn sweep(folder: &Path) -> Result<Vec<String>, Error> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let instance = |entry: fs::DirEntry| Some(folder.join(entry.file_name().to_str()?.strip_suffix(ENDING)?));
    let mut found = Vec::new();
    for place in entries.filter_map(instance).map(|instance| TierPlace::of(&instance)) {
        let failed =
            |error: std::io::Error| Error::new(format!("failed to clean up {}: {error}", place.folder().display()));
        let absolute = fs::canonicalize(folder).map_err(failed)?;
        let place = TierPlace::of(&absolute.join(place.instance.file_name().unwrap_or_default()));
        for process in servers(&place) {
            sys::signal(process, KILL);
            found.push(format!("ended process {process}, left serving a cache tier"));
        }
        unmount_served(&place, unmount_dead)?;
        unmount_dead(&place.log())?;
        let is_left = place.cache().exists();
        give_back(&place)?;
        if is_left {
            found.push(format!("freed {} of its cache tier", place.instance.display()));
        }
        fs::remove_dir_all(place.folder()).map_err(failed)?;
    }
    Ok(found)
}

/// Processes that serve a tier: those of its command in its folder, and nobody who only looks into it.
fn servers(place: &TierPlace) -> Vec<u32> {
    let cache = place.cache();
    let serves = |process: &u32| {
        let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let mut words = line.split(|byte| *byte == 0).skip(1);
        words.next() == Some(b"tier")
            && words.next() == Some(b"serve")
            && words.next() == Some(cache.as_os_str().as_encoded_bytes())
    };
    sys::working_below(place.folder()).into_iter().filter(serves).collect()
}

#[cfg(feature = "fuse")]
fn release_files(folder: &Path) -> Result<(), Error> {
    if !folder.parent().is_some_and(Path::exists) {
        return Ok(());
    }
    proofload_tier::export::FuseServer::release_left(folder).map_err(tier_error)
}

#[cfg(not(feature = "fuse"))]
#[expect(clippy::unnecessary_wraps, reason = "the same as with the feature")]
fn release_files(_folder: &Path) -> Result<(), Error> {
    Ok(())
}

fn tier_error(error: proofload_tier::Error) -> Error {
    Error::new(format!("cache tier: {error}"))
}

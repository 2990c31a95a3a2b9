//! Requests of a seed on a small pool, with a look at what a crash would leave after calls of its devices.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proofload_tier::layout::Geometry;
use proofload_tier::machine::{CacheMode, PoolSettings};
use proofload_tier::policy::PolicyChoice;
use proofload_tier::tier::Tier;

use crate::model::{Model, UNIT, bytes_of};
use crate::states::{Images, check, devices_of, materialise, read_all};
use crate::support::{Call, Dice, MemoryDevice, Store, TestClock, devices, format_settings, pool};

/// Blocks of each volume.
const BLOCKS: usize = 24;
/// Requests between two crashes.
const REQUESTS: u64 = 60;
/// Crashes of one trial after which it goes on with what is left.
const CRASHES: u64 = 4;

/// One trial.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    seed: u64,
    line_bytes: u32,
    lines: u32,
    settings: PoolSettings,
    /// Calls of devices for one that fails; 0 when none does.
    fault_every: u64,
    /// Whether the cache device says that it has synced and has not.
    lies_about_sync: bool,
    /// Whether an origin leaves the end of the last of several writes out of the sync behind them.
    syncs_too_early: bool,
}

impl Trial {
    fn new(seed: u64, modes: &[CacheMode]) -> Self {
        let mut dice = Dice(seed);
        let volumes = 1 + dice.below(2) as usize;
        let mut settings = pool(CacheMode::WriteBack, volumes);
        for volume in &mut settings.volumes {
            volume.mode = modes[dice.below(modes.len() as u64) as usize];
        }
        settings.policy = PolicyChoice::ALL[dice.below(6) as usize];
        settings.verify_every_read = dice.one_in(2);
        settings.cleaner.batch_lines = 1 + dice.below(8) as u32;
        settings.cleaner.bypass_from = [0.3, 0.9, 1.1][dice.below(3) as usize];
        let line_bytes = [4096, 8192, 8192, 16384][dice.below(4) as usize];
        let lines = 8 + dice.below(16) as u32;
        settings.cleaner.depth = [1, 2, 4, 8][dice.below(4) as usize];
        Self { seed, line_bytes, lines, settings, fault_every: 0, lies_about_sync: false, syncs_too_early: false }
    }

    pub(crate) fn write_back(seed: u64) -> Self {
        Self::new(seed, &[CacheMode::WriteBack])
    }

    /// A cache device that says that it has synced and has not.
    pub(crate) fn lying(seed: u64) -> Self {
        Self { lies_about_sync: true, ..Self::write_back(seed) }
    }

    /// Origins whose sync does not wait for the last of several writes that are under way at once.
    pub(crate) fn hasty(seed: u64) -> Self {
        Self { syncs_too_early: true, ..Self::write_back(seed) }
    }

    pub(crate) fn any_mode(seed: u64) -> Self {
        Self::new(seed, &[CacheMode::WriteBack, CacheMode::WriteThrough, CacheMode::WriteAround, CacheMode::Pass])
    }

    pub(crate) fn faulty(seed: u64) -> Self {
        Self { fault_every: 20 + seed % 200, ..Self::any_mode(seed) }
    }
}

/// What the hooks of the devices share.
struct Watch {
    model: Mutex<Model>,
    dice: Mutex<Dice>,
    stores: Vec<Arc<Mutex<Store>>>,
    settings: PoolSettings,
    checked: Arc<AtomicU64>,
    seed: u64,
    calls: AtomicU64,
}

impl Watch {
    /// Checks a state after a crash now, one time in a few.
    fn look(&self) {
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        let mut dice = self.dice.lock().unwrap();
        if !dice.one_in(4) {
            return;
        }
        let images = materialise(&self.stores, &mut dice);
        self.checked.fetch_add(1, Ordering::SeqCst);
        let what = format!("seed {} after call {call}", self.seed);
        check(&images, &self.model.lock().unwrap(), &self.settings, &what);
    }
}

/// Drives one trial.
pub(crate) struct Explorer {
    trial: Trial,
    dice: Dice,
    watch: Arc<Watch>,
    cache: Arc<MemoryDevice>,
    origins: Vec<Arc<MemoryDevice>>,
    clock: Arc<TestClock>,
    faults: Arc<AtomicBool>,
}

impl Explorer {
    /// Runs a trial to its end and returns the number of states that were checked.
    pub(crate) fn run(trial: Trial) -> u64 {
        let checked = Arc::new(AtomicU64::new(0));
        let volumes = trial.settings.volumes.len();
        let units = BLOCKS * trial.line_bytes as usize / UNIT;
        let mut model = Model::new(volumes, units);
        let mut images = formatted(&trial);
        for life in 0..CRASHES {
            let mut explorer = Self::new(trial.clone(), &images, model, life, checked.clone());
            explorer.live();
            images = materialise(&explorer.watch.stores, &mut explorer.dice);
            model = explorer.watch.model.lock().unwrap().clone();
        }
        checked.load(Ordering::SeqCst)
    }

    fn new(trial: Trial, images: &Images, model: Model, life: u64, checked: Arc<AtomicU64>) -> Self {
        let mut dice = Dice(trial.seed * 100 + life);
        let (cache, origins) = devices_of(images);
        let stores = std::iter::once(&cache).chain(&origins).map(|device| device.store.clone()).collect();
        let watch = Arc::new(Watch {
            model: Mutex::new(model),
            dice: Mutex::new(Dice(dice.roll())),
            stores,
            settings: trial.settings.clone(),
            checked,
            seed: trial.seed,
            calls: AtomicU64::new(0),
        });
        let faults = Arc::new(AtomicBool::new(false));
        let explorer = Self { trial, dice, watch, cache, origins, clock: Arc::default(), faults };
        for (place, origin) in (1..).zip(&explorer.origins) {
            *origin.overlap.lock().unwrap() = Dice(explorer.trial.seed * 1_000 + life * 10 + place);
        }
        explorer.set_hooks();
        explorer
    }

    fn set_hooks(&self) {
        for device in std::iter::once(&self.cache).chain(&self.origins) {
            let watch = self.watch.clone();
            *device.after.lock().unwrap() = Some(Box::new(move || watch.look()));
        }
        if self.trial.syncs_too_early {
            self.origins.iter().for_each(sync_too_early);
        } else if self.trial.lies_about_sync {
            let store = self.cache.store.clone();
            let data = geometry_of(&self.trial).byte_of_line(0) as usize;
            *self.cache.before.lock().unwrap() = Some(Box::new(move |call| {
                if call == Call::Sync {
                    // What the device forgets is never durable, whatever it says.
                    store.lock().unwrap().pending.retain(|(at, _)| *at < data);
                }
                Ok(())
            }));
        } else if self.trial.fault_every > 0 {
            for (place, device) in std::iter::once(&self.cache).chain(&self.origins).enumerate() {
                let (faults, every) = (self.faults.clone(), self.trial.fault_every);
                let mut dice = Dice(self.trial.seed * 31 + place as u64);
                device.fail_when(move |_| faults.load(Ordering::SeqCst) && dice.one_in(every));
            }
        }
    }

    /// Opens the pool, reads all of it, and sends requests.
    fn live(&mut self) {
        let what = format!("seed {}", self.trial.seed);
        let devices = devices(&self.cache, &self.origins);
        let tier = Tier::open(devices, self.trial.settings.clone(), self.clock.clone());
        let tier = tier.unwrap_or_else(|error| panic!("{what}: {error}"));
        let before = self.watch.model.lock().unwrap().clone();
        for volume in 0..self.origins.len() {
            let bytes = read_all(&tier, volume as u8);
            before.check_recovered(volume, &bytes, &what);
            self.watch.model.lock().unwrap().settle(volume, &bytes);
        }
        self.faults.store(true, Ordering::SeqCst);
        for _ in 0..REQUESTS {
            self.request(&tier);
            self.clock.advance(Duration::from_millis(self.dice.below(200)));
        }
        if self.dice.one_in(4) {
            // An error leaves the cache as after a crash.
            drop(tier.close());
        }
        self.faults.store(false, Ordering::SeqCst);
    }

    fn request(&mut self, tier: &Tier) {
        let volume = self.dice.below(self.origins.len() as u64) as usize;
        match self.dice.below(100) {
            0..45 => self.write(tier, volume),
            45..65 => self.read(tier, volume),
            65..75 => {
                if tier.flush(volume as u8).is_ok() {
                    self.watch.model.lock().unwrap().flushed(volume);
                }
            }
            75..80 => self.discard(tier, volume),
            80..92 => drop(tier.clean()),
            92..96 => drop(tier.tend()),
            96 => drop(tier.checkpoint()),
            97 => drop(tier.drain(Duration::from_millis(self.dice.below(5)))),
            98 => self.resize(tier),
            _ => {
                let modes = [CacheMode::WriteBack, CacheMode::WriteThrough, CacheMode::WriteAround, CacheMode::Pass];
                let mode = modes[self.dice.below(4) as usize];
                tier.set_mode(volume as u8, mode).expect("the volume exists");
            }
        }
    }

    fn resize(&mut self, tier: &Tier) {
        let lines = 8 + self.dice.below(u64::from(self.trial.lines) - 7) as u32;
        drop(tier.resize(lines, Duration::from_millis(50)));
    }

    /// Some units: a sector, a block, a few units, or several blocks.
    fn range(&mut self) -> std::ops::Range<usize> {
        let per_block = self.trial.line_bytes as usize / UNIT;
        let all = BLOCKS * per_block;
        let length = match self.dice.below(4) {
            0 => 8,
            1 => 1 + self.dice.below(20) as usize,
            2 => per_block * 3,
            _ => per_block,
        };
        // A few blocks get most of the requests.
        let blocks = if self.dice.one_in(2) { BLOCKS as u64 / 4 } else { BLOCKS as u64 };
        let mut first = self.dice.below(blocks) as usize * per_block;
        if length < per_block {
            first += self.dice.below(per_block as u64) as usize;
        }
        first..(first + length).min(all)
    }

    fn write(&mut self, tier: &Tier, volume: usize) {
        let units = self.range();
        let value = self.watch.model.lock().unwrap().fresh();
        self.watch.model.lock().unwrap().begin(volume, units.clone(), value);
        let bytes = bytes_of(value, units.len());
        let done = tier.write(volume as u8, (units.start * UNIT) as u64, &bytes);
        self.watch.model.lock().unwrap().end(volume, units, done.is_ok());
    }

    fn discard(&mut self, tier: &Tier, volume: usize) {
        let units = self.range();
        self.watch.model.lock().unwrap().begin(volume, units.clone(), 0);
        let done = tier.discard(volume as u8, (units.start * UNIT) as u64, (units.len() * UNIT) as u64);
        self.watch.model.lock().unwrap().end(volume, units, done.is_ok());
    }

    fn read(&mut self, tier: &Tier, volume: usize) {
        let units = self.range();
        let mut bytes = vec![0xa5; units.len() * UNIT];
        if tier.read(volume as u8, (units.start * UNIT) as u64, &mut bytes).is_ok() {
            let what = format!("seed {}", self.trial.seed);
            self.watch.model.lock().unwrap().check_read(volume, units.start, &bytes, &what);
        }
    }
}

/// Lets the syncs of an origin forget the part that was done last of several writes.
fn sync_too_early(origin: &Arc<MemoryDevice>) {
    let (store, were_several) = (origin.store.clone(), origin.were_several.clone());
    *origin.before.lock().unwrap() = Some(Box::new(move |call| {
        if call == Call::Sync && were_several.swap(false, Ordering::SeqCst) {
            store.lock().unwrap().pending.pop();
        }
        Ok(())
    }));
}

fn geometry_of(trial: &Trial) -> Geometry {
    let geometry = Geometry::new(trial.line_bytes, trial.lines).unwrap();
    Geometry { journal_blocks: 4 + (trial.seed % 3) as u32, ..geometry }
}

/// The devices of a trial with an empty cache.
fn formatted(trial: &Trial) -> Images {
    let volumes = trial.settings.volumes.len();
    let geometry = geometry_of(trial);
    let cache = MemoryDevice::new(vec![0; geometry.bytes() as usize]);
    let bytes = BLOCKS * trial.line_bytes as usize + 4096;
    let origins: Vec<_> = (0..volumes).map(|_| MemoryDevice::new(vec![0; bytes])).collect();
    let mut settings = format_settings(trial.line_bytes, trial.lines, volumes as u8);
    settings.journal_blocks = Some(geometry.journal_blocks);
    Tier::format(&devices(&cache, &origins), &settings).unwrap();
    std::iter::once(&cache).chain(&origins).map(|device| device.bytes_now()).collect()
}

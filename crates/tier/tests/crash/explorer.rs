//! Requests of a seed on a small pool, with a look at what a crash would leave after calls of its devices.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proofload_tier::machine::CacheMode;
use proofload_tier::tier::Tier;

use crate::flips::{FlippedLines, check_flip};
use crate::model::{Model, UNIT, bytes_of};
use crate::states::{
    Images, are_free, check, close_lines, devices_of, dirty_blocks, forget_freedom, forget_openings, materialise,
    read_all,
};
use crate::support::{Call, Dice, Fate, MemoryDevice, Store, TestClock, devices, format_settings};
use crate::trial::{Trial, TrialFault};

/// Requests between two crashes.
const REQUESTS: u64 = 60;
/// Bursts of writes between two crashes.
const BURSTS: u64 = 6;
/// Crashes of one trial after which it goes on with what is left.
const CRASHES: u64 = 4;

/// What a trial has looked at.
#[derive(Debug, Default)]
pub(crate) struct LookCounts {
    pub(crate) states: AtomicU64,
    /// Commits of several blocks of the journal.
    pub(crate) commits: AtomicU64,
    /// States among them in which such a commit was not durable yet.
    pub(crate) in_commits: AtomicU64,
    /// States in which the origins were free of a cache that had failed.
    pub(crate) free: AtomicU64,
    /// Lines that were found dirty and closed, in all states.
    pub(crate) closed: AtomicU64,
    /// Bits of dirty lines that were changed before a recovery.
    pub(crate) flipped: AtomicU64,
}

/// What the hooks of the devices share.
struct Watch {
    model: Mutex<Model>,
    dice: Mutex<Dice>,
    stores: Vec<Arc<Mutex<Store>>>,
    trial: Trial,
    /// Bytes of the journal on the cache.
    journal: Range<usize>,
    checked: Arc<LookCounts>,
    calls: AtomicU64,
    /// A state in the middle of a commit with which the trial goes on.
    kept: Mutex<Option<(Images, Model)>>,
}

impl Watch {
    fn new(trial: &Trial, model: Model, dice: Dice, stores: Vec<Arc<Mutex<Store>>>, checked: Arc<LookCounts>) -> Self {
        let geometry = trial.geometry();
        let from = geometry.byte_of_journal(0) as usize;
        Self {
            model: Mutex::new(model),
            dice: Mutex::new(dice),
            stores,
            trial: trial.clone(),
            journal: from..from + geometry.journal_blocks as usize * 4096,
            checked,
            calls: AtomicU64::new(0),
            kept: Mutex::new(None),
        }
    }

    /// Whether the last write that is not durable is of several blocks of the journal, and whether there is any of the journal.
    fn commit_at_work(&self) -> (bool, bool) {
        let store = self.stores[0].lock().unwrap();
        let mut writes = store.pending.iter().rev().filter(|(at, _)| self.journal.contains(at));
        let first = writes.next();
        (first.is_some_and(|(_, bytes)| bytes.len() > 4096), first.is_some())
    }

    /// Checks a state after a crash now, one time in a few.
    fn look(&self) {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let (has_several, has_any) = self.commit_at_work();
        if has_several {
            self.checked.commits.fetch_add(1, Ordering::SeqCst);
        }
        let one_in = match self.trial.has_bursts {
            false => 4,
            true if has_several => 1,
            true if has_any => 4,
            true => 300,
        };
        if self.dice.lock().unwrap().one_in(one_in) {
            self.look_now(has_several);
        }
    }

    fn look_now(&self, has_several: bool) {
        let images = self.materialise(has_several);
        self.checked.states.fetch_add(1, Ordering::SeqCst);
        self.checked.in_commits.fetch_add(u64::from(has_several), Ordering::SeqCst);
        let what = format!("seed {} after call {}", self.trial.seed, self.calls.load(Ordering::SeqCst));
        let model = self.model.lock().unwrap();
        let may_be_free = self.trial.fails_its_cache();
        if may_be_free && are_free(&images, &model, &self.trial.settings, &what) {
            self.checked.free.fetch_add(1, Ordering::SeqCst);
            return;
        }
        let closed = check(&images, &model, &self.trial.settings, &what);
        self.checked.closed.fetch_add(closed, Ordering::SeqCst);
        let flipped = self.flip(&images, &what);
        self.checked.flipped.fetch_add(flipped, Ordering::SeqCst);
        if has_several {
            *self.kept.lock().unwrap() = Some((images, model.clone()));
        }
    }

    /// Changes a bit of one state in so many, if the trial does that, and checks what becomes of it.
    fn flip(&self, images: &Images, what: &str) -> u64 {
        let (every, among) = match self.trial.fault {
            TrialFault::ClosedFlips(every) => (every, FlippedLines::Closed),
            TrialFault::OpenFlips(every) => (every, FlippedLines::Open),
            _ => return 0,
        };
        let mut dice = Dice(self.dice.lock().unwrap().roll());
        if dice.one_in(every) { check_flip(images, &self.trial.settings, among, &mut dice, what) } else { 0 }
    }

    /// What a loss of power leaves now; most often some blocks of a commit of several.
    fn materialise(&self, has_several: bool) -> Images {
        let mut dice = self.dice.lock().unwrap();
        let of_cache = (has_several && !dice.one_in(4)).then_some(Fate::Torn(4096));
        let mut images = materialise(&self.stores, of_cache, &mut dice);
        match self.trial.fault {
            TrialFault::ForgottenOpenings => forget_openings(&mut images),
            TrialFault::UnlabelledOrigins(_) => forget_freedom(&mut images),
            TrialFault::ClosedLines => close_lines(&mut images, self.trial.geometry().byte_of_line(0) as usize),
            _ => {}
        }
        images
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
    /// Runs a trial to its end.
    pub(crate) fn run(trial: &Trial, checked: &Arc<LookCounts>) {
        let volumes = trial.settings.volumes.len();
        let mut model = Model::new(volumes, trial.blocks, trial.line_bytes as usize / UNIT);
        let mut images = formatted(trial);
        for life in 0..CRASHES {
            let mut explorer = Self::new(trial, &images, model, life, checked.clone());
            explorer.live();
            let kept = explorer.watch.kept.lock().unwrap().take();
            (images, model) = kept.unwrap_or_else(|| {
                let model = explorer.watch.model.lock().unwrap().clone();
                (explorer.watch.materialise(false), model)
            });
            if trial.fails_its_cache() && are_free(&images, &model, &trial.settings, "after the end") {
                return;
            }
        }
    }

    fn new(trial: &Trial, images: &Images, model: Model, life: u64, checked: Arc<LookCounts>) -> Self {
        let mut dice = Dice(trial.seed * 100 + life);
        let (cache, origins) = devices_of(images);
        let stores = std::iter::once(&cache).chain(&origins).map(|device| device.store.clone()).collect();
        let watch = Arc::new(Watch::new(trial, model, Dice(dice.roll()), stores, checked));
        let faults = Arc::new(AtomicBool::new(false));
        let explorer = Self { trial: trial.clone(), dice, watch, cache, origins, clock: Arc::default(), faults };
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
        match self.trial.fault {
            TrialFault::None | TrialFault::ForgottenOpenings | TrialFault::ClosedLines => {}
            TrialFault::ClosedFlips(_) | TrialFault::OpenFlips(_) => {}
            TrialFault::EarlySyncs => self.origins.iter().for_each(sync_too_early),
            TrialFault::UnsyncedCache => {
                // What the device forgets is never durable, whatever it says.
                let data = self.trial.geometry().byte_of_line(0) as usize;
                self.forget_at_syncs(data..usize::MAX, Arc::new(AtomicBool::new(true)));
            }
            TrialFault::UnsyncedClosing => {
                let data = self.trial.geometry().byte_of_line(0) as usize;
                self.forget_at_syncs(data..usize::MAX, self.faults.clone());
            }
            TrialFault::ForgottenCleaning => self.forget_at_syncs(self.watch.journal.clone(), self.faults.clone()),
            TrialFault::Calls(every) => {
                for (place, device) in std::iter::once(&self.cache).chain(&self.origins).enumerate() {
                    let faults = self.faults.clone();
                    let mut dice = Dice(self.trial.seed * 31 + place as u64);
                    device.fail_when(move |_| faults.load(Ordering::SeqCst) && dice.one_in(every));
                }
            }
            TrialFault::DeadCache(calls) | TrialFault::UnlabelledOrigins(calls) => {
                let (faults, mut done) = (self.faults.clone(), 0);
                self.cache.fail_when(move |_| {
                    done += 1;
                    faults.load(Ordering::SeqCst) && done > calls
                });
            }
            TrialFault::OriginSyncs(every) => self.lose_at_syncs(every, true),
            TrialFault::UntoldOriginSyncs(every) => self.lose_at_syncs(every, false),
        }
    }

    /// Lets the cache forget what it was told to write in a range of bytes when it is synced, while a switch is on.
    fn forget_at_syncs(&self, bytes: Range<usize>, switch: Arc<AtomicBool>) {
        let store = self.cache.store.clone();
        *self.cache.before.lock().unwrap() = Some(Box::new(move |call| {
            if call == Call::Sync && switch.load(Ordering::SeqCst) {
                store.lock().unwrap().pending.retain(|(at, _)| !bytes.contains(at));
            }
            Ok(())
        }));
    }

    /// Lets one sync of an origin in so many lose what it should have made durable, which stays readable until the power fails.
    fn lose_at_syncs(&self, every: u64, is_told: bool) {
        for (place, origin) in self.origins.iter().enumerate() {
            let (faults, store) = (self.faults.clone(), origin.store.clone());
            let mut dice = Dice(self.trial.seed * 37 + place as u64);
            *origin.before.lock().unwrap() = Some(Box::new(move |call| {
                if call == Call::Sync && faults.load(Ordering::SeqCst) && dice.one_in(every) {
                    store.lock().unwrap().pending.clear();
                    if is_told {
                        return Err(io::Error::other("made to fail"));
                    }
                }
                Ok(())
            }));
        }
    }

    /// Opens the pool, reads all of it, and sends requests.
    fn live(&mut self) {
        let what = format!("seed {}", self.trial.seed);
        let open = |cache: &Arc<MemoryDevice>, origins: &[Arc<MemoryDevice>]| {
            let tier = Tier::open(devices(cache, origins), self.trial.settings.clone(), self.clock.clone());
            tier.unwrap_or_else(|error| panic!("{what}: {error}"))
        };
        if self.trial.has_bursts {
            // Where reads would make a commit of several blocks by themselves, they are done on copies.
            let images = std::iter::once(&self.cache).chain(&self.origins).map(|device| device.bytes_now()).collect();
            let (cache, origins) = devices_of(&images);
            self.settle(&open(&cache, &origins), &what);
        }
        let tier = open(&self.cache, &self.origins);
        if !self.trial.has_bursts {
            self.settle(&tier, &what);
        }
        match self.trial.fault {
            TrialFault::ForgottenCleaning => return (0..REQUESTS / 4).for_each(|_| self.forget_cleaning(&tier)),
            TrialFault::UnsyncedClosing => return (0..REQUESTS / 4).for_each(|_| self.forget_closing(&tier)),
            _ => {}
        }
        self.faults.store(true, Ordering::SeqCst);
        if self.trial.has_bursts {
            self.bursts(&tier);
        } else {
            for _ in 0..REQUESTS {
                self.request(&tier);
                if self.trial.closes() && self.dice.one_in(2) {
                    drop(tier.tend());
                }
                self.clock.advance(Duration::from_millis(self.dice.below(200)));
            }
        }
        let damaged: u64 = (0..self.origins.len()).map(|volume| tier.counters(volume as u8).damaged_sectors).sum();
        assert_eq!(damaged, 0, "{what}: sectors differ from their checksums");
        if self.dice.one_in(4) {
            // An error leaves the cache as after a crash.
            drop(tier.close());
        }
        self.faults.store(false, Ordering::SeqCst);
    }

    /// Reads all of a pool that was recovered, and takes it for what is.
    fn settle(&self, tier: &Tier, what: &str) {
        let before = self.watch.model.lock().unwrap().clone();
        for volume in 0..self.origins.len() {
            let bytes = read_all(tier, volume as u8);
            before.check_recovered(volume, &bytes, what);
            let dirty = dirty_blocks(tier, volume as u8);
            self.watch.model.lock().unwrap().settle(volume, &bytes, &dirty);
        }
    }

    /// Bursts of writes with a flush behind each, and what else moves the journal.
    fn bursts(&mut self, tier: &Tier) {
        for burst in 0..BURSTS {
            // What a crash left of the last commit is met by a short one, and by a checkpoint.
            let met = burst == 0 && !self.dice.one_in(4);
            let writes = if met || self.dice.one_in(2) { 1 + self.dice.below(60) } else { 161 + self.dice.below(240) };
            let mut block = self.dice.below(self.trial.blocks as u64) as usize;
            for _ in 0..writes {
                self.write(tier, 0, block * 8..block * 8 + 8);
                block = (block + 1) % self.trial.blocks;
            }
            self.flush(tier, 0);
            if self.trial.closes() && self.dice.one_in(2) {
                (0..2).for_each(|_| drop(tier.tend()));
            }
            match self.dice.below(if met { 1 } else { 8 }) {
                0 => drop(tier.checkpoint()),
                1..3 => drop(tier.clean()),
                3 => drop(tier.tend()),
                4 => self.read(tier, 0),
                5 => self.discard(tier, 0),
                _ => self.clock.advance(Duration::from_millis(self.dice.below(2_000))),
            }
            if met || self.dice.one_in(3) {
                self.watch.look_now(false);
            }
        }
    }

    /// Writes, cleans, and flushes with a cache that forgets what the journal says of it.
    fn forget_cleaning(&mut self, tier: &Tier) {
        let units = self.range();
        self.write(tier, 0, units);
        self.flush(tier, 0);
        self.clock.advance(Duration::from_secs(10));
        drop(tier.clean());
        self.faults.store(true, Ordering::SeqCst);
        self.flush(tier, 0);
        self.faults.store(false, Ordering::SeqCst);
        self.watch.look_now(false);
    }

    /// Overwrites a line in place, and closes it on a cache that forgets what it has not synced.
    fn forget_closing(&mut self, tier: &Tier) {
        let units = self.range();
        self.write(tier, 0, units.clone());
        self.flush(tier, 0);
        self.write(tier, 0, units);
        drop(tier.tend());
        self.faults.store(true, Ordering::SeqCst);
        drop(tier.tend());
        self.faults.store(false, Ordering::SeqCst);
        self.watch.look_now(false);
    }

    fn request(&mut self, tier: &Tier) {
        let volume = self.dice.below(self.origins.len() as u64) as usize;
        match self.dice.below(100) {
            0..45 => {
                let units = self.range();
                self.write(tier, volume, units);
            }
            45..65 => self.read(tier, volume),
            65..75 => self.flush(tier, volume),
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

    fn flush(&self, tier: &Tier, volume: usize) {
        if tier.flush(volume as u8).is_ok() {
            let dirty = dirty_blocks(tier, volume as u8);
            self.watch.model.lock().unwrap().flushed(volume, &dirty);
        }
    }

    fn resize(&mut self, tier: &Tier) {
        let lines = 8 + self.dice.below(u64::from(self.trial.lines) - 7) as u32;
        drop(tier.resize(lines, Duration::from_millis(50)));
    }

    /// Some units: a sector, a block, a few units, or several blocks.
    fn range(&mut self) -> Range<usize> {
        let per_block = self.trial.line_bytes as usize / UNIT;
        let all = self.trial.blocks * per_block;
        let length = match self.dice.below(4) {
            0 => 8,
            1 => 1 + self.dice.below(20) as usize,
            2 => per_block * 3,
            _ => per_block,
        };
        // A few blocks get most of the requests.
        let blocks = self.trial.blocks as u64;
        let blocks = if self.dice.one_in(2) { blocks / 4 } else { blocks };
        let mut first = self.dice.below(blocks) as usize * per_block;
        if length < per_block {
            first += self.dice.below(per_block as u64) as usize;
        }
        first..(first + length).min(all)
    }

    fn write(&self, tier: &Tier, volume: usize, units: Range<usize>) {
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

/// The devices of a trial with an empty cache.
fn formatted(trial: &Trial) -> Images {
    let volumes = trial.settings.volumes.len();
    let geometry = trial.geometry();
    let cache = MemoryDevice::new(vec![0; geometry.bytes() as usize]);
    let bytes = trial.blocks * trial.line_bytes as usize + 4096;
    let origins: Vec<_> = (0..volumes).map(|_| MemoryDevice::new(vec![0; bytes])).collect();
    let mut settings = format_settings(trial.line_bytes, trial.lines, volumes as u8);
    settings.journal_blocks = Some(geometry.journal_blocks);
    Tier::format(&devices(&cache, &origins), &settings).unwrap();
    std::iter::once(&cache).chain(&origins).map(|device| device.bytes_now()).collect()
}

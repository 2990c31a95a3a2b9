//! What one trial is: the pool, the requests, and what goes wrong beside the loss of power.

use std::time::Duration;

use proofload_tier::layout::Geometry;
use proofload_tier::machine::{CacheMode, PoolSettings};
use proofload_tier::policy::PolicyChoice;

use crate::support::{Dice, pool};

/// What goes wrong beside the loss of power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrialFault {
    /// Nothing.
    None,
    /// One call of a device in so many fails and has no effect.
    Calls(u64),
    /// The cache fails for good after so many calls of an opening; origins that do without it are free of it.
    DeadCache(u64),
    /// The same, and the origins do not keep that they are free: a fault that must be found.
    UnlabelledOrigins(u64),
    /// One sync of an origin in so many fails, told so once, and what it should have made durable never is.
    OriginSyncs(u64),
    /// The same, told to nobody: a fault that must be found.
    UntoldOriginSyncs(u64),
    /// The cache device says that it has synced and has not: a fault that must be found.
    UnsyncedCache,
    /// An origin leaves the end of the last of several writes out of the sync behind them: a fault that must be found.
    EarlySyncs,
    /// The superblock says nothing of the opening that wrote the checkpoint: a fault that must be found.
    ForgottenOpenings,
    /// The cache forgets what the journal says of lines that were cleaned: a fault that must be found.
    ForgottenCleaning,
    /// The cache forgets data that it was told to sync before the record that closes their lines: a fault that must be found.
    UnsyncedClosing,
    /// One bit of a closed line changes between the crash and its recovery, in one state of so many.
    ClosedFlips(u64),
    /// The same in an open line, where it passes for the cut end of a write: a fault that must be found.
    OpenFlips(u64),
    /// All dirty lines are found closed, also those that are overwritten in place: a fault that must be found.
    ClosedLines,
}

/// One trial.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    pub(crate) seed: u64,
    pub(crate) line_bytes: u32,
    pub(crate) lines: u32,
    /// Blocks of each volume.
    pub(crate) blocks: usize,
    pub(crate) journal_blocks: u32,
    pub(crate) settings: PoolSettings,
    pub(crate) fault: TrialFault,
    /// Whether many blocks are written between two flushes, so that commits have several blocks of the journal.
    pub(crate) has_bursts: bool,
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
        let journal_blocks = 4 + (seed % 3) as u32;
        if !seed.is_multiple_of(4) {
            settings.cleaner.close_after = Duration::ZERO;
        }
        let fault = TrialFault::None;
        Self { seed, line_bytes, lines, blocks: 24, journal_blocks, settings, fault, has_bursts: false }
    }

    pub(crate) fn write_back(seed: u64) -> Self {
        Self::new(seed, &[CacheMode::WriteBack])
    }

    pub(crate) fn any_mode(seed: u64) -> Self {
        Self::new(seed, &[CacheMode::WriteBack, CacheMode::WriteThrough, CacheMode::WriteAround, CacheMode::Pass])
    }

    /// Many small lines, written in bursts, of which one commit has more records than a block of the journal holds.
    pub(crate) fn bursts(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let mut trial = Self { line_bytes: 4096, has_bursts: true, ..Self::write_back(seed) };
        trial.settings.volumes.truncate(1);
        trial.settings.cleaner.bypass_from = [0.9, 1.1][dice.below(2) as usize];
        trial.settings.cleaner.batch_lines = 32 + dice.below(200) as u32;
        trial.lines = 200 + dice.below(200) as u32;
        trial.blocks = 200 + dice.below(200) as usize;
        trial.journal_blocks = 4 + dice.below(5) as u32;
        trial
    }

    /// This trial with a fault.
    pub(crate) fn with(self, fault: TrialFault) -> Self {
        Self { fault, ..self }
    }

    /// This trial with lines that stay open.
    pub(crate) fn open(mut self) -> Self {
        self.settings.cleaner.close_after = Duration::MAX;
        self
    }

    /// Whether lines are closed at each second step of the maintenance that finds them as they were.
    pub(crate) fn closes(&self) -> bool {
        self.settings.cleaner.close_after.is_zero()
    }

    /// Whether the cache may fail while nothing is dirty, and be given up.
    pub(crate) fn fails_its_cache(&self) -> bool {
        matches!(self.fault, TrialFault::Calls(_) | TrialFault::DeadCache(_))
    }

    pub(crate) fn geometry(&self) -> Geometry {
        let geometry = Geometry::new(self.line_bytes, self.lines).unwrap();
        Geometry { journal_blocks: self.journal_blocks, ..geometry }
    }
}

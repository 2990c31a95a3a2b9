//! What every export needs of a block device.

use std::sync::Arc;

use crate::error::Error;
use crate::tier::Tier;

/// A block device, shared by threads.
pub trait BlockService: Send + Sync {
    /// Size in bytes.
    fn bytes(&self) -> u64;

    /// Reads bytes.
    ///
    /// # Errors
    ///
    /// When the range is not in the device or the device fails.
    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Error>;

    /// Whether a read would wait for no slow device as things are: a hint, by which an export chooses a thread.
    fn reads_quickly(&self, _at: u64, _length: u64) -> bool {
        false
    }

    /// Whether a write would wait for no slow device as things are: a hint, as for reads.
    fn writes_quickly(&self, _at: u64, _length: u64) -> bool {
        false
    }

    /// Writes bytes.
    ///
    /// # Errors
    ///
    /// As [`BlockService::read`].
    fn write(&self, at: u64, from: &[u8]) -> Result<(), Error>;

    /// Returns when all that was acknowledged before is durable.
    ///
    /// # Errors
    ///
    /// When the device fails.
    fn flush(&self) -> Result<(), Error>;

    /// Makes bytes read as zeros.
    ///
    /// # Errors
    ///
    /// As [`BlockService::read`].
    fn discard(&self, at: u64, length: u64) -> Result<(), Error>;
}

/// One volume of a pool as a block device.
#[derive(Clone)]
pub struct TierVolume {
    tier: Arc<Tier>,
    volume: u8,
}

impl TierVolume {
    /// The volume with a number; requests to one that does not exist fail.
    pub fn new(tier: Arc<Tier>, volume: u8) -> Self {
        Self { tier, volume }
    }
}

impl BlockService for TierVolume {
    fn bytes(&self) -> u64 {
        self.tier.volume_bytes(self.volume)
    }

    fn reads_quickly(&self, at: u64, length: u64) -> bool {
        self.tier.is_resident(self.volume, at, length)
    }

    fn writes_quickly(&self, at: u64, length: u64) -> bool {
        self.tier.would_absorb(self.volume, at, length)
    }

    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Error> {
        self.tier.read(self.volume, at, into)
    }

    fn write(&self, at: u64, from: &[u8]) -> Result<(), Error> {
        self.tier.write(self.volume, at, from)
    }

    fn flush(&self) -> Result<(), Error> {
        self.tier.flush(self.volume)
    }

    fn discard(&self, at: u64, length: u64) -> Result<(), Error> {
        self.tier.discard(self.volume, at, length)
    }
}

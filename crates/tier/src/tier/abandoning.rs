//! Goes on without a cache that failed while nothing was dirty.

use super::front::Tier;
use super::opening::name_of_origin;
use crate::error::Error;
use crate::layout::{OriginLabel, Superblock};

impl Tier {
    /// Sets all origins free, durably, so that no opening brings back what the cache holds; then forgets it. The machine has asked for it.
    ///
    /// All volumes fail where an origin cannot be labelled.
    pub(super) fn abandon(&self, superblock: &Superblock) {
        let guard = self.guard_panics();
        let done = (0..self.volumes()).try_for_each(|volume| self.set_free(volume, superblock));
        guard.disarm();
        let mut state = self.lock();
        match done {
            Ok(()) => state.machine.abandon_end(),
            Err(error) => {
                state.first_error.get_or_insert_with(|| error.to_string());
                state.machine.fail_pool();
            }
        }
        self.changed.notify_all();
    }

    /// Labels the origin of a volume as free of its cache, and makes all that was written to it durable. A sync of others that fails meanwhile may
    /// have lost the label, whatever a later one says.
    pub(super) fn set_free(&self, volume: u8, superblock: &Superblock) -> Result<(), Error> {
        let place = usize::from(volume);
        let (label, device) = (superblock.volumes[place], &self.origins[place]);
        let (mounts, at) = (superblock.mounts, label.bytes);
        let label = OriginLabel { origin: label.origin, cache: superblock.cache, mounts, detached: true };
        let failed = |error| Error::device("labelled", name_of_origin(&**device, place), at, error);
        let failures = self.lock().machine.origin_sync_failures(volume);
        device.write_at(at, &label.encode()).map_err(failed)?;
        self.sync_origin(volume)?;
        if self.lock().machine.origin_sync_failures(volume) != failures {
            return Err(failed(std::io::Error::other("a sync failed before the label was durable")));
        }
        Ok(())
    }
}

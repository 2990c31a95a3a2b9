//! The tiers that this process has open, each shared by the connections of its database: the first opens it, the last closes it.

use super::mount::{TierFiles, TierMount};
use crate::contract::Error;
use proofload_model::tier::TierPlan;
use std::collections::HashMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

/// Places of databases, by their files.
static PLACES: LazyLock<Mutex<HashMap<PathBuf, Weak<TierPlace>>>> = LazyLock::new(Mutex::default);

/// The place of one database, whose tier is opened and closed under its lock.
#[derive(Default)]
struct TierPlace(Mutex<PlaceState>);

#[derive(Default)]
struct PlaceState {
    mount: Option<Arc<TierMount>>,
    shares: usize,
}

/// A share of an open tier.
pub(in crate::engines::sqlite) struct MountGuard {
    /// `None` while it is dropped.
    mount: Option<Arc<TierMount>>,
    place: Arc<TierPlace>,
}

impl MountGuard {
    /// The tier of a database, opened where nobody has it open.
    ///
    /// # Errors
    /// When it cannot be opened, or is open by another plan.
    pub(in crate::engines::sqlite) fn open(data: &Path, plan: &TierPlan) -> Result<Self, Error> {
        let failed = |error| Error::other(format!("failed to open {}: {error}", data.display()));
        let path = data.canonicalize().map_err(failed)?;
        let place = {
            let mut places = lock(&PLACES);
            places.retain(|_, place| place.strong_count() > 0);
            let place = places.get(&path).and_then(Weak::upgrade).unwrap_or_default();
            places.insert(path.clone(), Arc::downgrade(&place));
            place
        };
        let mut state = lock(&place.0);
        let mount = match &state.mount {
            Some(mount) if mount.plan() != plan => {
                return Err(Error::other(format!(
                    "failed to open {}: its tier is already open with other settings",
                    path.display()
                )));
            }
            Some(mount) => Arc::clone(mount),
            None => Arc::new(TierMount::open(&TierFiles::of(&path), plan)?),
        };
        state.mount = Some(Arc::clone(&mount));
        state.shares += 1;
        drop(state);
        Ok(Self { mount: Some(mount), place })
    }

    /// A share of the tier that is open for a database; `None` where none is.
    pub(super) fn of(data: &Path) -> Option<Self> {
        let place = lock(&PLACES).get(data).and_then(Weak::upgrade)?;
        let mut state = lock(&place.0);
        let mount = state.mount.clone()?;
        state.shares += 1;
        drop(state);
        Some(Self { mount: Some(mount), place })
    }
}

impl Deref for MountGuard {
    type Target = TierMount;

    fn deref(&self) -> &TierMount {
        self.mount.as_ref().expect("it is there until the guard is dropped")
    }
}

impl Drop for MountGuard {
    fn drop(&mut self) {
        drop(self.mount.take());
        let mut state = lock(&self.place.0);
        state.shares -= 1;
        if state.shares == 0 {
            // The last share: closed under the lock, so that who opens it next finds it closed.
            drop(state.mount.take());
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a database lies behind a tier, so that its file alone may be out of date.
pub(in crate::engines::sqlite) fn is_behind_a_tier(data: &Path) -> bool {
    TierFiles::of(data).data_label().exists()
}

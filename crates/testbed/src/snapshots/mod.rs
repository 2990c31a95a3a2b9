//! The folder of a study's data: its mark, its snapshot, restoring, and dropping what the kernel has cached of it.
//!
//! ```text
//! <folder>/.proofload       says that the folder is ours
//! <folder>/data             what the engine works on
//! <folder>/data.discarded   says that its server was ended at once: nothing is made of these data
//! <folder>/snapshot         a copy of it, taken while nothing ran
//! <folder>/snapshot.files   size and SHA-256 of each of its files
//! <folder>/snapshot.label   written last: the snapshot is whole, and of what
//! ```
//!
//! May not start or stop anything, and may not touch a folder that is not ours. Lists and re-exports.

mod contents;
mod copy;
mod discarded;
mod folder;
mod lock;
mod page_cache;
mod prewarm;
mod snapshot;

pub(crate) use copy::{copy_folder, size_of};
pub(crate) use discarded::{are_discarded, discard, expect_kept};
pub(crate) use folder::{claim, data_folder, is_ours};
pub(crate) use lock::{FolderLock, hold};
pub(crate) use page_cache::drop_page_cache;
pub(crate) use prewarm::prewarm;
pub(crate) use snapshot::{find, label, remove_data, remove_drafts, restore, save, snapshot_folder};

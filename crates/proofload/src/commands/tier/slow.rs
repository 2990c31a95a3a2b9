//! Modelled drives by a word such as `raid-5:8x7.2k:2GiB`. It models nothing itself.

use proofload_model::units::Bytes;
use proofload_tier::disk::{ArrayLayout, DiskArray, DriveProfile, Scheduling};

/// Drives that are modelled.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SlowDisks {
    layout: ArrayLayout,
    drives: usize,
    profile: DriveProfile,
    cache_bytes: u64,
}

/// Drives at most.
const MOST_DRIVES: usize = 64;

impl SlowDisks {
    /// Reads `[LAYOUT:]COUNTxPROFILE[:CACHE]`, or a profile alone for one drive.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = text.split(':').peekable();
        let layout = parts.peek().and_then(|word| layout_named(word));
        if layout.is_some() {
            parts.next();
        }
        let drives = parts.next().ok_or_else(|| format!("{text:?} has no drives; use a form such as raid-5:8x7.2k"))?;
        let (count, profile) = match drives.split_once('x') {
            Some((count, profile)) => {
                (count.parse().map_err(|_| format!("{count:?} is not a number of drives"))?, profile)
            }
            None => (1, drives),
        };
        let profile = profile_named(profile)?;
        let cache_bytes = match parts.next() {
            Some(size) => Bytes::parse(size).map_err(|error| error.to_string())?.0,
            None => 0,
        };
        if let Some(more) = parts.next() {
            return Err(format!("{more:?} is not expected; use LAYOUT:COUNTxPROFILE:CACHE"));
        }
        let layout = layout.unwrap_or(if count == 1 { ArrayLayout::Single } else { ArrayLayout::Raid0 });
        let disks = Self { layout, drives: count, profile, cache_bytes };
        disks.check().map(|()| disks)
    }

    fn check(&self) -> Result<(), String> {
        let (fits, wanted) = match self.layout {
            ArrayLayout::Single => (self.drives == 1, "1 drive".to_owned()),
            ArrayLayout::Raid0 => (self.drives >= 1, format!("1 to {MOST_DRIVES}")),
            ArrayLayout::Raid1 => (self.drives >= 2, format!("2 to {MOST_DRIVES}")),
            ArrayLayout::Raid5 => (self.drives >= 3, format!("3 to {MOST_DRIVES}")),
            ArrayLayout::Raid10 => {
                (self.drives >= 2 && self.drives.is_multiple_of(2), format!("an even number up to {MOST_DRIVES}"))
            }
        };
        if fits && self.drives <= MOST_DRIVES {
            return Ok(());
        }
        Err(format!("{} cannot have {} drives; it needs {wanted}", self.layout.name(), self.drives))
    }

    /// The array.
    pub(super) fn array(&self) -> DiskArray {
        DiskArray::new(self.layout, self.drives, self.profile, Scheduling::Sptf, self.cache_bytes)
    }

    /// Words for it.
    pub(super) fn text(&self) -> String {
        let cache = match self.cache_bytes {
            0 => String::new(),
            bytes => format!(", controller cache {}", Bytes(bytes)),
        };
        format!("modelled: {} of {} × {}{cache}", self.layout.name(), self.drives, self.profile.name)
    }
}

fn layout_named(word: &str) -> Option<ArrayLayout> {
    ArrayLayout::ALL.into_iter().find(|layout| layout.name() == word)
}

fn profile_named(word: &str) -> Result<DriveProfile, String> {
    let plain = |name: &str| name.to_lowercase().replace(' ', "-");
    let found = DriveProfile::ALL.into_iter().find(|profile| plain(profile.name) == word.to_lowercase());
    found.ok_or_else(|| {
        let names = DriveProfile::ALL.map(|profile| plain(profile.name)).join(", ");
        format!("unknown layout or drive {word:?}; use one of {names}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let found = SlowDisks::parse(text).map_or_else(|fault| fault, |disks| disks.text());
        assert!(found.contains(expected), "{text}: {found}");
    }

    #[test]
    fn drives_are_read_and_what_cannot_be_is_refused() {
        check("raid-5:8x7.2k:2GiB", "modelled: raid-5 of 8 × 7.2K, controller cache 2GiB");
        check("7.2K", "modelled: single of 1 × 7.2K");
        check("4x15k", "modelled: raid-0 of 4 × 15K");
        check("single:hp-97560", "modelled: single of 1 × HP 97560");
        check("raid-5:2x10k", "cannot have 2 drives");
        check("raid-10:3x10k", "cannot have 3 drives");
        check("raid-5:ax10k", "\"a\" is not a number");
        check("raid-5", "has no drives");
        check("raid-6:4x10k", "unknown layout or drive \"raid-6\"");
        check("4x5k", "unknown layout or drive \"5k\"");
        check("4x10k:1", "is not a size");
        check("4x10k:1GiB:x", "is not expected");
    }
}

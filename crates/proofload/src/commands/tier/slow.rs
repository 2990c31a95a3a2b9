//! Modelled drives by a word such as `raid-5:8x7.2k:2GiB:0.03`. It models nothing itself.

use proofload_model::tier::Stroke;
use proofload_model::units::Bytes;
use proofload_tier::disk::{ArrayLayout, DiskArray, DriveProfile, Scheduling};

/// Drives that are modelled.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SlowDisks {
    layout: ArrayLayout,
    drives: usize,
    profile: DriveProfile,
    cache_bytes: u64,
    stroke: Stroke,
}

/// Drives at most.
const MOST_DRIVES: usize = 64;

impl SlowDisks {
    /// Reads `[LAYOUT:]COUNTxPROFILE[:CACHE[:STROKE]]`, or a profile alone for one drive.
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
        let stroke = parts.next().map_or(Ok(Stroke::default()), share_of_stroke)?;
        if let Some(more) = parts.next() {
            return Err(format!("{more:?} is not expected; use LAYOUT:COUNTxPROFILE:CACHE:STROKE"));
        }
        let layout = layout.unwrap_or(if count == 1 { ArrayLayout::Single } else { ArrayLayout::Raid0 });
        let disks = Self { layout, drives: count, profile, cache_bytes, stroke };
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

    /// The array under so many bytes.
    pub(super) fn array(&self, bytes: u64) -> DiskArray {
        let array = DiskArray::new(self.layout, self.drives, self.profile, Scheduling::Sptf, self.cache_bytes);
        array.spread(self.stroke.share(), bytes)
    }

    /// Words for it.
    pub(super) fn text(&self) -> String {
        let cache = match self.cache_bytes {
            0 => String::new(),
            bytes => format!(", controller cache {}", Bytes(bytes)),
        };
        let (layout, profile) = (self.layout.name(), self.profile.name);
        format!("modelled: {layout} of {} × {profile}{cache}, data {}", self.drives, self.stroke)
    }
}

fn share_of_stroke(text: &str) -> Result<Stroke, String> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    let fault = || format!("{text:?} is no share of the stroke; use a number from 0 to 1, such as 0.03");
    share.map(Stroke::of).ok_or_else(fault)
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
        check(
            "raid-5:8x7.2k:2GiB",
            "modelled: raid-5 of 8 × 7.2K, controller cache 2GiB, data contiguous from the outer edge",
        );
        check("raid-5:8x7.2k:2GiB:0.03", "controller cache 2GiB, data spread over 3 % of the stroke");
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
        check("4x10k:1GiB:x", "\"x\" is no share of the stroke");
        check("4x10k:1GiB:1.5", "\"1.5\" is no share of the stroke");
        check("4x10k:1GiB:0:x", "is not expected");
    }
}

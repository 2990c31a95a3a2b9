//! The list of lines that a new cache is filled from before a load, and what became of its lines. Pure. May not know how a cache is filled.

use crate::settings::Settings;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// Setting of the file that is the list.
pub const WARM: &str = "storage.cache.warm";
/// Setting of the longest time that filling takes.
pub const WARM_WITHIN: &str = "storage.cache.warm_within";

/// Longest time that filling takes unless a study says another. Source: the time in which an old cache must be clean before another takes
/// its place.
pub const USUAL_WARM_TIME: Duration = Duration::from_secs(600);

/// The form of lists that is read.
const FORM: u64 = 1;

/// The list that a new cache is filled from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmPlan {
    /// Its file on the host that has the cache, as `tier dump CACHE --lines --json` writes one.
    pub list: String,
    /// Longest time that filling takes.
    pub within: Duration,
}

impl WarmPlan {
    /// The list of a study; `None` where it names none.
    pub fn of(settings: &Settings) -> Option<Self> {
        let list = settings.text(WARM).ok()?.to_owned();
        Some(Self { list, within: settings.duration(WARM_WITHIN).unwrap_or(USUAL_WARM_TIME) })
    }
}

/// First object of a list: the pool that its lines were of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WarmHead {
    /// Bytes of a line; `None` where the list does not tell.
    pub line: Option<Bytes>,
    /// Bytes of each volume, in the order of their numbers; `None` where the list does not tell.
    pub volumes: Vec<Option<Bytes>>,
}

impl WarmHead {
    /// Reads the first line of text of a file.
    ///
    /// # Errors
    /// Why it begins no list.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let head = if text.is_empty() { Value::Null } else { object(text)? };
        let volumes = head["volumes"].as_array().filter(|_| head["form"] == FORM);
        let volumes = volumes.ok_or("it is none; write one with `tier dump CACHE --lines --json`")?;
        let bytes = |value: &Value| value.as_u64().map(Bytes);
        Ok(Self {
            line: bytes(&head["line_bytes"]),
            volumes: volumes.iter().map(|volume| bytes(&volume["bytes"])).collect(),
        })
    }

    /// Tells why a cache is not filled from the list, whose line and volumes have so many bytes; `None` where nothing stands against it.
    pub fn mismatch(&self, line: Bytes, volumes: &[Bytes]) -> Option<String> {
        if let Some(of_list) = self.line.filter(|of_list| *of_list != line) {
            return Some(format!("its lines are of {of_list}, and those of the cache of {line}"));
        }
        let mut pairs = self.volumes.iter().zip(volumes).enumerate();
        pairs.find_map(|(number, (of_list, here))| {
            let of_list = (*of_list).filter(|of_list| of_list != here)?;
            Some(format!("its volume {number} has {of_list}, and that of the cache {here}"))
        })
    }
}

/// Line that a list names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WarmLine {
    /// Number of its volume.
    pub volume: u8,
    /// One of its bytes in that volume.
    pub at: u64,
}

impl WarmLine {
    /// Reads a line of text behind the first.
    ///
    /// # Errors
    /// Why it names no line.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let object = object(text)?;
        let volume = object["volume"].as_u64().and_then(|volume| u8::try_from(volume).ok());
        let place = volume.zip(object["at"].as_u64());
        let (volume, at) = place.ok_or("a line of it names no volume and byte")?;
        Ok(Self { volume, at })
    }
}

fn object(text: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(text).map_err(|error| format!("a line of it is no JSON object: {error}"))
}

/// Lines of a list by what became of them: each is counted once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmedList {
    /// Lines that the list names.
    pub named: u64,
    /// Lines that were in the cache when it was filled.
    pub filled: u64,
    /// Lines that were named before.
    pub repeated: u64,
    /// Lines of a volume that is not there or not cached.
    pub not_cached: u64,
    /// Lines beyond the end of their volume.
    pub beyond_volume: u64,
    /// Lines beyond the end of what their volume holds, where that is shorter: they would be zeros.
    pub beyond_data: u64,
    /// Lines beyond the part of the cache that their volume may hold.
    pub beyond_quota: u64,
    /// Lines for which the cache had no room.
    pub no_room: u64,
    /// Lines that were left when the time was over.
    pub out_of_time: u64,
}

impl WarmedList {
    /// Lines that were not filled, by the reason, where there are any.
    pub fn not_filled(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let all = [
            ("repeated", self.repeated),
            ("not_cached", self.not_cached),
            ("beyond_volume", self.beyond_volume),
            ("beyond_data", self.beyond_data),
            ("beyond_quota", self.beyond_quota),
            ("no_room", self.no_room),
            ("out_of_time", self.out_of_time),
        ];
        all.into_iter().filter(|(_, lines)| *lines > 0)
    }

    /// Tells whether the cache was filled as a study asks for it: from a list for these volumes, to its end or until the cache was full. Data
    /// may be shorter than those that the list was made of, unless none of its lines is of them.
    pub fn is_as_asked(&self) -> bool {
        self.filled > 0 && self.beyond_volume == 0 && self.out_of_time == 0
    }

    /// Writes what stands beside a cache, for those who open it later.
    pub fn note(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads what [`note`](Self::note) wrote; `None` of other text.
    pub fn of_note(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_begins_with_the_pool_that_it_is_of_and_each_line_names_a_byte() {
        let head = WarmHead::parse(br#"{"form":1,"line_bytes":8192,"volumes":[{"bytes":65536},{"lines":3}]}"#);
        let known = WarmHead { line: Some(Bytes(8192)), volumes: vec![Some(Bytes(65_536)), None] };
        assert_eq!(head, Ok(known));
        assert_eq!(WarmHead::parse(br#"{"form":1,"volumes":[]}"#), Ok(WarmHead::default()));
        for (none, why) in
            [("", "it is none"), (r#"{"form":2,"volumes":[]}"#, "it is none"), ("lines", "no JSON object")]
        {
            let told = WarmHead::parse(none.as_bytes());
            assert!(told.as_ref().is_err_and(|told| told.contains(why)), "{none}: {told:?}");
        }
        assert_eq!(WarmLine::parse(br#"{"volume":1,"at":16384,"line":7}"#), Ok(WarmLine { volume: 1, at: 16_384 }));
        for none in [r#"{"volume":256,"at":0}"#, r#"{"volume":0}"#, "[]"] {
            assert!(WarmLine::parse(none.as_bytes()).is_err(), "{none}");
        }
    }

    #[test]
    fn a_list_of_another_line_or_volume_does_not_fit_and_one_that_does_not_tell_does() {
        let (line, volumes) = (Bytes(8192), [Bytes(1 << 20), Bytes(1 << 16)]);
        let of = |line: Option<u64>, volumes: &[Option<u64>]| WarmHead {
            line: line.map(Bytes),
            volumes: volumes.iter().map(|bytes| bytes.map(Bytes)).collect(),
        };
        for fits in [of(None, &[]), of(Some(8192), &[None, Some(1 << 16)]), of(None, &[Some(1 << 20)])] {
            assert_eq!(fits.mismatch(line, &volumes), None);
        }
        let other = of(Some(4096), &[]).mismatch(line, &volumes).expect("another line");
        assert!(other.contains("4KiB") && other.contains("8KiB"), "{other}");
        let other = of(Some(8192), &[Some(1 << 20), Some(1 << 20)]).mismatch(line, &volumes).expect("another volume");
        assert!(other.starts_with("its volume 1 has 1MiB"), "{other}");
    }

    #[test]
    fn what_a_list_left_is_told_by_its_reason_and_noted() {
        let warmed = WarmedList { named: 12, filled: 8, no_room: 3, not_cached: 1, ..WarmedList::default() };
        assert_eq!(warmed.not_filled().collect::<Vec<_>>(), [("not_cached", 1), ("no_room", 3)]);
        assert!(warmed.is_as_asked(), "a cache that is full has all that it can have");
        assert!(!WarmedList { out_of_time: 1, ..warmed }.is_as_asked());
        assert!(!WarmedList { beyond_volume: 1, ..warmed }.is_as_asked());
        let shorter = WarmedList { beyond_data: 4, ..warmed };
        assert!(shorter.is_as_asked() && shorter.not_filled().any(|left| left == ("beyond_data", 4)));
        assert!(!WarmedList { filled: 0, ..shorter }.is_as_asked(), "all lines are of other data");
        assert!(!WarmedList::default().is_as_asked(), "nothing was filled");
        assert_eq!(WarmedList::of_note(&warmed.note()), Some(warmed));
        assert_eq!(WarmedList::of_note("made"), None);
    }
}

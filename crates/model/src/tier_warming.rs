//! The list of lines that a new cache is filled from before a load, and what became of its lines. Pure. May not know how a cache is filled.

use crate::settings::Settings;
use crate::units::{Bytes, size_words};
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

/// The command that writes a list, as it is advised.
pub const WRITE_LIST: &str = "proofload tier dump CACHE --lines --json";

/// Reasons for which lines of a list are not filled, each with its words behind a number of lines.
pub const LEFT_OUT: [(&str, &str); 8] = [
    ("repeated", "named before"),
    ("no_volume", "of no volume of this database"),
    ("not_cached", "of a volume that is not cached"),
    ("beyond_volume", "beyond the end of their volume"),
    ("beyond_data", "beyond the end of the data"),
    ("beyond_quota", "beyond the quota of their volume"),
    ("no_room", "without room in the cache"),
    ("out_of_time", "left when the time was over"),
];

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
        if text.is_empty() {
            return Err("it is missing: the file is empty".to_owned());
        }
        let head = object(text)?;
        let volumes = head["volumes"].as_array().filter(|_| head["form"] == FORM);
        let volumes =
            volumes.ok_or_else(|| format!("it begins no list: `form` must be {FORM}, and `volumes` a list"))?;
        let bytes = |value: &Value| value.as_u64().map(Bytes);
        Ok(Self {
            line: bytes(&head["line_bytes"]),
            volumes: volumes.iter().map(|volume| bytes(&volume["bytes"])).collect(),
        })
    }

    /// Tells why a cache is not filled from the list, whose line and volumes have so many bytes; `None` where nothing stands against it.
    pub fn mismatch(&self, line: Bytes, volumes: &[Bytes]) -> Option<String> {
        if let Some(of_list) = self.line.filter(|of_list| *of_list != line) {
            let [of_list, line] = apart(of_list, line);
            return Some(format!("its lines are of {of_list}, and those of the cache of {line}"));
        }
        let mut pairs = self.volumes.iter().zip(volumes).enumerate();
        pairs.find_map(|(number, (of_list, here))| {
            let [of_list, here] = apart((*of_list).filter(|of_list| of_list != here)?, *here);
            Some(format!("its volume {number} has {of_list}, and that of the cache {here}"))
        })
    }
}

/// Two sizes for people; to the byte where rounded ones do not differ.
fn apart(one: Bytes, other: Bytes) -> [String; 2] {
    let both = [one, other];
    let words = both.map(size_words);
    if words[0] == words[1] { both.map(|size| size.to_string()) } else { words }
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
        let volume = volume.ok_or("`volume` must be a number from 0 to 255")?;
        let at = object["at"].as_u64().ok_or("`at` must be a number of bytes")?;
        Ok(Self { volume, at })
    }
}

fn object(text: &[u8]) -> Result<Value, String> {
    let text = text.trim_ascii_end();
    if text.is_empty() {
        return Err("it is empty".to_owned());
    }
    let found: Value = serde_json::from_slice(text).map_err(|error| {
        // What it says of a line is of this text alone.
        let told = error.to_string();
        let what = told.split(" at line ").next().unwrap_or_default();
        format!("it is no JSON object: {what} at column {}", error.column())
    })?;
    if found.is_object() { Ok(found) } else { Err("it is JSON, but no object".to_owned()) }
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
    /// Lines of a volume that is not there. Notes of earlier versions have them among those that are not cached.
    #[serde(default)]
    pub no_volume: u64,
    /// Lines of a volume that is not cached.
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
    /// Farthest byte that the list names beyond the end of the data volume or of what it holds; 0 without one. Notes of earlier versions
    /// have 0, or the farthest of any volume.
    #[serde(default)]
    pub farthest: u64,
}

impl WarmedList {
    /// Lines that were not filled, by the reason, where there are any.
    pub fn not_filled(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let all = [
            ("repeated", self.repeated),
            ("no_volume", self.no_volume),
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

    /// Tells why the cache before data of a size was not filled as a study asks for it, and what to do; `None` where it was.
    pub fn fault(&self, data: Bytes) -> Option<String> {
        if self.is_as_asked() {
            return None;
        }
        let left: Vec<String> =
            self.not_filled().map(|(reason, lines)| format!("{lines} {}", left_out_in_words(reason))).collect();
        if left.is_empty() {
            return Some(format!("the list names no line; write one with `{WRITE_LIST}`"));
        }
        let [farthest, size] = apart(Bytes(self.farthest), data);
        let is_beyond_an_end = self.beyond_volume > 0 || (self.filled == 0 && self.beyond_data > 0);
        let advice = match is_beyond_an_end {
            true if self.farthest > 0 && self.farthest >= data.0 => format!(
                "the list names bytes up to {farthest}, and the data have {size}, so it is of other data: write one of a \
                 cache of these with `{WRITE_LIST}`"
            ),
            true => format!(
                "the list names lines behind the end of a volume or of what it holds: write one of a cache of these data \
                 with `{WRITE_LIST}`"
            ),
            false if self.out_of_time > 0 => format!("set {WARM_WITHIN} to more"),
            false => format!("name a list of volumes that are cached in {WARM}, written with `{WRITE_LIST}`"),
        };
        Some(format!("lines not filled: {}; {advice}", left.join(", ")))
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

/// Words of a reason of [`LEFT_OUT`] behind a number of lines; the reason itself where it is none.
fn left_out_in_words(reason: &str) -> &str {
    LEFT_OUT.into_iter().find(|(known, _)| *known == reason).map_or(reason, |(_, words)| words)
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
            [("", "is empty"), (r#"{"form":2,"volumes":[]}"#, "`form` must be 1"), ("lines", "no JSON object")]
        {
            let told = WarmHead::parse(none.as_bytes());
            assert!(told.as_ref().is_err_and(|told| told.contains(why)), "{none}: {told:?}");
        }
        assert_eq!(WarmLine::parse(br#"{"volume":1,"at":16384,"line":7}"#), Ok(WarmLine { volume: 1, at: 16_384 }));
        for (none, why) in [
            (r#"{"volume":256,"at":0}"#, "`volume` must be a number from 0 to 255"),
            (r#"{"volume":0}"#, "`at` must be a number of bytes"),
            ("[]", "it is JSON, but no object"),
            ("\n", "it is empty"),
            // The column is of this text, and no line is counted twice.
            ("{\"volume\":0\n", "it is no JSON object: EOF while parsing an object at column 11"),
        ] {
            assert_eq!(WarmLine::parse(none.as_bytes()), Err(why.to_owned()), "{none}");
        }
    }

    #[test]
    fn a_list_of_other_data_is_told_to_be_one_with_both_sizes_and_what_to_do() {
        let data = Bytes(300 << 10);
        let other = WarmedList { named: 12, beyond_data: 12, farthest: 1 << 30, ..WarmedList::default() };
        let told = other.fault(data).expect("nothing was filled");
        let wanted = "lines not filled: 12 beyond the end of the data; the list names bytes up to 1 GiB, and the data have 300 KiB, \
                      so it is of other data: write one of a cache of these with `proofload tier dump CACHE --lines --json`";
        assert_eq!(told, wanted);
        let told = other.fault(Bytes(3 << 30)).expect("nothing was filled");
        assert!(
            told.contains("behind the end of a volume") && !told.contains("1 GiB"),
            "not farther than the data: {told}"
        );
        let nearly = WarmedList { farthest: (300 << 10) + 1, ..other }.fault(data).expect("nothing was filled");
        assert!(
            nearly.contains("up to 307201B, and the data have 300KiB"),
            "rounded, they would be the same: {nearly}"
        );
        assert_eq!(WarmedList { filled: 1, ..other }.fault(data), None, "data may be shorter");
        let late = WarmedList { named: 3, filled: 2, out_of_time: 1, ..WarmedList::default() };
        assert!(late.fault(data).is_some_and(|told| told.ends_with("set storage.cache.warm_within to more")));
        assert!(WarmedList::default().fault(data).is_some_and(|told| told.starts_with("the list names no line")));
        let nowhere = WarmedList { named: 2, no_volume: 2, ..WarmedList::default() };
        let told = nowhere.fault(data).expect("nothing was filled");
        assert!(told.starts_with("lines not filled: 2 of no volume of this database; name a list"), "{told}");
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
        assert!(other.contains("4 KiB") && other.contains("8 KiB"), "{other}");
        let other = of(Some(8192), &[Some(1 << 20), Some(1 << 20)]).mismatch(line, &volumes).expect("another volume");
        assert!(other.starts_with("its volume 1 has 1 MiB"), "{other}");
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
        let earlier = warmed.note().replace("\"no_volume\":0,", "").replace(",\"farthest\":0", "");
        assert!(!earlier.contains("no_volume") && !earlier.contains("farthest"), "{earlier}");
        assert_eq!(WarmedList::of_note(&earlier), Some(warmed), "a note of an earlier version is read");
        let one_of_each = WarmedList {
            named: 9,
            filled: 1,
            repeated: 1,
            no_volume: 1,
            not_cached: 1,
            beyond_volume: 1,
            beyond_data: 1,
            beyond_quota: 1,
            no_room: 1,
            out_of_time: 1,
            farthest: 0,
        };
        let reasons: Vec<&str> = one_of_each.not_filled().map(|(reason, _)| reason).collect();
        assert_eq!(reasons, LEFT_OUT.map(|(reason, _)| reason), "each reason has words");
    }
}

//! When and how fast the dirty lines of a cache are cleaned, and how its room is parted between its volumes. Pure. May not know how a cache
//! does it.

use crate::settings::{Settings, Value};
use crate::units::duration_text;
use crate::words::words;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// Writes of the cleaner to the slow medium under way at once, unless a study says how many. Source: the settings of a pool that its goals
/// are stated for, one write for each drive of the published array of eight.
pub const USUAL_CLEAN_DEPTH: u32 = 8;

/// The most that a study may ask for: twice the commands that a SATA drive holds, which are 32.
pub const MOST_CLEAN_DEPTH: u32 = 64;

/// The word for a depth that follows the medium.
pub const AUTO: &str = "auto";

/// Lines of a volume's part of a cache, at least.
const LEAST_LINES: u32 = 8;

/// Setting of the depth.
pub const CLEAN_DEPTH: &str = "storage.cache.clean_depth";
/// Setting of the time without requests after which all lines are cleaned.
pub const CLEAN_AFTER: &str = "storage.cache.clean_after";
/// Setting of the time that a line may be dirty.
pub const CLEAN_AGE: &str = "storage.cache.clean_age";

/// A part of a cache, in ten-thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CachePart(u32);

impl CachePart {
    /// All of a cache.
    pub const WHOLE: Self = Self(10_000);

    /// The nearest to a share from 0 to 1.
    pub fn of(share: f64) -> Self {
        Self((share.clamp(0.0, 1.0) * f64::from(Self::WHOLE.0)).round() as u32)
    }

    /// Takes per cent.
    const fn per_cent(part: u32) -> Self {
        Self(part * 100)
    }

    /// Takes ten-thousandths, at most all of them.
    pub fn of_parts(parts: u32) -> Self {
        Self(parts.min(Self::WHOLE.0))
    }

    /// The part in ten-thousandths.
    pub fn parts(self) -> u32 {
        self.0
    }

    /// The share, from 0 to 1.
    pub fn share(self) -> f64 {
        f64::from(self.0) / f64::from(Self::WHOLE.0)
    }

    /// The part of so many lines: at least eight, the fewest that a cache has.
    pub fn of_lines(self, lines: u32) -> u32 {
        let part = u64::from(lines) * u64::from(self.0) / u64::from(Self::WHOLE.0);
        u32::try_from(part).unwrap_or(lines).max(LEAST_LINES)
    }

    /// The rest of a cache.
    pub fn rest(self) -> Self {
        Self(Self::WHOLE.0.saturating_sub(self.0))
    }
}

impl fmt::Display for CachePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", f64::from(self.0) / 100.0)
    }
}

/// Writes of the cleaner to the slow medium under way at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CleanDepth {
    /// A number, 1 to [`MOST_CLEAN_DEPTH`].
    Fixed(u32),
    /// The number that the medium gains by, found while it cleans.
    Auto,
}

impl fmt::Display for CleanDepth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(depth) => write!(f, "{depth}"),
            Self::Auto => f.write_str(AUTO),
        }
    }
}

words! {
    /// A share of dirty lines at which cleaning changes. In this order each is at most the next one.
    DirtyMark {
        /// Share that the cleaner keeps.
        Target = "dirty_target",
        /// Share down to which the cleaner works without pause, once it does.
        CleanTo = "clean_to",
        /// Share from which the cleaner works without pause.
        CleanFrom = "clean_from",
        /// Share from which new writes go to the slow medium.
        BypassFrom = "bypass_from",
    }
}

impl DirtyMark {
    /// The setting of a study.
    pub fn setting(self) -> &'static str {
        match self {
            Self::Target => "storage.cache.dirty_target",
            Self::CleanTo => "storage.cache.clean_to",
            Self::CleanFrom => "storage.cache.clean_from",
            Self::BypassFrom => "storage.cache.bypass_from",
        }
    }
}

/// When and how fast dirty lines are cleaned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CleaningPlan {
    /// Writes to the slow medium under way at once.
    pub depth: CleanDepth,
    /// Shares of dirty lines, in the order of [`DirtyMark::ALL`].
    marks: [CachePart; 4],
    /// Time without requests after which all lines are cleaned.
    pub clean_after: Duration,
    /// Time that a line may be dirty.
    pub age_limit: Duration,
}

impl CleaningPlan {
    /// The plan of a study that says nothing of it: 20 % dirty, without pause from 50 % down to 45 %, bypass from 90 %, all after 1 s
    /// without requests, each line after 10 minutes. Source of the marks from 45 to 50 %: the kernel's documentation of dm-writecache.
    pub fn usual() -> Self {
        Self {
            depth: CleanDepth::Fixed(USUAL_CLEAN_DEPTH),
            marks: [20, 45, 50, 90].map(CachePart::per_cent),
            clean_after: Duration::from_secs(1),
            age_limit: Duration::from_secs(600),
        }
    }

    /// The plan of a point.
    pub fn of(settings: &Settings) -> Self {
        let mut plan = Self::usual();
        for mark in DirtyMark::ALL {
            if let Ok(share) = settings.number(mark.setting()) {
                plan.set_mark(mark, CachePart::of(share));
            }
        }
        match settings.get(CLEAN_DEPTH) {
            Some(Value::Text(word)) if word == AUTO => plan.depth = CleanDepth::Auto,
            _ => plan.depth = settings.count(CLEAN_DEPTH).map_or(plan.depth, CleanDepth::Fixed),
        }
        plan.clean_after = settings.duration(CLEAN_AFTER).unwrap_or(plan.clean_after);
        plan.age_limit = settings.duration(CLEAN_AGE).unwrap_or(plan.age_limit);
        plan
    }

    /// A share of dirty lines.
    pub fn mark(&self, mark: DirtyMark) -> CachePart {
        self.marks[mark as usize]
    }

    /// Changes a share of dirty lines.
    pub fn set_mark(&mut self, mark: DirtyMark, part: CachePart) {
        self.marks[mark as usize] = part;
    }

    /// The marks that are above the next one, with what is wrong and the limit, in the words of `name`.
    pub fn faults(&self, name: impl Fn(DirtyMark) -> String) -> Vec<(DirtyMark, String)> {
        let pairs = DirtyMark::ALL.iter().zip(&DirtyMark::ALL[1..]);
        let wrong = pairs.filter(|(low, high)| self.mark(**low) > self.mark(**high));
        let fault = |(low, high): (&DirtyMark, &DirtyMark)| {
            let (part, limit) = (self.mark(*low), self.mark(*high));
            let text = format!(
                "{} ({part}) is above {} ({limit}); lower the first to at most {limit}, or raise the second to at least {part}",
                name(*low),
                name(*high)
            );
            (*low, text)
        };
        wrong.map(fault).collect()
    }

    /// The marks in words, in their order from low to high.
    pub fn marks_text(&self) -> String {
        let [target, to, from, bypass] = self.marks;
        marks_text(target, (from, to), bypass)
    }

    /// The times in words.
    pub fn times_text(&self) -> String {
        times_text(self.clean_after, self.age_limit)
    }
}

/// Words for shares of dirty lines: wanted, the two between which the cleaner works without pause, and that from which writes bypass.
pub fn marks_text(target: CachePart, (from, to): (CachePart, CachePart), bypass: CachePart) -> String {
    format!("{target} dirty, without pause from {from} down to {to}, bypass from {bypass}")
}

/// Words for the times after which all lines are cleaned without requests, and each in any case.
pub fn times_text(clean_after: Duration, age_limit: Duration) -> String {
    format!("all after {} without requests, each after {}", duration_text(clean_after), duration_text(age_limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mark_above_the_next_is_told_with_its_limit() {
        let mut plan = CleaningPlan::usual();
        assert!(plan.faults(|mark| mark.word().to_owned()).is_empty());
        plan.set_mark(DirtyMark::Target, CachePart::of(0.6));
        plan.set_mark(DirtyMark::CleanFrom, CachePart::of(0.95));
        let faults = plan.faults(|mark| mark.word().to_owned());
        assert_eq!([faults[0].0, faults[1].0], [DirtyMark::Target, DirtyMark::CleanFrom]);
        let told: Vec<String> = faults.into_iter().map(|(_, text)| text).collect();
        assert_eq!(
            told,
            [
                "dirty_target (60%) is above clean_to (45%); lower the first to at most 45%, or raise the second to at least 60%",
                "clean_from (95%) is above bypass_from (90%); lower the first to at most 90%, or raise the second to at least 95%",
            ]
        );
    }

    #[test]
    fn a_plan_is_what_its_settings_say() {
        let given = [
            (CLEAN_DEPTH, Value::Text(AUTO.to_owned())),
            (CLEAN_AFTER, Value::Duration(Duration::from_secs(30))),
            (CLEAN_AGE, Value::Duration(Duration::from_secs(60))),
            ("storage.cache.dirty_target", Value::Number(0.1)),
            ("storage.cache.clean_to", Value::Number(0.125)),
            ("storage.cache.clean_from", Value::Number(0.3)),
            ("storage.cache.bypass_from", Value::Number(1.0)),
        ];
        let settings = Settings(given.into_iter().map(|(path, value)| (path.to_owned(), value)).collect());
        let plan = CleaningPlan::of(&settings);
        assert_eq!(plan.depth, CleanDepth::Auto);
        assert_eq!(plan.marks_text(), "10% dirty, without pause from 30% down to 12.5%, bypass from 100%");
        assert_eq!(plan.times_text(), "all after 30s without requests, each after 1m");
        assert_eq!(CleaningPlan::of(&Settings::default()), CleaningPlan::usual());
    }

    #[test]
    fn a_part_of_lines_is_at_least_eight() {
        assert_eq!([0.0, 0.1, 0.333, 1.0].map(|share| CachePart::of(share).of_lines(99)), [8, 9, 32, 99]);
        assert_eq!(CachePart::of(1.0).of_lines(u32::MAX), u32::MAX);
        assert_eq!(CachePart::of(0.3).rest(), CachePart::of(0.7));
    }
}

//! The value of a fact: the text that the record keeps, the number that findings calculate with, and how the text is read. May not know
//! which facts there are.

use crate::units::{Bytes, CpuRate};
use std::collections::BTreeSet;
use std::time::Duration;

/// How the text of a fact is read, and with it the unit of its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Text, unchanged.
    Text,
    /// `64MiB`; the number counts bytes.
    Size,
    /// `0.159s`; the number counts seconds.
    Seconds,
    /// A number of bytes.
    Bytes,
    /// A number of KiB.
    Kibibytes,
    /// A number of milliseconds.
    Milliseconds,
    /// A number of things; the word for them, which may be empty.
    Count(&'static str),
    /// A number per second, with its unit.
    Rate(&'static str),
    /// A number, `true` or `false`.
    Answer,
    /// Words of the kernel or the engine, with ours.
    Words(&'static [(&'static str, &'static str)]),
    /// Items with commas between.
    Items,
    /// SQLite's cache: pages, or KiB where negative. Source: sqlite.org/pragma.html#pragma_cache_size.
    PagesOrKibibytes,
}

impl Reading {
    /// Unit of the number; empty where it counts things without a name, and for text.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Size | Self::Bytes => "B",
            Self::Seconds => "s",
            Self::Kibibytes => "KiB",
            Self::Milliseconds => "ms",
            Self::Count(unit) | Self::Rate(unit) => unit,
            Self::Text | Self::Answer | Self::Words(_) | Self::Items | Self::PagesOrKibibytes => "",
        }
    }
}

/// Highest number of a core that is believed: the kernel's `NR_CPUS` ends far below.
const MOST_CORES: usize = 65_536;

/// A value as the record keeps it.
#[derive(Debug, Clone, PartialEq)]
pub struct FactValue {
    /// The value as people read it.
    pub text: String,
    /// The value in the unit of the fact; `None` for text.
    pub number: Option<f64>,
}

impl FactValue {
    /// A number that is written otherwise than in decimal digits alone.
    pub fn written(text: impl Into<String>, number: f64) -> Self {
        Self { text: text.into(), number: Some(number) }
    }
}

impl From<String> for FactValue {
    /// Text that is nothing but a decimal number is that number.
    fn from(text: String) -> Self {
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        Self { text, number }
    }
}

impl From<&str> for FactValue {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&String> for FactValue {
    fn from(text: &String) -> Self {
        text.clone().into()
    }
}

macro_rules! counts {
    ($($kind:ty),*) => {
        $(impl From<$kind> for FactValue {
            fn from(count: $kind) -> Self {
                Self::written(count.to_string(), count as f64)
            }
        })*
    };
}

counts!(u32, u64, usize, i32, i64, f64);

impl From<bool> for FactValue {
    fn from(answer: bool) -> Self {
        Self { text: answer.to_string(), number: None }
    }
}

impl From<Bytes> for FactValue {
    fn from(size: Bytes) -> Self {
        Self::written(size.to_string(), size.0 as f64)
    }
}

impl From<CpuRate> for FactValue {
    fn from(rate: CpuRate) -> Self {
        Self::written(rate.to_string(), rate.as_seconds())
    }
}

impl From<Duration> for FactValue {
    /// `0.159s`.
    fn from(time: Duration) -> Self {
        Self::written(format!("{:.3}s", time.as_secs_f64()), time.as_secs_f64())
    }
}

/// Cores that a process may use, as a fact says them: their number and the kernel's list of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CoreSet(pub BTreeSet<usize>);

impl CoreSet {
    /// Reads the value of a fact, such as `2 (0-1)`; `None` for other text.
    pub fn parse(text: &str) -> Option<Self> {
        let (_, list) = text.strip_suffix(')')?.split_once('(')?;
        Self::of_list(list)
    }

    /// Reads a list of the kernel, such as `0-2,5`; `None` for other text.
    ///
    /// Source: cpuset(7), list format.
    pub fn of_list(list: &str) -> Option<Self> {
        let mut cores = BTreeSet::new();
        for range in list.trim().split(',') {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            cores.extend(first.trim().parse::<usize>().ok()?..=last.trim().parse::<usize>().ok()?.min(MOST_CORES));
        }
        Some(Self(cores))
    }

    /// Tells whether a component of the series of cores is one of them.
    pub fn has(&self, component: &str) -> bool {
        component.parse().is_ok_and(|core: usize| self.0.contains(&core))
    }

    /// Writes `0-2,5`.
    pub fn ranges(&self) -> String {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for core in &self.0 {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == *core => *last = *core,
                _ => runs.push((*core, *core)),
            }
        }
        let text = |(first, last): &(usize, usize)| {
            if first == last { first.to_string() } else { format!("{first}-{last}") }
        };
        runs.iter().map(text).collect::<Vec<_>>().join(",")
    }
}

impl From<&CoreSet> for FactValue {
    /// `2 (0-1)`, which [`CoreSet::parse`] reads.
    fn from(cores: &CoreSet) -> Self {
        Self::written(format!("{} ({})", cores.0.len(), cores.ranges()), cores.0.len() as f64)
    }
}

/// Name or class of something, and what it is in words, as one fact holds them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Description {
    /// Its name, or the class that it belongs to.
    pub name: String,
    /// What it is, in words; may be empty.
    pub words: String,
}

impl Description {
    /// Makes a description; a name has no colon.
    pub fn new(name: impl Into<String>, words: impl Into<String>) -> Self {
        Self { name: name.into(), words: words.into() }
    }

    /// Reads the value of a fact, such as `simple: pricing summary`; text without a colon is a name alone.
    pub(super) fn parse(text: &str) -> Self {
        let (name, words) = text.split_once(": ").unwrap_or((text, ""));
        Self::new(name, words)
    }
}

impl From<Description> for FactValue {
    /// `simple: pricing summary`, which [`FactName::description`](super::FactName::description) reads.
    fn from(description: Description) -> Self {
        let Description { name, words } = description;
        let text = if words.is_empty() { name } else { format!("{name}: {words}") };
        Self { text, number: None }
    }
}

/// Numbers of one fact in one text, which [`in_list`] reads.
pub fn list(numbers: impl IntoIterator<Item = String>) -> String {
    numbers.into_iter().collect::<Vec<_>>().join(", ")
}

/// The numbers that [`list`] wrote.
pub fn in_list(text: &str) -> Vec<f64> {
    text.split(", ").filter_map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: impl Into<FactValue>, text: &str, number: Option<f64>) {
        assert_eq!(value.into(), FactValue { text: text.to_owned(), number });
    }

    #[test]
    fn a_number_stands_beside_the_text_that_people_read() {
        check(4_u32, "4", Some(4.0));
        check("8192", "8192", Some(8192.0));
        check("2 of 22", "2 of 22", None);
        check("inf", "inf", None);
        check(true, "true", None);
        check(Bytes::mebi(64), "64MiB", Some(67_108_864.0));
        check(CpuRate(500_000), "0.5 CPU s/s", Some(0.5));
        check(Duration::from_millis(159), "0.159s", Some(0.159));
    }

    #[test]
    fn cores_are_read_as_they_were_written() {
        for (cores, text) in [(vec![0, 1], "2 (0-1)"), (vec![0, 1, 2, 5, 7, 8], "6 (0-2,5,7-8)"), (vec![3], "1 (3)")] {
            let cores = CoreSet(cores.into_iter().collect());
            check(&cores, text, Some(cores.0.len() as f64));
            assert_eq!(CoreSet::parse(text), Some(cores));
        }
        assert_eq!(CoreSet::parse("2"), None);
        let cores = CoreSet::of_list(" 0-2,5\n").expect("it is a list of the kernel");
        assert_eq!(cores.ranges(), "0-2,5");
        assert_eq!(
            ["0", "5", "3", "", "core 0"].map(|component| cores.has(component)),
            [true, true, false, false, false]
        );
    }

    #[test]
    fn a_description_is_read_as_it_was_written() {
        let both = Description::new("simple", "pricing summary: by flag");
        let name = Description::new("simple", "");
        for (description, text) in [(both, "simple: pricing summary: by flag"), (name, "simple")] {
            check(description.clone(), text, None);
            assert_eq!(Description::parse(text), description);
        }
    }

    #[test]
    fn a_list_is_read_as_it_was_written() {
        let numbers = [2000.0, 16.25];
        assert_eq!(in_list(&list(numbers.iter().map(|number| format!("{number:.2}")))), numbers);
        assert!(in_list("").is_empty());
    }
}

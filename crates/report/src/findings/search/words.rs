//! A search in words: what it looks for, why a load is next, what it has found and what stands against it. May not decide anything.

use super::{SearchFindings, SearchState, SentencePart};
use crate::findings::factor::{level_text, setting_title};
use crate::numbers::short;
use proofload_analysis::quantity::Quantity;
use proofload_analysis::search::{Doubt, Ending, SearchAnswer, Try, Why};
use proofload_model::samples::ALL_KINDS;
use proofload_model::settings::{Value, setting};
use proofload_model::study::{Goal, load_of, value_of};

impl SearchFindings {
    /// A load as the study would write it.
    pub(crate) fn load(&self, load: f64) -> String {
        match value_of(&self.asked, load) {
            Value::Number(number) => short_exact(number),
            Value::Integer(number) => crate::numbers::count(u64::try_from(number).unwrap_or_default()),
            other => other.to_string(),
        }
    }

    /// A load with what it is of.
    fn of(&self, load: f64) -> String {
        let title = setting_title(&self.asked.setting);
        let unit = if self.asked.setting == setting::WORKLOAD_RATE {
            "operations per second offered".to_owned()
        } else {
            title
        };
        let number = self.load(load);
        // "1 virtual user": all settings that can be searched are plural nouns.
        let unit = if number == "1" { unit.strip_suffix('s').unwrap_or(&unit) } else { unit.as_str() };
        format!("{number} {unit}")
    }

    /// What is looked for, as a clause behind "the".
    pub(crate) fn goal(&self) -> String {
        match &self.asked.goal {
            Goal::Max { plateau } => {
                format!("smallest load with a throughput within {} % of the largest", short(100.0 * plateau))
            }
            Goal::Percentile { statistic, at_most, operation } => {
                let whose = if operation == ALL_KINDS { "all operations".to_owned() } else { operation.clone() };
                let limit = level_text(&Value::Duration(*at_most));
                format!(
                    "largest load at which the {} response time of {whose} is at most {limit}",
                    percentile(statistic)
                )
            }
        }
    }

    /// Why a load is next, and beside which other, for the record.
    pub fn why(&self, step: &Try, beside: Option<f64>) -> String {
        let why = self.reason(step);
        beside.map_or_else(|| why.clone(), |other| format!("{why}; measured side by side with {}", self.load(other)))
    }

    fn reason(&self, step: &Try) -> String {
        let load = |load: f64| self.load(load);
        let percentile = matches!(self.asked.goal, Goal::Percentile { .. });
        match &step.why {
            Why::Start => "the smallest load".to_owned(),
            Why::Climb { after } if percentile => format!("the limit was met up to {}", load(*after)),
            Why::Climb { after } => format!("throughput may still rise after {}", load(*after)),
            Why::Between { low, high } if percentile => {
                format!("the limit was met at {} and exceeded at {}", load(*low), load(*high))
            }
            Why::Between { low, high } => {
                format!("{} is below the plateau and {} is on it", load(*low), load(*high))
            }
            Why::Fall { best, fallen } => {
                format!("throughput fell from {} to {}: the largest may lie between them", load(*best), load(*fallen))
            }
            Why::AfterVoid => "the previous attempt was void".to_owned(),
            Why::Unsure => "repeated: the answer depends on it, and its interval is too wide to decide".to_owned(),
        }
    }

    /// Why a search has no answer; `None` while it goes on and when it has one.
    pub(crate) fn why_not(&self) -> Option<String> {
        let SearchState::Ended(ending) = &self.state else { return None };
        let percentile = matches!(self.asked.goal, Goal::Percentile { .. });
        let (from, to) = (load_of(&self.asked.from)?, load_of(&self.asked.to)?);
        Some(match ending {
            Ending::Found(_) => return None,
            Ending::BeyondEnd if percentile => {
                format!("the limit is still met at {}, the largest load: raise search.to", self.of(to))
            }
            Ending::BeyondEnd => {
                format!("throughput still rises towards {}, the largest load: raise search.to", self.of(to))
            }
            Ending::BeforeStart if percentile => {
                format!(
                    "the limit is already exceeded at {}, the smallest load: lower search.from or raise the limit",
                    self.of(from)
                )
            }
            Ending::BeforeStart => {
                format!("throughput does not rise beyond {}, the smallest load: lower search.from", self.of(from))
            }
            Ending::CannotTell { load, why, .. } => {
                format!("{} was void twice, and the answer depends on it: {why}", self.of(*load))
            }
            Ending::Exhausted { .. } => {
                format!(
                    "all {} measurements were used before an answer was found: raise search.points",
                    self.asked.points
                )
            }
        })
    }

    /// What stands against an answer, a sentence each.
    pub(crate) fn doubts(&self) -> Vec<String> {
        let percentile = matches!(self.asked.goal, Goal::Percentile { .. });
        let of = |load: f64| self.load(load);
        let word = |doubt: &Doubt| match doubt {
            Doubt::Interval { load } if percentile => {
                format!(
                    "The interval at {} contains the limit, so the true turning point may lie on its other side.",
                    of(*load)
                )
            }
            Doubt::Interval { load } => {
                format!("The interval at {} is too wide to decide whether it is on the plateau.", of(*load))
            }
            Doubt::KeptAbove { load } => format!("At a larger load, {}, the limit was met again.", of(*load)),
            Doubt::Falls { from, to } => {
                format!(
                    "The percentile does not always rise with the load: it is lower at {} than at {}.",
                    of(*to),
                    of(*from)
                )
            }
            Doubt::Dips { load } => {
                format!("Throughput has more than one peak: it dips at {} and is larger on both sides.", of(*load))
            }
            Doubt::LargestAtEnd => {
                "The largest load has the largest throughput; larger loads may have more.".to_owned()
            }
        };
        self.so_far().map(|found| found.doubts.iter().map(word).collect()).unwrap_or_default()
    }

    /// The answer, or why there is none, as sentences with their numbers.
    pub(crate) fn told(&self) -> Vec<SentencePart> {
        let doubts = self.doubts().into_iter().map(|doubt| SentencePart::Words(format!(" {doubt}")));
        self.answer().into_iter().chain(doubts).collect()
    }

    /// The same without what stands against it.
    pub(crate) fn answer(&self) -> Vec<SentencePart> {
        let mut told = Vec::new();
        match (&self.state, self.found(), self.why_not()) {
            (_, Some(found), _) => {
                told.push(SentencePart::Words(format!("{}: the {}", self.of(found.load), self.goal())));
                self.tell_values(found, &mut told);
            }
            (_, None, Some(why)) => {
                told.push(SentencePart::Words(format!("No answer: {why}.")));
                if let Some(found) = self.so_far() {
                    told.push(SentencePart::Words(format!(" So far the {} is {}", self.goal(), self.of(found.load))));
                    self.tell_values(found, &mut told);
                }
            }
            (SearchState::Next(step), ..) => {
                told.push(SentencePart::Words(format!(
                    "Not finished: next is {}, because {}.",
                    self.of(step.load),
                    self.reason(step)
                )));
            }
            _ => told.push(SentencePart::Words("Not finished: chosen runs are missing.".to_owned())),
        }
        told
    }

    /// The values at the answer and beside it.
    fn tell_values(&self, found: &SearchAnswer, told: &mut Vec<SentencePart>) {
        let value = |load: f64| {
            let mut of_load = self.path.iter().rev().filter(|chosen| chosen.load == load);
            of_load
                .find_map(|chosen| chosen.value.as_ref().ok())
                .map(|quantity| SentencePart::Number(Box::new(quantity.clone())))
        };
        let mut part = |lead: &str, load: f64, tail: String| {
            if let Some(number) = value(load) {
                told.extend([SentencePart::Words(lead.to_owned()), number, SentencePart::Words(tail)]);
            }
        };
        part("; ", found.load, " there".to_owned());
        let (low, high) = found.range;
        let other = if low == found.load { high } else { low };
        if other != found.load {
            part(", ", other, format!(" at {}", self.load(other)));
        }
        if let Some(best) = found.best.filter(|best| *best != found.load) {
            part(", and the largest, ", best, format!(", at {}", self.load(best)));
            self.tell_share(found.load, told);
        }
        told.push(SentencePart::Words(".".to_owned()));
    }

    /// What the answer's throughput is of the largest, where loads were measured side by side.
    fn tell_share(&self, load: f64, told: &mut Vec<SentencePart>) {
        let of_load = self.path.iter().rev().filter(|chosen| chosen.load == load);
        let share = of_load.filter_map(|chosen| chosen.of_largest.as_ref()?.as_ref().ok()).next();
        if let Some(share) = share {
            told.push(SentencePart::Words("; measured side by side, the answer has ".to_owned()));
            told.push(SentencePart::Number(Box::new(share.clone())));
            told.push(SentencePart::Words(" times the largest".to_owned()));
        }
    }

    /// The same as plain text.
    pub fn text(&self) -> String {
        let word = |told: &SentencePart| match told {
            SentencePart::Words(words) => words.clone(),
            SentencePart::Number(quantity) => plain(quantity),
        };
        self.told().iter().map(word).collect()
    }
}

/// A quantity as plain text.
fn plain(quantity: &Quantity) -> String {
    let shown = crate::numbers::shown(quantity);
    let interval = shown.interval.map(|(low, high)| format!(" [{low}, {high}]")).unwrap_or_default();
    let why = shown.missing.map(|why| format!(", no interval: {why}")).unwrap_or_default();
    format!("{} {}{interval} (n = {}{why})", shown.value, shown.unit, shown.n)
}

/// A rate with its digits, thousands apart.
fn short_exact(number: f64) -> String {
    let text = number.to_string();
    let places = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    crate::numbers::grouped(number, places)
}

/// `p999` in words.
fn percentile(statistic: &str) -> String {
    match statistic {
        "p50" => "median".to_owned(),
        "p999" => "99.9th percentile".to_owned(),
        other => format!("{}th percentile", other.trim_start_matches('p')),
    }
}

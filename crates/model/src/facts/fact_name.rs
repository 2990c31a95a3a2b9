//! Handles of facts: how a maker writes a fact and a reader finds it. May not know which facts there are.

use super::table::{FACTS, FAMILIES};
use super::value::{CoreSet, Description, FactValue, Reading};
use crate::samples::Fact;
use std::borrow::Cow;

/// Row of the table of facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactName {
    /// What the fact is about.
    pub subject: &'static str,
    /// Name within its subject.
    pub name: Cow<'static, str>,
    /// Title in a report, a name of the kernel or the engine in backquotes; empty: made from the name.
    pub title: &'static str,
    /// How its text is read.
    pub reading: Reading,
    /// Whether only somebody who repeats the run needs it.
    pub is_detail: bool,
    /// Whether it differs from run to run by its nature, and so says nothing about what was tested.
    pub is_passing: bool,
}

/// Facts of one kind whose names hold a word of the study, such as a table or a setting of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FactFamily {
    /// What the facts are about.
    pub subject: &'static str,
    /// Beginning of their names.
    pub before: &'static str,
    /// End of their names.
    pub after: &'static str,
    /// How their text is read.
    pub reading: Reading,
    /// Whether only somebody who repeats the run needs them.
    pub is_detail: bool,
}

impl FactName {
    /// A row of the table.
    pub(super) const fn new(subject: &'static str, name: &'static str, title: &'static str, reading: Reading) -> Self {
        Self { subject, name: Cow::Borrowed(name), title, reading, is_detail: false, is_passing: false }
    }

    pub(super) const fn detail(mut self) -> Self {
        self.is_detail = true;
        self
    }

    pub(super) const fn passing(mut self) -> Self {
        self.is_passing = true;
        self
    }

    /// The same fact under a title of one section or workload.
    pub const fn titled(mut self, title: &'static str) -> Self {
        self.title = title;
        self
    }

    /// An observation: nothing was asked.
    pub fn observed(&self, value: impl Into<FactValue>, source: impl Into<String>) -> Fact {
        let value = value.into();
        Fact { effective: Some(value.text), number: value.number, ..self.unknown(source) }
    }

    /// An observation that may have found nothing; `source` then says why.
    pub fn found(&self, value: Option<impl Into<FactValue>>, source: impl Into<String>) -> Fact {
        match value {
            Some(value) => self.observed(value, source),
            None => self.unknown(source),
        }
    }

    /// A fact without a value; `source` says why.
    pub fn unknown(&self, source: impl Into<String>) -> Fact {
        Fact {
            subject: self.subject.to_owned(),
            name: self.name.clone().into_owned(),
            source: source.into(),
            ..Fact::default()
        }
    }

    /// What was asked, what was read back, and whether that is what was asked.
    pub fn compared(
        &self,
        requested: impl Into<String>,
        effective: Option<impl Into<FactValue>>,
        holds: bool,
        source: impl Into<String>,
    ) -> Fact {
        Fact { requested: Some(requested.into()), holds: Some(holds), ..self.found(effective, source) }
    }

    /// What was asked and was carried out as asked, by whoever says so.
    pub fn carried_out(&self, value: impl Into<FactValue>, source: impl Into<String>) -> Fact {
        let value = value.into();
        self.compared(value.text.clone(), Some(value), true, source)
    }

    /// True for a fact of this name.
    pub fn is_of(&self, fact: &Fact) -> bool {
        fact.subject == self.subject && fact.name == self.name
    }

    /// The last fact of this name, of a standby none.
    pub fn last<'f>(&self, facts: &'f [Fact]) -> Option<&'f Fact> {
        facts.iter().rev().find(|fact| self.is_of(fact) && !fact.instance.is_standby())
    }

    /// Text of the last fact of this name.
    pub fn text<'f>(&self, facts: &'f [Fact]) -> Option<&'f str> {
        self.last(facts)?.effective.as_deref()
    }

    /// Answer of the last fact of this name, `true` or `false`.
    pub fn answer(&self, facts: &[Fact]) -> Option<bool> {
        self.text(facts).map(|text| text == "true")
    }

    /// Number of the last fact of this name, in its unit.
    pub fn number(&self, facts: &[Fact]) -> Option<f64> {
        self.last(facts)?.number
    }

    /// Cores of the last fact of this name; `None` where its value is no set of cores.
    pub fn cores(&self, facts: &[Fact]) -> Option<CoreSet> {
        CoreSet::parse(self.text(facts)?)
    }

    /// Description of the last fact of this name.
    pub fn description(&self, facts: &[Fact]) -> Option<Description> {
        self.text(facts).map(Description::parse)
    }
}

impl FactFamily {
    /// The fact of one table, setting, query or agent.
    pub fn of(&self, part: &str) -> FactName {
        FactName {
            subject: self.subject,
            name: Cow::Owned(format!("{}{part}{}", self.before, self.after)),
            title: "",
            reading: self.reading,
            is_detail: self.is_detail,
            is_passing: false,
        }
    }

    /// The part of a fact's name that is its own; `None` where the fact is of another family.
    pub fn part<'f>(&self, fact: &'f Fact) -> Option<&'f str> {
        self.part_of(&fact.subject, &fact.name)
    }

    /// The part of a fact's name that is its own, and the description that the fact holds; `None` where the fact is of another family or
    /// without a value.
    pub fn description<'f>(&self, fact: &'f Fact) -> Option<(&'f str, Description)> {
        let part = self.part(fact)?;
        Some((part, Description::parse(fact.effective.as_deref()?)))
    }

    fn part_of<'n>(&self, subject: &str, name: &'n str) -> Option<&'n str> {
        name.strip_prefix(self.before)?.strip_suffix(self.after).filter(|_| subject == self.subject)
    }
}

/// The name of a fact that differs between load agents, as one of them tells it.
pub fn of_agent(name: &str, agent: &str) -> String {
    format!("{name} ({agent})")
}

/// The name of a fact without the load agent that [`of_agent`] puts behind it.
pub fn without_agent(name: &str) -> &str {
    name.split_once(" (").map_or(name, |(name, _agent)| name)
}

/// The row of a fact of a record, or what its family says of it; `None` for facts of other programs and versions.
pub fn known(subject: &str, name: &str) -> Option<FactName> {
    let row = FACTS.iter().find(|row| (row.subject, row.name.as_ref()) == (subject, name)).cloned();
    row.or_else(|| {
        let family = FAMILIES.iter().find(|family| family.part_of(subject, name).is_some())?;
        Some(family.of(family.part_of(subject, name)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_is_found_by_the_handle_that_made_it() {
        let facts = [
            super::super::host::CORES.observed(2_u64, "a test"),
            super::super::host::CORES.observed(4_u64, "a test"),
            super::super::data::ROWS_OF.of("stock").observed(400_u64, "a test"),
            super::super::host::GOVERNOR.unknown("not there"),
        ];
        assert_eq!(super::super::host::CORES.number(&facts), Some(4.0));
        assert_eq!(super::super::data::ROWS_OF.part(&facts[2]), Some("stock"));
        assert_eq!(super::super::data::ROWS_OF.part(&facts[1]), None);
        assert_eq!(super::super::host::GOVERNOR.text(&facts), None);
        let durable = super::super::engine::DURABLE_COMMITS;
        assert_eq!(
            [true, false].map(|answer| durable.answer(&[durable.observed(answer, "a test")])),
            [Some(true), Some(false)]
        );
        assert_eq!(durable.answer(&facts), None);
    }

    #[test]
    fn a_fact_of_one_agent_has_the_name_that_it_has_without() {
        assert_eq!(of_agent("threads", "load-1"), "threads (load-1)");
        assert_eq!([of_agent("threads", "a (b)").as_str(), "threads"].map(without_agent), ["threads"; 2]);
    }

    #[test]
    fn values_with_parts_are_found_as_they_were_made() {
        let cores = CoreSet([0, 1, 4].into());
        let allowed = super::super::limit::CORES.observed(&cores, "a test");
        assert_eq!(super::super::limit::CORES.cores(&[allowed]), Some(cores));
        let query = Description::new("simple", "pricing summary");
        let name = super::super::client::QUERY.of("q01");
        let facts = [name.observed(query.clone(), "a test"), name.unknown("not there")];
        assert_eq!(name.description(&facts[..1]), Some(query.clone()));
        assert_eq!(super::super::client::QUERY.description(&facts[0]), Some(("q01", query)));
        assert_eq!(super::super::client::QUERY.description(&facts[1]), None);
        assert_eq!(super::super::client::DEPARTURE.description(&facts[0]), None);
    }

    #[test]
    fn every_row_stands_once_and_families_catch_the_rest() {
        for (place, row) in FACTS.iter().enumerate() {
            let again = FACTS[place + 1..].iter().any(|other| (other.subject, &other.name) == (row.subject, &row.name));
            assert!(!again, "{} {} stands twice", row.subject, row.name);
            assert_eq!(known(row.subject, &row.name).as_ref(), Some(row));
            assert!(!row.title.is_empty(), "{} {} has no title", row.subject, row.name);
        }
        assert_eq!(known("data", "rows.stock").map(|row| row.reading), Some(Reading::Count("")));
        assert_eq!(known("engine", "work_mem").map(|row| row.title), Some(""));
        assert_eq!(known("another", "fact"), None);
    }
}

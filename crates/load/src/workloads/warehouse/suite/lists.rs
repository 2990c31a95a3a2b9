//! Lists that values of parameters are drawn from: `suites/warehouse/lists.txt`.

use proofload_model::error::Error;
use std::collections::BTreeMap;

/// Where they stand.
const PATH: &str = "lists.txt";

/// The lists, by name.
#[derive(Debug, Default)]
pub(super) struct Lists(BTreeMap<String, Vec<String>>);

impl Lists {
    /// Reads the file of the suite.
    pub(super) fn of_suite() -> Result<Self, Error> {
        let text = super::files::file(PATH).ok_or_else(|| Error::new(format!("the suite has no {PATH}")))?;
        Self::read(text)
    }

    /// Reads lines `list name = a, b` and `+ c, d`.
    fn read(text: &str) -> Result<Self, Error> {
        let mut lists = Self::default();
        let mut open = String::new();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with("--")) {
            let values = if let Some(more) = line.strip_prefix("+ ") {
                more
            } else {
                let form = || Error::new(format!("{PATH} line {}: {line:?} is not \"list name = a, b\"", number + 1));
                let (name, values) =
                    line.strip_prefix("list ").and_then(|rest| rest.split_once(" = ")).ok_or_else(form)?;
                name.clone_into(&mut open);
                values
            };
            let values = values.split(',').map(|value| value.trim().to_owned());
            lists.0.entry(open.clone()).or_default().extend(values);
        }
        Ok(lists)
    }

    /// The values of a list.
    pub(super) fn values(&self, name: &str) -> Result<&[String], Error> {
        self.0.get(name).map(Vec::as_slice).ok_or_else(|| Error::new(format!("{PATH} has no list {name}")))
    }

    /// What a list of pairs gives for a value.
    pub(super) fn pair(&self, name: &str, value: &str) -> Result<&str, Error> {
        let mut pairs = self.values(name)?.iter().filter_map(|pair| pair.split_once(" > "));
        let found = pairs.find(|(known, _)| *known == value).map(|(_, other)| other);
        found.ok_or_else(|| Error::new(format!("{PATH}: the list {name} has no pair of {value:?}")))
    }
}

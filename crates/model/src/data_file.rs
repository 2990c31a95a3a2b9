//! Small TOML files that the program carries as data: a list of known keys with their values. May not know any of the keys.

use crate::error::Error;
use crate::study::{Assignment, Fault, faults_text, nearest, take_apart};
use toml_edit::Value;

/// A file that has been read.
#[derive(Debug, Clone)]
pub struct DataFile {
    name: String,
    values: Vec<Assignment>,
}

impl DataFile {
    /// Reads a text. Each of its keys must be in `known`, in which `table.*` allows any key of a table; the error says file, line and the
    /// nearest key that is known.
    pub fn read(name: &str, text: &str, known: &[&str]) -> Result<Self, Error> {
        let taken = take_apart(text);
        let is_known = |path: &str| {
            let in_table = |known: &str| known.strip_suffix('*').is_some_and(|table| path.starts_with(table));
            known.iter().any(|known| *known == path || in_table(known))
        };
        let of_file = taken.assignments.iter().map(|one| (one.line, one.path.as_str()));
        let keys = of_file.chain(taken.factors.iter().map(|factor| (factor.line, "factor")));
        let unknown = keys.filter(|(_, path)| !is_known(path)).map(|(line, path)| Fault {
            line,
            key: path.to_owned(),
            reason: "no such key".to_owned(),
            suggestion: nearest(path, known.iter().copied()),
        });
        let faults: Vec<Fault> = taken.faults.into_iter().chain(unknown).collect();
        if faults.is_empty() {
            return Ok(Self { name: name.to_owned(), values: taken.assignments });
        }
        Err(Error::new(faults_text(&faults).trim_end().to_owned()).context(name))
    }

    /// A text; `None` where the file does not have the key.
    pub fn text(&self, key: &str) -> Result<Option<&str>, Error> {
        self.value(key).map(|value| value.as_str().ok_or_else(|| self.wrong(key, "text"))).transpose()
    }

    /// A count; `None` where the file does not have the key.
    pub fn count(&self, key: &str) -> Result<Option<u32>, Error> {
        let count = |value: &Value| value.as_integer().and_then(|number| u32::try_from(number).ok());
        self.value(key).map(|value| count(value).ok_or_else(|| self.wrong(key, "a count"))).transpose()
    }

    /// A choice of yes and no; `None` where the file does not have the key.
    pub fn flag(&self, key: &str) -> Result<Option<bool>, Error> {
        self.value(key).map(|value| value.as_bool().ok_or_else(|| self.wrong(key, "true or false"))).transpose()
    }

    /// Texts in their order; `None` where the file does not have the key.
    pub fn texts(&self, key: &str) -> Result<Option<Vec<&str>>, Error> {
        let texts = |value: &'_ Value| value.as_array().is_some_and(|items| items.iter().all(Value::is_str));
        match self.value(key) {
            None => Ok(None),
            Some(value) if !texts(value) => Err(self.wrong(key, "a list of strings")),
            Some(value) => Ok(value.as_array().map(|items| items.iter().filter_map(Value::as_str).collect())),
        }
    }

    /// Names and texts of a table, in the order of the file; empty where the file does not have it.
    pub fn table(&self, key: &str) -> Result<Vec<(&str, &str)>, Error> {
        let mut entries = Vec::new();
        for one in &self.values {
            let Some(name) = one.path.strip_prefix(key).and_then(|rest| rest.strip_prefix('.')) else { continue };
            entries.push((name, one.value.as_str().ok_or_else(|| self.wrong(&one.path, "text"))?));
        }
        Ok(entries)
    }

    fn value(&self, key: &str) -> Option<&Value> {
        self.values.iter().find(|one| one.path == key).map(|one| &one.value)
    }

    fn wrong(&self, key: &str, kind: &str) -> Error {
        Error::new(format!("{key} must be {kind}")).context(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[&str] = &["falls_back", "loaders", "build_settings.*"];

    #[test]
    fn values_are_read_by_their_keys() {
        let text = "loaders = 4\nfalls_back = [\"a\", \"b\"]\n[build_settings]\nsync = \"OFF\"\nlog = \"2\"\n";
        let file = DataFile::read("d.toml", text, KNOWN).unwrap();
        assert_eq!(file.count("loaders").unwrap(), Some(4));
        assert_eq!(file.texts("falls_back").unwrap(), Some(vec!["a", "b"]));
        assert_eq!(file.table("build_settings").unwrap(), [("sync", "OFF"), ("log", "2")]);
        assert_eq!((file.text("dates").unwrap(), file.texts("other").unwrap()), (None, None));
    }

    #[track_caller]
    fn check_fault(text: &str, expected: &str) {
        let file = DataFile::read("d.toml", text, KNOWN);
        let read = file.and_then(|file| {
            file.table("build_settings")?;
            file.texts("falls_back")?;
            file.count("loaders")
        });
        assert_eq!(read.unwrap_err().to_string(), expected);
    }

    #[test]
    fn unknown_keys_and_wrong_kinds_are_named() {
        check_fault("\nloader = 4", "d.toml: line 2: loader: no such key; did you mean loaders?");
        check_fault("loaders = \"4\"", "d.toml: loaders must be a count");
        check_fault("falls_back = [1]", "d.toml: falls_back must be a list of strings");
        check_fault("[build_settings]\nsync = 1", "d.toml: build_settings.sync must be text");
        check_fault("[[factor]]\nsetting = 1", "d.toml: line 2: factor: no such key");
    }
}

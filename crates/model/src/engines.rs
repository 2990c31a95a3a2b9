//! What is known of an engine by its name alone, as the files of `suites/engines/` say: for what was recorded or imported, also of engines
//! that are not built in. May not know any of them.

use crate::data_file::DataFile;
use crate::error::Error;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Name and description of each, embedded when the program is built.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/engines.rs"));

/// Keys of a description.
const KEYS: &[&str] = &["title", "layout", "in_process"];

/// An engine by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedEngine {
    /// What the product is called.
    pub title: String,
    /// How it stores the tables of the warehouse unless it is told: `rows` or `columns`.
    pub layout: Option<String>,
    /// Whether it runs inside the load agent.
    pub in_process: bool,
}

impl NamedEngine {
    fn read(name: &str, text: &str) -> Result<Self, Error> {
        let path = format!("suites/engines/{name}.toml");
        let file = DataFile::read(&path, text, KEYS)?;
        let title = file.text("title")?.ok_or_else(|| Error::new("the title is missing").context(&path))?.to_owned();
        let layout = file.text("layout")?.map(str::to_owned);
        Ok(Self { title, layout, in_process: file.flag("in_process")?.unwrap_or(false) })
    }
}

/// The engine of a name, as in `engine.kind`; `None` where nothing is known of it.
pub fn named_engine(name: &str) -> Option<&'static NamedEngine> {
    static ALL: OnceLock<BTreeMap<&str, NamedEngine>> = OnceLock::new();
    let read = |(name, text): &(&'static str, &str)| Some((*name, NamedEngine::read(name, text).ok()?));
    ALL.get_or_init(|| FILES.iter().filter_map(read).collect()).get(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_description_is_understood_and_found_by_its_name() {
        assert!(FILES.len() > 5);
        for (name, text) in FILES {
            assert_eq!(named_engine(name), NamedEngine::read(name, text).as_ref().ok(), "{name}");
            assert!(named_engine(name).is_some_and(|known| !known.title.is_empty()), "{name}");
        }
        assert_eq!(named_engine("nothing"), None);
    }

    #[test]
    fn an_unknown_key_is_a_fault() {
        let fault = NamedEngine::read("a", "title = \"A\"\nlayouts = \"rows\"").unwrap_err().to_string();
        assert_eq!(fault, "suites/engines/a.toml: line 2: layouts: no such key; did you mean layout?");
    }
}

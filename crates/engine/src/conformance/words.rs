//! What the suite has to know of an engine: the file `conformance.toml` of its folder.

use crate::contract::{Engine, Error};
use proofload_model::data_file::DataFile;

/// Name and text of each file.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/conformance.rs"));

const KEYS: &[&str] =
    &["types", "of_list", "bump", "settings.*", "not_in_force.*", "foreign.*", "counters", "moves", "cores"];

/// Words of one engine.
#[derive(Debug, Clone, Default)]
pub struct Words {
    /// Types of integer, big integer, decimal with two digits, text, time.
    pub types: [String; 5],
    /// Settings to start with.
    pub settings: Vec<(String, String)>,
    /// A setting that is not in force, and cannot be for this place.
    pub not_in_force: (String, String),
    /// The last element and the number of a list's elements, where the dialect has lists.
    pub of_list: Option<String>,
    /// An update that returns what it left, where the dialect has no RETURNING.
    pub bump: Option<String>,
    /// How to make a database that is not ours.
    pub foreign: Vec<(String, String)>,
    /// Series that an observer reads of every version of the server.
    pub counters: Vec<String>,
    /// Totals that transactions which write, and a checkpoint after them, make larger: the name of a series, or name and component with `/`
    /// between.
    pub moves: Vec<String>,
    /// Setting of how many cores work, where a server that runs already takes it.
    pub cores: Option<String>,
}

impl Words {
    /// Words of an engine; empty for one that keeps no data.
    ///
    /// # Errors
    /// The engine has no file, or the file is not understood.
    pub fn of(engine: &dyn Engine) -> Result<Self, Error> {
        let about = engine.about();
        if !about.keeps_data {
            return Ok(Self { not_in_force: (about.name.to_owned(), String::new()), ..Self::default() });
        }
        let (_, text) = FILES
            .iter()
            .find(|(name, _)| *name == about.name)
            .ok_or_else(|| Error::other(format!("the engine {} has no conformance.toml in its folder", about.name)))?;
        Self::read(about.name, text).map_err(|error| Error::other(error.to_string()))
    }

    fn read(name: &str, text: &str) -> Result<Self, proofload_model::error::Error> {
        let path = format!("{name}/conformance.toml");
        let wrong = |what: &str| proofload_model::error::Error::new(what).context(&path);
        let file = DataFile::read(&path, text, KEYS)?;
        let table = |key: &str| -> Result<Vec<(String, String)>, proofload_model::error::Error> {
            Ok(file.table(key)?.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
        };
        let texts = |key: &str| -> Result<Vec<String>, proofload_model::error::Error> {
            Ok(file.texts(key)?.unwrap_or_default().iter().map(|word| (*word).to_owned()).collect())
        };
        Ok(Self {
            types: texts("types")?.try_into().map_err(|_| wrong("types must be five"))?,
            settings: table("settings")?,
            not_in_force: table("not_in_force")?.pop().ok_or_else(|| wrong("not_in_force must have a setting"))?,
            of_list: file.text("of_list")?.map(str::to_owned),
            bump: file.text("bump")?.map(str::to_owned),
            foreign: table("foreign")?,
            counters: texts("counters")?,
            moves: texts("moves")?,
            cores: file.text("cores")?.map(str::to_owned),
        })
    }

    /// A word about databases that are not ours.
    pub(super) fn foreign(&self, key: &str) -> Option<&str> {
        self.foreign.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_with_sql_that_keeps_data_has_words() {
        for engine in crate::ENGINES.iter().filter(|engine| engine.facts().capabilities.sql) {
            let words = Words::of(*engine).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(words.types.iter().all(|word| !word.is_empty()), engine.about().keeps_data);
        }
    }

    #[test]
    fn every_server_that_is_observed_has_totals_that_must_move() {
        for name in ["mariadb", "mysql", "postgresql", "sqlserver"] {
            let words =
                Words::of(crate::engine(name).expect("it is built in")).unwrap_or_else(|error| panic!("{error}"));
            assert!(words.moves.len() > 3, "{name}: {:?}", words.moves);
            assert_eq!(words.cores.is_some(), name == "sqlserver");
        }
    }

    #[test]
    fn faults_of_a_file_are_told() {
        let fault = |text: &str| Words::read("a", text).unwrap_err().to_string();
        assert!(fault("types = [\"a\"]").contains("types must be five"));
        assert!(fault("kinds = 1").ends_with("kinds: no such key"));
        assert!(fault("types = [\"a\",\"b\",\"c\",\"d\",\"e\"]").contains("not_in_force"));
    }
}

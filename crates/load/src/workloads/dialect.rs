//! How a workload speaks to an engine: the folder `suites/<workload>/<engine>/`, embedded when the program is built,
//! holds the texts that differ from those that it falls back on, at last `standard/`, and says the rest in
//! `dialect.toml`. May not contain statements, and may not know an engine or a workload by name.

use super::suite::SuiteFile;
use proofload_model::data_file::DataFile;
use proofload_model::error::Error;

/// Path and text of every file below `suites/`, sorted by path.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/suites.rs"));

/// Folder of the texts that need no dialect.
pub(super) const STANDARD: &str = "standard";

/// What a dialect says of itself; a folder without it is no dialect.
const DESCRIPTION: &str = "dialect.toml";

/// Keys of the description that every workload reads.
const KEYS: &[&str] = &["falls_back", "loaders", "build_settings.*", "ddl_in_transaction", "count"];

/// The number of rows, for dialects that say nothing of it: it has 64 bits there.
const COUNT: &str = "count(*)";

/// The suites of one workload.
#[derive(Debug)]
pub(super) struct Suites {
    /// Name of the workload and of its folder.
    pub(super) workload: &'static str,
    /// Keys of a description that this workload reads beside those of every workload.
    pub(super) keys: &'static [&'static str],
}

/// How a workload speaks to one engine.
#[derive(Debug)]
pub(super) struct Dialect {
    /// Name of the folder: that of the engine, or of another form of its texts.
    pub(super) name: &'static str,
    /// Settings that hold during a build only.
    pub(super) build_settings: Vec<(String, String)>,
    /// Sessions that load at the same time, unless the study says otherwise.
    pub(super) loaders: usize,
    /// How the steps of a build are put together.
    pub(super) steps: BuildSteps,
    /// The number of rows, in 64 bits.
    pub(super) count: String,
    /// All that the dialect says of itself.
    pub(super) description: DataFile,
    /// Folders of its texts, those that others replace first.
    folders: Vec<String>,
}

/// How a step of a build is put together that makes tables, indexes or routines and notes that they are made.
#[derive(Debug, Clone, Copy)]
pub(super) struct BuildSteps {
    ddl_in_transaction: bool,
}

impl BuildSteps {
    /// The script of a step: one transaction where the engine can, else what is made first, each statement of which must find what an earlier
    /// try has made, and then the notes in one transaction.
    pub(super) fn script(self, made: &str, notes: &str) -> String {
        if self.ddl_in_transaction {
            format!("BEGIN;\n{made}\n{notes}COMMIT;")
        } else {
            format!("{made}\nBEGIN;\n{notes}COMMIT;")
        }
    }
}

impl Suites {
    /// Names of the dialects, in alphabetical order.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        let folder = format!("suites/{}/", self.workload);
        FILES
            .iter()
            .filter_map(move |(path, _)| path.strip_prefix(&*folder)?.strip_suffix(DESCRIPTION)?.strip_suffix('/'))
    }

    /// The dialect of this name; the error names those of the engines that there are.
    pub(super) fn dialect(&self, name: &str) -> Result<Dialect, Error> {
        let known = self.names().find(|known| *known == name).ok_or_else(|| {
            let names: Vec<&str> = self.names().filter(|name| proofload_engine::engine(name).is_some()).collect();
            Error::new(format!(
                "the workload {} does not support the engine {name}; it supports {}",
                self.workload,
                names.join(", ")
            ))
        })?;
        let path = format!("suites/{}/{known}/{DESCRIPTION}", self.workload);
        let keys: Vec<&str> = KEYS.iter().chain(self.keys).copied().collect();
        let description = DataFile::read(&path, file(&path).unwrap_or_default(), &keys)?;
        let below = description.texts("falls_back")?.unwrap_or_else(|| vec![STANDARD]);
        let folder = |name: &str| format!("suites/{}/{name}/", self.workload);
        let folders = below.into_iter().rev().chain([known]).map(folder).collect();
        let settings = description.table("build_settings")?;
        let build_settings = settings.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let loaders = description.count("loaders")?.ok_or_else(|| Error::new("loaders is missing").context(&path))?;
        let steps = BuildSteps { ddl_in_transaction: description.flag("ddl_in_transaction")?.unwrap_or(true) };
        let count = description.text("count")?.unwrap_or(COUNT).to_owned();
        let loaders = loaders.max(1) as usize;
        Ok(Dialect { name: known, build_settings, loaders, steps, count, description, folders })
    }
}

impl Dialect {
    /// The texts of this file name, those that others replace statements of first.
    pub(super) fn layers(&self, name: &str) -> impl Iterator<Item = SuiteFile<'static>> {
        self.folders.iter().filter_map(move |folder| find(&format!("{folder}{name}")))
    }

    /// The text of this file name that none replaces.
    pub(super) fn nearest(&self, name: &str) -> Option<SuiteFile<'static>> {
        self.layers(name).last()
    }
}

/// The text of a file, by its whole path.
pub(super) fn file(path: &str) -> Option<&'static str> {
    find(path).map(|file| file.text)
}

/// Paths of all files.
pub(super) fn paths() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(path, _)| *path)
}

fn find(path: &str) -> Option<SuiteFile<'static>> {
    let place = FILES.binary_search_by(|(known, _)| (*known).cmp(path)).ok()?;
    FILES.get(place).map(|(path, text)| SuiteFile { path, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TPROCC: Suites = Suites { workload: "tprocc", keys: &["meeting.*"] };

    #[test]
    fn files_are_sorted_so_that_they_are_found() {
        assert!(FILES.is_sorted());
        assert!(paths().all(|path| file(path).is_some()));
    }

    #[test]
    fn what_a_dialect_lacks_comes_from_what_it_falls_back_on() {
        let paths = |dialect: &str, name: &str| -> Vec<&str> {
            TPROCC.dialect(dialect).unwrap().layers(name).map(|file| file.path).collect()
        };
        assert_eq!(paths("null", "schema.sql"), ["suites/tprocc/sqlite/schema.sql"]);
        let layers = ["suites/tprocc/standard/payment.sql", "suites/tprocc/sqlite/payment.sql"];
        assert_eq!(paths("null", "payment.sql"), layers);
        assert_eq!(paths("postgresql", "payment.sql"), layers[..1]);
        assert_eq!(TPROCC.dialect("null").unwrap().nearest("payment.sql").unwrap().path, layers[1]);
    }

    #[test]
    fn rows_are_counted_in_64_bits() {
        let count = |dialect: &str| TPROCC.dialect(dialect).unwrap().count;
        assert_eq!(["sqlite", "mariadb", "sqlserver"].map(count), [COUNT, COUNT, "COUNT_BIG(*)"]);
    }

    #[test]
    fn an_engine_without_a_dialect_is_told_those_that_there_are() {
        let error = TPROCC.dialect("standard").unwrap_err().to_string();
        assert!(error.starts_with("the workload tprocc does not support the engine standard; it supports "), "{error}");
        assert!(error.ends_with("null, postgresql, sqlite, sqlserver"), "{error}");
    }
}

//! What is known of an engine by its name alone, as the files of `suites/engines/` say: for what was recorded or imported, also of engines
//! that are not built in. May not know any of them.

use crate::data_file::DataFile;
use crate::error::Error;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Name and description of each, embedded when the program is built.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/engines.rs"));

/// Keys of a description.
const KEYS: &[&str] = &["title", "layout", "in_process", "tested", "tpm", "cache", "unlogged", "note"];

/// Versions with a passed self-test.
const VERIFIED: &str = include_str!("../suites/verified.toml");

/// An engine by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedEngine {
    /// What the product is called.
    pub title: String,
    /// How it stores the tables of the warehouse unless it is told: `rows` or `columns`.
    pub layout: Option<String>,
    /// Whether it runs inside the load agent.
    pub in_process: bool,
    /// How its code is tested, in words; `None` where the description does not say.
    pub tested: Option<String>,
    /// Counters of its observer, per second, whose sum published figures call its transactions; empty where there are none.
    pub tpm: Vec<String>,
    /// Names of its own settings that limit a cache of the database; empty where it has none.
    pub cache: Vec<String>,
    /// Its own settings, each with a value under which it acknowledges commits before its log has them; empty where nothing is known.
    pub unlogged: Vec<(String, String)>,
    /// Sentence that reports print about it, such as a condition of its licence; `None` where there is none.
    pub note: Option<String>,
}

/// A version of an engine on which a self-test has passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedVersion {
    /// The version as the server tells it.
    pub version: String,
    /// The day, such as `2026-11-26`.
    pub day: String,
    /// Parts of the self-test that were skipped, in words; empty where all were looked at.
    pub without: String,
}

/// What stands between the day and the parts that were skipped.
const WITHOUT: &str = " without ";

/// Versions of an engine on which a self-test has passed, in the order of the file.
pub fn verified_versions(name: &str) -> Vec<VerifiedVersion> {
    let read = |text| verified_in(text, name).unwrap_or_default();
    read(VERIFIED)
}

fn verified_in(text: &str, name: &str) -> Result<Vec<VerifiedVersion>, Error> {
    let file = DataFile::read("suites/verified.toml", text, &["*"])?;
    let row = |(version, said): (&str, &str)| {
        let (day, without) = said.split_once(WITHOUT).unwrap_or((said, ""));
        VerifiedVersion {
            version: version.trim_matches('"').to_owned(),
            day: day.to_owned(),
            without: without.to_owned(),
        }
    };
    Ok(file.table(name)?.into_iter().map(row).collect())
}

/// What is known of an engine on real servers, in words: of all versions, or of the one that was seen.
pub fn verified_words(name: &str, seen: Option<&str>) -> String {
    let versions = verified_versions(name);
    if versions.is_empty() && named_engine(name).is_some_and(|known| known.in_process) {
        return "no self-test has passed yet".to_owned();
    }
    words_of(&versions, seen)
}

fn words_of(versions: &[VerifiedVersion], seen: Option<&str>) -> String {
    let one = |VerifiedVersion { version, day, without }: &VerifiedVersion| match without.as_str() {
        "" => format!("{version} ({day})"),
        without => format!("{version} ({day}, without {without})"),
    };
    // A server may say more than its version: "15.14 (Debian 15.14-0+deb12u1)".
    let is = |found: &&VerifiedVersion| {
        let between = |letter: char| letter.is_whitespace() || "(),-".contains(letter);
        seen.is_some_and(|seen| seen.split(between).any(|word| word == found.version))
    };
    if let Some(found) = versions.iter().find(is) {
        return format!("verified on {}", one(found));
    }
    let all: Vec<String> = versions.iter().map(one).collect();
    match (all.is_empty(), seen) {
        (true, _) => "no self-test has passed: never run on a server".to_owned(),
        (false, Some(_)) => "no self-test has passed on this version".to_owned(),
        (false, None) => format!("verified on {}", all.join(", ")),
    }
}

impl NamedEngine {
    fn read(name: &str, text: &str) -> Result<Self, Error> {
        let path = format!("suites/engines/{name}.toml");
        let file = DataFile::read(&path, text, KEYS)?;
        let title = file.text("title")?.ok_or_else(|| Error::new("the title is missing").context(&path))?.to_owned();
        let layout = file.text("layout")?.map(str::to_owned);
        let tested = file.text("tested")?.map(str::to_owned);
        let note = file.text("note")?.map(str::to_owned);
        let texts = |key| -> Result<Vec<String>, Error> {
            Ok(file.texts(key)?.unwrap_or_default().into_iter().map(str::to_owned).collect())
        };
        let (tpm, cache) = (texts("tpm")?, texts("cache")?);
        let pair = |text: String| {
            let fault = || Error::new(format!("unlogged: {text} is not SETTING = VALUE")).context(&path);
            text.split_once(" = ").map(|(name, value)| (name.to_owned(), value.to_owned())).ok_or_else(fault)
        };
        let unlogged = texts("unlogged")?.into_iter().map(pair).collect::<Result<_, _>>()?;
        let in_process = file.flag("in_process")?.unwrap_or(false);
        Ok(Self { title, layout, in_process, tested, tpm, cache, unlogged, note })
    }
}

/// Names of all engines of which something is known, in alphabetical order.
pub fn named_engines() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// Settings of all engines of which something is known, each with a value under which commits are acknowledged before the log has them.
pub fn unlogged_settings() -> impl Iterator<Item = (&'static str, &'static str)> {
    let known = named_engines().filter_map(named_engine).flat_map(|engine| &engine.unlogged);
    known.map(|(name, value)| (name.as_str(), value.as_str()))
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
        let tpm = |name: &str| named_engine(name).map(|known| known.tpm.join("+"));
        assert_eq!(
            ["mariadb", "sqlserver", "sqlite"].map(tpm),
            [Some("commits+rollbacks".to_owned()), Some("batches".to_owned()), Some(String::new())]
        );
        let unlogged = |name: &str| named_engine(name).map(|known| known.unlogged.len());
        assert_eq!(["postgresql", "mariadb", "mysql", "sqlite"].map(unlogged), [Some(2), Some(1), Some(1), Some(0)]);
        let has_note = |name: &str| named_engine(name).is_some_and(|known| known.note.is_some());
        assert_eq!(["sqlserver", "postgresql"].map(has_note), [true, false]);
        assert!(unlogged_settings().all(|(name, value)| !name.is_empty() && !value.is_empty()));
        let fault = NamedEngine::read("a", "title = \"A\"\nunlogged = [\"on\"]").unwrap_err().to_string();
        assert_eq!(fault, "suites/engines/a.toml: unlogged: on is not SETTING = VALUE");
    }

    #[test]
    fn verified_versions_are_told_for_the_version_that_was_seen() {
        let text = "[a]\n\"16.0.4150\" = \"2026-11-26\"\n\"15.14\" = \"2026-11-25\"\n";
        let versions = verified_in(text, "a").unwrap();
        assert_eq!(words_of(&versions, Some("16.0.4150")), "verified on 16.0.4150 (2026-11-26)");
        assert_eq!(words_of(&versions, Some("15.14 (Debian 15.14-1)")), "verified on 15.14 (2026-11-25)");
        let others = "verified on 16.0.4150 (2026-11-26), 15.14 (2026-11-25)";
        assert_eq!(words_of(&versions, Some("15.1")), "no self-test has passed on this version");
        assert_eq!(words_of(&versions, None), others);
        let partly = verified_in("[a]\n\"16.0\" = \"2026-11-26 without meetings by statements\"\n", "a").unwrap();
        assert_eq!((partly[0].day.as_str(), partly[0].without.as_str()), ("2026-11-26", "meetings by statements"));
        assert_eq!(words_of(&partly, Some("16.0")), "verified on 16.0 (2026-11-26, without meetings by statements)");
        assert_eq!(
            words_of(&verified_in(text, "b").unwrap(), Some("1")),
            "no self-test has passed: never run on a server"
        );
    }

    #[test]
    fn the_list_of_verified_versions_is_understood_and_each_row_is_of_a_known_engine() {
        let file = DataFile::read("suites/verified.toml", VERIFIED, &["*"]).unwrap();
        let rows: usize = named_engines().map(|name| verified_in(VERIFIED, name).unwrap().len()).sum();
        let lines = VERIFIED.lines().filter(|line| line.contains('=') && !line.starts_with('#')).count();
        assert_eq!(rows, lines, "{file:?}");
        assert!(rows > 0);
    }

    #[test]
    fn an_unknown_key_is_a_fault() {
        let fault = NamedEngine::read("a", "title = \"A\"\nlayouts = \"rows\"").unwrap_err().to_string();
        assert_eq!(fault, "suites/engines/a.toml: line 2: layouts: no such key; did you mean layout?");
    }
}

//! What a first study may be: workloads, places and what varies, and which of them go together. Words and tables only.

use crate::cli_first::InitWorkload;
use proofload_model::settings::setting;

/// What is known of a workload here. To add one, add its row to [`WORKLOADS`] and its section to the template.
#[derive(Debug, Clone, Copy)]
pub(super) struct WorkloadRow {
    pub(super) workload: InitWorkload,
    /// Word of the flag and of the answer.
    pub(super) word: &'static str,
    /// What it asks of a database.
    pub(super) about: &'static str,
    /// What the title calls its result.
    pub(super) result: &'static str,
    /// Engines that are embedded or that Proofload starts; the first is taken where nobody is asked.
    pub(super) engines: &'static [&'static str],
    /// Engines of an existing server.
    pub(super) servers: &'static [&'static str],
    /// What may vary; the first is taken where nobody is asked and nothing stands against it.
    pub(super) vary: &'static [&'static str],
    /// The setting that says how many users there are.
    pub(super) users: &'static str,
}

const WITHOUT_CACHE: &[&str] = &[MEMORY, USERS, SETTING, NOTHING];

/// Every workload, in the order of the question.
pub(super) const WORKLOADS: &[WorkloadRow] = &[
    WorkloadRow {
        workload: InitWorkload::Oltp,
        word: "oltp",
        about: "orders and payments, derived from TPC-C",
        result: "OLTP throughput",
        engines: &["sqlite", "postgresql", "mariadb", "mysql"],
        servers: &["postgresql", "mariadb", "mysql", "sqlserver"],
        vary: WITHOUT_CACHE,
        users: setting::WORKLOAD_VIRTUAL_USERS,
    },
    WorkloadRow {
        workload: InitWorkload::KeyValue,
        word: "key-value",
        about: "reads and updates of single records, as in YCSB",
        result: "Key-value throughput",
        engines: &["sqlite", "postgresql", "mongodb", "mariadb", "mysql"],
        servers: &["postgresql", "mongodb", "mariadb", "mysql", "sqlserver"],
        vary: WITHOUT_CACHE,
        users: setting::WORKLOAD_VIRTUAL_USERS,
    },
    WorkloadRow {
        workload: InitWorkload::Warehouse,
        word: "warehouse",
        about: "analytic queries, derived from TPC-H",
        result: "Analytic queries",
        engines: &["sqlite", "postgresql", "duckdb", "mariadb", "mysql"],
        servers: &["postgresql", "mariadb", "mysql", "sqlserver"],
        vary: WITHOUT_CACHE,
        users: setting::WORKLOAD_STREAMS,
    },
    WorkloadRow {
        workload: InitWorkload::CacheTier,
        word: "cache-tier",
        about: "orders and payments on slow drives with an SSD cache",
        result: "OLTP throughput behind an SSD cache",
        engines: &["sqlite", "postgresql"],
        servers: &[],
        vary: &[CACHE, USERS, SETTING, NOTHING],
        users: setting::WORKLOAD_VIRTUAL_USERS,
    },
];

pub(super) const MEMORY: &str = "memory";
pub(super) const USERS: &str = "users";
pub(super) const CACHE: &str = "cache";
pub(super) const SETTING: &str = "setting";
pub(super) const NOTHING: &str = "nothing";

/// What may vary, and what each means.
pub(super) const VARIED: &[(&str, &str)] = &[
    (MEMORY, "the memory of the database"),
    (USERS, "the number of active users"),
    (CACHE, "the size of the cache"),
    (SETTING, "one setting, such as engine.settings.synchronous_commit"),
    (NOTHING, "nothing: a single point"),
];

/// Beginnings of URLs, and the engines that they are of.
const SCHEMES: &[(&str, &str)] = &[
    ("postgresql://", "postgresql"),
    ("postgres://", "postgresql"),
    ("mariadb://", "mariadb"),
    ("mysql://", "mysql"),
    ("sqlserver://", "sqlserver"),
    ("mongodb://", "mongodb"),
    ("mongodb+srv://", "mongodb"),
];

/// The row of a workload.
pub(super) fn row(workload: InitWorkload) -> &'static WorkloadRow {
    WORKLOADS.iter().find(|row| row.workload == workload).expect("each workload has a row, which a test checks")
}

/// The engine of a URL; `None` when its beginning is not known.
pub(super) fn engine_of_url(url: &str) -> Option<&'static str> {
    SCHEMES.iter().find(|(scheme, _)| url.starts_with(scheme)).map(|(_, engine)| *engine)
}

/// Where the database is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DatabasePlace {
    /// An engine of this machine: embedded, or a server that Proofload starts.
    Engine(String),
    /// An existing server.
    Server {
        /// Its engine.
        engine: String,
        /// Its address.
        url: String,
    },
}

impl DatabasePlace {
    /// The word in `engine.kind`.
    pub(super) fn engine(&self) -> &str {
        match self {
            Self::Engine(engine) | Self::Server { engine, .. } => engine,
        }
    }

    /// Whether it is an existing server.
    pub(super) const fn is_server(&self) -> bool {
        matches!(self, Self::Server { .. })
    }
}

/// What differs between the points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Vary {
    /// Memory of the database.
    Memory,
    /// Users.
    Users,
    /// Size of the cache of a tier.
    Cache,
    /// A setting with its levels, as a study writes them.
    Setting {
        /// Its path.
        path: String,
        /// A list in the words of TOML, on one line.
        levels: String,
    },
    /// One point only.
    Nothing,
}

impl Vary {
    /// Reads the word or `SETTING=[LEVEL, ...]` of the flag; the error says what is right.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let steers = |letter: char| letter.is_control() || matches!(letter, '"' | '\\');
        match text.trim() {
            MEMORY => Ok(Self::Memory),
            USERS => Ok(Self::Users),
            CACHE => Ok(Self::Cache),
            NOTHING => Ok(Self::Nothing),
            other => match other.split_once('=').map(|(path, levels)| (path.trim(), levels.trim())) {
                Some((path, levels))
                    if !path.is_empty()
                        && !path.contains(steers)
                        && levels.starts_with('[')
                        && levels.ends_with(']')
                        && !levels.contains(char::is_control) =>
                {
                    Ok(Self::Setting { path: path.to_owned(), levels: levels.to_owned() })
                }
                _ => Err(format!(
                    "--vary {other}: use memory, users, cache, nothing, or a setting with its levels, such as --vary \
                     'engine.settings.synchronous_commit=[\"on\", \"off\"]'"
                )),
            },
        }
    }

    /// The word of the flag.
    pub(super) const fn word(&self) -> &'static str {
        match self {
            Self::Memory => MEMORY,
            Self::Users => USERS,
            Self::Cache => CACHE,
            Self::Setting { .. } => SETTING,
            Self::Nothing => NOTHING,
        }
    }

    /// The last part of the names of study and file.
    pub(super) fn label(&self) -> &str {
        match self {
            Self::Setting { path, .. } => path.rsplit('.').next().unwrap_or(SETTING),
            other => other.word(),
        }
    }
}

/// What can vary there: an existing server keeps its own limits.
pub(super) fn may_vary(row: &WorkloadRow, is_server: bool) -> Vec<&'static str> {
    row.vary.iter().copied().filter(|word| !(is_server && *word == MEMORY)).collect()
}

/// The three answers.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    pub(super) workload: InitWorkload,
    pub(super) place: DatabasePlace,
    pub(super) vary: Vary,
}

impl Choice {
    /// The name of study and file.
    pub(super) fn name(&self) -> String {
        format!("{}-{}", row(self.workload).word, self.vary.label())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn every_workload_of_the_command_line_has_a_row_of_its_word() {
        for workload in InitWorkload::value_variants() {
            let value = workload.to_possible_value().unwrap();
            assert_eq!(value.get_name(), row(*workload).word);
        }
        for engine in WORKLOADS.iter().flat_map(|row| row.engines.iter().chain(row.servers)) {
            assert!(proofload_engine::engine(engine).is_some(), "{engine}");
        }
    }

    #[test]
    fn a_setting_comes_with_its_levels_on_one_line() {
        let setting = |path: &str, levels: &str| Vary::Setting { path: path.to_owned(), levels: levels.to_owned() };
        assert_eq!(Vary::parse("a.b = [1, 2]"), Ok(setting("a.b", "[1, 2]")));
        assert_eq!(Vary::parse(" users "), Ok(Vary::Users));
        for wrong in ["", "a.b", "a.b=1", "=[1]", "a\"b=[1]", "a=[1\n]", "Memory"] {
            assert!(Vary::parse(wrong).unwrap_err().contains("synchronous_commit"), "{wrong:?}");
        }
    }
}

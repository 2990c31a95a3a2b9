//! What servers of MySQL's family have otherwise than each other, as data: one value for each. What they have alike is in the other files of this folder.

use super::replication_words::ReplicationWords;
use super::rights::NeededRight;
use super::version::{OldestVersion, ServerUse, ServerVersion, VersionedText};
use crate::contract::{Error, LiveSetting};
use crate::engines::counter::Counter;
use crate::engines::{mariadb, mysql};
use proofload_model::settings::SettingSpec;

/// Every server of the family.
const ALL: &[&Flavour] = &[&mariadb::FLAVOUR, &mysql::FLAVOUR];

/// Gives an engine all that the family has, by its flavour.
pub(in crate::engines) trait FamilyMember: Sync + std::fmt::Debug + 'static {
    /// What it has otherwise than others.
    const FLAVOUR: &'static Flavour;
}

/// What one server has otherwise than the others.
#[derive(Debug)]
pub(in crate::engines) struct Flavour {
    /// The word in `engine.kind`, with which a URL begins too.
    pub(in crate::engines) name: &'static str,
    /// What the server is called.
    pub(in crate::engines) product: &'static str,
    /// One line for lists.
    pub(in crate::engines) title: &'static str,
    /// Settings of Proofload's own, below `engine.`.
    pub(in crate::engines) settings: &'static [SettingSpec],
    /// Word in a version that tells the server; `None` for the one whose version has none.
    pub(in crate::engines) version_word: Option<&'static str>,
    /// The oldest version of it for each use; a use that is not among them takes all.
    pub(in crate::engines) oldest: &'static [OldestVersion],
    /// Group of the client's option file beside `[client]` that a password is taken from.
    pub(in crate::engines) client_group: &'static str,
    /// How an account is given a method of authentication that is spoken here.
    pub(in crate::engines) change_method: &'static str,
    /// What a text of several statements is when it is prepared.
    pub(in crate::engines) several: SeveralStatements,
    /// Its programs on a host.
    pub(in crate::engines) programs: ProgramNames,
    /// How a local instance is made and configured.
    pub(in crate::engines) instance: InstanceRecipe,
    /// What a limit of memory implies.
    pub(in crate::engines) memory: MemoryShares,
    /// Texts of statements.
    pub(in crate::engines) statements: FlavourStatements,
    /// What it calls the parts of its replication.
    pub(in crate::engines) replication: ReplicationWords,
    /// Settings that a study's reader wants to know whether or not they were asked for.
    pub(in crate::engines) observed: &'static [&'static str],
    /// What experiments can change while an instance runs.
    pub(in crate::engines) live: &'static [LiveSetting],
    /// Roles that threads of its server are known to have.
    pub(in crate::engines) roles: &'static [&'static str],
    /// Rights that an account needs beside those that it needs at every server of the family.
    pub(in crate::engines) rights: &'static [NeededRight],
    /// Numbers of the server's status that the others do not have.
    pub(in crate::engines) counters: &'static [Counter],
}

/// What a text of several statements is when it is prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engines) enum SeveralStatements {
    /// One block, which the server runs as a whole.
    Block,
    /// A part for each, sent behind each other in one flight.
    Parts,
}

/// Names of programs and where they lie.
#[derive(Debug)]
pub(in crate::engines) struct ProgramNames {
    /// The server.
    pub(in crate::engines) server: &'static str,
    /// The program that makes a data folder; `None` where the server itself does.
    pub(in crate::engines) install: Option<&'static str>,
    /// Where distributions keep them beside the folders of the `PATH`.
    pub(in crate::engines) folders: &'static [&'static str],
    /// What to do where they are missing.
    pub(in crate::engines) remedy: &'static str,
}

/// How a local instance is made and configured.
#[derive(Debug)]
pub(in crate::engines) struct InstanceRecipe {
    /// Options that make a data folder, beside those that name it.
    pub(in crate::engines) create: &'static [&'static str],
    /// Name of the socket in the data folder.
    pub(in crate::engines) socket: &'static str,
    /// Name of the file of the process id in the data folder.
    pub(in crate::engines) process_file: &'static str,
    /// Defaults that differ from the server's own or that a reader of a study wants to see said. A study may overrule them.
    pub(in crate::engines) defaults: &'static [(&'static str, &'static str)],
    /// Setting of the size of the server's own log, whose default follows from the data that were built. A study may overrule it.
    pub(in crate::engines) log_size: &'static str,
    /// What an instance with a binary log has beside. A study may overrule it.
    pub(in crate::engines) with_binary_log: &'static [(&'static str, &'static str)],
    /// Settings by which the testbed reaches the instance, or that lead out of its folder; a study may not set them.
    pub(in crate::engines) ours: &'static [&'static str],
}

/// What a limit of memory implies.
#[derive(Debug)]
pub(in crate::engines) struct MemoryShares {
    /// The smallest limit that the server starts with and works under, MiB.
    pub(in crate::engines) minimum_mib: u64,
    /// What the server takes at rest beside its pool, MiB.
    pub(in crate::engines) at_rest_mib: u64,
    /// Sizes of caches beside the pool.
    pub(in crate::engines) caches: &'static [(&'static str, &'static str)],
    /// How a pool is divided, by its size, largest first; empty where any size is taken.
    pub(in crate::engines) division: &'static [PoolDivision],
}

/// How a pool from some size on is divided: its size is a multiple of both numbers' product.
#[derive(Debug)]
pub(in crate::engines) struct PoolDivision {
    /// Size from which on it holds, MiB.
    pub(in crate::engines) from_mib: u64,
    /// Size of a chunk, MiB.
    pub(in crate::engines) chunk_mib: u64,
    /// Number of instances.
    pub(in crate::engines) instances: u64,
}

/// Texts of statements, with words in braces for what is not known before.
#[derive(Debug)]
pub(in crate::engines) struct FlavourStatements {
    /// What a session says first.
    pub(in crate::engines) setup: &'static str,
    /// How texts of a database are kept and compared.
    pub(in crate::engines) texts: &'static str,
    /// An expression of a row of `information_schema.schemata`: the mark on a database, empty for none.
    pub(in crate::engines) mark_of: &'static str,
    /// Makes `{database}` with `{texts}` and the mark `{mark}`.
    pub(in crate::engines) create_marked: &'static str,
    /// Marks the empty `{database}` likewise.
    pub(in crate::engines) mark_empty: &'static str,
    /// Rights that an account needs for both.
    pub(in crate::engines) rights: &'static str,
    /// Analyses `{table}`.
    pub(in crate::engines) analyse: &'static str,
    /// How many transactions are left to purge.
    pub(in crate::engines) to_purge: &'static str,
    /// Removes the binary log.
    pub(in crate::engines) forget_log: VersionedText,
    /// Numbers of the status of the `{names}`, by name.
    pub(in crate::engines) status: &'static str,
    /// What sessions do that have a statement under way; those of observers are not counted.
    pub(in crate::engines) waits: &'static str,
    /// Threads by their numbers at the kernel, with their roles.
    pub(in crate::engines) threads: &'static str,
    /// All settings: name in small letters, value, whether a session may set it, or may be tried to.
    pub(in crate::engines) settings: &'static str,
    /// Where those are read, for a fact.
    pub(in crate::engines) settings_source: &'static str,
    /// Ends each statement of an observer after a second.
    pub(in crate::engines) cap_observer: &'static str,
}

impl Flavour {
    /// The server of a version: that whose word is in it, else the one without a word.
    pub(super) fn of_version(version: &str) -> &'static Self {
        let has = |flavour: &&&Self| flavour.version_word.is_some_and(|word| version.contains(word));
        ALL.iter()
            .find(has)
            .or_else(|| ALL.iter().find(|flavour| flavour.version_word.is_none()))
            .copied()
            .unwrap_or(&mysql::FLAVOUR)
    }

    /// The server of this name.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|flavour| flavour.name == name).copied()
    }

    /// Refuses a server of another flavour in words that name its engine. Its number may be a proxy's and decides nothing.
    pub(super) fn check_version(&self, version: &str) -> Result<(), Error> {
        let found = Self::of_version(version);
        if found.name == self.name {
            return Ok(());
        }
        let (theirs, engine) = (found.product, found.name);
        Err(Error::other(format!(
            "the server is {theirs} ({version}) and not {}: choose engine.kind = \"{engine}\", whose URLs begin with {engine}://",
            self.product
        )))
    }

    /// Refuses a server that is too old for a use.
    pub(super) fn check_use(&self, wanted: ServerUse, found: ServerVersion) -> Result<(), Error> {
        let oldest = self.oldest.iter().find(|oldest| oldest.wanted_for == wanted);
        oldest.map_or(Ok(()), |oldest| oldest.check(self.product, found))
    }
}

/// A text with its words in braces replaced.
pub(super) fn filled(text: &str, words: &[(&str, &str)]) -> String {
    words.iter().fold(text.to_owned(), |text, (word, value)| text.replace(&format!("{{{word}}}"), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_told_by_its_version_and_another_engine_is_named() {
        let of = |version: &str| Flavour::of_version(version).name;
        let versions = ["5.5.5-10.11.19-MariaDB-0+deb12u1", "11.4.2-MariaDB", "9.7.4-2", "8.0.36", "8.0.35-27-Percona"];
        assert_eq!(versions.map(of), ["mariadb", "mariadb", "mysql", "mysql", "mysql"]);
        for (engine, other, version) in [("mysql", "mariadb", "11.4.2-MariaDB"), ("mariadb", "mysql", "9.7.4-2")] {
            let engine = Flavour::named(engine).expect("it is one of the family");
            let text = engine.check_version(version).expect_err("it is another server").to_string();
            assert!(text.contains(version) && text.contains(&format!("{other}://")), "{text}");
        }
        assert!(mysql::FLAVOUR.check_version("9.7.4-2").is_ok());
    }

    /// Source: MySQL 8.0, 8.4 and 9.5 reference manuals, "SHOW MASTER STATUS", "SHOW BINARY LOG STATUS", "RESET BINARY LOGS AND GTIDS". No
    /// server but 9.7 was tried.
    #[test]
    fn each_version_of_mysql_hears_its_own_statements_or_is_refused_by_what_it_lacks() {
        let flavour = &mysql::FLAVOUR;
        let old = ["SHOW MASTER STATUS", "RESET MASTER"];
        let new = ["SHOW BINARY LOG STATUS", "RESET BINARY LOGS AND GTIDS"];
        let cases = [
            ("8.0.16", old, Some("utf8mb4_0900_bin"), Some("innodb_redo_log_capacity"), Some("rpl_semi_sync_source")),
            ("8.0.21", old, None, Some("innodb_redo_log_capacity"), Some("rpl_semi_sync_source")),
            ("8.0.28", old, None, Some("innodb_redo_log_capacity"), None),
            ("8.0.36", old, None, None, None),
            ("8.4.0", new, None, None, None),
            ("9.7.4-2", new, None, None, None),
        ];
        for (text, statements, sessions, instance, standbys) in cases {
            let version = ServerVersion::of_text(text);
            let (end, forget) = (flavour.replication.log_end.of(version), flavour.statements.forget_log.of(version));
            assert_eq!([end, forget], statements, "{text}");
            let refused = |outcome: Result<(), Error>, lacks: Option<&str>| match (outcome, lacks) {
                (Ok(()), None) => {}
                (Err(error), Some(lacks)) => {
                    let told = error.to_string();
                    assert!(told.contains(lacks) && told.contains(&version.to_string()), "{told}");
                }
                (outcome, lacks) => panic!("{text}: {outcome:?} where {lacks:?} is expected"),
            };
            assert!(flavour.check_version(text).is_ok(), "{text}");
            refused(flavour.check_use(ServerUse::Sessions, version), sessions);
            refused(flavour.check_use(ServerUse::Instance, version), instance);
            refused(flavour.check_use(ServerUse::Standbys, version), standbys);
        }
        let other = ServerVersion::of_text("5.5.5-10.11.19-MariaDB");
        assert_eq!(mariadb::FLAVOUR.replication.log_end.of(other), "SHOW MASTER STATUS");
        assert!(mariadb::FLAVOUR.check_use(ServerUse::Instance, other).is_ok());
    }

    #[test]
    fn words_in_braces_are_replaced() {
        assert_eq!(filled("a {b} {c}", &[("b", "1"), ("c", "{d}")]), "a 1 {d}");
    }
}

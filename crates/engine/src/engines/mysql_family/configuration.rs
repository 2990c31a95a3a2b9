//! The whole `my.cnf` of a local instance: our defaults, the study's settings, and what may not be overruled.

use super::flavour::{FamilyMember, Flavour, InstanceRecipe};
use super::isolation;
use super::log_position::FILE_BYTES;
use super::log_size;
use super::pipelining;
use super::quantity::server_text;
use crate::contract::Error;
use proofload_model::catalogue::{EnginePlace, RefusedSetting};
use std::fmt::Write as _;
use std::path::Path;

/// The configuration file, in the data folder.
pub(super) const FILE: &str = "my.cnf";

/// Statements that the server runs before it lets anybody in, one a line; a standby's go on with whom it follows.
pub(super) const START_FILE: &str = "start.sql";

/// Number of a primary's server; those of standbys follow it.
pub(super) const SERVER_ID: u32 = 1;

/// Name of the setting that a binary log is switched by. Its files are ours, and so is what depends on them.
const BINARY_LOG: &str = "log_bin";

/// Files of a binary log, and of what a standby has received, in the data folder.
const LOG_FILES: &[(&str, &str)] = &[("log_bin", "binlog"), ("relay_log", "relay")];

/// Defaults of every flavour; see those of each.
const DEFAULTS: &[(&str, &str)] = &[
    ("max_connections", "600"),
    ("max_prepared_stmt_count", "1000000"),
    ("character_set_server", "utf8mb4"),
    ("default_time_zone", "+00:00"),
    ("transaction_isolation", "READ-COMMITTED"),
    ("local_infile", "ON"),
    ("performance_schema", "OFF"),
    ("innodb_flush_log_at_trx_commit", "1"),
    ("innodb_doublewrite", "ON"),
    ("sync_binlog", "1"),
    ("innodb_flush_method", "O_DIRECT"),
    ("innodb_flush_neighbors", "0"),
    ("innodb_io_capacity", "2000"),
    ("innodb_io_capacity_max", "4000"),
    ("innodb_buffer_pool_load_at_startup", "OFF"),
    ("innodb_buffer_pool_dump_at_shutdown", "OFF"),
    ("innodb_fast_shutdown", "1"),
];

/// Settings of every flavour that a study may not set; see those of each.
const OURS: &[&str] = &[
    "socket",
    "port",
    "bind_address",
    "skip_networking",
    "datadir",
    "tmpdir",
    "pid_file",
    "log_error",
    "user",
    "plugin_dir",
    "plugin_load",
    "plugin_load_add",
    "init_file",
    "include",
    "includedir",
    "skip_grant_tables",
    "log_bin_index",
    "relay_log",
    "relay_log_index",
    "max_binlog_size",
    "secure_file_priv",
];

/// Name of the number by which servers tell each other apart. A standby's is in its configuration, so that only a study may not set it.
const SERVER_NUMBER: &str = "server_id";

/// The file's text.
pub(super) fn my_cnf(
    flavour: &Flavour,
    folder: &Path,
    settings: &[(String, String)],
    port: u16,
) -> Result<String, Error> {
    let InstanceRecipe { socket, process_file, defaults, log_size, with_binary_log, .. } = flavour.instance;
    let product = flavour.product;
    let has_log = has_binary_log(product, settings)?;
    let mut text =
        format!("# Written whole by Proofload before each start.\n[{}]\nskip_name_resolve\n", flavour.programs.server);
    text.push_str(if has_log { "bind_address = 127.0.0.1\n" } else { "skip_networking\n" });
    text.push_str(if has_log { "" } else { "skip_log_bin\n" });
    let mut line = |name: &str, value: &str| writeln!(text, "{name} = {value}").expect("a string takes all text");
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let shown = folder.display().to_string();
    if shown.contains(['\n', '\r', '#', '\\']) {
        return Err(Error::other(format!(
            "the folder {shown:?} of the instance cannot stand in the configuration of {product}"
        )));
    }
    line("datadir", &shown);
    // A folder in the data folder would be taken for a database.
    line("tmpdir", &shown);
    // Relative to the data folder, so that the length of its path does not matter.
    line("socket", socket);
    line("pid_file", process_file);
    if has_log {
        line("port", &port.to_string());
        line("init_file", &Path::new(&shown).join(START_FILE).display().to_string());
        line("server_id", &SERVER_ID.to_string());
        line("max_binlog_size", &FILE_BYTES.to_string());
    }
    let of_log = LOG_FILES.iter().chain(with_binary_log).filter(|_| has_log);
    for (name, value) in DEFAULTS.iter().chain(defaults).chain(of_log) {
        line(name, value);
    }
    line(log_size, &format!("{}M", log_size::at_start(flavour, &folder)));
    for (name, value) in settings.iter().filter(|(name, _)| canonical(name) != BINARY_LOG && name != pipelining::NAME) {
        allowed(flavour, name, value)?;
        // Of its two names only the first is an option of a configuration.
        line(if isolation::is_isolation(name) { isolation::NAMES[0] } else { name.as_str() }, &server_text(value));
    }
    Ok(text)
}

/// Settings of a study that the configuration of an instance on this machine does not take; which names the server knows shows when it
/// starts.
pub(super) fn refused<F: FamilyMember>(place: EnginePlace, settings: &[(String, String)]) -> Vec<RefusedSetting> {
    if place == EnginePlace::Elsewhere {
        return Vec::new();
    }
    let refused = |(name, value): &(String, String)| {
        let (product, plain) = (F::FLAVOUR.product, canonical(name));
        let error = if plain == BINARY_LOG {
            has_binary_log(product, &[(name.clone(), value.clone())]).err()?
        } else if plain.strip_prefix("loose_").unwrap_or(&plain) == SERVER_NUMBER {
            Error::other(format!(
                "{product} setting {name} is the number that Proofload gives each instance; leave it out"
            ))
        } else {
            allowed(F::FLAVOUR, name, value).err()?
        };
        Some(RefusedSetting { name: name.clone(), value: value.clone(), reason: error.to_string() })
    };
    settings.iter().filter(|(name, _)| name != pipelining::NAME).filter_map(refused).collect()
}

/// Whether a binary log is asked for, as was said last.
fn has_binary_log(product: &str, settings: &[(String, String)]) -> Result<bool, Error> {
    let last = settings.iter().rev().find(|(name, _)| canonical(name) == BINARY_LOG);
    match last.map(|(_, value)| value.trim().to_ascii_uppercase()).as_deref() {
        None | Some("OFF" | "0" | "FALSE") => Ok(false),
        Some("ON" | "1" | "TRUE") => Ok(true),
        Some(other) => Err(Error::other(format!(
            "{product} setting log_bin is ON or OFF here, not {other:?}: its files have names of ours"
        ))),
    }
}

/// A name as the server's own lists have it.
pub(super) fn canonical(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "_")
}

/// Refuses the query cache: with it an answer is not worked out again, and every write waits for the one lock that guards it.
pub(super) fn check_query_cache(product: &str, name: &str, value: &str) -> Result<(), Error> {
    let plain = canonical(name);
    let is_cache = plain.strip_prefix("loose_").unwrap_or(&plain) == "query_cache_type";
    if is_cache && !["OFF", "0"].contains(&value.trim().to_ascii_uppercase().as_str()) {
        return Err(Error::other(format!(
            "{product} setting {name} is {value:?}, but answers that are kept are not measured; leave it out, or set it to \"OFF\""
        )));
    }
    Ok(())
}

/// Refuses names that are not settings, values that would end the line, and settings that are ours.
fn allowed(flavour: &Flavour, name: &str, value: &str) -> Result<(), Error> {
    let product = flavour.product;
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-');
    if !is_name {
        return Err(Error::other(format!("{product} setting {name:?} is not a name of letters, digits, '_' and '-'")));
    }
    let plain = canonical(name);
    let plain = plain.strip_prefix("loose_").unwrap_or(&plain);
    let plain = plain.strip_prefix("skip_").unwrap_or(plain);
    if OURS.iter().chain(flavour.instance.ours).any(|ours| ours.strip_prefix("skip_").unwrap_or(ours) == plain) {
        return Err(Error::other(format!(
            "{product} setting {name} is how Proofload reaches the instance; leave it out"
        )));
    }
    check_query_cache(product, name, value)?;
    if value.contains(['\n', '\r', '\0', '#', '\\']) {
        return Err(Error::other(format!(
            "{product} setting {name} has a value {value:?} that its configuration cannot hold"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::{mariadb, mysql};

    fn check(name: &str, value: &str, last_line: Option<&str>) {
        let found = my_cnf(&mariadb::FLAVOUR, Path::new("/data"), &[(name.to_owned(), value.to_owned())], 1).ok();
        assert_eq!(found.as_deref().and_then(|text| text.lines().last()), last_line, "{name} = {value}");
    }

    #[test]
    fn what_the_configuration_does_not_take_is_told_before_a_server_starts() {
        let given = [
            ("port", "1"),
            ("log_bin", "maybe"),
            ("innodb_io_capacity", "100"),
            ("server-id", "7"),
            ("loose_server_id", "7"),
        ];
        let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let names = |place| -> Vec<String> {
            refused::<mariadb::Mariadb>(place, &given).into_iter().map(|one| one.name).collect()
        };
        assert_eq!(names(EnginePlace::Here), ["port", "log_bin", "server-id", "loose_server_id"]);
        assert!(names(EnginePlace::Elsewhere).is_empty());
    }

    #[test]
    fn a_studys_settings_come_last() {
        check("innodb_buffer_pool_size", "64MiB", Some("innodb_buffer_pool_size = 64M"));
        check("innodb-flush-log-at-trx-commit", "2", Some("innodb-flush-log-at-trx-commit = 2"));
        check("tx_isolation", "SERIALIZABLE", Some("transaction_isolation = SERIALIZABLE"));
        check("query_cache_type", "off", Some("query_cache_type = off"));
        // That of a standby.
        check("server_id", "2", Some("server_id = 2"));
    }

    /// The size that was decided stays through every start, whatever becomes of the data; what a study says is the last word.
    #[test]
    fn a_log_keeps_its_size_through_every_start() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let tables = std::fs::File::create(path.join("stock.ibd")).unwrap();
        for flavour in [&mariadb::FLAVOUR, &mysql::FLAVOUR] {
            let prefix = format!("{} = ", flavour.instance.log_size);
            let sizes = |text: &str| -> Vec<String> {
                text.lines().filter_map(|line| line.strip_prefix(&prefix)).map(str::to_owned).collect()
            };
            let written = |settings: &[(String, String)]| {
                let text = my_cnf(flavour, path, settings, 1).expect("it is a configuration");
                std::fs::write(path.join(FILE), &text).unwrap();
                sizes(&text)
            };
            let _of_the_one_before = std::fs::remove_file(path.join(FILE));
            tables.set_len(1 << 20).unwrap();
            assert_eq!(written(&[]), ["512M"], "a new instance");
            // It takes no room on the disk.
            tables.set_len(3 << 30).unwrap();
            assert_eq!(written(&[]), ["512M"], "the data have grown, and the log stays");
            let asked = [(flavour.instance.log_size.to_owned(), "96MiB".to_owned())];
            assert_eq!(log_size::after_build(flavour, path, &asked).unwrap(), None, "the study has its own size");
            let after = log_size::after_build(flavour, path, &[]).unwrap().expect("they want another log");
            assert_eq!(sizes(&after), ["1024M"]);
            assert_eq!(after.replace("1024M", "512M"), std::fs::read_to_string(path.join(FILE)).unwrap());
            std::fs::write(path.join(FILE), &after).unwrap();
            assert_eq!(log_size::after_build(flavour, path, &[]).unwrap(), None, "they have it");
            tables.set_len(9 << 30).unwrap();
            assert_eq!(written(&asked), ["1024M", "96M"], "the last line counts");
            assert_eq!(written(&[]), ["1024M"], "and is of that start alone");
        }
    }

    /// Copies of another instance's data come without its configuration.
    #[test]
    fn data_without_a_configuration_have_a_log_of_their_size() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::File::create(folder.path().join("stock.ibd")).unwrap().set_len(3 << 30).unwrap();
        let text = my_cnf(&mysql::FLAVOUR, folder.path(), &[], 1).expect("it is a configuration");
        assert!(text.contains("\ninnodb_redo_log_capacity = 1024M\n"), "{text}");
        assert!(log_size::after_build(&mysql::FLAVOUR, folder.path(), &[]).is_err(), "it was never started");
    }

    #[test]
    fn settings_that_reach_beyond_themselves_are_refused() {
        check("port", "1", None);
        check("Plugin-Dir", "/tmp", None);
        check("loose-init_file", "/etc/passwd", None);
        check("networking", "1", None);
        check("query_cache_type", "ON", None);
        check("loose-query-cache-type", "2", None);
        check("!include", "/etc/passwd", None);
        check("max_connections = 1 #", "1", None);
        check("max_connections", "1\nport = 1", None);
    }

    #[test]
    fn how_sessions_send_is_no_option_of_the_server() {
        let settings = [(pipelining::NAME.to_owned(), "off".to_owned())];
        let text = my_cnf(&mariadb::FLAVOUR, Path::new("/data"), &settings, 1).expect("it is none of the server's");
        assert!(!text.contains(pipelining::NAME), "{text}");
    }

    #[test]
    fn an_instance_listens_on_no_network() {
        let text = my_cnf(&mariadb::FLAVOUR, Path::new("/data"), &[], 33061).expect("nothing is asked");
        assert!(text.contains("\nskip_networking\n") && text.contains("\ndatadir = /data\n"), "{text}");
        assert!(text.contains("\nskip_log_bin\n") && !text.contains("33061"), "{text}");
    }

    #[test]
    fn one_that_is_followed_listens_on_the_loopback_interface_alone() {
        let asked = |value: &str| {
            my_cnf(&mariadb::FLAVOUR, Path::new("/data"), &[("log-bin".to_owned(), value.to_owned())], 33061)
        };
        let text = asked("ON").expect("it is a switch");
        for line in [
            "bind_address = 127.0.0.1",
            "port = 33061",
            "log_bin = binlog",
            "init_file = /data/start.sql",
            "server_id = 1",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        assert!(!text.contains("skip_networking") && !text.contains("log-bin"), "{text}");
        assert!(asked("off").expect("it is a switch").contains("\nskip_networking\n"));
        assert!(asked("/elsewhere/log").is_err());
    }

    #[test]
    fn each_server_has_settings_of_its_own() {
        let asked = |settings: &[(&str, &str)]| {
            let settings: Vec<_> = settings.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
            my_cnf(&mysql::FLAVOUR, Path::new("/data"), &settings, 33061)
        };
        let text = asked(&[("log_bin", "ON")]).expect("it is a switch");
        for line in [
            "[mysqld]",
            "bind_address = 127.0.0.1",
            "mysqlx = OFF",
            "log_bin = binlog",
            "gtid_mode = ON",
            "plugin_load_add = semisync_source.so;semisync_replica.so",
            "innodb_redo_log_capacity = 512M",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        assert!(!text.contains("query_cache") && !text.contains("innodb_log_file_size"), "{text}");
        assert!(!asked(&[]).expect("nothing is asked").contains("semisync"), "a server without a log needs none");
        assert!(asked(&[("mysqlx_port", "1")]).is_err());
    }
}

//! The whole `my.cnf` of a local instance: our defaults, the study's settings, and what may not be overruled.

use super::log_position::FILE_BYTES;
use super::quantity::server_text;
use crate::contract::Error;
use std::fmt::Write as _;
use std::path::Path;

/// The configuration file, the socket and the file of the process id, in the data folder.
pub(super) const FILE: &str = "my.cnf";
pub(super) const SOCKET: &str = "mariadbd.sock";
pub(super) const PROCESS_FILE: &str = "mariadbd.pid";

/// Statements that the server runs before it lets anybody in, one a line; a standby's go on with whom it follows.
pub(super) const START_FILE: &str = "start.sql";

/// The first of them: over the network nobody comes in but accounts that are made for standbys.
pub(super) const CLOSED: &str =
    "SET sql_log_bin = 0;\nDELETE FROM mysql.global_priv WHERE User IN ('root', '') AND Host <> 'localhost';\nFLUSH PRIVILEGES;\n";

/// Number of a primary's server; those of standbys follow it.
pub(super) const SERVER_ID: u32 = 1;

/// Name of the setting that a binary log is switched by. Its files are ours, and so is what depends on them.
const BINARY_LOG: &str = "log_bin";

/// What an instance with a binary log has beside: it can be followed, and can follow. A study may overrule the rest.
const FOLLOWED: &[(&str, &str)] = &[
    ("log_bin", "binlog"),
    ("relay_log", "relay"),
    ("log_slave_updates", "ON"),
    ("binlog_format", "ROW"),
    ("gtid_strict_mode", "ON"),
    ("skip_slave_start", "ON"),
    // A standby that is told to follow no more asks a primary that hangs to end its session, and waits so many seconds for that.
    ("rpl_semi_sync_slave_kill_conn_timeout", "1"),
];

/// Defaults that differ from the server's own or that a reader of a study wants to see said. A study may overrule them. Commits are durable:
/// the log is written and synced with each. The redo log is large enough not to be what is measured, and the pool starts cold. The performance
/// schema costs some 100 MiB and is off unless a study asks for it.
const DEFAULTS: &[(&str, &str)] = &[
    ("max_connections", "600"),
    ("max_prepared_stmt_count", "1000000"),
    ("character_set_server", "utf8mb4"),
    ("collation_server", "utf8mb4_nopad_bin"),
    ("default_time_zone", "+00:00"),
    ("transaction_isolation", "READ-COMMITTED"),
    ("local_infile", "ON"),
    ("performance_schema", "OFF"),
    ("query_cache_type", "OFF"),
    ("innodb_flush_log_at_trx_commit", "1"),
    ("innodb_doublewrite", "ON"),
    ("sync_binlog", "1"),
    // A row that others see was confirmed by a standby, where commits wait for one.
    ("rpl_semi_sync_master_wait_point", "AFTER_SYNC"),
    ("innodb_flush_method", "O_DIRECT"),
    ("innodb_flush_neighbors", "0"),
    ("innodb_io_capacity", "2000"),
    ("innodb_io_capacity_max", "4000"),
    ("innodb_log_file_size", "512M"),
    ("innodb_buffer_pool_load_at_startup", "OFF"),
    ("innodb_buffer_pool_dump_at_shutdown", "OFF"),
    ("innodb_fast_shutdown", "1"),
];

/// Settings by which the testbed reaches the instance, or that lead out of its folder; a study may not set them.
const OURS: &[&str] = &[
    "socket",
    "port",
    "bind_address",
    "extra_port",
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
    "log_basename",
    "relay_log",
    "relay_log_index",
    "max_binlog_size",
    "skip_slave_start",
    "secure_file_priv",
];

/// The file's text.
pub(super) fn my_cnf(folder: &Path, settings: &[(String, String)], port: u16) -> Result<String, Error> {
    let is_followed = has_binary_log(settings)?;
    let mut text = "# Written whole by Proofload before each start.\n[mariadbd]\nskip_name_resolve\n".to_owned();
    text.push_str(if is_followed { "bind_address = 127.0.0.1\n" } else { "skip_networking\nskip_log_bin\n" });
    let mut line = |name: &str, value: &str| writeln!(text, "{name} = {value}").expect("a string takes all text");
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let shown = folder.display().to_string();
    if shown.contains(['\n', '\r', '#', '\\']) {
        return Err(Error::other(format!("the folder {shown:?} of the instance cannot stand in MariaDB's configuration")));
    }
    line("datadir", &shown);
    // A folder in the data folder would be taken for a database.
    line("tmpdir", &shown);
    // Relative to the data folder, so that the length of its path does not matter.
    line("socket", SOCKET);
    line("pid_file", PROCESS_FILE);
    if is_followed {
        line("port", &port.to_string());
        line("init_file", &Path::new(&shown).join(START_FILE).display().to_string());
        line("server_id", &SERVER_ID.to_string());
        line("max_binlog_size", &FILE_BYTES.to_string());
    }
    for (name, value) in DEFAULTS.iter().chain(FOLLOWED.iter().filter(|_| is_followed)) {
        line(name, value);
    }
    for (name, value) in settings.iter().filter(|(name, _)| canonical(name) != BINARY_LOG) {
        allowed(name, value)?;
        line(name, &server_text(value));
    }
    Ok(text)
}

/// Whether a binary log is asked for, as was said last.
fn has_binary_log(settings: &[(String, String)]) -> Result<bool, Error> {
    let last = settings.iter().rev().find(|(name, _)| canonical(name) == BINARY_LOG);
    match last.map(|(_, value)| value.trim().to_ascii_uppercase()).as_deref() {
        None | Some("OFF" | "0" | "FALSE") => Ok(false),
        Some("ON" | "1" | "TRUE") => Ok(true),
        Some(other) => Err(Error::other(format!("MariaDB setting log_bin is ON or OFF here, not {other:?}: its files have names of ours"))),
    }
}

/// A name as the server's own lists have it.
pub(super) fn canonical(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "_")
}

/// Refuses names that are not settings, values that would end the line, and settings that are ours.
fn allowed(name: &str, value: &str) -> Result<(), Error> {
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-');
    if !is_name {
        return Err(Error::other(format!("MariaDB setting {name:?} is not a name of letters, digits, '_' and '-'")));
    }
    let plain = canonical(name);
    let plain = plain.strip_prefix("loose_").unwrap_or(&plain);
    let plain = plain.strip_prefix("skip_").unwrap_or(plain);
    if OURS.iter().any(|ours| ours.strip_prefix("skip_").unwrap_or(ours) == plain) {
        return Err(Error::other(format!("MariaDB setting {name} is how Proofload reaches the instance; leave it out")));
    }
    if value.contains(['\n', '\r', '\0', '#', '\\']) {
        return Err(Error::other(format!("MariaDB setting {name} has a value {value:?} that its configuration cannot hold")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, value: &str, last_line: Option<&str>) {
        let found = my_cnf(Path::new("/data"), &[(name.to_owned(), value.to_owned())], 1).ok();
        assert_eq!(found.as_deref().and_then(|text| text.lines().last()), last_line, "{name} = {value}");
    }

    #[test]
    fn a_studys_settings_come_last() {
        check("innodb_buffer_pool_size", "64MiB", Some("innodb_buffer_pool_size = 64M"));
        check("innodb-flush-log-at-trx-commit", "2", Some("innodb-flush-log-at-trx-commit = 2"));
    }

    #[test]
    fn settings_that_reach_beyond_themselves_are_refused() {
        check("port", "1", None);
        check("Plugin-Dir", "/tmp", None);
        check("loose-init_file", "/etc/passwd", None);
        check("networking", "1", None);
        check("!include", "/etc/passwd", None);
        check("max_connections = 1 #", "1", None);
        check("max_connections", "1\nport = 1", None);
    }

    #[test]
    fn an_instance_listens_on_no_network() {
        let text = my_cnf(Path::new("/data"), &[], 33061).expect("nothing is asked");
        assert!(text.contains("\nskip_networking\n") && text.contains("\ndatadir = /data\n"), "{text}");
        assert!(text.contains("\nskip_log_bin\n") && !text.contains("33061"), "{text}");
    }

    #[test]
    fn one_that_is_followed_listens_on_the_loopback_interface_alone() {
        let asked = |value: &str| my_cnf(Path::new("/data"), &[("log-bin".to_owned(), value.to_owned())], 33061);
        let text = asked("ON").expect("it is a switch");
        for line in ["bind_address = 127.0.0.1", "port = 33061", "log_bin = binlog", "init_file = /data/start.sql", "server_id = 1"] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        assert!(!text.contains("skip_networking") && !text.contains("log-bin"), "{text}");
        assert!(asked("off").expect("it is a switch").contains("\nskip_networking\n"));
        assert!(asked("/elsewhere/log").is_err());
    }
}

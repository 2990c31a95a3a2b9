//! The whole `my.cnf` of a local instance: our defaults, the study's settings, and what may not be overruled.

use super::quantity::server_text;
use crate::contract::Error;
use std::fmt::Write as _;
use std::path::Path;

/// The configuration file, the socket and the file of the process id, in the data folder.
pub(super) const FILE: &str = "my.cnf";
pub(super) const SOCKET: &str = "mariadbd.sock";
pub(super) const PROCESS_FILE: &str = "mariadbd.pid";

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
    "log_bin",
    "secure_file_priv",
];

/// The file's text.
pub(super) fn my_cnf(folder: &Path, settings: &[(String, String)]) -> Result<String, Error> {
    let mut text = "# Written whole by Proofload before each start.\n[mariadbd]\nskip_networking\nskip_log_bin\nskip_name_resolve\n".to_owned();
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
    for (name, value) in DEFAULTS {
        line(name, value);
    }
    for (name, value) in settings {
        allowed(name, value)?;
        line(name, &server_text(value));
    }
    Ok(text)
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
        let found = my_cnf(Path::new("/data"), &[(name.to_owned(), value.to_owned())]).ok();
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
        let text = my_cnf(Path::new("/data"), &[]).expect("nothing is asked");
        assert!(text.contains("\nskip_networking\n") && text.contains("\ndatadir = /data\n"), "{text}");
    }
}

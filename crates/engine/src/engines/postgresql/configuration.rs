//! The whole `postgresql.conf` of a local instance: our defaults, the study's settings, and what may not be overruled.

use super::quantity::server_text;
use super::recipe::SOCKETS;
use crate::contract::Error;
use std::fmt::Write as _;
use std::net::IpAddr;

/// Sessions through the private socket only.
pub(super) const PG_HBA_CONF: &str = "# Written by Proofload: the private socket is the only way in.\nlocal all all trust\nlocal replication all trust\n";

/// Defaults that differ from the server's own or that a reader of a study wants to see said. A study may overrule them.
/// `huge_pages` is off so that shared buffers are charged to the control group that limits the instance.
const DEFAULTS: &[(&str, &str)] = &[
    ("max_connections", "500"),
    ("huge_pages", "off"),
    ("fsync", "on"),
    ("full_page_writes", "on"),
    ("synchronous_commit", "on"),
    ("track_io_timing", "on"),
    ("track_wal_io_timing", "on"),
    ("log_destination", "stderr"),
    ("log_checkpoints", "on"),
    ("log_line_prefix", "%m [%p] "),
    ("lc_messages", "C"),
    ("log_timezone", "UTC"),
    ("timezone", "UTC"),
    ("cluster_name", "proofload"),
];

/// Settings by which the testbed reaches the instance; a study may not set them.
const OURS: &[&str] = &[
    "listen_addresses",
    "port",
    "unix_socket_directories",
    "unix_socket_permissions",
    "unix_socket_group",
    "data_directory",
    "config_file",
    "hba_file",
    "ident_file",
    "external_pid_file",
    "logging_collector",
    "include",
    "include_dir",
    "include_if_exists",
];

/// The file's text.
pub(super) fn postgresql_conf(settings: &[(String, String)], port: u16) -> Result<String, Error> {
    let mut text = "# Overwritten by Proofload before each start.\nlisten_addresses = ''\n".to_owned();
    let mut line = |name: &str, value: &str| {
        writeln!(text, "{name} = {}", quoted(value)).expect("a string takes all text");
    };
    line("unix_socket_directories", SOCKETS);
    line("port", &port.to_string());
    line("logging_collector", "off");
    for (name, value) in DEFAULTS {
        line(name, value);
    }
    for (name, value) in settings {
        allowed(name, value)?;
        line(name, &server_text(value));
    }
    Ok(text)
}

/// The settings of an instance that a failover manager runs: the manager says where it listens and where its socket lies. It is said here as
/// well, for a manager that takes it from here.
pub(super) fn managed_conf(settings: &[(String, String)], port: u16, sockets: &str) -> Result<String, Error> {
    let text = postgresql_conf(settings, port)?;
    let sockets = format!("unix_socket_directories = {}", quoted(sockets));
    let here = format!("unix_socket_directories = {}", quoted(SOCKETS));
    Ok(text.replace(&here, &sockets).replace("listen_addresses = ''", "listen_addresses = '127.0.0.1'"))
}

/// The settings of an instance that listens at an address beside its private socket.
pub(super) fn reachable_conf(settings: &[(String, String)], port: u16, at: IpAddr) -> Result<String, Error> {
    let listen = format!("\nlisten_addresses = '{at}'\n");
    Ok(postgresql_conf(settings, port)?.replacen("\nlisten_addresses = ''\n", &listen, 1))
}

/// Refuses names that are not settings, values that would end the line, and settings that are ours.
pub(super) fn allowed(name: &str, value: &str) -> Result<(), Error> {
    let word = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    };
    if !name.split('.').all(word) {
        return Err(Error::other(format!("PostgreSQL setting {name:?} must consist of letters, digits and '_'")));
    }
    if OURS.contains(&name.to_ascii_lowercase().as_str()) {
        return Err(Error::other(format!(
            "PostgreSQL setting {name} is reserved: Proofload needs it to reach the instance; remove it"
        )));
    }
    if value.contains(['\n', '\r', '\0']) {
        return Err(Error::other(format!("PostgreSQL setting {name} has a line break in its value {value:?}")));
    }
    Ok(())
}

/// A value as the file wants it.
fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, value: &str, last_line: Option<&str>) {
        let found = postgresql_conf(&[(name.to_owned(), value.to_owned())], 5432).ok();
        assert_eq!(found.as_deref().and_then(|text| text.lines().last()), last_line, "{name} = {value}");
    }

    #[test]
    fn a_studys_settings_come_last_and_quoted() {
        check("shared_buffers", "64MiB", Some("shared_buffers = '64MB'"));
        check("auto_explain.log_min_duration", "5s", Some("auto_explain.log_min_duration = '5s'"));
        check("search_path", "it's \\ odd", Some("search_path = 'it''s \\\\ odd'"));
    }

    #[test]
    fn settings_that_reach_beyond_themselves_are_refused() {
        check("port", "1", None);
        check("Listen_Addresses", "*", None);
        check("include", "/etc/passwd", None);
        check("work_mem = 1 #", "1", None);
        check("work_mem", "1MB\nport = 1", None);
    }
}

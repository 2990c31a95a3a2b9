//! The whole `mongod.conf` of a local instance. Source: MongoDB manual, "Configuration File Options".

use super::names::REPLICA_SET;
use super::options::Options;
use crate::contract::Error;
use proofload_model::units::Bytes;
use std::fmt::Write as _;
use std::path::Path;

/// The file's text. The server listens on the loopback alone; its log is its standard output, because no file is named.
pub(super) fn mongod_conf(folder: &Path, options: &Options, port: u16) -> Result<String, Error> {
    let mut text = "# Overwritten by Proofload before each start.\n".to_owned();
    let folder = quoted(&folder.display().to_string());
    push(&mut text, format_args!("storage:\n  dbPath: {folder}"));
    if let Some(size) = options.cache_size {
        push(&mut text, format_args!("  wiredTiger:\n    engineConfig:\n      cacheSizeGB: {}", gibibytes(size)));
    }
    push(&mut text, format_args!("net:\n  bindIp: 127.0.0.1\n  port: {port}\n  unixDomainSocket:\n    enabled: false"));
    if options.replica_set {
        push(&mut text, format_args!("replication:\n  replSetName: {REPLICA_SET}"));
    }
    if !options.parameters.is_empty() {
        push(&mut text, format_args!("setParameter:"));
    }
    for (name, value) in last_of_each(&options.parameters) {
        check(name, value)?;
        push(&mut text, format_args!("  {name}: {}", quoted(value)));
    }
    Ok(text)
}

fn push(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("a string takes all text");
}

/// The option's unit is 2^30 bytes.
fn gibibytes(size: Bytes) -> f64 {
    size.0 as f64 / f64::from(1 << 30)
}

/// Each name once, with the value given last: a file that says a name twice is refused by the server.
fn last_of_each(parameters: &[(String, String)]) -> impl Iterator<Item = &(String, String)> {
    let is_last = |at: usize| parameters[at + 1..].iter().all(|(later, _)| *later != parameters[at].0);
    parameters.iter().enumerate().filter(move |(at, _)| is_last(*at)).map(|(_, parameter)| parameter)
}

/// Refuses names that are not parameters and values that would end the line.
fn check(name: &str, value: &str) -> Result<(), Error> {
    let word = !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if !word {
        return Err(Error::other(format!(
            "MongoDB server parameter {name:?} must consist of letters, digits and '_'; engine.settings takes \
             setParameter parameters"
        )));
    }
    if value.contains(char::is_control) {
        return Err(Error::other(format!("MongoDB server parameter {name} has a line break in its value {value:?}")));
    }
    Ok(())
}

/// A text in quotes, as YAML reads it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configured(settings: &[(&str, &str)]) -> Result<String, Error> {
        let settings: Vec<_> = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        mongod_conf(Path::new("/data/a \"b\""), &Options::read(&settings)?, 27018)
    }

    #[test]
    fn the_file_is_as_the_manual_wants_it() {
        let settings = [
            ("cache_size", "256MiB"),
            ("replica_set", "true"),
            ("syncdelay", "60"),
            ("logLevel", "1"),
            ("syncdelay", "30"),
        ];
        let expected = "# Overwritten by Proofload before each start.\n\
            storage:\n  dbPath: \"/data/a \\\"b\\\"\"\n  wiredTiger:\n    engineConfig:\n      cacheSizeGB: 0.25\n\
            net:\n  bindIp: 127.0.0.1\n  port: 27018\n  unixDomainSocket:\n    enabled: false\n\
            replication:\n  replSetName: proofload\n\
            setParameter:\n  logLevel: \"1\"\n  syncdelay: \"30\"\n";
        assert_eq!(configured(&settings).unwrap(), expected);
        let plain = configured(&[]).unwrap();
        assert!(
            !plain.contains("cacheSizeGB") && !plain.contains("repl") && !plain.contains("setParameter"),
            "{plain}"
        );
    }

    #[test]
    fn settings_that_reach_beyond_themselves_are_refused() {
        configured(&[("net.port", "1")]).unwrap_err();
        configured(&[("a: 1\nb", "1")]).unwrap_err();
        configured(&[("a", "1\nnet:")]).unwrap_err();
    }
}

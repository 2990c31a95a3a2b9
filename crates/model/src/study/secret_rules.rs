//! Secrets that would enter a record, which is meant to be shared: in the addresses of servers and exporters, in settings of engines and
//! failover managers, and in the commands that start agents.
//! What names itself a secret is found; a secret in a path or under another name is not.

use super::contradictions::RuleContext;
use super::factor::values_of;
use crate::settings::setting;
use crate::standby_hosts::STANDBY_COMMAND;
use std::collections::BTreeSet;

/// Parts of names that tell a secret.
const SECRET_PARTS: [&str; 9] =
    ["passw", "passphrase", "token", "secret", "apikey", "api_key", "credential", "authoriz", "signature"];

/// Words of names that tell a secret when they stand alone.
const SECRET_WORDS: [&str; 5] = ["auth", "key", "pass", "pwd", "sig"];

/// Endings of settings whose value is a secret; many others are about passwords, such as `password_encryption`.
const SECRET_ENDINGS: [&str; 9] =
    ["password", "passwd", "passphrase", "_pwd", "token", "secret", "api_key", "credential", "credentials"];

/// Values of a switch, which is none.
const SWITCHES: [&str; 9] = ["", "on", "off", "true", "false", "yes", "no", "0", "1"];

/// Tables of settings that are handed on under names of others.
const TABLES: [&str; 2] = ["engine.settings.", "replication.manager_settings."];

/// Endings of options that name a place of a secret, not the secret.
const PLACES: [&str; 6] = ["file", "path", "stdin", "command", "env", "prompt"];

/// Programs whose option `-pw` is a password.
const PUTTY: [&str; 4] = ["plink", "pscp", "psftp", "putty"];

/// Whether a URL names a password, for its user or among its parameters.
pub fn holds_password(url: &str) -> bool {
    gives_user_password(url) || gives_password(url)
}

/// Whether the user of a URL has a password. It may hold a `/` that nobody encoded, so that the user ends at the last `@` before the
/// parameters.
fn gives_user_password(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let before = rest.split('?').next().unwrap_or_default();
    before.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
}

/// Whether a text assigns a password, as parameters of a URL or as the words of a connection: `pwd=…`, `Password = …`.
fn gives_password(text: &str) -> bool {
    let text = percent_decoded(text);
    let is_separator = |letter: char| letter.is_whitespace() || "=?&;,/#".contains(letter);
    let mut names = text.match_indices('=').filter_map(|(at, _)| text[..at].trim_end().rsplit(is_separator).next());
    names.any(is_password)
}

/// Whether a parameter of this name has a password or its like, and no place of one.
fn is_password(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('-', "_");
    let mut words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let tells =
        SECRET_PARTS.iter().any(|part| name.contains(part)) || words.any(|word| ["pass", "pwd"].contains(&word));
    tells && !PLACES.iter().any(|place| name.ends_with(place))
}

/// Settings that an engine or a failover manager is given under its own names have no secret.
pub(super) fn secret_in_settings(look: &mut RuleContext<'_>) {
    let study = look.study;
    for path in look.given_paths() {
        let Some(name) = TABLES.iter().find_map(|table| path.strip_prefix(table)) else { continue };
        let values = values_of(&path, &study.settings, &study.factors);
        if values.iter().any(|value| is_secret(name, &value.to_string())) {
            let reason = "is a secret or contains one, which would be stored in the record; leave it to a file or to the \
                          environment of the server";
            look.fault(&path, reason.to_owned());
        }
    }
}

/// Whether a setting of this name has a secret for its value, or one in it.
fn is_secret(name: &str, value: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('-', "_");
    let tells = SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending));
    let is_switch = SWITCHES.contains(&value.to_ascii_lowercase().as_str());
    tells && !is_switch || gives_password(value) || value.contains("://") && gives_user_password(value)
}

/// No password enters a study with the address of a server.
pub(super) fn password_in_url(look: &mut RuleContext<'_>) {
    let Ok(url) = look.study.settings.text(setting::ENGINE_URL) else { return };
    if holds_password(url) {
        let remedies: BTreeSet<&str> = look.engines().iter().filter_map(|engine| engine.password).collect();
        let remedies: String = remedies.iter().map(|remedy| format!(" and {remedy}")).collect();
        let reason = format!("contains a password, which would be stored in the record; remove it{remedies}");
        look.fault(setting::ENGINE_URL, reason);
    }
}

/// A text with its percent-encoded bytes decoded, as engines read the keys of a URL.
fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut decoded, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let code = bytes.get(at + 1..at + 3).filter(|_| *byte == b'%');
        let code = code.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        decoded.push(code.unwrap_or(*byte));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// Exporters are asked without a secret in their addresses.
pub(super) fn secret_in_exporters(look: &mut RuleContext<'_>) {
    let endpoints = look.study.settings.list(setting::OBSERVE_PROMETHEUS).to_vec();
    for (number, endpoint) in endpoints.iter().enumerate() {
        let Some(key) = secret_key(endpoint) else { continue };
        let reason = format!(
            "the address {} has the parameter {key}, a secret that would be stored in the record; remove it, and let a proxy on the load host add it",
            number + 1
        );
        look.fault(setting::OBSERVE_PROMETHEUS, reason);
    }
}

/// The first key of a URL's parameters that tells a secret.
fn secret_key(url: &str) -> Option<String> {
    let (_, parameters) = url.split_once('?')?;
    let parameters = parameters.split('#').next().unwrap_or_default();
    let mut keys = parameters.split(['&', ';']).map(|one| percent_decoded(one.split('=').next().unwrap_or_default()));
    keys.find(|key| tells_secret(key) || key.to_ascii_lowercase().ends_with("key"))
}

/// Whether a name tells that its value is a secret.
fn tells_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('-', "_");
    let mut words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    SECRET_PARTS.iter().any(|part| name.contains(part)) || words.any(|word| SECRET_WORDS.contains(&word))
}

/// Commands that start agents have no secret among their words.
pub(super) fn secret_in_commands(look: &mut RuleContext<'_>) {
    for path in [setting::AGENTS_HOST, setting::AGENTS_LOAD, STANDBY_COMMAND] {
        if let Some(place) = secret_place(look.study.settings.list(path)) {
            let reason = format!(
                "contains a secret ({place}), which would be stored in the record; use a key of ssh that its agent holds, or a file on the load \
                 host, such as sshpass -f FILE or plink -pwfile FILE"
            );
            look.fault(path, reason);
        }
    }
}

/// Place of a secret in a command, without the secret.
fn secret_place(command: &[String]) -> Option<String> {
    // A word may be a command of a shell.
    let words: Vec<&str> = command.iter().flat_map(|word| word.split_whitespace()).collect();
    let place = |(at, word): (usize, &&str)| {
        let rest = &words[at + 1..];
        let program = word.rsplit(['/', '\\']).next().unwrap_or_default().trim_end_matches(".exe");
        if program == "sshpass" {
            let mut options = rest.iter().take_while(|option| option.starts_with('-'));
            return options.any(|option| option.starts_with("-p")).then(|| "sshpass -p".to_owned());
        }
        if PUTTY.contains(&program) && rest.contains(&"-pw") {
            return Some(format!("{program} -pw"));
        }
        if word.contains("://") && (holds_password(word) || secret_key(word).is_some()) {
            return Some("a password in an address".to_owned());
        }
        named(word)
    };
    words.iter().enumerate().find_map(place)
}

/// The name of a long option or of a variable of the environment that tells a secret.
fn named(word: &str) -> Option<String> {
    let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    let is_place = PLACES.iter().any(|place| name.to_ascii_lowercase().ends_with(place));
    let is_variable = value.is_some_and(|value| !value.is_empty() && !value.starts_with(['$', '/', '~']))
        && name.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_')
        && (tells_secret(name) || name.ends_with("PASS") || name.ends_with("PWD"));
    // Keys of options are files of keys.
    let option = name.strip_prefix("--").filter(|option| !option.starts_with("no-"));
    let option = option.filter(|option| tells_secret(&option.replace("key", "")));
    (!is_place && (is_variable || option.is_some())).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_an_exporter_that_tell_a_secret_are_found() {
        for (url, key) in [
            ("http://db1:9100/metrics?token=abc", "token"),
            ("http://db1:9100/metrics?collect[]=cpu&access_token=abc", "access_token"),
            ("http://db1:9100/metrics?X-API-Key=abc#a", "X-API-Key"),
            ("http://db1:9100/metrics?apiKey=abc", "apiKey"),
            ("http://db1:9100/metrics?p%61ssword=abc", "password"),
            ("http://db1:9100/metrics?auth=abc", "auth"),
        ] {
            assert_eq!(secret_key(url).as_deref(), Some(key), "{url}");
        }
        for url in
            ["http://db1:9100/metrics", "http://db1:9100/token", "http://db1:9100/metrics?collect[]=cpu&author=me"]
        {
            assert_eq!(secret_key(url), None, "{url}");
        }
    }

    #[test]
    fn a_password_of_a_server_is_found_in_every_form() {
        for url in [
            "sqlserver://sa:Ge/heim@db/shop",
            "postgresql://bench:secret@a:5432,b:5432/db",
            "x:///d?pwd=secret",
            "x:///d?user=u&passwd=secret",
            "sqlserver://db;user=sa;Pwd=secret",
            "host=db user=bench password = 'secret'",
            "mongodb://db/?tlsCertificateKeyFilePassword=secret",
            "x:///d?p%77d=secret",
        ] {
            assert!(holds_password(url), "{url}");
        }
        for url in [
            "postgresql://bench@a:5432,b:5432/db?require_auth=scram-sha-256&passfile=/etc/pgpass&sslkey=/etc/key",
            "sqlserver://bench@db1:1433/proofload?trust-server-certificate=true",
            "mongodb://db/?authSource=admin&tlsCertificateKeyFile=/etc/key",
            "host=db user=bench passfile=/etc/pgpass",
            "http://db1:9100/metrics?collect[]=cpu",
        ] {
            assert!(!holds_password(url), "{url}");
        }
    }

    #[test]
    fn a_secret_among_settings_is_found_and_what_is_about_passwords_is_none() {
        for (name, value) in [
            ("report_password", "geheim"),
            ("report-password", "geheim"),
            ("postgresql.authentication.replication.password", "geheim"),
            ("primary_conninfo", "host=db user=standby password=geheim"),
            ("archive_command", "curl http://me:geheim@backup/%f"),
            ("consul.token", "geheim"),
        ] {
            assert!(is_secret(name, value), "{name}");
        }
        for (name, value) in [
            ("password_encryption", "scram-sha-256"),
            ("default_authentication_plugin", "mysql_native_password"),
            ("disconnect_on_expired_password", "ON"),
            ("default_password_lifetime", "90"),
            ("key_buffer_size", "8MiB"),
            ("ssl_key_file", "/etc/key"),
            ("log_line_prefix", "%t:%r:%u@%d:[%p]: "),
            ("optimizer_switch", "index_merge=off,mrr=on"),
        ] {
            assert!(!is_secret(name, value), "{name}");
        }
    }

    #[test]
    fn secrets_of_commands_are_found_and_not_repeated() {
        let place = |command: &str| secret_place(&command.split('|').map(str::to_owned).collect::<Vec<String>>());
        for (command, told) in [
            ("sshpass|-p|s3cret|ssh|db1|proofload|agent", "sshpass -p"),
            ("/usr/bin/sshpass|-v|-ps3cret|ssh|db1", "sshpass -p"),
            ("sh|-c|sshpass -p s3cret ssh db1 proofload agent", "sshpass -p"),
            ("plink|-batch|-pw|s3cret|db1", "plink -pw"),
            ("login|--password=s3cret|db1", "--password"),
            ("login|--auth-token|s3cret|db1", "--auth-token"),
            ("env|SSHPASS=s3cret|sshpass|-e|ssh|db1", "SSHPASS"),
            ("ssh|ssh://me:s3cret@db1|proofload|agent", "a password in an address"),
        ] {
            assert_eq!(place(command).as_deref(), Some(told), "{command}");
        }
        for command in [
            "ssh|-T|-p|2222|db1|proofload|agent",
            "sshpass|-e|ssh|-p|2222|db1|proofload|agent",
            "plink|-pwfile|/etc/pw|db1",
            "login|--password-file=/etc/pw|--key=/etc/key|--no-password",
            "env|SSH_AUTH_SOCK=/run/agent|ssh|db1",
            "sh|-c|SSHPASS=$PW sshpass -e ssh db1",
            "ssh|-o|PasswordAuthentication=no|{host}|proofload|agent",
            "",
        ] {
            assert_eq!(place(command), None, "{command}");
        }
    }
}

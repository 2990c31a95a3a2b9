//! Settings that the server program on this machine does not take: it is asked, without a server. Of servers elsewhere nothing is said, as
//! their versions are not known.

use super::configuration::allowed;
use super::installation;
use super::quantity::server_text;
use crate::engines::program::{ANSWERS_WITHIN, said_within};
use proofload_model::catalogue::{EnginePlace, RefusedSetting};
use std::path::Path;
use std::process::Command;

/// Most settings that the program is asked for one by one, after it refused one of them all; ours: it takes some 50 ms each time.
const MOST_ASKED: usize = 40;

/// Settings that cannot be used, with the program's own words. Where there is no program, only what Proofload itself refuses.
pub(super) fn refused(place: EnginePlace, settings: &[(String, String)]) -> Vec<RefusedSetting> {
    if place == EnginePlace::Elsewhere {
        return Vec::new();
    }
    let by_us = |(name, value): &(String, String)| {
        let reason = allowed(name, value).err()?.to_string();
        Some(RefusedSetting { name: name.clone(), value: value.clone(), reason })
    };
    let found: Vec<RefusedSetting> = settings.iter().filter_map(by_us).collect();
    let is_left = |(name, value): &&(String, String)| !found.iter().any(|one| one.name == *name && one.value == *value);
    let left: Vec<&(String, String)> = settings.iter().filter(is_left).take(MOST_ASKED).collect();
    let by_program = if left.is_empty() { Vec::new() } else { by_program(&left) };
    found.into_iter().chain(by_program).collect()
}

/// What the program refuses; nothing where there is none.
fn by_program(settings: &[&(String, String)]) -> Vec<RefusedSetting> {
    let Ok(programs) = installation::find() else { return Vec::new() };
    let program = programs.folder.join("postgres");
    if said(&program, settings).is_none() {
        return Vec::new();
    }
    let refused = |given: &&(String, String)| {
        let (name, value) = *given;
        let said = said(&program, &[*given]).and_then(|text| words(&text, name))?;
        let reason = format!("PostgreSQL {} refuses it: {said}", programs.version);
        Some(RefusedSetting { name: name.clone(), value: value.clone(), reason })
    };
    settings.iter().filter_map(refused).collect()
}

/// What the program says of settings that it does not all take; `None` where it takes them. It is asked for a value of its own, which it
/// tells and ends: with an empty file of settings, and a data folder that it does not open.
fn said(program: &Path, settings: &[&(String, String)]) -> Option<String> {
    let mut command = Command::new(program);
    // Allowed for root too, which cannot start a server, where this is the first option.
    command.args(["-C", "max_connections", "-D", "/", "-c", "config_file=/dev/null"]);
    for (name, value) in settings {
        command.arg("-c").arg(format!("{name}={}", server_text(value)));
    }
    command.env("LC_ALL", "C");
    let said = said_within(command, ANSWERS_WITHIN).ok()?;
    (!said.status.success()).then_some(said.stderr)
}

/// The program's words about a setting; `None` where it ended over something else.
fn words(text: &str, name: &str) -> Option<String> {
    let after = |kind: &str| text.lines().find_map(|line| line.split_once(kind).map(|(_, rest)| rest.trim()));
    let fatal = after("FATAL:")?;
    let is_of_it = fatal.to_ascii_lowercase().contains(&format!("parameter \"{}\"", name.to_ascii_lowercase()));
    let hint = after("HINT:").map(|hint| format!("; {}", hint.trim_end_matches('.'))).unwrap_or_default();
    is_of_it.then(|| format!("{fatal}{hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(given: &[(&str, &str)], place: EnginePlace) -> Vec<(String, String)> {
        let given: Vec<_> = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        refused(place, &given).into_iter().map(|one| (one.name, one.reason)).collect()
    }

    #[test]
    fn the_words_about_a_setting_are_taken_and_other_ends_say_nothing() {
        let text = "2026-11-30 12:22 GMT [1] FATAL:  invalid value for parameter \"wal_level\": \"bad\"\n\
                    2026-11-30 12:22 GMT [1] HINT:  Available values: minimal, replica, logical.\n";
        let expected =
            "invalid value for parameter \"wal_level\": \"bad\"; Available values: minimal, replica, logical";
        assert_eq!(words(text, "WAL_level").as_deref(), Some(expected));
        assert_eq!(words(text, "wal"), None, "another setting");
        assert_eq!(words("FATAL:  could not access directory \"/\"", "wal_level"), None);
        assert_eq!(words("error while loading shared libraries", "wal_level"), None);
    }

    #[test]
    fn what_we_refuse_is_told_without_a_program() {
        let found = check(&[("port", "1")], EnginePlace::Here);
        assert!(found.len() == 1 && found[0].1.contains("is reserved"), "{found:?}");
        assert!(check(&[("port", "1"), ("shared_bufers", "1GB")], EnginePlace::Elsewhere).is_empty());
    }

    #[test]
    fn the_program_of_this_machine_tells_what_it_does_not_take() {
        if installation::find().is_err() {
            return;
        }
        let good = ("shared_buffers", "64MiB");
        let of_a_library = ("auto_explain.log_min_duration", "5s");
        let taken = check(&[good, of_a_library], EnginePlace::Here);
        assert!(taken.is_empty(), "{taken:?}");
        let found = check(&[good, ("shared_bufers", "1GB"), ("wal_level", "bad")], EnginePlace::Here);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["shared_bufers", "wal_level"], "{found:?}");
        assert!(found[0].1.contains("unrecognized configuration parameter \"shared_bufers\""), "{found:?}");
    }
}

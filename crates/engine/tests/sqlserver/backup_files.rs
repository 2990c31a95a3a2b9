//! A backup in several files, which the server writes and reads side by side.

use crate::places::{runtime, sqlserver, target};
use crate::tds_server::{Part, Setup, TdsServer};
use crate::upkeep::texts;
use proofload_engine::{Backups, Target, place_settings};
use proofload_model::settings::{Settings, Value};
use std::sync::{Arc, Mutex};

fn backups() -> &'static dyn Backups {
    sqlserver().backups().expect("the server keeps them")
}

/// A server that notes what it is told.
fn noting() -> (TdsServer, Arc<Mutex<String>>) {
    let kept = Arc::new(Mutex::new(String::new()));
    let shared = Arc::clone(&kept);
    let server = TdsServer::start(Setup::default(), move |sql, _| {
        let mut kept = shared.lock().expect("nobody panicked");
        if let Some((_, rest)) = sql.split_once("@value = '") {
            rest.split('\'').next().expect("a text").clone_into(&mut kept);
        }
        if sql.starts_with("SELECT CAST(value") && !kept.is_empty() { texts(&[&[&**kept]]) } else { Vec::new() }
    });
    (server, kept)
}

fn sent(server: &TdsServer, word: &str) -> Vec<String> {
    server.log().into_iter().filter(|line| line.starts_with("batch ") && line.contains(word)).collect()
}

#[test]
fn a_list_of_files_reaches_the_engine_as_one_setting_for_each() {
    let of = |value: Value| {
        let settings = Settings([("engine.backup".to_owned(), value)].into());
        let found = place_settings(sqlserver(), &settings, 1).into_iter().filter(|(name, _)| name == "backup");
        found.map(|(_, file)| file).collect::<Vec<String>>()
    };
    let files = || vec!["/b/one of two.bak".to_owned(), "/b/two.bak".to_owned()];
    assert_eq!(of(Value::List(files())), files());
    assert_eq!(of(Value::List(vec!["/b/one.bak".to_owned()])), ["/b/one.bak"]);
    assert_eq!(of(Value::List(Vec::new())), [""; 0]);
}

#[test]
fn a_backup_is_written_to_all_its_files_and_read_from_all() {
    let (server, kept) = noting();
    let with = |files: &[&str]| {
        let settings: Vec<(&str, &str)> = files.iter().map(|file| ("backup", *file)).collect();
        target(server.url("encrypt=none"), &settings)
    };
    let two = with(&["/a/o'shop.bak", "/b/shop.bak"]);
    let is_kept = |target: &Target| runtime().block_on(backups().is_kept(target, "tprocc 1")).expect("looks");
    runtime().block_on(backups().keep(&two, "tprocc 1", &|_, _| {})).expect("keeps");
    assert_eq!(
        sent(&server, "BACKUP DATABASE"),
        [
            "batch BACKUP DATABASE [shop] TO DISK = N'/a/o''shop.bak', DISK = N'/b/shop.bak' WITH INIT, COPY_ONLY, CHECKSUM, COMPRESSION, \
          STATS = 5"
        ]
    );
    assert!(is_kept(&two), "{}", kept.lock().expect("nobody panicked"));
    let others = [with(&["/a/o'shop.bak"]), with(&["/a/o'shop.bak", "/c/shop.bak"]), with(&[])];
    assert!(others.iter().all(|target| !is_kept(target)), "it is in other files");
    server.log();
    runtime().block_on(backups().restore(&two, "tprocc 1", &|_, _| {})).expect("restores");
    let restored = sent(&server, "RESTORE DATABASE");
    let ending = "RESTORE DATABASE [shop] FROM DISK = N'/a/o''shop.bak', DISK = N'/b/shop.bak' WITH REPLACE, CHECKSUM, STATS = 5";
    assert!(restored.len() == 1 && restored[0].ends_with(ending), "{restored:?}");
}

/// What is said of files that are no files of a backup; nothing is sent.
fn refused(files: &[&str]) -> String {
    let (server, _) = noting();
    let settings: Vec<(&str, &str)> = files.iter().map(|file| ("backup", *file)).collect();
    let target = target(server.url("encrypt=none"), &settings);
    let kept = runtime().block_on(backups().keep(&target, "tprocc 1", &|_, _| {}));
    let restored = runtime().block_on(backups().restore(&target, "tprocc 1", &|_, _| {}));
    let [kept, restored] = [kept, restored].map(|outcome| outcome.expect_err("it is refused").to_string());
    assert_eq!(kept, restored);
    assert!(sent(&server, "DATABASE ").is_empty());
    kept
}

#[test]
fn names_that_are_empty_or_the_same_or_too_many_are_refused() {
    assert!(refused(&["a.bak", " "]).contains("engine.backup: file 2 has no name"));
    assert!(refused(&["a.bak", "b.bak", "a.bak"]).contains("a.bak is named twice"));
    let names: Vec<String> = (0..65).map(|number| format!("{number}.bak")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert!(refused(&names).contains("65 files are named") && refused(&names).contains("at most 64"));
}

/// The server does not write two files over a backup of three; what to do is told.
#[test]
fn files_of_a_backup_of_another_number_of_files_are_told_with_what_to_try() {
    let server = TdsServer::start(Setup::default(), |sql, _| {
        let message = "The media is formatted to support 3 media families, but 2 are expected.";
        let error = Part::Error { number: 3231, severity: 16, procedure: "", line: 1, message };
        if sql.starts_with("BACKUP") { vec![error] } else { Vec::new() }
    });
    let target = target(server.url("encrypt=none"), &[("backup", "a.bak"), ("backup", "b.bak")]);
    let error =
        runtime().block_on(backups().keep(&target, "tprocc 1", &|_, _| {})).expect_err("it is refused").to_string();
    assert!(
        error.contains("another number of files") && error.contains("a.bak, b.bak") && error.contains("3231"),
        "{error}"
    );
}

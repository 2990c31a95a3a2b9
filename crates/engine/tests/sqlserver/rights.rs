//! Rights of a login, from answers as the documentation has them: no server has been asked.

use crate::places::{sqlserver, target};
use crate::tds_server::{ColumnForm, Datum, Part, Setup, TdsServer};
use proofload_engine::{MissingRight, RightPurpose, RightsFailure};

/// The answer to `rights.sql`: the login, and what it may do.
fn answer(flags: [i64; 11]) -> Vec<Part> {
    let mut columns = vec![ColumnForm::Text(256, true)];
    columns.extend([ColumnForm::Integer(4); 11]);
    let row = [Datum::text("ben]ch")].into_iter().chain(flags.map(Datum::Integer)).collect();
    vec![Part::Columns(columns), Part::Row(row), Part::Count(1)]
}

fn lacking(flags: [i64; 11]) -> (Vec<MissingRight>, Vec<String>) {
    let server = TdsServer::start(Setup::default(), move |sql, _| match sql {
        sql if sql.contains("HAS_PERMS_BY_NAME") => answer(flags),
        _ => Vec::new(),
    });
    let rights = sqlserver().server_rights().expect("rights are asked for");
    let found = rights.lacking(&target(server.url("encrypt=none"), &[])).expect("the server says");
    (found, server.log())
}

#[test]
fn each_right_that_a_login_lacks_comes_with_its_statement() {
    let (found, log) = lacking([0; 11]);
    let told: Vec<(&str, &str)> =
        found.iter().map(|missing| (missing.right.as_str(), missing.grant.as_str())).collect();
    assert_eq!(
        told,
        [
            ("db_owner", "USE [shop]; ALTER ROLE db_owner ADD MEMBER [ben]]ch]"),
            ("VIEW SERVER STATE", "USE master; GRANT VIEW SERVER STATE TO [ben]]ch]"),
            ("VIEW ANY DEFINITION", "USE master; GRANT VIEW ANY DEFINITION TO [ben]]ch]"),
            ("ALTER SETTINGS", "USE master; GRANT ALTER SETTINGS TO [ben]]ch]"),
            ("BACKUP DATABASE", "USE [shop]; GRANT BACKUP DATABASE TO [ben]]ch]"),
            ("dbcreator", "ALTER SERVER ROLE dbcreator ADD MEMBER [ben]]ch]"),
            ("ALTER ANY CONNECTION", "USE master; GRANT ALTER ANY CONNECTION TO [ben]]ch]"),
            ("CONTROL SERVER", "USE master; GRANT CONTROL SERVER TO [ben]]ch]"),
        ]
    );
    assert_eq!(found[0].purposes, [RightPurpose::Build]);
    assert!(found[1].purposes.contains(&RightPurpose::Waits) && !found[1].is_needed_to_build(), "{found:?}");
    assert_eq!(found[3].purposes, [RightPurpose::Limits]);
    assert_eq!(found[7].purposes, [RightPurpose::ServerSetting("request_max_memory_grant_percent")]);
    let batches: Vec<&String> =
        log.iter().filter(|line| line.starts_with("batch ") && !line.starts_with("batch SET ")).collect();
    assert!(batches.len() == 1 && batches[0].starts_with("batch SELECT "), "nothing is changed: {batches:?}");
}

#[test]
fn one_of_several_rights_is_enough() {
    let check = |flags: [i64; 11], expected: &[&str]| {
        let found = lacking(flags).0;
        let names: Vec<&str> = found.iter().map(|missing| missing.right.as_str()).collect();
        assert_eq!(names, expected, "{flags:?}");
    };
    check([1; 11], &[]);
    // The newer right to see what a server does, and a database of the login's own.
    check([0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1], &[]);
    // Who may back up and not restore.
    check([0, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1], &["dbcreator"]);
    check([0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1], &["ALTER ANY CONNECTION"]);
    check([1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1], &["BACKUP DATABASE"]);
    check([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0], &["CONTROL SERVER"]);
}

#[test]
fn a_server_that_does_not_say_is_told() {
    let server = TdsServer::start(Setup::default(), |_, _| Vec::new());
    let rights = sqlserver().server_rights().expect("rights are asked for");
    let error = rights.lacking(&target(server.url("encrypt=none"), &[])).expect_err("it says nothing");
    assert!(error.to_string().contains("read the rights of the login"), "{error}");
    assert!(error.is_logged_in(), "{error:?}");
}

#[test]
fn a_server_that_refuses_the_question_is_told_from_one_that_refuses_the_login_or_is_not_there() {
    let refused = Part::Error { number: 297, severity: 16, procedure: "", line: 1, message: "No permission." };
    let asked = move |sql: &str| if sql.contains("HAS_PERMS_BY_NAME") { vec![refused.clone()] } else { Vec::new() };
    let server = TdsServer::start(Setup::default(), move |sql, _| asked(sql));
    let rights = sqlserver().server_rights().expect("rights are asked for");
    let failure = rights.lacking(&target(server.url("encrypt=none"), &[])).expect_err("it may not ask");
    assert!(matches!(&failure, RightsFailure::Question(error) if error.code() == "297"), "{failure:?}");
    let other = TdsServer::start(Setup { password: "6f74686572", ..Setup::default() }, |_, _| Vec::new());
    let failure = rights.lacking(&target(other.url("encrypt=none"), &[])).expect_err("the password is another");
    assert!(matches!(&failure, RightsFailure::Login(error) if error.code() == "18456"), "{failure:?}");
    let nobody = "sqlserver://me@127.0.0.1:1/shop?encrypt=none".to_owned();
    let failure = rights.lacking(&target(nobody, &[])).expect_err("nobody is there");
    assert!(matches!(failure, RightsFailure::Connect(_)), "{failure:?}");
}

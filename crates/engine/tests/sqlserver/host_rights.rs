//! What the operating system lets the server do, as facts of a run. No SQL Server has been asked.

use crate::places::{runtime, sqlserver, target};
use crate::tds_server::{Part, Setup, TdsServer};
use crate::upkeep::texts;
use proofload_model::samples::Fact;

const NAMES: [&str; 2] = ["memory_model", "instant_file_initialization"];

fn facts(answer: fn(&str) -> Vec<Part>) -> Vec<Fact> {
    let server = TdsServer::start(Setup::default(), move |sql, _| answer(sql));
    let target = target(server.url("encrypt=none"), &[]);
    let facts = runtime().block_on(sqlserver().verify_settings(&target)).expect("reads");
    facts.into_iter().filter(|fact| NAMES.contains(&fact.name.as_str())).collect()
}

#[test]
fn locked_pages_and_the_initialization_of_files_are_told() {
    let found = facts(|sql| match sql {
        sql if sql.contains("FROM sys.dm_os_sys_info") => {
            texts(&[&["memory_model", "LOCK_PAGES", "sys.dm_os_sys_info"]])
        }
        sql if sql.contains("FROM sys.dm_server_services") => {
            texts(&[&["instant_file_initialization", "OFF", "sys.dm_server_services"]])
        }
        _ => Vec::new(),
    });
    let told: Vec<_> = found.iter().map(|fact| (fact.name.as_str(), fact.effective.as_deref(), fact.holds)).collect();
    assert_eq!(told, [(NAMES[0], Some("LOCK_PAGES"), None), (NAMES[1], Some("OFF"), None)]);
    assert_eq!(found[1].source, "sys.dm_server_services");
}

/// An account without the right is told so, and the run goes on; the other view is still read.
#[test]
fn an_account_that_may_not_look_is_no_error() {
    let found = facts(|sql| match sql {
        sql if sql.contains("FROM sys.dm_os_sys_info") => {
            let message = "VIEW SERVER STATE permission was denied on object 'server', database 'master'.";
            vec![Part::Error { number: 300, severity: 14, procedure: "", line: 1, message }]
        }
        sql if sql.contains("FROM sys.dm_server_services") => {
            texts(&[&["instant_file_initialization", "ON", "sys.dm_server_services"]])
        }
        _ => Vec::new(),
    });
    let told: Vec<_> = found.iter().map(|fact| (fact.name.as_str(), fact.effective.as_deref(), fact.holds)).collect();
    assert_eq!(told, [(NAMES[0], None, None), (NAMES[1], Some("ON"), None)]);
    assert!(found[0].source.contains("VIEW SERVER STATE permission was denied"), "{}", found[0].source);
}

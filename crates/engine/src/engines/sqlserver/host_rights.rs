//! What the operating system lets the server do: keep its memory out of the page file, and make files grow without writing zeros. Changes
//! nothing. Never asked of a real server. Source: Microsoft's documentation, "`sys.dm_os_sys_info`", "`sys.dm_server_services`", "Database
//! instant file initialization".

use super::settings::in_force;
use super::wire::ServerConnection;
use proofload_model::facts::engine;
use proofload_model::samples::Fact;

/// Name of each fact, and the text that reads it: a row of its name, its value and where it stands, as in `settings.sql`.
const READ: [(&str, &str); 2] = [
    ("memory_model", include_str!("memory_model.sql")),
    ("instant_file_initialization", include_str!("file_initialization.sql")),
];

/// Errors of an account that may not see them. Source: Microsoft's documentation, "Database engine events and errors".
const NO_RIGHT: &[&str] = &["297", "300"];

/// Facts of both; one that says why where the account may not see them, an empty list where the server says nothing.
pub(super) async fn facts(connection: &mut ServerConnection) -> Vec<Fact> {
    let mut facts = Vec::new();
    for (name, sql) in READ {
        let fact = engine::SETTING.of(name);
        match connection.rows(sql).await {
            Ok(rows) => {
                let found = rows.into_iter().filter_map(in_force).find(|(known, _)| known == name);
                facts.extend(found.map(|(_, found)| fact.observed(found.value, found.source)));
            }
            Err(error) if NO_RIGHT.contains(&error.code()) => {
                facts.push(fact.unknown(format!("{error}; the account needs VIEW SERVER STATE")));
            }
            Err(error) => facts.push(fact.unknown(error.to_string())),
        }
    }
    facts
}

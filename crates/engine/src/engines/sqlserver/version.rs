//! The oldest server that the statements are written for. Source: Microsoft's documentation, "SERVERPROPERTY (Transact-SQL)", "Features by
//! SQL Server version".

use super::wire::ServerConnection;
use crate::contract::{Error, OwnedValue};

/// Major version of SQL Server 2019: the first with collations of UTF-8, in which texts are kept.
const OLDEST: i64 = 15;
/// Editions whose version says nothing: Azure SQL Database and Azure SQL Managed Instance, which are as new as the newest.
const AZURE: [i64; 2] = [5, 8];
/// What a server says of itself.
const LOOK: &str = "SELECT CAST(SERVERPROPERTY('ProductMajorVersion') AS int), CAST(SERVERPROPERTY('EngineEdition') AS int), \
                    CAST(SERVERPROPERTY('ProductVersion') AS varchar(128)) COLLATE DATABASE_DEFAULT";

/// Refuses a server that is too old, before it refuses statements one by one.
pub(super) async fn check(connection: &mut ServerConnection) -> Result<(), Error> {
    let rows = connection.rows(LOOK).await.map_err(|error| error.context("read the server's version"))?;
    match rows.first().map(Vec::as_slice) {
        Some([OwnedValue::Integer(major), OwnedValue::Integer(edition), OwnedValue::Text(version)])
            if *major < OLDEST && !AZURE.contains(edition) =>
        {
            Err(Error::other(format!(
                "the server is SQL Server {version}, and statements are written for version {OLDEST} (2019) and later and for Azure SQL: \
                 name a newer server in engine.url"
            )))
        }
        _ => Ok(()),
    }
}

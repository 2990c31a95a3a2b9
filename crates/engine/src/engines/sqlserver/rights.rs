//! Rights that a login lacks, asked from the server. Rows in bulk come over the connection, not out of files of the server, so that
//! `ADMINISTER BULK OPERATIONS` is not among them. `CREATE PROCEDURE` and `CREATE TYPE` are part of `db_owner`. Never asked of a real server.
//! Source: Microsoft's documentation, "`HAS_PERMS_BY_NAME`", "`IS_SRVROLEMEMBER`", "RESTORE (Transact-SQL)", "`sys.dm_os_wait_stats`",
//! "`sp_configure`", "ALTER WORKLOAD GROUP", "CREATE TYPE (Transact-SQL)".

use super::address::ServerAddress;
use super::database::{MASTER, is_listed};
use super::engine::Sqlserver;
use super::session::connect;
use super::unlisted::MEMORY_GRANT;
use super::wire::{ServerConnection, quoted};
use crate::contract::{
    Error, MissingRight, OwnedValue, RightPurpose, RightsFailure, ServerRights, Target, Value, asked,
};
use crate::engines::blocking::{PATIENCE, runtime};

/// The login, then what it may do, in the order of [`LoginAtServer::of`].
const LOOK: &str = include_str!("rights.sql");

/// Errors of a database that is not there, or not for this login.
const NO_DATABASE: &[&str] = &["916", "4060", "18456"];

impl ServerRights for Sqlserver {
    fn lacking(&self, target: &Target) -> Result<Vec<MissingRight>, RightsFailure> {
        let mut address = ServerAddress::of(target).map_err(RightsFailure::Connect)?;
        address.options.patience = Some(PATIENCE);
        let question = async |opened: (ServerConnection, bool)| look(&address, opened).await;
        let asking = asked(PATIENCE, open(&address), question);
        runtime().map_err(RightsFailure::Connect)?.block_on(asking)
    }
}

/// Connects to the study's database; to `master` where it is not there, which is told beside.
async fn open(address: &ServerAddress) -> Result<(ServerConnection, bool), Error> {
    match connect(address, &address.database).await {
        Err(error) if NO_DATABASE.contains(&error.code()) => {
            let mut master = connect(address, MASTER).await?;
            let is_there = is_listed(&mut master, &address.database).await?;
            if is_there {
                return Err(error);
            }
            Ok((master, false))
        }
        opened => Ok((opened?, true)),
    }
}

/// Asks what the login may do.
async fn look(
    address: &ServerAddress,
    (mut connection, has_database): (ServerConnection, bool),
) -> Result<Vec<MissingRight>, Error> {
    let rows = connection.rows(LOOK).await?;
    let row = rows.first().map(Vec::as_slice).unwrap_or_default();
    let database = address.database.clone();
    let login = LoginAtServer::of(row, database, has_database);
    login.map(|login| login.lacking()).ok_or_else(|| Error::other("the server does not say what the login may do"))
}

/// A login, and what it may do.
struct LoginAtServer {
    login: String,
    database: String,
    has_database: bool,
    /// Whether it may make and restore every database.
    is_creator: bool,
    creates_databases: bool,
    views_state: bool,
    views_definitions: bool,
    alters_settings: bool,
    /// Whether it has all rights in the study's database.
    owns_contents: bool,
    backs_up: bool,
    /// Whether the study's database is the login's own, which may restore it.
    owns_database: bool,
    ends_sessions: bool,
    controls_server: bool,
}

impl LoginAtServer {
    fn of(row: &[OwnedValue], database: String, has_database: bool) -> Option<Self> {
        let (OwnedValue::Text(login), flags) = row.split_first()? else { return None };
        let flags: Vec<bool> = flags.iter().map(|value| value.as_value() == Value::Integer(1)).collect();
        let [
            is_creator,
            creates_databases,
            views_all,
            views_performance,
            views_definitions,
            alters_settings,
            owns_contents,
            backs_up,
            owns_database,
            ends_sessions,
            controls_server,
        ] = flags[..]
        else {
            return None;
        };
        Some(Self {
            login: login.clone(),
            database,
            has_database,
            is_creator,
            creates_databases,
            views_state: views_all || views_performance,
            views_definitions,
            alters_settings,
            owns_contents,
            backs_up,
            owns_database,
            ends_sessions,
            controls_server,
        })
    }

    fn lacking(&self) -> Vec<MissingRight> {
        let (login, database) = (quoted(&self.login), quoted(&self.database));
        let own = format!("USE {database}; ALTER ROLE db_owner ADD MEMBER {login}");
        let at_server = |right: &str| format!("USE master; GRANT {right} TO {login}");
        let creator = format!("ALTER SERVER ROLE dbcreator ADD MEMBER {login}");
        let may_create = self.has_database || self.creates_databases || self.is_creator;
        // A database that is made here is the login's own.
        let may_restore = !self.has_database || self.is_creator || self.owns_database;
        let keep = format!("USE {database}; GRANT BACKUP DATABASE TO {login}");
        let all: [(bool, &str, &[RightPurpose], String); 9] = [
            (may_create, "CREATE ANY DATABASE", &[RightPurpose::Database], at_server("CREATE ANY DATABASE")),
            (!self.has_database || self.owns_contents, "db_owner", &[RightPurpose::Build], own),
            (
                self.views_state,
                "VIEW SERVER STATE",
                &[RightPurpose::Counters, RightPurpose::Waits, RightPurpose::Threads, RightPurpose::Standbys],
                at_server("VIEW SERVER STATE"),
            ),
            (
                self.views_definitions,
                "VIEW ANY DEFINITION",
                &[RightPurpose::Standbys],
                at_server("VIEW ANY DEFINITION"),
            ),
            (self.alters_settings, "ALTER SETTINGS", &[RightPurpose::Limits], at_server("ALTER SETTINGS")),
            (!self.has_database || self.backs_up, "BACKUP DATABASE", &[RightPurpose::Backups], keep),
            (may_restore, "dbcreator", &[RightPurpose::Backups], creator),
            (
                self.ends_sessions,
                "ALTER ANY CONNECTION",
                &[RightPurpose::Sessions, RightPurpose::Meetings],
                at_server("ALTER ANY CONNECTION"),
            ),
            (
                self.controls_server,
                "CONTROL SERVER",
                &[RightPurpose::ServerSetting(MEMORY_GRANT)],
                at_server("CONTROL SERVER"),
            ),
        ];
        let missing = |(_, right, purposes, grant): (bool, &str, &[RightPurpose], String)| MissingRight {
            right: right.to_owned(),
            purposes: purposes.to_vec(),
            grant,
        };
        all.into_iter().filter(|(has, ..)| !has).map(missing).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_that_is_not_there_is_made_by_who_may() {
        let names = |flags: [i64; 11]| {
            let row: Vec<OwnedValue> =
                std::iter::once(OwnedValue::Text("me".to_owned())).chain(flags.map(OwnedValue::Integer)).collect();
            let login = LoginAtServer::of(&row, "later".to_owned(), false).expect("it is whole");
            login.lacking().into_iter().map(|missing| missing.right).collect::<Vec<_>>()
        };
        assert_eq!(names([0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1]), ["CREATE ANY DATABASE"]);
        assert_eq!(names([0, 1, 1, 0, 1, 1, 0, 0, 0, 1, 1]), [""; 0]);
        assert_eq!(names([1, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1]), [""; 0]);
        assert!(LoginAtServer::of(&[OwnedValue::Null], "later".to_owned(), false).is_none());
    }

    #[test]
    fn a_database_is_asked_for_by_its_name_in_quotes() {
        assert!(LOOK.contains("HAS_PERMS_BY_NAME(QUOTENAME(DB_NAME()), 'DATABASE', 'BACKUP DATABASE')"), "{LOOK}");
    }
}

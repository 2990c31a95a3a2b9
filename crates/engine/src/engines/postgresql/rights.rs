//! Rights that a user lacks, asked from the server. Source: PostgreSQL manual, "Predefined Roles", "Access Privilege Inquiry Functions",
//! "CREATE DATABASE", "CHECKPOINT", "Connection Settings".

use super::connection::{self, SCHEMA, ServerConfig, ServerLogin, TOO_MANY_CONNECTIONS, what_helps};
use super::database::{NO_DATABASE, identifier};
use super::engine::Postgresql;
use super::failure::failed;
use crate::contract::{Error, MissingRight, RightPurpose, RightsFailure, ServerRights, SessionRoom, Target, asked};
use crate::engines::blocking::{PATIENCE, runtime};
use std::net::ToSocketAddrs;
use tokio_postgres::config::Host;
use tokio_postgres::{Client, Row};

/// What the user may do: make databases, make schemas in this one, use the schema of ours if it is there, and whether that bears our mark; then
/// whether the server has the role of those who may write checkpoints, from PostgreSQL 15 on, and whether the user has its rights and those of
/// whoever may read all statistics. A superuser has the rights of every role.
const LOOK: &str = "SELECT current_user::text, current_database()::text, rolsuper OR rolcreatedb, \
     has_database_privilege(current_database(), 'CREATE'), \
     (SELECT has_schema_privilege(oid, 'USAGE') AND has_schema_privilege(oid, 'CREATE') FROM pg_namespace WHERE nspname = $1), \
     (SELECT coalesce(obj_description(oid, 'pg_namespace') LIKE 'proofload:%', false) FROM pg_namespace WHERE nspname = $1), \
     (SELECT pg_has_role(oid, 'USAGE') FROM pg_roles WHERE rolname = 'pg_read_all_stats'), \
     (SELECT pg_has_role(oid, 'USAGE') FROM pg_roles WHERE rolname = 'pg_checkpoint') \
     FROM pg_roles WHERE rolname = current_user";

/// How many sessions the user may have at once, and the port of the server. Some are kept for superusers and, from PostgreSQL 16 on, for a role; a
/// superuser is bound by nothing else. The limit of a database counts where it is the study's.
const ROOM: &str = "SELECT CASE WHEN rolsuper THEN current_setting('max_connections')::int4 ELSE least( \
     current_setting('max_connections')::int4 - current_setting('superuser_reserved_connections')::int4 \
     - CASE WHEN coalesce((SELECT pg_has_role(oid, 'USAGE') FROM pg_roles WHERE rolname = 'pg_use_reserved_connections'), false) THEN 0 \
       ELSE coalesce(current_setting('reserved_connections', true), '0')::int4 END, \
     CASE WHEN rolconnlimit >= 0 THEN rolconnlimit END, \
     (SELECT datconnlimit FROM pg_database WHERE datname = current_database() AND datconnlimit >= 0 AND $1::bool)) END, \
     current_setting('port')::int4, host(inet_server_addr()) \
     FROM pg_roles WHERE rolname = session_user";

impl ServerRights for Postgresql {
    fn lacking(&self, target: &Target) -> Result<Vec<MissingRight>, RightsFailure> {
        let look = async |(client, has_database): (Client, bool)| {
            let row = client.query_one(LOOK, &[&SCHEMA]).await.map_err(failed)?;
            Ok::<_, Error>(LoginAtServer::of(&row, has_database)?.lacking())
        };
        runtime().map_err(RightsFailure::Connect)?.block_on(asked(PATIENCE, open(target), look))
    }

    fn session_room(&self, target: &Target) -> Result<Option<SessionRoom>, RightsFailure> {
        let config = connection::config(target)?;
        let port = config.get_ports().first().copied().unwrap_or(USUAL_PORT);
        let hosts = config.get_hosts().to_vec();
        let look = async |(client, has_database): (Client, bool)| {
            let row = client.query_one(ROOM, &[&has_database]).await.map_err(failed)?;
            let most: i32 = row.try_get(0).map_err(failed)?;
            let of_server: i32 = row.try_get(1).map_err(failed)?;
            let address: Option<String> = row.try_get(2).map_err(failed)?;
            let most = u32::try_from(most).unwrap_or_default();
            // A pooler listens on another port or at another address, and tells those of the server behind it.
            let is_certain = i32::from(port) == of_server && is_at(&hosts, port, address.as_deref());
            Ok::<_, Error>(Some(SessionRoom { most, is_certain }))
        };
        runtime().map_err(RightsFailure::Connect)?.block_on(asked(PATIENCE, open(target), look))
    }
}

/// Tells whether the only host of a URL is the address at which the server was reached; the server tells none of its socket.
fn is_at(hosts: &[Host], port: u16, address: Option<&str>) -> bool {
    match (hosts, address) {
        ([Host::Unix(_)], None) => true,
        ([Host::Tcp(name)], Some(address)) => {
            let found = (name.as_str(), port).to_socket_addrs();
            found.is_ok_and(|found| found.map(|one| one.ip().to_string()).any(|one| one == address))
        }
        _ => false,
    }
}

/// Port of a URL that names none. Source: PostgreSQL manual, "Connection Settings".
const USUAL_PORT: u16 = 5432;

/// Connects to the study's database, else to the one that every server has; whether the study's is there.
async fn open(target: &Target) -> Result<(Client, bool), RightsFailure> {
    let mut config = connection::config(target)?;
    config.connect_timeout(PATIENCE);
    match connection::open(config.clone()).await {
        Ok(client) => Ok((client, true)),
        Err(error) if error.code() == NO_DATABASE => {
            config.dbname("postgres");
            let opened = connection::open(config.clone()).await;
            Ok((opened.map_err(|error| of_opening(error, &config))?, false))
        }
        Err(error) => Err(of_opening(error, &config)),
    }
}

/// What a connection failed at that was to be opened so.
fn of_opening(error: Error, config: &ServerConfig) -> RightsFailure {
    match ServerLogin::of(config).grant(&error) {
        // Told beside it, as what to try.
        Some(grant) => RightsFailure::Entry { error: error.without(&what_helps(&grant)), grant },
        None if error.code() == TOO_MANY_CONNECTIONS => RightsFailure::Full(error),
        None => RightsFailure::of_opening(error),
    }
}

/// A user, and what it may do.
struct LoginAtServer {
    user: String,
    database: String,
    has_database: bool,
    makes_databases: bool,
    makes_schemas: bool,
    /// Whether it may use our schema; `None` where there is none.
    uses_schema: Option<bool>,
    /// Whether the schema of that name is ours.
    is_our_schema: bool,
    reads_all_statistics: bool,
    /// Whether it has the role of those who may write checkpoints; `None` where the server has no such role.
    writes_checkpoints: Option<bool>,
}

impl LoginAtServer {
    fn of(row: &Row, has_database: bool) -> Result<Self, Error> {
        let flag = |column: usize| row.try_get::<_, bool>(column).map_err(failed);
        let perhaps = |column: usize| row.try_get::<_, Option<bool>>(column).map_err(failed);
        Ok(Self {
            user: row.try_get(0).map_err(failed)?,
            database: row.try_get(1).map_err(failed)?,
            has_database,
            makes_databases: flag(2)?,
            makes_schemas: flag(3)?,
            uses_schema: perhaps(4)?,
            is_our_schema: perhaps(5)?.unwrap_or(false),
            reads_all_statistics: perhaps(6)?.unwrap_or(false),
            writes_checkpoints: perhaps(7)?,
        })
    }

    fn lacking(&self) -> Vec<MissingRight> {
        let user = identifier(&self.user);
        let of_role = |role: &str, granted: &str, purposes: &[RightPurpose]| MissingRight {
            right: role.to_owned(),
            purposes: purposes.to_vec(),
            grant: format!("GRANT {granted} TO {user}"),
        };
        let mut lacking: Vec<MissingRight> = self.to_build(&user).into_iter().collect();
        if !self.reads_all_statistics {
            let purposes = [RightPurpose::Waits, RightPurpose::Standbys];
            lacking.push(of_role("pg_read_all_stats", "pg_monitor", &purposes));
        }
        // Before PostgreSQL 15 superusers alone write checkpoints, and nobody is made one for that.
        if self.writes_checkpoints == Some(false) {
            lacking.push(of_role("pg_checkpoint", "pg_checkpoint", &[RightPurpose::Settle]));
        }
        lacking
    }

    /// The right without which no data are built.
    fn to_build(&self, user: &str) -> Option<MissingRight> {
        let (right, purpose, grant) = match (self.has_database, self.uses_schema) {
            (false, _) if self.makes_databases => return None,
            (false, _) => ("CREATEDB".to_owned(), RightPurpose::Database, format!("ALTER ROLE {user} CREATEDB")),
            (true, Some(true)) => return None,
            (true, Some(false)) => {
                // Another owner of the schema would own none of its tables.
                let what_helps = if self.is_our_schema {
                    format!(
                        "log in as the owner of schema {SCHEMA}, or have it dropped with its data by DROP SCHEMA {SCHEMA} CASCADE"
                    )
                } else {
                    format!("use another database in engine.url: the schema {SCHEMA} of this one is not Proofload's")
                };
                (format!("CREATE on schema {SCHEMA}"), RightPurpose::Build, what_helps)
            }
            (true, None) if self.makes_schemas => return None,
            (true, None) => {
                let grant = format!("GRANT CREATE ON DATABASE {} TO {user}", identifier(&self.database));
                (format!("CREATE on database {}", self.database), RightPurpose::FirstBuild, grant)
            }
        };
        Some(MissingRight { right, purposes: vec![purpose], grant })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nobody() -> LoginAtServer {
        LoginAtServer {
            user: "it\"s me".to_owned(),
            database: "shop".to_owned(),
            has_database: true,
            makes_databases: false,
            makes_schemas: false,
            uses_schema: None,
            is_our_schema: false,
            reads_all_statistics: false,
            writes_checkpoints: Some(false),
        }
    }

    #[track_caller]
    fn check(login: &LoginAtServer, expected: &[(&str, &str)]) {
        let lacking = login.lacking();
        let found: Vec<(&str, &str)> =
            lacking.iter().map(|missing| (missing.right.as_str(), missing.grant.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn each_right_that_is_missing_comes_with_its_statement() {
        let monitor = ("pg_read_all_stats", "GRANT pg_monitor TO \"it\"\"s me\"");
        let checkpoint = ("pg_checkpoint", "GRANT pg_checkpoint TO \"it\"\"s me\"");
        let create = ("CREATE on database shop", "GRANT CREATE ON DATABASE \"shop\" TO \"it\"\"s me\"");
        check(&nobody(), &[create, monitor, checkpoint]);
        let away = LoginAtServer { has_database: false, ..nobody() };
        check(&away, &[("CREATEDB", "ALTER ROLE \"it\"\"s me\" CREATEDB"), monitor, checkpoint]);
        let owner = LoginAtServer { uses_schema: Some(true), ..nobody() };
        check(&owner, &[monitor, checkpoint]);
        let guest = |is_our_schema: bool| LoginAtServer {
            uses_schema: Some(false),
            is_our_schema,
            makes_schemas: true,
            ..nobody()
        };
        let right = "CREATE on schema proofload";
        let ours = "log in as the owner of schema proofload, or have it dropped with its data by DROP SCHEMA proofload CASCADE";
        check(&guest(true), &[(right, ours), monitor, checkpoint]);
        let theirs = "use another database in engine.url: the schema proofload of this one is not Proofload's";
        check(&guest(false), &[(right, theirs), monitor, checkpoint]);
    }

    #[test]
    fn a_superuser_lacks_nothing_whatever_the_server_is() {
        let all = LoginAtServer {
            makes_databases: true,
            makes_schemas: true,
            reads_all_statistics: true,
            writes_checkpoints: Some(true),
            ..nobody()
        };
        check(&all, &[]);
        check(&LoginAtServer { writes_checkpoints: None, ..all }, &[]);
    }
}

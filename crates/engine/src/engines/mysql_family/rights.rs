//! Rights that an account lacks: what `SHOW GRANTS` tells of it, held against what this folder's statements need. `LOAD DATA LOCAL` reads no file
//! of the server's, so `FILE` is not among them. Source: MariaDB knowledge base, "GRANT"; MySQL manual, "Privileges Provided by MySQL".

use super::address::ServerAddress;
use super::database::{identifier, text};
use super::flavour::FamilyMember;
use super::grants::{Grants, Privilege};
use super::session::connect;
use super::wire::ServerConnection;
use crate::contract::{Error, MissingRight, RightPurpose, RightsFailure, ServerRights, SessionRoom, Target, asked};
use crate::engines::blocking::{PATIENCE, runtime};
use crate::engines::wire::Place;

/// A right that something here needs.
#[derive(Debug)]
pub(in crate::engines) struct NeededRight {
    /// Name in a `GRANT`.
    word: &'static str,
    /// Privileges of which one is enough.
    any: &'static [Privilege],
    /// Where it is needed.
    place: RightPlace,
    /// What needs it.
    purposes: &'static [RightPurpose],
}

/// Where a right is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RightPlace {
    /// The server itself.
    Server,
    /// The study's database.
    StudyDatabase,
    /// The tables of the performance schema, where the server keeps it.
    PerformanceSchema,
}

impl NeededRight {
    /// A right at the server itself.
    pub(in crate::engines) const fn at_server(
        word: &'static str,
        any: &'static [Privilege],
        purposes: &'static [RightPurpose],
    ) -> Self {
        Self { word, any, place: RightPlace::Server, purposes }
    }

    /// A right in the study's database.
    pub(in crate::engines) const fn in_database(
        word: &'static str,
        any: &'static [Privilege],
        purposes: &'static [RightPurpose],
    ) -> Self {
        Self { word, any, place: RightPlace::StudyDatabase, purposes }
    }
}

/// What needs a right that only some workloads need.
const SOME_WORKLOADS: &[RightPurpose] = &[RightPurpose::RoutinesAndIndexes];

/// What every flavour needs; see those of each.
const NEEDED: &[NeededRight] = &[
    NeededRight::in_database("CREATE", &[Privilege::Create], &[RightPurpose::Database, RightPurpose::Build]),
    NeededRight::in_database("DROP", &[Privilege::Drop], &[RightPurpose::Build]),
    NeededRight::in_database("SELECT", &[Privilege::Select], &[RightPurpose::Build]),
    NeededRight::in_database("INSERT", &[Privilege::Insert], &[RightPurpose::Build]),
    NeededRight::in_database("UPDATE", &[Privilege::Update], &[RightPurpose::Build]),
    NeededRight::in_database("DELETE", &[Privilege::Delete], &[RightPurpose::Build]),
    NeededRight::in_database("ALTER", &[Privilege::Alter], SOME_WORKLOADS),
    NeededRight::in_database("INDEX", &[Privilege::Index], SOME_WORKLOADS),
    NeededRight::in_database("ALTER ROUTINE", &[Privilege::AlterRoutine], SOME_WORKLOADS),
    NeededRight::in_database("EXECUTE", &[Privilege::Execute], SOME_WORKLOADS),
    NeededRight {
        word: "SELECT",
        any: &[Privilege::Select],
        place: RightPlace::PerformanceSchema,
        purposes: &[RightPurpose::Waits, RightPurpose::Threads],
    },
];

/// The database of waits and threads.
const PERFORMANCE_SCHEMA: &str = "performance_schema";

impl<F: FamilyMember> ServerRights for F {
    fn lacking(&self, target: &Target) -> Result<Vec<MissingRight>, RightsFailure> {
        let address = address_of(target)?;
        let question = async |mut connection: ServerConnection| look(&mut connection, &address.database).await;
        let opening = async { connect(&address, None).await.map_err(of_opening) };
        let asking = asked(PATIENCE, opening, question);
        runtime().map_err(RightsFailure::Connect)?.block_on(asking)
    }

    fn session_room(&self, target: &Target) -> Result<Option<SessionRoom>, RightsFailure> {
        let address = address_of(target)?;
        let question = async |mut connection: ServerConnection| {
            let rows = connection.rows(ROOM).await?;
            Ok::<_, Error>(rows.first().and_then(|row| room(row, &address.place)))
        };
        let opening = async { connect(&address, None).await.map_err(of_opening) };
        let asking = asked(PATIENCE, opening, question);
        runtime().map_err(RightsFailure::Connect)?.block_on(asking)
    }
}

/// How a server is reached to be asked, whether or not it takes writes.
fn address_of(target: &Target) -> Result<ServerAddress, RightsFailure> {
    let mut address = ServerAddress::of(target).map_err(RightsFailure::Connect)?;
    address.options.patience = Some(PATIENCE);
    address.must_take_writes = false;
    Ok(address)
}

/// Most sessions of the server, of this account and of any account, each 0 where there is no bound; then the server's socket. Source: MySQL
/// manual, "Setting Account Resource Limits": the value of a session is that of its account.
const ROOM: &str =
    "SELECT @@global.max_connections, @@session.max_user_connections, @@global.max_user_connections, @@socket";

/// The room for sessions that a server tells at a place.
fn room(row: &[Option<String>], place: &Place) -> Option<SessionRoom> {
    let text = |column: usize| row.get(column)?.as_deref();
    let number = |column: usize| text(column)?.parse::<u32>().ok().filter(|number| *number > 0);
    let (of_server, of_account) = (number(0), number(1));
    let most = of_server.into_iter().chain(of_account).min()?;
    // A proxy may be behind any address and have the server's own port.
    let is_server = matches!(place, Place::Unix(socket) if text(3) == socket.to_str());
    // What bounds any account does not bound the administrators of MariaDB.
    let may_be_exempt = Some(most) != of_server && of_account == number(2);
    Some(SessionRoom { most, is_certain: is_server && !may_be_exempt })
}

/// Tells whether an error is of a server or an account all of whose connections are taken, which others that end give back. Source: MySQL
/// manual, "Server Error Message Reference": `ER_CON_COUNT_ERROR`, `ER_TOO_MANY_USER_CONNECTIONS`, and `ER_USER_LIMIT_REACHED`, whose text
/// names the resource: the others of an account are counts of an hour.
pub(super) fn is_full(error: &Error) -> bool {
    match error.code() {
        "1040" | "1203" => true,
        "1226" => error.to_string().contains("max_user_connections"),
        _ => false,
    }
}

/// What a connection failed at that was to be opened.
fn of_opening(error: Error) -> RightsFailure {
    if is_full(&error) { RightsFailure::Full(error) } else { RightsFailure::of_opening(error) }
}

/// Asks the server for all that rights depend on.
async fn look(connection: &mut ServerConnection, database: &str) -> Result<Vec<MissingRight>, Error> {
    // Names of databases come without quotes otherwise, where the server is set so.
    connection.text("SET SESSION sql_quote_show_create = 1", |_| {}).await?;
    let rows = connection.rows("SHOW GRANTS").await?;
    let grants = Grants::read(rows.iter().filter_map(|row| row.first()?.as_deref()));
    let about = format!(
        "SELECT current_user(), @@global.performance_schema, \
         (SELECT count(*) FROM information_schema.schemata WHERE schema_name = {})",
        text(database)
    );
    let rows = connection.rows(&about).await?;
    let [Some(account), Some(has_waits), Some(databases)] = rows.first().map(Vec::as_slice).unwrap_or_default() else {
        return Err(Error::other("the server does not say who is logged in"));
    };
    let login = LoginAtServer {
        grants,
        account: quoted(account),
        database: database.to_owned(),
        has_database: databases != "0",
        has_waits: has_waits != "0",
    };
    Ok(NEEDED.iter().chain(connection.flavour().rights).filter_map(|needed| login.missing(needed)).collect())
}

/// An account, and what there is at the server.
struct LoginAtServer {
    grants: Grants,
    /// The account as a `GRANT` names it.
    account: String,
    database: String,
    has_database: bool,
    has_waits: bool,
}

impl LoginAtServer {
    /// The right where the account lacks it.
    fn missing(&self, needed: &NeededRight) -> Option<MissingRight> {
        let (database, place) = match needed.place {
            RightPlace::Server => (None, "*.*".to_owned()),
            RightPlace::StudyDatabase => (Some(self.database.as_str()), format!("{}.*", identifier(&self.database))),
            RightPlace::PerformanceSchema if !self.has_waits => return None,
            RightPlace::PerformanceSchema => (Some(PERFORMANCE_SCHEMA), format!("{PERFORMANCE_SCHEMA}.*")),
        };
        let has = |privilege: &Privilege| match database {
            None => self.grants.at_server(*privilege),
            Some(database) => self.grants.in_database(*privilege, database),
        };
        if needed.any.iter().any(has) {
            return None;
        }
        let is_asked = |purpose: &RightPurpose| *purpose != RightPurpose::Database || !self.has_database;
        let right = match needed.place {
            RightPlace::Server => needed.word.to_owned(),
            _ => format!("{} on {place}", needed.word),
        };
        Some(MissingRight {
            right,
            purposes: needed.purposes.iter().copied().filter(is_asked).collect(),
            grant: format!("GRANT {} ON {place} TO {}", needed.word, self.account),
        })
    }
}

/// An account as a `GRANT` names it: the last `@` is before the host.
fn quoted(account: &str) -> String {
    let (user, host) = account.rsplit_once('@').unwrap_or((account, "%"));
    format!("{}@{}", text(user), text(host))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::mysql_family::Flavour;
    use crate::engines::{mariadb, mysql};

    fn login(lines: &[&str], has_database: bool) -> LoginAtServer {
        LoginAtServer {
            grants: Grants::read(lines.iter().copied()),
            account: quoted("me@here@10.0.0.%"),
            database: "shop".to_owned(),
            has_database,
            has_waits: true,
        }
    }

    #[test]
    fn a_server_without_room_is_told_from_one_that_refuses_the_login() {
        let of = |code: &str, text: &str| of_opening(Error::new(crate::contract::ErrorClass::Other, code, text));
        let reached = |resource: &str| of("1226", &format!("User 'me' has exceeded the '{resource}' resource"));
        assert!(
            [of("1040", "no"), of("1203", "no"), reached("max_user_connections")].iter().all(RightsFailure::is_full)
        );
        for resource in ["max_connections_per_hour", "max_questions", "max_updates"] {
            assert!(matches!(reached(resource), RightsFailure::Login(_)), "{resource} is of an hour");
        }
        assert!(matches!(of("1045", "no"), RightsFailure::Login(_)));
    }

    #[test]
    fn the_smallest_bound_is_the_room_and_that_of_any_account_is_not_certain() {
        let remote = Place::Tcp { address: "db1".to_owned(), port: 3306, name: "db1".to_owned() };
        let socket = Place::Unix("/run/s".into());
        let told = |bounds: [&str; 3], place: &Place| {
            let row = bounds.into_iter().chain(["/run/s"]).map(|value| Some(value.to_owned()));
            room(&row.collect::<Vec<_>>(), place).map(|room| (room.most, room.is_certain))
        };
        assert_eq!(told(["151", "0", "0"], &socket), Some((151, true)));
        assert_eq!(told(["151", "4", "0"], &socket), Some((4, true)), "of the account");
        assert_eq!(told(["151", "4", "4"], &socket), Some((4, false)), "an administrator may have more");
        assert_eq!(told(["151", "0", "0"], &remote), Some((151, false)), "perhaps a proxy");
        assert_eq!(told(["151", "0", "0"], &Place::Unix("/run/proxy".into())), Some((151, false)), "a proxy");
        assert_eq!(told(["0", "0", "0"], &socket), None, "no bound");
    }

    #[test]
    fn a_right_that_is_missing_comes_with_what_it_is_for_and_its_statement() {
        let nobody = login(&["GRANT USAGE ON *.* TO `me@here`@`10.0.0.%`"], false);
        let create = nobody.missing(&NEEDED[0]).expect("it is lacking");
        assert_eq!(create.right, "CREATE on `shop`.*");
        assert_eq!(create.purposes, [RightPurpose::Database, RightPurpose::Build]);
        assert_eq!(create.grant, "GRANT CREATE ON `shop`.* TO 'me@here'@'10.0.0.%'");
        let beside = login(&["GRANT USAGE ON *.* TO `me@here`@`10.0.0.%`"], true);
        assert_eq!(beside.missing(&NEEDED[0]).expect("it is lacking").purposes, [RightPurpose::Build]);
        let owner = login(&["GRANT ALL PRIVILEGES ON `shop`.* TO `me@here`@`10.0.0.%`"], true);
        let lacking: Vec<String> =
            NEEDED.iter().filter_map(|needed| owner.missing(needed)).map(|missing| missing.right).collect();
        assert_eq!(lacking, ["SELECT on performance_schema.*"]);
    }

    #[test]
    fn rows_need_no_right_to_procedures_and_indexes() {
        let writer =
            login(&["GRANT CREATE, DROP, SELECT, INSERT, UPDATE, DELETE ON `shop`.* TO `me@here`@`10.0.0.%`"], true);
        let to_build = |flavour: &Flavour| {
            let lacking = NEEDED.iter().chain(flavour.rights).filter_map(|needed| writer.missing(needed));
            lacking.filter(MissingRight::is_needed_to_build).map(|missing| missing.right).collect::<Vec<_>>()
        };
        assert_eq!(to_build(&mariadb::FLAVOUR), [""; 0]);
        assert_eq!(to_build(&mysql::FLAVOUR), ["CREATE ROUTINE on `shop`.*"], "its mark is a routine");
        let routine = NEEDED.iter().find(|needed| needed.word == "EXECUTE").and_then(|needed| writer.missing(needed));
        assert_eq!(routine.expect("it is lacking").purposes, [RightPurpose::RoutinesAndIndexes]);
    }

    #[test]
    fn who_may_do_everything_lacks_nothing() {
        for flavour in [&mariadb::FLAVOUR, &mysql::FLAVOUR] {
            let root = login(&["GRANT ALL PRIVILEGES ON *.* TO `me@here`@`10.0.0.%`"], true);
            let lacking = NEEDED.iter().chain(flavour.rights).filter_map(|needed| root.missing(needed)).count();
            assert_eq!(lacking, 0, "{}", flavour.name);
            assert!(NEEDED.iter().chain(flavour.rights).all(|needed| !needed.purposes.is_empty()));
        }
    }
}

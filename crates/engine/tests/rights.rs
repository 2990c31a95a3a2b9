//! Rights that a login lacks at a real server: told one by one, and gone once the statements that come with them have been carried out.

mod support;

use proofload_engine::{MissingRight, RightPurpose, Session as _, Target, engine};
use support::{Place, Special};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// A server of an engine with the database of a study; `None`, said so, where it is not here and not required.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn server(name: &str, settings: &[(&str, &str)]) -> Option<Place> {
    let of_name = engine(name).expect("it is registered");
    match Place::new(of_name, settings, &Special::default()) {
        Ok(place) => {
            runtime().block_on(place.engine.create_database(&place.target)).expect("creates the database");
            Some(place)
        }
        Err(reason) => {
            let required = format!("PROOFLOAD_REQUIRE_{}", name.to_uppercase());
            assert!(std::env::var_os(required).is_none(), "{name} is required: {reason}");
            eprintln!("SKIPPED: {reason}");
            None
        }
    }
}

/// The place by another login.
fn by(place: &Place, ours: &str, theirs: &str) -> Target {
    let mut target = place.target.clone();
    target.endpoints = target.address().map(|address| address.replace(ours, theirs)).into();
    target
}

fn lacking(place: &Place, target: &Target) -> Vec<MissingRight> {
    place.engine.server_rights().expect("rights are asked for").lacking(target).expect("the server says")
}

fn names(lacking: &[MissingRight]) -> Vec<&str> {
    lacking.iter().map(|missing| missing.right.as_str()).collect()
}

/// Carries statements out as the server's administrator.
fn carry_out<'s>(place: &Place, statements: impl IntoIterator<Item = &'s str>) {
    runtime().block_on(async {
        let mut session = place.connect().await;
        for statement in statements {
            session.script(statement).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
    });
}

/// Grants what is lacking, after which nothing is.
fn check_granted(place: &Place, target: &Target) {
    let before = lacking(place, target);
    carry_out(place, before.iter().map(|missing| missing.grant.as_str()));
    assert_eq!(names(&lacking(place, target)), [""; 0], "after {before:?}");
}

fn check_family(name: &str, [monitor, lists, of_session]: [&str; 3]) -> Option<Place> {
    let place = server(name, &[("performance_schema", "ON")])?;
    // Names in what sessions are granted then come without quotes, unless a session wants them.
    carry_out(&place, ["SET GLOBAL sql_quote_show_create = OFF"]);
    assert_eq!(names(&lacking(&place, &place.target)), [""; 0], "an administrator lacks nothing");
    carry_out(
        &place,
        ["CREATE USER poor@localhost", "CREATE USER owner@localhost", "GRANT ALL ON proofload.* TO owner@localhost"],
    );
    let poor = by(&place, "root@", "poor@");
    let found = lacking(&place, &poor);
    let create = &found[0];
    assert_eq!(create.right, "CREATE on `proofload`.*");
    assert_eq!(create.purposes, [RightPurpose::Database, RightPurpose::Build], "it does not see the database");
    assert_eq!(create.grant, "GRANT CREATE ON `proofload`.* TO 'poor'@'localhost'");
    assert!(
        names(&found).contains(&"PROCESS") && names(&found).contains(&"SELECT on performance_schema.*"),
        "{found:?}"
    );
    check_granted(&place, &poor);
    let room = |limit: u32| {
        carry_out(&place, [format!("ALTER USER poor@localhost WITH MAX_USER_CONNECTIONS {limit}").as_str()]);
        let rights = place.engine.server_rights().expect("rights are asked for");
        rights.session_room(&poor).expect("the server answers").expect("it has a bound").most
    };
    assert_eq!(room(7), 7);
    assert!(room(0) > 7, "that of the server");
    let owner = by(&place, "root@", "owner@");
    let found = lacking(&place, &owner);
    assert_eq!(names(&found), ["SELECT on performance_schema.*", "PROCESS", monitor, lists, of_session]);
    assert!(found.iter().all(|missing| !missing.is_needed_to_build()), "{found:?}");
    carry_out(&place, ["SET GLOBAL local_infile = OFF"]);
    assert!(lacking(&place, &place.target).is_empty(), "rows are loaded otherwise then");
    check_granted(&place, &place.target);
    Some(place)
}

#[test]
fn mariadb_tells_what_an_account_lacks() {
    let Some(place) = check_family("mariadb", ["BINLOG MONITOR", "REPLICATION MASTER ADMIN", "SUPER"]) else { return };
    // What a role gives that is on for every session is the account's.
    let statements = [
        "CREATE ROLE watching",
        "GRANT PROCESS, BINLOG MONITOR, REPLICATION MASTER ADMIN, SUPER ON *.* TO watching",
        "GRANT SELECT ON performance_schema.* TO watching",
        "GRANT watching TO owner@localhost",
        "SET DEFAULT ROLE watching FOR owner@localhost",
    ];
    carry_out(&place, statements);
    assert_eq!(names(&lacking(&place, &by(&place, "root@", "owner@"))), [""; 0]);
}

#[test]
fn mysql_tells_what_an_account_lacks() {
    check_family("mysql", ["REPLICATION CLIENT", "REPLICATION SLAVE", "SESSION_VARIABLES_ADMIN"]);
}

/// A user who may not connect to the database `shop` is told what lets it in, and one whose sessions are used up that there is no room.
fn check_no_entry(place: &Place, maker: &Target) {
    let asked = |what: &str| {
        let rights = place.engine.server_rights().expect("rights are asked for");
        rights.lacking(maker).expect_err(what)
    };
    carry_out(place, ["REVOKE CONNECT ON DATABASE shop FROM PUBLIC"]);
    let barred = asked("it may not connect");
    let grant = barred.grant().expect("a statement lets it in").to_owned();
    assert_eq!(grant, "GRANT CONNECT ON DATABASE \"shop\" TO \"maker\"");
    assert!(!barred.to_string().contains("GRANT"), "it is told beside it: {barred}");
    carry_out(place, [grant.as_str(), "ALTER ROLE maker CONNECTION LIMIT 0"]);
    let full = asked("it has no session left");
    assert!(full.is_full() && full.to_string().contains("CONNECTION LIMIT of the role"), "{full}");
    let room = |limit: &str| {
        carry_out(place, [format!("ALTER ROLE maker CONNECTION LIMIT {limit}").as_str()]);
        let rights = place.engine.server_rights().expect("rights are asked for");
        rights.session_room(maker).expect("the server answers").expect("it has a bound")
    };
    let all = room("-1");
    assert!(all.is_certain && all.most > 7, "{all:?}");
    assert_eq!(room("7").most, 7);
    carry_out(place, ["ALTER DATABASE shop CONNECTION LIMIT 5"]);
    assert_eq!(room("7").most, 5, "the smallest counts");
    carry_out(place, ["ALTER DATABASE shop CONNECTION LIMIT -1"]);
    carry_out(place, ["ALTER ROLE maker CONNECTION LIMIT -1", "GRANT CONNECT ON DATABASE shop TO PUBLIC"]);
}

#[test]
fn postgresql_tells_what_a_user_lacks() {
    let Some(place) = server("postgresql", &[]) else { return };
    assert_eq!(names(&lacking(&place, &place.target)), [""; 0], "a superuser lacks nothing");
    let roles =
        ["CREATE ROLE poor LOGIN", "CREATE ROLE guest LOGIN", "CREATE ROLE maker LOGIN", "CREATE DATABASE shop"];
    carry_out(&place, roles);
    let by = |user: &str, database: &str| {
        by(&place, "user=proofload dbname=proofload", &format!("user={user} dbname={database}"))
    };
    let check = |target: &Target, right: &str, purpose: RightPurpose| {
        let found = lacking(&place, target);
        // Servers before PostgreSQL 15 have no such role.
        let told: Vec<&str> = names(&found).into_iter().filter(|right| *right != "pg_checkpoint").collect();
        assert_eq!(told, [right, "pg_read_all_stats"]);
        assert_eq!(found[0].purposes, [purpose]);
        found
    };
    let granted = [
        (by("poor", "shop"), "CREATE on database shop", RightPurpose::FirstBuild),
        (by("maker", "later"), "CREATEDB", RightPurpose::Database),
    ];
    for (target, right, purpose) in granted {
        check(&target, right, purpose);
        check_granted(&place, &target);
    }
    check_no_entry(&place, &by("maker", "shop"));
    let guest = by("guest", "proofload");
    let ours = check(&guest, "CREATE on schema proofload", RightPurpose::Build);
    assert!(ours[0].grant.starts_with("log in as the owner of schema proofload"), "{ours:?}");
    carry_out(&place, ["COMMENT ON SCHEMA proofload IS 'of the shop'"]);
    let theirs = check(&guest, "CREATE on schema proofload", RightPurpose::Build);
    assert!(theirs[0].grant.starts_with("use another database in engine.url"), "{theirs:?}");
}

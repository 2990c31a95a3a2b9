//! Rights of a login, from answers as the documentation has them: no `mongod` has been asked.

use crate::op_msg_server::{Behaviour, Fault, Login};
use crate::places::Place;
use proofload_engine::{MissingRight, RightPurpose, RightsFailure};

/// What a server of the tests says of its login.
fn lacking(login: Option<Login>) -> Result<Vec<MissingRight>, RightsFailure> {
    let (place, server) = Place::lean(Behaviour { login, ..Behaviour::default() }, &[]);
    let found = place.engine.server_rights().expect("rights are asked for").lacking(&place.target);
    let changes = ["insert", "update", "delete", "create", "drop", "dropDatabase", "fsync"];
    assert!(changes.iter().all(|command| server.seen(command) == 0), "nothing is changed");
    found
}

#[test]
fn each_action_that_a_login_lacks_comes_with_the_role_that_gives_it() {
    let reader = Login::Granted { database: "proofload", in_database: &["find", "listCollections"], at_server: &[] };
    let found = lacking(Some(reader)).expect("the server says");
    let told: Vec<(&str, &str)> =
        found.iter().map(|missing| (missing.right.as_str(), missing.grant.as_str())).collect();
    let granted = |role: &str, database: &str| {
        format!("db.getSiblingDB(\"admin\").grantRolesToUser(\"ben\", [{{ role: \"{role}\", db: \"{database}\" }}])")
    };
    let writer = granted("readWrite", "proofload");
    let (monitor, host) = (granted("clusterMonitor", "admin"), granted("hostManager", "admin"));
    assert_eq!(
        told,
        [
            ("insert on proofload", writer.as_str()),
            ("update on proofload", writer.as_str()),
            ("serverStatus", monitor.as_str()),
            ("replSetGetStatus", monitor.as_str()),
            ("fsync", host.as_str()),
        ]
    );
    let purposes: Vec<RightPurpose> = found.iter().flat_map(|missing| missing.purposes.clone()).collect();
    let build = RightPurpose::Build;
    let of_server = [RightPurpose::Counters, RightPurpose::Standbys, RightPurpose::Settle];
    assert_eq!(purposes, [&[build, build][..], &of_server].concat());
    let elsewhere = Login::Granted { database: "shop", in_database: &["find", "insert", "update"], at_server: &[] };
    assert_eq!(lacking(Some(elsewhere)).expect("the server says").len(), 7, "rights in another database are none here");
}

#[test]
fn who_may_do_all_lacks_nothing_and_so_does_everybody_where_nobody_logs_in() {
    let all = Login::Granted {
        database: "proofload",
        in_database: &["find", "insert", "update", "remove", "listCollections"],
        at_server: &["serverStatus", "replSetGetStatus", "fsync"],
    };
    for login in [Some(all), None] {
        let found = lacking(login).expect("the server says");
        assert!(found.is_empty(), "{login:?}: {found:?}");
    }
}

#[test]
fn a_server_that_wants_a_login_is_told_from_one_that_is_not_there() {
    let failure = lacking(Some(Login::Wanted)).expect_err("nobody is logged in");
    assert!(matches!(failure, RightsFailure::Login(_)), "{failure:?}");
    assert!(failure.to_string().contains("requires authentication"), "{failure}");
    let nobody = Place::new("mongodb", Some("mongodb://127.0.0.1:1/shop".to_owned()), &[], Box::new(()));
    let failure = nobody.engine.server_rights().expect("rights are asked for").lacking(&nobody.target);
    assert!(matches!(failure, Err(RightsFailure::Connect(_))), "{failure:?}");
}

#[test]
fn only_the_servers_own_word_is_a_refused_login() {
    let failure = |code: i32| {
        let (place, server) = Place::lean(Behaviour::default(), &[]);
        server.fault("listCollections", Fault::Error(code));
        place.engine.server_rights().expect("rights are asked for").lacking(&place.target).err()
    };
    for code in [13, 18, 8000] {
        let failure = failure(code);
        assert!(matches!(failure, Some(RightsFailure::Login(_))), "{code}: {failure:?}");
    }
    // A secondary, and a server that ends: another moment or another member may do.
    for code in [13435, 91] {
        let failure = failure(code);
        assert!(matches!(failure, Some(RightsFailure::Connect(_))), "{code}: {failure:?}");
    }
    // Servers that only resemble MongoDB do not know each command, field or value.
    for code in [59, 40415, 2] {
        let failure = failure(code);
        assert!(failure.is_none(), "{code}: {failure:?}");
    }
    for url in ["mongodb://db1,db2/shop", "mongodb://db1/shop?tls=true", "mongodb://me@db1/shop"] {
        let place = Place::new("mongodb", Some(url.to_owned()), &[], Box::new(()));
        let failure = place.engine.server_rights().expect("rights are asked for").lacking(&place.target);
        assert!(matches!(failure, Err(RightsFailure::Connect(_))), "{url}: no server was asked: {failure:?}");
    }
}

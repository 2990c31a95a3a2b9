//! The recipe of a local instance, as far as it can be tried without a `mongod`: what is asked of a server that answers, the files
//! and the process id.

use crate::op_msg_server::{Behaviour, Server, Set};
use proofload_engine::{ServerRecipe, engine};
use std::path::Path;

fn recipe() -> &'static dyn ServerRecipe {
    engine("mongodb").expect("it is registered").server().expect("it has local instances")
}

/// Probes twice; the server must be ready at the second time.
fn check_set(set: Set, commands: &[(&str, u64)]) {
    let server = Server::start(Behaviour { wants_set: Some(set), ..Behaviour::default() });
    let address = server.url("proofload");
    let first = recipe().probe(&address).expect_err("no member yet").to_string();
    assert!(first.contains("does not accept writes yet"), "{first}");
    recipe().probe(&address).expect("ready");
    let member = server.member().expect("a member");
    assert_eq!(address, format!("mongodb://{member}/proofload"));
    for (command, times) in commands {
        assert_eq!(server.seen(command), *times, "{command}");
    }
}

#[test]
fn a_replica_set_of_one_is_made_and_follows_its_port() {
    check_set(Set::New, &[("replSetInitiate", 1), ("replSetReconfig", 0)]);
    check_set(Set::Moved, &[("replSetInitiate", 1), ("replSetReconfig", 1)]);
}

#[test]
fn a_standalone_server_is_ready_at_once_and_a_dead_one_is_not() {
    let server = Server::start(Behaviour::default());
    let address = server.url("proofload");
    recipe().probe(&address).expect("ready");
    assert_eq!(server.seen("replSetInitiate"), 0);
    drop(server);
    recipe().probe(&address).expect_err("it has ended");
}

#[test]
fn files_address_and_process_id_are_as_mongod_has_them() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let settings = [("cache_size".to_owned(), "1GiB".to_owned())];
    let files = recipe().configure(folder.path(), &settings, 27018).expect("a configuration");
    assert_eq!(files.len(), 1);
    assert_eq!(files[0].path, Path::new("mongod.conf"));
    assert!(files[0].content.contains("cacheSizeGB: 1\n"), "{}", files[0].content);
    let address = recipe().address(folder.path(), 27018);
    assert_eq!(address, "mongodb://127.0.0.1:27018/proofload?directConnection=true");
    for (content, expected) in [("4711\n", Some(4711)), ("", None)] {
        std::fs::write(folder.path().join("mongod.lock"), content).expect("writes");
        assert_eq!(recipe().running_pid(folder.path()), expected);
    }
    let refused = recipe().configure(folder.path(), &[("write_concern".to_owned(), "0".to_owned())], 27018);
    refused.expect_err("a study with that setting does not start");
}

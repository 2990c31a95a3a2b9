//! The making of a replica set of one, as far as the server plays it.

use super::behaviour::{Behaviour, Set};
use super::build::{document, failure, int, nested, ok};
use super::raw;
use super::store::Store;
use super::wire::Request;

/// The version of a set that was made on another port.
const VERSION: i32 = 4;

/// Makes a set that is new; one that was made before is told so.
pub(super) fn initiate(store: &mut Store, behaviour: &Behaviour, request: &Request<'_>) -> Vec<u8> {
    match behaviour.wants_set {
        None => failure(76, "NoReplicationEnabled", "this node was not started with replication enabled"),
        Some(Set::Moved) => failure(23, "AlreadyInitialized", "already initialized"),
        Some(Set::New) => joined(store, request, "replSetInitiate"),
    }
}

/// The configuration of the set that was made before.
pub(super) fn config() -> Vec<u8> {
    document(&[nested("config", &document(&[int("version", VERSION)])), ok()])
}

/// Gives the set another address: only by force, and with a newer version.
pub(super) fn reconfigure(store: &mut Store, request: &Request<'_>) -> Vec<u8> {
    let set = raw::get(request.body, "replSetReconfig").expect("a configuration").value;
    let newer = raw::get(set, "version").is_some_and(|version| version.integer() > i64::from(VERSION));
    let forced = raw::get(request.body, "force").is_some_and(|force| force.integer() != 0);
    if newer && forced {
        joined(store, request, "replSetReconfig")
    } else {
        failure(103, "NewReplicaSetConfigurationIncompatible", "not forced, or not newer")
    }
}

fn joined(store: &mut Store, request: &Request<'_>, name: &str) -> Vec<u8> {
    let set = raw::get(request.body, name).expect("a configuration").value;
    let members = raw::documents(raw::get(set, "members").expect("members").value);
    store.member = Some(raw::get(members[0], "host").expect("a host").text().to_owned());
    document(&[ok()])
}

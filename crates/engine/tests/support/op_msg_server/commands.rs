//! The commands that the server knows.

use super::behaviour::{Behaviour, Login};
use super::build::{self, cursor, document, int, ok, text};
use super::faults::Fault;
use super::store::{Store, projected};
use super::wire::Request;
use super::{hello, raw, replica_set, writes};

/// The document that answers a request.
pub(super) fn answer(
    store: &mut Store,
    behaviour: &Behaviour,
    request: &Request<'_>,
    fault: Option<&Fault>,
) -> Vec<u8> {
    if let Some(error) = fault.and_then(Fault::error) {
        return error;
    }
    let namespace = namespace(request);
    match request.name() {
        "hello" | "isMaster" | "ismaster" => hello::hello(behaviour, store, request.name()),
        "connectionStatus" => hello::connection_status(behaviour.login),
        "listCollections" if matches!(behaviour.login, Some(Login::Wanted)) => {
            build::failure(13, "Unauthorized", "command listCollections requires authentication")
        }
        "ping" | "endSessions" | "fsync" | "killCursors" => document(&[ok()]),
        "buildInfo" | "buildinfo" => hello::build_info(),
        "serverStatus" => hello::server_status(7),
        "getParameter" => hello::parameter(raw::elements(request.body).nth(1).expect("a parameter").name),
        "replSetInitiate" => replica_set::initiate(store, behaviour, request),
        "replSetGetConfig" => replica_set::config(),
        "replSetReconfig" => replica_set::reconfigure(store, request),
        "find" => find(store, behaviour, &namespace, request),
        "getMore" => get_more(store, behaviour, request),
        "insert" => writes::insert(store, &namespace, request, fault),
        "update" => writes::update(store, &namespace, request, fault),
        "delete" => writes::delete(store, &namespace, request),
        "count" => count(store, &namespace, request),
        "aggregate" => aggregate(store, &namespace),
        "listCollections" => list_collections(store, behaviour, request),
        "create" => {
            store.collections.entry(namespace).or_default();
            document(&[ok()])
        }
        "dropDatabase" => {
            let of_database = format!("{}.", database(request));
            store.collections.retain(|name, _| !name.starts_with(&of_database));
            document(&[ok()])
        }
        "drop" => {
            store.collections.remove(&namespace);
            document(&[ok()])
        }
        name => build::failure(59, "CommandNotFound", &format!("no such command: '{name}'")),
    }
}

fn database<'a>(request: &Request<'a>) -> &'a str {
    raw::get(request.body, "$db").map_or("admin", |name| name.text())
}

/// Database and collection; of a command without a collection the database.
fn namespace(request: &Request<'_>) -> String {
    let first = raw::elements(request.body).next().expect("a command");
    if first.kind == 2 { format!("{}.{}", database(request), first.text()) } else { database(request).to_owned() }
}

fn number(request: &Request<'_>, name: &str) -> Option<usize> {
    raw::get(request.body, name).and_then(|element| usize::try_from(element.integer()).ok())
}

fn find(store: &mut Store, behaviour: &Behaviour, namespace: &str, request: &Request<'_>) -> Vec<u8> {
    let part = |name| raw::get(request.body, name).map(|element| element.value);
    let limit = number(request, "limit").filter(|limit| *limit > 0).unwrap_or(usize::MAX);
    let filter = part("filter").map_or_else(|| document(&[]), <[u8]>::to_vec);
    let found = store.matching(namespace, &filter).into_iter().take(limit);
    let found: Vec<_> = found.map(|one| projected(one, part("projection"))).collect();
    let size = number(request, "batchSize").unwrap_or(usize::MAX).min(behaviour.reply_documents);
    store.first_batch(namespace, found, size)
}

fn get_more(store: &mut Store, behaviour: &Behaviour, request: &Request<'_>) -> Vec<u8> {
    let id = raw::get(request.body, "getMore").expect("a cursor").integer();
    let collection = raw::get(request.body, "collection").expect("a collection").text();
    let size = number(request, "batchSize").unwrap_or(usize::MAX).min(behaviour.reply_documents);
    store.next_batch(&format!("{}.{collection}", database(request)), id, size)
}

fn size(store: &Store, namespace: &str) -> i32 {
    i32::try_from(store.collections.get(namespace).map_or(0, |all| all.len())).expect("a small collection")
}

fn count(store: &Store, namespace: &str, request: &Request<'_>) -> Vec<u8> {
    let filter = raw::get(request.body, "query").map_or_else(|| document(&[]), |filter| filter.value.to_vec());
    let found = store.matching(namespace, &filter).len();
    document(&[int("n", i32::try_from(found).expect("a small collection")), ok()])
}

/// The one pipeline that is known: everything, counted.
fn aggregate(store: &Store, namespace: &str) -> Vec<u8> {
    let found = size(store, namespace);
    let groups = if found == 0 { Vec::new() } else { vec![document(&[int("_id", 1), int("n", found)])] };
    cursor("firstBatch", namespace, 0, &groups)
}

fn list_collections(store: &mut Store, behaviour: &Behaviour, request: &Request<'_>) -> Vec<u8> {
    let prefix = format!("{}.", database(request));
    let names = store.collections.keys().filter_map(|name| name.strip_prefix(&prefix));
    let entries: Vec<_> = names.map(|name| document(&[text("name", name), text("type", "collection")])).collect();
    store.first_batch(&format!("{prefix}$cmd.listCollections"), entries, behaviour.reply_documents)
}

//! What the server says of itself.

use super::behaviour::{Behaviour, Login};
use super::build::{array, boolean, date, document, failure, int, nested, ok, text, texts};
use super::store::Store;

/// The answer to `hello`, or to its older name.
pub(super) fn hello(behaviour: &Behaviour, store: &Store, name: &str) -> Vec<u8> {
    if name == "hello" && !behaviour.knows_hello {
        return failure(59, "CommandNotFound", "no such command: 'hello'");
    }
    let (least, most) = behaviour.wire_versions;
    let waits = behaviour.wants_set.is_some() && store.member.is_none();
    let mut elements = vec![
        boolean("helloOk", behaviour.knows_hello),
        boolean(if name == "hello" { "isWritablePrimary" } else { "ismaster" }, behaviour.writable && !waits),
        int("maxBsonObjectSize", behaviour.document_bytes),
        int("maxMessageSizeBytes", behaviour.message_bytes),
        int("maxWriteBatchSize", behaviour.batch_documents),
        date("localTime", 1_700_000_000_000),
        int("minWireVersion", least),
        int("maxWireVersion", most),
        boolean("readOnly", false),
    ];
    elements.extend(behaviour.set_name.map(|name| text("setName", name)));
    elements.extend(waits.then(|| boolean("isreplicaset", true)));
    elements.push(ok());
    document(&elements)
}

/// The answer to `buildInfo`.
pub(super) fn build_info() -> Vec<u8> {
    document(&[text("version", "7.0.99"), text("gitVersion", "test server"), ok()])
}

/// The answer to `serverStatus`, with the sections that the store can fill.
pub(super) fn server_status(finds: i32) -> Vec<u8> {
    let cache = document(&[int("maximum bytes configured", 256 << 20), int("bytes read into cache", 4096)]);
    document(&[
        text("version", "7.0.99"),
        nested("storageEngine", &document(&[text("name", "memory")])),
        nested("connections", &document(&[int("current", 1)])),
        nested("opcounters", &document(&[int("query", finds)])),
        nested("wiredTiger", &document(&[nested("cache", &cache)])),
        ok(),
    ])
}

/// The answer to `connectionStatus` with privileges.
pub(super) fn connection_status(login: Option<Login>) -> Vec<u8> {
    let (mut users, mut privileges) = (Vec::new(), Vec::new());
    if let Some(Login::Granted { database, in_database, at_server }) = login {
        users.push(document(&[text("user", "ben"), text("db", "admin")]));
        let whole = document(&[text("db", database), text("collection", "")]);
        let cluster = document(&[boolean("cluster", true)]);
        let granted = [(whole, in_database), (cluster, at_server)];
        privileges.extend(
            granted.map(|(resource, actions)| document(&[nested("resource", &resource), texts("actions", actions)])),
        );
    }
    let info = document(&[array("authenticatedUsers", &users), array("authenticatedUserPrivileges", &privileges)]);
    document(&[nested("authInfo", &info), ok()])
}

/// The answer to `getParameter`: one parameter is known.
pub(super) fn parameter(wanted: &str) -> Vec<u8> {
    match wanted {
        "syncdelay" => document(&[int("syncdelay", 60), ok()]),
        _ => failure(72, "InvalidOptions", "no option found to get"),
    }
}

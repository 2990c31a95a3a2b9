//! Commands that change what is kept: insert, update, delete.

use super::build::{self, document, int, ok, text};
use super::faults::Fault;
use super::raw;
use super::store::{Store, key};
use super::wire::Request;

/// The refusal of one document.
fn refusal(index: usize, code: i32) -> Vec<u8> {
    let why = if code == 11000 { "E11000 duplicate key error" } else { "refused" };
    document(&[int("index", i32::try_from(index).expect("a small batch")), int("code", code), text("errmsg", why)])
}

/// The answer to a write.
fn written(count: usize, errors: &[Vec<u8>], mut more: Vec<Vec<u8>>, fault: Option<&Fault>) -> Vec<u8> {
    let mut elements = vec![int("n", i32::try_from(count).expect("a small batch"))];
    elements.append(&mut more);
    if !errors.is_empty() {
        elements.push(build::array("writeErrors", errors));
    }
    if let Some(Fault::Unconfirmed(code)) = fault {
        let error = document(&[int("code", *code), text("errmsg", "waiting for replication timed out")]);
        elements.push(build::nested("writeConcernError", &error));
    }
    elements.push(ok());
    document(&elements)
}

/// The code by which a fault refuses this document of an insertion.
fn refused(fault: Option<&Fault>, index: usize) -> Option<i32> {
    match fault {
        Some(Fault::RefuseEvery { every, code }) if (index + 1).is_multiple_of(*every) => Some(*code),
        _ => None,
    }
}

/// Inserts documents; those whose key is taken are refused.
pub(super) fn insert(store: &mut Store, namespace: &str, request: &Request<'_>, fault: Option<&Fault>) -> Vec<u8> {
    let ordered = raw::get(request.body, "ordered").is_none_or(|ordered| ordered.integer() != 0);
    let collection = store.collections.entry(namespace.to_owned()).or_default();
    let (mut count, mut errors) = (0, Vec::new());
    for (index, one) in request.documents("documents").into_iter().enumerate() {
        let key = key(&raw::get(one, "_id").expect("a document with a key"));
        let code = refused(fault, index).or_else(|| collection.contains_key(&key).then_some(11000));
        if let Some(code) = code {
            errors.push(refusal(index, code));
            if ordered {
                break;
            }
        } else {
            collection.insert(key, one.to_vec());
            count += 1;
        }
    }
    written(count, &errors, Vec::new(), fault)
}

/// Updates documents by their key: `$set`, or a new document in place of the old one; with `upsert` also where there is none.
pub(super) fn update(store: &mut Store, namespace: &str, request: &Request<'_>, fault: Option<&Fault>) -> Vec<u8> {
    let (mut count, mut upserted) = (0, Vec::new());
    for (index, update) in request.documents("updates").into_iter().enumerate() {
        let part = |name| raw::get(update, name).expect("an update has q and u").value;
        let id = raw::get(part("q"), "_id").expect("updates go by key");
        let upsert = raw::get(update, "upsert").is_some_and(|upsert| upsert.integer() != 0);
        let collection = store.collections.entry(namespace.to_owned()).or_default();
        match collection.get_mut(&key(&id)) {
            Some(old) => *old = changed(old, part("u")),
            None if upsert => {
                let empty = document(&[id.whole.to_vec()]);
                collection.insert(key(&id), changed(&empty, part("u")));
                let index = int("index", i32::try_from(index).expect("a small batch"));
                upserted.push(document(&[index, id.whole.to_vec()]));
            }
            None => continue,
        }
        count += 1;
    }
    let mut more = vec![int("nModified", i32::try_from(count - upserted.len()).expect("a small batch"))];
    if !upserted.is_empty() {
        more.push(build::array("upserted", &upserted));
    }
    written(count, &[], more, fault)
}

/// The document after an update.
fn changed(old: &[u8], change: &[u8]) -> Vec<u8> {
    let Some(set) = raw::get(change, "$set") else {
        let id = raw::get(old, "_id").expect("a key").whole.to_vec();
        let others =
            raw::elements(change).filter(|element| element.name != "_id").map(|element| element.whole.to_vec());
        return document(&std::iter::once(id).chain(others).collect::<Vec<_>>());
    };
    let new = |name: &str| raw::get(set.value, name).map(|element| element.whole.to_vec());
    let kept = raw::elements(old).map(|element| new(element.name).unwrap_or_else(|| element.whole.to_vec()));
    let added = raw::elements(set.value).filter(|element| raw::get(old, element.name).is_none());
    document(&kept.chain(added.map(|element| element.whole.to_vec())).collect::<Vec<_>>())
}

/// Deletes what a filter means.
pub(super) fn delete(store: &mut Store, namespace: &str, request: &Request<'_>) -> Vec<u8> {
    let mut count = 0;
    for delete in request.documents("deletes") {
        let filter = raw::get(delete, "q").expect("a delete has q").value;
        let found = store.matching(namespace, filter).into_iter();
        let keys: Vec<_> = found.map(|one| key(&raw::get(one, "_id").expect("a key"))).collect();
        let one = raw::get(delete, "limit").is_some_and(|limit| limit.integer() == 1);
        for key in keys.iter().take(if one { 1 } else { keys.len() }) {
            count += usize::from(store.collections.get_mut(namespace).is_some_and(|all| all.remove(key).is_some()));
        }
    }
    written(count, &[], Vec::new(), None)
}

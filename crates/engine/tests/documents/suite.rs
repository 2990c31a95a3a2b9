//! What every session of documents must do.

use crate::places::{PLACES, Place, fields, run};
use proofload_engine::{AnyDocuments, DocumentBuffer, Documents, ENGINES, ErrorClass, Fields};

/// Documents that the suite inserts first.
const DOCUMENTS: u32 = 350;

#[test]
fn every_place_keeps_the_contract() {
    for row in PLACES {
        match (row.make)() {
            Ok(place) => {
                eprintln!("{}", row.name);
                run(check(&place));
            }
            Err(reason) => eprintln!("SKIPPED: {}: {reason}", row.name),
        }
    }
}

#[test]
fn every_engine_with_documents_has_a_place() {
    for engine in ENGINES.iter().map(|engine| engine.facts()).filter(|facts| facts.capabilities.documents) {
        let has_row = PLACES.iter().any(|row| row.name.split(',').next() == Some(engine.name));
        assert!(has_row, "{} needs a row in the table of places", engine.name);
    }
}

async fn check(place: &Place) {
    place.engine.create_database(&place.target).await.expect("creates the database");
    if !place.keeps {
        return check_null(place).await;
    }
    check_empty(place).await;
    check_insert_and_find(place).await;
    check_update(place).await;
    check_refused(place).await;
    check_scan(place).await;
    check_notes(place).await;
    check_wrong_field(place).await;
    check_reopening(place).await;
    check_foreign_database(place).await;
    check_observer(place).await;
}

fn key(index: u32) -> String {
    format!("user{index:05}ä")
}

/// The value of a field: empty, of all bytes, or a text that is no UTF-8.
fn value(index: u32, field: u16) -> Vec<u8> {
    match field {
        0 => (0..index % 300).map(|byte| byte as u8).collect(),
        1 => format!("value of {index}").into_bytes(),
        _ => vec![0xFF, 0x00, index as u8],
    }
}

fn batch(range: std::ops::Range<u32>) -> DocumentBuffer {
    let mut batch = DocumentBuffer::new();
    for index in range {
        batch.begin(&key(index));
        for field in 0..3 {
            batch.put(field, &value(index, field));
        }
    }
    batch
}

async fn find(session: &mut AnyDocuments, key: &str, wanted: Fields) -> DocumentBuffer {
    let mut found = DocumentBuffer::new();
    session.find(key, wanted, &mut found).await.expect("finds");
    found
}

async fn check_empty(place: &Place) {
    let mut session = place.session("usertable").await;
    assert!(find(&mut session, "user", Fields::All).await.is_empty());
    assert_eq!(session.count().await.expect("counts"), 0);
    assert_eq!(session.collections().await.expect("lists"), Vec::<String>::new());
    assert!(session.notes("manifest").await.expect("reads").is_empty());
    let inserted = session.insert(&DocumentBuffer::new()).await.expect("inserts nothing");
    assert_eq!((inserted.count, inserted.refused.len()), (0, 0));
}

async fn check_insert_and_find(place: &Place) {
    let mut session = place.session("usertable").await;
    let inserted = session.insert(&batch(0..DOCUMENTS)).await.expect("inserts");
    assert_eq!((inserted.count, inserted.refused.len()), (u64::from(DOCUMENTS), 0));
    assert_eq!(session.count().await.expect("counts"), u64::from(DOCUMENTS));
    assert_eq!(session.collections().await.expect("lists"), ["usertable"]);
    for index in [0, 1, 299, DOCUMENTS - 1] {
        let found = find(&mut session, &key(index), Fields::All).await;
        let document = found.get(0).expect("a document");
        assert_eq!((found.len(), document.key()), (1, key(index).as_str()));
        let values: Vec<_> = document.values().map(|(field, value)| (field, value.to_vec())).collect();
        assert_eq!(values, (0..3).map(|field| (field, value(index, field))).collect::<Vec<_>>());
        let found = find(&mut session, &key(index), Fields::One(1)).await;
        let values: Vec<_> = found.get(0).expect("a document").values().collect();
        assert_eq!(values, [(1, value(index, 1).as_slice())]);
    }
    assert!(find(&mut session, &key(DOCUMENTS), Fields::All).await.is_empty());
}

async fn check_update(place: &Place) {
    let mut session = place.session("usertable").await;
    let mut change = DocumentBuffer::new();
    change.begin(&key(7));
    change.put(2, b"new");
    change.put(0, &[7; 1000]);
    assert_eq!(session.update(change.get(0).expect("one")).await.expect("updates"), 1);
    // The same once more changes nothing and matches all the same.
    assert_eq!(session.update(change.get(0).expect("one")).await.expect("updates"), 1);
    let found = find(&mut session, &key(7), Fields::All).await;
    let document = found.get(0).expect("a document");
    assert_eq!(document.value(0), Some(&[7; 1000][..]));
    assert_eq!((document.value(1), document.value(2)), (Some(&value(7, 1)[..]), Some(&b"new"[..])));
    change.clear();
    change.begin("nobody");
    change.put(0, b"x");
    assert_eq!(session.update(change.get(0).expect("one")).await.expect("matches nothing"), 0);
    assert_eq!(session.count().await.expect("counts"), u64::from(DOCUMENTS), "an update inserts nothing");
}

/// Documents whose key is taken are refused one by one; the others arrive.
async fn check_refused(place: &Place) {
    let mut session = place.session("usertable").await;
    let mut mixed = DocumentBuffer::new();
    for (place, name) in [key(3), key(DOCUMENTS), key(4), key(DOCUMENTS + 1), key(DOCUMENTS)].iter().enumerate() {
        mixed.begin(name);
        mixed.put(0, format!("mixed {place}").as_bytes());
    }
    let inserted = session.insert(&mixed).await.expect("an answer");
    let places: Vec<_> = inserted.refused.iter().map(|(place, _)| *place).collect();
    assert_eq!((inserted.count, places), (2, vec![0, 2, 4]));
    assert!(inserted.refused.iter().all(|(_, error)| error.class() == ErrorClass::Data), "{:?}", inserted.refused);
    assert_eq!(session.count().await.expect("counts"), u64::from(DOCUMENTS) + 2);
    let kept = find(&mut session, &key(3), Fields::One(1)).await;
    assert_eq!(kept.get(0).expect("the old one").value(1), Some(&value(3, 1)[..]));
}

async fn check_scan(place: &Place) {
    let mut session = place.session("usertable").await;
    for (from, limit, first, count) in [
        (key(10), 5, key(10), 5),
        (key(0), 300, key(0), 300),
        (key(DOCUMENTS - 3), 100, key(DOCUMENTS - 3), 5),
        (format!("{}a", key(10)), 1, key(11), 1),
        ("v".to_owned(), 10, String::new(), 0),
        (key(0), 0, String::new(), 0),
    ] {
        let mut found = DocumentBuffer::new();
        session.scan(&from, limit, Fields::One(1), &mut found).await.expect("scans");
        let keys: Vec<_> = found.iter().map(|document| document.key().to_owned()).collect();
        assert_eq!((keys.len(), keys.first().map_or("", String::as_str)), (count, first.as_str()), "from {from}");
        assert!(keys.is_sorted(), "{keys:?}");
        assert!(found.iter().all(|document| document.value(0).is_none() && document.value(2).is_none()));
    }
    // More than any server sends at once.
    let mut found = DocumentBuffer::new();
    session.scan(&key(0), 10_000, Fields::All, &mut found).await.expect("scans");
    assert_eq!(found.len(), DOCUMENTS as usize + 2);
    assert_eq!(found.get(20).and_then(|document| document.value(1)), Some(&value(20, 1)[..]));
}

async fn check_notes(place: &Place) {
    let mut session = place.session("usertable").await;
    let note = |key: &str, text: &str| (key.to_owned(), text.to_owned());
    session.note("manifest", &[note("seed", "1"), note("records", "ä\n2")]).await.expect("notes");
    session.note("manifest", &[note("seed", "3")]).await.expect("notes");
    let mut notes = place.session("other").await.notes("manifest").await.expect("reads");
    notes.sort();
    assert_eq!(notes, [note("records", "ä\n2"), note("seed", "3")]);
    let mut names = session.collections().await.expect("lists");
    names.sort();
    assert_eq!(names, ["manifest", "usertable"]);
}

/// A field that the collection does not have is our caller's mistake; the session goes on.
async fn check_wrong_field(place: &Place) {
    let mut session = place.session("usertable").await;
    let mut wrong = DocumentBuffer::new();
    session.find(&key(1), Fields::One(3), &mut wrong).await.expect_err("there is no field 3");
    wrong.begin("somebody");
    wrong.put(9, b"x");
    session.update(wrong.get(0).expect("one")).await.expect_err("there is no field 9");
    session.insert(&wrong).await.expect_err("there is no field 9");
    assert_eq!(find(&mut session, &key(1), Fields::All).await.len(), 1);
}

async fn check_reopening(place: &Place) {
    place.engine.after_build(&place.target).await.expect("settles");
    place.engine.create_database(&place.target).await.expect("leaves what is ours");
    assert_eq!(place.session("usertable").await.count().await.expect("counts"), u64::from(DOCUMENTS) + 2);
}

/// A database of the same server that somebody else has filled.
async fn check_foreign_database(place: &Place) {
    let mut other = place.target.clone();
    other.place.url = other.place.url.map(|url| url.replace("/proofload", "/somebody"));
    let mut session = place.engine.connect_documents(&other).await.expect("connects");
    session.open(&fields("theirs")).await.expect("opens");
    session.insert(&batch(0..1)).await.expect("inserts");
    let error = place.engine.create_database(&other).await.expect_err("it is not ours").to_string();
    assert!(error.contains("somebody") && error.contains("theirs"), "{error}");
    assert_eq!(session.count().await.expect("counts"), 1);
}

async fn check_observer(place: &Place) {
    let (engine, target) = (place.engine, place.target.clone());
    let seen = std::thread::spawn(move || {
        let observer = engine.observer(&target).expect("an observer or none");
        observer.map(|mut observer| (observer.observe().expect("observes"), observer.observe().expect("observes")))
    });
    let seen = seen.join().expect("observes without a panic");
    assert_eq!(seen.is_none(), engine.facts().capabilities.embedded);
    if let Some((first, second)) = seen {
        assert_eq!(first.len(), second.len());
        let units_are_said = first.iter().all(|seen| !seen.reading.unit.is_empty());
        assert!(units_are_said && !first.is_empty(), "{first:?}");
    }
}

async fn check_null(place: &Place) {
    let mut session = place.session("usertable").await;
    let found = find(&mut session, "user1", Fields::All).await;
    assert_eq!(found.get(0).map(|document| (document.key(), document.values().count())), Some(("user1", 3)));
    assert_eq!(find(&mut session, "user1", Fields::One(2)).await.get(0).expect("one").values().count(), 1);
    assert_eq!(session.insert(&batch(0..5)).await.expect("inserts").count, 5);
    assert_eq!(session.update(batch(0..1).get(0).expect("one")).await.expect("updates"), 1);
    let mut found = DocumentBuffer::new();
    session.scan("user1", 7, Fields::All, &mut found).await.expect("scans");
    assert_eq!(found.len(), 7);
}

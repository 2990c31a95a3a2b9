//! Both client paths made to do the same to the same server, and their answers compared, before the lean path is believed.
//!
//! Cheap: some sixty operations on a scratch collection that is gone afterwards. Says that the paths agree, not that the server is
//! right, so a server of canned answers passes too.

use super::names::SCRATCH_COLLECTIONS;
use super::options::{ClientPath, Options};
use super::url::Url;
use super::{driver, lean};
use crate::contract::{Collection, DocumentBuffer, Documents, Error, Fields, InsertOutcome, Target};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

/// What one session answered, a line for each operation.
type Answers = Vec<String>;

/// Runs the same operations by the lean path and by the official driver, each on data that the other wrote too.
///
/// Returns the first operation to which the paths have different answers, with both; `None` when they agree. An error
/// means that a path did not connect or that the scratch collection could not be removed.
pub async fn self_check(target: &Target) -> Result<Option<String>, Error> {
    let options = |path| Ok::<_, Error>(Options { path, ..Options::read(&target.place.settings)? });
    let mut paths = Paths {
        lean: lean::Session::connect(target, &options(ClientPath::Lean)?).await?,
        driver: driver::Session::connect(&directly(target)?, &options(ClientPath::Driver)?).await?,
    };
    let collection = collection();
    paths.lean.open(&collection).await?;
    paths.driver.open(&collection).await?;
    let outcome = paths.compare(&collection.name).await;
    paths.driver.remove(&collection.name).await?;
    outcome
}

/// The driver is to speak to the server that the lean path speaks to, and not to the set that it may be a member of.
fn directly(target: &Target) -> Result<Target, Error> {
    let mut url = Url::of(target)?;
    if !url.options.iter().any(|(name, _)| name.eq_ignore_ascii_case("directConnection")) {
        let place = if url.text.contains("://") && url.text.matches('/').count() < 3 { "/" } else { "" };
        url.text.push_str(place);
        url.text.push_str(if url.text.contains('?') { "&" } else { "?" });
        url.text.push_str("directConnection=true");
    }
    Ok(Target::new(target.place.clone(), Some(url.text)))
}

/// Both sessions.
struct Paths {
    lean: lean::Session,
    driver: driver::Session,
}

impl Paths {
    /// What is written by one is read by both, and then the other way round.
    async fn compare(&mut self, collection: &str) -> Result<Option<String>, Error> {
        let Self { lean, driver } = self;
        let written = write(lean).await;
        let read = [read_all(lean).await, read_all(driver).await];
        driver.remove(collection).await?;
        let written = [written, write(driver).await];
        let read_again = [read_all(lean).await, read_all(driver).await];
        driver.remove(collection).await?;
        let noted = [take_notes(lean, collection).await, take_notes(driver, collection).await];
        Ok([written, read, read_again, noted].iter().find_map(difference))
    }
}

/// The first operation with two answers.
fn difference([lean, driver]: &[Answers; 2]) -> Option<String> {
    let (lean, driver) = lean.iter().zip(driver).find(|(lean, driver)| lean != driver)?;
    Some(format!("the lean path has {lean:?}, the driver {driver:?}"))
}

/// A collection that no other check has at the same time.
fn collection() -> Collection {
    let fields = ["field0", "field1", "field2"].map(str::to_owned).to_vec();
    let name = format!("{SCRATCH_COLLECTIONS}{:016x}", RandomState::new().build_hasher().finish());
    Collection { name, fields }
}

/// A document with a number, with all bytes there are and with nothing.
fn put(buffer: &mut DocumentBuffer, key: &str) {
    buffer.begin(key);
    buffer.put(0, key.as_bytes());
    buffer.put_with(1, 256, |space| (0..=255).zip(space).for_each(|(byte, place)| *place = byte));
    buffer.put(2, b"");
}

async fn insert(session: &mut impl Documents, keys: &[&str]) -> String {
    let mut batch = DocumentBuffer::new();
    keys.iter().for_each(|key| put(&mut batch, key));
    match session.insert(&batch).await {
        Ok(InsertOutcome { count, refused }) => {
            let refused: Vec<_> = refused.iter().map(|(place, error)| format!("{place} {}", word(error))).collect();
            format!("insert {keys:?}: {count}, refused {refused:?}")
        }
        Err(error) => format!("insert {keys:?}: {}", word(&error)),
    }
}

async fn update(session: &mut impl Documents, key: &str, value: &[u8]) -> String {
    let mut document = DocumentBuffer::new();
    document.begin(key);
    document.put(2, value);
    document.put(0, b"changed");
    let document = document.get(0).expect("one was begun");
    format!("update {key}: {:?}", session.update(document).await.map_err(|error| word(&error)))
}

/// Insertions with and without duplicates, updates that match and that do not.
async fn write(session: &mut impl Documents) -> Answers {
    vec![
        insert(session, &["k1", "k2", "k3", "k4", "k5", "k6"]).await,
        insert(session, &["k6", "k7", "k1"]).await,
        insert(session, &[]).await,
        update(session, "k2", b"new").await,
        update(session, "k2", b"new").await,
        update(session, "missing", b"new").await,
    ]
}

/// Finds and scans of all fields and of one, of what is there and of what is not; the count.
async fn read_all(session: &mut impl Documents) -> Answers {
    let mut answers = Vec::new();
    for (key, fields) in [("k1", Fields::All), ("k2", Fields::All), ("k2", Fields::One(2)), ("missing", Fields::All)] {
        let mut found = DocumentBuffer::new();
        let outcome = session.find(key, fields, &mut found).await;
        answers.push(format!("find {key} {fields:?}: {}", words(outcome, &found)));
    }
    for (from, limit, fields) in
        [("k2", 3, Fields::All), ("", 300, Fields::One(0)), ("z", 3, Fields::All), ("k2", 0, Fields::All)]
    {
        let mut found = DocumentBuffer::new();
        let outcome = session.scan(from, limit, fields, &mut found).await;
        answers.push(format!("scan {limit} from {from:?} {fields:?}: {}", words(outcome, &found)));
    }
    answers.push(format!("count: {:?}", session.count().await.map_err(|error| word(&error))));
    answers
}

/// Notes written, replaced and read.
async fn take_notes(session: &mut impl Documents, collection: &str) -> Answers {
    let note = |text: &str| [("a".to_owned(), text.to_owned()), ("b".to_owned(), "ä".to_owned())];
    let mut answers = Vec::new();
    for text in ["", "second"] {
        let outcome = session.note(collection, &note(text)).await;
        answers.push(format!("note {text:?}: {:?}", outcome.map_err(|error| word(&error))));
    }
    let notes = session.notes(collection).await.map(|mut notes| {
        notes.sort();
        notes
    });
    answers.push(format!("notes: {:?}", notes.map_err(|error| word(&error))));
    answers
}

/// Class and code of an error; its text is each path's own.
fn word(error: &Error) -> String {
    format!("{:?} {}", error.class(), error.code())
}

fn words(outcome: Result<(), Error>, found: &DocumentBuffer) -> String {
    if let Err(error) = outcome {
        return word(&error);
    }
    let value = |(field, bytes): (u16, &[u8])| format!("{field}={}", bytes.escape_ascii());
    let document = |(key, values): (&str, Vec<String>)| format!("{key} {}", values.join(" "));
    let documents = found.iter().map(|found| document((found.key(), found.values().map(value).collect())));
    format!("{:?}", documents.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_told_with_both_answers() {
        let answers = |answers: &[&str]| answers.iter().map(|answer| (*answer).to_owned()).collect::<Vec<_>>();
        assert_eq!(difference(&[answers(&["a", "b"]), answers(&["a", "b"])]), None);
        let found = difference(&[answers(&["a", "b"]), answers(&["a", "c"])]).unwrap();
        assert_eq!(found, "the lean path has \"b\", the driver \"c\"");
    }

    #[test]
    fn the_driver_is_led_to_the_server_itself() {
        let check = |url: &str, expected: &str| {
            let place = proofload_model::wire::DataLocation {
                engine: "mongodb".to_owned(),
                folder: String::new(),
                url: Some(url.to_owned()),
                settings: Vec::new(),
                tier: None,
            };
            let found = directly(&Target::new(place, None)).unwrap();
            assert_eq!(found.address(), Some(expected));
        };
        check("mongodb://db1", "mongodb://db1/?directConnection=true");
        check("mongodb://db1/shop", "mongodb://db1/shop?directConnection=true");
        check("mongodb://db1/?appName=x", "mongodb://db1/?appName=x&directConnection=true");
        check("mongodb://db1/?directconnection=false", "mongodb://db1/?directconnection=false");
    }
}

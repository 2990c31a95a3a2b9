//! A session of documents over either client path, dispatched by a match.

#[cfg(feature = "mongodb-driver")]
use super::driver;
use super::lean;
use super::options::{ClientPath, Options};
use crate::contract::{Collection, DocumentBuffer, DocumentRef, Error, Fields, InsertOutcome, Target};

/// A session on one of the client paths; in a box, so that sessions of all engines are small.
#[derive(Debug)]
pub struct Documents(Path);

#[derive(Debug)]
enum Path {
    Lean(Box<lean::Session>),
    #[cfg(feature = "mongodb-driver")]
    Driver(Box<driver::Session>),
}

/// Calls the session of whichever path.
macro_rules! on {
    ($documents:ident, $session:ident => $call:expr) => {
        match &mut $documents.0 {
            Path::Lean($session) => $call,
            #[cfg(feature = "mongodb-driver")]
            Path::Driver($session) => $call,
        }
    };
}

impl Documents {
    /// Connects by the path that the settings ask for.
    pub(super) async fn connect(target: &Target) -> Result<Self, Error> {
        let options = Options::read(&target.place.settings)?;
        match options.path {
            ClientPath::Lean => {
                lean::Session::connect(target, &options).await.map(|session| Self(Path::Lean(Box::new(session))))
            }
            #[cfg(feature = "mongodb-driver")]
            ClientPath::Driver => {
                driver::Session::connect(target, &options).await.map(|session| Self(Path::Driver(Box::new(session))))
            }
            #[cfg(not(feature = "mongodb-driver"))]
            ClientPath::Driver => Err(super::failure::not_built_in()),
        }
    }
}

impl crate::contract::Documents for Documents {
    async fn open(&mut self, collection: &Collection) -> Result<(), Error> {
        on!(self, session => session.open(collection).await)
    }

    async fn find(&mut self, key: &str, fields: Fields, found: &mut DocumentBuffer) -> Result<(), Error> {
        on!(self, session => session.find(key, fields, found).await)
    }

    async fn scan(&mut self, from: &str, limit: u32, fields: Fields, found: &mut DocumentBuffer) -> Result<(), Error> {
        on!(self, session => session.scan(from, limit, fields, found).await)
    }

    async fn update(&mut self, document: DocumentRef<'_>) -> Result<u64, Error> {
        on!(self, session => session.update(document).await)
    }

    async fn insert(&mut self, batch: &DocumentBuffer) -> Result<InsertOutcome, Error> {
        on!(self, session => session.insert(batch).await)
    }

    async fn count(&mut self) -> Result<u64, Error> {
        on!(self, session => session.count().await)
    }

    async fn collections(&mut self) -> Result<Vec<String>, Error> {
        on!(self, session => session.collections().await)
    }

    async fn notes(&mut self, collection: &str) -> Result<Vec<(String, String)>, Error> {
        on!(self, session => session.notes(collection).await)
    }

    async fn note(&mut self, collection: &str, notes: &[(String, String)]) -> Result<(), Error> {
        on!(self, session => session.note(collection, notes).await)
    }
}

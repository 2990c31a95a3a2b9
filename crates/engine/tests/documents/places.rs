//! Where sessions of documents can be had here. A client path or a server is a row of the table.

use crate::ferretdb::{BackEnd, FerretDb};
use crate::op_msg_server::{Behaviour, Server};
use proofload_engine::{AnyDocuments, Collection, Documents, Engine, Target, engine};
use proofload_model::wire::DataLocation;
use std::any::Any;

/// A place to be tested.
pub(crate) struct Place {
    pub(crate) engine: &'static dyn Engine,
    pub(crate) target: Target,
    /// Whether it keeps documents.
    pub(crate) keeps: bool,
    /// Whatever must live as long as the place: a server, a folder.
    _alive: Box<dyn Any>,
}

/// A row: its name, and how the place is made; the error says why it cannot be had here.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) make: fn() -> Result<Place, String>,
}

/// All of them.
pub(crate) const PLACES: &[Row] = &[
    Row { name: "null", make: || Ok(Place::new("null", None, &[], Box::new(()))) },
    Row { name: "mongodb, lean path, test server", make: || Ok(Place::lean(Behaviour::default(), &[]).0) },
    Row { name: "mongodb, lean path, FerretDB on SQLite", make: || Place::ferretdb("lean") },
    #[cfg(feature = "mongodb-driver")]
    Row {
        name: "mongodb, driver, test server",
        make: || Ok(Place::lean(Behaviour::default(), &[("path", "driver")]).0),
    },
    #[cfg(feature = "mongodb-driver")]
    Row { name: "mongodb, driver, FerretDB on SQLite", make: || Place::ferretdb("driver") },
];

impl Place {
    /// A place with these settings.
    pub(crate) fn new(name: &str, url: Option<String>, settings: &[(&str, &str)], alive: Box<dyn Any>) -> Self {
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let engine = engine(name).expect("a registered engine");
        let place = DataLocation { engine: name.to_owned(), folder: String::new(), url, settings, tier: None };
        Self { engine, target: Target::new(place, None), keeps: name != "null", _alive: alive }
    }

    /// The lean path to a test server; the server is handed out as well, to be asked and disturbed.
    pub(crate) fn lean(behaviour: Behaviour, settings: &[(&str, &str)]) -> (Self, std::rc::Rc<Server>) {
        let server = std::rc::Rc::new(Server::start(behaviour));
        let alive = Box::new(std::rc::Rc::clone(&server));
        (Self::new("mongodb", Some(server.url("proofload")), settings, alive), server)
    }

    /// A client path to a real server.
    pub(crate) fn ferretdb(path: &str) -> Result<Self, String> {
        let server = FerretDb::start(BackEnd::Sqlite)?;
        let url = server.database("proofload");
        Ok(Self::new("mongodb", Some(url), &[("path", path)], Box::new(server)))
    }

    /// A session on a collection of three fields.
    pub(crate) async fn session(&self, collection: &str) -> AnyDocuments {
        let mut session = self.engine.connect_documents(&self.target).await.expect("connects");
        session.open(&fields(collection)).await.expect("opens");
        session
    }
}

/// A collection of three fields.
pub(crate) fn fields(name: &str) -> Collection {
    Collection { name: name.to_owned(), fields: ["field0", "field1", "field2"].map(str::to_owned).to_vec() }
}

/// Runs something on a runtime like a client thread's.
pub(crate) fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(work)
}

//! The driver's clients: one per client thread and server, shared by the sessions of that thread, with a connection for each of
//! them. A client per session would bring monitoring connections for each; one for all threads would move between them.
//!
//! May not know what is sent.

use super::super::names::APPLICATION;
use super::super::url::Url;
use super::failure::failed;
use crate::contract::Error;
use futures_util::future::join_all;
use mongodb::bson::doc;
use mongodb::options::{ClientOptions, Credential};
use mongodb::{Client, Database};
use std::cell::{Cell, RefCell};
use std::future::IntoFuture as _;
use std::rc::{Rc, Weak};
use std::time::Duration;
use tokio::runtime::{Handle, Id};

/// A server is looked for no longer than this, unless the URL says otherwise (`serverSelectionTimeoutMS`).
const PATIENCE: Duration = Duration::from_secs(10);
/// Connections that a client may open at once, unless the URL says otherwise (`maxConnecting`): all users of a thread together.
/// With the driver's own default of 2 they would wait for each other.
const MOST_CONNECTING: u32 = 1000;

/// A client, and how many sessions have it.
#[derive(Debug)]
pub(super) struct SharedClient {
    client: Client,
    sessions: Cell<usize>,
}

/// A thread's client for one server. It lives and dies with the runtime that it was made on.
struct ThreadClient {
    runtime: Id,
    url: String,
    client: Weak<SharedClient>,
}

thread_local! {
    static CLIENTS: RefCell<Vec<ThreadClient>> = const { RefCell::new(Vec::new()) };
}

/// A session's part in its thread's client: one connection more, until it is dropped.
#[derive(Debug)]
pub(super) struct Share(Rc<SharedClient>);

impl Share {
    /// Joins this thread's client for the server, or makes it, and brings its connections to the number of its sessions.
    pub(super) async fn join(url: &Url) -> Result<Self, Error> {
        let shared = match known(&url.text) {
            Some(shared) => shared,
            None => {
                remember(&url.text, SharedClient { client: make(url, Duration::MAX).await?, sessions: Cell::new(0) })
            }
        };
        shared.sessions.update(|sessions| sessions + 1);
        let share = Self(shared);
        warm(&share.0.client, url, share.0.sessions.get()).await?;
        Ok(share)
    }

    /// A database of the server.
    pub(super) fn database(&self, name: &str) -> Database {
        self.0.client.database(name)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.0.sessions.update(|sessions| sessions.saturating_sub(1));
    }
}

/// A client with one connection that belongs to no thread, whose server is looked for no longer than this.
pub(super) async fn alone(url: &Url, most: Duration) -> Result<Client, Error> {
    let client = make(url, most).await?;
    warm(&client, url, 1).await?;
    Ok(client)
}

/// Makes the pool so large by as many questions at once. The driver can fill a pool only to a size fixed beforehand, and the number
/// of sessions is not known before the last one comes.
async fn warm(client: &Client, url: &Url, connections: usize) -> Result<(), Error> {
    let database = client.database(&url.database);
    let ask = |_| database.run_command(doc! { "ping": 1 }).into_future();
    let answers = join_all((0..connections).map(ask)).await;
    let failed = |error| failed(error).context(format!("failed to connect to MongoDB, {}", url.words()));
    answers.into_iter().try_for_each(|answer| answer.map(drop).map_err(failed))
}

/// The thread's client, if it has one on this runtime.
fn known(url: &str) -> Option<Rc<SharedClient>> {
    let runtime = Handle::current().id();
    CLIENTS.with_borrow(|clients| {
        let mut fitting = clients.iter().filter(|known| known.runtime == runtime && known.url == url);
        fitting.find_map(|known| known.client.upgrade())
    })
}

/// Keeps the client for the thread's next session, and forgets those that have ended.
fn remember(url: &str, shared: SharedClient) -> Rc<SharedClient> {
    let shared = Rc::new(shared);
    CLIENTS.with_borrow_mut(|clients| {
        clients.retain(|known| known.client.strong_count() > 0);
        let client = Rc::downgrade(&shared);
        clients.push(ThreadClient { runtime: Handle::current().id(), url: url.to_owned(), client });
    });
    shared
}

/// A client as the URL and the environment say, whose server is looked for no longer than `most`; nothing is connected yet.
async fn make(url: &Url, most: Duration) -> Result<Client, Error> {
    let parsed = ClientOptions::parse(&url.text).await;
    let mut options = parsed.map_err(|error| failed(error).context("failed to read the MongoDB URL"))?;
    options.app_name.get_or_insert_with(|| APPLICATION.to_owned());
    options.server_selection_timeout = Some(selection_time(options.server_selection_timeout, most));
    options.max_pool_size.get_or_insert(u32::MAX);
    options.max_connecting.get_or_insert(MOST_CONNECTING);
    let user = std::env::var("MONGODB_USER").ok();
    let password = std::env::var("MONGODB_PASSWORD").ok();
    options.credential = with_secret(options.credential.take(), user, password);
    Client::with_options(options).map_err(|error| failed(error).context("failed to create the MongoDB client"))
}

/// Longest time to look for a server, of which the URL gives one.
fn selection_time(given: Option<Duration>, most: Duration) -> Duration {
    given.unwrap_or(PATIENCE).min(most)
}

/// What the URL says of the account, completed from the environment. A user in the URL wins; a password without a user is left
/// alone, and so is one beside a mechanism that has no password.
fn with_secret(url: Option<Credential>, user: Option<String>, password: Option<String>) -> Option<Credential> {
    let mut credential = match (url, &user) {
        (Some(credential), _) => credential,
        (None, Some(_)) => Credential::default(),
        (None, None) => return None,
    };
    let by_certificate = matches!(credential.mechanism, Some(mongodb::options::AuthMechanism::MongoDbX509));
    if !by_certificate {
        credential.username = credential.username.or(user);
        credential.password = credential.password.or(password);
    }
    Some(credential)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, user: Option<&str>, expected: Option<(Option<&str>, Option<&str>)>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let options = runtime.block_on(ClientOptions::parse(url).into_future()).unwrap();
        let found = with_secret(options.credential, user.map(str::to_owned), Some("s3cret".to_owned()));
        let found = found.as_ref().map(|found| (found.username.as_deref(), found.password.as_deref()));
        assert_eq!(found, expected, "{url}");
    }

    #[test]
    fn who_waits_for_less_than_the_url_says_is_told_why_no_server_was_found() {
        let found = |given: Option<u64>, most: Duration| selection_time(given.map(Duration::from_secs), most).as_secs();
        assert_eq!((found(None, Duration::MAX), found(Some(60), Duration::MAX)), (10, 60));
        let most = Duration::from_secs(6);
        assert_eq!((found(None, most), found(Some(60), most), found(Some(2), most)), (6, 6, 2));
    }

    #[test]
    fn the_environment_completes_what_the_url_says_of_the_account() {
        check("mongodb://db1", None, None);
        check("mongodb://db1", Some("me"), Some((Some("me"), Some("s3cret"))));
        check("mongodb://you@db1/?authSource=admin", Some("me"), Some((Some("you"), Some("s3cret"))));
        check("mongodb://db1/?authMechanism=MONGODB-X509&tls=true", Some("me"), Some((None, None)));
    }
}

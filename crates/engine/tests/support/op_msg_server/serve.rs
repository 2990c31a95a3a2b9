//! The server's thread, its listener and its connections.

use super::behaviour::Behaviour;
use super::canned::Answers;
use super::commands;
use super::faults::{Fault, Faults};
use super::store::Store;
use super::wire::{self, Request};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

/// What the connections share.
#[derive(Debug)]
struct Shared {
    behaviour: Behaviour,
    answers: Option<Answers>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    store: Store,
    faults: Faults,
    /// Requests by command, those answered with constants left out.
    seen: BTreeMap<String, u64>,
    connections: u64,
}

/// A running server; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Server {
    /// Starts a server on a thread of its own.
    pub(crate) fn start(behaviour: Behaviour) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let shared = shared(behaviour);
        let (stop, stopped) = oneshot::channel();
        let for_thread = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            runtime().block_on(async {
                tokio::select! {
                    () = accept(listener, for_thread) => {}
                    _ = stopped => {}
                }
            });
        });
        Self { address, shared, stop: Some(stop), thread: Some(thread) }
    }

    /// The URL of a database on it.
    pub(crate) fn url(&self, database: &str) -> String {
        format!("mongodb://{}/{database}", self.address)
    }

    /// The next request of this command has this fault.
    pub(crate) fn fault(&self, command: &str, fault: Fault) {
        self.state().faults.add(command, fault);
    }

    /// Nobody is answered for so long.
    pub(crate) fn stall(&self, time: Duration) {
        self.state().faults.stall(time);
    }

    /// Requests of this command so far; the null target does not count those that it answers with constants.
    pub(crate) fn seen(&self, command: &str) -> u64 {
        self.state().seen.get(command).copied().unwrap_or(0)
    }

    /// Connections so far.
    pub(crate) fn connections(&self) -> u64 {
        self.state().connections
    }

    /// Cursors that clients left open.
    pub(crate) fn open_cursors(&self) -> usize {
        self.state().store.open_cursors()
    }

    /// The address under which it is the member of a replica set.
    pub(crate) fn member(&self) -> Option<String> {
        self.state().store.member.clone()
    }

    /// Documents of a collection.
    pub(crate) fn documents(&self, namespace: &str) -> usize {
        self.state().store.collections.get(namespace).map_or(0, |all| all.len())
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.shared.state.lock().expect("the server did not panic")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        let ended = self.thread.take().map(std::thread::JoinHandle::join);
        assert!(std::thread::panicking() || ended.is_none_or(|ended| ended.is_ok()), "the test server panicked");
    }
}

fn shared(behaviour: Behaviour) -> Arc<Shared> {
    let answers = behaviour.canned.as_ref().map(Answers::new);
    Arc::new(Shared { behaviour, answers, state: Mutex::default() })
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

async fn accept(listener: std::net::TcpListener, shared: Arc<Shared>) {
    listener.set_nonblocking(true).expect("a listener can be made so");
    let listener = TcpListener::from_std(listener).expect("a runtime takes it");
    while let Ok((stream, _)) = listener.accept().await {
        stream.set_nodelay(true).expect("a socket takes it");
        shared.state.lock().expect("no panic").connections += 1;
        tokio::spawn(converse(stream, Arc::clone(&shared)));
    }
}

/// One connection, to its end.
async fn converse(mut stream: TcpStream, shared: Arc<Shared>) {
    let (mut input, mut output) = (Vec::new(), Vec::new());
    while let Ok(Some(length)) = wire::receive(&mut stream, &mut input).await {
        let message = &input[..length];
        let stalled = shared.state.lock().expect("no panic").faults.stalled();
        if let Some(time) = stalled {
            tokio::time::sleep(time).await;
        }
        let constant = shared.answers.as_ref().is_some_and(|answers| answers.answer(message, &mut output));
        let fault = if constant { shared.fault_of(message, &mut output) } else { shared.answer(message, &mut output) };
        if !deliver(&mut stream, &mut output, fault).await {
            break;
        }
    }
}

impl Shared {
    /// The fault of a request that is answered with a constant.
    fn fault_of(&self, message: &[u8], output: &mut Vec<u8>) -> Option<Fault> {
        let mut state = self.state.lock().expect("no panic");
        if state.faults.is_empty() {
            return None;
        }
        let request = Request::parse(message);
        let fault = state.faults.take(request.name())?;
        *output = fault.error().map_or_else(|| std::mem::take(output), |error| request.reply(&error));
        Some(fault)
    }

    /// Answers from what is kept; returns the fault of the request.
    fn answer(&self, message: &[u8], output: &mut Vec<u8>) -> Option<Fault> {
        let request = Request::parse(message);
        let mut state = self.state.lock().expect("no panic");
        let fault = state.faults.take(request.name());
        *state.seen.entry(request.name().to_owned()).or_default() += 1;
        let document = commands::answer(&mut state.store, &self.behaviour, &request, fault.as_ref());
        *output = request.reply(&document);
        fault
    }
}

/// Sends an answer with its fault; false when the connection is to end.
async fn deliver(stream: &mut TcpStream, output: &mut Vec<u8>, fault: Option<Fault>) -> bool {
    if let Some(fault) = &fault {
        fault.damage(output);
    }
    match fault {
        Some(Fault::Close) => return false,
        Some(Fault::Silence) => return true,
        Some(Fault::Slow(time)) => tokio::time::sleep(time).await,
        _ => {}
    }
    wire::send(stream, output).await.is_ok() && fault != Some(Fault::ShortFrame)
}

//! The prober's thread: connects, waits for time zero, runs its streams until it is told to stop, and looks for its writes.

use super::claims::{WriteClaim, begin_asking};
use super::dialler::Dialler;
use super::hosts::{ProbeHosts, Silence};
use super::ledger::{Present, ProberAnswers, ledger};
use super::operation::ProbeOperation;
use super::outage::report;
use super::pace::ProbePace;
use super::pages::LedgerPages;
use super::pool::ProbePool;
use super::reads::{MOST_ROWS, ProbeRead};
use super::stream::ProbeStream;
use crate::events::LoadEvents;
use crate::workload::RunRequest;
use proofload_engine::{Error as EngineError, Session as _, Statement, Target};
use proofload_model::drill::{ProbeKind, ProberAsked, ProberReport};
use proofload_model::error::Error;
use proofload_model::prober::{ProberPace, ProberPaces};
use proofload_model::time::{Clock, Moment};
use proofload_model::wire::Event;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::LocalSet;

/// Removes the table of an earlier run: nothing of it may be mistaken for this one's.
const NO_TABLE: &str = "DROP TABLE IF EXISTS proofload_ledger";

/// All numbers that are there.
const PRESENT: &str = "SELECT op FROM proofload_ledger";

/// Connections at first and at most to each host, of writes and of reads. A server does not see at once that a client has given up a commit that waits
/// for standbys, so that more connections would use up all that it allows.
const FIRST: usize = 4;
const MOST: usize = 12;

/// One new connection for so many writes.
pub(super) const WRITES_PER_CONNECTION: u32 = 20;

/// How often the ledger is handed over.
const PAGE_EVERY: Duration = Duration::from_secs(1);

/// The most urgent priority ("nice") of a thread, which takes the right to it. Source: setpriority(2).
pub(super) const FIRST_OF_ALL: i32 = -20;

/// How long the ledger's reader looks for a host that takes writes.
const READ_WITHIN: Duration = Duration::from_secs(60);

/// A prober with its thread.
pub(crate) struct Prober {
    start: Option<oneshot::Sender<Moment>>,
    pace: mpsc::UnboundedSender<ProberPace>,
    stop: mpsc::UnboundedSender<()>,
    thread: JoinHandle<Result<ProberReport, Error>>,
}

impl Prober {
    /// Makes the table and connects.
    ///
    /// # Errors
    /// The database cannot be reached, or the table cannot be made.
    pub(crate) fn connect(
        request: &RunRequest,
        asked: ProberAsked,
        clock: &Arc<dyn Clock>,
        events: &LoadEvents,
    ) -> Result<Self, Error> {
        let ((start, started), (stop, stopped)) = (oneshot::channel(), mpsc::unbounded_channel());
        let (ready, is_ready) = oneshot::channel();
        let (pace, paces) = mpsc::unbounded_channel();
        let (request, clock, events) = (request.clone(), Arc::clone(clock), Arc::clone(events));
        let work = move || run(&request, asked, &clock, Orders { ready, started, paces, stopped, events });
        let thread = std::thread::Builder::new().name("prober".to_owned()).spawn(work);
        let thread = thread.map_err(|error| Error::new(format!("failed to start the prober's thread: {error}")))?;
        match is_ready.blocking_recv() {
            Ok(()) => Ok(Self { start: Some(start), pace, stop, thread }),
            Err(_gone) => {
                Err(joined(thread).err().unwrap_or_else(|| Error::new("the prober ended before it was connected")))
            }
        }
    }

    /// Announces time zero.
    pub(crate) fn start(&mut self, origin: Moment) {
        if let Some(start) = self.start.take() {
            let _gone = start.send(origin);
        }
    }

    /// Orders a pace.
    pub(crate) fn set_pace(&self, pace: ProberPace) {
        let _gone = self.pace.send(pace);
    }

    /// Ends it and looks for its writes.
    ///
    /// # Errors
    /// It broke off, or the database cannot be asked.
    pub(crate) fn end(self) -> Result<ProberReport, Error> {
        let Self { start, pace, stop, thread } = self;
        drop((start, pace));
        let _gone = stop.send(());
        joined(thread)
    }
}

fn joined(thread: JoinHandle<Result<ProberReport, Error>>) -> Result<ProberReport, Error> {
    thread.join().unwrap_or_else(|_| Err(Error::new("the prober failed")))
}

/// What the thread hears and tells.
struct Orders {
    ready: oneshot::Sender<()>,
    started: oneshot::Receiver<Moment>,
    paces: mpsc::UnboundedReceiver<ProberPace>,
    stopped: mpsc::UnboundedReceiver<()>,
    events: LoadEvents,
}

fn run(
    request: &RunRequest,
    asked: ProberAsked,
    clock: &Arc<dyn Clock>,
    orders: Orders,
) -> Result<ProberReport, Error> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Error::new(format!("failed to start the prober's runtime: {error}")))?;
    // Without it the kernel lets sleepers oversleep by 50 µs; where it is refused the lag shows it.
    let _refused = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    // Of this thread alone: beside others who fill the cores a prober that is late tells of them, and not of the database.
    let _refused = rustix::process::setpriority_process(None, FIRST_OF_ALL);
    LocalSet::new().block_on(&runtime, probe(request, asked, clock, orders))
}

async fn probe(
    request: &RunRequest,
    asked: ProberAsked,
    clock: &Arc<dyn Clock>,
    orders: Orders,
) -> Result<ProberReport, Error> {
    let Orders { ready, started, paces, mut stopped, events } = orders;
    let in_prober = |error: EngineError| Error::from(error.context("prober"));
    // An earlier run may have left another host than the first as the primary.
    let first = request.target.connect(async |target| request.engine.connect(target).await).await;
    first.map_err(in_prober)?.script(NO_TABLE).await.map_err(in_prober)?;
    let hosts = Rc::new(probe_hosts(request, clock));
    let (mut streams, wanted) = (Vec::new(), Rc::new(Notify::new()));
    let pace = Rc::new(ProbePace::new(asked));
    for (kind, rate) in kinds(asked.rate) {
        streams
            .push((stream((kind, rate), (asked.deadline, &pace), (&hosts, &wanted)).await.map_err(in_prober)?, rate));
    }
    let _gone = ready.send(());
    let stop = Rc::new(Cell::new(false));
    let Ok(origin) = started.await else { return Err(Error::new("the prober was ended before time zero")) };
    let pools = streams.iter().map(|(stream, _)| Rc::clone(&stream.pool)).collect();
    tokio::task::spawn_local(Dialler::new(Rc::clone(&hosts), pools, wanted).keep_dialling());
    let claims = begin_asking(&hosts);
    tokio::task::spawn_local(keep_pace(paces, Rc::clone(&pace), Arc::clone(clock)));
    let run = |(stream, _): &(Rc<ProbeStream>, u32)| Rc::clone(stream).run(origin, Rc::clone(&stop));
    let running: Vec<_> = streams.iter().map(run).map(tokio::task::spawn_local).collect();
    let writes =
        streams.iter().find(|(stream, _)| stream.kind == ProbeKind::Write).map(|(stream, _)| Rc::clone(stream));
    let pages = tokio::task::spawn_local(tell_pages(writes.clone(), Arc::clone(&events)));
    stopped.recv().await;
    stop.set(true);
    pace.wake();
    for stream in running {
        stream.await.map_err(|error| Error::new(format!("the prober failed: {error}")))?;
    }
    pages.abort();
    tell_page(writes.as_deref(), &events);
    let present = present(&hosts, clock).await.map_err(|error| error.to_string());
    let claims = claims.take();
    Ok(reported(&streams, &claims, (&present, pace.paces(origin)), origin))
}

/// Takes orders about the pace until nobody gives any.
async fn keep_pace(mut orders: mpsc::UnboundedReceiver<ProberPace>, pace: Rc<ProbePace>, clock: Arc<dyn Clock>) {
    while let Some(ordered) = orders.recv().await {
        pace.order(ordered, clock.now());
    }
}

/// Hands over what became of writes, each second.
async fn tell_pages(writes: Option<Rc<ProbeStream>>, events: LoadEvents) {
    loop {
        tokio::time::sleep(PAGE_EVERY).await;
        tell_page(writes.as_deref(), &events);
    }
}

fn tell_page(writes: Option<&ProbeStream>, events: &LoadEvents) {
    for page in writes.map(|writes| writes.pages.borrow_mut().take()).unwrap_or_default() {
        events(Event::LedgerPage(page));
    }
}

/// Hosts of a run, and what is sent to them.
pub(super) fn probe_hosts(request: &RunRequest, clock: &Arc<dyn Clock>) -> ProbeHosts {
    let target = |endpoints| Target { place: request.target.place.clone(), endpoints };
    let endpoints = &request.target.endpoints;
    let mut targets: Vec<Target> = endpoints.each_in_any_role().map(target).collect();
    if targets.is_empty() {
        targets.push(request.target.clone());
    }
    let statement = |name: &str, sql: &str, parameters: &[&str], columns| Statement {
        name: name.to_owned(),
        sql: sql.to_owned(),
        parameters: parameters.iter().map(|name| (*name).to_owned()).collect(),
        columns,
    };
    // The table is made also where a standby was made a primary before it had received it: then every write before that is lost.
    let texts = request.engine.ledger_texts();
    let newest = (texts.newest)(MOST_ROWS);
    let statements = vec![
        statement("write a number", "INSERT INTO proofload_ledger (op) VALUES (:op)", &["op"], 0),
        statement("read the largest numbers", &newest, &[], 1),
    ];
    let (role_moves, silence) = (endpoints.role_moves(), Silence::of_none(targets.len()));
    ProbeHosts {
        engine: request.engine,
        targets,
        role_moves,
        script: texts.table,
        statements,
        clock: Arc::clone(clock),
        last: Cell::new(0),
        silence,
    }
}

/// New connections at a rate of writes, 1/s.
pub(super) fn connections(rate: u32) -> u32 {
    (rate / WRITES_PER_CONNECTION).max(1)
}

/// Kinds and their rates at the full pace, 1/s.
fn kinds(rate: u32) -> [(ProbeKind, u32); 3] {
    [(ProbeKind::Write, rate), (ProbeKind::Read, rate), (ProbeKind::Connect, connections(rate))]
}

async fn stream(
    (kind, rate): (ProbeKind, u32),
    (deadline, pace): (Duration, &Rc<ProbePace>),
    (hosts, wanted): (&Rc<ProbeHosts>, &Rc<Notify>),
) -> Result<Rc<ProbeStream>, EngineError> {
    let first = if kind == ProbeKind::Connect { 0 } else { FIRST };
    Ok(Rc::new(ProbeStream {
        kind,
        period: Duration::from_secs(1) / rate.max(1),
        pace: Rc::clone(pace),
        deadline,
        pool: ProbePool::open(Rc::clone(hosts), (first, MOST), Rc::clone(wanted)).await?,
        clock: Arc::clone(&hosts.clock),
        hosts: Rc::clone(hosts),
        done: RefCell::default(),
        reads: RefCell::default(),
        pages: RefCell::new(LedgerPages::default()),
        under_way: Cell::new(0),
    }))
}

/// Numbers that are there, on the host that takes writes.
async fn present(hosts: &Rc<ProbeHosts>, clock: &Arc<dyn Clock>) -> Result<Present, EngineError> {
    let began = clock.now();
    loop {
        let error = match read_all(hosts).await {
            Ok(present) => return Ok(present),
            Err(error) => error,
        };
        if clock.now().since(began) > READ_WITHIN {
            return Err(error.context("failed to check the writes"));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn read_all(hosts: &Rc<ProbeHosts>) -> Result<Present, EngineError> {
    let mut connection = hosts.dial(READ_WITHIN).await?;
    let rows = connection.session.query(PRESENT).await?;
    let numbers = rows.iter().filter_map(|row| row.first()?.as_value().integer()).collect();
    Ok(Present { node: connection.node, numbers })
}

fn reported(
    streams: &[(Rc<ProbeStream>, u32)],
    claims: &[WriteClaim],
    (present, paces): (&Result<Present, String>, ProberPaces),
    origin: Moment,
) -> ProberReport {
    let sorted = |stream: &ProbeStream| {
        let mut done = stream.done.take();
        done.sort_by_key(|operation| operation.number);
        done
    };
    let done: Vec<(ProbeKind, u32, Vec<ProbeOperation>)> =
        streams.iter().map(|(stream, rate)| (stream.kind, *rate, sorted(stream))).collect();
    let of = |wanted: ProbeKind| done.iter().filter(move |(kind, ..)| *kind == wanted).flat_map(|(.., list)| list);
    let writes: Vec<ProbeOperation> = of(ProbeKind::Write).copied().collect();
    let reads: Vec<ProbeRead> = streams.iter().flat_map(|(stream, _)| stream.reads.take()).collect();
    let observed = ProberAnswers { writes: &writes, reads: &reads, claims, period: period(streams), paces };
    ProberReport {
        kinds: done.iter().map(|(kind, rate, list)| report(*kind, list, *rate, origin)).collect(),
        ledger: ledger(&observed, present, origin),
    }
}

/// Time between two writes at the full pace.
fn period(streams: &[(Rc<ProbeStream>, u32)]) -> Duration {
    let writes = streams.iter().find(|(stream, _)| stream.kind == ProbeKind::Write);
    writes.map_or(Duration::ZERO, |(stream, _)| stream.period)
}

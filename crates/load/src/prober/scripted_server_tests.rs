//! A server of PostgreSQL's protocol that does what a script says at each time: as much of it as a prober speaks. A part of tests.

use super::reads::MOST_ROWS;
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How a host serves at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Service {
    Well,
    /// Reads alone; new sessions are told so.
    ReadOnly,
    /// Connections end, and new ones are closed.
    Gone,
    /// Whatever arrives is never answered.
    Silent,
    /// Nothing is accepted and nothing is answered until it goes on; then what has waited is.
    Frozen,
    /// Answers come so late that nobody waits for them; those that are due when it is well again come then.
    Slow,
}

const LATE: Duration = Duration::from_millis(1_100);

/// What a host does at each time since the begin.
pub(super) type Script = Arc<dyn Fn(Duration) -> Service + Send + Sync>;

/// Rows that are kept; hosts of one database share them.
pub(super) type Rows = Arc<SharedRows>;

/// Rows of a database, with what its hosts do wrongly.
#[derive(Default)]
pub(super) struct SharedRows {
    pub(super) held: Mutex<HeldRows>,
    /// Further inserts that are kept and refused as duplicates.
    pub(super) refused: AtomicUsize,
    /// Further reads of all numbers that are refused.
    pub(super) unreadable: AtomicUsize,
}

/// Numbers, each as often as it was inserted.
#[derive(Default)]
pub(super) struct HeldRows {
    counts: BTreeMap<i64, usize>,
    /// Inserts in the order in which they were kept.
    log: Vec<i64>,
}

impl HeldRows {
    pub(super) fn insert(&mut self, number: i64) {
        *self.counts.entry(number).or_default() += 1;
        self.log.push(number);
    }

    /// Inserts that were kept.
    pub(super) fn len(&self) -> usize {
        self.log.len()
    }

    /// Removes so many of those that were inserted last but for some at the end; their numbers.
    pub(super) fn remove(&mut self, count: usize, spared: usize) -> Vec<i64> {
        let end = self.log.len().saturating_sub(spared);
        let removed: Vec<i64> = self.log.drain(end.saturating_sub(count)..end).collect();
        removed.iter().for_each(|number| {
            self.counts.remove(number);
        });
        removed
    }

    /// The largest numbers.
    fn newest(&self, most: usize) -> Vec<i64> {
        self.counts.keys().rev().take(most).copied().collect()
    }

    /// Every number as often as it is there.
    fn all(&self) -> Vec<i64> {
        self.counts.iter().flat_map(|(number, count)| std::iter::repeat_n(*number, *count)).collect()
    }
}

/// Takes one of those that are left; tells whether one was.
fn takes_one(left: &AtomicUsize) -> bool {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| count.checked_sub(1)).is_ok()
}

/// A host. It ends when it is dropped.
pub(super) struct ScriptedServer {
    pub(super) address: String,
    host: Arc<Host>,
}

struct Host {
    begun: Instant,
    script: Script,
    rows: Rows,
    /// Connections that are open, by number.
    open: Mutex<BTreeMap<usize, TcpStream>>,
    ended: AtomicBool,
    /// When a thread of it that sleeps for a millisecond woke late: seconds since the begin, and how late, seconds.
    late: Mutex<Vec<(f64, f64)>>,
    /// When it accepted connections.
    accepted: Mutex<Vec<Duration>>,
    /// Connections that waited when it went on after it was frozen.
    waited: AtomicUsize,
}

impl ScriptedServer {
    /// Connections that it accepted within a stretch.
    pub(super) fn accepted_within(&self, from: Duration, to: Duration) -> usize {
        self.host.accepted.lock().unwrap().iter().filter(|at| (from..to).contains(*at)).count()
    }

    /// Connections that waited when it went on after it was frozen.
    pub(super) fn waited(&self) -> usize {
        self.host.waited.load(Ordering::Relaxed)
    }

    /// How late a thread of the server was at most within a stretch, seconds: it serves as scripted so much later.
    pub(super) fn late_within(&self, (from, to): (f64, f64)) -> f64 {
        let within = |(at, late): &(f64, f64)| (*at > from && *at - *late < to).then_some(*late);
        self.host.late.lock().unwrap().iter().filter_map(within).fold(0.0, f64::max)
    }

    pub(super) fn start(begun: Instant, rows: &Rows, script: Script) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("it listens").port();
        let host = Arc::new(Host {
            begun,
            script,
            rows: Arc::clone(rows),
            open: Mutex::default(),
            ended: AtomicBool::new(false),
            late: Mutex::default(),
            accepted: Mutex::default(),
            waited: AtomicUsize::new(0),
        });
        let (accepting, watching) = (Arc::clone(&host), Arc::clone(&host));
        std::thread::spawn(move || accepting.accept(&listener));
        std::thread::spawn(move || watching.watch());
        Self { address: format!("host=127.0.0.1 port={port} user=proofload dbname=proofload"), host }
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.host.ended.store(true, Ordering::Relaxed);
        self.host.close_all();
    }
}

impl Host {
    fn now(&self) -> Service {
        (self.script)(self.begun.elapsed())
    }

    fn ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    fn close_all(&self) {
        for stream in std::mem::take(&mut *self.open.lock().unwrap()).into_values() {
            let _gone = stream.shutdown(Shutdown::Both);
        }
    }

    /// Ends connections when the host goes.
    fn watch(&self) {
        first_of_all();
        while !self.ended() {
            if self.now() == Service::Gone {
                self.close_all();
            }
            let slept = self.begun.elapsed();
            std::thread::sleep(Duration::from_millis(1));
            let woke = self.begun.elapsed();
            let late = (woke - slept).as_secs_f64() - 1e-3;
            if late > 1e-3 {
                self.late.lock().unwrap().push((woke.as_secs_f64(), late));
            }
        }
    }

    fn accept(self: Arc<Self>, listener: &TcpListener) {
        first_of_all();
        listener.set_nonblocking(true).expect("it is a socket");
        let mut goes_on = false;
        while !self.ended() {
            let is_frozen = self.now() == Service::Frozen;
            goes_on |= is_frozen;
            let Some((stream, _)) = (!is_frozen).then(|| listener.accept().ok()).flatten() else {
                goes_on = is_frozen;
                std::thread::sleep(Duration::from_millis(1));
                continue;
            };
            self.waited.fetch_add(usize::from(goes_on), Ordering::Relaxed);
            if self.now() == Service::Gone {
                continue;
            }
            self.accepted.lock().unwrap().push(self.begun.elapsed());
            stream.set_nonblocking(false).and_then(|()| stream.set_nodelay(true)).expect("it is a socket");
            let number = self.accepted.lock().unwrap().len();
            self.open.lock().unwrap().insert(number, stream.try_clone().expect("it can be named twice"));
            let host = Arc::clone(&self);
            std::thread::spawn(move || {
                let session = Session { stream, host: Arc::clone(&host), statement: String::new(), named: Vec::new() };
                session.serve();
                host.open.lock().unwrap().remove(&number);
            });
        }
    }
}

/// One connection.
struct Session {
    stream: TcpStream,
    host: Arc<Host>,
    /// SQL of the statement that is bound, and the number that it is bound to.
    statement: String,
    named: Vec<(String, String)>,
}

impl Session {
    /// Serves until the connection ends, by either side.
    fn serve(mut self) -> Option<()> {
        first_of_all();
        let length = self.number()?;
        self.bytes(length.checked_sub(4)?)?;
        self.waits_as_scripted()?;
        let mut hello = message(b'R', &0u32.to_be_bytes());
        hello.extend(message(b'S', b"server_version\x0015.0\0"));
        hello.extend(message(b'K', &[0; 8]));
        hello.extend(message(b'Z', b"I"));
        self.stream.write_all(&hello).ok()?;
        let mut answers: Vec<u8> = Vec::new();
        let mut bound: i64 = 0;
        loop {
            let mut tag = [0];
            self.stream.read_exact(&mut tag).ok()?;
            let length = self.number()?;
            let body = self.bytes(length.checked_sub(4)?)?;
            match tag[0] {
                b'Q' => {
                    self.waits_as_scripted()?;
                    answers.extend(self.simple(&text(&body)));
                }
                b'C' => answers.extend(message(b'3', &[])),
                b'P' => {
                    let mut parts = body.split(|byte| *byte == 0);
                    let (name, sql) = (text(parts.next()?), text(parts.next()?));
                    self.named.retain(|(known, _)| *known != name);
                    self.named.push((name, sql));
                    answers.extend(message(b'1', &[]));
                }
                b'D' => {
                    let sql = self.sql(&text(body[1..].split(|byte| *byte == 0).next()?));
                    answers.extend(described(&sql));
                }
                b'B' => {
                    let names: Vec<&[u8]> = body.splitn(3, |byte| *byte == 0).collect();
                    self.statement = self.sql(&text(names.get(1)?));
                    bound = bound_number(names.get(2)?).unwrap_or(0);
                    answers.extend(message(b'2', &[]));
                }
                b'E' => {
                    self.waits_as_scripted()?;
                    answers.extend(self.executed(bound)?);
                }
                b'S' => {
                    answers.extend(message(b'Z', b"I"));
                    self.stream.write_all(&answers).ok()?;
                    answers.clear();
                    continue;
                }
                _ => return None,
            }
            if tag[0] == b'Q' {
                answers.extend(message(b'Z', b"I"));
                self.stream.write_all(&answers).ok()?;
                answers.clear();
            }
        }
    }

    /// Lets time pass as the script says; `None`: there will be no answer, however long anybody waits.
    fn waits_as_scripted(&self) -> Option<()> {
        match self.host.now() {
            Service::Well | Service::ReadOnly => Some(()),
            Service::Gone => None,
            Service::Slow => {
                let asked = Instant::now();
                while self.host.now() == Service::Slow && asked.elapsed() < LATE && !self.host.ended() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Some(())
            }
            Service::Frozen => {
                while self.host.now() == Service::Frozen && !self.host.ended() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                // Who has given up meanwhile is not served.
                (!self.client_has_gone()).then_some(())
            }
            Service::Silent => {
                while !self.host.ended() && !self.client_has_gone() {
                    std::thread::sleep(Duration::from_millis(20));
                }
                None
            }
        }
    }

    /// Whether the client has closed its end; a minute of silence would use up all that a process may open otherwise.
    fn client_has_gone(&self) -> bool {
        let looked = self.stream.set_nonblocking(true).and_then(|()| self.stream.peek(&mut [0]));
        self.stream.set_nonblocking(false).expect("it is a socket");
        looked.is_ok_and(|bytes| bytes == 0)
    }

    fn simple(&self, sql: &str) -> Vec<u8> {
        if sql.contains("DROP TABLE") {
            *self.host.rows.held.lock().unwrap() = HeldRows::default();
        }
        if sql.contains("transaction_read_only") {
            let word: &[u8] = if self.host.now() == Service::ReadOnly { b"on" } else { b"off" };
            let mut row = vec![0, 1];
            row.extend(u32::try_from(word.len()).unwrap().to_be_bytes());
            row.extend(word);
            return [message(b'T', &columns(25)), message(b'D', &row), message(b'C', b"SHOW\0")].concat();
        }
        message(b'C', b"SET\0")
    }

    /// The answer; `None`: the host has gone. What it does is looked up with the rows in hand: nobody changes them behind a host that takes writes.
    fn executed(&self, bound: i64) -> Option<Vec<u8>> {
        let writes = self.statement.starts_with("INSERT");
        let mut rows = self.host.rows.held.lock().unwrap();
        match self.host.now() {
            Service::Gone | Service::Silent => return None,
            Service::ReadOnly if writes => {
                return Some(refused("25006", "cannot execute INSERT in a read-only transaction"));
            }
            _ => {}
        }
        if writes {
            rows.insert(bound);
            let is_refused = takes_one(&self.host.rows.refused);
            return Some(match is_refused {
                true => refused("23505", "duplicate key value violates unique constraint"),
                false => message(b'C', b"INSERT 0 1\0"),
            });
        }
        let is_limited = self.statement.contains("LIMIT");
        if !is_limited && takes_one(&self.host.rows.unreadable) {
            return Some(refused("57014", "canceling statement due to user request"));
        }
        let told = if is_limited { rows.newest(MOST_ROWS) } else { rows.all() };
        drop(rows);
        let mut answer: Vec<u8> = Vec::new();
        for number in told {
            let mut row = vec![0, 1, 0, 0, 0, 8];
            row.extend(number.to_be_bytes());
            answer.extend(message(b'D', &row));
        }
        answer.extend(message(b'C', b"SELECT 1\0"));
        Some(answer)
    }

    fn sql(&self, name: &str) -> String {
        self.named.iter().find(|(known, _)| known == name).map(|(_, sql)| sql.clone()).unwrap_or_default()
    }

    fn number(&mut self) -> Option<usize> {
        let bytes: [u8; 4] = self.bytes(4)?.try_into().ok()?;
        usize::try_from(u32::from_be_bytes(bytes)).ok()
    }

    fn bytes(&mut self, count: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; count];
        self.stream.read_exact(&mut bytes).ok()?;
        Some(bytes)
    }
}

/// Lets the calling thread go first, as the prober's does, where that is allowed.
fn first_of_all() {
    let _refused = rustix::process::setpriority_process(None, super::thread::FIRST_OF_ALL);
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned()
}

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut whole = vec![tag];
    whole.extend(u32::try_from(body.len() + 4).unwrap().to_be_bytes());
    whole.extend(body);
    whole
}

/// An error with a code.
fn refused(code: &str, text: &str) -> Vec<u8> {
    message(b'E', format!("SERROR\0VERROR\0C{code}\0M{text}\0\0").as_bytes())
}

/// Description of one column of a type.
fn columns(kind: u32) -> Vec<u8> {
    let mut body = vec![0, 1];
    body.extend(b"op\0");
    body.extend([0; 6]);
    body.extend(kind.to_be_bytes());
    body.extend([0, 8, 255, 255, 255, 255, 0, 0]);
    body
}

/// Parameters and columns of a statement, all of them int8.
fn described(sql: &str) -> Vec<u8> {
    const INT8: u32 = 20;
    let parameters = sql.matches('$').count();
    let mut kinds = u16::try_from(parameters).unwrap().to_be_bytes().to_vec();
    (0..parameters).for_each(|_| kinds.extend(INT8.to_be_bytes()));
    let columns = if sql.starts_with("SELECT") { message(b'T', &columns(INT8)) } else { message(b'n', &[]) };
    [message(b't', &kinds), columns].concat()
}

/// The one number of a `Bind` behind its two names: formats, then parameters.
fn bound_number(rest: &[u8]) -> Option<i64> {
    let formats = usize::from(u16::from_be_bytes(rest.get(..2)?.try_into().ok()?));
    let parameters = rest.get(2 + 2 * formats..)?;
    Some(i64::from_be_bytes(parameters.get(6..14)?.try_into().ok()?))
}

//! Agents as processes: this test binary starts itself as one. The test harness prints before the greeting, as log-in scripts do.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of tests are tests, and an agent logs to its stderr"
)]

use proofload_model::error::{Error, ErrorKind};
use proofload_model::samples::Fact;
use proofload_model::step_count::{StepCount, StepUnit};
use proofload_model::time::{Clock, Moment, WallTime};
use proofload_model::wire::host::{self, Describe};
use proofload_model::wire::{Event, Ping, Pong, Quit, Reply, Request};
use proofload_testbed::agents::{AgentEvent, AgentProcess, Handler, serve};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const MARKER: &str = "PROOFLOAD_TEST_AGENT";
type Tell = Arc<dyn Fn(Event) + Send + Sync>;

/// An agent that ends later may have been killed, which happens 15 s after its input was closed.
const UNKILLED: Duration = Duration::from_secs(14);

/// How long what must come is awaited on a host that gives little; and what must not come.
const LONG: Duration = Duration::from_secs(120);
const GLANCE: Duration = Duration::from_secs(2);

struct TestClock;

impl Clock for TestClock {
    fn now(&self) -> Moment {
        Moment(42)
    }
    fn wall(&self) -> WallTime {
        WallTime(0)
    }
    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// Does what the folder of a `Describe` says.
struct Scripted {
    tell: Tell,
    marker: PathBuf,
}

impl Handler for Scripted {
    fn handle(&mut self, request: Request) -> Result<Reply, Error> {
        let folder = match request {
            Request::Host(host::Request::Describe(Describe { folder })) => folder,
            Request::Quit => return Ok(Reply::Quit),
            _ => return Ok(Reply::Ping(Pong { received: Moment(0), moment: Moment(42), pid: std::process::id() })),
        };
        match folder.split_once(' ').unwrap_or((&folder, "")) {
            ("say", count) => {
                for done in 0..count.parse().unwrap() {
                    let count = Some(StepCount::of(done, 5000, StepUnit::Rows));
                    (self.tell)(Event::Progress { what: "saying".to_owned(), count });
                }
                Ok(Reply::Host(host::Reply::Describe(Vec::new())))
            }
            ("panic", text) => panic!("{text}"),
            ("hang", _) => {
                (self.tell)(Event::Progress { what: "hanging".to_owned(), count: None });
                loop {
                    std::thread::sleep(Duration::from_secs(1));
                }
            }
            ("last-words", text) => {
                eprintln!("{text}");
                std::process::abort();
            }
            _ => Err(Error::refused("no such thing").context("look for it")),
        }
    }

    fn abandon(&self) -> Arc<dyn Fn() + Send + Sync> {
        let marker = self.marker.clone();
        Arc::new(move || Self::release(&marker, "abandoned"))
    }
}

impl Scripted {
    fn release(marker: &std::path::Path, how: &str) {
        std::fs::write(marker, how).expect("the folder of the test is there");
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        Self::release(&self.marker, "released");
    }
}

/// The agent's side: does nothing in an ordinary run of the tests.
#[test]
fn agent() {
    if let Some(marker) = std::env::var_os(MARKER) {
        let make = |tell: Tell| Scripted { tell, marker: PathBuf::from(marker) };
        let clock: Arc<dyn Clock> = Arc::new(TestClock);
        serve(std::io::stdin(), std::io::stdout(), &clock, &|| false, make).unwrap();
    }
}

fn ask(agent: &AgentProcess, what: &str, patience: Duration) -> Result<Vec<Fact>, Error> {
    agent.ask(Describe { folder: what.to_owned() }, Some(patience))
}

struct Bench {
    agent: AgentProcess,
    events: Receiver<(String, AgentEvent)>,
    folder: tempfile::TempDir,
}

impl Bench {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (sender, events) = channel();
        let exe = std::env::current_exe().unwrap();
        let marker = format!("{MARKER}={}", folder.path().join("marker").display());
        let command = ["env", &marker, exe.to_str().unwrap(), "--exact", "agent", "--nocapture"].map(str::to_owned);
        let agent = AgentProcess::start(&command, "tested", sender).unwrap();
        Self { agent, events, folder }
    }

    fn ask(&self, what: &str) -> Result<Vec<Fact>, Error> {
        ask(&self.agent, what, LONG)
    }

    fn release(&self) -> Option<String> {
        std::fs::read_to_string(self.folder.path().join("marker")).ok()
    }

    /// Why it was lost, where that is told within a time after all else.
    fn lost_within(&self, patience: Duration) -> Option<String> {
        let mut events = std::iter::from_fn(|| self.events.recv_timeout(patience).ok());
        events.find_map(|(_, event)| match event {
            AgentEvent::Lost { reason } => Some(reason),
            AgentEvent::Event(_) => None,
        })
    }
}

#[test]
fn answers_and_events_come_in_order_also_more_than_the_queue_holds() {
    let bench = Bench::start();
    assert_eq!(bench.ask("say 5000"), Ok(Vec::new()));
    let told = bench.events.try_iter().filter_map(|(name, event)| match event {
        AgentEvent::Event(Event::Progress { count: Some(count), .. }) => Some((name, count.done)),
        _ => None,
    });
    let expected: Vec<(String, u64)> = (0..5000).map(|done| ("tested".to_owned(), done)).collect();
    assert_eq!(told.collect::<Vec<_>>(), expected, "every event is there when the answer is");
    let error = bench.ask("else").unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Refused, "look for it: no such thing"));
    assert!(bench.agent.is_alive());
}

#[test]
fn the_heart_beats_during_a_long_request_and_a_kill_ends_it() {
    let bench = Bench::start();
    std::thread::scope(|scope| {
        let agent = &bench.agent;
        let hanging = scope.spawn(move || ask(agent, "hang", 2 * LONG));
        let next = || bench.events.recv_timeout(LONG).unwrap().1;
        // It hangs before it is killed; heartbeats may have come before.
        while !matches!(next(), AgentEvent::Event(Event::Progress { .. })) {}
        let beat = next();
        assert!(matches!(beat, AgentEvent::Event(Event::Heartbeat)), "{beat:?}");
        bench.agent.kill();
        let error = hanging.join().unwrap().unwrap_err();
        assert!(error.is_lost() && error.to_string().contains("ended before it answered"), "{error}");
    });
    assert!(!bench.agent.is_alive());
    assert_eq!(bench.lost_within(GLANCE), None, "we killed it ourselves");
}

/// Whoever writes to an agent that is frozen waits until it is killed, and must not keep others from killing it.
#[test]
fn an_agent_that_reads_nothing_any_more_is_killed_all_the_same() {
    let Bench { agent, events: _events, folder: _folder } = Bench::start();
    let agent = Arc::new(agent);
    let pid = agent.ask(Ping, Some(LONG)).unwrap().pid;
    let stopped = std::process::Command::new("kill").args(["-STOP", &pid.to_string()]).status().unwrap();
    assert!(stopped.success());
    let writer = Arc::clone(&agent);
    // More than a pipe holds.
    let asking = std::thread::spawn(move || ask(&writer, &"x".repeat(1 << 20), LONG));
    std::thread::sleep(GLANCE);
    let (done, killed) = channel();
    std::thread::spawn(move || {
        agent.kill();
        let _gone = done.send(());
    });
    killed.recv_timeout(LONG).expect("it is killed");
    assert!(asking.join().unwrap().unwrap_err().is_lost());
}

#[test]
fn a_panic_is_an_answer_and_not_the_end() {
    let bench = Bench::start();
    let error = bench.ask("panic on purpose").unwrap_err().to_string();
    assert!(error.contains("a bug in Proofload"), "{error}");
    assert_eq!(bench.ask("say 1"), Ok(Vec::new()));
    assert_eq!(bench.release(), None);
}

#[test]
fn a_lost_agent_says_how_it_ended() {
    let bench = Bench::start();
    let error = bench.ask("last-words disk on fire").unwrap_err().to_string();
    assert!(error.contains("disk on fire"), "{error}");
    let reason = bench.lost_within(LONG).expect("the loss is told");
    assert!(reason.contains("disk on fire"), "{reason}");
    assert!(bench.ask("say 1").is_err());
}

#[test]
fn quit_is_answered_when_everything_is_released() {
    let bench = Bench::start();
    let begun = Instant::now();
    assert!(bench.agent.ask(Quit, None).is_ok());
    assert_eq!(bench.release().as_deref(), Some("released"));
    assert_eq!(bench.lost_within(GLANCE), None);
    drop(bench);
    assert!(begun.elapsed() < UNKILLED, "took {:?}", begun.elapsed());
}

#[test]
fn an_agent_ends_when_its_conductor_is_gone_idle_or_stuck() {
    let idle = Bench::start();
    drop(idle.agent);
    let how = std::fs::read_to_string(idle.folder.path().join("marker")).expect("an idle agent releases what it holds");
    assert_eq!(how, "released");

    let Bench { agent, folder, events: _events } = Bench::start();
    let begun = Instant::now();
    assert!(ask(&agent, "hang", Duration::from_millis(200)).unwrap_err().to_string().contains("did not answer within"));
    drop(agent);
    let took = begun.elapsed();
    assert!(took > Duration::from_secs(3) && took < UNKILLED, "ended by itself, not killed: {took:?}");
    let how = std::fs::read_to_string(folder.path().join("marker")).expect("it is freed from outside");
    assert_eq!(how, "abandoned");
}

#[test]
fn a_command_that_is_no_agent_is_refused_with_what_it_said() {
    let start = |line: &str| {
        let command = ["sh".to_owned(), "-c".to_owned(), line.to_owned()];
        AgentProcess::start(&command, "host", channel().0).unwrap_err().to_string()
    };
    let error = start("echo hello; echo 'no such user' >&2; exit 3");
    assert!(error.contains("after \"hello\"") && error.contains("no such user"), "{error}");
    let error = start("echo PROOFLOAD-AGENT 99 3.1.4");
    assert!(error.contains("different version") && error.contains("99 3.1.4"), "{error}");
}

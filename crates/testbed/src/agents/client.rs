//! The conductor's side of an agent: starts its command, sends calls, hands events on, notices its end.

use super::{frame, greeting};
use proofload_model::error::{Error, ErrorKind};
use proofload_model::log_level::LogLevel;
use proofload_model::wire::{Ask, Call, Event, Message, Reply, Request};
use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, TryLockError};
use std::time::Duration;

/// Lines of an agent's stderr that are kept for error texts.
const KEPT_LINES: usize = 20;

/// A line of stderr is cut here.
const LONGEST_LINE: u64 = 4096;

/// Time for an agent's greeting.
const GREETING: Duration = Duration::from_secs(60);

/// How often a wait for a greeting looks whether it shall go on.
const GREETING_GLANCE: Duration = Duration::from_millis(100);

/// Longest wait for the end of an ended agent's stderr, which a process of its own may hold open.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Looks at a closing agent, so often and so far apart, before it is killed.
const CLOSING_LOOKS: u32 = 300;
const CLOSING_GLANCE: Duration = Duration::from_millis(50);

/// How often an agent is told that the conductor is there.
const ALIVE: Duration = Duration::from_secs(5);

/// What an agent's stream brings besides answers.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentEvent {
    /// Something that the agent tells.
    Event(Event),
    /// Its stream ended without an order to quit.
    Lost {
        /// Why, with the last lines of its stderr.
        reason: String,
    },
}

/// Why an agent was ended that had not greeted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GreetingEnd {
    /// Its time was over.
    Late,
    /// Nobody waits for it any more.
    Stop,
    /// It came, or its stream ended.
    Met,
}

type Answers = Arc<Mutex<HashMap<u64, Sender<Result<Reply, Error>>>>>;
type Lines = Arc<Mutex<VecDeque<String>>>;

/// A running agent. Shared by reference between threads; dropping it ends it.
#[derive(Debug)]
pub struct AgentProcess {
    name: String,
    child: Mutex<Child>,
    stdin: Arc<Mutex<Option<ChildStdin>>>,
    /// Dropped with the agent: ends the thread that tells it of us.
    _telling: Sender<()>,
    answers: Answers,
    next_call: AtomicU64,
    alive: Arc<AtomicBool>,
    quitting: Arc<AtomicBool>,
    heard: Arc<AtomicU64>,
    stderr: Lines,
}

impl AgentProcess {
    /// Starts `command` and waits for its greeting. Events go to `events` under `name`. The process is the head of its own group, so that
    /// a Ctrl-C at the terminal does not reach it.
    pub fn start(command: &[String], name: &str, events: Sender<(String, AgentEvent)>) -> Result<Self, Error> {
        Self::start_within(command, name, events, GREETING, || false)
    }

    /// Starts `command` likewise, and ends it with an error of the kind *interrupted* when `stop` tells so before it has greeted.
    pub fn start_unless(
        command: &[String],
        name: &str,
        events: Sender<(String, AgentEvent)>,
        stop: impl Fn() -> bool + Send + 'static,
    ) -> Result<Self, Error> {
        Self::start_within(command, name, events, GREETING, stop)
    }

    fn start_within(
        command: &[String],
        name: &str,
        events: Sender<(String, AgentEvent)>,
        within: Duration,
        stop: impl Fn() -> bool + Send + 'static,
    ) -> Result<Self, Error> {
        let (program, arguments) =
            command.split_first().ok_or_else(|| Error::new(format!("the command of the {name} agent is empty")))?;
        let mut child = Command::new(program)
            .args(arguments)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| Error::new(format!("failed to start the {name} agent with {command:?}: {error}")))?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut stdout = BufReader::new(stdout.expect("it was asked for"));
        let lines: Lines = Arc::default();
        let stderr = BufReader::new(stderr.expect("it was asked for"));
        let silence = keep_lines(stderr, name, &lines, events.clone());
        let (telling, told) = mpsc::channel();
        let agent = Self {
            name: name.to_owned(),
            child: Mutex::new(child),
            stdin: Arc::new(Mutex::new(stdin)),
            _telling: telling,
            answers: Arc::default(),
            next_call: AtomicU64::new(1),
            alive: Arc::new(AtomicBool::new(true)),
            quitting: Arc::default(),
            heard: Arc::default(),
            stderr: lines,
        };
        let (watchdog, end) = agent.watch_greeting(within, stop);
        let late = || end.get().filter(|end| **end == GreetingEnd::Late).map(|_| within);
        let greeted = greeting::expect_greeting(&mut stdout, late).and_then(|()| agent.answer_greeting());
        let is_ended = end.set(GreetingEnd::Met).is_err();
        let _met = watchdog.send(());
        // Its end was decided on as it greeted.
        let greeted =
            greeted.and_then(|()| if is_ended { Err(Error::new("it was ended as it greeted")) } else { Ok(()) });
        if let Err(error) = greeted {
            agent.kill();
            let _silent = silence.recv_timeout(LAST_WORDS);
            if end.get() == Some(&GreetingEnd::Stop) {
                return Err(Error::interrupted());
            }
            return Err(
                error.context(format!("failed to start the {name} agent with {command:?}{}", said(&agent.stderr)))
            );
        }
        agent.listen(stdout, silence, events);
        agent.tell_that_we_are_there(told);
        Ok(agent)
    }

    /// Says every few seconds that we are there, on a thread that ends with the agent or with its input.
    fn tell_that_we_are_there(&self, told: Receiver<()>) {
        let stdin = Arc::clone(&self.stdin);
        std::thread::spawn(move || {
            while told.recv_timeout(ALIVE) == Err(RecvTimeoutError::Timeout) {
                let Some(written) =
                    lock(&stdin).as_mut().map(|stdin| frame::write(stdin, &Call { id: 0, request: Request::Alive }))
                else {
                    return;
                };
                if written.is_err() {
                    return;
                }
            }
        });
    }

    /// Says who we are; the agent does nothing before.
    fn answer_greeting(&self) -> Result<(), Error> {
        let mut stdin = lock(&self.stdin);
        let stdin = stdin.as_mut().expect("it was asked for");
        greeting::answer(stdin).map_err(|error| Error::new(format!("failed to answer the agent's greeting: {error}")))
    }

    /// Kills an agent that has not greeted in time, such as an `ssh` that asks for a password, or when `stop` tells to; a message to the
    /// sender calls it off. Why it was killed is set before it is.
    fn watch_greeting(
        &self,
        within: Duration,
        stop: impl Fn() -> bool + Send + 'static,
    ) -> (Sender<()>, Arc<OnceLock<GreetingEnd>>) {
        let (sender, met) = mpsc::channel();
        let end = Arc::new(OnceLock::new());
        let (child, told) = (lock(&self.child).id(), Arc::clone(&end));
        std::thread::spawn(move || {
            let mut left = within;
            while !left.is_zero() && !stop() {
                let glance = GREETING_GLANCE.min(left);
                if met.recv_timeout(glance) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
                left -= glance;
            }
            if told.set(if left.is_zero() { GreetingEnd::Late } else { GreetingEnd::Stop }).is_ok() {
                crate::sys::kill_group(child);
            }
        });
        (sender, end)
    }

    /// Reads the agent's stream on a thread until it ends; then every open call fails, with what the agent said until its `silence`.
    fn listen(
        &self,
        mut stdout: impl BufRead + Send + 'static,
        silence: Receiver<()>,
        events: Sender<(String, AgentEvent)>,
    ) {
        let (name, answers, stderr) = (self.name.clone(), Arc::clone(&self.answers), Arc::clone(&self.stderr));
        let (alive, quitting) = (Arc::clone(&self.alive), Arc::clone(&self.quitting));
        let heard = Arc::clone(&self.heard);
        std::thread::spawn(move || {
            let end = loop {
                let read = frame::read::<Message>(&mut stdout);
                heard.fetch_add(1, Ordering::Relaxed);
                match read {
                    Ok(Some(Message::Answer { id, result })) => {
                        if let Some(waiting) = lock(&answers).remove(&id) {
                            let _gone = waiting.send(result);
                        }
                    }
                    Ok(Some(Message::Event(event))) => {
                        let _gone = events.send((name.clone(), AgentEvent::Event(event)));
                    }
                    Ok(None) => break "its output ended".to_owned(),
                    Err(error) => break error.to_string(),
                }
            };
            alive.store(false, Ordering::Release);
            // The stream may end before the last line of stderr has been read.
            let _silent = silence.recv_timeout(LAST_WORDS);
            let reason = format!("{end}{}", said(&stderr));
            if !quitting.load(Ordering::Acquire) {
                let _gone = events.send((name.clone(), AgentEvent::Lost { reason: reason.clone() }));
            }
            for (_, waiting) in lock(&answers).drain() {
                let _gone =
                    waiting.send(Err(Error::lost(format!("the {name} agent ended before it answered: {reason}"))));
            }
        });
    }

    /// Sends a request and waits for its answer; without `patience` as long as the agent lives.
    ///
    /// # Errors
    /// The agent's own, or of the kind *lost* when no answer came.
    pub fn ask<A: Ask>(&self, ask: A, patience: Option<Duration>) -> Result<A::Answer, Error> {
        let reply = self.call(ask.into(), patience)?;
        A::answer(reply).ok_or_else(|| Error::new(format!("the {} agent answered a different request", self.name)))
    }

    fn call(&self, request: Request, patience: Option<Duration>) -> Result<Reply, Error> {
        let id = self.next_call.fetch_add(1, Ordering::Relaxed);
        if request == Request::Quit {
            self.quitting.store(true, Ordering::Release);
        }
        let (sender, answer) = mpsc::channel();
        lock(&self.answers).insert(id, sender);
        let sent = match lock(&self.stdin).as_mut() {
            Some(stdin) => frame::write(stdin, &Call { id, request }),
            None => Err(Error::lost("its input is closed")),
        };
        if let Err(error) = sent {
            lock(&self.answers).remove(&id);
            return Err(error.or_kind(ErrorKind::Lost).context(format!(
                "failed to ask the {} agent{}",
                self.name,
                said(&self.stderr)
            )));
        }
        if !self.is_alive() {
            lock(&self.answers).remove(&id);
        }
        match patience {
            None => answer.recv().map_err(|_| self.gone())?,
            Some(patience) => answer.recv_timeout(patience).map_err(|error| match error {
                RecvTimeoutError::Timeout => {
                    Error::lost(format!("the {} agent did not answer within {patience:?}", self.name))
                }
                RecvTimeoutError::Disconnected => self.gone(),
            })?,
        }
    }

    /// Sends a request whose answer nobody waits for. That it does not arrive shows elsewhere.
    pub fn tell(&self, ask: impl Ask) {
        let id = self.next_call.fetch_add(1, Ordering::Relaxed);
        if let Some(stdin) = lock(&self.stdin).as_mut() {
            let _shows_elsewhere = frame::write(stdin, &Call { id, request: ask.into() });
        }
    }

    /// Messages that have come from it so far. An agent says something at least once a second, so a number that stands still is silence.
    pub fn messages_heard(&self) -> u64 {
        self.heard.load(Ordering::Relaxed)
    }

    fn gone(&self) -> Error {
        Error::lost(format!("the {} agent has ended{}", self.name, said(&self.stderr)))
    }

    /// Whether its stream is open.
    pub fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// Ends it: closes its input, on which it releases everything; kills what still lives after some seconds.
    pub fn kill(&self) {
        self.quitting.store(true, Ordering::Release);
        let mut child = lock(&self.child);
        for _ in 0..CLOSING_LOOKS {
            self.close_input();
            if !matches!(child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(CLOSING_GLANCE);
        }
        crate::sys::kill_group(child.id());
        let _reaped = child.wait();
    }

    /// Closes its input unless somebody writes to it: one who writes to an agent that does not read goes on when the agent has ended.
    fn close_input(&self) {
        match self.stdin.try_lock() {
            Ok(mut stdin) => drop(stdin.take()),
            Err(TryLockError::Poisoned(poisoned)) => drop(poisoned.into_inner().take()),
            Err(TryLockError::WouldBlock) => {}
        }
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Keeps the last lines of an agent's stderr and hands each on as a line of the log. The receiver is disconnected at its end.
fn keep_lines(
    stderr: impl BufRead + Send + 'static,
    name: &str,
    lines: &Lines,
    events: Sender<(String, AgentEvent)>,
) -> Receiver<()> {
    let (name, lines) = (name.to_owned(), Arc::clone(lines));
    let (end, silence) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut stderr, _until_its_end): (_, Sender<()>) = (stderr, end);
        while let Some(line) = next_line(&mut stderr) {
            let mut kept = lock(&lines);
            if kept.len() == KEPT_LINES {
                kept.pop_front();
            }
            kept.push_back(line.clone());
            drop(kept);
            let event = Event::Log { level: LogLevel::Warning, text: line };
            let _gone = events.send((name.clone(), AgentEvent::Event(event)));
        }
    });
    silence
}

/// The next line that says something, whatever its bytes, cut to a bound; `None` at the end.
fn next_line(stderr: &mut impl BufRead) -> Option<String> {
    loop {
        let mut bytes = Vec::new();
        let read = stderr.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut bytes).ok()?;
        if read == 0 {
            return None;
        }
        let line = String::from_utf8_lossy(&bytes).trim().to_owned();
        if !line.is_empty() {
            return Some(line);
        }
    }
}

/// The last lines of stderr, for the end of an error text.
fn said(lines: &Lines) -> String {
    let kept = lock(lines);
    if kept.is_empty() {
        String::new()
    } else {
        format!("; it said: {}", kept.iter().cloned().collect::<Vec<_>>().join(" / "))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn silent(within: Duration, stop: impl Fn() -> bool + Send + 'static) -> Error {
        let command = ["sleep", "1000"].map(str::to_owned);
        AgentProcess::start_within(&command, "load", mpsc::channel().0, within, stop).expect_err("it says nothing")
    }

    #[test]
    fn a_command_that_says_nothing_is_ended_when_its_time_is_over_or_nobody_waits() {
        let told = silent(Duration::from_secs(1), || false).to_string();
        assert!(told.contains("said nothing for 1 s"), "{told}");
        assert!(silent(GREETING, || true).is_interrupted());
    }
}

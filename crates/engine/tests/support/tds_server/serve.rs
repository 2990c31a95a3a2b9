//! Serves clients, each on a thread of its own: logs them on, keeps their transactions and statements, runs what the test says.

use super::behaviour::{Answer, Encrypts, Parameter, Part, Script, Setup};
use super::datum::{Datum, LATIN, UTF8};
use super::link::{Link, Message};
use super::requests::{self, Called, Front, Login, TokenLogin, wide};
use super::tokens::{FAILED, MORE, STOPPED, Tokens};
use std::collections::BTreeMap;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

/// Tokens of the end of a statement in a procedure, and of the procedure.
const INSIDE: u8 = 0xFF;
const PROCEDURE: u8 = 0xFE;

/// A running server; it ends with the process.
pub(crate) struct TdsServer {
    port: u16,
    log: Arc<Mutex<Vec<String>>>,
}

impl TdsServer {
    /// Starts one that answers as `script` says.
    pub(crate) fn start(setup: Setup, script: impl FnMut(&str, &[Parameter]) -> Answer + Send + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let log = Arc::new(Mutex::new(Vec::new()));
        let (setup, script): (_, Script) = (Arc::new(setup), Arc::new(Mutex::new(script)));
        let shared = Arc::clone(&log);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (setup, script, log) = (Arc::clone(&setup), Arc::clone(&script), Arc::clone(&shared));
                std::thread::spawn(move || Client::serve(stream, &setup, script, log));
            }
        });
        Self { port, log }
    }

    /// Its port.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Its URL, with these options.
    pub(crate) fn url(&self, options: &str) -> String {
        format!("sqlserver://me@localhost:{}/shop?{options}", self.port)
    }

    /// What it has been asked for since this was last asked.
    pub(crate) fn log(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock().expect("nobody panicked"))
    }
}

struct Client<'a> {
    link: Link,
    setup: &'a Setup,
    script: Script,
    log: Arc<Mutex<Vec<String>>>,
    transaction: u64,
    implicit: bool,
    statements: BTreeMap<i32, String>,
    transactions: u64,
    /// Rows in bulk are announced.
    bulk: bool,
}

impl<'a> Client<'a> {
    fn serve(stream: TcpStream, setup: &'a Setup, script: Script, log: Arc<Mutex<Vec<String>>>) {
        let link = Link::new(stream, setup.misbehaviour);
        let statements = BTreeMap::new();
        let mut client = Self {
            link,
            setup,
            script,
            log,
            transaction: 0,
            implicit: false,
            statements,
            transactions: 0,
            bulk: false,
        };
        // The client goes, or the connection ends as it was told to.
        let _gone = client.run();
    }

    fn note(&self, text: String) {
        self.log.lock().expect("nobody panicked").push(text);
    }

    fn run(&mut self) -> io::Result<()> {
        if self.setup.misbehaviour.silent {
            std::thread::sleep(std::time::Duration::from_secs(30));
        }
        self.log_on()?;
        loop {
            let Message { kind, body } = self.link.receive()?;
            match self.answer_to(kind, &body) {
                // It was asked to stop, and has.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => done?,
            }
        }
    }

    fn answer_to(&mut self, kind: u8, body: &[u8]) -> io::Result<()> {
        let mut front = Front(body);
        match kind {
            6 => {
                self.note("attention".to_owned());
                self.stopped()
            }
            1 => {
                self.check_transaction(requests::headers(&mut front));
                self.batch(&wide(front.0))
            }
            3 => {
                self.check_transaction(requests::headers(&mut front));
                self.calls(front)
            }
            7 => self.rows(body),
            other => panic!("a message of type {other}"),
        }
    }

    fn check_transaction(&self, told: u64) {
        assert_eq!(told, self.transaction, "the client names the open transaction");
    }

    fn log_on(&mut self) -> io::Result<()> {
        if self.setup.encrypts == Encrypts::Strict {
            self.link.shake(self.setup)?;
            self.note(format!(
                "tls carries {:?}",
                self.link.protocol().map(|name| String::from_utf8_lossy(&name).into_owned())
            ));
        }
        let asked = self.answer_first()?;
        let shakes = matches!(self.setup.encrypts, Encrypts::Off | Encrypts::On | Encrypts::Required) && asked != 2;
        if shakes {
            self.link.shake(self.setup)?;
        }
        let login = requests::login(&self.link.receive()?.body);
        if self.setup.encrypts == Encrypts::Off && asked == 0 {
            self.link.in_the_clear();
        }
        self.note(format!(
            "login of {} to {:?} as {:?} with version {:08X}, packets of {}, features {:?}",
            login.user, login.database, login.program, login.version, login.packet_size, login.features
        ));
        self.note_more(&login);
        let mut tokens = Tokens::default();
        if !self.lets_in(&login) {
            let wrong = "Login failed for user 'me'.";
            tokens.part(&Part::Error { number: 18_456, severity: 14, procedure: "", line: 1, message: wrong }, 0xFD);
            tokens.done(0xFD, FAILED, 0);
            return self.link.send(4, &tokens.bytes);
        }
        tokens.changed(1, &login.database, "master");
        tokens.part(&Part::Message("Changed database context."), 0xFD);
        tokens.collation(if self.setup.utf8 { UTF8 } else { LATIN });
        tokens.changed(2, "us_english", "");
        tokens.login_taken(login.version);
        tokens.acknowledged(self.setup.by_token.as_ref());
        let sends_on = self.setup.sends_on.as_ref().filter(|_| login.read_only || !self.setup.keeps_writers);
        if let Some((server, port)) = sends_on {
            tokens.sent_on(server, if *port == 0 { self.link.port() } else { *port });
        }
        tokens.changed(4, &self.setup.packet_size.to_string(), "4096");
        tokens.done(0xFD, 0, 0);
        self.link.send(4, &tokens.bytes)?;
        self.link.packet_size = self.setup.packet_size;
        Ok(())
    }

    /// Answers the first message; what that asks of encryption.
    fn answer_first(&mut self) -> io::Result<u8> {
        let first = self.link.receive()?;
        assert_eq!(first.kind, 18, "the first message");
        let options = requests::first_message(&first.body);
        let asked = options[&1][0];
        let word = match self.setup.encrypts {
            Encrypts::Off => 0,
            Encrypts::On | Encrypts::Strict => 1,
            Encrypts::NotSupported => 2,
            Encrypts::Required => 3,
        };
        self.note(format!("first message asks for encryption {asked}"));
        let mut answer: Vec<(u8, Vec<u8>)> = vec![(0, vec![16, 0, 0, 1, 0, 0]), (1, vec![word])];
        let named = String::from_utf8(options[&2].clone()).expect("a name in ASCII");
        if let Some(instance) = self.setup.instance {
            answer.push((2, vec![u8::from(!named.trim_end_matches('\0').eq_ignore_ascii_case(instance))]));
        }
        if let Some(rule) = &self.setup.by_token {
            self.note(format!("first message says of tokens {:?}", options.get(&6)));
            answer.extend(rule.wants.map(|wants| (6, vec![wants])));
            answer.extend(rule.nonce.map(|nonce| (7, nonce.to_vec())));
        }
        let (mut head, mut data): (Vec<u8>, Vec<u8>) = (Vec::new(), Vec::new());
        for (option, bytes) in &answer {
            head.push(*option);
            head.extend(((answer.len() * 5 + 1 + data.len()) as u16).to_be_bytes());
            head.extend((bytes.len() as u16).to_be_bytes());
            data.extend_from_slice(bytes);
        }
        head.push(0xFF);
        self.link.send(4, &[head, data].concat())?;
        Ok(asked)
    }

    /// Notes what few logins have.
    fn note_more(&self, login: &Login) {
        if login.read_only || self.setup.sends_on.is_some() {
            self.note(format!("login at {:?}, only reads: {}", login.server, login.read_only));
        }
        if let Some(by_token) = &login.by_token {
            let TokenLogin { echoes, nonce, .. } = by_token;
            self.note(format!("login by token, echoes: {echoes}, repeats {} bytes", nonce.len()));
        }
    }

    /// Whether the account is let in: by its password, or by its token alone.
    fn lets_in(&self, login: &Login) -> bool {
        let Some(rule) = &self.setup.by_token else {
            return login.password == self.setup.password && login.by_token.is_none();
        };
        let nonce = rule.nonce.map(|nonce| nonce.to_vec()).unwrap_or_default();
        let expected = TokenLogin { echoes: rule.wants == Some(1), token: rule.token.to_owned(), nonce };
        login.user.is_empty() && login.password.is_empty() && login.by_token.as_ref() == Some(&expected)
    }

    /// Says that it has stopped.
    fn stopped(&mut self) -> io::Result<()> {
        let mut tokens = Tokens::default();
        tokens.done(0xFD, STOPPED, 0);
        self.link.send(4, &tokens.bytes)
    }

    fn begin(&mut self, tokens: &mut Tokens) {
        if self.transaction == 0 {
            self.transactions += 1;
            self.transaction = 0x33_0000_0000 + self.transactions;
            tokens.begun(self.transaction);
        }
    }

    fn end(&mut self, kind: u8, tokens: &mut Tokens) {
        if self.transaction != 0 {
            tokens.ended(kind, self.transaction);
            self.transaction = 0;
        }
    }

    /// Transaction control, as far as it is known.
    fn control(&mut self, sql: &str, tokens: &mut Tokens) -> bool {
        match sql {
            "BEGIN TRANSACTION" => self.begin(tokens),
            "COMMIT TRANSACTION" | "COMMIT" => self.end(9, tokens),
            "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION" | "ROLLBACK" => self.end(10, tokens),
            "SET IMPLICIT_TRANSACTIONS ON" => self.implicit = true,
            "SET IMPLICIT_TRANSACTIONS OFF" => self.implicit = false,
            _ => return false,
        }
        true
    }

    fn batch(&mut self, sql: &str) -> io::Result<()> {
        self.note(format!("batch {sql}"));
        let mut tokens = Tokens::default();
        let answer = if sql.starts_with("SET NOCOUNT") || self.control(sql, &mut tokens) {
            Vec::new()
        } else {
            self.bulk = sql.starts_with("INSERT BULK");
            (self.script.lock().expect("nobody panicked"))(sql, &[])
        };
        let (status, _) = self.answer(&answer, &mut tokens, 0xFD)?;
        tokens.done(0xFD, status, 0);
        self.link.send(4, &tokens.bytes)
    }

    /// Adds an answer; whether it failed, as bits of an end and in words.
    fn answer(&mut self, answer: &[Part], tokens: &mut Tokens, end: u8) -> io::Result<(u16, bool)> {
        let mut failed = false;
        for part in answer {
            match part {
                Part::Close => return Err(io::ErrorKind::ConnectionAborted.into()),
                Part::Late => {
                    let attention = self.link.receive()?;
                    assert_eq!(attention.kind, 6, "a client that waits says nothing but stop");
                    self.note("attention".to_owned());
                    tokens.done(if end == INSIDE { PROCEDURE } else { end }, 0, 0);
                    self.link.send(4, &tokens.bytes)?;
                    tokens.bytes.clear();
                    while !self.setup.stops.load(Ordering::Acquire) {
                        std::thread::sleep(std::time::Duration::from_millis(1));
                    }
                    self.stopped()?;
                    return Err(io::ErrorKind::Interrupted.into());
                }
                Part::Silence => {
                    // What it has is sent, and the message does not end.
                    self.link.wait()?;
                    let attention = self.link.receive()?;
                    assert_eq!(attention.kind, 6, "a client that waits says nothing but stop");
                    self.note("attention".to_owned());
                    tokens.done(0xFD, STOPPED, 0);
                    self.link.send(4, &tokens.bytes)?;
                    tokens.bytes.clear();
                    return Err(io::ErrorKind::Interrupted.into());
                }
                Part::Error { .. } => {
                    failed = true;
                    tokens.part(part, end);
                    self.end(10, tokens);
                }
                part => tokens.part(part, end),
            }
        }
        Ok((if failed { FAILED } else { 0 }, failed))
    }

    fn calls(&mut self, front: Front<'_>) -> io::Result<()> {
        let calls = requests::calls(front);
        let count = calls.len();
        let mut tokens = Tokens::default();
        for (place, (called, parameters)) in calls.into_iter().enumerate() {
            let (sql, handle, given) = self.statement(called, &parameters);
            self.note(format!("call {sql} {given:?}", given = given.iter().map(|one| &one.value).collect::<Vec<_>>()));
            if self.implicit {
                self.begin(&mut tokens);
            }
            let answer = (self.script.lock().expect("nobody panicked"))(&sql, &given);
            let (status, failed) = self.answer(&answer, &mut tokens, 0xFF)?;
            let is_last = place + 1 == count || (failed && self.setup.misbehaviour.stops_at_error);
            tokens.returned_status();
            handle.into_iter().for_each(|handle| tokens.returned_handle(handle));
            tokens.done(0xFE, status | if is_last { 0 } else { MORE }, 0);
            if is_last {
                break;
            }
        }
        self.link.send(4, &tokens.bytes)
    }

    /// The text of what is called, the number that it gets, and the parameters that are its own.
    fn statement(&mut self, called: Called, parameters: &[Parameter]) -> (String, Option<i32>, Vec<Parameter>) {
        let text = |place: usize| match &parameters[place].value {
            Datum::Text(text) => text.clone(),
            Datum::Null => String::new(),
            other => panic!("{other:?} is no text"),
        };
        let number = |place: usize| match parameters[place].value {
            Datum::Integer(number) => i32::try_from(number).expect("a number of a statement"),
            ref other => panic!("{other:?} is no number"),
        };
        match called {
            Called::Named(name) => (format!("EXEC {name}"), None, parameters.to_vec()),
            Called::Numbered(12) => {
                let sql = self.statements.get(&number(0)).expect("a statement that was prepared").clone();
                (sql, None, parameters[1..].to_vec())
            }
            Called::Numbered(kind @ (11 | 13)) => {
                assert!(parameters[0].by_reference, "the number is given back");
                if parameters[0].value != Datum::Null {
                    self.statements.remove(&number(0)).expect("the old number is known");
                }
                let handle = 100
                    + i32::try_from(self.transactions).expect("few") * 1000
                    + i32::try_from(self.statements.len()).expect("few");
                let handle = (handle..).find(|handle| !self.statements.contains_key(handle)).expect("one is free");
                self.note(format!("prepare {handle} ({}) {}", text(1), text(2)));
                self.statements.insert(handle, text(2));
                (text(2), Some(handle), if kind == 13 { parameters[3..].to_vec() } else { Vec::new() })
            }
            Called::Numbered(other) => panic!("procedure {other}"),
        }
    }

    fn rows(&mut self, body: &[u8]) -> io::Result<()> {
        assert!(std::mem::take(&mut self.bulk), "rows are announced");
        let (columns, rows) = requests::bulk(body);
        let text: Vec<Parameter> = rows
            .iter()
            .flatten()
            .map(|value| Parameter { by_reference: false, kind: 0, value: value.clone() })
            .collect();
        self.note(format!("{} rows of {}", rows.len(), columns.join(",")));
        let answer = (self.script.lock().expect("nobody panicked"))("rows", &text);
        let mut tokens = Tokens::default();
        let (status, failed) = self.answer(&answer, &mut tokens, 0xFD)?;
        let counted = if failed { 0 } else { super::tokens::COUNTED };
        tokens.done(0xFD, status | counted, rows.len() as u64);
        self.link.send(4, &tokens.bytes)
    }
}

//! Runs the parts of a self-test one after another, each in an empty database, and removes it at the end.

use super::document::Document;
use super::local::{Folder, Instance};
use crate::clock::SystemClock;
use crate::commands::rights;
use crate::interrupt::Interrupt;
use proofload_engine::{Engine, MissingRight, RightPurpose, ScratchState, SessionRoom};
use proofload_load::selftest::{Bench, Ground, SelftestPart, SelftestStep, ServerLeave, Steps, parts};
use proofload_model::error::Error;
use proofload_model::facts::{engine, host};
use proofload_model::samples::Fact;
use proofload_model::settings::Settings;
use proofload_model::time::Clock;
use serde_json::{Map, Value as Json, json};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

/// The engine with whose data those of others are compared.
const REFERENCE: &str = "sqlite";

/// Sessions that a self-test has open at once: where two transactions meet, one that holds rows, the two, and one that looks.
const SESSIONS: u32 = 4;

/// What is asked for.
pub(crate) struct SelftestOrder<'a> {
    pub(crate) engine: &'static dyn Engine,
    /// A server of the reader's; `None`: an instance of our own, or a folder.
    pub(crate) url: Option<&'a str>,
    pub(crate) database: &'a str,
    /// Leave to change the server beyond that database.
    pub(crate) leave: ServerLeave,
    /// SelftestOrder with what stands under the name of the database, before anything is made.
    pub(crate) consent: &'a dyn Fn(ScratchState) -> Result<(), String>,
    /// Told of each step that has ended.
    pub(crate) told: &'a dyn Fn(&SelftestStep),
    /// Told of what is for the reader alone: it may name hosts and accounts, and the document does not have it.
    pub(crate) noted: &'a dyn Fn(&str),
    /// Listens to signals from when nothing is asked any more.
    pub(crate) interrupt: &'a Interrupt,
}

/// Why there is no result.
pub(crate) enum Refusal {
    /// No leave was given.
    Consent(String),
    /// Something failed before the first step, or the database cannot be removed.
    Failure(Error),
    /// It was interrupted; the database is removed.
    Interrupted,
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Failure(error)
    }
}

/// Runs the self-test; answers with the sealed document.
pub(crate) fn run(asked: &SelftestOrder<'_>) -> Result<Json, Refusal> {
    let reference = proofload_engine::engine(REFERENCE)
        .ok_or_else(|| Error::new(format!("the engine {REFERENCE}, with which data are compared, is not built in")))?;
    // Nothing is asked about an instance of our own, and it is ended in order.
    if asked.url.is_none() {
        listen(asked.interrupt)?;
    }
    let folder = Folder::new()?;
    // Before the ground: the server ends after the database is removed.
    let instance = match asked.url {
        None if asked.engine.server().is_some() => Some(Instance::start(asked.engine, folder.path())?),
        _ => None,
    };
    let url = asked.url.or(instance.as_ref().map(|instance| instance.address.as_str()));
    let ground = match url {
        Some(url) => Ground::at_server(asked.engine, url, asked.database, folder.path())?,
        None => Ground::in_folder(asked.engine, folder.path()),
    };
    (asked.consent)(ground.state()?).map_err(Refusal::Consent)?;
    // Not before: at a question a signal ends the process, and its folder is left, which the next self-test removes.
    if asked.url.is_some() {
        listen(asked.interrupt)?;
    }
    let told = told_of_login(asked);
    let room = told.as_ref().and_then(|told| told.as_ref().ok()?.1);
    let lacking = told.map(|told| told.map(|(lacking, _)| lacking));
    if let Some(why) = no_room(room) {
        return Err(Refusal::Failure(Error::new(format!("nothing was made: {why}"))));
    }
    // Unlike a study, it builds in any case, and all kinds of data.
    let is_needed = |purpose: RightPurpose| purpose.is_needed_to_build() || purpose == RightPurpose::RoutinesAndIndexes;
    if let Some(why) = lacking.as_ref().and_then(|lacking| rights::stops(lacking.as_ref().ok()?, is_needed)) {
        return Err(Refusal::Failure(Error::new(format!("nothing was made: {why}"))));
    }
    let outcome = all_parts(asked, &ground, reference, lacking);
    let cleared = ground.clear();
    let mut document = outcome?;
    match cleared {
        Ok(()) => add(asked, &mut document, "nothing is left behind", Ok(()), 0.0),
        Err(error) => add(asked, &mut document, "nothing is left behind", Err(error), 0.0),
    }
    Ok(document.sealed())
}

/// What a login lacks, and its room.
type LoginAnswer = (Vec<MissingRight>, Option<SessionRoom>);

/// Rights that the login lacks at a server of the reader's and that a self-test needs, and the room for its sessions; `None` where there is none to
/// ask for.
fn told_of_login(asked: &SelftestOrder<'_>) -> Option<Result<LoginAnswer, Error>> {
    let (engine, url) = (asked.engine, asked.url?);
    let (rights, scratch) = engine.server_rights().zip(engine.scratch_databases())?;
    let ask = |url: String| {
        let answer = rights::lacking(engine, rights, &url, &Settings::default());
        answer.map_err(|none| Error::new(none.to_string()))
    };
    let answer = scratch.url(url, asked.database).map_err(Error::from).and_then(ask);
    let is_tested = |purpose: RightPurpose| match purpose {
        RightPurpose::Standbys | RightPurpose::Settings | RightPurpose::ServerSetting(_) => false,
        RightPurpose::Limits | RightPurpose::Backups | RightPurpose::Sessions => asked.leave == ServerLeave::Allowed,
        _ => true,
    };
    Some(answer.map(|answer| (rights::of_use(answer.lacking, is_tested), answer.room)))
}

/// Why a server cannot take the sessions of a self-test, whose steps would fail for that alone; `None` where it may.
fn no_room(room: Option<SessionRoom>) -> Option<String> {
    let SessionRoom { most, .. } = room.filter(|room| room.is_certain && room.most < SESSIONS)?;
    Some(format!(
        "a self-test has {SESSIONS} sessions open at once, and the server has {most} for the login; make room at the server"
    ))
}

/// Tells of the rights of the login: what is lacking is not looked at.
fn tell_rights(asked: &SelftestOrder<'_>, document: &mut Document, lacking: &Result<Vec<MissingRight>, Error>) {
    let mut ended = |step: SelftestStep| {
        (asked.told)(&step);
        document.add(&step, 0.0);
    };
    let mut steps = Steps::new(&mut ended);
    match lacking {
        Ok(lacking) if lacking.is_empty() => steps.end("rights: the login lacks none", Ok(())),
        Ok(lacking) => {
            for right in lacking {
                steps
                    .skip(&format!("rights: {}", right.right), format!("the login lacks it: {}", right.consequences()));
                (asked.noted)(&right.to_string());
            }
        }
        Err(error) => {
            steps.skip("rights", "the server did not say what the login may do");
            (asked.noted)(&error.to_string());
        }
    }
}

fn listen(interrupt: &Interrupt) -> Result<(), Error> {
    interrupt.listen().map_err(|error| Error::new(format!("failed to install signal handlers: {error}")))
}

fn add(asked: &SelftestOrder<'_>, document: &mut Document, name: &str, outcome: Result<(), Error>, seconds: f64) {
    let mut ended = |step: SelftestStep| {
        (asked.told)(&step);
        document.add(&step, seconds);
    };
    Steps::new(&mut ended).end(name, outcome);
}

fn all_parts(
    asked: &SelftestOrder<'_>,
    ground: &Ground,
    reference: &'static dyn Engine,
    lacking: Option<Result<Vec<MissingRight>, Error>>,
) -> Result<Document, Refusal> {
    let mut document = Document::new(head(asked, &bench(asked, ground, reference)?.facts()?));
    if let Some(lacking) = &lacking {
        tell_rights(asked, &mut document, lacking);
    }
    for part in parts() {
        if asked.interrupt.asked() {
            return Err(Refusal::Interrupted);
        }
        match bench(asked, ground, reference) {
            Ok(bench) => run_part(asked, part, &bench, &mut document),
            Err(error) => add(asked, &mut document, part.name, Err(error), 0.0),
        }
    }
    Ok(document)
}

fn run_part(asked: &SelftestOrder<'_>, part: &SelftestPart, bench: &Bench, document: &mut Document) {
    let mut begun = SystemClock.now();
    part.tell(bench, &mut |step| {
        let now = SystemClock.now();
        (asked.told)(&step);
        document.add(&step, now.since(begun).as_secs_f64());
        begun = now;
    });
}

/// An empty database for a part.
fn bench(asked: &SelftestOrder<'_>, ground: &Ground, reference: &'static dyn Engine) -> Result<Bench, Error> {
    let target = ground.fresh()?;
    let place = target.place.clone();
    let start = move || -> Result<Child, Error> {
        let program = std::env::current_exe().map_err(|error| Error::new(format!("find this program: {error}")))?;
        let mut command = Command::new(program);
        command.args(["selftest", "--engine", &place.engine]);
        match &place.url {
            Some(url) => command.args(["--url", url]),
            None => command.args(["--build-in", &place.folder]),
        };
        command.arg("--build-only").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().map_err(|error| Error::new(format!("start a process that builds: {error}")))
    };
    Ok(Bench {
        engine: asked.engine,
        target,
        reference,
        reference_folder: ground.reference_folder()?,
        clock: Arc::new(SystemClock),
        leave: asked.leave,
        build_apart: Some(Arc::new(start)),
    })
}

/// What the document says before its steps. The URL is not kept: it may name hosts and accounts.
fn head(asked: &SelftestOrder<'_>, facts: &[Fact]) -> Json {
    let of_engine = |fact: &&Fact| fact.subject == engine::SUBJECT;
    let settings: Map<String, Json> = facts
        .iter()
        .filter(of_engine)
        .filter_map(|fact| Some((fact.name.clone(), json!(fact.effective.clone()?))))
        .collect();
    let version =
        [engine::VERSION, engine::SERVER_VERSION].iter().find_map(|known| settings.get(&*known.name)).cloned();
    json!({
        "engine": asked.engine.about().name,
        "version": version,
        "at": if asked.url.is_some() { "a server by URL" } else if asked.engine.server().is_some() { "an instance of its own" } else { "a folder" },
        "program": format!("proofload {}", env!("CARGO_PKG_VERSION")),
        "begun": crate::local_time::utc_text(SystemClock.wall()),
        "machine": machine(),
        "settings": settings,
    })
}

/// What the machine is on which the self-test runs, which need not be the server's. Its name is not kept.
fn machine() -> Map<String, Json> {
    let told = [&host::CPU, &host::CORES, &host::MEMORY, &host::MODEL, &host::HYPERVISOR, &host::KERNEL, &host::SYSTEM];
    let facts = proofload_testbed::facts::describe(&std::env::temp_dir());
    let found = told.iter().filter_map(|name| {
        let fact = facts.iter().find(|fact| fact.subject == name.subject && fact.name == name.name)?;
        Some((fact.name.clone(), json!(fact.effective.clone()?)))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn a_server_that_cannot_take_the_sessions_is_told_at_first() {
        let told = |most: u32, is_certain: bool| no_room(Some(SessionRoom { most, is_certain }));
        assert!(told(3, true).is_some_and(|why| why.contains("the server has 3 for the login")));
        assert_eq!([told(4, true), told(3, false), no_room(None)], [None, None, None]);
    }

    #[test]
    fn a_right_that_is_lacking_names_no_host_and_no_account_in_the_document() {
        let right = MissingRight {
            right: "PROCESS".to_owned(),
            purposes: vec![RightPurpose::Waits],
            grant: "GRANT PROCESS ON *.* TO 'ben'@'10.1.2.3'".to_owned(),
        };
        let noted = RefCell::new(Vec::new());
        let asked = SelftestOrder {
            engine: proofload_engine::engine(REFERENCE).expect("it is built in"),
            url: None,
            database: "proofload_selftest",
            leave: ServerLeave::Refused,
            consent: &|_| Ok(()),
            told: &|_| {},
            noted: &|text| noted.borrow_mut().push(text.to_owned()),
            interrupt: &Interrupt::default(),
        };
        for lacking in [Ok(vec![right]), Err(Error::new("connect to ben@10.1.2.3: refused"))] {
            let mut document = Document::new(json!({}));
            tell_rights(&asked, &mut document, &lacking);
            let written = document.sealed().to_string();
            assert!(written.contains("rights") && written.contains("skipped"), "{written}");
            for secret in ["ben", "10.1.2.3"] {
                assert!(!written.contains(secret), "{secret} in {written}");
            }
        }
        let noted = noted.into_inner();
        assert!(noted.len() == 2 && noted.iter().all(|text| text.contains("10.1.2.3")), "{noted:?}");
    }
}

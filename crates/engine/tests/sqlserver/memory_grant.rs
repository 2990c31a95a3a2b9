//! The memory that a query is granted at most: set by the resource governor, read back, put back. No SQL Server has been asked.

use crate::places::{runtime, sqlserver, target};
use crate::tds_server::{Part, Setup, TdsServer};
use crate::upkeep::texts;
use proofload_engine::Error;
use proofload_model::samples::Fact;
use std::sync::{Arc, Mutex};

const SETTING: &str = "request_max_memory_grant_percent";
const LEAVE: (&str, &str) = ("changes", "allowed");

/// A server with a resource governor, as Microsoft's documentation has it: what is stored comes into force by `RECONFIGURE`, and while the
/// governor is disabled, 25 is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
struct GovernorState {
    stored: String,
    in_force: String,
    is_enabled: bool,
    is_pending: bool,
    /// Group of the client's sessions.
    group: &'static str,
    /// Refuses what changes the governor.
    refuses: bool,
    notes: String,
    sent: Vec<String>,
}

impl GovernorState {
    fn disabled() -> Self {
        Self {
            stored: "25".to_owned(),
            in_force: "25".to_owned(),
            is_enabled: false,
            is_pending: false,
            group: "default",
            refuses: false,
            notes: String::new(),
            sent: Vec::new(),
        }
    }

    fn enabled(percent: &str) -> Self {
        Self { stored: percent.to_owned(), in_force: percent.to_owned(), is_enabled: true, ..Self::disabled() }
    }

    fn answer(&mut self, sql: &str) -> Vec<Part> {
        if sql.starts_with("SELECT v.name") {
            return texts(&[&["maxdop", "8", "sys.database_scoped_configurations"]]);
        }
        if sql.contains("sys.dm_exec_sessions") {
            let in_force = match self.group {
                "default" => self.in_force.clone(),
                other => format!("25 in workload group {other}"),
            };
            return texts(&[
                &[SETTING, &in_force, "sys.dm_resource_governor_workload_groups"],
                &["request_max_memory_grant_percent_stored", &self.stored, "sys.resource_governor_workload_groups"],
            ]);
        }
        if sql.contains("sys.dm_resource_governor_configuration") {
            let percent = if self.is_enabled { &self.in_force } else { &self.stored };
            let end = match (self.is_pending, self.is_enabled) {
                (true, _) => " while other changes wait for ALTER RESOURCE GOVERNOR RECONFIGURE",
                (false, true) => ",ENABLED",
                (false, false) => ",DISABLED",
            };
            return texts(&[&[&format!("{percent}{end}")]]);
        }
        if sql.starts_with("SELECT CAST(value AS") {
            return if self.notes.is_empty() { Vec::new() } else { texts(&[&[&self.notes]]) };
        }
        if let Some((_, value)) = sql.split_once("@value = '") {
            self.notes = value.split('\'').next().expect("a text").to_owned();
        } else if sql.contains("sp_dropextendedproperty") {
            self.notes.clear();
        } else if let Some((_, rest)) = sql.split_once("REQUEST_MAX_MEMORY_GRANT_PERCENT = ") {
            return self.change(sql, rest.split(')').next().expect("a number"));
        }
        Vec::new()
    }

    fn change(&mut self, sql: &str, percent: &str) -> Vec<Part> {
        assert!(self.notes.contains(SETTING), "the old value is noted before: {}", self.notes);
        self.sent.push(sql.to_owned());
        if self.refuses {
            let message = "User does not have permission to perform this action.";
            return vec![Part::Error { number: 15_247, severity: 16, procedure: "", line: 1, message }];
        }
        percent.clone_into(&mut self.stored);
        if sql.ends_with("; ALTER RESOURCE GOVERNOR RECONFIGURE") {
            (self.in_force, self.is_enabled) = (self.stored.clone(), true);
        } else if sql.ends_with(" ALTER RESOURCE GOVERNOR DISABLE") {
            (self.in_force, self.is_enabled) = ("25".to_owned(), false);
        }
        self.is_pending = self.is_enabled && self.stored != self.in_force;
        Vec::new()
    }
}

/// A server and what it has at the moment.
struct GovernedServer {
    server: TdsServer,
    state: Arc<Mutex<GovernorState>>,
}

impl GovernedServer {
    fn start(begin: &GovernorState) -> Self {
        let state = Arc::new(Mutex::new(begin.clone()));
        let shared = Arc::clone(&state);
        let server =
            TdsServer::start(Setup::default(), move |sql, _| shared.lock().expect("nobody panicked").answer(sql));
        Self { server, state }
    }

    fn state(&self) -> GovernorState {
        self.state.lock().expect("nobody panicked").clone()
    }

    /// What a run reads with these settings.
    fn verified(&self, settings: &[(&str, &str)]) -> Result<Vec<Fact>, Error> {
        runtime().block_on(sqlserver().verify_settings(&target(self.server.url("encrypt=none"), settings)))
    }

    /// The value in force and whether it is the one that was asked for.
    fn read(&self, settings: &[(&str, &str)]) -> (Option<String>, Option<bool>) {
        let facts = self.verified(settings).expect("reads");
        let fact = facts.iter().find(|fact| fact.name == SETTING).expect("a fact");
        (fact.effective.clone(), fact.holds)
    }

    /// What is done after a run, and by who knows nothing of it.
    fn put_back(&self) -> Result<(), Error> {
        let changes = sqlserver().server_changes().expect("it can be changed");
        runtime().block_on(changes.put_back(&target(self.server.url("encrypt=none"), &[LEAVE])))
    }
}

/// A value is set with leave alone, once; all is as before after it was put back, whether the governor was at work or not.
fn check_change(before: &GovernorState, old: &str, last: &str) {
    let server = GovernedServer::start(before);
    let asked = (SETTING, "12");
    let in_force_before = Some(before.in_force.clone());
    assert_eq!(server.read(&[asked]), (in_force_before.clone(), Some(false)));
    assert_eq!(server.read(&[asked, ("changes", "refused")]), (in_force_before, Some(false)));
    assert_eq!(server.state(), *before, "nothing is changed without leave");
    for _ in 0..2 {
        assert_eq!(server.read(&[asked, LEAVE]), (Some("12".to_owned()), Some(true)));
    }
    let state = server.state();
    assert_eq!((state.in_force.as_str(), state.notes.as_str()), ("12", format!("{SETTING}={old}").as_str()));
    let set = "ALTER WORKLOAD GROUP [default] WITH (REQUEST_MAX_MEMORY_GRANT_PERCENT = 12); ALTER RESOURCE GOVERNOR RECONFIGURE";
    assert_eq!(state.sent, [set]);
    let facts = server.verified(&[asked]).expect("reads");
    let stored = facts.iter().find(|fact| fact.name.ends_with("_stored")).expect("it is told beside");
    assert_eq!((stored.effective.as_deref(), stored.holds), (Some("12"), None));
    server.put_back().expect("puts back");
    let after = server.state();
    assert_eq!(after.sent.last().map(String::as_str), Some(last));
    assert_eq!(GovernorState { sent: Vec::new(), ..after }, *before);
}

#[test]
fn the_memory_of_a_query_is_limited_with_leave_read_back_and_put_back() {
    let put_back = |percent: &str, end: &str| {
        format!("ALTER WORKLOAD GROUP [default] WITH (REQUEST_MAX_MEMORY_GRANT_PERCENT = {percent}); {end}")
    };
    let enabled = put_back("40", "ALTER RESOURCE GOVERNOR RECONFIGURE");
    check_change(&GovernorState::enabled("40"), "40,ENABLED", &enabled);
    let disabled = put_back(
        "25",
        "IF EXISTS (SELECT 1 FROM sys.resource_governor_configuration WHERE is_enabled = 1) ALTER RESOURCE GOVERNOR DISABLE",
    );
    check_change(&GovernorState::disabled(), "25,DISABLED", &disabled);
}

/// A run that was killed has left its limit, also one that had not come into force: the next is not measured under it.
#[test]
fn a_limit_that_a_killed_run_has_left_is_put_back_or_voids_the_next() {
    let notes = |old: &str| format!("{SETTING}={old}");
    let in_force = GovernorState { notes: notes("25,DISABLED"), ..GovernorState::enabled("12") };
    let halfway = GovernorState {
        stored: "12".to_owned(),
        is_pending: true,
        notes: notes("25,ENABLED"),
        ..GovernorState::enabled("25")
    };
    let check = |left: &GovernorState, told: (&str, &str), after: &GovernorState| {
        let server = GovernedServer::start(left);
        let facts = server.verified(&[]).expect("reads");
        let fact = facts.iter().find(|fact| fact.name == SETTING).expect("it is told");
        let (asked, now) = told;
        assert_eq!((fact.requested.as_deref(), fact.effective.as_deref()), (Some(asked), Some(now)));
        assert!(fact.holds == Some(false) && fact.source.contains("engine.changes"), "{fact:?}");
        assert_eq!(server.state(), *left, "nothing is changed without leave");
        let facts = server.verified(&[LEAVE]).expect("reads");
        assert!(facts.iter().all(|fact| fact.holds != Some(false)), "{facts:?}");
        assert_eq!(GovernorState { sent: Vec::new(), ..server.state() }, *after);
    };
    check(&in_force, ("25,DISABLED", "12,ENABLED"), &GovernorState::disabled());
    let waits = "25 while other changes wait for ALTER RESOURCE GOVERNOR RECONFIGURE";
    check(&halfway, ("25,ENABLED", waits), &GovernorState::enabled("25"));
}

/// The server's own word is told with what account and server need; what was not changed needs nothing to be put back.
#[test]
fn a_server_that_refuses_is_told_with_what_it_needs() {
    let before = GovernorState { refuses: true, ..GovernorState::disabled() };
    let server = GovernedServer::start(&before);
    let error = server.verified(&[(SETTING, "12"), LEAVE]).expect_err("it refuses");
    let told = error.to_string();
    let parts = [SETTING, "to 12", "CONTROL SERVER", "Enterprise", "2025", "does not have permission", "15247"];
    assert!(parts.iter().all(|part| told.contains(part)), "{told}");
    assert_eq!(server.state().sent.len(), 1);
    server.put_back().expect("it is as it was");
    let after = server.state();
    assert_eq!(after.sent.len(), 1, "the server is not asked for what it refuses: {:?}", after.sent);
    assert_eq!(GovernorState { sent: Vec::new(), ..after }, before);
}

/// What somebody else has changed and not brought into force would come into force with ours; a fraction is not put back, since Microsoft's
/// parser refuses it.
#[test]
fn what_could_not_be_put_back_is_not_changed() {
    let check = |before: &GovernorState, part: &str| {
        let server = GovernedServer::start(before);
        let told = server.verified(&[(SETTING, "12"), LEAVE]).expect_err("it could not be put back").to_string();
        assert!(told.contains(part) && told.contains("nothing is changed"), "{told}");
        assert_eq!(server.state(), *before);
    };
    let waiting = GovernorState { stored: "40".to_owned(), is_pending: true, ..GovernorState::enabled("25") };
    check(&waiting, "other changes wait");
    check(&GovernorState::enabled("12.5"), "12.5,ENABLED");
}

#[test]
fn a_value_that_cannot_reach_the_load_is_not_set() {
    let check = |before: &GovernorState, asked: &str, in_force: &str| {
        let server = GovernedServer::start(before);
        assert_eq!(server.read(&[(SETTING, asked), LEAVE]), (Some(in_force.to_owned()), Some(false)), "{asked}");
        assert_eq!(server.state(), *before, "{asked}");
    };
    for asked in ["0", "101", "12.5", "12); DROP TABLE x"] {
        check(&GovernorState::disabled(), asked, "25");
    }
    // A classifier function has put the sessions elsewhere.
    let elsewhere = GovernorState { group: "reports", ..GovernorState::enabled("25") };
    check(&elsewhere, "12", "25 in workload group reports");
}

/// No right is needed to see it where no study asks for it.
#[test]
fn the_governor_is_not_asked_by_studies_that_do_not_name_it() {
    let server = GovernedServer::start(&GovernorState::disabled());
    server.verified(&[("maxdop", "8"), LEAVE]).expect("reads");
    let log = server.server.log();
    assert!(log.iter().all(|line| !line.contains("resource_governor")), "{log:?}");
}

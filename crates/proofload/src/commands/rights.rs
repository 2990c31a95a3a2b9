//! Rights that the login of a study lacks at a server that runs already: asked before anything is built, and told in one way. Asks nothing of a
//! server that Proofload starts.

use super::server_named::host_and_database;
use proofload_engine::{
    Engine, MissingRight, RightPurpose, RightsFailure, ServerRights, SessionRoom, Snapshots, Target, engine,
};
use proofload_load::workload;
use proofload_model::plan::{Plan, expand};
use proofload_model::setting_words::RestorePolicy;
use proofload_model::settings::{SettingSpec, Settings, setting};
use proofload_model::study::Study;
use proofload_model::wire::DataLocation;
use proofload_testbed::doctor::{Diagnosis, State};
use std::fmt;

/// What is said of a login that lacks nothing.
const SUBJECT: &str = "rights of the login";

/// What was found at one server.
struct LoginFinding {
    /// Name of its engine.
    engine: &'static str,
    /// Whether the study's load logs in from other hosts than this one, which may reach what this one does not.
    is_from_elsewhere: bool,
    /// Most sessions that the load of a point of the study keeps open there.
    sessions: u32,
    /// Rights that are lacking and that the study needs, or why no host of it said.
    answer: Result<HostAnswer, NoAnswer>,
}

/// What a host says of its login.
#[derive(Debug)]
pub(crate) struct HostAnswer {
    /// Host and database that answered; `None` where the URL names no other.
    host: Option<String>,
    /// Rights that are lacking there.
    pub(crate) lacking: Vec<MissingRight>,
    /// Room for the login's sessions there; `None` where none is told.
    pub(crate) room: Option<SessionRoom>,
}

/// Hosts of one URL of which none said what its login may do, each with the reason.
#[derive(Debug)]
pub(crate) struct NoAnswer(Vec<(String, RightsFailure)>);

impl NoAnswer {
    /// Tells whether one of the hosts let the login in.
    fn is_logged_in(&self) -> bool {
        self.0.iter().any(|(_, failure)| failure.is_logged_in())
    }

    /// Tells whether a server answered that lets the login in from nowhere as things stand.
    fn is_of_the_server(&self) -> bool {
        self.is_full() || self.0.iter().any(|(_, failure)| failure.grant().is_some())
    }

    /// Tells whether a server answered that has no session left for now.
    fn is_full(&self) -> bool {
        self.0.iter().any(|(_, failure)| failure.is_full())
    }

    /// Tells whether nobody can log in, which waiting does not mend.
    fn is_closed(&self) -> bool {
        !self.is_logged_in() && !self.is_full()
    }

    /// What to try, for a load that keeps so many sessions open.
    fn remedy(&self, sessions: u32) -> String {
        let is_refused = |(_, failure): &(String, RightsFailure)| matches!(failure, RightsFailure::Login(_));
        let grant = self.0.iter().find_map(|(_, failure)| failure.grant());
        if self.is_logged_in() {
            "what the login lacks shows when the study runs; let it ask for its own rights, or try again".to_owned()
        } else if let Some(grant) = grant {
            grant.to_owned()
        } else if self.is_full() {
            more_room(sessions)
        } else if self.0.iter().any(is_refused) {
            "check account, password and database of engine.url".to_owned()
        } else {
            "check host and port of engine.url, and that the server runs".to_owned()
        }
    }
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (host, failure)) in self.0.iter().enumerate() {
            let between = if number == 0 { "" } else { "; " };
            write!(f, "{between}{} {host}: {}", failure.what(), failure.error())?;
        }
        Ok(())
    }
}

/// What to try where a server has too few sessions for a load that keeps so many open.
fn more_room(sessions: u32) -> String {
    let plural = if sessions == 1 { "" } else { "s" };
    format!(
        "make room at the server for {sessions} session{plural} of this study's users and some that Proofload opens beside them, or use \
         fewer users"
    )
}

/// Asks for the rights of a login at the server of a URL: each of its hosts in turn, until one answers.
/// The engine's own settings count, such as by what path it is reached, and none of the server's.
pub(crate) fn lacking(
    engine: &dyn Engine,
    rights: &dyn ServerRights,
    url: &str,
    settings: &Settings,
) -> Result<HostAnswer, NoAnswer> {
    let about = engine.about();
    let own = |spec: &SettingSpec| {
        Some((spec.path.strip_prefix("engine.")?.to_owned(), settings.get(spec.path)?.to_string()))
    };
    let place = DataLocation {
        settings: about.settings.iter().filter_map(own).collect(),
        ..DataLocation::at_url(about.name, url)
    };
    first_answer(&Target::of(engine, place, Vec::new()), |host| {
        Ok((rights.lacking(host)?, rights.session_room(host).ok().flatten()))
    })
}

/// The first answer of a target's hosts.
fn first_answer(
    target: &Target,
    ask: impl Fn(&Target) -> Result<(Vec<MissingRight>, Option<SessionRoom>), RightsFailure>,
) -> Result<HostAnswer, NoAnswer> {
    let of_host = |endpoints| Target { endpoints, ..target.clone() };
    let mut hosts: Vec<Target> = target.endpoints.each_in_any_role().map(of_host).collect();
    let has_several = hosts.len() > 1;
    if hosts.is_empty() {
        hosts.push(target.clone());
    }
    let mut failed = Vec::new();
    for host in &hosts {
        let address = host.address().or(host.place.url.as_deref()).unwrap_or_default();
        let name = host_and_database(address);
        match ask(host) {
            Ok((lacking, room)) => return Ok(HostAnswer { host: Some(name).filter(|_| has_several), lacking, room }),
            Err(failure) => failed.push((name, failure)),
        }
    }
    Err(NoAnswer(failed))
}

/// Leaves of the rights those that are of use for what is asked for here, each with what it is of use for.
pub(crate) fn of_use(missing: Vec<MissingRight>, is_of_use: impl Fn(RightPurpose) -> bool) -> Vec<MissingRight> {
    let narrowed = |mut right: MissingRight| {
        right.purposes.retain(|purpose| is_of_use(*purpose));
        right
    };
    missing.into_iter().map(narrowed).filter(|right| !right.purposes.is_empty()).collect()
}

/// Rights that are lacking for what cannot be done without, in words; `None` where none of them is lacking.
pub(crate) fn stops(lacking: &[MissingRight], is_needed: impl Fn(RightPurpose) -> bool) -> Option<String> {
    let stops = |right: &&MissingRight| right.purposes.iter().any(|purpose| is_needed(*purpose));
    let needed: Vec<String> = lacking.iter().filter(stops).map(MissingRight::to_string).collect();
    (!needed.is_empty()).then(|| needed.join("\n"))
}

/// What is found at each server of a study's points.
fn found(study: &Study) -> Vec<LoginFinding> {
    let plan = expand(study);
    let mut asked: Vec<(String, &'static str)> = Vec::new();
    let mut found = Vec::new();
    for point in &plan.points {
        let settings = plan.settings(study, point.id);
        let (Ok(url), Ok(kind)) = (settings.text(setting::ENGINE_URL), settings.text(setting::ENGINE_KIND)) else {
            continue;
        };
        let Some(of_point) = engine(kind) else { continue };
        let Some(rights) = of_point.server_rights() else { continue };
        let name = of_point.about().name;
        if asked.iter().any(|(known, engine)| known == url && *engine == name) {
            continue;
        }
        asked.push((url.to_owned(), name));
        let answer = lacking(of_point, rights, url, &settings).map(|answer| HostAnswer {
            lacking: of_use(answer.lacking, |purpose| is_asked_for(of_point, &settings, purpose)),
            ..answer
        });
        let is_from_elsewhere = !settings.list(setting::AGENTS_LOAD).is_empty();
        let sessions = most_sessions(study, &plan, url);
        found.push(LoginFinding { engine: name, is_from_elsewhere, sessions, answer });
    }
    found
}

/// Most sessions that the load of a point keeps open at the server of a URL.
fn most_sessions(study: &Study, plan: &Plan, url: &str) -> u32 {
    let of_point = |settings: Settings| {
        let is_there = settings.text(setting::ENGINE_URL) == Ok(url);
        let of_kind = workload(settings.text(setting::WORKLOAD_KIND).ok()?)?;
        is_there.then(|| of_kind.sessions(&settings))
    };
    plan.points.iter().filter_map(|point| of_point(plan.settings(study, point.id))).max().unwrap_or_default()
}

/// Whether a study with these settings has something done for which a right is needed.
fn is_asked_for(engine: &dyn Engine, settings: &Settings, purpose: RightPurpose) -> bool {
    match purpose {
        RightPurpose::Limits => settings.text(setting::ENGINE_CHANGES) == Ok("allowed"),
        RightPurpose::ServerSetting(name) => {
            let is_set = settings.below("engine.settings").any(|(path, _)| path.rsplit('.').next() == Some(name));
            is_set && is_asked_for(engine, settings, RightPurpose::Limits)
        }
        RightPurpose::Backups | RightPurpose::Sessions => {
            engine.snapshots() == Some(Snapshots::Backups)
                && settings.text(RestorePolicy::PATH) != Ok(RestorePolicy::Never.word())
        }
        RightPurpose::Meetings => false,
        RightPurpose::Standbys => settings.text(setting::REPLICATION_MODE).is_ok_and(|mode| mode != "none"),
        RightPurpose::Settings => settings.below("engine.settings").next().is_some(),
        _ => true,
    }
}

/// What is found for a study, in the words of `doctor`; nothing where no server of it runs already.
pub(super) fn diagnoses(study: &Study) -> Vec<Diagnosis> {
    found(study).into_iter().flat_map(told).collect()
}

fn told(login: LoginFinding) -> Vec<Diagnosis> {
    let LoginFinding { engine, is_from_elsewhere, sessions, answer } = login;
    let HostAnswer { host, lacking, room } = match answer {
        Ok(answer) => answer,
        Err(none) => {
            let (state, remedy) = if none.is_logged_in() {
                (State::Warning, none.remedy(sessions))
            } else if is_from_elsewhere && !none.is_of_the_server() {
                (State::Warning, "run proofload doctor with this study on a host of the load".to_owned())
            } else {
                (State::Missing, none.remedy(sessions))
            };
            return vec![Diagnosis::bad(SUBJECT, state, none.to_string(), &remedy)];
        }
    };
    // Other hosts may take some of the sessions.
    let room = room.map(|room| SessionRoom { is_certain: room.is_certain && host.is_none(), ..room });
    let server = host.map_or_else(|| engine.to_owned(), |host| format!("{engine} on {host}"));
    let shortage = room.and_then(|room| shortage(room, sessions, &server));
    if lacking.is_empty() {
        let good = Diagnosis::good(SUBJECT, format!("{server}: all that this study needs"));
        return std::iter::once(good).chain(shortage).collect();
    }
    // Data that stand are run by a login that could not build them. That there are none shows where there is no place for them.
    let has_no_data = lacking.iter().flat_map(|missing| &missing.purposes).any(|purpose| purpose.shows_no_data());
    let one = |missing: MissingRight| {
        let (state, when) = match missing.is_needed_to_build() {
            true if has_no_data => (State::Missing, ""),
            true => (State::Warning, "; needed only while the data are not built"),
            false => (State::Warning, ""),
        };
        let found = format!("the login lacks it at {server}: {}{when}", missing.consequences());
        Diagnosis::bad(&format!("right {}", missing.right), state, found, &missing.grant)
    };
    lacking.into_iter().map(one).chain(shortage).collect()
}

/// What is told of a server that has too few sessions for a study; `None` where it has enough. One more is the least that Proofload opens beside
/// those of the load.
fn shortage(room: SessionRoom, sessions: u32, server: &str) -> Option<Diagnosis> {
    let SessionRoom { most, is_certain } = room;
    if most > sessions {
        return None;
    }
    let state = if is_certain && most < sessions { State::Missing } else { State::Warning };
    let found = format!("this study needs {sessions} and some beside them; {server} has {most} for the login");
    let otherwise = if is_certain { "" } else { "; a pooler or other hosts of engine.url may take the rest" };
    Some(Diagnosis::bad("sessions", state, found, &format!("{}{otherwise}", more_room(sessions))))
}

/// Why data cannot be built at the server of a URL; `None` where nothing stands in the way, and where the server does not say.
pub(crate) fn missing_to_build(engine: &dyn Engine, url: &str, settings: &Settings) -> Option<String> {
    let answer = lacking(engine, engine.server_rights()?, url, settings).ok()?;
    stops(&answer.lacking, RightPurpose::is_needed_to_build)
}

/// The host and database of a URL at none of whose hosts anybody can log in; `None` where somebody can, also where the server then does not say
/// what the login may do, where a server is only full for now, and where the engine cannot be asked.
pub(crate) fn closed_server(engine: &dyn Engine, url: &str, settings: &Settings) -> Option<String> {
    let none = lacking(engine, engine.server_rights()?, url, settings).err()?;
    none.is_closed().then(|| host_and_database(url))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_engine::Error;
    use proofload_model::settings::Value;

    fn missing(right: &str, purposes: &[RightPurpose]) -> MissingRight {
        let grant = format!("GRANT {right} TO me");
        MissingRight { right: right.to_owned(), purposes: purposes.to_vec(), grant }
    }

    fn at_db1(lacking: Result<Vec<MissingRight>, RightsFailure>, is_from_elsewhere: bool) -> LoginFinding {
        let place = DataLocation::at_url("x", "x://me@db1/shop");
        let answer = first_answer(&Target::new(place, None), |_| Ok((lacking.clone()?, None)));
        LoginFinding { engine: "x", is_from_elsewhere, sessions: 16, answer }
    }

    #[test]
    fn what_is_needed_to_build_is_missing_where_there_are_no_data_and_the_rest_is_a_warning() {
        let to_build = RightPurpose::is_needed_to_build;
        let told = |lacking: Vec<MissingRight>| told(at_db1(Ok(lacking), false));
        let lacking = vec![missing("CREATE", &[RightPurpose::Build]), missing("PROCESS", &[RightPurpose::Waits])];
        assert_eq!(
            stops(&lacking, to_build).as_deref(),
            Some("the login lacks CREATE: data cannot be built; what helps: GRANT CREATE TO me")
        );
        assert_eq!(stops(&lacking[1..], to_build), None);
        let states = |found: &[Diagnosis]| found.iter().map(|one| one.state).collect::<Vec<_>>();
        for purpose in [RightPurpose::Database, RightPurpose::FirstBuild] {
            let nothing_stands = [&lacking[..], &[missing("CREATEDB", &[purpose])]].concat();
            let found = told(nothing_stands);
            assert_eq!(states(&found), [State::Missing, State::Warning, State::Missing], "{purpose:?}");
        }
        let found = told(lacking);
        assert_eq!(states(&found), [State::Warning, State::Warning], "the data may stand");
        assert!(found[0].found.contains("needed only while the data are not built"), "{}", found[0].found);
        assert_eq!(found[1].subject, "right PROCESS");
        assert_eq!(found[1].remedy.as_deref(), Some("GRANT PROCESS TO me"));
        assert!(found[1].found.contains("waits cannot be observed"), "{}", found[1].found);
        assert_eq!(told(Vec::new())[0].state, State::Good);
    }

    #[test]
    fn a_server_without_an_answer_is_an_obstacle_to_the_host_that_logs_in() {
        for (is_from_elsewhere, state) in [(false, State::Missing), (true, State::Warning)] {
            let check = |failure: RightsFailure, found: &str| {
                let silent = &told(at_db1(Err(failure), is_from_elsewhere))[0];
                assert_eq!((silent.state, silent.found.as_str()), (state, found));
            };
            check(RightsFailure::Connect(Error::other("no such host")), "cannot connect to db1/shop: no such host");
            check(RightsFailure::Login(Error::other("wrong password")), "cannot log in to db1/shop: wrong password");
        }
    }

    /// The server has answered: from another host it would answer the same.
    #[test]
    fn a_server_that_is_full_or_bars_the_login_says_what_helps() {
        let grant = "GRANT CONNECT ON DATABASE \"shop\" TO \"me\"";
        for is_from_elsewhere in [false, true] {
            let check = |failure: RightsFailure, found: &str, remedy: &str| {
                let told = &told(at_db1(Err(failure), is_from_elsewhere))[0];
                assert_eq!((told.state, told.found.as_str()), (State::Missing, found));
                assert!(told.remedy.as_ref().is_some_and(|told| told.starts_with(remedy)), "{told:?}");
            };
            let full = RightsFailure::Full(Error::other("too many"));
            let is_closed = |failure: &RightsFailure| NoAnswer(vec![("db1".to_owned(), failure.clone())]).is_closed();
            assert!(!is_closed(&full) && is_closed(&RightsFailure::Login(Error::other("who?"))), "room comes back");
            check(full, "no session is left at db1/shop: too many", "make room at the server for 16 sessions of");
            let barred = RightsFailure::Entry { error: Error::other("denied"), grant: grant.to_owned() };
            check(barred, "the login may not connect to db1/shop: denied", grant);
        }
    }

    #[test]
    fn a_server_that_cannot_take_the_sessions_is_an_obstacle() {
        let told_of = |most: u32, is_certain: bool| {
            let place = DataLocation::at_url("x", "x://me@db1/shop");
            let room = Some(SessionRoom { most, is_certain });
            let answer = first_answer(&Target::new(place, None), |_| Ok((Vec::new(), room)));
            told(LoginFinding { engine: "x", is_from_elsewhere: false, sessions: 8, answer })
        };
        let states = |found: &[Diagnosis]| found.iter().map(|one| one.state).collect::<Vec<_>>();
        let few = told_of(4, true);
        assert_eq!(states(&few), [State::Good, State::Missing]);
        assert_eq!(few[1].subject, "sessions");
        assert_eq!(few[1].found, "this study needs 8 and some beside them; x has 4 for the login");
        assert!(few[1].remedy.as_ref().is_some_and(|told| told.ends_with("or use fewer users")), "{few:?}");
        assert_eq!(states(&told_of(8, true)), [State::Good, State::Warning], "none is left beside them");
        assert_eq!(states(&told_of(9, true)), [State::Good]);
        let shared = told_of(4, false);
        assert_eq!(states(&shared), [State::Good, State::Warning]);
        assert!(shared[1].remedy.as_ref().is_some_and(|told| told.contains("a pooler")), "{shared:?}");
    }

    #[test]
    fn the_sessions_of_a_server_are_those_of_its_largest_point() {
        let text = "[study]\nname = \"s\"\ntitle = \"t\"\n[workload]\nkind = \"tprocc\"\nwarehouses = 10\nvirtual_users = 1\n\
                    [engine]\nkind = \"postgresql\"\nurl = \"postgresql://me@db1/shop\"\n[procedure]\nrestore = \"never\"\n\
                    [[factor]]\nsetting = \"workload.virtual_users\"\nlevels = [1, 8, 3]\n";
        let catalogue = crate::catalogue::catalogue();
        let study = proofload_model::study::validate(text, &[], &catalogue).expect("it is valid");
        let sessions = |url: &str| most_sessions(&study, &expand(&study), url);
        assert_eq!((sessions("postgresql://me@db1/shop"), sessions("postgresql://me@db2/shop")), (8, 0));
    }

    #[test]
    fn a_login_that_is_let_in_and_not_told_its_rights_is_no_obstacle() {
        let refused = RightsFailure::Question(Error::other("may not ask"));
        let finding = at_db1(Err(refused), false);
        assert!(finding.answer.as_ref().is_err_and(NoAnswer::is_logged_in));
        let told = &told(finding)[0];
        assert_eq!(told.state, State::Warning);
        assert_eq!(told.found, "logged in, but was not told of the login's rights by db1/shop: may not ask");
    }

    #[test]
    fn each_host_is_asked_until_one_answers() {
        let place = DataLocation::at_url("x", "x://me@a,b,c/shop");
        let addresses: Vec<String> = ["a", "b", "c"].iter().map(|host| format!("x://me@{host}/shop")).collect();
        let target = Target { place, endpoints: addresses.into() };
        let asked = std::cell::RefCell::new(Vec::new());
        let answer = |open: &str| {
            asked.borrow_mut().clear();
            first_answer(&target, |host| {
                let address = host.address().expect("it has one").to_owned();
                asked.borrow_mut().push(address.clone());
                match address.contains(open) {
                    true => Ok((vec![missing("CREATE", &[RightPurpose::Database])], None)),
                    false if address.contains("@a/") => Err(RightsFailure::Connect(Error::other("refused"))),
                    false => Err(RightsFailure::Login(Error::other("who?"))),
                }
            })
        };
        let found = answer("@b/");
        assert_eq!(*asked.borrow(), ["x://me@a/shop", "x://me@b/shop"]);
        let finding = LoginFinding { engine: "x", is_from_elsewhere: false, sessions: 16, answer: found };
        let told_of_b = &told(finding)[0];
        assert!(told_of_b.found.starts_with("the login lacks it at x on b/shop: "), "{}", told_of_b.found);
        let nobody = answer("nowhere").expect_err("none answers");
        assert_eq!(
            nobody.to_string(),
            "cannot connect to a/shop: refused; cannot log in to b/shop: who?; cannot log in to c/shop: who?"
        );
        assert!(nobody.remedy(16).starts_with("check account"), "{}", nobody.remedy(16));
    }

    #[test]
    fn a_right_for_one_setting_is_asked_for_by_who_sets_it() {
        let engine = engine("sqlserver").expect("it is registered");
        let is_asked = |settings: &[(&str, &str)]| {
            let setting = |(path, value): &(&str, &str)| ((*path).to_owned(), Value::Text((*value).to_owned()));
            let settings = Settings(settings.iter().map(setting).collect());
            is_asked_for(engine, &settings, RightPurpose::ServerSetting("grant"))
        };
        let (allowed, refused) = ((setting::ENGINE_CHANGES, "allowed"), (setting::ENGINE_CHANGES, "refused"));
        assert!(is_asked(&[allowed, ("engine.settings.grant", "12")]));
        assert!(is_asked(&[allowed, ("engine.settings.sqlserver.grant", "12")]));
        assert!(!is_asked(&[refused, ("engine.settings.grant", "12")]), "it is only read");
        assert!(!is_asked(&[allowed, ("engine.settings.grants", "12")]));
    }

    #[test]
    fn a_right_of_no_use_is_left_out() {
        let lacking = vec![
            missing("VIEW SERVER STATE", &[RightPurpose::Counters, RightPurpose::Standbys]),
            missing("ALTER SETTINGS", &[RightPurpose::Limits]),
        ];
        let kept = of_use(lacking, |purpose| purpose == RightPurpose::Counters);
        assert_eq!(kept, [missing("VIEW SERVER STATE", &[RightPurpose::Counters])]);
    }
}

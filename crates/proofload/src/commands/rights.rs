//! Rights that the login of a study lacks at a server that runs already: asked before anything is built, and told in one way. Asks nothing of a
//! server that Proofload starts.

use super::server_named::host_and_database;
use proofload_engine::{Engine, MissingRight, RightPurpose, ServerRights, Snapshots, Target, engine};
use proofload_model::error::Error;
use proofload_model::plan::expand;
use proofload_model::settings::Settings;
use proofload_model::study::Study;
use proofload_model::wire::DataLocation;
use proofload_testbed::doctor::{Diagnosis, State};

/// What is said of a login that lacks nothing.
const SUBJECT: &str = "rights of the login";

/// What was found at one server.
struct LoginFinding {
    /// Name of its engine.
    engine: &'static str,
    /// Its host and database.
    server: String,
    /// Whether the study's load logs in from other hosts than this one, which may reach what this one does not.
    is_from_elsewhere: bool,
    /// Rights that are lacking and that the study needs, or why the server did not say.
    lacking: Result<Vec<MissingRight>, Error>,
}

/// Asks for the rights of a login at the server of a URL.
pub(crate) fn lacking(engine: &dyn Engine, rights: &dyn ServerRights, url: &str) -> Result<Vec<MissingRight>, Error> {
    let name = engine.about().name.to_owned();
    let place = DataLocation {
        engine: name,
        folder: String::new(),
        url: Some(url.to_owned()),
        settings: Vec::new(),
        tier: None,
    };
    Ok(rights.lacking(&Target::of(engine, place, Vec::new()))?)
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
        let (Ok(url), Ok(kind)) = (settings.text("engine.url"), settings.text("engine.kind")) else { continue };
        let Some(of_point) = engine(kind) else { continue };
        let Some(rights) = of_point.server_rights() else { continue };
        let name = of_point.about().name;
        if asked.iter().any(|(known, engine)| known == url && *engine == name) {
            continue;
        }
        asked.push((url.to_owned(), name));
        let lacking = lacking(of_point, rights, url);
        let lacking = lacking.map(|lacking| of_use(lacking, |purpose| is_asked_for(of_point, &settings, purpose)));
        let is_from_elsewhere = !settings.list("agents.load").is_empty();
        found.push(LoginFinding { engine: name, server: host_and_database(url), is_from_elsewhere, lacking });
    }
    found
}

/// Whether a study with these settings has something done for which a right is needed.
fn is_asked_for(engine: &dyn Engine, settings: &Settings, purpose: RightPurpose) -> bool {
    match purpose {
        RightPurpose::Limits => settings.text("engine.changes") == Ok("allowed"),
        RightPurpose::Backups | RightPurpose::Sessions => {
            engine.snapshots() == Some(Snapshots::Backups) && settings.text("procedure.restore") != Ok("never")
        }
        RightPurpose::Meetings => false,
        RightPurpose::Standbys => settings.text("replication.mode").is_ok_and(|mode| mode != "none"),
        RightPurpose::Settings => settings.below("engine.settings").next().is_some(),
        _ => true,
    }
}

/// What is found for a study, in the words of `doctor`; nothing where no server of it runs already.
pub(super) fn diagnoses(study: &Study) -> Vec<Diagnosis> {
    found(study).into_iter().flat_map(told).collect()
}

fn told(login: LoginFinding) -> Vec<Diagnosis> {
    let LoginFinding { engine, server, is_from_elsewhere, lacking } = login;
    let lacking = match lacking {
        Ok(lacking) => lacking,
        Err(error) => {
            let found = format!("cannot log in to {server}: {error}");
            let (state, remedy) = if is_from_elsewhere {
                (State::Warning, "run proofload doctor with this study on a host of the load")
            } else {
                (State::Missing, "check host, account, password and database of engine.url, and that the server runs")
            };
            return vec![Diagnosis::bad(SUBJECT, state, found, remedy)];
        }
    };
    if lacking.is_empty() {
        return vec![Diagnosis::good(SUBJECT, format!("{engine}: all that this study needs"))];
    }
    // Data that stand are run by a login that could not build them. That there are none shows where there is no place for them.
    let has_no_data = lacking.iter().flat_map(|missing| &missing.purposes).any(|purpose| purpose.shows_no_data());
    let one = |missing: MissingRight| {
        let (state, when) = match missing.is_needed_to_build() {
            true if has_no_data => (State::Missing, ""),
            true => (State::Warning, "; needed only while the data are not built"),
            false => (State::Warning, ""),
        };
        let found = format!("the login lacks it at {engine}: {}{when}", missing.consequences());
        Diagnosis::bad(&format!("right {}", missing.right), state, found, &missing.grant)
    };
    lacking.into_iter().map(one).collect()
}

/// Why data cannot be built at the server of a URL; `None` where nothing stands in the way, and where the server does not say.
pub(crate) fn missing_to_build(engine: &dyn Engine, url: &str) -> Option<String> {
    let lacking = lacking(engine, engine.server_rights()?, url).ok()?;
    stops(&lacking, RightPurpose::is_needed_to_build)
}

/// The host and database of a URL at which nobody can log in; `None` where somebody can, and where the engine cannot be asked.
pub(crate) fn closed_server(engine: &dyn Engine, url: &str) -> Option<String> {
    lacking(engine, engine.server_rights()?, url).err().map(|_| host_and_database(url))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(right: &str, purposes: &[RightPurpose]) -> MissingRight {
        let grant = format!("GRANT {right} TO me");
        MissingRight { right: right.to_owned(), purposes: purposes.to_vec(), grant }
    }

    fn at_db1(lacking: Result<Vec<MissingRight>, Error>, is_from_elsewhere: bool) -> LoginFinding {
        LoginFinding { engine: "x", server: "db1/shop".to_owned(), is_from_elsewhere, lacking }
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
            let silent = &told(at_db1(Err(Error::new("no such host")), is_from_elsewhere))[0];
            assert_eq!((silent.state, silent.found.as_str()), (state, "cannot log in to db1/shop: no such host"));
        }
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

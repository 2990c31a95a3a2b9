//! The procedures of the suite in the database: installed by the build, read back and compared before a run. They are
//! no part of the data: installing them changes no row of the nine tables.
//!
//! What is installed is noted in the manifest by a hash of the text that created it, and the server's own copy of each
//! body is compared with ours, so that neither an older version nor one that somebody changed is taken for this one. Where
//! a server runs a routine under settings of the session that created it, these are compared with ours too.

use super::build::{Manifest, add_entry, remove_entry};
use super::dialect::{Dialect, with_procedures};
use super::settings::{Form, NAME};
use crate::workloads::blocking_session::{BlockingSession, text};
use crate::workloads::suite;
use proofload_engine::OwnedRow;
use proofload_model::catalogue::Contradiction;
use proofload_model::error::Error;
use proofload_model::settings::setting;
use std::time::Duration;

/// Remedy for a missing or changed procedure.
const REMEDY: &str = "build again: this installs the procedures and keeps the data";

/// Pauses before procedures are installed again.
const PAUSES_MS: [u64; 5] = [50, 100, 200, 400, 800];

/// Contradiction of a form by procedures on an engine that has none.
pub(super) fn lacking(dialect: &Dialect, form: Form) -> Option<Contradiction> {
    let lacks = form == Form::Procedures && dialect.procedures().is_empty();
    let reason = || {
        let others = with_procedures().join(" or ");
        format!("{} has no procedures for {NAME}; use \"statements\", or choose {others}", dialect.engine)
    };
    lacks.then(|| Contradiction::new(setting::WORKLOAD_FORM, reason()))
}

/// Installs the dialect's procedures in one step, replacing those that are there. Nothing when it has none.
pub(super) fn install(session: &mut BlockingSession, dialect: &Dialect) -> Result<(), Error> {
    if dialect.procedures().is_empty() {
        return Ok(());
    }
    // A client killed while it installed them leaves its last statements to the server, which still makes routines while these are dropped.
    for pause in PAUSES_MS {
        if install_all(session, dialect).is_ok() {
            return Ok(());
        }
        session.roll_back();
        std::thread::sleep(Duration::from_millis(pause));
    }
    install_all(session, dialect)
}

fn install_all(session: &mut BlockingSession, dialect: &Dialect) -> Result<(), Error> {
    let (mut made, mut notes) = (String::new(), String::new());
    for row in session.query(&dialect.suite.statement("routines_to_drop")?.sql)? {
        made.push_str(&format!("{};\n", text(&row, 0)?));
    }
    for name in dialect.procedures() {
        let create = &dialect.suite.statement(name)?.sql;
        let (remove, add) = (remove_entry(dialect, &entry(name))?, add_entry(dialect, &entry(name), &version(create))?);
        made.push_str(&format!("{create};\n"));
        notes.push_str(&(remove + &add));
    }
    let script = dialect.steps.script(&made, &notes);
    session.script(&script).map_err(|error| error.context("failed to install the procedures"))
}

/// Names each procedure that is not as in the suite, and the remedy; `None` when all are.
pub(super) fn faults(
    session: &mut BlockingSession,
    dialect: &Dialect,
    manifest: &Manifest,
) -> Result<Option<String>, Error> {
    let found = session.query(&dialect.suite.statement("routines_found")?.sql)?;
    let mut faults = Vec::new();
    for name in dialect.procedures() {
        let create = &dialect.suite.statement(name)?.sql;
        let needed = version(create);
        let Some(row) = found.iter().find(|row| text(row, 0).is_ok_and(|found| found == name)) else {
            faults.push(format!("procedure {name} is missing"));
            continue;
        };
        let body = text(row, 1)?;
        match manifest.content(&entry(name)) {
            None => faults.push(format!("procedure {name} is missing in the manifest")),
            Some(noted) if noted != needed => {
                faults.push(format!("procedure {name} has version {noted}, but {needed} is needed"));
            }
            Some(_) if body.is_empty() || !create.contains(body) => {
                faults.push(format!("procedure {name} has been changed in the database"));
            }
            Some(_) => faults.append(&mut other_settings(name, row)?),
        }
    }
    Ok((!faults.is_empty()).then(|| format!("{}; {REMEDY}", faults.join(", "))))
}

/// Names each setting of a procedure that is not as a session of ours has it: the procedure would compute otherwise. Behind
/// its name and body, its row has for each setting the name, the procedure's value and ours.
fn other_settings(name: &str, row: &OwnedRow) -> Result<Vec<String>, Error> {
    let mut faults = Vec::new();
    for place in (2..row.len()).step_by(3) {
        let (setting, found, needed) = (text(row, place)?, text(row, place + 1)?, text(row, place + 2)?);
        if found != needed {
            faults.push(format!("procedure {name} was created under {setting} {found:?}, but {needed:?} is needed"));
        }
    }
    Ok(faults)
}

/// The version of all procedures together, for labels and facts; `None` when the dialect has none.
pub(super) fn version_of_all(dialect: &Dialect) -> Result<Option<String>, Error> {
    let mut all = String::new();
    for name in dialect.procedures() {
        all.push_str(&dialect.suite.statement(name)?.sql);
    }
    Ok((!all.is_empty()).then(|| version(&all)))
}

/// The manifest's entry of a procedure.
fn entry(name: &str) -> String {
    format!("procedure {name}")
}

/// A version: a hash of the text.
fn version(text: &str) -> String {
    format!("{:016x}", suite::hash(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_engine::OwnedValue;
    use proofload_gen::tprocc::Departures;

    /// The vectors that the authors publish for "" and "foobar".
    #[test]
    fn versions_are_fnv_1a() {
        assert_eq!([version(""), version("foobar")], ["cbf29ce484222325", "85944171f73967e8"]);
    }

    #[test]
    fn each_setting_that_is_not_ours_is_named() {
        let faults = |texts: &[&str]| {
            let row: OwnedRow = texts.iter().map(|text| OwnedValue::Text((*text).to_owned())).collect();
            other_settings("pay", &row).map_err(|error| error.to_string())
        };
        assert_eq!(faults(&["pay", "BEGIN END"]), Ok(Vec::new()), "a server that keeps none");
        assert_eq!(faults(&["pay", "BEGIN END", "mode", "A,B", "A,B", "collation", "c", "c"]), Ok(Vec::new()));
        let found = faults(&["pay", "BEGIN END", "mode", "A", "A,B", "set", "s", "s", "collation", "c", "d"]);
        let expected = [
            "procedure pay was created under mode \"A\", but \"A,B\" is needed",
            "procedure pay was created under collation \"c\", but \"d\" is needed",
        ];
        assert_eq!(found, Ok(expected.map(str::to_owned).to_vec()));
        assert!(faults(&["pay", "BEGIN END", "mode", "A"]).is_err(), "a value is missing");
    }

    #[test]
    fn each_text_creates_what_its_name_says() {
        let engines = with_procedures().into_iter().filter_map(proofload_engine::engine);
        for dialect in engines.map(|engine| Dialect::of(engine, Departures::NONE).unwrap()) {
            assert_eq!(dialect.procedures().len(), 5, "{}", dialect.engine);
            for name in dialect.procedures() {
                let create = &dialect.suite.statement(name).unwrap().sql;
                let starts = [format!(" PROCEDURE {name}("), format!(" FUNCTION {name}(")];
                let (first, _) = create.split_once('(').unwrap();
                assert!(first.starts_with("CREATE "), "{create}");
                assert!(starts.iter().any(|start| format!("{first}(").ends_with(start)), "{create}");
            }
        }
    }
}

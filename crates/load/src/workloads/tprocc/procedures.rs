//! The procedures of the suite in the database: installed by the build, read back and compared before a run. They are
//! no part of the data: installing them changes no row of the nine tables.
//!
//! What is installed is noted in the manifest by a hash of the text that created it, and the server's own copy of each
//! body is compared with ours, so that neither an older version nor one that somebody changed is taken for this one. Where
//! a server runs a routine under settings of the session that created it, these are compared with ours too.

use super::build::{Manifest, add_entry, remove_entry};
use super::dialect::{Dialect, Routine, with_procedures, with_table_of_lines};
use super::settings::{Form, LinesForm, NAME};
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

/// Contradiction of lines as a table where nothing takes them so.
pub(super) fn lines_contradiction(dialect: &Dialect, form: Form, lines: LinesForm) -> Option<Contradiction> {
    if lines == LinesForm::Lists {
        return None;
    }
    let reason = if !dialect.has_table_of_lines() {
        let others = with_table_of_lines().join(" or ");
        format!("{} takes no table of lines; use \"lists\", or choose {others}", dialect.engine)
    } else if form == Form::Statements {
        "only procedures take a table of lines; set workload.form = \"procedures\", or use \"lists\"".to_owned()
    } else {
        return None;
    };
    Some(Contradiction::new(setting::WORKLOAD_LINES, reason))
}

/// Installs the dialect's procedures in one step, with the types that they take, replacing those that are there. Nothing when it has none.
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
    for routine in dialect.routines() {
        let (create, entry) = (&dialect.suite.statement(routine.name)?.sql, entry(routine));
        let (remove, add) = (remove_entry(dialect, &entry)?, add_entry(dialect, &entry, &version(create))?);
        made.push_str(&format!("{create};\n"));
        notes.push_str(&(remove + &add));
    }
    let script = dialect.steps.script(&made, &notes);
    session.script(&script).map_err(|error| error.context("failed to install the procedures"))
}

/// Names each procedure and type that is not as in the suite, and the remedy; `None` when all are.
pub(super) fn faults(
    session: &mut BlockingSession,
    dialect: &Dialect,
    manifest: &Manifest,
) -> Result<Option<String>, Error> {
    let found = session.query(&dialect.suite.statement("routines_found")?.sql)?;
    let mut faults = Vec::new();
    for routine in dialect.routines() {
        let (create, entry) = (&dialect.suite.statement(routine.name)?.sql, entry(routine));
        let needed = version(create);
        let Some(row) = found.iter().find(|row| text(row, 0).is_ok_and(|found| found == routine.name)) else {
            faults.push(format!("{entry} is missing"));
            continue;
        };
        let body = text(row, 1)?;
        match manifest.content(&entry) {
            None => faults.push(format!("{entry} is missing in the manifest")),
            Some(noted) if noted != needed => {
                faults.push(format!("{entry} has version {noted}, but {needed} is needed"));
            }
            Some(_) if body.is_empty() || !create.contains(body) => {
                faults.push(format!("{entry} has been changed in the database"));
            }
            Some(_) => faults.append(&mut other_settings(routine.name, row)?),
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

/// The version of all procedures and types together, for labels and facts; `None` when the dialect has none.
pub(super) fn version_of_all(dialect: &Dialect) -> Result<Option<String>, Error> {
    let mut all = String::new();
    for routine in dialect.routines() {
        all.push_str(&dialect.suite.statement(routine.name)?.sql);
    }
    Ok((!all.is_empty()).then(|| version(&all)))
}

/// The manifest's entry of a procedure or a type, and what it is called in faults.
fn entry(routine: Routine<'_>) -> String {
    format!("{} {}", routine.kind, routine.name)
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
            let of_kind = |kind: &str| dialect.routines().filter(|routine| routine.kind == kind).count();
            let expected = if dialect.has_table_of_lines() { [1, 6] } else { [0, 5] };
            assert_eq!(["type", "procedure"].map(of_kind), expected, "{}", dialect.engine);
            for Routine { name, .. } in dialect.routines() {
                let create = &dialect.suite.statement(name).unwrap().sql;
                let starts =
                    [format!(" PROCEDURE {name}("), format!(" FUNCTION {name}("), format!(" TYPE {name} AS TABLE (")];
                let (first, _) = create.split_once('(').unwrap();
                assert!(first.starts_with("CREATE "), "{create}");
                assert!(starts.iter().any(|start| format!("{first}(").ends_with(start)), "{create}");
            }
        }
    }

    /// The server keeps no text of a type: its columns and its key are compared, as it tells them.
    #[test]
    fn types_stand_as_the_server_tells_them() {
        let dialect = Dialect::of(proofload_engine::engine("sqlserver").unwrap(), Departures::NONE).unwrap();
        let told = "number int NOT NULL, item int NOT NULL, supplier int NOT NULL, quantity int NOT NULL, \
                    PRIMARY KEY CLUSTERED (number)";
        assert!(dialect.suite.statement("tprocc_order_lines").unwrap().sql.contains(told));
        let asked = &dialect.suite.statement("routines_found").unwrap().sql;
        for part in ["' NOT NULL'", "', PRIMARY KEY '", "'CLUSTERED'", "type_name(c.user_type_id)"] {
            assert!(asked.contains(part), "{part}");
        }
    }

    #[test]
    fn a_table_of_lines_needs_a_procedure_that_takes_it() {
        let dialect = |name| Dialect::of(proofload_engine::engine(name).unwrap(), Departures::NONE).unwrap();
        let found = |engine, form, lines| lines_contradiction(&dialect(engine), form, lines).map(|found| found.reason);
        assert_eq!(found("sqlserver", Form::Procedures, LinesForm::Table), None);
        assert_eq!(found("postgresql", Form::Procedures, LinesForm::Lists), None);
        assert_eq!(found("sqlserver", Form::Statements, LinesForm::Lists), None);
        let refused = [
            ("postgresql", Form::Procedures, "postgresql takes no table of lines; use \"lists\", or choose sqlserver"),
            ("sqlite", Form::Statements, "sqlite takes no table of lines; use \"lists\", or choose sqlserver"),
            (
                "sqlserver",
                Form::Statements,
                "only procedures take a table of lines; set workload.form = \"procedures\", or use \"lists\"",
            ),
        ];
        for (engine, form, expected) in refused {
            assert_eq!(found(engine, form, LinesForm::Table).as_deref(), Some(expected));
        }
    }
}

//! TPROC-C as a workload: its place in the list of workloads.

use super::departures;
use super::dialect::Dialect;
use super::procedures;
use super::settings::{
    Form, LinesForm, NAME, SETTINGS, TproccSettings, all_sessions, division_contradictions, pacing_contradictions,
};
use super::workload_run::TproccRun;
use crate::selftest::SelftestPart;
use crate::workload::{RunRequest, Workload, WorkloadRun};
use proofload_gen::tprocc::Departures;
use proofload_model::catalogue::{Contradiction, WorkloadFacts};
use proofload_model::error::Error;
use proofload_model::settings::{Settings, setting};
use proofload_model::units::Bytes;
use std::sync::Arc;

/// TPROC-C: derived from TPC-C; its results are not TPC results.
#[derive(Debug)]
pub struct Tprocc;

/// The dialect of the engine that settings name; `None` when there is no such engine or no dialect for it.
fn dialect(settings: &Settings) -> Option<Dialect> {
    let departures = departures::profile(settings).map_or(Departures::NONE, |profile| profile.departures);
    Dialect::of(proofload_engine::engine(settings.text(setting::ENGINE_KIND).ok()?)?, departures).ok()
}

/// The contradiction of an engine with SQL that this workload has no statements for.
fn without_statements(settings: &Settings) -> Option<Contradiction> {
    let engine = proofload_engine::engine(settings.text(setting::ENGINE_KIND).ok()?)?;
    let error = Dialect::of(engine, Departures::NONE).err().filter(|_| engine.facts().capabilities.sql)?;
    Some(Contradiction::new(setting::ENGINE_KIND, error.to_string()))
}

/// Contradictions: an engine without statements or procedures for it, or without a table of lines; settings of pacing.
fn contradictions(settings: &Settings) -> Vec<Contradiction> {
    if let Some(engine) = without_statements(settings) {
        return vec![engine];
    }
    let form = settings.text(setting::WORKLOAD_FORM).map(Form::of_name);
    let fault = dialect(settings).and_then(|dialect| {
        let form = form.ok()?;
        let lines = LinesForm::of(settings);
        procedures::lacking(&dialect, form).or_else(|| procedures::lines_contradiction(&dialect, form, lines))
    });
    let of_settings = pacing_contradictions(settings).into_iter().chain(division_contradictions(settings));
    fault.into_iter().chain(of_settings).chain(departures::contradictions(settings)).collect()
}

/// The procedures' version for the label of the data, so that a snapshot with other procedures is not taken for this
/// one.
fn procedures_label(settings: &Settings) -> String {
    let version = dialect(settings).and_then(|dialect| procedures::version_of_all(&dialect).ok()?);
    version.map(|version| format!(", procedures {version}")).unwrap_or_default()
}

impl Workload for Tprocc {
    fn facts(&self) -> WorkloadFacts {
        WorkloadFacts {
            name: NAME,
            title: "OLTP: order entry of wholesale suppliers, derived from TPC-C",
            settings: SETTINGS,
            needs_sql: true,
            operations: || super::user::KINDS,
            contradictions,
            raw_bytes,
        }
    }

    fn sessions(&self, settings: &Settings) -> u32 {
        all_sessions(settings).unwrap_or(1)
    }

    fn data_label(&self, settings: &Settings, seed: u64) -> String {
        match TproccSettings::read(settings) {
            Ok(read) => read.label(seed) + &procedures_label(settings),
            Err(error) => format!("{NAME} with invalid settings: {error}"),
        }
    }

    fn selftest(&self) -> &'static [SelftestPart] {
        super::selftest::PARTS
    }

    fn open(&self, request: RunRequest) -> Result<Arc<dyn WorkloadRun>, Error> {
        Ok(Arc::new(TproccRun::new(request)?))
    }
}

/// Size of the rows, without indexes; 0 for faulty settings.
fn raw_bytes(settings: &Settings) -> Bytes {
    TproccSettings::read(settings).map(|settings| settings.expected_bytes()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::settings::Value;

    fn check(engine: &str, form: &str, expected: &[&str]) {
        let given = [("engine.kind", engine), ("workload.form", form)];
        let settings = given.map(|(path, value)| (path.to_owned(), Value::Text(value.to_owned())));
        let mut found = contradictions(&Settings(settings.into_iter().collect()));
        found.retain(|contradiction| contradiction.setting != "workload.virtual_users");
        assert!(found.iter().all(|contradiction| contradiction.setting == "workload.form"));
        assert_eq!(found.iter().map(|contradiction| contradiction.reason.as_str()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_table_of_lines_is_refused_where_nothing_takes_it() {
        let found = |engine: &str, form: &str| {
            let given = [("engine.kind", engine), ("workload.form", form), ("workload.lines", "table")];
            let settings = given.map(|(path, value)| (path.to_owned(), Value::Text(value.to_owned())));
            let found = contradictions(&Settings(settings.into_iter().collect()));
            found
                .into_iter()
                .map(|found| found.setting)
                .filter(|path| *path != "workload.virtual_users")
                .collect::<Vec<_>>()
        };
        assert_eq!(found("sqlserver", "procedures"), [""; 0]);
        assert_eq!(found("sqlserver", "statements"), ["workload.lines"]);
        assert_eq!(found("mariadb", "procedures"), ["workload.lines"]);
        // The form is the first thing to change.
        assert_eq!(found("sqlite", "procedures"), ["workload.form"]);
    }

    #[test]
    fn procedures_need_an_engine_that_has_them() {
        check("postgresql", "procedures", &[]);
        check("postgresql", "statements", &[]);
        check("mariadb", "procedures", &[]);
        check("mysql", "procedures", &[]);
        check("sqlite", "statements", &[]);
        check(
            "sqlite",
            "procedures",
            &[
                "sqlite has no procedures for tprocc; use \"statements\", or choose mariadb or mysql or postgresql or sqlserver",
            ],
        );
        check(
            "null",
            "procedures",
            &[
                "null has no procedures for tprocc; use \"statements\", or choose mariadb or mysql or postgresql or sqlserver",
            ],
        );
        // The need of SQL sessions is told already.
        check("mongodb", "procedures", &[]);
    }
}

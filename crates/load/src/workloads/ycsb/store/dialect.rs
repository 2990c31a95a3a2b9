//! How the workload speaks to each engine: the files of its statements, or documents, and how many sessions load at a time.
//! May not contain SQL.

use super::template::{self, Files};
use crate::workloads::suite::{Suite, SuiteFile};
use crate::workloads::ycsb::settings::{Form, YcsbSettings};
use proofload_engine::Engine;
use proofload_model::error::Error;

/// How to speak to one engine.
#[derive(Debug)]
pub(in crate::workloads::ycsb) struct Dialect {
    /// The statements; none for sessions of documents.
    pub(super) suite: Option<Suite>,
    /// Settings that hold during the load only.
    pub(in crate::workloads::ycsb) build_settings: &'static [(&'static str, &'static str)],
    /// Sessions that load at the same time, unless the study says otherwise.
    pub(in crate::workloads::ycsb) loaders: usize,
}

/// The files of one dialect.
macro_rules! files {
    ($dialect:literal) => {
        Files {
            record: files!($dialect, "record"),
            field: files!($dialect, "field"),
            manifest: files!($dialect, "manifest"),
        }
    };
    ($dialect:literal, $file:literal) => {
        SuiteFile {
            path: concat!("suites/ycsb/", $dialect, "/", $file, ".sql"),
            text: include_str!(concat!("../../../../../../suites/ycsb/", $dialect, "/", $file, ".sql")),
        }
    };
}

/// Columns on embedded SQLite.
const SQLITE: Files = files!("sqlite");

/// Columns on PostgreSQL.
const POSTGRESQL: Files = files!("postgresql");

/// jsonb on PostgreSQL.
const POSTGRESQL_JSON: Files = files!("postgresql-json");

/// A function of PostgreSQL takes 100 arguments, two for each field of a document that it builds.
const MOST_JSON_FIELDS: u16 = 50;

impl Dialect {
    /// The dialect of an engine for these settings; the error names what there is.
    pub(in crate::workloads::ycsb) fn of(engine: &dyn Engine, settings: &YcsbSettings) -> Result<Self, Error> {
        let facts = engine.facts();
        let fields = settings.shape.fields;
        if settings.form == Form::Json && fields > MOST_JSON_FIELDS {
            return Err(Error::new(format!(
                "workload.form = \"json\" takes at most {MOST_JSON_FIELDS} fields, and workload.fields is {fields}"
            )));
        }
        match (facts.name, settings.form) {
            // One writer at a time; nothing of a load need survive a crash of the machine, the settling at its end syncs.
            ("sqlite", Form::Columns) => Self::sql(&SQLITE, fields, &[("synchronous", "OFF")], 1),
            ("postgresql", Form::Columns) => Self::sql(&POSTGRESQL, fields, &[], 4),
            ("postgresql", Form::Json) => Self::sql(&POSTGRESQL_JSON, fields, &[], 4),
            (name, Form::Json) => Err(Error::new(format!(
                "workload.form = \"json\" is for PostgreSQL's jsonb; {name} has \"columns\" (documents are what they are)"
            ))),
            _ if facts.capabilities.documents => Ok(Self { suite: None, build_settings: &[], loaders: 4 }),
            (name, Form::Columns) => Err(Error::new(format!(
                "the workload ycsb has no SQL for the engine {name}; it has suites/ycsb/sqlite and suites/ycsb/postgresql"
            ))),
        }
    }

    fn sql(
        files: &Files,
        fields: u16,
        build_settings: &'static [(&'static str, &'static str)],
        loaders: usize,
    ) -> Result<Self, Error> {
        Ok(Self { suite: Some(template::suite(files, fields)?), build_settings, loaders })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_of_each_engine_are_these() {
        let hash = |files: &Files| template::suite(files, 10).unwrap().hash();
        assert_eq!([hash(&SQLITE), hash(&POSTGRESQL), hash(&POSTGRESQL_JSON)], [2_205_902_837_208_875_884, 18_115_255_813_564_878_788, 993_278_163_550_555_340]);
    }
}

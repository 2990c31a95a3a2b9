//! How the workload speaks to each engine: the texts of its statements, or documents, and how many sessions load at a
//! time. May not contain SQL, and may not know an engine by name.

use super::template;
use crate::workloads::dialect::{BuildSteps, Suites};
use crate::workloads::suite::Suite;
use crate::workloads::ycsb::settings::{Form, NAME};
use proofload_engine::Engine;
use proofload_model::error::Error;

/// The suites of this workload. A dialect names the folder of another form of its records; a form may have a limit of
/// fields.
const SUITES: Suites = Suites { workload: NAME, keys: &["forms.*", "most_fields"] };

/// Sessions of documents that load at the same time, unless the study says otherwise.
const DOCUMENT_LOADERS: usize = 4;

/// How to speak to one engine.
#[derive(Debug)]
pub(crate) struct StoreDialect {
    /// The statements; `None` for sessions of documents.
    pub(super) suite: Option<Suite>,
    /// How records lie in the table.
    pub(super) form: Form,
    /// Settings that hold during the load only.
    pub(crate) build_settings: Vec<(String, String)>,
    /// Sessions that load at the same time, unless the study says otherwise.
    pub(crate) loaders: usize,
    /// How the steps of a load are put together; `None` for sessions of documents.
    pub(super) steps: Option<BuildSteps>,
}

impl StoreDialect {
    /// The dialect of an engine for records of a form with so many fields; the error names what there is.
    pub(crate) fn of(engine: &dyn Engine, form: Form, fields: u16) -> Result<Self, Error> {
        let facts = engine.facts();
        let by_sql = SUITES.names().any(|name| name == facts.name);
        match form {
            Form::Columns if facts.capabilities.documents && !by_sql => {
                Ok(Self { suite: None, form, build_settings: Vec::new(), loaders: DOCUMENT_LOADERS, steps: None })
            }
            Form::Columns => Self::sql(facts.name, form, fields),
            Form::Json => match folder(facts.name, form)? {
                Some(folder) => Self::sql(folder, form, fields),
                None => Err(Error::new(format!(
                    "workload.form = \"{}\" is for {}; {} supports \"columns\" (documents have no choice)",
                    form.word(),
                    with_form(form).join(", "),
                    facts.name
                ))),
            },
        }
    }

    /// Whether several statements can be one transaction.
    pub(crate) fn has_transactions(&self) -> bool {
        self.suite.is_some()
    }

    fn sql(name: &str, form: Form, fields: u16) -> Result<Self, Error> {
        let dialect = SUITES.dialect(name)?;
        if let Some(most) = dialect.description.count("most_fields")?.filter(|most| u32::from(fields) > *most) {
            return Err(Error::new(format!(
                "workload.form = \"{}\" takes at most {most} fields, but workload.fields is {fields}",
                form.word()
            )));
        }
        let suite = Some(template::suite(&dialect, fields)?);
        let steps = Some(dialect.steps);
        Ok(Self { suite, form, build_settings: dialect.build_settings, loaders: dialect.loaders, steps })
    }
}

/// The folder of an engine's texts for a form; `None` where it does not have that form.
fn folder(engine: &str, form: Form) -> Result<Option<&'static str>, Error> {
    if !SUITES.names().any(|name| name == engine) {
        return Ok(None);
    }
    let dialect = SUITES.dialect(engine)?;
    let forms = dialect.description.table("forms")?;
    let named = forms.iter().find(|(word, _)| *word == form.word()).map(|(_, folder)| *folder);
    Ok(named.and_then(|folder| SUITES.names().find(|name| *name == folder)))
}

/// Engines whose records may have a form.
fn with_form(form: Form) -> Vec<&'static str> {
    SUITES.names().filter(|name| folder(name, form).is_ok_and(|folder| folder.is_some())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialect(engine: &str, form: Form, fields: u16) -> Result<StoreDialect, String> {
        StoreDialect::of(proofload_engine::engine(engine).unwrap(), form, fields).map_err(|error| error.to_string())
    }

    #[test]
    fn statements_of_each_engine_are_these() {
        let hash = |(engine, form)| dialect(engine, form, 10).unwrap().suite.unwrap().hash();
        assert_eq!(
            [
                ("sqlite", Form::Columns),
                ("postgresql", Form::Columns),
                ("postgresql", Form::Json),
                ("mariadb", Form::Columns),
                ("mariadb", Form::Json),
                ("mysql", Form::Columns),
                ("mysql", Form::Json)
            ]
            .map(hash),
            [
                2_205_902_837_208_875_884,
                18_115_255_813_564_878_788,
                993_278_163_550_555_340,
                10_882_180_236_154_615_572,
                14_451_608_941_412_900_605,
                10_882_180_236_154_615_572,
                6_879_986_779_153_723_693
            ]
        );
    }

    /// A mistyped name of a statement, or a missing one, would be met by the first load only.
    #[test]
    fn all_dialects_have_the_same_statements_of_the_same_shape() {
        let shapes = |name: &'static str| {
            let suite = template::suite(&SUITES.dialect(name).unwrap(), 2).unwrap();
            let shape = |name| suite.statement(name).map(|one| (one.parameters.clone(), one.columns)).unwrap();
            suite.names().map(|name| (name.to_owned(), shape(name))).collect::<Vec<_>>()
        };
        let all: Vec<_> = SUITES.names().map(|name| (name, shapes(name))).collect();
        assert!(all.len() > 2 && all[0].1.len() > 10);
        all.iter().for_each(|(name, shapes)| assert_eq!(*shapes, all[0].1, "{name}"));
    }

    #[test]
    fn what_an_engine_does_not_have_is_refused_with_those_that_have_it() {
        let json = |engine| dialect(engine, Form::Json, 10).unwrap_err();
        let expected = "workload.form = \"json\" is for mariadb, mysql, postgresql, sqlserver; sqlite supports \"columns\" (documents have no choice)";
        assert_eq!(json("sqlite"), expected);
        assert_eq!(json("null"), expected.replace("sqlite", "null"));
        let fields = dialect("postgresql", Form::Json, 51).unwrap_err();
        assert_eq!(fields, "workload.form = \"json\" takes at most 50 fields, but workload.fields is 51");
        assert!(dialect("null", Form::Columns, 51).unwrap().suite.is_none());
        let none = dialect("duckdb", Form::Columns, 10).unwrap_err();
        assert!(none.starts_with("the workload ycsb does not support the engine duckdb; it supports "), "{none}");
        assert!(none.ends_with("postgresql, sqlite, sqlserver"), "{none}");
    }
}

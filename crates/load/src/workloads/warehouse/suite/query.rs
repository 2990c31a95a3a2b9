//! A query: its header and its text in one dialect. The header stands in the file of the folder `standard`; lines of it
//! begin with `-- title:`, `-- class:`, `-- parameter:`, `-- column:` and `-- order:`. Other comments are for people.

use super::files::file;
use super::lists::Lists;
use super::parameters::{self, Draw, Parameter};
use crate::workloads::dialect::STANDARD;
use crate::workloads::suite::SuiteFile;
use proofload_model::error::Error;

/// How much a query asks of an engine, as declared; what it costs is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// One scan of a large table, aggregated.
    Simple,
    /// Two to four joins, selective, grouped.
    Average,
    /// Many joins, correlated, negated, or large aggregates.
    Complex,
}

impl Class {
    /// All classes.
    pub(crate) const ALL: [Self; 3] = [Self::Simple, Self::Average, Self::Complex];

    /// The word in headers.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Average => "average",
            Self::Complex => "complex",
        }
    }

    /// The class of a query, by its header.
    pub(crate) fn of_query(name: &str) -> Result<Self, Error> {
        let path = format!("{STANDARD}/{name}.sql");
        let lines = file(&path).unwrap_or_default().lines();
        let word = lines.filter_map(|line| line.strip_prefix("-- class:")).map(str::trim).next().unwrap_or_default();
        let class = Self::ALL.into_iter().find(|class| class.word() == word);
        class.ok_or_else(|| Error::new(format!("suites/warehouse/{path}: {word:?} is no class")))
    }
}

/// How a column of an answer is written and compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exactness {
    /// Text, without trailing blanks, equal.
    Text,
    /// A whole number, equal.
    Integer,
    /// A date, equal.
    Date,
    /// A decimal as stored, equal.
    Decimal,
    /// A sum, two digits after the point, off by one hundredth at most.
    Sum,
    /// An average, likewise.
    Average,
    /// A ratio, four digits after the point, off by one of the last at most.
    Ratio,
}

/// A column of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResultColumn {
    pub(crate) name: String,
    pub(crate) exactness: Exactness,
    /// Digits after the point that an integer stands for where an engine has no decimals.
    pub(crate) scale: u8,
}

/// A query in one dialect.
#[derive(Debug)]
pub(crate) struct Query {
    /// Name, such as `q01`.
    pub(crate) name: &'static str,
    /// What it asks, in words.
    pub(crate) title: String,
    pub(crate) class: Class,
    pub(crate) columns: Vec<ResultColumn>,
    /// Places of the columns that order the rows; rows that agree in them come in any order.
    pub(crate) order: Vec<usize>,
    parameters: Vec<Parameter>,
    text: String,
}

impl Query {
    /// Reads header and text; errors name the file and what is wrong.
    pub(super) fn read(name: &'static str, header: SuiteFile<'_>, body: SuiteFile<'_>) -> Result<Self, Error> {
        let wrong = |what: String| Error::new(format!("{}: {what}", header.path));
        let lines = |key: &str| {
            let begin = format!("-- {key}:");
            header.text.lines().filter_map(move |line| line.strip_prefix(&begin).map(str::trim)).collect::<Vec<_>>()
        };
        let one = |key: &str| match lines(key).as_slice() {
            [value] => Ok((*value).to_owned()),
            found => Err(wrong(format!("{} lines \"-- {key}:\" where one must be", found.len()))),
        };
        let word = one("class")?;
        let class = Class::ALL.into_iter().find(|class| class.word() == word);
        let parameter = |line: &str| Parameter::read(line).ok_or_else(|| wrong(format!("the parameter {line:?}")));
        let column = |line: &str| ResultColumn::read(line).ok_or_else(|| wrong(format!("the column {line:?}")));
        let columns: Vec<_> = lines("column").into_iter().map(column).collect::<Result<_, _>>()?;
        let place = |name: &str| {
            columns
                .iter()
                .position(|known| known.name == name)
                .ok_or_else(|| wrong(format!("it orders by {name}, which is no column")))
        };
        let ordering = lines("order").join(",");
        let order = ordering.split(',').map(str::trim).filter(|name| !name.is_empty()).map(place);
        let order = order.collect::<Result<_, _>>()?;
        let text: Vec<&str> = body.text.lines().filter(|line| !line.trim_start().starts_with("--")).collect();
        let query = Self {
            name,
            title: one("title")?,
            class: class.ok_or_else(|| wrong(format!("{word:?} is no class")))?,
            order,
            parameters: lines("parameter").into_iter().map(parameter).collect::<Result<_, _>>()?,
            text: text.join("\n").trim().to_owned(),
            columns,
        };
        query.check().map_err(|what| Error::new(what).context(body.path))?;
        Ok(query)
    }

    /// Fails unless each parameter is used, and each name in braces is a parameter.
    fn check(&self) -> Result<(), String> {
        if self.text.is_empty() || self.columns.is_empty() {
            return Err("a query needs a text and columns".to_owned());
        }
        let mut used = Vec::new();
        for part in self.text.split('{').skip(1) {
            let (name, _) = part.split_once('}').ok_or("a brace is not closed")?;
            used.push(name);
        }
        let known = |name: &&str| self.parameters.iter().any(|parameter| parameter.name == **name);
        if let Some(name) = used.iter().find(|name| !known(name)) {
            return Err(format!("{{{name}}} is no parameter"));
        }
        let unused = self.parameters.iter().find(|parameter| !used.contains(&parameter.name.as_str()));
        unused.map_or(Ok(()), |parameter| Err(format!("the parameter {} is not used", parameter.name)))
    }

    /// The SQL with values in the place of parameters.
    pub(super) fn sql(&self, draw: Draw, scale: f64, lists: &Lists) -> Result<String, Error> {
        let values = parameters::values(&self.parameters, draw, scale, lists)?;
        Ok(values.iter().fold(self.text.clone(), |sql, (name, value)| sql.replace(&format!("{{{name}}}"), value)))
    }
}

impl ResultColumn {
    /// Reads `name kind` or `name kind digits`.
    fn read(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let (name, kind) = (words.next()?.to_owned(), words.next()?);
        let scale = words.next().map_or(Some(0), |digits| digits.parse().ok().filter(|digits| *digits <= 18))?;
        let exactness = match kind {
            "text" => Exactness::Text,
            "integer" => Exactness::Integer,
            "date" => Exactness::Date,
            "decimal" => Exactness::Decimal,
            "sum" => Exactness::Sum,
            "average" => Exactness::Average,
            "ratio" => Exactness::Ratio,
            _ => return None,
        };
        words.next().is_none().then_some(Self { name, exactness, scale })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str =
        "-- title: t\n-- class: simple\n-- parameter: a = 1 from integer 1 to 2\n-- column: x integer\n";

    #[track_caller]
    fn check_error(header: &str, body: &str, words: &str) {
        let file = |path, text| SuiteFile { path, text };
        let error = Query::read("q", file("h.sql", header), file("b.sql", body)).expect_err("it is wrong").to_string();
        assert!(error.contains(words), "{error}");
    }

    #[test]
    fn faults_of_a_file_are_named() {
        check_error(HEADER, "SELECT {b}", "b.sql: {b} is no parameter");
        check_error(HEADER, "SELECT 1", "b.sql: the parameter a is not used");
        check_error(HEADER, "SELECT {a", "b.sql: a brace is not closed");
        check_error(&HEADER.replace("simple", "easy"), "SELECT {a}", "\"easy\" is no class");
        check_error(&HEADER.replace("integer 1 to 2", "anything"), "SELECT {a}", "the parameter");
        check_error(&HEADER.replace("x integer", "x float"), "SELECT {a}", "the column");
        check_error(&(HEADER.to_owned() + "-- order: y\n"), "SELECT {a}", "orders by y");
        check_error("", "SELECT 1", "0 lines \"-- class:\"");
    }
}

//! Reads suites: SQL as data, in files of named statements. Errors name file and line.
//!
//! A statement begins with a line `-- name: pay(w_id, amount) columns=6`: its name, its parameters in the order in
//! which calls bind them, and the number of columns of each returned row (0 if left out). Its text follows up to the
//! next such line, with `:name` where a parameter stands. Other lines that begin with `--` are for people. A line that
//! ends in `-- under 4` or `-- not under 4` stands only in a suite in which what it names, here 4, is on or off. May
//! not know what a statement means.

use proofload_engine::{Statement, Value};
use proofload_model::error::Error;
use std::collections::BTreeMap;

/// One file of a suite: its path, for errors, and its text.
#[derive(Debug, Clone, Copy)]
pub struct SuiteFile<'a> {
    /// Path below the repository.
    pub path: &'a str,
    /// Whole text.
    pub text: &'a str,
}

impl SuiteFile<'_> {
    /// The last part of the path.
    fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }
}

/// Drops conditional lines whose condition is false, and strips the marks from the rest. A line with several marks,
/// separated by commas, needs all of them.
pub fn chosen_lines(text: &str, is_on: impl Fn(&str) -> bool) -> String {
    let holds = |condition: &str| match condition.trim().strip_prefix("not under ") {
        Some(name) => !is_on(name.trim()),
        None => condition.trim().strip_prefix("under ").is_some_and(|name| is_on(name.trim())),
    };
    let mut chosen = String::with_capacity(text.len());
    for line in text.lines() {
        let marked =
            line.rsplit_once("-- ").filter(|(_, mark)| mark.starts_with("under ") || mark.starts_with("not under "));
        match marked {
            Some((_, mark)) if !mark.split(',').all(holds) => continue,
            Some((line, _)) => chosen.push_str(line.trim_end()),
            None => chosen.push_str(line),
        }
        chosen.push('\n');
    }
    chosen
}

/// The statements of a suite, by name.
#[derive(Debug, Clone, Default)]
pub struct Suite {
    statements: BTreeMap<String, Statement>,
    files: Vec<(String, Vec<String>)>,
}

impl Suite {
    /// Reads files. A file that has the name of an earlier one in another folder replaces statements of it and adds to
    /// them. Fails on what is not understood, on other names that occur twice, and on parameters that are listed but
    /// not used or used but not listed.
    pub fn read(files: &[SuiteFile<'_>]) -> Result<Self, Error> {
        let mut suite = Self::default();
        for file in files {
            suite.read_file(file)?;
        }
        Ok(suite)
    }

    /// The statement of this name.
    pub fn statement(&self, name: &str) -> Result<&Statement, Error> {
        self.statements.get(name).ok_or_else(|| Error::new(format!("the suite has no statement {name:?}")))
    }

    /// The statement of this name, where a suite need not have it.
    pub fn find(&self, name: &str) -> Option<&Statement> {
        self.statements.get(name)
    }

    /// The SQL of this name, where every parameter is replaced by its value: for work outside the hot path. Numbers,
    /// times and decimals stand as integers, texts are quoted, lists as PostgreSQL writes arrays.
    pub fn with_values(&self, name: &str, values: &[(&str, Value<'_>)]) -> Result<String, Error> {
        let statement = self.statement(name)?;
        let mut sql = String::with_capacity(statement.sql.len());
        let mut rest = statement.sql.as_str();
        while let Some((before, parameter, after)) = next_parameter(rest) {
            let value = values.iter().find(|(known, _)| *known == parameter);
            let (_, value) = value.ok_or_else(|| Error::new(format!("statement {name}: :{parameter} has no value")))?;
            sql.push_str(before);
            sql.push_str(&literal(*value));
            rest = after;
        }
        sql.push_str(rest);
        Ok(sql)
    }

    /// Names of all statements, in order.
    #[cfg(test)]
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.statements.keys().map(String::as_str)
    }

    /// A hash of all that is sent: each statement with its parameters and columns, and the order of those of which the
    /// order counts. FNV-1a of 64 bits.
    #[cfg(test)]
    pub(crate) fn hash(&self) -> u64 {
        let mut text = String::new();
        for Statement { name, sql, parameters, columns } in self.statements.values() {
            text.push_str(&format!("{name}({}) {columns}\n{sql}\n", parameters.join(",")));
        }
        let in_order = ["indexes.sql", "procedures.sql"].map(|file| self.names_in(file).join(","));
        hash(&(text + &in_order.join(";")))
    }

    /// Names of the statements of the files of this name, in their order: those that a later file adds come last.
    pub fn names_in(&self, file: &str) -> &[String] {
        self.files.iter().find(|(name, _)| name == file).map_or(&[], |(_, names)| names)
    }

    fn read_file(&mut self, file: &SuiteFile<'_>) -> Result<(), Error> {
        let mut names = Vec::new();
        let mut open: Option<(usize, Statement)> = None;
        for (index, line) in file.text.lines().enumerate() {
            let trimmed = line.trim();
            if let Some(header) = trimmed.strip_prefix("-- name:") {
                self.close(file, open.take(), &mut names)?;
                open = Some((index + 1, read_header(header).map_err(|text| wrong(file, index + 1, &text))?));
            } else if trimmed.is_empty() || trimmed.starts_with("--") {
                continue;
            } else if let Some((_, statement)) = &mut open {
                statement.sql.push_str(line);
                statement.sql.push('\n');
            } else {
                return Err(wrong(file, index + 1, "SQL is not allowed before the first line \"-- name: …\""));
            }
        }
        self.close(file, open, &mut names)?;
        match self.files.iter_mut().find(|(name, _)| name == file.name()) {
            Some((_, earlier)) => {
                names.retain(|name| !earlier.contains(name));
                earlier.append(&mut names);
            }
            None => self.files.push((file.name().to_owned(), names)),
        }
        Ok(())
    }

    /// Checks a statement that has ended and keeps it.
    fn close(
        &mut self,
        file: &SuiteFile<'_>,
        open: Option<(usize, Statement)>,
        names: &mut Vec<String>,
    ) -> Result<(), Error> {
        let Some((line, mut statement)) = open else { return Ok(()) };
        let end = statement.sql.trim_end().trim_end_matches(';').len();
        statement.sql.truncate(end);
        check_statement(&statement).map_err(|text| wrong(file, line, &text))?;
        let name = statement.name.clone();
        let replaces = !names.contains(&name) && self.names_in(file.name()).contains(&name);
        if self.statements.insert(name.clone(), statement).is_some() && !replaces {
            return Err(wrong(file, line, &format!("statement {name:?} exists already")));
        }
        names.push(name);
        Ok(())
    }
}

/// Hash of a text, which tells texts apart that nobody chose to be alike: FNV-1a of 64 bits. Source: Fowler, Noll, Vo.
pub(crate) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

/// A value as SQL writes it.
fn literal(value: Value<'_>) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(number) | Value::Time(number) => number.to_string(),
        Value::Decimal(decimal) => decimal.units.to_string(),
        Value::Ascii(text) => literal(Value::Text(&String::from_utf8_lossy(text.0))),
        Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Value::Integers(list) => {
            format!("'{{{}}}'", list.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
        }
    }
}

/// An error at a line.
fn wrong(file: &SuiteFile<'_>, line: usize, text: &str) -> Error {
    Error::new(format!("{} line {line}: {text}", file.path))
}

/// Reads `name(a, b) columns=2`.
fn read_header(header: &str) -> Result<Statement, String> {
    let form = || format!("{:?} is not of the form \"name(first, second) columns=2\"", header.trim());
    let (name, rest) = header.split_once('(').ok_or_else(form)?;
    let (listed, rest) = rest.split_once(')').ok_or_else(form)?;
    let parameters: Vec<String> =
        listed.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect();
    let columns = match rest.trim() {
        "" => 0,
        given => given.strip_prefix("columns=").and_then(|number| number.parse().ok()).ok_or_else(form)?,
    };
    let name = name.trim();
    if !is_name(name) || !parameters.iter().all(|parameter| is_name(parameter)) {
        return Err(form());
    }
    Ok(Statement { name: name.to_owned(), sql: String::new(), parameters, columns })
}

/// Lower-case letters, digits and `_`, beginning with a letter.
fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_')
}

/// Fails unless the statement has a text and each parameter is listed and used.
fn check_statement(statement: &Statement) -> Result<(), String> {
    if statement.sql.is_empty() {
        return Err(format!("statement {} has no text", statement.name));
    }
    let mut used: Vec<&str> = Vec::new();
    let mut rest = statement.sql.as_str();
    while let Some((_, parameter, after)) = next_parameter(rest) {
        used.push(parameter);
        rest = after;
    }
    // A list that is empty belongs to a text whose numbers are put in by `with_values`.
    let listed = &statement.parameters;
    if let Some(name) = used.iter().find(|name| !listed.is_empty() && !listed.iter().any(|known| known == *name)) {
        return Err(format!("statement {} uses :{name}, which is not in its list", statement.name));
    }
    match listed.iter().find(|name| !used.contains(&name.as_str())) {
        Some(name) => Err(format!("statement {} lists {name} but does not use it", statement.name)),
        None => Ok(()),
    }
}

/// The text before the next parameter, its name, and the text after it. Passes over quoted text and casts (`::`).
fn next_parameter(sql: &str) -> Option<(&str, &str, &str)> {
    let bytes = sql.as_bytes();
    let mut place = 0;
    while place < bytes.len() {
        match bytes[place] {
            quote @ (b'\'' | b'"') => place += 2 + bytes[place + 1..].iter().position(|byte| *byte == quote)?,
            b':' if bytes.get(place + 1) == Some(&b':') => place += 2,
            b':' => {
                let name = &sql[place + 1..];
                let end =
                    name.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(name.len());
                return Some((&sql[..place], &name[..end], &name[end..]));
            }
            _ => place += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &'static str) -> Result<Suite, Error> {
        Suite::read(&[SuiteFile { path: "a.sql", text }])
    }

    fn check_error(text: &'static str, expected: &str) {
        assert_eq!(read(text).unwrap_err().to_string(), expected);
    }

    #[test]
    fn lines_stand_by_what_is_on() {
        let text = "-- name: a(x) -- under 4\n-- name: a(x, y) -- not under 4\nSELECT 1 -- a remark\nWHERE b -- under 4, not under 8\n";
        let lines = |on: &[&str]| chosen_lines(text, |name| on.contains(&name));
        assert_eq!(lines(&[]), "-- name: a(x, y)\nSELECT 1 -- a remark\n");
        assert_eq!(lines(&["4"]), "-- name: a(x)\nSELECT 1 -- a remark\nWHERE b\n");
        assert_eq!(lines(&["4", "8"]), "-- name: a(x)\nSELECT 1 -- a remark\n");
    }

    #[test]
    fn statements_have_names_parameters_and_widths() {
        let suite = read("-- About.\n\n-- name: pay(w_id, amount) columns=2\n-- why\nUPDATE w SET y = y + :amount\n  WHERE i = :w_id\nRETURNING a, ':b';\n\n-- name: clear()\nDELETE FROM w;\n").unwrap();
        let pay = suite.statement("pay").unwrap();
        assert_eq!(pay.sql, "UPDATE w SET y = y + :amount\n  WHERE i = :w_id\nRETURNING a, ':b'");
        assert_eq!((pay.parameters.join(","), pay.columns), ("w_id,amount".to_owned(), 2));
        assert_eq!(suite.statement("clear").unwrap().columns, 0);
        assert_eq!(suite.names_in("a.sql"), ["pay", "clear"]);
        assert!(suite.statement("none").is_err());
    }

    #[test]
    fn a_later_file_of_the_same_name_replaces_and_adds() {
        let file = |path, text| SuiteFile { path, text };
        let standard = file("standard/a.sql", "-- name: x()\nSELECT 1\n-- name: y()\nSELECT 2\n");
        let suite =
            Suite::read(&[standard, file("own/a.sql", "-- name: z()\nSELECT 3\n-- name: x()\nSELECT 4\n")]).unwrap();
        assert_eq!(suite.names_in("a.sql"), ["x", "y", "z"]);
        assert_eq!(
            ["x", "y", "z"].map(|name| suite.statement(name).unwrap().sql.as_str()),
            ["SELECT 4", "SELECT 2", "SELECT 3"]
        );
        let other = Suite::read(&[standard, file("own/b.sql", "-- name: x()\nSELECT 3\n")]).unwrap_err();
        assert_eq!(other.to_string(), "own/b.sql line 1: statement \"x\" exists already");
    }

    #[test]
    fn values_stand_where_parameters_stood() {
        let suite = read("-- name: few()\nSELECT :low::int, ':low' FROM t WHERE a BETWEEN :low AND :high").unwrap();
        let sql = suite.with_values("few", &[("low", Value::Integer(1)), ("high", Value::Text("it's"))]).unwrap();
        assert_eq!(sql, "SELECT 1::int, ':low' FROM t WHERE a BETWEEN 1 AND 'it''s'");
        assert!(suite.with_values("few", &[("low", Value::Integer(1))]).is_err());
    }

    #[test]
    fn faults_are_named_by_file_and_line() {
        check_error("\nSELECT 1", "a.sql line 2: SQL is not allowed before the first line \"-- name: …\"");
        check_error(
            "-- name: x columns=1\n",
            "a.sql line 1: \"x columns=1\" is not of the form \"name(first, second) columns=2\"",
        );
        check_error("-- name: x(a)\nSELECT :b", "a.sql line 1: statement x uses :b, which is not in its list");
        check_error("-- name: x(a)\nSELECT 1", "a.sql line 1: statement x lists a but does not use it");
        check_error("-- a\n-- name: x()\n;", "a.sql line 2: statement x has no text");
        check_error("-- name: x()\nSELECT 1\n-- name: x()\nSELECT 2", "a.sql line 3: statement \"x\" exists already");
    }
}

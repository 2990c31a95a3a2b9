//! A statement of a session: how it is called, its parameters' types, and its number at the server, which the first call gives.
//!
//! A comment `/* table lines */` before a parameter of a procedure's call says that this one and all behind it are lists, which are sent as one
//! table of the type `lines`: a row for each place in them, with the place from 1 in its first column.

use super::wire::{ParameterKind, Procedure, ServerConnection, TableParameter, declaration};
use crate::contract::{Error, ErrorClass, Flight, Statement, Value};
use crate::engines::parameters;

/// The most lists that are columns of one table.
const MOST_LISTS: usize = 8;

/// How a statement is called.
#[derive(Debug, Clone, PartialEq, Eq)]
enum CallForm {
    /// Text, once; then the number.
    Text(String),
    /// A procedure of the database, by its name in UTF-16.
    Procedure(Vec<u8>),
}

/// Lists that are sent as one table.
#[derive(Debug)]
struct TableOfLists {
    table: TableParameter,
    /// Parameters before the lists.
    before: usize,
}

impl TableOfLists {
    fn new(type_name: &str, before: usize, lists: usize) -> Result<Self, Error> {
        if lists > MOST_LISTS {
            return Err(Error::other(format!("{lists} lists as a table, where {MOST_LISTS} are the most")));
        }
        Ok(Self { table: TableParameter::new(type_name, lists as u16 + 1)?, before })
    }

    /// Adds the lists, which must be of one length.
    fn put<'a>(&self, values: impl Iterator<Item = Value<'a>>, connection: &mut ServerConnection) -> Result<(), Error> {
        let mut lists: [&[i32]; MOST_LISTS] = [&[]; MOST_LISTS];
        let mut rows = None;
        for (place, value) in values.enumerate() {
            match value {
                Value::Integers(list) if *rows.get_or_insert(list.len()) == list.len() => lists[place] = list,
                other => {
                    let text = format!("list {} of a table is {other:?}, not integers as many as in list 1", place + 1);
                    return Err(Error::new(ErrorClass::Data, "", text));
                }
            }
        }
        let value = |row: usize, column: usize| match column.checked_sub(1) {
            None => row as i32 + 1,
            Some(list) => lists[list][row],
        };
        connection.put_table(&self.table, rows.unwrap_or_default(), value);
        Ok(())
    }
}

/// A statement.
#[derive(Debug)]
pub(super) struct StatementEntry {
    pub(super) name: String,
    form: CallForm,
    /// Index in the call's list of each parameter of the server's form.
    order: Vec<usize>,
    kinds: Vec<ParameterKind>,
    /// Parameters that are sent as a table.
    table: Option<TableOfLists>,
    /// Its number at the server, for these types.
    pub(super) handle: Option<i32>,
    /// The number that types made useless.
    old_handle: Option<i32>,
    pub(super) parameters: usize,
    pub(super) columns: u16,
}

impl StatementEntry {
    /// Reads a statement.
    pub(super) fn new(statement: &Statement) -> Result<Self, Error> {
        let rewritten = parameters::variables(&statement.sql, &statement.parameters)?;
        let count = rewritten.order.len();
        let (form, table) = match procedure(&rewritten.sql, count) {
            Some((name, table)) => {
                let table = table.map(|(name, before)| TableOfLists::new(name, before, count - before)).transpose()?;
                (CallForm::Procedure(name.encode_utf16().flat_map(u16::to_le_bytes).collect()), table)
            }
            None => (CallForm::Text(rewritten.sql), None),
        };
        Ok(Self {
            name: statement.name.clone(),
            form,
            table,
            kinds: vec![ParameterKind::default(); rewritten.order.len()],
            order: rewritten.order,
            handle: None,
            old_handle: None,
            parameters: statement.parameters.len(),
            columns: statement.columns,
        })
    }

    /// The text, where it can be described before any value is known.
    pub(super) fn describable(&self) -> Option<&str> {
        match &self.form {
            CallForm::Text(sql) if self.order.is_empty() => Some(sql),
            _ => None,
        }
    }

    /// Queues call `index` of a flight. Tells whether it also has the server prepare the statement, so that nothing may follow.
    #[inline]
    pub(super) fn queue(
        &mut self,
        flight: &Flight,
        index: usize,
        is_first: bool,
        connection: &mut ServerConnection,
    ) -> Result<bool, Error> {
        let values = self.order.iter().map(|&place| flight.parameter(index, place));
        let mut prepares = false;
        match &self.form {
            CallForm::Procedure(name) => connection.begin_call(Procedure::Named(name), is_first),
            CallForm::Text(sql) => {
                let mut same = true;
                for (kind, value) in self.kinds.iter_mut().zip(values.clone()) {
                    let wanted = kind.with(value);
                    same &= wanted == *kind;
                    *kind = wanted;
                }
                if !same {
                    self.old_handle = self.handle.take().or(self.old_handle);
                }
                match self.handle {
                    Some(handle) => {
                        connection.begin_call(Procedure::Execute, is_first);
                        connection.put_handle(handle);
                    }
                    None => {
                        let declared = declaration(self.kinds.iter().copied(), connection);
                        connection.begin_call(Procedure::PrepareAndExecute, is_first);
                        connection.put_handle_wanted(self.old_handle.take());
                        connection.put_statement(&declared);
                        connection.put_statement(sql);
                        prepares = true;
                    }
                }
            }
        }
        let by_name = matches!(self.form, CallForm::Procedure(_));
        let alone = self.table.as_ref().map_or(self.kinds.len(), |table| table.before);
        for (kind, value) in self.kinds.iter().zip(values.clone()).take(alone) {
            // A procedure declares its own types; a value is sent as what it is.
            let kind = if by_name { ParameterKind::default().with(value) } else { *kind };
            connection.put(kind, value)?;
        }
        if let Some(table) = &self.table {
            table.put(values.skip(alone), connection)?;
        }
        Ok(prepares)
    }

    /// Queues the description of a statement without parameters.
    pub(super) fn queue_description(sql: &str, connection: &mut ServerConnection) -> Result<(), Error> {
        connection.begin_request();
        connection.begin_call(Procedure::Prepare, true);
        connection.put_handle_wanted(None);
        connection.put_statement("");
        connection.put_statement(sql);
        // The columns are wanted.
        connection.put(ParameterKind::Integer, Value::Integer(1))
    }
}

/// The type of a table, and the number of parameters before its lists.
type NamedTable<'a> = (&'a str, usize);

/// The name of the procedure that a statement calls with all its parameters in their order, and does nothing else; the table among them.
fn procedure(sql: &str, parameters: usize) -> Option<(&str, Option<NamedTable<'_>>)> {
    let (verb, rest) = sql.trim().split_once(char::is_whitespace)?;
    if !verb.eq_ignore_ascii_case("EXEC") && !verb.eq_ignore_ascii_case("EXECUTE") {
        return None;
    }
    let rest = rest.trim();
    let (name, given) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let is_name =
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.'));
    let (before, table, lists) = match given.split_once("/*") {
        Some((before, rest)) => {
            let (comment, lists) = rest.split_once("*/")?;
            (before, Some(comment.trim().strip_prefix("table ")?.trim()), lists)
        }
        None => (given, None, ""),
    };
    let parts = |given| str::split(given, ',').map(str::trim).filter(|part| !part.is_empty());
    let wanted = (1..=parameters).map(|number| format!("@p{number}"));
    let table = table.map(|name| (name, parts(before).count()));
    // A table has lists.
    let is_whole = table.is_none_or(|(_, before)| before < parameters);
    (is_name && is_whole && parts(before).chain(parts(lists)).eq(wanted)).then_some((name, table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_of_a_procedure_alone_is_made_by_its_name() {
        assert_eq!(procedure("EXEC pay @p1, @p2", 2), Some(("pay", None)));
        assert_eq!(procedure("execute dbo.pay\n  @p1,\n  @p2", 2), Some(("dbo.pay", None)));
        assert_eq!(procedure("EXEC pay", 0), Some(("pay", None)));
        assert_eq!(procedure("EXEC pay @p1, /* table lines */ @p2", 2), Some(("pay", Some(("lines", 1)))));
        assert_eq!(procedure("EXEC pay\n/* table dbo.lines */ @p1, @p2", 2), Some(("pay", Some(("dbo.lines", 0)))));
        for other in [
            "EXEC pay @p2, @p1",
            "EXEC pay @p1",
            "EXEC pay @p1, 5",
            "EXEC @p1 = pay @p2",
            "SELECT 1",
            "EXEC pay @p1, @p2; SELECT 1",
            "EXEC pay @p1, /* lines */ @p2",
            "EXEC pay @p1, @p2 /* table lines */",
            "EXEC pay @p2, /* table lines */ @p1",
        ] {
            assert_eq!(procedure(other, 2), None, "{other}");
        }
    }
}

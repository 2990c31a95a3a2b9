//! A statement of a session: how it is called, its parameters' types, and its number at the server, which the first call gives.

use super::wire::{ParameterKind, Procedure, ServerConnection, declaration};
use crate::contract::{Error, Flight, Statement, Value};
use crate::engines::parameters;

/// How a statement is called.
#[derive(Debug, Clone, PartialEq, Eq)]
enum CallForm {
    /// Text, once; then the number.
    Text(String),
    /// A procedure of the database, by its name in UTF-16.
    Procedure(Vec<u8>),
}

/// A statement.
#[derive(Debug)]
pub(super) struct StatementEntry {
    pub(super) name: String,
    form: CallForm,
    /// Index in the call's list of each parameter of the server's form.
    order: Vec<usize>,
    kinds: Vec<ParameterKind>,
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
        let form = match procedure(&rewritten.sql, rewritten.order.len()) {
            Some(name) => CallForm::Procedure(name.encode_utf16().flat_map(u16::to_le_bytes).collect()),
            None => CallForm::Text(rewritten.sql),
        };
        Ok(Self {
            name: statement.name.clone(),
            form,
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
        for (kind, value) in self.kinds.iter().zip(values) {
            // A procedure declares its own types; a value is sent as what it is.
            let kind = if by_name { ParameterKind::default().with(value) } else { *kind };
            connection.put(kind, value)?;
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

/// The name of the procedure that a statement calls with all its parameters in their order, and does nothing else.
fn procedure(sql: &str, parameters: usize) -> Option<&str> {
    let (verb, rest) = sql.trim().split_once(char::is_whitespace)?;
    if !verb.eq_ignore_ascii_case("EXEC") && !verb.eq_ignore_ascii_case("EXECUTE") {
        return None;
    }
    let rest = rest.trim();
    let (name, given) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let is_name =
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.'));
    let given = given.split(',').map(str::trim).filter(|part| !part.is_empty());
    let wanted = (1..=parameters).map(|number| format!("@p{number}"));
    (is_name && given.eq(wanted)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_of_a_procedure_alone_is_made_by_its_name() {
        assert_eq!(procedure("EXEC pay @p1, @p2", 2), Some("pay"));
        assert_eq!(procedure("execute dbo.pay\n  @p1,\n  @p2", 2), Some("dbo.pay"));
        assert_eq!(procedure("EXEC pay", 0), Some("pay"));
        for other in [
            "EXEC pay @p2, @p1",
            "EXEC pay @p1",
            "EXEC pay @p1, 5",
            "EXEC @p1 = pay @p2",
            "SELECT 1",
            "EXEC pay @p1, @p2; SELECT 1",
        ] {
            assert_eq!(procedure(other, 2), None, "{other}");
        }
    }
}

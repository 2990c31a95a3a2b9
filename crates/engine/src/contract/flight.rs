//! A flight: calls sent together, with their answers, in memory that is reused so that a transaction allocates nothing.
//!
//! May not know SQL. An engine that can pipeline sends all calls before it reads the first answer; one that cannot goes one by one.

use super::statement::{Control, StatementId};
use super::value::{AsciiText, Decimal, Value};
use std::borrow::Borrow;
use std::ops::Range;

/// What one call of a flight does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Transaction control.
    Control(Control),
    /// A prepared statement.
    Run(StatementId),
}

/// A value kept in a flight's arenas: two words, which are written and read as such. An enum would be copied in larger pieces than its tag was
/// written in, for which a processor waits.
#[derive(Debug, Clone, Copy)]
struct ArenaValue {
    /// The kind in the lowest byte; above it the scale of a decimal, or the start of a text or list.
    head: u64,
    /// The number, or the end of a text or list.
    body: u64,
}

/// Kinds of kept values.
const NULL: u64 = 0;
const INTEGER: u64 = 1;
const DECIMAL: u64 = 2;
const TIME: u64 = 3;
const TEXT: u64 = 4;
const INTEGERS: u64 = 5;

impl ArenaValue {
    #[inline]
    fn number(kind: u64, number: i64) -> Self {
        Self { head: kind, body: number.cast_unsigned() }
    }

    /// A piece of the texts or lists.
    #[inline]
    fn piece(kind: u64, start: usize, end: usize) -> Self {
        Self { head: kind | u64::from(place(start)) << 8, body: place(end).into() }
    }

    /// What stands above the kind.
    #[inline]
    fn detail(self) -> u64 {
        self.head >> 8
    }

    /// Where a piece of the texts or lists lies.
    #[inline]
    fn range(self) -> Range<usize> {
        self.detail() as usize..self.body as usize
    }
}

#[derive(Debug, Clone)]
struct CallEntry {
    action: Action,
    parameters: Range<u32>,
    answer: Answer,
}

/// What came back for one call: the rows' place in the arena and how many rows were touched.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    values: Range<u32>,
    width: u32,
    affected: u64,
}

impl Answer {
    /// Rows inserted, updated or deleted.
    #[inline]
    pub fn affected(&self) -> u64 {
        self.affected
    }
}

/// Calls sent together and their answers.
#[derive(Debug, Default)]
pub struct Flight {
    calls: Vec<CallEntry>,
    parameters: Vec<ArenaValue>,
    values: Vec<ArenaValue>,
    text: String,
    integers: Vec<i32>,
}

/// A value as it is kept; texts and lists go to their storage.
#[inline]
fn kept(text: &mut String, integers: &mut Vec<i32>, value: &Value<'_>) -> ArenaValue {
    match *value {
        Value::Null => ArenaValue::number(NULL, 0),
        Value::Integer(value) => ArenaValue::number(INTEGER, value),
        Value::Decimal(Decimal { units, scale }) => ArenaValue::number(DECIMAL | u64::from(scale) << 8, units),
        Value::Time(value) => ArenaValue::number(TIME, value),
        Value::Text(value) => kept_text(text, value),
        Value::Ascii(value) => kept_ascii(text, value),
        Value::Integers(list) => kept_list(integers, list),
    }
}

/// A text as it is kept. Apart, so that numbers, which most values are, are written in line.
#[inline(never)]
fn kept_text(text: &mut String, value: &str) -> ArenaValue {
    let start = text.len();
    text.push_str(value);
    ArenaValue::piece(TEXT, start, text.len())
}

/// A text of ASCII as it is kept: checked, and what is none is replaced. Rows of bulk loads have such texts, calls seldom.
#[cold]
fn kept_ascii(text: &mut String, value: AsciiText<'_>) -> ArenaValue {
    kept_text(text, &String::from_utf8_lossy(value.0))
}

/// A list as it is kept.
#[inline(never)]
fn kept_list(integers: &mut Vec<i32>, list: &[i32]) -> ArenaValue {
    let start = integers.len();
    integers.extend_from_slice(list);
    ArenaValue::piece(INTEGERS, start, integers.len())
}

/// A position in an arena.
#[inline]
fn place(position: usize) -> u32 {
    u32::try_from(position).expect("a flight holds less than 4 GiB")
}

impl Flight {
    /// An empty flight.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets calls and answers; keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.calls.clear();
        self.parameters.clear();
        self.values.clear();
        self.text.clear();
        self.integers.clear();
    }

    /// Adds transaction control; returns the call's place.
    #[inline]
    pub fn control(&mut self, control: Control) -> usize {
        self.add(Action::Control(control), [] as [Value<'_>; 0])
    }

    /// Adds a call of a prepared statement; returns its place.
    #[inline]
    pub fn call(&mut self, statement: StatementId, parameters: &[Value<'_>]) -> usize {
        self.add(Action::Run(statement), parameters.iter())
    }

    /// Adds a call of a prepared statement whose parameters come one by one; returns its place.
    #[inline]
    pub fn call_each<'v>(&mut self, statement: StatementId, parameters: impl IntoIterator<Item = Value<'v>>) -> usize {
        self.add(Action::Run(statement), parameters)
    }

    #[inline]
    fn add<'v, V: Borrow<Value<'v>>>(&mut self, action: Action, parameters: impl IntoIterator<Item = V>) -> usize {
        let Self { calls, parameters: all, text, integers, .. } = self;
        let start = place(all.len());
        all.extend(parameters.into_iter().map(|value| kept(text, integers, value.borrow())));
        calls.push(CallEntry { action, parameters: start..place(all.len()), answer: Answer::default() });
        calls.len() - 1
    }

    /// Number of calls.
    #[inline]
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Whether there are no calls.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// What call `index` does. For engines.
    #[inline]
    pub fn action(&self, index: usize) -> Action {
        self.calls[index].action
    }

    /// Number of parameters of call `index`. For engines.
    #[inline]
    pub fn parameter_count(&self, index: usize) -> usize {
        self.calls[index].parameters.len()
    }

    /// Parameter `position` of call `index`. For engines.
    #[inline]
    pub fn parameter(&self, index: usize, position: usize) -> Value<'_> {
        self.load(self.parameters[self.calls[index].parameters.start as usize + position])
    }

    /// Starts the answer of call `index`: rows of `width` values follow by [`Flight::answer_value`]. For engines.
    #[inline]
    pub fn start_answer(&mut self, index: usize, width: usize) {
        let start = place(self.values.len());
        self.calls[index].answer = Answer { values: start..start, width: place(width), affected: 0 };
    }

    /// Adds one value to the answer of call `index`, row by row. For engines.
    #[inline]
    pub fn answer_value(&mut self, index: usize, value: Value<'_>) {
        self.values.push(kept(&mut self.text, &mut self.integers, &value));
        self.calls[index].answer.values.end = place(self.values.len());
    }

    /// Adds `count` times one value to the answer of call `index`. For engines that make their answers up.
    #[inline]
    pub fn answer_repeated(&mut self, index: usize, value: Value<'_>, count: usize) {
        let value = kept(&mut self.text, &mut self.integers, &value);
        self.values.resize(self.values.len() + count, value);
        self.calls[index].answer.values.end = place(self.values.len());
    }

    /// Ends the answer of call `index`. For engines.
    #[inline]
    pub fn end_answer(&mut self, index: usize, affected: u64) {
        self.calls[index].answer.affected = affected;
    }

    /// The answer of call `index`.
    #[inline]
    pub fn answer(&self, index: usize) -> &Answer {
        &self.calls[index].answer
    }

    /// Number of rows of call `index`.
    #[inline]
    pub fn rows(&self, index: usize) -> usize {
        let answer = &self.calls[index].answer;
        if answer.width == 0 { 0 } else { answer.values.len() / answer.width as usize }
    }

    /// Row `row` of call `index`; `None` when there is no such row.
    #[inline]
    pub fn row(&self, index: usize, row: usize) -> Option<Row<'_>> {
        (row < self.rows(index)).then(|| {
            let answer = &self.calls[index].answer;
            Row {
                flight: self,
                start: answer.values.start as usize + row * answer.width as usize,
                width: answer.width as usize,
            }
        })
    }

    #[inline]
    fn load(&self, stored: ArenaValue) -> Value<'_> {
        match stored.head & 0xFF {
            INTEGER => Value::Integer(stored.body.cast_signed()),
            DECIMAL => Value::Decimal(Decimal { units: stored.body.cast_signed(), scale: stored.detail() as u8 }),
            TIME => Value::Time(stored.body.cast_signed()),
            TEXT => Value::Text(&self.text[stored.range()]),
            INTEGERS => Value::Integers(&self.integers[stored.range()]),
            _ => Value::Null,
        }
    }
}

/// One row of an answer.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    flight: &'a Flight,
    start: usize,
    width: usize,
}

impl<'a> Row<'a> {
    /// Number of columns.
    #[inline]
    pub fn width(&self) -> usize {
        self.width
    }

    /// The value of column `column`; null beyond the last.
    #[inline]
    pub fn value(&self, column: usize) -> Value<'a> {
        if column < self.width { self.flight.load(self.flight.values[self.start + column]) } else { Value::Null }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flight_gives_back_what_was_put_in_and_keeps_its_memory() {
        let mut flight = Flight::new();
        for _ in 0..2 {
            flight.clear();
            flight.control(Control::Begin);
            let call = flight.call(StatementId(3), &[Value::Integer(7), Value::Text("äb"), Value::Integers(&[1, -2])]);
            let none = flight.call(StatementId(4), &[Value::Integers(&[]), Value::Integers(&[3])]);
            flight.start_answer(call, 2);
            for value in [Value::Ascii(AsciiText(b"x")), Value::Null, Value::Text("yz"), Value::Time(5)] {
                flight.answer_value(call, value);
            }
            flight.end_answer(call, 2);
            flight.start_answer(none, 2);
            flight.answer_repeated(none, Value::Text("z"), 6);
            let last = flight.row(none, 2).map(|row| [row.value(0), row.value(1)]);
            assert_eq!((flight.rows(none), last), (3, Some([Value::Text("z"); 2])));
            assert_eq!(flight.parameter(call, 1), Value::Text("äb"));
            assert_eq!(flight.parameter(call, 2), Value::Integers(&[1, -2]));
            assert_eq!(
                [0, 1].map(|place| flight.parameter(none, place)),
                [Value::Integers(&[]), Value::Integers(&[3])]
            );
            assert_eq!(flight.rows(call), 2);
            let kept = [0, 1].map(|row| flight.row(call, row).unwrap().value(0));
            assert_eq!(kept, [Value::Text("x"), Value::Text("yz")]);
            assert!(flight.row(call, 2).is_none());
            assert!(flight.row(0, 0).is_none());
        }
    }
}

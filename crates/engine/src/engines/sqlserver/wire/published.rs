//! The byte examples of the protocol's document, read and written as it has them: the files in `published/`, named after their sections. Its
//! notice on intellectual property lets portions of it stand in implementations. Those of sections 4.1, 4.2, 4.7, 4.9 and 4.10 stand in the
//! tests of what they are about. Left out: 4.3, 4.5, 4.11, 4.13, 4.16, 4.20 and 4.21, whose messages are neither sent nor understood here,
//! and 4.17, which has a byte more than its packet and its own tokens say.

use super::bulk::{BulkTable, END};
use super::connection::put_headers;
use super::packet::{MessageKind, PacketReader, frame};
use super::parameters::ParameterKind;
use super::reading::{MessageReader, encode};
use super::rpc::{Procedure, put_procedure};
use super::table::TableParameter;
use super::tokens::{EndKind, EndToken, EnvironmentChange, MessageToken, Token, is_null, next};
use super::types::{BIT, Bytes, Collation, ColumnType, Content, Extent, INTN, NVARCHAR, take};
use super::values::{Scratch, value};
use crate::contract::{Column, ColumnKind, Table, Value};

const LOGIN_RESPONSE: &str = include_str!("published/4_04_login_response.hex");
const BATCH_REQUEST: &str = include_str!("published/4_06_batch_request.hex");
const CALL_REQUEST: &str = include_str!("published/4_08_call_request.hex");
const ROWS_IN_BULK: &str = include_str!("published/4_12_rows_in_bulk.hex");
const TABLE_REQUEST: &str = include_str!("published/4_14_table_request.hex");
const SPARSE_COLUMNS: &str = include_str!("published/4_15_sparse_columns.hex");
const SESSION_STATE: &str = include_str!("published/4_18_session_state.hex");

/// The collation of the examples.
const COLLATION: Collation = [0x09, 0x04, 0xD0, 0x00, 0x34];
/// Transaction of the examples' requests.
const TRANSACTION: u64 = u64::from_le_bytes([0, 0, 0, 0, 0, 0, 0, 1]);
/// Place of the number of requests in a request: the examples have none there, and the text of section 2.2.5.3.2 wants the one that it is.
const REQUESTS: usize = 26;
/// Bytes of a packet's head.
const HEAD: usize = 8;

/// The bytes of an example.
fn bytes(hex: &str) -> Vec<u8> {
    hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).expect("two digits")).collect()
}

/// What the packet of an answer holds.
pub(super) fn body(packet: &[u8]) -> Vec<u8> {
    let (mut reader, mut body) = (PacketReader::default(), Vec::new());
    reader.take(packet, &mut body).expect("a packet of an answer");
    assert_eq!(reader.ended(), 1, "it is whole");
    body
}

/// Every token of an answer, up to where it is cut.
pub(super) fn tokens<'a>(body: &'a [u8], columns: &mut Vec<ColumnType>) -> Vec<Token<'a>> {
    let (mut reading, mut flags, mut found) = (MessageReader { rest: body }, Vec::new(), Vec::new());
    while let Some(token) = next(&mut reading, columns, &mut flags).expect("tokens that are known") {
        found.push(token);
    }
    found
}

/// Reads all tokens, and of what is cut at any place the first of them.
fn check_tokens(body: &[u8], columns: &[ColumnType], check: impl Fn(&[Token<'_>])) {
    let whole = tokens(body, &mut columns.to_vec());
    check(&whole);
    for cut in 0..body.len() {
        let mut of_columns = columns.to_vec();
        let read = tokens(&body[..cut], &mut of_columns);
        assert!(read.len() < whole.len() && read[..] == whole[..read.len()], "cut at {cut}");
    }
}

fn end(more: bool, rows: Option<u64>) -> Token<'static> {
    Token::Done(EndToken { kind: EndKind::Statement, more, failed: false, stopped: false, rows })
}

/// A message of the server that is no error.
fn said(number: u32, state: u8, message: &str) -> MessageToken {
    let (message, procedure) = (message.to_owned(), String::new());
    MessageToken { number, state, severity: 0, message, procedure, line: 0 }
}

/// Section 4.4.
#[test]
fn the_answer_to_a_login_is_read() {
    check_tokens(&body(&bytes(LOGIN_RESPONSE)), &[], |found| {
        let [
            database,
            Token::Said { is_error: false, body: of_database },
            collation,
            language,
            size,
            Token::Said { is_error: false, body: of_language },
            proof,
            done,
        ] = found
        else {
            panic!("{found:?}");
        };
        assert_eq!([database, language], [&Token::Changed(EnvironmentChange::Other); 2]);
        assert_eq!(*collation, Token::Changed(EnvironmentChange::Collation(COLLATION)));
        assert_eq!(*size, Token::Changed(EnvironmentChange::PacketSize(4096)));
        assert_eq!((proof, done), (&Token::Passed, &end(false, None)));
        let words = [of_database, of_language].map(|body| MessageToken::read(body).expect("a whole message"));
        let expected = [
            said(5701, 2, "Changed database context to 'master'."),
            said(5703, 1, "Changed language setting to us_english."),
        ];
        assert_eq!(words, expected);
    });
}

/// Section 4.6.
#[test]
fn a_batch_is_the_published_one() {
    let mut message = Vec::new();
    put_headers(TRANSACTION, &mut message);
    encode("\nselect 'foo' as 'bar'\n        ", &mut message);
    let mut sent = Vec::new();
    frame(MessageKind::Batch, &message, 4096, &mut sent);
    let mut expected = bytes(BATCH_REQUEST);
    expected[REQUESTS] = 1;
    assert_eq!(sent, expected);
}

/// Section 4.8. Its parameter is the procedure's default for a `smallint`; ours are values, and `int`.
#[test]
fn a_call_is_the_published_one() {
    let (mut message, mut name) = (Vec::new(), Vec::new());
    put_headers(TRANSACTION, &mut message);
    encode("foo3", &mut name);
    put_procedure(Procedure::Named(&name), &mut message);
    ParameterKind::Integer.write(Value::Null, COLLATION, &mut message).expect("a null is an int");
    let mut sent = Vec::new();
    frame(MessageKind::Rpc, &message, 4096, &mut sent);
    let mut expected = bytes(CALL_REQUEST);
    (expected[REQUESTS], expected[43], expected[45]) = (1, 0, 4);
    assert_eq!(sent, expected);
}

/// Section 4.12: one column that may be null and may be written, one row.
#[test]
fn rows_in_bulk_are_the_published_ones() {
    let published = bytes(ROWS_IN_BULK);
    let (mut columns, mut flags) = (Vec::new(), Vec::new());
    let mut reading = MessageReader { rest: &published[HEAD..] };
    let mut token = || next(&mut reading, &mut columns, &mut flags).expect("tokens that are known");
    assert_eq!(
        [token(), token(), token(), token()],
        [Some(Token::Columns), Some(Token::Row(&[0])), Some(end(false, None)), None]
    );
    assert_eq!(columns.iter().map(|column| (column.id, column.content)).collect::<Vec<_>>(), [(BIT, Content::Bit)]);
    let column = [Column { name: "c1", kind: ColumnKind::Integer { bits: 16 } }];
    let table = Table { name: "t", columns: &column };
    let bulk = BulkTable { columns: columns.into_iter().zip(flags).collect() };
    let mut message = Vec::new();
    bulk.describe(&table, &mut message);
    bulk.put_row(&table, &[Value::Integer(0)], &mut message).expect("a bit");
    message.extend_from_slice(&END);
    let mut sent = Vec::new();
    frame(MessageKind::Bulk, &message, 4096, &mut sent);
    assert_eq!(sent, published);
}

/// Section 4.14. Its one column is a `tinyint`; ours are `int`, so that the value and the packet are three bytes longer. Its number of requests
/// stands in the order of bytes of no other example.
#[test]
fn a_call_with_a_table_is_the_published_one() {
    let (mut message, mut name) = (Vec::new(), Vec::new());
    put_headers(0, &mut message);
    encode("foo", &mut name);
    put_procedure(Procedure::Named(&name), &mut message);
    TableParameter::new("dbo.tvptype", 1).expect("a name").write(1, |_, _| 2, &mut message);
    let mut sent = Vec::new();
    frame(MessageKind::Rpc, &message, 4096, &mut sent);
    let mut expected = bytes(TABLE_REQUEST);
    (expected[3], expected[REQUESTS], expected[29], expected[75], expected[79]) = (0x55, 1, 0, 4, 4);
    expected.splice(81..81, [0; 3]);
    assert_eq!(sent, expected);
}

/// Section 4.15. A column of XML is refused by its place; the rows are read as what lies in them, which is text in parts, and rows with a bit for
/// each null.
#[test]
fn rows_with_bits_for_nulls_are_read() {
    let body = body(&bytes(SPARSE_COLUMNS));
    let mut reading = MessageReader { rest: &body };
    let refused = next(&mut reading, &mut Vec::new(), &mut Vec::new()).expect_err("XML is not read");
    assert!(refused.to_string().contains("column 2") && refused.to_string().contains("XML"), "{refused}");
    let first = body.iter().position(|byte| *byte == 0xD1).expect("a row");
    let number = ColumnType {
        id: INTN,
        extent: Extent::Short,
        content: Content::Integer,
        size: 4,
        precision: 0,
        scale: 0,
        collation: Collation::default(),
    };
    let text = ColumnType { id: NVARCHAR, extent: Extent::Parts, content: Content::Wide, size: 0xFFFF, ..number };
    check_tokens(&body[first..], &[number, text], |found| {
        let (done, rows) = found.split_last().expect("tokens");
        assert_eq!(*done, end(false, Some(10)));
        let told: Vec<(i64, String)> = rows.iter().map(|row| sparse_row(row, &number, &text)).collect();
        let xml = [
            "<sparseProp1>1000</sparseProp1><sparseProp2>foo</sparseProp2>",
            "<sparseProp1>1000</sparseProp1>",
            "<sparseProp2>abcd</sparseProp2>",
        ];
        let expected: Vec<(i64, String)> =
            (1..=10).zip(xml.into_iter().chain([""; 7])).map(|(id, text)| (id, text.to_owned())).collect();
        assert_eq!(told, expected);
    });
}

/// A row without bits for nulls has none.
const NO_NULLS: &[u8] = &[];

/// The number and the text of a row; an empty text for none.
fn sparse_row(row: &Token<'_>, number: &ColumnType, text: &ColumnType) -> (i64, String) {
    let (nulls, rest) = match *row {
        Token::Row(rest) => (NO_NULLS, rest),
        Token::RowWithNulls(rest) => rest.split_at(1),
        other => panic!("{other:?} is no row"),
    };
    let mut reading = MessageReader { rest };
    let mut scratch = Scratch::default();
    let mut read = |place: usize, kind: &ColumnType| {
        let bytes = if is_null(nulls, place) { Bytes::Null } else { take(kind.extent, &mut reading).expect("a value") };
        match value(kind, bytes, &mut scratch).expect("a value that is read") {
            Value::Integer(number) => (number, String::new()),
            Value::Text(text) => (0, text.to_owned()),
            Value::Null => (0, String::new()),
            other => panic!("{other:?}"),
        }
    };
    let (id, _) = read(0, number);
    let (_, words) = read(1, text);
    (id, words)
}

/// Section 4.18.
#[test]
fn the_state_of_a_session_is_passed_over() {
    check_tokens(&body(&bytes(SESSION_STATE)), &[], |found| {
        assert_eq!(found, [end(true, None), Token::Passed, end(false, None)]);
    });
}

/// [MS-TDS] 2.2.7.19: what a procedure gives back. The document has no bytes of it; these follow its grammar, field by field: place, name, status
/// of an output, type of the user, flags, `int`, value.
#[test]
fn what_a_procedure_gives_back_is_read() {
    let head = [0xAC, 1, 0, 2, b'@', 0, b'h', 0, 1, 0, 0, 0, 0, 0, 0, 0x26, 4];
    let of = |value: &[u8]| [&head[..], value].concat();
    check_tokens(&of(&[4, 0x2A, 0, 0, 0]), &[], |found| assert_eq!(found, [Token::Returned(Some(42))]));
    check_tokens(&of(&[0]), &[], |found| assert_eq!(found, [Token::Returned(None)]));
}

/// [MS-TDS] 2.2.7.17: by which columns rows are ordered, here by the first and the third. By the grammar as well.
#[test]
fn an_order_is_passed_over() {
    check_tokens(&[0xA9, 4, 0, 1, 0, 3, 0], &[], |found| assert_eq!(found, [Token::Passed]));
}

//! A session against a server that follows a script.

use super::*;
use crate::contract::{Column, ColumnKind, Decimal, Session as _, StatementId};
use crate::engines::mysql_family::flavour::Flavour;
use crate::engines::wire::Socket;
use std::time::Duration;
use tokio::net::UnixStream;

/// The server asks for a file of this name; by these bytes that of rows is asked for.
const OTHER_FILE: &[u8] = b"\x0c\0\0\x01\xfb/etc/passwd";
const OUR_FILE: &[u8] = b"\x12\0\0\x01\xfbrows of proofload";
/// All is done, and each statement commits itself; the same in a transaction.
const DONE: &[u8] = &[7, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0];
const DONE_INSIDE: &[u8] = &[7, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0];
/// A statement without columns is prepared: without parameters, and with one.
const PREPARED: &[u8] = &[12, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const PREPARED_WITH_ONE: &[u8] = &[12, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 4, 0, 0, 2, 3, b'd', b'e', b'f'];

/// Rows of which there are none.
struct NoRows;

impl RowSource for NoRows {
    fn next(&mut self, _sink: &mut dyn FnMut(&[Value<'_>])) -> bool {
        false
    }
}

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let in_time = async { tokio::time::timeout(Duration::from_secs(60), work).await };
    runtime.block_on(in_time).expect("nobody waits for ever")
}

/// A session to a server that has said all its answers before it is asked.
async fn scripted(answers: &[&[u8]]) -> (FamilySession, UnixStream) {
    let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
    let said = answers.concat();
    theirs.writable().await.expect("it is open");
    assert_eq!(theirs.try_write(&said).expect("there is room"), said.len());
    let connection = ServerConnection::on(Socket::unix(ours).expect("a socket"), true, Flavour::of_version(""));
    let (entries, transaction) = (Vec::new(), Transaction::None);
    (FamilySession { connection, entries, transaction, flying: false, spoilt: false }, theirs)
}

async fn append(session: &mut FamilySession) -> Result<u64, Error> {
    let columns = [Column { name: "a", kind: ColumnKind::Integer { bits: 64 } }];
    session.append(&Table { name: "t", columns: &columns }, &mut NoRows).await
}

/// The packets that a session has sent, without their heads.
async fn sent(theirs: &UnixStream) -> Vec<Vec<u8>> {
    theirs.readable().await.expect("something has come");
    let mut bytes = [0; 8192];
    let count = theirs.try_read(&mut bytes).expect("something has come");
    let (mut left, mut packets) = (&bytes[..count], Vec::new());
    while let [first, second, _, _, rest @ ..] = left {
        let (body, after) = rest.split_at(usize::from(u16::from_le_bytes([*first, *second])));
        packets.push(body.to_vec());
        left = after;
    }
    packets
}

/// A server that asks for a file that nobody offered gets none, and nobody waits for it.
#[test]
fn a_file_that_nobody_offered_ends_the_connection() {
    run(async {
        let expect_gone = async |mut session: FamilySession, outcome: Result<(), Error>| {
            let error = outcome.expect_err("it asks for a file").to_string();
            assert!(error.contains("nobody offered"), "{error}");
            let after = session.query("SELECT 1").await.expect_err("the connection is given up");
            assert_eq!(after.class(), ErrorClass::ConnectionLost, "{after}");
        };
        let (mut session, _theirs) = scripted(&[DONE, DONE_INSIDE, OTHER_FILE]).await;
        let outcome = append(&mut session).await.map(drop);
        expect_gone(session, outcome).await;
        let (mut session, _theirs) = scripted(&[OTHER_FILE]).await;
        let mut flight = Flight::new();
        flight.control(Control::BeginReadOnly);
        let outcome = session.fly(&mut flight).await;
        expect_gone(session, outcome).await;
        let (mut session, _theirs) = scripted(&[DONE, OTHER_FILE]).await;
        let outcome = session.query("SELECT 1").await.map(drop);
        expect_gone(session, outcome).await;
        let (mut session, _theirs) = scripted(&[DONE, PREPARED, OTHER_FILE]).await;
        let outcome = session.query("SELECT 1").await.map(drop);
        expect_gone(session, outcome).await;
        let (mut session, _theirs) = scripted(&[DONE, OTHER_FILE]).await;
        let outcome = session.script("SELECT 1").await;
        expect_gone(session, outcome).await;
    });
}

/// The file that was offered is sent.
#[test]
fn rows_are_sent_when_the_server_asks_for_them() {
    run(async {
        let (mut session, theirs) = scripted(&[DONE, DONE_INSIDE, OUR_FILE, DONE_INSIDE, DONE]).await;
        assert_eq!(append(&mut session).await.expect("it is taken"), 0);
        let packets = sent(&theirs).await;
        assert_eq!(packets.len(), 5, "two texts, the statement, the end of the file, and the commit: {packets:?}");
        assert!(packets[2].starts_with(b"\x03LOAD DATA LOCAL INFILE 'rows of proofload'") && packets[3].is_empty());
    });
}

/// An execution that was queued and never sent tells its types again.
#[test]
fn types_are_sent_anew_after_a_flight_that_could_not_be_queued() {
    run(async {
        let (mut session, theirs) = scripted(&[PREPARED_WITH_ONE, PREPARED_WITH_ONE, DONE, DONE]).await;
        let statement = |name: &str| Statement {
            name: name.to_owned(),
            sql: "DO :a".to_owned(),
            parameters: vec!["a".to_owned()],
            columns: 0,
        };
        session.prepare(&[statement("first"), statement("second")]).await.expect("both are prepared");
        let mut flight = Flight::new();
        flight.call(StatementId(0), &[Value::Integer(1)]);
        flight.call(StatementId(1), &[Value::Decimal(Decimal { units: 1, scale: 19 })]);
        let error = session.fly(&mut flight).await.expect_err("a decimal of 19 places cannot be sent");
        assert_eq!(error.class(), ErrorClass::Data, "{error}");
        let mut flight = Flight::new();
        flight.call(StatementId(0), &[Value::Integer(2)]);
        session.fly(&mut flight).await.expect("it is answered");
        let packets = sent(&theirs).await;
        let executed: Vec<_> = packets.iter().filter(|packet| packet[0] == 0x17).collect();
        // Command, statement, flags and iterations, nulls; then whether types follow, and the type of an integer.
        assert_eq!(executed.len(), 1, "{packets:?}");
        assert_eq!(executed[0][11..14], [1, 8, 0], "{packets:?}");
    });
}

/// A result of one column, described with this type, and a row with these bytes.
fn result_of(kind: u8, value: &[u8]) -> Vec<u8> {
    let mut said = vec![2, 0, 0, 1, 1, 1];
    // Six names of no bytes, then: length of what follows, character set, width, type, flags, decimals, nothing.
    let mut packet = |number: u8, body: &[u8]| {
        said.extend_from_slice(&[u8::try_from(body.len()).expect("it is short"), 0, 0, number]);
        said.extend_from_slice(body);
    };
    packet(2, &[0, 0, 0, 0, 0, 0, 12, 63, 0, 0, 0, 0, 0, kind, 0, 0, 0, 0, 0]);
    packet(3, &[&[0, 0], value].concat());
    packet(4, &[0xFE, 0, 0, 2, 0, 0, 0]);
    said
}

/// Columns that come as before are not read again, whatever pieces they come in, and those that come otherwise are.
#[test]
fn columns_are_read_as_they_were_described_last() {
    run(async {
        let (long, long_long) = (result_of(3, &[7, 0, 0, 0]), result_of(8, &[7, 0, 0, 0, 1, 0, 0, 0]));
        let first = [DONE, &long].concat();
        let expected = [(&first, 7), (&long, 7), (&long_long, (1 << 32) + 7), (&long_long, (1 << 32) + 7), (&long, 7)];
        for piece in [1, 9, 31, 1000] {
            let (mut session, theirs) = scripted(&[PREPARED]).await;
            let declared =
                Statement { name: "a".to_owned(), sql: "CALL a()".to_owned(), parameters: Vec::new(), columns: 1 };
            session.prepare(&[declared]).await.expect("it is prepared");
            for (said, value) in expected {
                let mut flight = Flight::new();
                flight.call(StatementId(0), &[]);
                let say = async {
                    for part in said.chunks(piece) {
                        theirs.writable().await.expect("it is open");
                        assert_eq!(theirs.try_write(part).expect("there is room"), part.len());
                        tokio::task::yield_now().await;
                    }
                };
                let (flown, ()) = futures_util::future::join(session.fly(&mut flight), say).await;
                flown.expect("it is answered");
                let row = flight.row(0, 0).expect("there is a row");
                assert_eq!(row.value(0), Value::Integer(value), "pieces of {piece}");
            }
        }
    });
}

#[test]
fn a_refusal_for_want_of_room_says_what_makes_room() {
    let of = |code: &str, text: &str| refused(Error::new(ErrorClass::Other, code, text), "shop on db1").to_string();
    let reached = |resource: &str| of("1226", &format!("User 'shop' has exceeded the '{resource}' resource"));
    for told in [of("1040", "no"), of("1203", "no"), reached("max_user_connections")] {
        assert!(told.contains("raise max_connections, or max_user_connections of the account"), "{told}");
    }
    let told = reached("max_questions");
    assert!(told.contains("wait until its hour is over") && !told.contains("max_user_connections"), "{told}");
    let told = of("1045", "no");
    assert!(told.contains("MYSQL_PWD") && !told.contains("max_connections"), "{told}");
}

//! A recording of sessions at a server of the tests holds what they say and hear, and no password, no parameter and no value. A binary of its own,
//! because a recording is that of a process.

#[path = "support/tds_server/mod.rs"]
mod tds_server;

use proofload_engine::{Control, Error, Flight, Session as _, Statement, StatementId, Target, Value, engine};
use proofload_model::secret::Secret;
use proofload_model::time::{Clock, Moment, WallTime};
use proofload_model::wire::DataLocation;
use std::sync::Arc;
use std::time::Duration;
use tds_server::{ColumnForm, Datum, Part, Setup, TdsServer};

/// A clock that stands.
struct StillClock;

impl Clock for StillClock {
    fn now(&self) -> Moment {
        Moment(0)
    }

    fn wall(&self) -> WallTime {
        WallTime(0)
    }

    fn sleep(&self, _time: Duration) {}
}

const NUMBER: i64 = 0x5EC2_E7A1;
const TEXT: &str = "Katzenbuckel";
const SAID: &str = "duplicate key (Katzenbuckel)";

fn hex(bytes: impl IntoIterator<Item = u8>) -> String {
    bytes.into_iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A call that answers with its parameters, and one that fails with a value in its text.
async fn fly(target: &Target) -> Result<(), Error> {
    let mut session = engine("sqlserver").expect("it is registered").connect(target).await?;
    let statement = |name: &str, sql: &str| {
        let parameters = vec!["number".to_owned(), "text".to_owned()];
        Statement { name: name.to_owned(), sql: sql.to_owned(), parameters, columns: 2 }
    };
    session
        .prepare(&[statement("echo", "SELECT :number, :text"), statement("fail", "SELECT 1, :number, :text")])
        .await?;
    for place in [0, 1] {
        let mut flight = Flight::new();
        flight.control(Control::Begin);
        flight.call(StatementId(place), &[Value::Integer(NUMBER), Value::Text(TEXT)]);
        flight.control(Control::Commit);
        assert_eq!(session.fly(&mut flight).await.is_ok(), place == 0);
    }
    session.query("SELECT 'Katzenbuckel'").await.map(drop)
}

#[test]
fn a_recording_holds_messages_and_nothing_that_is_secret() {
    let server = TdsServer::start(Setup::default(), |sql, _| match sql {
        "SELECT @p1, @p2" => vec![
            Part::Columns(vec![ColumnForm::Integer(8), ColumnForm::Wide(40)]),
            Part::Row(vec![Datum::Integer(NUMBER), Datum::text(TEXT)]),
            Part::Count(1),
        ],
        "SELECT 1, @p1, @p2" => {
            vec![Part::Error { number: 2627, severity: 14, procedure: "", line: 1, message: SAID }]
        }
        _ => vec![Part::Columns(vec![ColumnForm::Wide(40)]), Part::Row(vec![Datum::text(TEXT)]), Part::Count(1)],
    });
    let place = DataLocation {
        engine: "sqlserver".to_owned(),
        folder: String::new(),
        url: Some(server.url("encrypt=none")),
        settings: Vec::new(),
        tier: None,
    };
    let mut target = Target::new(place, None);
    target.endpoints = target.endpoints.with_password(Some(Secret::of(b"s3cret")));
    let recorder = engine("sqlserver").and_then(|engine| engine.recorder()).expect("its sessions are recorded");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    recorder.begin(Arc::new(StillClock));
    runtime.block_on(fly(&target)).expect("it flies");
    let told = recorder.end();
    // Shown by `--nocapture`, to be kept as a recording for the tests of the decoder.
    println!("{told}");
    assert_eq!(recorder.end(), "", "it has ended");
    let count = |word: &str| told.matches(word).count();
    assert!(count(" 1 > batch ") >= 2 && count(" 1 > calls ") == 2, "{told}");
    assert_eq!(count(" < answer "), count(" > "), "{told}");
    assert_eq!(count(" -\n"), 0, "all is understood: {told}");
    let wide = |text: &str| hex(text.encode_utf16().flat_map(u16::to_le_bytes));
    let secrets = ["s3cret", "733363726574", TEXT, SAID].into_iter().flat_map(|text| [wide(text), hex(text.bytes())]);
    for secret in secrets.chain([hex(0x5EC2_E7A1u32.to_le_bytes())]) {
        assert!(!told.contains(&secret), "{secret} in {told}");
    }
    // Nothing is recorded that nobody asked for.
    runtime.block_on(fly(&target)).expect("it flies");
    assert_eq!(recorder.end(), "");
}

#[test]
fn sessions_of_other_engines_are_not_recorded() {
    for name in ["sqlite", "postgresql", "mariadb"] {
        assert!(engine(name).is_some_and(|engine| engine.recorder().is_none()), "{name}");
    }
}

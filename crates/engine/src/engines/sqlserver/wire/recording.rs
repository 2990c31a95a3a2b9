//! Records the messages of sessions, each a line of text: microseconds since the beginning, number of the connection, direction, kind, length in
//! bytes, bytes. Connections are recorded once they are logged on, so that no login is; values are blank. Costs nothing where nobody asked.

use super::blanking;
use super::packet::{MessageKind, PacketReader};
use super::types::ColumnType;
use crate::contract::WireRecorder;
use proofload_model::time::{Clock, Moment};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// First line of a recording: the number of its form.
const FORM: &str = "proofload sqlserver recording 1\n";
/// Bytes of a recording, so that it can be sent: what comes later is left out, which the last line says.
const MOST: usize = 16 << 20;
const CUT: &str = "cut\n";

/// Recording of this process, while one is wanted.
static RECORDING: Mutex<Option<Arc<Recording>>> = Mutex::new(None);

/// A recording under way.
struct Recording {
    clock: Arc<dyn Clock>,
    begun: Moment,
    text: Mutex<String>,
    connections: AtomicU32,
}

impl Recording {
    /// Adds a message; nothing of it but its length without `bytes`.
    fn add(&self, connection: u32, of: &str, length: usize, bytes: Option<&[u8]>) {
        let time = self.clock.now().since(self.begun).as_micros();
        let mut text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        if text.ends_with(CUT) {
            return;
        }
        if text.len() + 2 * bytes.map_or(0, <[u8]>::len) > MOST {
            text.push_str(CUT);
            return;
        }
        let _never = write!(text, "{time} {connection} {of} {length} ");
        match bytes {
            None => text.push('-'),
            Some(bytes) => {
                for byte in bytes {
                    let _never = write!(text, "{byte:02x}");
                }
            }
        }
        text.push('\n');
    }
}

/// Begins and ends the recording of this process.
#[derive(Debug)]
pub(in crate::engines::sqlserver) struct SqlserverRecorder;

impl WireRecorder for SqlserverRecorder {
    fn begin(&self, clock: Arc<dyn Clock>) {
        let begun = clock.now();
        let recording = Recording { clock, begun, text: Mutex::new(FORM.to_owned()), connections: AtomicU32::new(0) };
        *RECORDING.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(recording));
    }

    fn end(&self) -> String {
        let ended = RECORDING.lock().unwrap_or_else(PoisonError::into_inner).take();
        let text =
            ended.map(|recording| std::mem::take(&mut *recording.text.lock().unwrap_or_else(PoisonError::into_inner)));
        text.unwrap_or_default()
    }
}

/// What is recorded of a connection.
pub(super) struct ConnectionRecord {
    recording: Arc<Recording>,
    number: u32,
    packets: PacketReader,
    heard: Vec<u8>,
    columns: Vec<ColumnType>,
    flags: Vec<u16>,
    understood: bool,
}

impl std::fmt::Debug for ConnectionRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConnectionRecord").field("number", &self.number).finish_non_exhaustive()
    }
}

impl ConnectionRecord {
    /// A record of a connection that is logged on, where a recording is wanted.
    pub(super) fn begin() -> Option<Box<Self>> {
        let recording = RECORDING.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let number = recording.connections.fetch_add(1, Ordering::Relaxed) + 1;
        Some(Box::new(Self::new(recording, number)))
    }

    fn new(recording: Arc<Recording>, number: u32) -> Self {
        let (packets, heard) = (PacketReader::default(), Vec::new());
        Self { recording, number, packets, heard, columns: Vec::new(), flags: Vec::new(), understood: true }
    }

    /// Records a message to the server.
    pub(super) fn sent(&mut self, kind: MessageKind, message: &[u8]) {
        let word = match kind {
            MessageKind::Batch => "> batch",
            MessageKind::Rpc => "> calls",
            MessageKind::Attention => "> attention",
            MessageKind::Bulk => "> rows",
            MessageKind::Answer | MessageKind::Login | MessageKind::PreLogin => return,
        };
        let mut bytes = message.to_vec();
        let is_kept = blanking::request(kind, &mut bytes);
        self.recording.add(self.number, word, message.len(), is_kept.then_some(&bytes[..]));
    }

    /// Records what came of the server, message by message.
    pub(super) fn received(&mut self, bytes: &[u8]) {
        let ended = self.packets.ended();
        if self.packets.take(bytes, &mut self.heard).is_err() || self.packets.ended() == ended {
            return;
        }
        // Behind what is not understood nothing is sure to begin where it seems to.
        self.understood &= blanking::answer(&mut self.heard, &mut self.columns, &mut self.flags);
        self.recording.add(self.number, "< answer", self.heard.len(), self.understood.then_some(&self.heard[..]));
        self.heard.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::published::tokens;
    use super::super::tokens::Token;
    use super::*;
    use proofload_model::time::WallTime;
    use std::collections::BTreeMap;
    use std::time::Duration;

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

    fn record() -> ConnectionRecord {
        let (clock, begun) = (Arc::new(StillClock), Moment(0));
        let (text, connections) = (Mutex::new(FORM.to_owned()), AtomicU32::new(0));
        ConnectionRecord::new(Arc::new(Recording { clock, begun, text, connections }), 1)
    }

    fn text(record: &ConnectionRecord) -> String {
        record.recording.text.lock().expect("nobody panicked").clone()
    }

    /// A recording whose answer is a published one.
    const PUBLISHED: &str = include_str!("recordings/published.txt");

    /// The bytes of a line, where they were kept.
    fn bytes(line: &str) -> Option<Vec<u8>> {
        let hex = line.rsplit(' ').next().filter(|hex| *hex != "-")?;
        let byte = |place: usize| u8::from_str_radix(&hex[place..place + 2], 16).expect("two digits");
        Some((0..hex.len()).step_by(2).map(byte).collect())
    }

    /// Reads every answer of a recording as a session does, with the columns of its connection; the number of rows.
    fn replay(text: &str) -> usize {
        let lines = text.strip_prefix(FORM).expect("a recording of this form").lines();
        let mut of_connections: BTreeMap<&str, Vec<ColumnType>> = BTreeMap::new();
        let mut rows = 0;
        for line in lines.filter(|line| line.contains(" < answer ")) {
            let connection = line.split(' ').nth(1).expect("a connection");
            let Some(answer) = bytes(line) else { continue };
            let read = tokens(&answer, of_connections.entry(connection).or_default());
            assert!(matches!(read.last(), Some(Token::Done(end)) if !end.more), "{line}");
            rows += read.iter().filter(|token| matches!(token, Token::Row(_) | Token::RowWithNulls(_))).count();
        }
        rows
    }

    /// [MS-TDS] 4.7: one text, `foo`.
    const ANSWER: [u8; 51] = [
        0x04, 0x01, 0x00, 0x33, 0x00, 0x00, 0x01, 0x00, 0x81, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x20, 0x00, 0xA7,
        0x03, 0x00, 0x09, 0x04, 0xD0, 0x00, 0x34, 0x03, 0x62, 0x00, 0x61, 0x00, 0x72, 0x00, 0xD1, 0x03, 0x00, 0x66,
        0x6F, 0x6F, 0xFD, 0x10, 0x00, 0xC1, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    ];

    #[test]
    fn an_answer_is_read_again_with_a_blank_for_its_value() {
        let mut record = record();
        ANSWER.chunks(5).for_each(|piece| record.received(piece));
        let told = text(&record);
        assert_eq!(
            Some(told.as_str()),
            PUBLISHED.split_inclusive("version").next().and_then(|all| all.strip_suffix("version"))
        );
        assert_eq!((replay(&told), replay(PUBLISHED)), (1, 1));
    }

    #[test]
    fn calls_keep_types_and_lengths_and_texts_their_first_word() {
        let mut record = record();
        let mut calls =
            [&[0; 22][..], &[0xFF, 0xFF, 12, 0, 0, 0], &[0, 0, 0x26, 4, 4, 0x5E, 0xC2, 0xE7, 0x77]].concat();
        calls.extend([0xFF, 1, 0, b'p', 0, 0, 0, 1, b'a', 0, 0, 0xA7, 8, 0, 9, 4, 0, 4, 0, 2, 0, 0x5E, 0xC2]);
        record.sent(MessageKind::Rpc, &calls);
        record.sent(MessageKind::Batch, &[&[0; 22][..], b"U\0S\0E\0 \0x\0"].concat());
        record.sent(MessageKind::Bulk, &[0x5E, 0xC2]);
        record.sent(MessageKind::Login, &[0x5E, 0xC2]);
        // A type that is not known, and a call that is cut: nothing is kept.
        record.sent(MessageKind::Rpc, &[&[0; 22][..], &[1, 0, b'p', 0, 0, 0, 0, 0, 0x62, 0x5E, 0xC2]].concat());
        let headers = "0".repeat(44);
        let called = "ffff0c000000000026040400000000ff01007000000001610000a70800090400040002000000";
        let expected = format!(
            "{FORM}0 1 > calls 60 {headers}{called}\n0 1 > batch 32 {headers}55005300450000000000\n0 1 > rows 2 -\n\
             0 1 > calls 33 -\n"
        );
        assert_eq!(text(&record), expected);
    }

    /// [MS-TDS] 2.2.7.4: what a login is answered with is no part of a recording.
    #[test]
    fn nothing_is_kept_behind_what_is_not_understood() {
        let mut record = record();
        let mut login = ANSWER;
        login[8] = 0xED;
        record.received(&login);
        record.received(&ANSWER);
        assert_eq!(text(&record), format!("{FORM}0 1 < answer 43 -\n0 1 < answer 43 -\n"));
    }
}

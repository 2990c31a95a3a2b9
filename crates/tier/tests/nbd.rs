//! The server of the block device protocol, spoken to by a client of the tests.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use proofload_tier::Error;
use proofload_tier::export::{BlockService, NbdServer, TierVolume};
use proofload_tier::machine::CacheMode;
use proofload_tier::tier::Tier;
use support::{Call, MemoryDevice, TestClock, devices, format_settings, memory_devices, pool};

struct Bed {
    path: PathBuf,
    cache: Arc<MemoryDevice>,
    _server: NbdServer,
    _folder: tempfile::TempDir,
}

impl Bed {
    fn new() -> Self {
        Self::serving(|volume| Arc::new(volume))
    }

    fn serving(wrap: impl FnOnce(TierVolume) -> Arc<dyn BlockService>) -> Self {
        let (cache, origins) = memory_devices(64, 64, 1);
        let devices = devices(&cache, &origins);
        Tier::format(&devices, &format_settings(8192, 64, 1)).unwrap();
        let tier = Tier::open(devices, pool(CacheMode::WriteBack, 1), Arc::new(TestClock::default())).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let server = NbdServer::start(&path, "data", wrap(TierVolume::new(Arc::new(tier), 0))).unwrap();
        Self { _folder: folder, path, cache, _server: server }
    }

    /// A connection after the greeting and the client's flags.
    fn greet(&self) -> UnixStream {
        let mut stream = UnixStream::connect(&self.path).unwrap();
        let mut greeting = [0; 18];
        stream.read_exact(&mut greeting).unwrap();
        assert_eq!(&greeting[..16], b"NBDMAGICIHAVEOPT");
        assert_eq!(greeting[17], 3);
        stream.write_all(&3_u32.to_be_bytes()).unwrap();
        stream
    }

    /// A connection that is ready for requests, and the size of the export.
    fn connect(&self) -> (UnixStream, u64) {
        let mut stream = self.greet();
        let mut data = 4_u32.to_be_bytes().to_vec();
        data.extend(b"data");
        data.extend([0, 0]);
        let replies = option(&mut stream, 7, &data);
        assert_eq!(replies.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), [3, 3, 1]);
        let size = u64::from_be_bytes(replies[0].1[2..10].try_into().unwrap());
        (stream, size)
    }
}

/// A volume whose first 8 KiB are quick, and whose other reads wait until it is opened.
struct HeldVolume {
    inner: TierVolume,
    /// Reads that wait, and whether they may go on.
    held: Mutex<(usize, bool)>,
    changed: Condvar,
}

impl HeldVolume {
    /// Waits until so many reads wait at once.
    fn wait_for(&self, reads: usize) {
        let held = self.held.lock().unwrap();
        let most = Duration::from_secs(60);
        let (held, _) = self.changed.wait_timeout_while(held, most, |held| held.0 < reads).unwrap();
        let waiting = held.0;
        drop(held);
        assert_eq!(waiting, reads, "reads that wait");
    }

    fn open(&self) {
        self.held.lock().unwrap().1 = true;
        self.changed.notify_all();
    }
}

impl BlockService for HeldVolume {
    fn bytes(&self) -> u64 {
        self.inner.bytes()
    }

    fn reads_quickly(&self, at: u64, _length: u64) -> bool {
        at < 8192
    }

    fn writes_quickly(&self, at: u64, _length: u64) -> bool {
        at < 8192
    }

    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Error> {
        if at >= 8192 {
            let mut held = self.held.lock().unwrap();
            held.0 += 1;
            self.changed.notify_all();
            held = self.changed.wait_while(held, |held| !held.1).unwrap();
            held.0 -= 1;
        }
        self.inner.read(at, into)
    }

    fn write(&self, at: u64, from: &[u8]) -> Result<(), Error> {
        self.inner.write(at, from)
    }

    fn flush(&self) -> Result<(), Error> {
        self.inner.flush()
    }

    fn discard(&self, at: u64, length: u64) -> Result<(), Error> {
        self.inner.discard(at, length)
    }
}

/// Opens a volume at the end of a test, also of one that fails, so that its server can end.
struct OpenedAtEnd<'v>(&'v HeldVolume);

impl Drop for OpenedAtEnd<'_> {
    fn drop(&mut self) {
        self.0.open();
    }
}

/// Sends an option; returns kinds and data of its replies up to the last.
fn option(stream: &mut UnixStream, option: u32, data: &[u8]) -> Vec<(u32, Vec<u8>)> {
    stream.write_all(b"IHAVEOPT").unwrap();
    stream.write_all(&option.to_be_bytes()).unwrap();
    stream.write_all(&(data.len() as u32).to_be_bytes()).unwrap();
    stream.write_all(data).unwrap();
    let mut replies = Vec::new();
    loop {
        let mut head = [0; 20];
        stream.read_exact(&mut head).unwrap();
        let number = |at: usize| u32::from_be_bytes(head[at..at + 4].try_into().unwrap());
        assert_eq!(number(8), option);
        let mut data = vec![0; number(16) as usize];
        stream.read_exact(&mut data).unwrap();
        replies.push((number(12), data));
        if number(12) == 1 || number(12) >= 1 << 31 {
            return replies;
        }
    }
}

/// Sends a request; returns the number of the error and the bytes of a read.
fn request(stream: &mut UnixStream, (flags, kind): (u16, u16), at: u64, length: u32, data: &[u8]) -> (u32, Vec<u8>) {
    send(stream, (flags, kind), 99, at, length, data);
    let (cookie, code) = head(stream);
    assert_eq!(cookie, 99);
    let mut read = vec![0; if kind == 0 && code == 0 { length as usize } else { 0 }];
    stream.read_exact(&mut read).unwrap();
    (code, read)
}

/// Sends a request.
fn send(stream: &mut UnixStream, (flags, kind): (u16, u16), cookie: u64, at: u64, length: u32, data: &[u8]) {
    let mut bytes = 0x2560_9513_u32.to_be_bytes().to_vec();
    bytes.extend(flags.to_be_bytes());
    bytes.extend(kind.to_be_bytes());
    bytes.extend(cookie.to_be_bytes());
    bytes.extend(at.to_be_bytes());
    bytes.extend(length.to_be_bytes());
    bytes.extend(data);
    stream.write_all(&bytes).unwrap();
}

/// Receives the head of a simple reply: the cookie and the number of the error.
fn head(stream: &mut UnixStream) -> (u64, u32) {
    let mut head = [0; 16];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(head[..4], 0x6744_6698_u32.to_be_bytes());
    let code = u32::from_be_bytes(head[4..8].try_into().unwrap());
    (u64::from_be_bytes(head[8..].try_into().unwrap()), code)
}

/// Receives a chunk of the structured reply to a cookie: flags, kind and payload.
fn chunk(stream: &mut UnixStream, cookie: u64) -> (u16, u16, Vec<u8>) {
    let mut head = [0; 20];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(head[..4], 0x668e_33ef_u32.to_be_bytes());
    assert_eq!(head[8..16], cookie.to_be_bytes());
    let number = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let mut payload = vec![0; u32::from_be_bytes(head[16..].try_into().unwrap()) as usize];
    stream.read_exact(&mut payload).unwrap();
    (number(4), number(6), payload)
}

#[test]
fn requests_are_served_and_seen_by_other_connections() {
    let bed = Bed::new();
    let (mut one, size) = bed.connect();
    assert_eq!(size, 64 * 8192);
    assert_eq!(request(&mut one, (0, 1), 1_000, 5_000, &[7; 5_000]).0, 0);
    let (mut other, _) = bed.connect();
    let (code, bytes) = request(&mut other, (0, 0), 999, 5_002, &[]);
    assert_eq!((code, bytes[0], bytes[5_001]), (0, 0, 0));
    assert!(bytes[1..5_001].iter().all(|byte| *byte == 7));
    assert_eq!(request(&mut other, (0, 4), 1_000, 100, &[]).0, 0);
    assert_eq!(request(&mut one, (0, 0), 1_099, 2, &[]).1, [0, 7]);
    let syncs = bed.cache.count(Call::Sync);
    assert_eq!(request(&mut one, (0, 3), 0, 0, &[]).0, 0);
    assert_eq!(bed.cache.count(Call::Sync), syncs + 2);
    assert_eq!(request(&mut one, (1, 1), 0, 512, &[1; 512]).0, 0);
    assert_eq!(bed.cache.count(Call::Sync), syncs + 3, "a write with forced access is durable");
}

#[test]
fn what_is_wrong_is_answered_and_ends_no_other_connection() {
    let bed = Bed::new();
    let (mut good, size) = bed.connect();
    assert_eq!(request(&mut good, (0, 0), size - 10, 11, &[]).0, 22);
    assert_eq!(request(&mut good, (0, 77), 0, 1, &[]).0, 22);
    assert_eq!(request(&mut good, (0, 0), u64::MAX, 1, &[]).0, 22);
    let mut rude = bed.greet();
    rude.write_all(&[0xff; 64]).unwrap();
    let mut rest = Vec::new();
    assert!(matches!(rude.read_to_end(&mut rest), Ok(0) | Err(_)), "the connection is closed");
    assert_eq!(request(&mut good, (0, 0), 0, 1, &[]).0, 0);
}

#[test]
fn a_stale_socket_is_replaced_and_a_live_one_is_left_alone() {
    let bed = Bed::new();
    let (cache, origins) = memory_devices(8, 8, 1);
    let tier = {
        let devices = devices(&cache, &origins);
        Tier::format(&devices, &format_settings(8192, 8, 1)).unwrap();
        Arc::new(Tier::open(devices, pool(CacheMode::WriteBack, 1), Arc::new(TestClock::default())).unwrap())
    };
    let service = || Arc::new(TierVolume::new(tier.clone(), 0));
    assert!(NbdServer::start(&bed.path, "other", service()).err().unwrap().to_string().contains("listens"));
    bed.connect();
    let stale = bed.path.with_file_name("stale");
    drop(std::os::unix::net::UnixListener::bind(&stale).unwrap());
    let server = NbdServer::start(&stale, "other", service()).unwrap();
    UnixStream::connect(&stale).unwrap();
    drop(server);
    assert!(!stale.exists());
}

#[test]
fn options_are_negotiated() {
    let bed = Bed::new();
    let mut stream = bed.greet();
    assert_eq!(option(&mut stream, 3, &[]), [(2, b"\0\0\0\x04data".to_vec()), (1, vec![])]);
    assert_eq!(option(&mut stream, 9, &[])[0].0, (1 << 31) | 1, "metadata");
    assert_eq!(option(&mut stream, 8, &[0])[0].0, (1 << 31) | 3);
    assert_eq!(option(&mut stream, 8, &[]), [(1, vec![])]);
    let mut unknown = 5_u32.to_be_bytes().to_vec();
    unknown.extend(b"other\0\0");
    assert_eq!(option(&mut stream, 7, &unknown)[0].0, (1 << 31) | 6);
    assert_eq!(option(&mut stream, 7, &[0, 0])[0].0, (1 << 31) | 3);
    assert_eq!(option(&mut stream, 2, &[]), [(1, vec![])]);
}

#[test]
fn hits_and_absorbed_writes_wait_for_no_miss() {
    let mut volume = None;
    let bed = Bed::serving(|inner| {
        let held = Arc::new(HeldVolume { inner, held: Mutex::default(), changed: Condvar::new() });
        volume = Some(Arc::clone(&held));
        held
    });
    let volume = volume.unwrap();
    let _opened = OpenedAtEnd(&volume);
    let (mut stream, _) = bed.connect();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    for cookie in 1..=100 {
        send(&mut stream, (0, 0), cookie, 8192, 512, &[]);
    }
    // As many as there are threads; the others wait for one.
    volume.wait_for(32);
    assert_eq!(request(&mut stream, (0, 1), 0, 512, &[7; 512]).0, 0);
    assert_eq!(request(&mut stream, (0, 0), 0, 512, &[]), (0, vec![7; 512]));
    volume.open();
    let mut answered = Vec::new();
    for _ in 0..100 {
        let (cookie, code) = head(&mut stream);
        stream.read_exact(&mut [1; 512]).unwrap();
        assert_eq!(code, 0);
        answered.push(cookie);
    }
    answered.sort_unstable();
    assert_eq!(answered, (1..=100).collect::<Vec<u64>>());
}

#[test]
fn structured_replies_hold_data_holes_and_errors() {
    let bed = Bed::new();
    let flags = |replies: &[(u32, Vec<u8>)]| u16::from_be_bytes(replies[0].1[10..12].try_into().unwrap());
    let mut stream = bed.greet();
    let about = b"\0\0\0\x04data\0\0";
    assert_eq!(flags(&option(&mut stream, 6, about)) & (1 << 7), 0, "one chunk, without structured replies");
    assert_eq!(option(&mut stream, 8, &[]), [(1, vec![])]);
    assert_eq!(flags(&option(&mut stream, 7, about)) & (1 << 7), 1 << 7);
    assert_eq!(request(&mut stream, (0, 1), 4096, 4096, &[7; 4096]).0, 0, "a reply without data may be simple");

    send(&mut stream, (0, 0), 5, 0, 12_288, &[]);
    let place = |at: u64, rest: &[u8]| [&at.to_be_bytes()[..], rest].concat();
    assert_eq!(chunk(&mut stream, 5), (0, 2, place(0, &4096_u32.to_be_bytes())));
    assert_eq!(chunk(&mut stream, 5), (0, 1, place(4096, &[7; 4096])));
    assert_eq!(chunk(&mut stream, 5), (1, 2, place(8192, &4096_u32.to_be_bytes())));

    send(&mut stream, (4, 0), 6, 0, 8192, &[]);
    let whole = [[0; 4096], [7; 4096]].concat();
    assert_eq!(chunk(&mut stream, 6), (1, 1, place(0, &whole)), "one chunk, as asked for");

    for (kind, length) in [(0, 4096), (4, 4096)] {
        send(&mut stream, (0, kind), 7, 64 * 8192, length, &[]);
        let (flags, kind, payload) = chunk(&mut stream, 7);
        assert_eq!((flags, kind), (1, (1 << 15) | 1));
        assert_eq!(payload[..4], 22_u32.to_be_bytes());
        let text = String::from_utf8(payload[6..].to_vec()).unwrap();
        assert_eq!(usize::from(u16::from_be_bytes([payload[4], payload[5]])), text.len());
        assert!(text.contains("end of the device"), "{text}");
    }
    send(&mut stream, (0, 0), 8, 4096, 512, &[]);
    assert_eq!(chunk(&mut stream, 8), (1, 1, place(4096, &[7; 512])), "an error ends no connection");
}

/// A volume whose reads panic behind its first 8 KiB.
struct PanickingVolume(TierVolume);

impl BlockService for PanickingVolume {
    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    fn reads_quickly(&self, at: u64, _length: u64) -> bool {
        at < 16_384
    }

    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Error> {
        assert!(at < 8192, "made to panic");
        self.0.read(at, into)
    }

    fn write(&self, at: u64, from: &[u8]) -> Result<(), Error> {
        self.0.write(at, from)
    }

    fn flush(&self) -> Result<(), Error> {
        self.0.flush()
    }

    fn discard(&self, at: u64, length: u64) -> Result<(), Error> {
        self.0.discard(at, length)
    }
}

#[test]
fn a_request_that_panics_is_answered_with_an_error() {
    let bed = Bed::serving(|inner| Arc::new(PanickingVolume(inner)));
    let (mut stream, _) = bed.connect();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    // More often than there are threads; the first ones are read by the thread that serves what is quick.
    for place in 0..40_u64 {
        let at = if place < 3 { 8192 } else { 16_384 };
        assert_eq!(request(&mut stream, (0, 0), at, 512, &[]).0, 5, "request {place}");
    }
    assert_eq!(request(&mut stream, (0, 0), 0, 512, &[]), (0, vec![0; 512]));
}

#[test]
fn long_hits_are_answered_while_their_client_sends() {
    const LONG: u32 = 256 << 10;
    let bed = Bed::new();
    let (mut stream, _) = bed.connect();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.set_write_timeout(Some(Duration::from_secs(60))).unwrap();
    let data = vec![7; LONG as usize];
    assert_eq!(request(&mut stream, (0, 1), 0, LONG, &data).0, 0);
    assert_eq!(request(&mut stream, (0, 0), 0, LONG, &[]), (0, data.clone()), "it is a hit from now on");
    // Its replies are read only afterwards: together they are more than any socket takes.
    (1..=40).for_each(|cookie| send(&mut stream, (0, 0), cookie, 0, LONG, &[]));
    (41..=80).for_each(|cookie| send(&mut stream, (0, 1), cookie, 0, LONG, &data));
    let mut answered = Vec::new();
    for _ in 0..80 {
        let (cookie, code) = head(&mut stream);
        assert_eq!(code, 0);
        if cookie <= 40 {
            let mut bytes = vec![0; LONG as usize];
            stream.read_exact(&mut bytes).unwrap();
            assert!(bytes == data);
        }
        answered.push(cookie);
    }
    answered.sort_unstable();
    assert_eq!(answered, (1..=80).collect::<Vec<u64>>());
}

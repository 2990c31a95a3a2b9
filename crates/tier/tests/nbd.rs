//! The server of the block device protocol, spoken to by a client of the tests.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;

use proofload_tier::export::{NbdServer, TierVolume};
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
        let (cache, origins) = memory_devices(64, 64, 1);
        let devices = devices(&cache, &origins);
        Tier::format(&devices, &format_settings(8192, 64, 1)).unwrap();
        let tier = Tier::open(devices, pool(CacheMode::WriteBack, 1), Arc::new(TestClock::default())).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let server = NbdServer::start(&path, "data", Arc::new(TierVolume::new(Arc::new(tier), 0))).unwrap();
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
    let mut bytes = 0x2560_9513_u32.to_be_bytes().to_vec();
    bytes.extend(flags.to_be_bytes());
    bytes.extend(kind.to_be_bytes());
    bytes.extend(99_u64.to_be_bytes());
    bytes.extend(at.to_be_bytes());
    bytes.extend(length.to_be_bytes());
    bytes.extend(data);
    stream.write_all(&bytes).unwrap();
    let mut head = [0; 16];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(head[..4], 0x6744_6698_u32.to_be_bytes());
    assert_eq!(head[8..], 99_u64.to_be_bytes());
    let code = u32::from_be_bytes(head[4..8].try_into().unwrap());
    let mut read = vec![0; if kind == 0 && code == 0 { length as usize } else { 0 }];
    stream.read_exact(&mut read).unwrap();
    (code, read)
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
    assert_eq!(option(&mut stream, 8, &[])[0].0, (1 << 31) | 1, "structured replies");
    let mut unknown = 5_u32.to_be_bytes().to_vec();
    unknown.extend(b"other\0\0");
    assert_eq!(option(&mut stream, 7, &unknown)[0].0, (1 << 31) | 6);
    assert_eq!(option(&mut stream, 7, &[0, 0])[0].0, (1 << 31) | 3);
    assert_eq!(option(&mut stream, 2, &[]), [(1, vec![])]);
}

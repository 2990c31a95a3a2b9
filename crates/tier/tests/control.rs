//! The control socket of an open pool: what it answers, whom it refuses, and what is left of it.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use proofload_tier::control::{ControlClient, ControlServer, ControlSubject};
use proofload_tier::layout::Geometry;
use proofload_tier::machine::CacheMode;
use proofload_tier::tier::{FlushTimes, MOST_FLUSH_DELAY, Tier};
use support::{Call, MemoryDevice, TestClock, devices, format_settings, memory_devices, pool};

struct Bed {
    folder: tempfile::TempDir,
    path: PathBuf,
    tier: Arc<Tier>,
    subject: Option<ControlSubject>,
    origin: Arc<MemoryDevice>,
    cache: Arc<MemoryDevice>,
    stops: Receiver<()>,
}

impl Bed {
    fn new() -> Self {
        let (cache, origins) = memory_devices(64, 64, 2);
        let devices = devices(&cache, &origins);
        Tier::format(&devices, &format_settings(8192, 64, 2)).unwrap();
        let tier = Tier::open(devices, pool(CacheMode::WriteBack, 2), Arc::new(TestClock::default())).unwrap();
        tier.write(0, 0, &[7; 40_000]).unwrap();
        let (folder, tier) = (tempfile::tempdir().unwrap(), Arc::new(tier));
        let (sender, stops) = sync_channel(1);
        let subject = Some(ControlSubject { tier: tier.clone(), disks: Vec::new(), stops: sender });
        Self { path: folder.path().join("control"), folder, tier, subject, origin: origins[0].clone(), cache, stops }
    }

    fn start(&mut self) -> (ControlServer, ControlClient) {
        let server = ControlServer::start(&self.path, self.subject.take().unwrap()).unwrap();
        (server, ControlClient::connect(&self.path).unwrap())
    }
}

#[test]
fn a_reading_has_the_counters_of_the_pool() {
    let mut bed = Bed::new();
    let (_server, client) = bed.start();
    let reading = client.reading().unwrap();
    assert_eq!(reading.pool, bed.tier.snapshot());
    assert_eq!(reading.pool.volumes[0].counters, bed.tier.counters(0));
    assert_eq!((reading.pool.volumes[0].counters.writes, reading.pool.dirty_bytes(0)), (5, 40_960));
    assert_eq!(std::fs::metadata(&bed.path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_dir(bed.folder.path()).unwrap().count(), 1);
}

#[test]
fn a_drain_leaves_nothing_dirty_and_a_stop_is_told_to_the_owner() {
    let mut bed = Bed::new();
    let (_server, client) = bed.start();
    assert!(bed.tier.status().dirty_lines > 0);
    assert_eq!(client.drain(Duration::from_secs(60)).unwrap().dirty_lines, 0);
    assert_eq!(client.reading().unwrap().pool.status.dirty_lines, 0);
    assert!(bed.stops.try_recv().is_err());
    client.stop().unwrap();
    client.stop().unwrap();
    bed.stops.try_recv().unwrap();
}

#[test]
fn a_drain_ends_at_once_when_only_damaged_lines_are_left_and_tells_them() {
    let mut bed = Bed::new();
    let (_server, client) = bed.start();
    let geometry = Geometry::new(8192, 64).unwrap();
    let is_dirty = |line: &u32| bed.cache.bytes_now()[geometry.byte_of_line(*line) as usize] == 7;
    let line = (0..64).find(is_dirty).unwrap();
    bed.cache.flip_bit(geometry.byte_of_line(line) as usize + 100);
    let status = client.drain(Duration::from_secs(60)).unwrap();
    assert_eq!((status.dirty_lines, status.damaged_lines), (1, 1));
    assert!(bed.tier.since_open() < Duration::from_secs(50), "nothing is waited for");
}

#[test]
fn a_delay_of_flushes_is_set_read_back_and_taken_off_and_one_too_long_is_refused() {
    let mut bed = Bed::new();
    let (_server, client) = bed.start();
    let delay = Duration::from_millis(5);
    let set = client.delay_flushes(delay).unwrap().pool.flush_times;
    assert_eq!((set.delay, set.flushes, set.mean_delay()), (delay, 0, None));
    bed.tier.write(0, 0, &[1; 4096]).unwrap();
    bed.tier.flush(0).unwrap();
    bed.tier.flush(1).unwrap();
    // The clock of this pool moves by sleeping alone.
    let twice = FlushTimes { delay, flushes: 2, took: 2 * delay, delayed: 2 * delay };
    assert_eq!(client.reading().unwrap().pool.flush_times, twice);
    let refused = client.delay_flushes(MOST_FLUSH_DELAY + delay).unwrap_err().to_string();
    assert!(refused.contains("10005") && refused.contains("at most 10000"), "{refused}");
    assert_eq!(client.reading().unwrap().pool.flush_times, twice);
    let anew = FlushTimes { delay, ..FlushTimes::default() };
    assert_eq!(client.delay_flushes(delay).unwrap().pool.flush_times, anew, "what is set anew is counted anew");
    let longer = client.delay_flushes(2 * delay).unwrap().pool.flush_times;
    assert_eq!((longer.delay, longer.flushes), (2 * delay, 0), "another delay");
    client.free_disks().unwrap();
    bed.tier.flush(0).unwrap();
    let freed = client.reading().unwrap().pool.flush_times;
    assert_eq!((freed.delay, freed.flushes, freed.took), (Duration::ZERO, 1, Duration::ZERO));
}

#[test]
fn a_server_that_stops_leaves_no_file_and_gives_the_pool_back_also_to_a_silent_client() {
    let mut bed = Bed::new();
    let (server, client) = bed.start();
    let mut silent = UnixStream::connect(&bed.path).unwrap();
    client.reading().unwrap();
    drop(server);
    assert!(!bed.path.exists());
    silent.read_to_end(&mut Vec::new()).unwrap();
    assert!(client.reading().is_err());
    Arc::try_unwrap(bed.tier).ok().unwrap().close().unwrap();
}

#[test]
fn a_retired_server_holds_the_pool_no_more_and_its_file_stays_until_it_is_dropped() {
    let mut bed = Bed::new();
    let (server, client) = bed.start();
    let retired = server.retire();
    assert!(bed.path.exists() && client.reading().is_err());
    Arc::try_unwrap(bed.tier).ok().unwrap().close().unwrap();
    drop(retired);
    assert!(!bed.path.exists());
}

#[test]
fn a_stale_socket_is_replaced_and_a_live_one_or_a_file_is_refused_by_name() {
    let mut bed = Bed::new();
    drop(UnixListener::bind(&bed.path).unwrap());
    let subject = bed.subject.clone().unwrap();
    let (_server, client) = bed.start();
    let again = ControlServer::start(&bed.path, subject.clone()).err().unwrap().to_string();
    assert!(again.contains(&bed.path.display().to_string()) && again.contains("listens"), "{again}");
    client.reading().unwrap();
    let file = bed.folder.path().join("file");
    std::fs::write(&file, "content").unwrap();
    assert!(ControlServer::start(&file, subject).is_err());
    assert_eq!(std::fs::read(&file).unwrap(), b"content");
}

#[test]
fn a_long_path_works() {
    let mut bed = Bed::new();
    let folder = bed.folder.path().join("f".repeat(120)).join("g".repeat(120));
    std::fs::create_dir_all(&folder).unwrap();
    bed.path = folder.join("control");
    let (server, client) = bed.start();
    client.reading().unwrap();
    drop(server);
    assert!(!bed.path.exists());
}

#[test]
fn garbage_of_any_length_is_answered_or_dropped_and_others_are_served() {
    let mut bed = Bed::new();
    let (_server, client) = bed.start();
    let _silent = UnixStream::connect(&bed.path).unwrap();
    for length in 0..40 {
        let mut stream = UnixStream::connect(&bed.path).unwrap();
        stream.write_all(&vec![b'P'; length]).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        // What the server did not read resets the connection behind its answer.
        let _reset = stream.read_to_end(&mut answer);
        assert!(answer.starts_with(b"PLcs"), "{length}");
        client.reading().unwrap();
    }
}

#[test]
fn an_answer_that_ends_early_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("control");
    let listener = UnixListener::bind(&path).unwrap();
    let client = ControlClient::connect(&path).unwrap();
    drop(listener.accept().unwrap());
    let asked = std::thread::spawn(move || client.reading());
    let (mut stream, _) = listener.accept().unwrap();
    stream.read_exact(&mut [0; 16]).unwrap();
    stream.write_all(b"PLcs").unwrap();
    drop(stream);
    assert!(asked.join().unwrap().unwrap_err().frame_fault().is_some());
}

#[test]
fn a_second_drain_is_refused_while_readings_go_on() {
    let mut bed = Bed::new();
    let (_server, client) = bed.start();
    let (begun, begins) = sync_channel(1);
    let (release, released) = sync_channel::<()>(0);
    let mut first = true;
    // The first write of the cleaner waits until the test lets it go on.
    bed.origin.fail_when(move |call| {
        if call == Call::Write && std::mem::take(&mut first) {
            begun.send(()).unwrap();
            released.recv().unwrap();
        }
        false
    });
    let other = client.clone();
    let drain = std::thread::spawn(move || other.drain(Duration::from_secs(60)));
    begins.recv().unwrap();
    let refused = client.drain(Duration::from_secs(60)).unwrap_err().to_string();
    assert!(refused.contains("another drain is running"), "{refused}");
    assert!(client.reading().unwrap().pool.status.dirty_lines > 0);
    release.send(()).unwrap();
    assert_eq!(drain.join().unwrap().unwrap().dirty_lines, 0);
}

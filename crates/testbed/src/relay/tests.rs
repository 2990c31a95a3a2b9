//! Relays between real sockets: order and content under holds, delay, rate, half-closed streams, ends that die.

use super::*;
use crate::test_clock::TestClock;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Instant;

/// How long what must come is awaited where threads stand still.
const LONG: Duration = Duration::from_secs(60);

struct Wire {
    relay: Relay,
    near: UnixStream,
    far: UnixStream,
    server: UnixListener,
    folder: tempfile::TempDir,
}

fn wire(delay: Duration, rate: Option<u64>) -> Wire {
    let folder = tempfile::tempdir().unwrap();
    // A path that no socket's address can hold.
    let long = folder.path().join("x".repeat(150));
    std::fs::create_dir(&long).unwrap();
    let (at, to) = (long.join("relay"), long.join("server"));
    let Listener::Unix(server) = Listener::at(&SocketPlace::File(to.clone())).unwrap() else { unreachable!("a file") };
    let law = LinkLaw { delay, rate: rate.map(BytesPerSecond) };
    let relay =
        Relay::start(&SocketPlace::File(at.clone()), SocketPlace::File(to), law, Arc::new(TestClock::new())).unwrap();
    let Stream::Unix(near) = Stream::connect(&SocketPlace::File(at)).unwrap() else { unreachable!("a file") };
    let (far, _) = server.accept().unwrap();
    for end in [&near, &far] {
        end.set_read_timeout(Some(LONG)).unwrap();
    }
    Wire { relay, near, far, server, folder }
}

/// Bytes of which each position is known.
fn content(length: usize) -> Vec<u8> {
    (0..length as u64).map(|place| (place.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect()
}

#[test]
fn content_and_order_stay_whatever_is_held_meanwhile() {
    let Wire { relay, mut near, mut far, .. } = wire(Duration::ZERO, None);
    // More than may be under way.
    let sent = content(20_000_000);
    let expected = sent.clone();
    let holder = std::thread::spawn(move || {
        for pause in [3, 1, 7, 2, 5] {
            relay.hold(&Way::BOTH, true);
            std::thread::sleep(Duration::from_millis(pause));
            relay.hold(&Way::BOTH, false);
            std::thread::sleep(Duration::from_millis(pause));
        }
        relay
    });
    let writer = std::thread::spawn(move || {
        near.write_all(&sent).unwrap();
        // A link that is let go on takes an end that sends no more for one that died.
        let relay = holder.join().unwrap();
        near.shutdown(Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        near.read_to_end(&mut answer).unwrap();
        (answer, relay)
    });
    let mut found = Vec::new();
    far.read_to_end(&mut found).unwrap();
    assert!(found == expected, "{} of {} bytes came, or others", found.len(), expected.len());
    // The other direction is open still.
    far.write_all(b"thanks").unwrap();
    drop(far);
    let (answer, relay) = writer.join().unwrap();
    assert_eq!(answer, b"thanks");
    drop(relay);
}

#[test]
fn every_byte_takes_the_delay_and_none_waits_for_another() {
    let Wire { relay, mut near, mut far, .. } = wire(Duration::from_secs(2), None);
    let begun = Instant::now();
    let mut byte = [0];
    for number in 0..20 {
        near.write_all(&[number]).unwrap();
        std::thread::sleep(Duration::from_millis(2));
    }
    for number in 0..20 {
        far.read_exact(&mut byte).unwrap();
        assert_eq!(byte, [number]);
        assert!(begun.elapsed() >= Duration::from_millis(1_998));
    }
    assert!(begun.elapsed() < Duration::from_secs(36), "twenty delays of 2 s one after the other take forty");
    let trips = relay.round_trips(1).unwrap();
    assert!(trips.iter().all(|trip| *trip >= Duration::from_millis(3_998)), "{trips:?}");
}

#[test]
fn all_connections_share_the_rate_of_the_link() {
    let Wire { relay, near, far, server, folder } = wire(Duration::ZERO, Some(10_000_000));
    let at = folder.path().join("x".repeat(150)).join("relay");
    let Stream::Unix(second) = Stream::connect(&SocketPlace::File(at)).unwrap() else { unreachable!("a file") };
    let (second_far, _) = server.accept().unwrap();
    let begun = Instant::now();
    let both = [(near, far), (second, second_far)].map(|(mut near, mut far)| {
        std::thread::spawn(move || near.write_all(&content(1_000_000)).unwrap());
        std::thread::spawn(move || {
            let mut found = vec![0; 1_000_000];
            far.read_exact(&mut found).unwrap();
            assert!(found == content(1_000_000));
        })
    });
    both.into_iter().for_each(|one| one.join().unwrap());
    assert!(begun.elapsed() >= Duration::from_millis(190), "two megabytes at ten a second in {:?}", begun.elapsed());
    drop(relay);
}

#[test]
fn what_is_held_does_not_come_and_comes_afterwards() {
    let Wire { relay, mut near, mut far, .. } = wire(Duration::ZERO, None);
    relay.hold(&Way::BOTH, true);
    near.write_all(b"late").unwrap();
    far.set_read_timeout(Some(Duration::from_millis(150))).unwrap();
    let mut found = [0; 4];
    assert!(far.read(&mut found).is_err(), "nothing passes a link that is held");
    relay.hold(&Way::BOTH, false);
    far.set_read_timeout(Some(LONG)).unwrap();
    far.read_exact(&mut found).unwrap();
    assert_eq!(&found, b"late");
}

#[test]
fn what_an_end_sent_that_died_while_the_link_was_held_is_lost() {
    let Wire { relay, mut near, mut far, .. } = wire(Duration::ZERO, None);
    let mut byte = [0];
    near.write_all(b"a").unwrap();
    far.read_exact(&mut byte).unwrap();
    relay.hold(&Way::BOTH, true);
    near.write_all(b"acknowledged and gone").unwrap();
    drop(near);
    // A process that another test is starting has a copy of the end until it runs its program.
    let is_lost = || relay.link.connections.lock().unwrap().iter().any(RelayedConnection::has_lost_an_end);
    let begun = Instant::now();
    while !is_lost() {
        assert!(begun.elapsed() < LONG, "the end stays open");
        std::thread::sleep(Duration::from_millis(1));
    }
    relay.hold(&Way::BOTH, false);
    let mut found = Vec::new();
    let _broken = far.read_to_end(&mut found);
    assert_eq!(found, b"", "a partition does not deliver for the dead");
}

#[test]
fn a_connection_asked_for_while_nothing_passes_reaches_nobody_until_then() {
    let Wire { relay, server, folder, .. } = wire(Duration::ZERO, None);
    let at = SocketPlace::File(folder.path().join("x".repeat(150)).join("relay"));
    relay.hold(&Way::BOTH, true);
    for _ in 0..300 {
        drop(Stream::connect(&at).unwrap());
    }
    let mut patient = Stream::connect(&at).unwrap();
    patient.write_all(b"after all").unwrap();
    let begun = Instant::now();
    let is_there = |one: &&Stream| !sys::peer_has_closed(*one);
    // It came last: once it is taken, all others were.
    while relay.link.waiting.lock().unwrap().iter().filter(is_there).count() != 1 {
        assert!(begun.elapsed() < LONG, "it is not taken");
        std::thread::sleep(Duration::from_millis(5));
    }
    server.set_nonblocking(true).unwrap();
    assert!(server.accept().is_err(), "the server knows of none");
    let waiting = relay.link.waiting.lock().unwrap().len();
    assert!((1..=10).contains(&waiting), "those that gave up are forgotten: {waiting}");
    relay.hold(&Way::BOTH, false);
    server.set_nonblocking(false).unwrap();
    let (mut found, mut bytes) = (server.accept().unwrap().0, [0; 9]);
    found.read_exact(&mut bytes).unwrap();
    assert_eq!(&bytes, b"after all");
}

#[test]
fn a_relay_that_ends_closes_its_connections_and_leaves_no_file() {
    let Wire { relay, mut near, far, folder, .. } = wire(10 * LONG, None);
    near.write_all(b"under way").unwrap();
    relay.hold(&Way::BOTH, true);
    let begun = Instant::now();
    drop(relay);
    assert!(begun.elapsed() < LONG, "it waits for none that is under way");
    let mut found = Vec::new();
    let _broken = (&far).read_to_end(&mut found);
    assert_eq!(found, b"");
    assert!(!folder.path().join("x".repeat(150)).join("relay").exists());
}

#[test]
fn a_port_is_relayed_refused_and_taken_again() {
    let far = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let place = |port: u16| SocketPlace::Host { host: "127.0.0.1".to_owned(), port };
    let free = proofload_engine::free_port(Ipv4Addr::LOCALHOST.into()).unwrap();
    let law = LinkLaw { delay: Duration::from_millis(5), rate: None };
    let to = place(far.local_addr().unwrap().port());
    let relay = Relay::start(&place(free), to, law, Arc::new(TestClock::new())).unwrap();
    for _ in 0..2 {
        let mut near = Stream::connect(&place(free)).unwrap();
        let (mut end, _) = far.accept().unwrap();
        let begun = Instant::now();
        near.write_all(b"ask").unwrap();
        end.read_exact(&mut [0; 3]).unwrap();
        assert!(begun.elapsed() >= Duration::from_millis(4), "{:?}", begun.elapsed());
        relay.close();
        assert!(relay.refuses() && end.read(&mut [0]).is_ok_and(|count| count == 0), "closed and refused");
        relay.open().unwrap();
        assert!(!relay.refuses());
        let _of_the_look = far.accept().unwrap();
    }
}

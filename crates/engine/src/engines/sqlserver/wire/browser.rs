//! Asks the browser service of a host for the TCP port of a named instance. The service is silent for an instance that it does not know, so
//! that the last question is for all of them. Source: [MC-SQLR], "SQL Server Resolution Protocol", 2.2.

use crate::contract::{Error, ErrorClass};
use crate::engines::sqlserver::address::ServerAddress;
use crate::engines::wire::Place;
use proofload_model::units::duration_text;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::task::Poll;
use std::time::Duration;
use tokio::io::ReadBuf;
use tokio::net::{UdpSocket, lookup_host};

/// `CLNT_UCAST_INST`: tell of this instance. Source: 2.2.3.
const ASKS_ONE: u8 = 0x04;
/// `CLNT_UCAST_EX`: tell of all instances. Source: 2.2.2.
const ASKS_ALL: u8 = 0x03;
/// `SVR_RESP`. Source: 2.2.5.
const ANSWERS: u8 = 0x05;
/// Bytes that an answer may have.
const MOST_BYTES: usize = 3 + 65_535;
/// An answer is waited for no longer, three times.
const WAIT: Duration = Duration::from_secs(2);

/// An instance as the service tells of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct BrowserEntry {
    name: String,
    /// Its TCP port, where it listens at one.
    port: Option<String>,
}

/// Where the server of an address listens: that of a named instance as the browser service says, which has to answer within a part of
/// `patience`, any other as the URL says.
pub(super) async fn located(address: &ServerAddress, patience: Duration) -> Result<ServerAddress, Error> {
    let mut located = address.clone();
    if let (Place::Tcp { address: host, port, .. }, Some(instance)) = (&mut located.place, &address.instance) {
        *port = port_of(host, instance, address.browser_port, WAIT.min(patience / 4)).await?;
    }
    Ok(located)
}

/// The port of an instance of a host.
async fn port_of(host: &str, instance: &str, browser_port: u16, wait: Duration) -> Result<u16, Error> {
    let place = format!("the browser service of {host} (UDP port {browser_port})");
    let lost = |text: String| Error::new(ErrorClass::ConnectionLost, "", text);
    let failed = |error: io::Error| lost(format!("ask {place} for the instance {instance}: {error}"));
    let addresses: Vec<SocketAddr> = lookup_host((host, browser_port)).await.map_err(failed)?.collect();
    let (mut sockets, mut unusable) = (Vec::new(), None);
    for address in addresses {
        match socket_to(address).await {
            Ok(socket) => sockets.push(socket),
            Err(error) => unusable = Some(error),
        }
    }
    if sockets.is_empty() {
        return Err(failed(unusable.unwrap_or_else(|| io::Error::other("the name resolves to no address"))));
    }
    let mut one = vec![ASKS_ONE];
    one.extend_from_slice(instance.as_bytes());
    one.push(0);
    for question in [&one[..], &one[..], &[ASKS_ALL][..]] {
        if let Some(answer) = answer_to(question, &mut sockets, wait).await {
            let entries = entries(&answer).ok_or_else(|| lost(format!("{place} sent what is no answer, or is cut")))?;
            return chosen(&entries, instance, &place);
        }
        if sockets.is_empty() {
            return Err(lost(format!(
                "{place} is not there: start the service SQL Server Browser, or name the port of {instance} instead of its name"
            )));
        }
    }
    Err(lost(format!(
        "{place} did not answer within {}, neither for {instance} nor for all instances: start the service SQL Server Browser, let this \
         port through firewalls, or name the port of {instance} instead of its name",
        duration_text(wait * 3)
    )))
}

/// A socket that sends to an address, and hears nobody else.
async fn socket_to(address: SocketAddr) -> io::Result<UdpSocket> {
    let own: IpAddr = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((own, 0)).await?;
    socket.connect(address).await?;
    Ok(socket)
}

/// Sends a question on every socket; the first answer, `None` where nobody gives one in time. Sockets to which nobody listens leave.
async fn answer_to(question: &[u8], sockets: &mut Vec<UdpSocket>, wait: Duration) -> Option<Vec<u8>> {
    let mut reached = Vec::new();
    for socket in sockets.drain(..) {
        if socket.send(question).await.is_ok() {
            reached.push(socket);
        }
    }
    *sockets = reached;
    let mut room = vec![0; MOST_BYTES];
    let first = std::future::poll_fn(|context| {
        let mut place = 0;
        while let Some(socket) = sockets.get(place) {
            let mut buffer = ReadBuf::new(&mut room);
            match socket.poll_recv(context, &mut buffer) {
                Poll::Ready(Ok(())) => return Poll::Ready(Some(buffer.filled().to_vec())),
                Poll::Ready(Err(_)) => drop(sockets.remove(place)),
                Poll::Pending => place += 1,
            }
        }
        if sockets.is_empty() { Poll::Ready(None) } else { Poll::Pending }
    });
    tokio::time::timeout(wait, first).await.ok().flatten()
}

/// The instances that an answer tells of; `None` where it is none, or is cut.
fn entries(answer: &[u8]) -> Option<Vec<BrowserEntry>> {
    let [ANSWERS, low, high, data @ ..] = answer else { return None };
    if data.len() != usize::from(u16::from_le_bytes([*low, *high])) {
        return None;
    }
    let text = String::from_utf8_lossy(data);
    let (mut words, mut found, mut entry) = (text.split(';'), Vec::new(), BrowserEntry::default());
    // Each name is followed by its value, and an empty name ends an instance.
    while let Some(name) = words.next() {
        if name.is_empty() {
            if !entry.name.is_empty() {
                found.push(std::mem::take(&mut entry));
            }
            continue;
        }
        let value = words.next()?;
        match name {
            "InstanceName" => value.clone_into(&mut entry.name),
            "tcp" => entry.port = Some(value.to_owned()),
            _ => {}
        }
    }
    // What does not end with an empty name is cut.
    entry.name.is_empty().then_some(found)
}

/// The port of an instance among those that were told.
fn chosen(entries: &[BrowserEntry], instance: &str, place: &str) -> Result<u16, Error> {
    let Some(entry) = entries.iter().find(|entry| entry.name.eq_ignore_ascii_case(instance)) else {
        let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
        let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        return Err(Error::other(format!("{place} knows no instance {instance}; it knows {known}")));
    };
    let Some(port) = &entry.port else {
        let text = format!(
            "{place} says that the instance {instance} does not listen by TCP: enable TCP/IP for it in SQL Server Configuration Manager \
             and restart it"
        );
        return Err(Error::other(text));
    };
    // With several ports, each is as good as the others.
    let told = port.split(',').next().and_then(|port| port.trim().parse::<u16>().ok()).filter(|port| *port != 0);
    told.ok_or_else(|| Error::other(format!("{place} tells {port:?} as the port of {instance}, which is no port")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// [MC-SQLR] 4: the answer for the instance YUKONSTD, whose length is 88 bytes.
    const PUBLISHED: &[u8] =
        b"\x05\x58\x00ServerName;ILSUNG1;InstanceName;YUKONSTD;IsClustered;No;Version;9.00.1399.06;tcp;57137;;";

    fn answer(text: &str) -> Vec<u8> {
        let mut answer = vec![ANSWERS];
        answer.extend_from_slice(&u16::try_from(text.len()).expect("a short text").to_le_bytes());
        answer.extend_from_slice(text.as_bytes());
        answer
    }

    fn port(answer: &[u8], instance: &str) -> Result<u16, String> {
        let entries = entries(answer).ok_or("no answer")?;
        chosen(&entries, instance, "the browser service").map_err(|error| error.to_string())
    }

    #[test]
    fn the_published_answer_is_read_and_nothing_of_what_is_cut() {
        assert_eq!(port(PUBLISHED, "yukonstd"), Ok(57_137));
        for cut in 0..PUBLISHED.len() {
            assert_eq!(entries(&PUBLISHED[..cut]), None, "cut at {cut}");
            // Cut, and with the length of what is left.
            if let Ok(text) = std::str::from_utf8(&PUBLISHED[cut.min(3)..cut]) {
                let read = port(&answer(text), "YUKONSTD");
                assert!(read.is_err() || cut + 1 == PUBLISHED.len(), "cut at {cut}: {read:?}");
            }
        }
    }

    #[test]
    fn an_instance_is_found_among_many() {
        let many = answer(
            "ServerName;A;InstanceName;ONE;IsClustered;No;Version;15.0;np;\\\\A\\pipe;;ServerName;A;InstanceName;TWO;IsClustered;No;\
             Version;16.0;np;\\\\A\\pipe;tcp;1500,1501;;",
        );
        assert_eq!(port(&many, "two"), Ok(1500));
        let error = port(&many, "ONE").expect_err("it has no port");
        assert!(error.contains("does not listen by TCP"), "{error}");
        let error = port(&many, "THREE").expect_err("it is not there");
        assert!(error.contains("no instance THREE; it knows ONE, TWO"), "{error}");
        let error = port(&answer(""), "ONE").expect_err("nothing is there");
        assert!(error.contains("it knows none"), "{error}");
        for wrong in ["0", "70000", "x", ""] {
            let told = answer(&format!("ServerName;A;InstanceName;ONE;IsClustered;No;Version;15.0;tcp;{wrong};;"));
            let error = port(&told, "ONE").expect_err("it is no port");
            assert!(error.contains("is no port"), "{error}");
        }
    }

    /// Its answers are silence; the questions are the published ones of [MC-SQLR] 2.2.2 and 2.2.3.
    #[tokio::test]
    async fn silence_is_waited_for_three_times_and_told() {
        let silent = std::net::UdpSocket::bind(("127.0.0.1", 0)).expect("a free port");
        let port = silent.local_addr().expect("it is bound").port();
        let error = port_of("127.0.0.1", "SALES", port, Duration::from_millis(20)).await.expect_err("nobody answers");
        assert_eq!(error.class(), ErrorClass::ConnectionLost, "{error}");
        assert!(error.to_string().contains("did not answer within 60ms"), "{error}");
        silent.set_read_timeout(Some(Duration::from_secs(30))).expect("it is a socket");
        for expected in [&b"\x04SALES\0"[..], b"\x04SALES\0", b"\x03"] {
            let mut room = [0; 64];
            let (size, _) = silent.recv_from(&mut room).expect("a question");
            assert_eq!(room[..size], *expected);
        }
    }

    #[tokio::test]
    async fn a_host_without_the_service_is_told() {
        let free = std::net::UdpSocket::bind(("127.0.0.1", 0)).and_then(|socket| socket.local_addr());
        let port = free.expect("a free port").port();
        let error = port_of("127.0.0.1", "SALES", port, Duration::from_millis(20)).await.expect_err("nobody is there");
        assert!(error.to_string().contains("start the service SQL Server Browser"), "{error}");
    }

    /// The service is silent for an instance that it does not know, and tells of all when it is asked for them.
    #[tokio::test]
    async fn an_instance_that_is_not_known_is_told_with_those_that_are() {
        let service = std::net::UdpSocket::bind(("127.0.0.1", 0)).expect("a free port");
        let port = service.local_addr().expect("it is bound").port();
        std::thread::spawn(move || {
            let mut room = [0; 64];
            while let Ok((size, from)) = service.recv_from(&mut room) {
                if room[..size] == [ASKS_ALL] {
                    let _sent = service.send_to(PUBLISHED, from);
                }
            }
        });
        let mut told = String::new();
        // A busy machine gets more time.
        for wait in [50, 1_000, 20_000].map(Duration::from_millis) {
            told = port_of("127.0.0.1", "SALES", port, wait).await.expect_err("it is not known").to_string();
            if !told.contains("did not answer") {
                break;
            }
        }
        assert!(told.contains("knows no instance SALES; it knows YUKONSTD"), "{told}");
    }

    #[test]
    fn other_messages_are_no_answers() {
        for wrong in [&b""[..], b"\x05", b"\x05\x01\x00", b"\x04\x00\x00", b"\x05\x00\x00x", b"\x05\x01\x00x"] {
            assert_eq!(entries(wrong), None, "{wrong:?}");
        }
    }
}

//! Log-on, which makes a session of a connected socket: greeting, TLS where it is asked for, proof of the password. Reads no byte beyond the packet that it
//! waits for, so that nothing that came unencrypted is taken for what came encrypted. Source: knowledge base, "ServerConnection".

use super::answer::error;
use super::auth::{self, CACHING_SHA2, NATIVE};
use super::packet::{self, HEAD, PacketReader, broken, put_bytes};
use crate::contract::{Error, ErrorClass};
use crate::engines::mysql_family::address::{Encryption, ServerAddress};
use crate::engines::mysql_family::version::ServerVersion;
use crate::engines::wire::{Place, Socket, encrypted, open};
use bytes::{BufMut as _, BytesMut};
use std::ops::BitOr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// What a client or a server can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Abilities(u64);

impl Abilities {
    /// Set by MySQL; a server that leaves it unset is MariaDB, and tells more abilities of its own.
    const MYSQL: Self = Self(1);
    /// Rows that a condition finds count as touched, also where nothing changes.
    const FOUND_ROWS: Self = Self(1 << 1);
    const WITH_DATABASE: Self = Self(1 << 3);
    const LOCAL_FILES: Self = Self(1 << 7);
    const PROTOCOL_41: Self = Self(1 << 9);
    const TLS: Self = Self(1 << 11);
    const TRANSACTIONS: Self = Self(1 << 13);
    const SECURE: Self = Self(1 << 15);
    const SEVERAL_STATEMENTS: Self = Self(1 << 16);
    const SEVERAL_RESULTS: Self = Self(1 << 17);
    const SEVERAL_RESULTS_OF_PREPARED: Self = Self(1 << 18);
    const AUTH_PLUGINS: Self = Self(1 << 19);
    const SIZED_AUTH: Self = Self(1 << 21);
    const WITHOUT_EOF: Self = Self(1 << 24);
    const CACHES_COLUMNS: Self = Self(1 << 36);

    fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Abilities {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// utf8mb4, by a collation that every server has.
const UTF8MB4: u8 = 45;
/// The longest packet that we take.
const MOST_BYTES: u32 = 1 << 24;
/// Reserved bytes of our answer to the greeting, before MariaDB's own abilities.
const RESERVED: usize = 19;

/// A session that stands.
pub(super) struct SessionSocket {
    pub(super) socket: Socket,
    pub(super) version: ServerVersion,
    pub(super) caches_columns: bool,
}

/// What a server says first.
#[derive(Debug)]
struct Greeting {
    version: String,
    abilities: Abilities,
    salt: Vec<u8>,
    method: String,
}

/// Connects and logs on.
pub(super) async fn log_on(address: &ServerAddress, database: Option<&str>) -> Result<SessionSocket, Error> {
    let work = async {
        let socket = open(&address.place, &address.options).await?;
        let mut link = PacketLink { socket, number: 0 };
        let greeting = greeting(&link.receive().await?)?;
        address.flavour.check_version(&greeting.version)?;
        let wanted = wanted(&greeting, database)?;
        let link = encrypt(link, address, wanted, &greeting).await?;
        prove(link, address, database, wanted, greeting).await
    };
    match address.options.patience {
        None => work.await,
        Some(patience) => tokio::time::timeout(patience, work)
            .await
            .unwrap_or_else(|_| Err(lost("the server did not let us in within the connect timeout"))),
    }
}

/// Packets before a session stands.
struct PacketLink {
    socket: Socket,
    number: u8,
}

impl PacketLink {
    async fn receive(&mut self) -> Result<Vec<u8>, Error> {
        let mut head = [0; HEAD];
        self.socket.read_exact(&mut head).await.map_err(|error| lost(&format!("logging on: {error}")))?;
        let [first, second, third, number] = head;
        self.number = number;
        let mut body = vec![0; u32::from_le_bytes([first, second, third, 0]) as usize];
        self.socket.read_exact(&mut body).await.map_err(|error| lost(&format!("logging on: {error}")))?;
        if body.first() == Some(&0xFF) { Err(error(&body)) } else { Ok(body) }
    }

    async fn send(&mut self, write: impl FnOnce(&mut BytesMut)) -> Result<(), Error> {
        self.number = self.number.wrapping_add(1);
        let mut out = BytesMut::new();
        let start = packet::begin(&mut out);
        write(&mut out);
        packet::end(&mut out, start, self.number)?;
        let sent = async {
            self.socket.write_all(&out).await?;
            self.socket.flush().await
        };
        sent.await.map_err(|error| lost(&format!("logging on: {error}")))
    }
}

fn greeting(body: &[u8]) -> Result<Greeting, Error> {
    let mut reading = PacketReader(body);
    let mut read = || {
        let version = reading.byte()?;
        let server = String::from_utf8_lossy(reading.until_zero()).into_owned();
        let (_thread, salt) = (reading.long()?, reading.bytes(8)?.to_vec());
        let (_zero, low) = (reading.byte()?, reading.short()?);
        let (_set, _status, high) = (reading.byte()?, reading.short()?, reading.short()?);
        let (salt_length, _reserved, more) = (reading.byte()?, reading.bytes(6)?, reading.long()?);
        let rest = reading.bytes(usize::from(salt_length).saturating_sub(9).max(12))?;
        // A zero ends the salt.
        let _zero = reading.byte();
        let common = Abilities(u64::from(low) | u64::from(high) << 16);
        let own = if common.has(Abilities::MYSQL) { 0 } else { u64::from(more) << 32 };
        let method = String::from_utf8_lossy(reading.until_zero()).into_owned();
        Some((
            version,
            Greeting { version: server, abilities: common | Abilities(own), salt: [&salt, rest].concat(), method },
        ))
    };
    match read() {
        Some((10, greeting)) => Ok(greeting),
        Some((version, _)) => {
            Err(Error::other(format!("the server speaks version {version} of the protocol; 10 is needed")))
        }
        None => Err(broken("a greeting that ends early")),
    }
}

/// What we ask of the session.
fn wanted(greeting: &Greeting, database: Option<&str>) -> Result<Abilities, Error> {
    let needed = Abilities::PROTOCOL_41
        | Abilities::TRANSACTIONS
        | Abilities::SECURE
        | Abilities::SEVERAL_STATEMENTS
        | Abilities::SEVERAL_RESULTS
        | Abilities::SEVERAL_RESULTS_OF_PREPARED
        | Abilities::AUTH_PLUGINS
        | Abilities::SIZED_AUTH
        | Abilities::WITHOUT_EOF;
    if !greeting.abilities.has(needed) {
        let text =
            "the server lacks abilities of the protocol that MariaDB 10.2 and MySQL 5.7.5 have; a newer one is needed";
        return Err(Error::other(text));
    }
    let offered = |ability: Abilities| if greeting.abilities.has(ability) { ability } else { Abilities(0) };
    let optional = offered(Abilities::CACHES_COLUMNS) | offered(Abilities::LOCAL_FILES);
    let database = database.map_or(Abilities(0), |_| Abilities::WITH_DATABASE);
    Ok(needed | Abilities::FOUND_ROWS | optional | database)
}

/// The part of our answer that a request for TLS has as well.
fn put_head(wanted: Abilities, out: &mut BytesMut) {
    out.put_u32_le((wanted.0 & 0xFFFF_FFFF) as u32);
    out.put_u32_le(MOST_BYTES);
    out.put_u8(UTF8MB4);
    out.put_bytes(0, RESERVED);
    out.put_u32_le((wanted.0 >> 32) as u32);
}

/// Shakes hands for TLS where it is asked for, on TCP.
async fn encrypt(
    mut link: PacketLink,
    address: &ServerAddress,
    wanted: Abilities,
    greeting: &Greeting,
) -> Result<PacketLink, Error> {
    let asked = match (&link.socket, address.tls.mode) {
        (Socket::Tcp(_), mode) => mode,
        _ => Encryption::Disabled,
    };
    let can = greeting.abilities.has(Abilities::TLS);
    if asked == Encryption::Disabled || (asked == Encryption::Preferred && !can) {
        return Ok(link);
    }
    if !can {
        let text = "the server does not speak TLS, which ssl-mode asks for: give it a certificate (ssl_cert, ssl_key), or use \
                    ssl-mode=disabled on a private network";
        return Err(Error::other(text));
    }
    let client = address.tls.client()?;
    link.send(|out| put_head(wanted | Abilities::TLS, out)).await?;
    match (link.socket, &address.place) {
        (Socket::Tcp(stream), Place::Tcp { name, .. }) => {
            Ok(PacketLink { socket: encrypted(stream, name, client).await?, number: link.number })
        }
        (socket, _) => Ok(PacketLink { socket, number: link.number }),
    }
}

/// Proves the password by the method that the server wants.
async fn prove(
    mut link: PacketLink,
    address: &ServerAddress,
    database: Option<&str>,
    wanted: Abilities,
    greeting: Greeting,
) -> Result<SessionSocket, Error> {
    let password = address.password.as_ref().map_or("", |password| password.reveal()).as_bytes();
    let version = ServerVersion::of_text(&greeting.version);
    let Greeting { mut salt, mut method, .. } = greeting;
    // A method that we do not speak may be the server's default only, and not the account's.
    if auth::answer(&method, password, &salt, address.flavour).is_err() {
        method = NATIVE.to_owned();
    }
    let answer = auth::answer(&method, password, &salt, address.flavour)?;
    let is_private = !matches!(link.socket, Socket::Tcp(_));
    let tls = if matches!(link.socket, Socket::Tls(_)) { Abilities::TLS } else { Abilities(0) };
    link.send(|out| {
        put_head(wanted | tls, out);
        out.put_slice(address.user.as_bytes());
        out.put_u8(0);
        put_bytes(out, &answer);
        if let Some(database) = database {
            out.put_slice(database.as_bytes());
            out.put_u8(0);
        }
        out.put_slice(method.as_bytes());
        out.put_u8(0);
    })
    .await?;
    loop {
        let body = link.receive().await?;
        match (body.first(), body.get(1)) {
            (Some(0), _) => {
                let caches_columns = wanted.has(Abilities::CACHES_COLUMNS);
                return Ok(SessionSocket { socket: link.socket, version, caches_columns });
            }
            (Some(0xFE), Some(_)) => {
                let mut reading = PacketReader(&body[1..]);
                method = String::from_utf8_lossy(reading.until_zero()).into_owned();
                salt = reading.0.strip_suffix(&[0]).unwrap_or(reading.0).to_vec();
                let answer = auth::answer(&method, password, &salt, address.flavour)?;
                link.send(|out| out.put_slice(&answer)).await?;
            }
            // The server knows the password's hash; its word follows.
            (Some(1), Some(3)) => {}
            // It does not, and wants the password itself.
            (Some(1), Some(4)) if method == CACHING_SHA2 && is_private => {
                link.send(|out| {
                    out.put_slice(password);
                    out.put_u8(0);
                })
                .await?;
            }
            (Some(1), Some(4)) => {
                return Err(Error::other(
                    "the server wants the password itself for caching_sha2_password, which is not sent unencrypted: say \
                     ssl-mode=required in the URL, or connect over the server's socket",
                ));
            }
            _ => return Err(broken("an answer to the proof of a password")),
        }
    }
}

fn lost(text: &str) -> Error {
    Error::new(ErrorClass::ConnectionLost, "", text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::wire::Password;
    use tokio::net::{TcpListener, TcpStream, UnixStream};

    const SALT: &[u8] = b"12345678abcdefghijkl";

    /// A packet of a scripted server.
    fn packet(number: u8, body: &[u8]) -> Vec<u8> {
        [&[body.len() as u8, 0, 0, number][..], body].concat()
    }

    /// Reads one packet of the client.
    async fn heard(socket: &mut Socket) -> Vec<u8> {
        let mut head = [0; HEAD];
        socket.read_exact(&mut head).await.expect("a head");
        let mut body = vec![0; usize::from(head[0])];
        socket.read_exact(&mut body).await.expect("a body");
        body
    }

    /// What a server that knows the password's hash, or not, hears of a client that proves it by `caching_sha2_password`.
    async fn check(ours: Socket, mut theirs: Socket, knows: bool) -> Result<Vec<u8>, String> {
        let mut address = ServerAddress::parse("mysql://me@localhost/x").expect("an address");
        address.password = Some(Password::new("s3cret"));
        let link = PacketLink { socket: ours, number: 0 };
        let address_flavour = address.flavour;
        let greeting = Greeting {
            version: "9.7.4".to_owned(),
            abilities: Abilities(u64::MAX),
            salt: SALT.to_vec(),
            method: CACHING_SHA2.to_owned(),
        };
        let wanted = wanted(&greeting, Some("x")).expect("the server can all");
        let client = prove(link, &address, Some("x"), wanted, greeting);
        let server = async {
            let first = heard(&mut theirs).await;
            let proof = auth::answer(CACHING_SHA2, b"s3cret", SALT, address_flavour).expect("it is spoken");
            assert!(
                first.windows(proof.len()).any(|part| part == proof) && !first.windows(6).any(|part| part == b"s3cret")
            );
            let mut last = Vec::new();
            if knows {
                theirs.write_all(&packet(2, &[1, 3])).await.expect("writes");
                theirs.write_all(&packet(3, &[0, 0, 0, 2, 0, 0, 0])).await.expect("writes");
            } else {
                theirs.write_all(&packet(2, &[1, 4])).await.expect("writes");
                let mut byte = [0];
                if let Ok(1) = theirs.read(&mut byte).await {
                    last = vec![0; usize::from(byte[0]) + 3];
                    theirs.read_exact(&mut last).await.expect("the rest");
                    theirs.write_all(&packet(4, &[0, 0, 0, 2, 0, 0, 0])).await.expect("writes");
                }
            }
            last.split_off(last.len().min(3))
        };
        let client = async { client.await.map(|_| ()).map_err(|error| error.to_string()) };
        let (outcome, heard) = futures_util::future::join(client, server).await;
        outcome.map(|()| heard)
    }

    fn run(work: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(work);
    }

    #[test]
    fn a_password_itself_goes_over_private_ways_only() {
        run(async {
            let pair = || {
                UnixStream::pair()
                    .map(|(one, other)| (Socket::unix(one).expect("a socket"), Socket::unix(other).expect("a socket")))
                    .expect("a pair")
            };
            let (ours, theirs) = pair();
            assert_eq!(check(ours, theirs, true).await, Ok(Vec::new()), "the hash is known");
            let (ours, theirs) = pair();
            assert_eq!(check(ours, theirs, false).await, Ok(b"s3cret\0".to_vec()), "a socket of the host is private");
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let address = listener.local_addr().expect("an address");
            let (ours, theirs) = futures_util::future::join(TcpStream::connect(address), listener.accept()).await;
            let (ours, theirs) = (Socket::Tcp(ours.expect("connects")), Socket::Tcp(theirs.expect("accepts").0));
            let refused = check(ours, theirs, false).await.expect_err("it is not encrypted");
            assert!(refused.contains("ssl-mode=required") && !refused.contains("s3cret"), "{refused}");
        });
    }

    #[test]
    fn greetings_are_read_or_refused() {
        let tail =
            [&[0, 0xFF, 0xFF, 45, 2, 0, 0xFF, 0xFF, 21], &[0; 6][..], &[0x1D, 0, 0, 0], &SALT[8..], &[0], b"x_y\0"]
                .concat();
        let body = [&[10], &b"5.5.5-10.11\0"[..], &[1, 0, 0, 0], &SALT[..8], &tail].concat();
        let read = greeting(&body).expect("it is whole");
        assert_eq!((read.salt.as_slice(), read.method.as_str(), read.version.as_str()), (SALT, "x_y", "5.5.5-10.11"));
        assert!(!read.abilities.has(Abilities::CACHES_COLUMNS), "MySQL's last bytes say nothing");
        for end in 0..body.len() - 4 {
            assert!(greeting(&body[..end]).is_err() || end > body.len() - 6, "{end}");
        }
        assert!(greeting(&[&[9], &body[1..]].concat()).expect_err("another version").to_string().contains("version 9"));
    }
}

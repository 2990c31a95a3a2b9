//! Makes a session of a socket: first message, encryption, login. Below TDS 8.0 the handshake of TLS travels inside of packets, and may cover
//! the login alone. Source: [MS-TDS] 3.2.5.

use super::connection::{Event, ServerConnection};
use super::login::LoginRequest;
use super::packet::MessageKind;
use super::prelogin::{self, EncryptionWord};
use super::reading::broken;
use super::stream::{self, ByteStream};
use crate::contract::{Error, ErrorClass};
use crate::engines::sqlserver::address::{Encryption, ServerAddress};
use crate::engines::wire::{Place, Socket, encrypted, open};
use rustls::ClientConnection;
use rustls::pki_types::ServerName;
use std::sync::Arc;
use std::time::Duration;

/// An attempt takes no longer, unless the URL says otherwise.
const PATIENCE: Duration = Duration::from_secs(30);
/// What TLS is told to carry under TDS 8.0.
const PROTOCOL: &[u8] = b"tds/8.0";

/// Connects and logs on.
pub(super) async fn log_on(address: &ServerAddress, database: &str) -> Result<ServerConnection, Error> {
    let patience = address.options.patience.unwrap_or(PATIENCE);
    let late = |_| {
        Err(Error::new(ErrorClass::ConnectionLost, "", format!("the server did not let us in within {patience:?}")))
    };
    tokio::time::timeout(patience, log_on_in_time(address, database)).await.unwrap_or_else(late)
}

async fn log_on_in_time(address: &ServerAddress, database: &str) -> Result<ServerConnection, Error> {
    let mut socket = open(&address.place, &address.options).await?;
    let name = match &address.place {
        Place::Tcp { name, .. } => name.as_str(),
        Place::Unix(_) => "localhost",
    };
    let strict = address.encryption == Encryption::Strict;
    if strict {
        let Socket::Tcp(tcp) = socket else { return Err(Error::other("encrypt=strict needs a connection by TCP")) };
        let mut client = address.tls.config()?;
        client.alpn_protocols = vec![PROTOCOL.to_vec()];
        socket = encrypted(tcp, name, client).await?;
    }
    let mut connection = ServerConnection::on(ByteStream::new(socket));
    let scope = agree(&mut connection, address, name).await?;
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let request = LoginRequest {
        host: host.trim(),
        user: &address.user,
        password: address.password.as_ref(),
        server: name,
        database,
        program: &address.program,
        process: std::process::id(),
        strict,
    };
    connection.message = request.message();
    connection.send(MessageKind::Login).await?;
    if scope == Scope::Login {
        connection.stream().encrypt(None);
    }
    while !matches!(connection.next().await?, Event::Done { is_last: true, .. }) {}
    connection.outcome()?;
    if connection.is_routed() {
        let text = "the server asks to be left for another one (read-only routing of an availability group): name that one in the URL";
        return Err(Error::new(ErrorClass::ConnectionLost, "", text));
    }
    Ok(connection)
}

/// What is encrypted by our TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Nothing,
    Login,
    All,
}

/// Asks the server what it encrypts, and shakes hands.
async fn agree(connection: &mut ServerConnection, address: &ServerAddress, name: &str) -> Result<Scope, Error> {
    let word = match address.encryption {
        Encryption::None => EncryptionWord::NotSupported,
        Encryption::Login => EncryptionWord::Off,
        Encryption::All | Encryption::Strict => EncryptionWord::On,
    };
    connection.message = prelogin::request(word, std::process::id());
    connection.send(MessageKind::PreLogin).await?;
    let answer = prelogin::encryption(&connection.raw_answer().await?)?;
    let scope = match (address.encryption, answer) {
        (Encryption::Strict, _) | (Encryption::None, EncryptionWord::NotSupported | EncryptionWord::Off) => {
            return Ok(Scope::Nothing);
        }
        (Encryption::None, _) => {
            return Err(Error::other("the server wants encryption: set encrypt=optional or mandatory in the URL"));
        }
        (Encryption::Login, EncryptionWord::Off) => Scope::Login,
        (_, EncryptionWord::On | EncryptionWord::Required) => Scope::All,
        (Encryption::All, EncryptionWord::Off) => {
            return Err(broken("a server that encrypts the login alone where all was asked for"));
        }
        (_, EncryptionWord::NotSupported) => {
            let text = "the server cannot encrypt, not even the password: set encrypt=none in the URL where nobody listens between";
            return Err(Error::other(text));
        }
    };
    let tls = shake(connection, address, name).await?;
    connection.stream().encrypt(Some(Box::new(tls)));
    Ok(scope)
}

/// Shakes hands for TLS inside of packets.
async fn shake(
    connection: &mut ServerConnection,
    address: &ServerAddress,
    name: &str,
) -> Result<ClientConnection, Error> {
    let failed = |error: &dyn std::fmt::Display| {
        Error::new(ErrorClass::ConnectionLost, "", format!("the TLS handshake with the server failed: {error}"))
    };
    let server = ServerName::try_from(name.to_owned())
        .map_err(|_| Error::other(format!("{name:?} is not a valid name for a certificate")))?;
    let config = address.tls.config_of(&[&rustls::version::TLS12])?;
    let mut tls = ClientConnection::new(Arc::new(config), server).map_err(|error| failed(&error))?;
    loop {
        connection.message.clear();
        while tls.wants_write() {
            tls.write_tls(&mut connection.message).map_err(|error| failed(&error))?;
        }
        if !connection.message.is_empty() {
            connection.send(MessageKind::PreLogin).await?;
        }
        if !tls.is_handshaking() {
            return Ok(tls);
        }
        let answer = connection.raw_answer().await?;
        stream::open(&mut tls, &answer).map_err(|error| failed(&error))?;
    }
}

//! Makes a session of a socket: first message, encryption, login; where the server sends us on, the same at the other server. Below TDS 8.0
//! the handshake of TLS travels inside of packets, and may cover the login alone. Source: [MS-TDS] 3.2.5.

use super::browser;
use super::connection::{Event, ServerConnection};
use super::dial::dial;
use super::login::{self, LoginProof, LoginRequest};
use super::packet::MessageKind;
use super::prelogin::{EncryptionWord, FirstAnswer, FirstMessage};
use super::reading::broken;
use super::route::{MOST_ROUTES, ServerRoute};
use super::stream::{self, ByteStream};
use crate::contract::{Error, ErrorClass};
use crate::engines::sqlserver::address::{Authentication, Encryption, ServerAddress};
use crate::engines::wire::{Place, Socket, encrypted};
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
    tokio::time::timeout(patience, log_on_somewhere(address, database, patience)).await.unwrap_or_else(late)
}

/// Logs on at the server of the URL, or where that one, or those that follow, send us.
async fn log_on_somewhere(
    address: &ServerAddress,
    database: &str,
    patience: Duration,
) -> Result<ServerConnection, Error> {
    let mut address = browser::located(address, patience).await?;
    let mut last: Option<ServerRoute> = None;
    for _ in 0..=MOST_ROUTES {
        let server = last.as_ref().map(|route| route.server.as_str());
        let outcome = log_on_at(&address, database, server).await;
        let mut connection = outcome.map_err(|error| match &last {
            Some(route) => error.context(format!("go where the server sent us, to {}", route.in_words())),
            None => error,
        })?;
        let Some(route) = connection.take_route() else { return Ok(connection) };
        if !route.may_be_followed(&address) {
            let text = format!(
                "the server sent us to {}; its answer was not encrypted, so that anybody on the way may have said so: use encrypt=mandatory",
                route.in_words()
            );
            return Err(Error::new(ErrorClass::Other, "", text));
        }
        address = route.instead_of(&address);
        last = Some(*route);
    }
    let last = last.as_ref().map(ServerRoute::in_words).unwrap_or_default();
    let text = format!(
        "the server sent us on, and so did {MOST_ROUTES} others, the last one to {last}: look at the read-only routing lists of the \
         availability group"
    );
    Err(Error::new(ErrorClass::ConnectionLost, "", text))
}

/// Logs on at one server, which may have sent us on afterwards. `server` is its name as another one told it.
async fn log_on_at(address: &ServerAddress, database: &str, server: Option<&str>) -> Result<ServerConnection, Error> {
    let mut socket = dial(address).await?;
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
    let (scope, answer) = agree(&mut connection, address, name).await?;
    let proof = proof(address, scope, &answer)?;
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let request = LoginRequest {
        host: host.trim(),
        proof,
        server: server.unwrap_or(name),
        database,
        program: &address.program,
        process: std::process::id(),
        strict,
        read_only: address.read_only,
    };
    connection.message = request.message()?;
    let sent = connection.send(MessageKind::Login).await;
    // The secret does not stay in memory that is shown or used again.
    connection.message.fill(0);
    connection.message.clear();
    sent?;
    if scope == Scope::Login {
        connection.stream().encrypt(None);
    }
    while !matches!(connection.next().await?, Event::Done { is_last: true, .. }) {}
    connection.outcome()?;
    let features = connection.take_features();
    // A server that sends us on need not say what it would have taken.
    if !connection.is_routed() {
        login::check_acknowledgement(&features, proof)?;
    }
    Ok(connection)
}

/// How the account proves itself to this server. A token leaves for a proved server alone, and encrypted.
fn proof<'a>(address: &'a ServerAddress, scope: Scope, answer: &FirstAnswer) -> Result<LoginProof<'a>, Error> {
    let password = address.password.as_ref();
    let token = match (address.authentication, password) {
        (Authentication::Password, _) => return Ok(LoginProof::Account { user: &address.user, password }),
        (Authentication::Token, None) => return Err(Error::other("there is no access token to log on with")),
        (Authentication::Token, Some(token)) => token,
    };
    let all = scope == Scope::All || address.encryption == Encryption::Strict;
    if !all || !address.is_proved_and_encrypted() {
        return Err(Error::other("the access token was not sent: the server is not proved, or not all is encrypted"));
    }
    Ok(LoginProof::Token { token, echoes: answer.wants_token, nonce: answer.nonce })
}

/// What is encrypted by our TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Nothing,
    Login,
    All,
}

/// Asks the server what it encrypts, and shakes hands; what it said beside it.
async fn agree(
    connection: &mut ServerConnection,
    address: &ServerAddress,
    name: &str,
) -> Result<(Scope, FirstAnswer), Error> {
    let word = match address.encryption {
        Encryption::None => EncryptionWord::NotSupported,
        Encryption::Login => EncryptionWord::Off,
        Encryption::All | Encryption::Strict => EncryptionWord::On,
    };
    let instance = address.instance.as_deref().unwrap_or_default();
    let by_token = address.authentication == Authentication::Token;
    let first = FirstMessage { encryption: word, process: std::process::id(), instance, by_token };
    connection.message = first.message();
    connection.send(MessageKind::PreLogin).await?;
    let answer = FirstAnswer::read(&connection.raw_answer().await?)?;
    if answer.is_other_instance && !instance.is_empty() {
        return Err(Error::other(format!(
            "another instance than {instance} answers at the port that the browser service told: restart that service"
        )));
    }
    let scope = match (address.encryption, answer.encryption) {
        (Encryption::Strict, _) | (Encryption::None, EncryptionWord::NotSupported | EncryptionWord::Off) => {
            return Ok((Scope::Nothing, answer));
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
    Ok((scope, answer))
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

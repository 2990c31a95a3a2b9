//! The ways in which a server is reached: its places in order, each with TLS or without as is asked, until one admits us.

use super::places::{options, places};
use crate::contract::{Error, ErrorClass};
use crate::engines::postgresql::connection::ServerConfig;
use crate::engines::postgresql::tls::TlsMode;
use crate::engines::wire::{Place, Socket, encrypted as shake, open};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The message that asks a server for TLS: its length, and a code in the place of a version.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// Class of errors by which a server refuses who comes, or the way in which he comes.
const NOT_AUTHORISED: &str = "28";

/// How one attempt is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encryption {
    Without,
    /// Where the server can.
    Offered,
    Wanted,
}

/// Logs on by `log_on` at the first place that admits us.
pub(in crate::engines::postgresql) async fn connect<T>(
    config: &ServerConfig,
    log_on: impl AsyncFn(Socket) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut outcome = Err(Error::other("no host or host address is given"));
    for place in places(config)? {
        for encryption in encryptions(&place, config.tls.mode) {
            outcome = attempt(&place, config, *encryption, &log_on).await;
            match &outcome {
                Ok(_) => return outcome,
                // The next attempt is for a server that wants the other way, not for one that cannot be reached.
                Err(error) if *encryption == Encryption::Without && !error.code().starts_with(NOT_AUTHORISED) => break,
                Err(_) => {}
            }
        }
    }
    outcome
}

fn encryptions(place: &Place, mode: TlsMode) -> &'static [Encryption] {
    match (place, mode) {
        (Place::Unix(_), _) | (_, TlsMode::Disable) => &[Encryption::Without],
        (_, TlsMode::Allow) => &[Encryption::Without, Encryption::Wanted],
        (_, TlsMode::Prefer) => &[Encryption::Offered, Encryption::Without],
        (_, TlsMode::Require | TlsMode::VerifyCa | TlsMode::VerifyFull) => &[Encryption::Wanted],
    }
}

async fn attempt<T>(
    place: &Place,
    config: &ServerConfig,
    encryption: Encryption,
    log_on: &impl AsyncFn(Socket) -> Result<T, Error>,
) -> Result<T, Error> {
    let socket = open(place, &options(config)).await?;
    let socket = match (socket, place) {
        (Socket::Tcp(stream), Place::Tcp { name, .. }) if encryption != Encryption::Without => {
            let encrypted = encrypted(stream, name, config, encryption);
            match config.get_connect_timeout() {
                None => encrypted.await?,
                Some(patience) => tokio::time::timeout(*patience, encrypted)
                    .await
                    .unwrap_or_else(|_| Err(lost("the server did not answer the TLS handshake in time")))?,
            }
        }
        (socket, _) => socket,
    };
    log_on(socket).await
}

/// Asks for TLS and shakes hands. Reads one byte of the answer, so that nothing that came unencrypted is taken for what came encrypted.
async fn encrypted(
    mut stream: TcpStream,
    name: &str,
    config: &ServerConfig,
    encryption: Encryption,
) -> Result<Socket, Error> {
    let client = config.tls.client()?;
    let mut answer = [0];
    let ask = async {
        stream.write_all(&SSL_REQUEST).await?;
        stream.read_exact(&mut answer).await
    };
    ask.await.map_err(|error| lost(&format!("failed to request TLS from the server: {error}")))?;
    match (answer[0], encryption) {
        (b'S', _) => shake(stream, name, client).await,
        (b'N', Encryption::Offered) => Ok(Socket::Tcp(stream)),
        _ => Err(Error::other(
            "the server does not support TLS, but sslmode requires it: set ssl = on on the server, or use \
             sslmode=disable on a private network",
        )),
    }
}

fn lost(text: &str) -> Error {
    Error::new(ErrorClass::ConnectionLost, "", text)
}

//! What engines that we speak to by our own end of their protocol share: sockets and TLS. Lists and re-exports.

mod socket;
mod tls;

pub(in crate::engines) use socket::{Place, Socket, SocketOptions, encrypted, open};
pub(in crate::engines) use tls::{Proof, TlsClient, decoded};

//! What engines that we speak to by our own end of their protocol share: hosts of URLs, passwords, sockets and TLS. Lists and re-exports.

mod address;
mod buffered;
mod local;
mod password;
mod socket;
mod tls;

pub(in crate::engines) use address::{each_host, host_and_port};
pub(in crate::engines) use buffered::BufferedSocket;
pub(in crate::engines) use password::{Password, expect_private};
pub(in crate::engines) use socket::{Place, Socket, SocketOptions, encrypted, open};
pub(in crate::engines) use tls::{Proof, TlsClient, decoded};

//! The network device that a standby has to itself: cut, joined, and looked whether the primary answers over it.

use super::program::ip;
use proofload_model::error::Error;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A device of this network, and who should answer over it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cable {
    /// Name of the device.
    pub(crate) device: String,
    /// Where the primary listens.
    pub(crate) peer: SocketAddr,
}

impl Cable {
    /// Takes the device down.
    pub(crate) fn cut(&self) -> Result<(), Error> {
        ip(&format!("link set dev {} down", self.device))
    }

    /// Brings it up again.
    pub(crate) fn join(&self) -> Result<(), Error> {
        ip(&format!("link set dev {} up", self.device))
    }

    /// Whether a connection is answered within a time.
    pub(crate) fn answers(&self, within: Duration) -> bool {
        TcpStream::connect_timeout(&self.peer, within).is_ok()
    }
}

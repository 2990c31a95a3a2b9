//! Another server to which a server sends whoever logs on, as a listener does with those that only read. Source: [MS-TDS] 2.2.7.9, type 20.

use crate::engines::sqlserver::address::ServerAddress;
use crate::engines::wire::Place;

/// How often we are sent on before we give up; a read-only routing list needs one step, and so does the gateway of Azure.
pub(super) const MOST_ROUTES: usize = 4;

/// Another server to go to, as one server names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerRoute {
    /// Its name, behind which the name of an instance may stand.
    pub(super) server: String,
    pub(super) port: u16,
}

impl ServerRoute {
    /// The host alone.
    fn host(&self) -> &str {
        self.server.split('\\').next().unwrap_or(&self.server)
    }

    /// How the other server is reached: its certificate is that of its own name, and all else stays as the URL has it.
    pub(super) fn instead_of(&self, address: &ServerAddress) -> ServerAddress {
        let (mut next, host) = (address.clone(), self.host());
        next.place = Place::Tcp { address: host.to_owned(), port: self.port, name: host.to_owned() };
        next.instance = None;
        next
    }

    /// Host and port in words.
    pub(super) fn in_words(&self) -> String {
        format!("{} port {}", self.server, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_certificate_follows_the_route() {
        let url = r"sqlserver://me@listener\SALES/shop?certificate-authority=/ca.pem&host-name-in-certificate=other&intent=readonly";
        let address = ServerAddress::parse(url).expect("it is understood");
        let route = ServerRoute { server: r"second.example\SALES".to_owned(), port: 1500 };
        let next = route.instead_of(&address);
        let Place::Tcp { address: host, port, name } = &next.place else { panic!("{next:?}") };
        assert_eq!((host.as_str(), *port, name.as_str()), ("second.example", 1500, "second.example"));
        assert_eq!((next.instance, next.read_only, next.tls.proof), (None, true, address.tls.proof));
        assert_eq!(route.in_words(), r"second.example\SALES port 1500");
    }
}

//! Another server to which a server sends whoever logs on, as a listener does with those that only read. Source: [MS-TDS] 2.2.7.9, type 20.

use crate::engines::sqlserver::address::{Encryption, ServerAddress};
use crate::engines::wire::{Place, Proof};

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

    /// Tells whether the one who sent us there has proved who it is as far as the URL asks. Where the login alone is encrypted the answer is
    /// not: whoever is on the way could send a password that was well kept to a server of its own, which has a certificate of its own.
    pub(super) fn may_be_followed(&self, address: &ServerAddress) -> bool {
        address.encryption != Encryption::Login || address.tls.proof == Proof::None
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

    #[test]
    fn a_route_in_clear_text_takes_no_password_that_was_kept() {
        let route = ServerRoute { server: "evil.example".to_owned(), port: 1433 };
        let url = |options: &str| ServerAddress::parse(&format!("sqlserver://me@db1/shop?{options}")).expect("a URL");
        for (options, expected) in [
            ("encrypt=optional&certificate-authority=/ca.pem", false),
            ("encrypt=mandatory&certificate-authority=/ca.pem", true),
            ("encrypt=strict&certificate-authority=/ca.pem", true),
            ("encrypt=none", true),
        ] {
            assert_eq!(route.may_be_followed(&url(options)), expected, "{options}");
        }
    }
}

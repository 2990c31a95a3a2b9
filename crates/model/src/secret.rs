//! A secret that travels from the conductor to agents, and nowhere else. Pure. May not know who makes it.

use serde::{Deserialize, Serialize};
use std::fmt::{self, Write as _};

/// A password. Says nothing of itself where it is printed; it is serialised for agents alone.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// A password of chance: hexadecimal digits, which need quotes nowhere.
    pub fn of(chance: &[u8]) -> Self {
        let mut text = String::new();
        chance.iter().for_each(|byte| write!(text, "{byte:02x}").expect("a string takes all text"));
        Self(text)
    }

    /// The text, for files of mode 0600, for the server and for connections.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_does_not_print_itself() {
        let secret = Secret::of(&[0, 255, 16]);
        assert_eq!(secret.reveal(), "00ff10");
        assert!(!format!("{secret:?}").contains("00ff10"));
    }
}

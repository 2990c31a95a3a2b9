//! Versions of servers: what a text says of one, texts that differ between versions, and the oldest version that something needs.
//! Which texts and needs there are is in the `Flavour` of each server.

use crate::contract::Error;
use std::fmt;

/// What MariaDB writes before its version, for clients that know no version above 5.
const OLD_PREFIX: &str = "5.5.5-";

/// Version of a server: three numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::engines) struct ServerVersion(
    pub(in crate::engines) u16,
    pub(in crate::engines) u16,
    pub(in crate::engines) u16,
);

impl ServerVersion {
    /// What a version counts as that cannot be read.
    pub(super) const NEWEST: Self = Self(u16::MAX, u16::MAX, u16::MAX);

    /// The version in what a server says of itself, such as `5.5.5-10.11.19-MariaDB` or `mysqld  Ver 8.0.36 for Linux on x86_64`; the
    /// newest where there is none.
    pub(super) fn of_text(text: &str) -> Self {
        let word = text.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit()));
        let word = word.unwrap_or_default();
        let word = word.strip_prefix(OLD_PREFIX).unwrap_or(word);
        let end = word.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(word.len());
        let mut numbers = word[..end].split('.').map(str::parse::<u16>);
        let Some(Ok(first)) = numbers.next() else { return Self::NEWEST };
        let mut next = || numbers.next().and_then(Result::ok).unwrap_or(0);
        Self(first, next(), next())
    }
}

impl fmt::Display for ServerVersion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(first, second, third) = self;
        write!(out, "{first}.{second}.{third}")
    }
}

/// A text that later versions of a server have otherwise.
#[derive(Debug)]
pub(in crate::engines) struct VersionedText {
    /// The text of the oldest version.
    pub(in crate::engines) first: &'static str,
    /// Texts from a version on, the oldest first.
    pub(in crate::engines) later: &'static [(ServerVersion, &'static str)],
}

impl VersionedText {
    /// A text that all versions have.
    pub(in crate::engines) const fn always(text: &'static str) -> Self {
        Self { first: text, later: &[] }
    }

    /// The text of a version.
    pub(super) fn of(&self, version: ServerVersion) -> &'static str {
        let later = self.later.iter().rev().find(|(from, _)| *from <= version);
        later.map_or(self.first, |(_, text)| text)
    }
}

/// What a server is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engines) enum ServerUse {
    /// Sessions.
    Sessions,
    /// Standbys.
    Standbys,
    /// An instance that is made here.
    Instance,
}

impl fmt::Display for ServerUse {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Sessions => "a session",
            Self::Standbys => "a study with standbys",
            Self::Instance => "a local instance",
        })
    }
}

/// The oldest version that can be used for something.
#[derive(Debug)]
pub(in crate::engines) struct OldestVersion {
    /// Use that needs it.
    pub(in crate::engines) wanted_for: ServerUse,
    /// The version.
    pub(in crate::engines) version: ServerVersion,
    /// Names of what that version was the first to have.
    pub(in crate::engines) has: &'static str,
}

impl OldestVersion {
    /// Refuses an older server of the product in words that name what it lacks.
    pub(super) fn check(&self, product: &str, found: ServerVersion) -> Result<(), Error> {
        if found >= self.version {
            return Ok(());
        }
        let Self { wanted_for, version, has } = self;
        Err(Error::other(format!(
            "the server is {product} {found}, but {wanted_for} needs {product} {version} or later, which has {has}: use a later version; \
             if a proxy is between, let it tell the version of the server behind it"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_a_server_says() {
        let cases = [
            ("8.0.21", ServerVersion(8, 0, 21)),
            ("8.0.36-28.1-Percona", ServerVersion(8, 0, 36)),
            ("5.5.5-10.11.19-MariaDB-0+deb12u1", ServerVersion(10, 11, 19)),
            ("/usr/sbin/mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))", ServerVersion(9, 7, 4)),
            ("8.4", ServerVersion(8, 4, 0)),
            ("70000.1", ServerVersion::NEWEST),
            ("", ServerVersion::NEWEST),
        ];
        for (text, expected) in cases {
            assert_eq!(ServerVersion::of_text(text), expected, "{text}");
        }
        assert!(ServerVersion(8, 0, 36) < ServerVersion(8, 4, 0) && ServerVersion(8, 4, 0) < ServerVersion(9, 7, 0));
    }

    #[test]
    fn the_last_text_that_a_version_has_is_taken() {
        let text = VersionedText { first: "a", later: &[(ServerVersion(8, 2, 0), "b"), (ServerVersion(9, 0, 0), "c")] };
        let of = [ServerVersion(8, 1, 9), ServerVersion(8, 2, 0), ServerVersion(8, 4, 1), ServerVersion::NEWEST];
        assert_eq!(of.map(|version| text.of(version)), ["a", "b", "b", "c"]);
        assert_eq!(VersionedText::always("d").of(ServerVersion(1, 0, 0)), "d");
    }
}

//! What scratch databases of several engines share. May not know any engine by name.

use crate::contract::Error;
use std::time::Duration;

/// How often, and how far apart, a database is tried to be dropped that somebody is connected to: a server ends the sessions of a client that
/// was killed within moments.
pub(crate) const TRIES: u32 = 50;
pub(crate) const PAUSE: Duration = Duration::from_millis(200);

/// A URL of the form `scheme://who@where/database?options` with this database.
pub(crate) fn with_database(url: &str, database: &str) -> Result<String, Error> {
    let parts = url.split_once("://");
    let (scheme, rest) = parts.ok_or_else(|| Error::other("read the URL of the server: it has no ://"))?;
    let (place, options) = rest.split_once('?').map_or((rest, None), |(place, options)| (place, Some(options)));
    let authority = place.split_once('/').map_or(place, |(authority, _)| authority);
    let options = options.map(|options| format!("?{options}")).unwrap_or_default();
    Ok(format!("{scheme}://{authority}/{database}{options}"))
}

/// The error of a name that stands for a database without the mark.
pub(crate) fn foreign(database: &str) -> Error {
    Error::other(format!(
        "database {database} does not bear the mark of a self-test: Proofload did not make it and leaves it as it is; choose another name"
    ))
}

/// The error of a database that is in use.
pub(crate) fn in_use(database: &str) -> Error {
    Error::other(format!(
        "drop database {database}: somebody is connected to it; wait until the other self-test has ended"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_keeps_everything_but_its_database() {
        let check = |url: &str, expected: &str| assert_eq!(with_database(url, "x").unwrap(), expected);
        check("mariadb://me@[::1]:7/shop?ssl-mode=required", "mariadb://me@[::1]:7/x?ssl-mode=required");
        check("postgresql://a,b", "postgresql://a,b/x");
        check("mariadb://root@localhost/?socket=%2Ftmp%2Fa", "mariadb://root@localhost/x?socket=%2Ftmp%2Fa");
        assert!(with_database("nonsense", "x").is_err());
    }
}

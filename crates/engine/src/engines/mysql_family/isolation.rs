//! The level of isolation of sessions: ours, unless a study asks for another, at a local instance as at a server by URL.

use super::configuration::canonical;
use crate::contract::Error;

/// Names of the setting: that of configurations and newer servers, and the only variable that MariaDB has before 11.1.
pub(super) const NAMES: &[&str] = &["transaction_isolation", "tx_isolation"];

/// The levels, as settings write them.
const LEVELS: [&str; 4] = ["READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"];

/// Whether a setting is the level of isolation.
pub(super) fn is_isolation(name: &str) -> bool {
    NAMES.contains(&canonical(name).as_str())
}

/// The level in the words of the SQL standard, from what the server has in force.
pub(super) fn level(in_force: &str) -> String {
    in_force.replace('-', " ").to_uppercase()
}

/// The statement that gives a session a level, on every server; the error names the levels.
pub(super) fn statement(product: &str, name: &str, value: &str) -> Result<String, Error> {
    let asked = value.trim().to_ascii_uppercase();
    match LEVELS.iter().find(|level| **level == asked) {
        Some(level) => Ok(format!("SET SESSION TRANSACTION ISOLATION LEVEL {}", level.replace('-', " "))),
        None => {
            Err(Error::other(format!("{product} setting {name} is {value:?}, must be one of {}", LEVELS.join(", "))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_one_of_four_under_either_name() {
        let said = |value: &str| statement("MariaDB", "tx_isolation", value).map_err(|error| error.to_string());
        assert_eq!(said("repeatable-read"), Ok("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ".to_owned()));
        let wrong = said("snapshot").expect_err("there is none");
        assert!(wrong.contains("tx_isolation") && wrong.contains("SERIALIZABLE"), "{wrong}");
        assert_eq!(["READ-COMMITTED", "SERIALIZABLE"].map(level), ["READ COMMITTED", "SERIALIZABLE"]);
        assert!(is_isolation("Transaction-Isolation") && is_isolation("tx_isolation") && !is_isolation("isolation"));
    }
}

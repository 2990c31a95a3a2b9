//! How far the writing of changed pages in the background is behind. Source: MariaDB manual, "Server Status Variables", `Innodb_checkpoint_age`,
//! `Innodb_checkpoint_max_age`, `Innodb_buffer_pool_pages_dirty`.

use super::flavour::{Flavour, filled};
use super::wire::ServerConnection;
use crate::contract::Error;
use std::time::Duration;

/// Status variables that tell it.
const AGE: &str = "INNODB_CHECKPOINT_AGE";
const MOST_AGE: &str = "INNODB_CHECKPOINT_MAX_AGE";
const DIRTY: &str = "INNODB_BUFFER_POOL_PAGES_DIRTY";
/// Share of what the age of the log may be from which on pages are written whatever settings say: the largest value of
/// `innodb_adaptive_flushing_lwm`. Source: MariaDB manual, "InnoDB System Variables".
const WRITTEN_FROM: f64 = 0.7;
/// Time between two looks whether what was put off is written: the page cleaner works once a second.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);
/// Looks after which what was put off takes too long: those of the time that an experiment has for it after a block.
const LOOKS: u32 = 20;
/// Looks one after another at which no less is left, after which what was put off is taken for written.
const STILL: u32 = 3;
/// Share by which what is left falls from one look to the next while it is written. Pages that are written at the server's own pace are a small
/// share of those of a large pool; ours.
const FALLS: f64 = 0.002;
/// Share of the log, in per cent, from which on pages are written ahead.
const LOWEST: &str = "SELECT @@global.innodb_adaptive_flushing_lwm";

/// Changes that are not written yet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FlushingBacklog {
    /// Bytes of log since the oldest of them.
    age: f64,
    /// Most that this may be.
    most_age: f64,
    /// Pages with such changes.
    dirty: f64,
}

impl FlushingBacklog {
    /// Reads it of a running server.
    pub(super) async fn read(connection: &mut ServerConnection, flavour: &Flavour) -> Result<Self, Error> {
        let names = format!("'{AGE}', '{MOST_AGE}', '{DIRTY}'");
        let rows = connection.rows(&filled(flavour.statements.status, &[("names", &names)])).await?;
        Self::of(&rows)
    }

    fn of(rows: &[Vec<Option<String>>]) -> Result<Self, Error> {
        let value = |name: &str| {
            let found = rows.iter().find_map(|row| match &row[..] {
                [Some(variable), Some(value)] if variable.eq_ignore_ascii_case(name) => value.parse::<f64>().ok(),
                _ => None,
            });
            found.ok_or_else(|| Error::other(format!("the server's status has no number {name}")))
        };
        Ok(Self { age: value(AGE)?, most_age: value(MOST_AGE)?, dirty: value(DIRTY)? })
    }

    /// Tells whether the log is so full that pages are written whatever settings say.
    fn forces_writes(self) -> bool {
        self.age >= WRITTEN_FROM * self.most_age
    }

    /// Tells whether it has become less than it was by more than it varies.
    fn has_fallen_from(self, before: Self) -> bool {
        let falls = |before: f64, now: f64| now < before * (1.0 - FALLS);
        falls(before.age, self.age) || falls(before.dirty, self.dirty)
    }
}

/// Tells whether flushing is switched off, by the share of the log from which on pages are written ahead, in per cent.
fn is_off(lowest: &str) -> bool {
    lowest.parse::<f64>().is_ok_and(|lowest| lowest / 100.0 >= WRITTEN_FROM)
}

/// Tells whether changed pages are written in the background: while flushing is off, whether the log makes the server write them; else whether
/// what is left becomes less, as it does while what was put off is written.
pub(super) async fn is_at_work(connection: &mut ServerConnection, flavour: &Flavour) -> Result<bool, Error> {
    let lowest = connection.rows(LOWEST).await?.into_iter().flatten().next().flatten().unwrap_or_default();
    let now = FlushingBacklog::read(connection, flavour).await?;
    if is_off(&lowest) {
        return Ok(now.forces_writes());
    }
    tokio::time::sleep(BETWEEN_LOOKS).await;
    Ok(FlushingBacklog::read(connection, flavour).await?.has_fallen_from(now))
}

/// Looks at what was put off, one after another, until it is written.
struct CatchUpWatch {
    before: FlushingBacklog,
    /// Last looks in a row at which no less was left.
    still: u32,
}

impl CatchUpWatch {
    fn new(before: FlushingBacklog) -> Self {
        Self { before, still: 0 }
    }

    /// Takes a look; whether what was put off is written.
    fn take(&mut self, now: FlushingBacklog) -> bool {
        self.still = if now.has_fallen_from(self.before) { 0 } else { self.still + 1 };
        self.before = now;
        self.still == STILL
    }
}

/// Waits until what was put off is written, so that it becomes no less for some looks: under load it never becomes nothing.
pub(super) async fn catch_up(connection: &mut ServerConnection, flavour: &Flavour) -> Result<(), Error> {
    let mut watch = CatchUpWatch::new(FlushingBacklog::read(connection, flavour).await?);
    for _ in 0..LOOKS {
        tokio::time::sleep(BETWEEN_LOOKS).await;
        if watch.take(FlushingBacklog::read(connection, flavour).await?) {
            return Ok(());
        }
    }
    Err(Error::other(format!(
        "after {LOOKS} s changed pages that were put off are still being written: {:.0} pages are left",
        watch.before.dirty
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backlog(age: f64, dirty: f64) -> FlushingBacklog {
        FlushingBacklog { age, most_age: 1000.0, dirty }
    }

    #[test]
    fn what_a_status_tells_is_read_and_what_is_missing_is_named() {
        let row = |name: &str, value: &str| vec![Some(name.to_owned()), Some(value.to_owned())];
        let mut rows = vec![
            row("Innodb_checkpoint_max_age", "1000"),
            row("INNODB_CHECKPOINT_AGE", "17"),
            row("INNODB_BUFFER_POOL_PAGES_DIRTY", "3"),
        ];
        assert_eq!(FlushingBacklog::of(&rows).expect("it is whole"), backlog(17.0, 3.0));
        rows.pop();
        let why = FlushingBacklog::of(&rows).expect_err("a number is missing").to_string();
        assert!(why.contains("INNODB_BUFFER_POOL_PAGES_DIRTY"), "{why}");
    }

    #[test]
    fn a_log_that_is_nearly_full_has_pages_written_although_flushing_is_off() {
        assert!(!backlog(699.0, 9.0).forces_writes());
        assert!(backlog(700.0, 0.0).forces_writes());
    }

    #[test]
    fn flushing_is_off_at_the_largest_share_of_the_log() {
        assert_eq!(
            ["70.000000", "70", "69.9", "10.000000", "0.000000", ""].map(is_off),
            [true, true, false, false, false, false]
        );
    }

    #[test]
    fn what_was_put_off_is_written_once_it_becomes_no_less_three_times_in_a_row() {
        let mut watch = CatchUpWatch::new(backlog(900.0, 1000.0));
        // A look at which other pages were changed ends nothing.
        let left = [990.0, 991.0, 980.0, 981.0, 980.0, 960.0, 961.0, 962.0, 961.0];
        let written = left.map(|dirty| watch.take(backlog(900.0, dirty)));
        assert_eq!(written.iter().position(|written| *written), Some(8), "{written:?}");
    }

    #[test]
    fn less_is_left_by_more_than_it_varies() {
        assert!(backlog(900.0, 50.0).has_fallen_from(backlog(1000.0, 50.0)), "the log");
        assert!(backlog(900.0, 40.0).has_fallen_from(backlog(900.0, 50.0)), "the pages");
        assert!(backlog(990.0, 50.0).has_fallen_from(backlog(1000.0, 50.0)), "slowly");
        assert!(!backlog(999.0, 50.0).has_fallen_from(backlog(1000.0, 50.0)), "it varies");
        assert!(!backlog(0.0, 0.0).has_fallen_from(backlog(0.0, 0.0)), "nothing is left");
    }
}

//! New events, by which attempts change their state. May not know of other rows of an attempt.

use crate::compat::Format;
use crate::content::{AttemptEvent, Record};
use crate::rows::{self, newer};
use rusqlite::Connection;
use std::collections::HashMap;

/// Adds new events, and how attempts stand by them.
pub(super) fn tell_events(
    connection: &Connection,
    format: Format,
    record: &mut Record,
    seen: i64,
) -> rusqlite::Result<()> {
    let mut changed: HashMap<i64, Vec<AttemptEvent>> = HashMap::new();
    newer(connection, format.events().select, seen, |row| {
        let event = rows::event(row, format)?;
        match row.get::<_, Option<i64>>(6)? {
            Some(attempt) => changed.entry(attempt).or_default().push(event),
            None => record.events.push(event),
        }
        Ok(())
    })?;
    let mut has_experiment = false;
    for (attempt, events) in changed {
        let place = record.attempts.binary_search_by_key(&attempt, |known| known.id);
        let known = match place {
            Ok(place) => record.attempts.get_mut(place),
            Err(_) => record.experiments.iter_mut().find(|known| known.id == attempt),
        };
        let Some(known) = known else { continue };
        known.events.extend(events);
        known.state = rows::state(&known.events);
        has_experiment |= place.is_ok() && known.is_experiment();
    }
    if has_experiment {
        let experiments = record.attempts.extract_if(.., |attempt| attempt.is_experiment());
        record.experiments.extend(experiments);
    }
    Ok(())
}

//! Settings of the load that experiments change while it runs: records in use, time for which transactions are held, connections shared.

use super::pool::ConnectionPool;
use crate::workloads::ycsb::settings::YcsbSettings;
use proofload_model::error::Error;
use proofload_model::intervention::{HOLD, HOT_ROWS, LIVE_LOAD, LimitMeter, POOL};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How long a change takes to act beside the time of an operation.
const SETTLES: Duration = Duration::from_millis(100);

/// The settings as they are in force; read once per operation.
#[derive(Debug)]
pub(in crate::workloads::ycsb) struct LiveSettings {
    records: u64,
    asked_rows: Option<u64>,
    asked_hold: Option<Duration>,
    /// Records that operations use; 0: all.
    rows: AtomicU64,
    /// Time for which a transaction is held, ns; 0: it is none.
    hold: AtomicU64,
    pool: Option<ConnectionPool>,
}

impl LiveSettings {
    /// What the study asks for. Where records are documents, as where the load generator measures itself, nothing is held.
    pub(in crate::workloads::ycsb) fn new(settings: &YcsbSettings, has_transactions: bool) -> Self {
        let live = Self {
            records: settings.records,
            asked_rows: settings.hot_rows,
            asked_hold: settings.hold.filter(|_| has_transactions),
            rows: AtomicU64::new(0),
            hold: AtomicU64::new(0),
            pool: settings.pool.map(ConnectionPool::new),
        };
        live.set_all(&BTreeMap::new());
        live
    }

    /// The record that is used in the place of a drawn one.
    pub(in crate::workloads::ycsb) fn record(&self, drawn: u64) -> u64 {
        match self.rows.load(Ordering::Relaxed) {
            0 => drawn,
            rows => drawn % rows,
        }
    }

    /// How long an update is held before it commits; `None` where it commits by itself.
    pub(in crate::workloads::ycsb) fn hold(&self) -> Option<Duration> {
        Some(self.hold.load(Ordering::Relaxed)).filter(|time| *time > 0).map(Duration::from_nanos)
    }

    /// The pool of connections, where users share them.
    pub(in crate::workloads::ycsb) fn pool(&self) -> Option<&ConnectionPool> {
        self.pool.as_ref()
    }

    /// Sets these to values, and all others to what the study asks for; nothing where one is refused.
    pub(in crate::workloads::ycsb) fn change(&self, values: &BTreeMap<String, f64>) -> Result<(), Error> {
        for (setting, value) in values {
            let refuse = |why: &str| Err(Error::refused(format!("failed to change {setting} to {value}: {why}")));
            if self.asked(setting).is_none() {
                return refuse("the study does not set it, or it cannot be changed while the load runs");
            }
            if !(*value > 0.0 && value.is_finite()) {
                return refuse("it is no number above 0");
            }
            if setting == HOT_ROWS && *value > self.records as f64 {
                return refuse("there are not so many records");
            }
        }
        self.set_all(values);
        Ok(())
    }

    /// Sets what is given and puts the rest back, each once: what is set already is not put back in between.
    fn set_all(&self, values: &BTreeMap<String, f64>) {
        for (setting, _) in LIVE_LOAD {
            if let Some(value) = values.get(*setting).copied().or_else(|| self.asked(setting)) {
                self.set(setting, value);
            }
        }
    }

    fn set(&self, setting: &str, value: f64) {
        match setting {
            HOT_ROWS => self.rows.store(value.round().max(1.0) as u64, Ordering::Relaxed),
            HOLD => self.hold.store((1e9 / value).round() as u64, Ordering::Relaxed),
            POOL => self.pool.iter().for_each(|pool| pool.allow(value.round() as u32)),
            _ => {}
        }
    }

    /// What the study asks for: a number of things, or times per second; `None` where it does not.
    fn asked(&self, setting: &str) -> Option<f64> {
        match setting {
            HOT_ROWS => self.asked_rows.map(|rows| rows as f64),
            HOLD => self.asked_hold.map(|time| 1.0 / time.as_secs_f64()),
            POOL => self.pool.as_ref().map(|pool| f64::from(pool.size())),
            _ => None,
        }
    }

    fn in_force(&self, setting: &str) -> Option<f64> {
        match setting {
            HOT_ROWS => Some(self.rows.load(Ordering::Relaxed) as f64),
            HOLD => self.hold().map(|time| 1.0 / time.as_secs_f64()),
            POOL => self.pool.as_ref().map(|pool| f64::from(pool.in_force())),
            _ => None,
        }
    }

    /// How each that the study sets stands. What connections were used is counted.
    pub(in crate::workloads::ycsb) fn meters(&self) -> Vec<LimitMeter> {
        let meter = |(setting, class): &(&str, _)| {
            Some(LimitMeter {
                asked: self.asked(setting)?,
                setting: (*setting).to_owned(),
                class: *class,
                settles: SETTLES + self.asked_hold.unwrap_or_default(),
                in_force: self.in_force(setting),
                used: self.pool.iter().filter(|_| *setting == POOL).map(ConnectionPool::used_seconds).collect(),
            })
        };
        LIVE_LOAD.iter().filter_map(meter).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live() -> LiveSettings {
        let live = LiveSettings {
            records: 100,
            asked_rows: Some(1),
            asked_hold: Some(Duration::from_millis(4)),
            rows: AtomicU64::new(0),
            hold: AtomicU64::new(0),
            pool: Some(ConnectionPool::new(2)),
        };
        live.set_all(&BTreeMap::new());
        live
    }

    fn in_force(live: &LiveSettings) -> Vec<(String, f64)> {
        live.meters().into_iter().map(|meter| (meter.setting, meter.in_force.unwrap_or(f64::NAN))).collect()
    }

    fn all(hold: f64, rows: f64, pool: f64) -> Vec<(String, f64)> {
        [(HOLD, hold), (HOT_ROWS, rows), (POOL, pool)].map(|(name, value)| (name.to_owned(), value)).to_vec()
    }

    #[test]
    fn one_is_changed_and_all_others_are_as_asked() {
        let live = live();
        assert_eq!(in_force(&live), all(250.0, 1.0, 2.0));
        live.change(&BTreeMap::from([(HOT_ROWS.to_owned(), 2.0)])).unwrap();
        assert_eq!((in_force(&live), live.record(7)), (all(250.0, 2.0, 2.0), 1));
        live.change(&BTreeMap::from([(HOLD.to_owned(), 200.0), (POOL.to_owned(), 1.0)])).unwrap();
        assert_eq!((in_force(&live), live.hold()), (all(200.0, 1.0, 1.0), Some(Duration::from_millis(5))));
        live.change(&BTreeMap::new()).unwrap();
        assert_eq!((in_force(&live), live.record(7)), (all(250.0, 1.0, 2.0), 0));
    }

    #[test]
    fn what_is_not_asked_for_or_cannot_be_is_refused_and_changes_nothing() {
        let live = LiveSettings { asked_hold: None, hold: AtomicU64::new(0), ..live() };
        for (setting, value) in [(HOLD, 100.0), (HOT_ROWS, 101.0), (POOL, 0.0), ("limits.cpu", 1.0)] {
            let error = live.change(&BTreeMap::from([(setting.to_owned(), value)])).unwrap_err().to_string();
            assert!(error.contains(setting), "{error}");
        }
        assert_eq!((live.meters().len(), live.record(50)), (2, 0));
    }
}

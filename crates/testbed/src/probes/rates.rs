//! Totals turned into rates over the time between two readings. A counter that falls has been reset: no rate, not a negative one. A counter
//! that a reading did not have is spread over all the time since it was read last.

use std::collections::HashMap;
use std::time::Duration;

/// Remembers each total as it was read last, and for how long it has not been read since.
#[derive(Debug, Default)]
pub(super) struct Rates(HashMap<String, (f64, Duration)>);

impl Rates {
    /// Begins a reading, `span` after the reading before; `None` at the first, which only sets the base. To be called once a reading, behind
    /// all in it that may fail: the time of a reading that failed is part of the next one's span.
    pub(super) fn turn(&mut self, span: Option<Duration>) {
        match span {
            Some(span) => self.0.values_mut().for_each(|(_, age)| *age += span),
            None => self.0.clear(),
        }
    }

    /// Change of `total` per second since it was read last; `None` the first time and after a reset.
    pub(super) fn per_second(&mut self, key: &str, total: f64) -> Option<f64> {
        let (before, age) = match self.0.get_mut(key) {
            Some((before, age)) => (std::mem::replace(before, total), std::mem::take(age)),
            None => {
                self.0.insert(key.to_owned(), (total, Duration::ZERO));
                return None;
            }
        };
        (total >= before && !age.is_zero()).then(|| (total - before) / age.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reset_counter_gives_no_rate() {
        let mut rates = Rates::default();
        let mut read = |key: &str, total: f64, span: Option<u64>| {
            rates.turn(span.map(Duration::from_millis));
            rates.per_second(key, total)
        };
        assert_eq!(read("a", 10.0, None), None);
        assert_eq!(read("a", 15.0, Some(500)), Some(10.0));
        assert_eq!(read("a", 3.0, Some(500)), None);
        assert_eq!(read("a", 4.0, Some(500)), Some(2.0));
        assert_eq!(read("b", 4.0, Some(500)), None);
        assert_eq!(read("b", 9.0, None), None, "a first reading is a base");
        assert_eq!(read("b", 9.0, Some(0)), None, "no time has passed");
    }

    #[test]
    fn a_counter_that_was_missing_for_one_reading_is_spread_over_two() {
        let mut rates = Rates::default();
        let second = Some(Duration::from_secs(1));
        rates.turn(None);
        assert_eq!([rates.per_second("always", 0.0), rates.per_second("at times", 0.0)], [None, None]);
        rates.turn(second);
        assert_eq!(rates.per_second("always", 100.0), Some(100.0));
        rates.turn(second);
        assert_eq!(
            [rates.per_second("always", 200.0), rates.per_second("at times", 200.0)],
            [Some(100.0), Some(100.0)]
        );
        rates.turn(second);
        assert_eq!(rates.per_second("at times", 300.0), Some(100.0), "and over one again");
    }
}

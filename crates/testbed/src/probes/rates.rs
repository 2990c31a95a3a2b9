//! Totals turned into rates over the time between two readings. A counter that falls has been reset: no rate, not a negative one.

use std::collections::HashMap;
use std::time::Duration;

/// Remembers the totals of the reading before.
#[derive(Debug, Default)]
pub(super) struct Rates(HashMap<String, f64>);

impl Rates {
    /// Change of `total` per second; `None` at the first reading and after a reset.
    pub(super) fn per_second(&mut self, key: &str, total: f64, span: Option<Duration>) -> Option<f64> {
        let before = match self.0.get_mut(key) {
            Some(before) => std::mem::replace(before, total),
            None => {
                self.0.insert(key.to_owned(), total);
                return None;
            }
        };
        let span = span.filter(|span| !span.is_zero())?;
        (total >= before).then(|| (total - before) / span.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reset_counter_gives_no_rate() {
        let mut rates = Rates::default();
        let second = Some(Duration::from_millis(500));
        assert_eq!(rates.per_second("a", 10.0, None), None);
        assert_eq!(rates.per_second("a", 15.0, second), Some(10.0));
        assert_eq!(rates.per_second("a", 3.0, second), None);
        assert_eq!(rates.per_second("a", 4.0, second), Some(2.0));
        assert_eq!(rates.per_second("b", 4.0, second), None);
    }
}

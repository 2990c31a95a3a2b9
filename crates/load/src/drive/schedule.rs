//! When operation number `index` is due. Computed from the index, so that nothing drifts. Knows no threads and no stop.

use proofload_model::time::Offset;

/// Says when an operation is due.
pub trait Schedule: Send + Sync {
    /// Offset from time zero at which operation `index` is due; none: as soon as its user is free.
    fn due(&self, index: u64) -> Option<Offset>;
}

/// No waits: the next operation as soon as the user is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Saturated;

impl Schedule for Saturated {
    fn due(&self, _index: u64) -> Option<Offset> {
        None
    }
}

/// A constant rate: `operations` every `nanoseconds`, exact in integers for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConstantRate {
    /// So many operations …
    pub operations: u64,
    /// … in so many nanoseconds.
    pub nanoseconds: u64,
}

impl ConstantRate {
    /// So many operations a second.
    pub const fn per_second(operations: u64) -> Self {
        Self { operations, nanoseconds: 1_000_000_000 }
    }
}

impl Schedule for ConstantRate {
    fn due(&self, index: u64) -> Option<Offset> {
        let nanos = u128::from(index) * u128::from(self.nanoseconds) / u128::from(self.operations.max(1));
        Some(Offset(i64::try_from(nanos).unwrap_or(i64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_due(rate: ConstantRate, index: u64, nanos: i64) {
        assert_eq!(rate.due(index), Some(Offset(nanos)));
    }

    #[test]
    fn arrivals_do_not_drift() {
        check_due(ConstantRate::per_second(3), 1, 333_333_333);
        check_due(ConstantRate::per_second(3), 3_000_000, 1_000_000 * 1_000_000_000);
        check_due(ConstantRate::per_second(1_000_000), 7, 7_000);
        assert_eq!(Saturated.due(9), None);
    }
}

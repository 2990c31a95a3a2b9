//! Schedules: the due time of operation number `index`, computed from the index so that nothing drifts. Knows no users,
//! no threads and no stop.

use proofload_gen::{PoissonArrivals, Seed};
use proofload_model::time::Offset;

/// Due times of operations. Constant and shared; walks along it have the state.
pub trait Schedule: Send + Sync {
    /// A walk along the due times; `None` when an operation is due as soon as its user is free.
    fn arrivals(&self) -> Option<Box<dyn Arrivals>>;
}

/// A walk along due times. Each client thread has its own; all give the same times.
pub trait Arrivals: Send {
    /// Offset from time zero at which arrival `index` is due. Call with rising indices.
    fn due(&mut self, index: u64) -> Offset;
}

/// No waits: the next operation as soon as the user is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SaturatedSchedule;

impl Schedule for SaturatedSchedule {
    fn arrivals(&self) -> Option<Box<dyn Arrivals>> {
        None
    }
}

/// A constant rate: `operations` every `nanoseconds`, exact in integers for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConstantRate {
    /// Number of operations …
    pub operations: u64,
    /// … in this many nanoseconds.
    pub nanoseconds: u64,
}

impl ConstantRate {
    /// A rate per second, to a thousandth of an operation, so that a rate below one per second is exact too.
    pub fn per_second(operations: f64) -> Self {
        Self { operations: (operations * 1_000.0).round() as u64, nanoseconds: 1_000_000_000_000 }
    }
}

impl Schedule for ConstantRate {
    fn arrivals(&self) -> Option<Box<dyn Arrivals>> {
        Some(Box::new(*self))
    }
}

impl Arrivals for ConstantRate {
    fn due(&mut self, index: u64) -> Offset {
        let nanos = u128::from(index) * u128::from(self.nanoseconds) / u128::from(self.operations.max(1));
        Offset(i64::try_from(nanos).unwrap_or(i64::MAX))
    }
}

/// Random arrivals at a mean rate: a Poisson process drawn from a seed, the same for every thread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoissonRate {
    /// Operations a second on average, positive.
    pub per_second: f64,
    /// Seed of the arrivals.
    pub seed: Seed,
}

impl Schedule for PoissonRate {
    fn arrivals(&self) -> Option<Box<dyn Arrivals>> {
        Some(Box::new(PoissonArrivals::new(self.seed, self.per_second)))
    }
}

impl Arrivals for PoissonArrivals {
    fn due(&mut self, index: u64) -> Offset {
        Offset(i64::try_from(self.due_ns(index)).unwrap_or(i64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_due(rate: f64, index: u64, nanos: i64) {
        assert_eq!(ConstantRate::per_second(rate).due(index), Offset(nanos));
    }

    #[test]
    fn arrivals_do_not_drift() {
        check_due(3.0, 1, 333_333_333);
        check_due(3.0, 3_000_000, 1_000_000 * 1_000_000_000);
        check_due(1_000_000.0, 7, 7_000);
        check_due(0.001, 1, 1_000_000_000_000);
        assert!(SaturatedSchedule.arrivals().is_none());
    }

    #[test]
    fn walks_of_one_schedule_agree() {
        let schedule = PoissonRate { per_second: 700.0, seed: Seed(1) };
        let (mut one, mut two) = (schedule.arrivals().expect("it has some"), schedule.arrivals().expect("it has some"));
        let evens: Vec<Offset> = (0..2_000).step_by(2).map(|index| one.due(index)).collect();
        let all: Vec<Offset> = (0..2_000).map(|index| two.due(index)).collect();
        assert!(all.iter().step_by(2).eq(&evens));
    }
}

//! Writes of an instance slowed for a while, below what its limits ask for, and back. The other limits stay.

use super::applied::AppliedLimits;
use super::throttle::Throttle;
use super::{write_bandwidth, write_iops};
use proofload_model::error::Error;

/// A rate of writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteRate {
    /// Requests per second.
    Requests(u64),
    /// Bytes per second.
    Bytes(u64),
}

impl WriteRate {
    fn limit(self) -> (&'static Throttle, u64) {
        const REQUESTS: &Throttle = &write_iops::LIMIT;
        const BYTES: &Throttle = &write_bandwidth::LIMIT;
        match self {
            Self::Requests(rate) => (REQUESTS, rate),
            Self::Bytes(rate) => (BYTES, rate),
        }
    }
}

impl AppliedLimits {
    /// Lets members write no faster than this to each device.
    ///
    /// # Errors
    /// No control group of the instance has the controller, or the kernel refuses the rate.
    pub(crate) fn slow_writes(&self, rate: WriteRate) -> Result<(), Error> {
        let (limit, rate) = rate.limit();
        limit.change(self.state(), Some(rate))
    }

    /// Lets members write as fast as their limits ask for.
    pub(crate) fn restore_writes(&self) -> Result<(), Error> {
        let restored = [&write_iops::LIMIT, &write_bandwidth::LIMIT].map(|limit| limit.change(self.state(), None));
        restored.into_iter().collect()
    }

    /// Fails unless this rate is in force for every device.
    pub(crate) fn expect_writes(&self, rate: WriteRate) -> Result<(), Error> {
        let (limit, rate) = rate.limit();
        expect(limit.rates(self.state())?, Some(rate))
    }

    /// Fails unless the rates that the limits ask for are in force again.
    pub(crate) fn expect_restored_writes(&self) -> Result<(), Error> {
        for limit in [&write_iops::LIMIT, &write_bandwidth::LIMIT] {
            expect(limit.rates(self.state())?, limit.asked(self.state()))?;
        }
        Ok(())
    }
}

fn expect(found: Vec<Option<u64>>, rate: Option<u64>) -> Result<(), Error> {
    match found.iter().find(|found| **found != rate) {
        None if !found.is_empty() => Ok(()),
        _ => Err(Error::new(format!("the kernel's write limit is {found:?} per second, but {rate:?} was set"))),
    }
}

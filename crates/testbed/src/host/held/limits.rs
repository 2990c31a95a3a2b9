//! Limits of one instance from before its server starts: put in place, joined, entered by others that work on its data. May not know how a
//! limit is applied, nor change limits under load.

use super::InstanceResources;
use crate::limits::AppliedLimits;
use crate::preconditioning::Within;
use crate::snapshots;
use proofload_model::error::Error;
use proofload_model::samples::Fact;
use proofload_model::wire::LimitsAsked;
use std::sync::Arc;

impl InstanceResources {
    /// Puts limits in place, in the place of earlier ones.
    pub(in crate::host) fn prepare_limits(&mut self, asked: LimitsAsked) -> Result<Vec<Fact>, Error> {
        self.drop_limits();
        self.folder().map_err(|error| error.context("failed to prepare limits"))?;
        let limits = AppliedLimits::prepare(&self.name, asked, self.devices())?.timed_by(Arc::clone(&self.clock));
        self.remains.set_group(Some(limits.group().clone()));
        let facts = limits.verify();
        self.limits = Some(limits);
        Ok(self.stamped(facts))
    }

    /// The limits, for those who change them while they hold.
    pub(super) fn limits_in_place(&self) -> Result<&AppliedLimits, Error> {
        self.limits.as_ref().ok_or_else(|| Error::new("failed to change limits: no limits were prepared"))
    }

    pub(super) fn drop_limits(&mut self) {
        self.limits = None;
        self.remains.set_group(None);
    }

    /// Puts a process that is no child of ours under the limits.
    pub(in crate::host) fn join_limits(&mut self, process: u32) -> Result<(), Error> {
        let limits =
            self.limits.as_mut().ok_or_else(|| Error::new("failed to join limits: no limits were prepared"))?;
        self.remains.add_foreign_pid(process);
        limits.join(process)
    }

    /// What a process needs to be born under the limits.
    pub(in crate::host) fn within(&self) -> Result<Within, Error> {
        let limits =
            self.limits.as_ref().ok_or_else(|| Error::new("failed to read under limits: no limits were prepared"))?;
        let (groups, cores) = limits.entrance()?;
        Ok(Within { groups, cores })
    }

    /// Reads the data once under the limits; answers with their bytes.
    pub(in crate::host) fn prewarm(&self) -> Result<u64, Error> {
        let folder = self.folder().map_err(|error| error.context("prewarm"))?;
        snapshots::prewarm(&folder, self.within()?)
    }
}

//! Volumes as block devices of the kernel that this process serves. Without the feature `ublk` there are none.

#[cfg(feature = "ublk")]
pub(super) use built::{BlockDevices, release_left};
#[cfg(not(feature = "ublk"))]
pub(super) use left_out::{BlockDevices, release_left};

/// Whether this program can serve block devices.
pub(super) const fn is_built() -> bool {
    cfg!(feature = "ublk")
}

/// Text for who asks for them where they are left out.
pub(super) const LEFT_OUT: &str = "this program was built without ublk; build it with --features ublk";

#[cfg(feature = "ublk")]
mod built {
    use super::super::words::OriginPlace;
    use proofload_tier::export::{TierVolume, UblkDevice};
    use proofload_tier::tier::Tier;
    use std::sync::Arc;

    /// Block devices of the volumes. Dropping it ends and removes them.
    pub(in super::super) struct BlockDevices {
        /// What killed servers have left and could not be removed.
        left: Vec<String>,
        /// Names of volumes, and their devices.
        devices: Vec<(&'static str, UblkDevice)>,
    }

    /// Removes what killed servers have left; returns what is still in use. It fails where no device can be made.
    pub(in super::super) fn release_left() -> Result<Vec<String>, String> {
        UblkDevice::release_left().map_err(|error| error.to_string())
    }

    impl BlockDevices {
        /// Makes a device for every volume. `left`: what killed servers have left, to be told.
        pub(in super::super) fn start(
            left: Vec<String>,
            tier: &Arc<Tier>,
            origins: &[OriginPlace],
        ) -> Result<Self, String> {
            let text = |error: proofload_tier::Error| error.to_string();
            let mut all = Self { left, devices: Vec::new() };
            for (number, place) in (0..).zip(origins) {
                let service = Arc::new(TierVolume::new(Arc::clone(tier), number));
                all.devices.push((place.class.name(), UblkDevice::start(service).map_err(text)?));
            }
            Ok(all)
        }

        /// What is where.
        pub(in super::super) fn lines(&self) -> Vec<(&'static str, String)> {
            let device = |(name, device): &(&str, UblkDevice)| {
                ("ublk", format!("{name} at {}, blocks of 4 KiB", device.node().display()))
            };
            let left = self.left.iter().map(|text| ("left", text.clone()));
            self.devices.iter().map(device).chain(left).collect()
        }

        /// Ends and removes all; returns what is left, and why.
        pub(in super::super) fn end(self) -> Vec<String> {
            let outcomes = self.devices.into_iter().map(|(_, device)| device.stop());
            outcomes.filter_map(|outcome| outcome.err().map(|error| error.to_string())).collect()
        }
    }
}

#[cfg(not(feature = "ublk"))]
mod left_out {
    use super::super::words::OriginPlace;
    use proofload_tier::tier::Tier;
    use std::sync::Arc;

    /// Nothing: there is no value of it.
    pub(in super::super) enum BlockDevices {}

    /// Refuses.
    pub(in super::super) fn release_left() -> Result<Vec<String>, String> {
        Err(super::LEFT_OUT.to_owned())
    }

    impl BlockDevices {
        /// Refuses.
        pub(in super::super) fn start(
            _left: Vec<String>,
            _tier: &Arc<Tier>,
            _origins: &[OriginPlace],
        ) -> Result<Self, String> {
            Err(super::LEFT_OUT.to_owned())
        }

        pub(in super::super) fn lines(&self) -> Vec<(&'static str, String)> {
            match *self {}
        }

        pub(in super::super) fn end(self) -> Vec<String> {
            match self {}
        }
    }
}

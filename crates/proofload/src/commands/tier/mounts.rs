//! Volumes as files of FUSE and as loop devices over these. Without the feature `fuse` there are none.

#[cfg(feature = "fuse")]
pub(super) use built::Mounts;
#[cfg(not(feature = "fuse"))]
pub(super) use left_out::Mounts;

/// Whether this program can mount.
pub(super) const fn is_built() -> bool {
    cfg!(feature = "fuse")
}

#[cfg(feature = "fuse")]
mod built {
    use super::super::words::OriginPlace;
    use proofload_tier::export::{FuseServer, FuseVolume, LoopDevice, TierVolume};
    use proofload_tier::tier::Tier;
    use std::path::Path;
    use std::sync::Arc;

    /// What is mounted. Dropping it releases and unmounts.
    pub(in super::super) struct Mounts {
        /// Names of volumes, and their devices. Dropped before the files under them.
        loops: Vec<(&'static str, LoopDevice)>,
        fuse: FuseServer,
    }

    impl Mounts {
        /// Mounts every volume.
        pub(in super::super) fn start(
            folder: &Path,
            with_loop: bool,
            tier: &Arc<Tier>,
            origins: &[OriginPlace],
        ) -> Result<Self, String> {
            let text = |error: proofload_tier::Error| error.to_string();
            let volumes = (0..).zip(origins).map(|(number, place)| FuseVolume {
                name: place.class.name().to_owned(),
                service: Arc::new(TierVolume::new(Arc::clone(tier), number)),
            });
            let fuse = FuseServer::start(folder, volumes.collect()).map_err(text)?;
            let mut mounts = Self { loops: Vec::new(), fuse };
            for place in origins.iter().filter(|_| with_loop) {
                let name = place.class.name();
                let device = LoopDevice::attach(&mounts.fuse.folder().join(name)).map_err(text)?;
                mounts.loops.push((name, device));
            }
            Ok(mounts)
        }

        /// What is where.
        pub(in super::super) fn lines(&self) -> Vec<(&'static str, String)> {
            let mut lines = vec![("fuse", format!("files in {}", self.fuse.folder().display()))];
            let device = |(name, device): &(&str, LoopDevice)| {
                ("loop", format!("{name} at {}, direct (loop/dio is 1)", device.node().display()))
            };
            lines.extend(self.loops.iter().map(device));
            lines
        }

        /// Releases and unmounts all; returns what is left, and why.
        pub(in super::super) fn end(self) -> Vec<String> {
            let loops = self.loops.into_iter().map(|(_, device)| device.release());
            let mut outcomes: Vec<_> = loops.collect();
            outcomes.push(self.fuse.stop());
            outcomes.into_iter().filter_map(|outcome| outcome.err().map(|error| error.to_string())).collect()
        }
    }
}

#[cfg(not(feature = "fuse"))]
mod left_out {
    use super::super::words::OriginPlace;
    use proofload_tier::tier::Tier;
    use std::path::Path;
    use std::sync::Arc;

    /// Nothing: there is no value of it.
    pub(in super::super) enum Mounts {}

    impl Mounts {
        /// Refuses.
        pub(in super::super) fn start(
            _folder: &Path,
            _with_loop: bool,
            _tier: &Arc<Tier>,
            _origins: &[OriginPlace],
        ) -> Result<Self, String> {
            Err("this program was built without FUSE; build it with its default features".to_owned())
        }

        pub(in super::super) fn lines(&self) -> Vec<(&'static str, String)> {
            match *self {}
        }

        pub(in super::super) fn end(self) -> Vec<String> {
            match self {}
        }
    }
}

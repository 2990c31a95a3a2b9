//! Direct input and output of files. Opening a file so proves nothing: ext4 with `data=journal` accepts it and buffers.

use proofload_model::error::Error;
use rustix::fs::{AtFlags, CWD, StatxFlags};
use std::path::Path;

/// Whether writes to a file or device can go around the page cache; `None` where the kernel does not say (before 6.1,
/// or by file system). Source: statx(2), `STATX_DIOALIGN`: an alignment of 0 means that direct I/O is not supported.
pub(crate) fn takes_direct(path: &Path) -> Result<Option<bool>, Error> {
    let found = rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::DIOALIGN).map_err(|error| {
        Error::new(format!("failed to check whether {} supports direct writes: {error}", path.display()))
    })?;
    let told = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::DIOALIGN);
    Ok(told.then_some(found.stx_dio_offset_align > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_kernel_say_nothing_and_missing_ones_fail() {
        assert_eq!(takes_direct(Path::new("/proc/self/status")).unwrap(), None);
        assert!(takes_direct(Path::new("/nowhere/at/all")).is_err());
    }
}

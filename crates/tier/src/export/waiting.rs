//! Waits for what others do, a bounded number of looks long.

use std::time::Duration;

/// Looks until something is so, at most so many times with a pause between; returns whether it is.
pub(super) fn until(looks: u32, pause: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    for look in 0..looks {
        if is_so() {
            return true;
        }
        if look + 1 < looks {
            std::thread::sleep(pause);
        }
    }
    false
}

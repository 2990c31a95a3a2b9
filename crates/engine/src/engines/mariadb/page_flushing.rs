//! Writing of changed pages in the background, as experiments switch it off: the page cleaner writes once a share of the pool is changed, or
//! once the log since the oldest change that is not written fills a share of what it may. Both shares are at their largest while it is off,
//! so that only a log that is nearly full, and a pool without a free page, make it write. Purging of old row versions has no such switch:
//! `innodb_purge_stop_now` is of debug builds alone, `innodb_purge_threads` and `innodb_purge_batch_size` are at least 1, and
//! `innodb_max_purge_lag` delays the users. Source: MariaDB manual, "InnoDB System Variables", "InnoDB Page Flushing".

use crate::contract::{LiveChange, LiveSetting};
use proofload_model::intervention::PAGE_FLUSHING;
use std::time::Duration;

/// Background flushing; the page cleaner looks at its settings once a second.
pub(super) const LIVE_PAGE_FLUSHING: LiveSetting = LiveSetting {
    resource: PAGE_FLUSHING,
    change: LiveChange::Off(&[
        ("innodb_max_dirty_pages_pct", "99.999000"),
        ("innodb_max_dirty_pages_pct_lwm", "0.000000"),
        ("innodb_adaptive_flushing_lwm", "70.000000"),
    ]),
    settles: Duration::from_secs(2),
};

//! Memory per line of the policy that ships.

use std::time::Duration;

use proofload_tier::layout::Geometry;
use proofload_tier::machine::{
    CacheMachine, CacheMode, CleanerSettings, JournalPosition, PoolSettings, VolumeClass, VolumeSettings,
};
use proofload_tier::policy::PolicyChoice;

#[test]
fn a_line_costs_at_most_forty_bytes() {
    let lines = 1 << 20;
    for policy in [PolicyChoice::S3Fifo2, PolicyChoice::Lru, PolicyChoice::TwoQueue, PolicyChoice::TinyLfu] {
        let settings = PoolSettings {
            policy,
            volumes: vec![VolumeSettings { class: VolumeClass::Data, mode: CacheMode::WriteBack, quota_lines: None }],
            cleaner: CleanerSettings { age_limit: Duration::from_secs(60), ..CleanerSettings::usual() },
            verify_every_read: false,
        };
        let geometry = Geometry::new(8192, lines).unwrap();
        let journal = JournalPosition { start: 0, next: 0, mount: 1 };
        let machine = CacheMachine::new(geometry, settings, &[], (lines, false), journal);
        let each = machine.memory_bytes() as f64 / f64::from(lines);
        assert!((20.0..=40.0).contains(&each), "{}: {each} bytes", policy.name());
    }
}

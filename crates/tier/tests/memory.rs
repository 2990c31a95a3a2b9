//! Memory per line of the policies whose memory grows with their lines alone.

use std::time::Duration;

use proofload_tier::layout::Geometry;
use proofload_tier::machine::{
    CacheMachine, CacheMode, CleanerSettings, JournalPosition, PoolSettings, VolumeClass, VolumeSettings,
};
use proofload_tier::policy::PolicyChoice;

#[test]
fn a_line_costs_at_most_forty_bytes() {
    let lines = 1_500_000;
    for policy in PolicyChoice::ALL.into_iter().filter(|choice| *choice != PolicyChoice::Arc) {
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

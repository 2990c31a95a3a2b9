//! What a server of ours leaves at the driver about itself: the kernel's own list then says whose a device is, and whether its server lives.

use crate::export::processes::start_of;

/// The upper bits of a mark.
const OURS: u64 = 0x7072;
const PROCESS_BITS: u32 = 22;
const START_BITS: u32 = 26;

/// Process and start of a server. Numbers of processes have 22 bits; of the start, in ticks, the lowest 26 are kept: 7 days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ServerMark {
    process: u64,
    start: u64,
}

impl ServerMark {
    /// Mark of this process; `None` when /proc does not tell its start.
    pub(super) fn own() -> Option<Self> {
        Some(Self { process: std::process::id().into(), start: lowest(&start_of("self")?)? })
    }

    /// Reads what a device keeps; `None` when its server was none of ours.
    pub(super) fn of(kept: u64) -> Option<Self> {
        let part = |from: u32, bits: u32| kept >> from & ((1 << bits) - 1);
        (kept >> (PROCESS_BITS + START_BITS) == OURS)
            .then(|| Self { process: part(START_BITS, PROCESS_BITS), start: part(0, START_BITS) })
    }

    /// What a device keeps.
    pub(super) fn kept(self) -> u64 {
        OURS << (PROCESS_BITS + START_BITS) | self.process << START_BITS | self.start
    }

    /// Whether its process lives.
    pub(super) fn lives(self) -> bool {
        start_of(&self.process.to_string()).and_then(|start| lowest(&start)) == Some(self.start)
    }
}

fn lowest(start: &str) -> Option<u64> {
    Some(start.parse::<u64>().ok()? & ((1 << START_BITS) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_tells_its_process_and_whether_it_lives() {
        let own = ServerMark::own().unwrap();
        assert_eq!(ServerMark::of(own.kept()), Some(own));
        assert!(own.lives());
        assert!(!ServerMark { start: own.start ^ 1, ..own }.lives(), "another process with its number");
        assert!(!ServerMark { process: (1 << 22) - 1, ..own }.lives());
        let largest = ServerMark { process: (1 << 22) - 1, start: (1 << 26) - 1 };
        assert_eq!(ServerMark::of(largest.kept()), Some(largest));
    }

    #[test]
    fn devices_of_others_have_no_mark_of_ours() {
        for kept in [0, 1, u64::MAX, 0x7071 << 48] {
            assert_eq!(ServerMark::of(kept), None, "{kept:x}");
        }
    }
}

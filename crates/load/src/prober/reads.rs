//! What reads saw of the writes. Pure.

use super::operation::ProbeOperation;
use proofload_model::time::Moment;

/// Most rows of a read: the newest numbers. As many writes as may end in another order than that of their numbers, and a few more.
pub(super) const MOST_ROWS: usize = 16;

/// Answer of a read.
#[derive(Debug, Clone)]
pub(super) struct ProbeRead {
    /// Number of the instance that answered.
    pub(super) node: usize,
    /// When its connection was made.
    pub(super) connected: Moment,
    /// When it was sent.
    pub(super) sent: Moment,
    /// The largest numbers that are there, at most [`MOST_ROWS`].
    pub(super) numbers: Vec<i64>,
}

/// Reads without a write that the same instance had acknowledged before; `writes` in the order of their numbers.
pub(super) fn stale_reads(reads: &[ProbeRead], writes: &[ProbeOperation]) -> u64 {
    reads.iter().filter(|read| skips_any(read, writes)).count() as u64
}

/// Tells whether a read lacks a write that was acknowledged on its instance while its connection was open, so that nothing was lost in between by a
/// restart. Of fewer rows than were asked for no number is too old to be among them.
fn skips_any(read: &ProbeRead, writes: &[ProbeOperation]) -> bool {
    let is_full = read.numbers.len() >= MOST_ROWS;
    let oldest = read.numbers.iter().min().filter(|_| is_full);
    let first = oldest.map_or(0, |oldest| writes.partition_point(|write| write.key() <= *oldest));
    let due_before = writes[first..].iter().take_while(|write| write.due <= read.sent);
    let known = due_before.filter(|write| write.is_acknowledged() && write.node == read.node);
    let mut known = known.filter(|write| write.ended >= read.connected && write.ended < read.sent);
    known.any(|write| !read.numbers.contains(&write.key()))
}

#[cfg(test)]
mod tests {
    use super::super::ledger::tests::write;
    use super::super::operation::ProbeOutcome;
    use super::*;

    /// A read of the first node, sent when a write was due, over a connection that was made when another was.
    fn read(sent: u64, connected: u64, numbers: &[i64]) -> ProbeRead {
        let [sent, connected] = [sent, connected].map(|number| write(number, ProbeOutcome::Acknowledged, 0).due);
        ProbeRead { node: 0, connected, sent, numbers: numbers.to_vec() }
    }

    #[test]
    fn a_read_that_skips_an_acknowledged_write_is_stale() {
        let mut writes: Vec<_> = (0..100).map(|number| write(number, ProbeOutcome::Acknowledged, 0)).collect();
        let newest: Vec<i64> = (34..50).rev().collect();
        let without = |number: i64| -> Vec<i64> {
            let rows = (33..50).rev().filter(|one| *one != number);
            rows.take(MOST_ROWS).collect()
        };
        // Each write takes 2 ms of the 5 ms until the next.
        assert_eq!(stale_reads(&[read(50, 0, &newest)], &writes), 0);
        assert_eq!(stale_reads(&[read(50, 0, &without(49)), read(50, 0, &without(40))], &writes), 2);
        assert_eq!(stale_reads(&[read(50, 49, &without(40))], &writes), 0, "a restart may have lost it since");
        assert_eq!(stale_reads(&[read(49, 0, &without(49))], &writes), 0, "it was not acknowledged yet");
        assert_eq!(stale_reads(&[ProbeRead { node: 1, ..read(50, 0, &without(40)) }], &writes), 0, "another node");
        writes[40].outcome = ProbeOutcome::Unknown;
        assert_eq!(stale_reads(&[read(50, 0, &without(40))], &writes), 0, "nobody was told that it is there");
        assert_eq!(stale_reads(&[read(3, 0, &[0, 2])], &writes), 1, "of a few rows none is too old");
    }
}

//! What a drive's track buffer holds, and what the head reads into it ahead of its reader. It knows no place on the disk.

/// Bytes of the disk from a first one on, as far as the head has read. Times are ms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TrackBuffer {
    from: u64,
    /// The byte that comes under the head at the time below; all before it are here.
    head: u64,
    since: f64,
    /// Time of a byte under the head.
    byte_ms: f64,
    /// Where the head stops.
    to: u64,
}

impl TrackBuffer {
    /// A buffer with the bytes that were read until a time, and none to come.
    pub(super) fn filled((from, to): (u64, u64), now: f64, byte_ms: f64) -> Self {
        Self { from, head: to, since: now, byte_ms, to }
    }

    /// The same with so many bytes to come.
    pub(super) fn ahead(self, bytes: u64) -> Self {
        Self { to: self.to + bytes, ..self }
    }

    /// Where the head stops.
    pub(super) fn to(&self) -> u64 {
        self.to
    }

    /// Whether a range is here or to come.
    pub(super) fn reaches(&self, from: u64, to: u64) -> bool {
        self.from <= from && to <= self.to
    }

    /// Time at which all before a byte is here, by which it may be long.
    pub(super) fn ready(&self, end: u64) -> f64 {
        if end <= self.head { f64::NEG_INFINITY } else { self.since + self.byte_ms * (end - self.head) as f64 }
    }

    /// Time at which the head stops, or has.
    pub(super) fn stopped_at(&self) -> f64 {
        self.ready(self.to)
    }

    /// Puts the head at a byte at a time: all before it are here.
    pub(super) fn head_at(&mut self, head: u64, now: f64, byte_ms: f64) {
        (self.head, self.since, self.byte_ms) = (head, now, byte_ms);
    }

    /// The buffer behind a reader of a range: half of `room` from there on may come, and what is further back than the other half gives way.
    pub(super) fn behind_reader(self, from: u64, end: u64, room: u64) -> Self {
        let to = self.to.max(end + room / 2);
        Self { to, from: self.from.max(to.saturating_sub(room).min(from)), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_one_after_the_other_and_those_before_the_head_are_here() {
        let buffer = TrackBuffer::filled((100, 200), 5.0, 0.5).ahead(60);
        let reached = [(100, 200), (150, 260), (99, 200), (150, 261)].map(|(from, to)| buffer.reaches(from, to));
        assert_eq!(reached, [true, true, false, false]);
        assert_eq!((buffer.ready(200), buffer.ready(210), buffer.stopped_at()), (f64::NEG_INFINITY, 10.0, 35.0));
    }

    #[test]
    fn a_reader_leaves_half_of_the_room_behind() {
        let buffer = TrackBuffer::filled((0, 100), 5.0, 0.5).ahead(100);
        let near = buffer.behind_reader(100, 110, 100);
        assert_eq!((near.from, near.to), (100, 200), "the room is used up");
        let far = near.behind_reader(180, 190, 100);
        assert_eq!((far.from, far.to), (140, 240));
        let long = far.behind_reader(140, 240, 100);
        assert_eq!((long.from, long.to), (140, 290), "what is read now stays");
    }
}

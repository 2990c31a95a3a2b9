//! Doubly linked lists over line numbers: free lines, dirty lines and the queues of the policies in one pair of arrays.
//!
//! A line is in one list at a time, so that all lists together cost 9 bytes per line. No list owns a line.

/// Number of a line of the cache, counted from 0.
pub type LineNumber = u32;

/// Lists that there can be.
const LISTS: usize = 16;
/// End of a list.
const NIL: u32 = u32::MAX;

/// Name of one list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListId(u8);

impl ListId {
    /// Lines in no list.
    pub const ASIDE: ListId = ListId(0);
    /// Lines that hold nothing, durably.
    pub const FREE: ListId = ListId(1);
    /// Lines that hold what the origin has not, in the order in which they became dirty.
    pub const DIRTY: ListId = ListId(2);

    /// The list number `place` of policy number `policy`: four policies of three lists.
    ///
    /// # Panics
    ///
    /// When a number is out of range, which is a mistake of this crate.
    pub fn of_policy(policy: usize, place: usize) -> Self {
        assert!(policy < 4 && place < 3, "four policies with three lists each");
        ListId(u8::try_from(3 + policy * 3 + place).expect("below 15"))
    }

    fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// Where a line stands with its policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyPlace {
    /// The list that holds it.
    pub list: ListId,
    /// Its counted uses, 0 to 3.
    pub uses: u8,
}

/// Ends and length of one list.
#[derive(Clone, Copy, Debug)]
struct ListEnds {
    head: u32,
    tail: u32,
    length: u32,
}

/// All lists, and two bits of use per line that policies share.
#[derive(Debug)]
pub struct Lists {
    next: Vec<u32>,
    previous: Vec<u32>,
    /// Four bits of list, two of use, one of trust, one of recent writes.
    meta: Vec<u8>,
    ends: [ListEnds; LISTS],
}

const USE_SHIFT: u8 = 4;
const USE_MASK: u8 = 0b0011_0000;
const TRUST: u8 = 0b0100_0000;
const RECENT: u8 = 0b1000_0000;

impl Lists {
    /// Lists for so many lines, all of them in no list.
    pub fn new(lines: u32) -> Self {
        let count = lines as usize;
        let empty = ListEnds { head: NIL, tail: NIL, length: 0 };
        let mut lists = Self { next: Vec::new(), previous: Vec::new(), meta: Vec::new(), ends: [empty; LISTS] };
        lists.grow(count);
        lists.ends[ListId::ASIDE.index()].length = lines;
        lists
    }

    fn grow(&mut self, count: usize) {
        self.next.resize(count, NIL);
        self.previous.resize(count, NIL);
        self.meta.resize(count, 0);
    }

    /// The list that holds a line.
    pub fn list_of(&self, line: LineNumber) -> ListId {
        ListId(self.meta[line as usize] & 0x0f)
    }

    /// List and uses of a line.
    pub fn policy_place(&self, line: LineNumber) -> PolicyPlace {
        PolicyPlace { list: self.list_of(line), uses: self.uses(line) }
    }

    /// Number of lines in a list.
    pub fn length(&self, list: ListId) -> u32 {
        self.ends[list.index()].length
    }

    /// The line that was put into a list first.
    pub fn tail(&self, list: ListId) -> Option<LineNumber> {
        some(self.ends[list.index()].tail)
    }

    /// The line that was put into the same list right after this one.
    pub fn newer(&self, line: LineNumber) -> Option<LineNumber> {
        some(self.previous[line as usize])
    }

    /// Takes a line out of its list and puts it at the head of another, or of the same again.
    #[inline]
    pub fn move_to(&mut self, line: LineNumber, list: ListId) {
        self.unlink(line);
        let at = line as usize;
        self.meta[at] = (self.meta[at] & !0x0f) | list.0;
        let ends = &mut self.ends[list.index()];
        ends.length += 1;
        if list == ListId::ASIDE {
            return;
        }
        let head = std::mem::replace(&mut ends.head, line);
        if head == NIL {
            ends.tail = line;
        } else {
            self.previous[head as usize] = line;
        }
        self.next[at] = head;
        self.previous[at] = NIL;
    }

    fn unlink(&mut self, line: LineNumber) {
        let at = line as usize;
        let list = self.list_of(line);
        let ends = &mut self.ends[list.index()];
        ends.length -= 1;
        if list == ListId::ASIDE {
            return;
        }
        let (next, previous) = (self.next[at], self.previous[at]);
        match previous {
            NIL => ends.head = next,
            line => self.next[line as usize] = next,
        }
        match next {
            NIL => ends.tail = previous,
            line => self.previous[line as usize] = previous,
        }
    }

    /// Uses of a line that its policy has counted, 0 to 3.
    #[inline]
    pub fn uses(&self, line: LineNumber) -> u8 {
        (self.meta[line as usize] & USE_MASK) >> USE_SHIFT
    }

    /// Sets the uses of a line; more than 3 are 3.
    #[inline]
    pub fn set_uses(&mut self, line: LineNumber, uses: u8) {
        let meta = &mut self.meta[line as usize];
        *meta = (*meta & !USE_MASK) | (uses.min(3) << USE_SHIFT);
    }

    /// Whether the content of a line was written or verified since the start.
    #[inline]
    pub fn is_trusted(&self, line: LineNumber) -> bool {
        self.meta[line as usize] & TRUST != 0
    }

    /// Notes that the content of a line was written or verified, or that it must be verified.
    pub fn set_trusted(&mut self, line: LineNumber, trusted: bool) {
        let meta = &mut self.meta[line as usize];
        *meta = if trusted { *meta | TRUST } else { *meta & !TRUST };
    }

    /// Notes that a line was written.
    #[inline]
    pub fn set_recent(&mut self, line: LineNumber) {
        self.meta[line as usize] |= RECENT;
    }

    /// Whether a line was written since this was asked last.
    pub fn take_recent(&mut self, line: LineNumber) -> bool {
        let meta = &mut self.meta[line as usize];
        let is_recent = *meta & RECENT != 0;
        *meta &= !RECENT;
        is_recent
    }

    /// Bytes of memory in use.
    pub fn memory_bytes(&self) -> usize {
        (self.next.capacity() + self.previous.capacity()) * size_of::<u32>() + self.meta.capacity()
    }
}

fn some(line: u32) -> Option<LineNumber> {
    (line != NIL).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(lists: &Lists, list: ListId) -> Vec<u32> {
        std::iter::successors(lists.tail(list), |line| lists.newer(*line)).collect()
    }

    #[test]
    fn lines_leave_in_the_order_in_which_they_came() {
        let mut lists = Lists::new(5);
        for line in 0..5 {
            lists.move_to(line, ListId::FREE);
        }
        lists.move_to(2, ListId::DIRTY);
        lists.move_to(0, ListId::FREE);
        lists.move_to(4, ListId::DIRTY);
        assert_eq!(order(&lists, ListId::FREE), [1, 3, 0]);
        assert_eq!(order(&lists, ListId::DIRTY), [2, 4]);
        lists.move_to(2, ListId::ASIDE);
        lists.move_to(4, ListId::ASIDE);
        assert_eq!((lists.tail(ListId::DIRTY), lists.length(ListId::ASIDE)), (None, 2));
    }

    #[test]
    fn uses_trust_and_list_do_not_disturb_each_other() {
        let mut lists = Lists::new(1);
        lists.set_uses(0, 9);
        lists.set_trusted(0, true);
        lists.move_to(0, ListId::of_policy(3, 2));
        assert_eq!((lists.uses(0), lists.is_trusted(0)), (3, true));
        lists.set_recent(0);
        assert_eq!((lists.uses(0), lists.is_trusted(0)), (3, true));
        assert_eq!((lists.take_recent(0), lists.take_recent(0)), (true, false));
        lists.set_trusted(0, false);
        lists.set_uses(0, 1);
        assert_eq!((lists.uses(0), lists.is_trusted(0), lists.list_of(0)), (1, false, ListId::of_policy(3, 2)));
    }
}

//! Orders that the database has acknowledged: one 64-bit word each, so that a long run can name every one that was
//! lost.

use serde::{Deserialize, Serialize};

/// One acknowledged order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AcknowledgedOrder {
    /// Warehouse, 1..=200,000.
    pub(super) w_id: i32,
    /// District, 1..=10.
    pub(super) d_id: i32,
    /// Number, below 2^26: at 100 orders a second and district after 7 days.
    pub(super) o_id: i32,
    /// Lines, 5..=15.
    pub(super) ol_cnt: i32,
    /// Customer, 1..=3,000.
    pub(super) c_id: i32,
}

/// Widths in bits of district, order, lines and customer; the warehouse has what is left.
const D_BITS: u32 = 4;
const O_BITS: u32 = 26;
const OL_BITS: u32 = 4;
const C_BITS: u32 = 12;

impl AcknowledgedOrder {
    /// Packs the order into a word; words sort as orders do. `None` when the order does not fit, which a check must not
    /// ignore.
    pub(super) fn pack(self) -> Option<u64> {
        let field = |value: i32, bits: u32| u64::try_from(value).ok().filter(|value| *value < 1 << bits);
        let mut word = field(self.w_id, 64 - D_BITS - O_BITS - OL_BITS - C_BITS)?;
        for (value, bits) in [(self.d_id, D_BITS), (self.o_id, O_BITS), (self.ol_cnt, OL_BITS), (self.c_id, C_BITS)] {
            word = word << bits | field(value, bits)?;
        }
        Some(word)
    }

    /// The order of a word.
    pub(super) fn unpack(mut word: u64) -> Self {
        let mut field = |bits: u32| {
            let value = word & ((1 << bits) - 1);
            word >>= bits;
            i32::try_from(value).expect("no field has more than 26 bits")
        };
        let [c_id, ol_cnt, o_id, d_id] = [C_BITS, OL_BITS, O_BITS, D_BITS].map(&mut field);
        Self { w_id: field(64 - D_BITS - O_BITS - OL_BITS - C_BITS), d_id, o_id, ol_cnt, c_id }
    }
}

/// Words per segment: 64 KiB, so that growing never copies what is there.
const SEGMENT: usize = 8192;

/// A list of acknowledged orders.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct AcknowledgedOrders {
    segments: Vec<Vec<u64>>,
    /// Orders that did not fit into a word.
    pub(super) unfit: u64,
}

impl AcknowledgedOrders {
    /// Adds an order; allocates once in 8,192 times.
    pub(super) fn push(&mut self, order: AcknowledgedOrder) {
        let Some(word) = order.pack() else {
            self.unfit += 1;
            return;
        };
        match self.segments.last_mut().filter(|segment| segment.len() < SEGMENT) {
            Some(segment) => segment.push(word),
            None => {
                let mut segment = Vec::with_capacity(SEGMENT);
                segment.push(word);
                self.segments.push(segment);
            }
        }
    }

    /// Takes over another list.
    pub(super) fn merge(&mut self, other: Self) {
        self.segments.extend(other.segments);
        self.unfit += other.unfit;
    }

    /// All words, sorted.
    pub(super) fn sorted(&self) -> Vec<u64> {
        let mut words = self.segments.concat();
        words.sort_unstable();
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(order: AcknowledgedOrder, fits: bool) {
        assert_eq!(order.pack().map(AcknowledgedOrder::unpack), fits.then_some(order));
    }

    #[test]
    fn orders_survive_packing_or_are_refused() {
        let order = AcknowledgedOrder { w_id: 200_000, d_id: 10, o_id: (1 << 26) - 1, ol_cnt: 15, c_id: 3000 };
        check(order, true);
        check(AcknowledgedOrder { o_id: 1 << 26, ..order }, false);
        check(AcknowledgedOrder { d_id: 16, ..order }, false);
        check(AcknowledgedOrder { c_id: -1, ..order }, false);
    }

    #[test]
    fn words_sort_by_warehouse_district_and_number() {
        let order = |w_id, d_id, o_id| AcknowledgedOrder { w_id, d_id, o_id, ol_cnt: 5, c_id: 3000 };
        let mut list = AcknowledgedOrders::default();
        for (w_id, d_id, o_id) in [(2, 1, 1), (1, 10, 7), (1, 2, 9), (1, 2, 8)] {
            list.push(order(w_id, d_id, o_id));
        }
        let sorted: Vec<_> = list.sorted().into_iter().map(AcknowledgedOrder::unpack).collect();
        assert_eq!(sorted, [order(1, 2, 8), order(1, 2, 9), order(1, 10, 7), order(2, 1, 1)]);
    }
}

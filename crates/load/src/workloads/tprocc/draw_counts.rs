//! Frequencies of the drawn customer numbers, items and last names, for the audit of inputs. Each client thread has one
//! set of counts for all of its users: an addition is one load and one store, and nothing is allocated after the first
//! user.

use proofload_gen::tprocc::Scale;
use proofload_gen::tprocc::inputs::{CustomerBy, NewOrder};
use serde::{Deserialize, Serialize};

/// Counts of draws; 416 KB at full scale.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct DrawCounts {
    /// Draws of c_id from 1, in New-Order and wherever a customer is named by number.
    pub(super) c_ids: Vec<u32>,
    /// Draws of last names from number 0.
    pub(super) last_names: Vec<u32>,
    /// Draws of ol_i_id from 1, without the unused item.
    pub(super) items: Vec<u32>,
}

impl DrawCounts {
    /// Nothing drawn yet.
    pub(super) fn new(scale: &Scale) -> Self {
        let none = |numbers: i32| vec![0; numbers.unsigned_abs() as usize];
        Self { c_ids: none(scale.customers_per_district), last_names: none(scale.last_names), items: none(scale.items) }
    }

    /// A completed New-Order.
    pub(super) fn new_order(&mut self, input: &NewOrder) {
        count(&mut self.c_ids, input.c_id - 1);
        let used = input.lines().len() - usize::from(input.rolls_back);
        for line in &input.lines()[..used] {
            count(&mut self.items, line.ol_i_id - 1);
        }
    }

    /// The customer of a completed Payment or Order-Status.
    pub(super) fn customer(&mut self, customer: &CustomerBy) {
        match customer {
            CustomerBy::Id(c_id) => count(&mut self.c_ids, c_id - 1),
            CustomerBy::LastName(last) => count(&mut self.last_names, last.number().into()),
        }
    }

    /// Takes over another's counts, which begins anew.
    pub(super) fn absorb(&mut self, other: &mut Self) {
        let Self { c_ids, last_names, items } = other;
        for (into, from) in [(&mut self.c_ids, c_ids), (&mut self.last_names, last_names), (&mut self.items, items)] {
            into.resize(into.len().max(from.len()), 0);
            for (sum, more) in into.iter_mut().zip(from) {
                *sum += std::mem::take(more);
            }
        }
    }
}

/// Counts one draw; a number that cannot be drawn is the database's to refuse.
fn count(counts: &mut [u32], place: i32) {
    if let Some(count) = usize::try_from(place).ok().and_then(|place| counts.get_mut(place)) {
        *count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::division::{from_bytes, to_bytes};
    use proofload_gen::tprocc::LastName;

    /// Draws of another thread or load agent are added whole, and once.
    #[test]
    fn draws_of_others_are_added_once() {
        let mut theirs = DrawCounts::new(&Scale::TOY);
        theirs.customer(&CustomerBy::Id(3));
        theirs.customer(&CustomerBy::LastName(LastName::of(9)));
        let bytes = to_bytes(&theirs).unwrap();
        let mut ours = DrawCounts::default();
        for _ in 0..2 {
            ours.absorb(&mut from_bytes::<DrawCounts>(&bytes).unwrap());
        }
        assert_eq!((ours.c_ids[2], ours.last_names[9], ours.items.len()), (2, 2, 1_000));
        for _ in 0..2 {
            ours.absorb(&mut theirs);
        }
        assert_eq!((ours.c_ids[2], ours.last_names[9]), (3, 3));
    }
}

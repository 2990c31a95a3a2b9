//! The terminals of one client thread: who sits where, what each has keyed, when it sends.

use super::waits::{WaitTally, Waits};
use crate::drive::Terminals;
use proofload_gen::tprocc::inputs::{Input, InputPlan, UserInputs};
use proofload_gen::{Rng, Seed};
use proofload_model::time::Moment;
use std::cell::{Cell, RefCell};
use std::time::Duration;

/// Label of the seeds of waits, below that of the inputs.
const WAITS: u64 = 0x7761_6974;

/// The terminals of one client thread.
pub(in crate::workloads::tprocc) struct Floor {
    pub(in crate::workloads::tprocc) terminals: Terminals,
    places: RefCell<Vec<Place>>,
    waits: Waits,
    is_open: Cell<bool>,
}

/// One terminal.
struct Place {
    inputs: UserInputs,
    /// Its next transaction.
    input: Input,
    rng: Rng,
}

impl Floor {
    /// The terminals `numbers` of a plan.
    pub(in crate::workloads::tprocc) fn new(
        plan: &InputPlan,
        waits: Waits,
        numbers: impl Iterator<Item = i32>,
    ) -> Self {
        let seed = Seed(plan.settings().seed.0).of(WAITS);
        let place = |number: i32| {
            let mut inputs = plan.user(number);
            let input = inputs.next_input();
            Place { inputs, input, rng: seed.of(number.unsigned_abs().into()).rng() }
        };
        let places: Vec<Place> = numbers.map(place).collect();
        Self {
            terminals: Terminals::with_capacity(places.len()),
            places: RefCell::new(places),
            waits,
            is_open: Cell::new(false),
        }
    }

    /// Terminals begin to key. Each is somewhere in its first wait, so that they do not all send at once.
    pub(in crate::workloads::tprocc) fn open(&self, origin: Moment) {
        if self.is_open.replace(true) {
            return;
        }
        for (number, place) in (0..).zip(self.places.borrow_mut().iter_mut()) {
            let transaction = place.input.transaction();
            let first = self.waits.think(transaction, &mut place.rng) + self.waits.keying(transaction);
            let gone = u64::try_from(first.as_nanos()).map_or(0, |nanos| place.rng.below(nanos.max(1)));
            self.terminals.seat(number, origin + first.saturating_sub(Duration::from_nanos(gone)));
        }
    }

    /// What a terminal has keyed.
    pub(super) fn keyed(&self, terminal: u32) -> Input {
        self.places.borrow()[terminal as usize].input
    }

    /// A terminal has the answer to `input`: it thinks, chooses and keys its next transaction. Returns how long that takes.
    pub(super) fn next(&self, terminal: u32, tally: &mut WaitTally) -> Duration {
        let mut places = self.places.borrow_mut();
        let place = &mut places[terminal as usize];
        let before = place.input.transaction();
        place.input = place.inputs.next_input();
        let after = place.input.transaction();
        let (think, key) = (self.waits.think(before, &mut place.rng), self.waits.keying(after));
        tally.think(before, think);
        tally.key(after, key);
        think + key
    }
}

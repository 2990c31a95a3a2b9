//! The terminals of one client thread: who sits where, what each has keyed, when it sends.

use super::waits::{WaitTally, Waits};
use crate::drive::DueTerminals;
use proofload_gen::tprocc::inputs::{Input, InputPlan, UserInputs};
use proofload_gen::{Rng, Seed};
use proofload_model::time::Moment;
use std::cell::{Cell, RefCell};
use std::time::Duration;

/// Label of the seeds of waits, below that of the inputs.
const WAITS: u64 = 0x7761_6974;

/// The terminals of one client thread.
pub(crate) struct ThreadTerminals {
    pub(crate) terminals: DueTerminals,
    list: RefCell<Vec<Terminal>>,
    waits: Waits,
    is_open: Cell<bool>,
}

/// One terminal.
struct Terminal {
    inputs: UserInputs,
    /// Its next transaction.
    input: Input,
    rng: Rng,
}

impl ThreadTerminals {
    /// The terminals `numbers` of a plan.
    pub(crate) fn new(plan: &InputPlan, waits: Waits, numbers: impl Iterator<Item = i32>) -> Self {
        let seed = Seed(plan.settings().seed.0).of(WAITS);
        let terminal = |number: i32| {
            let mut inputs = plan.user(number);
            let input = inputs.next_input();
            Terminal { inputs, input, rng: seed.of(number.unsigned_abs().into()).rng() }
        };
        let list: Vec<Terminal> = numbers.map(terminal).collect();
        Self {
            terminals: DueTerminals::with_capacity(list.len()),
            list: RefCell::new(list),
            waits,
            is_open: Cell::new(false),
        }
    }

    /// Terminals begin to key. Each is somewhere in its first wait, so that they do not all send at once.
    pub(crate) fn open(&self, origin: Moment) {
        if self.is_open.replace(true) {
            return;
        }
        for (number, terminal) in (0..).zip(self.list.borrow_mut().iter_mut()) {
            let transaction = terminal.input.transaction();
            let first = self.waits.think(transaction, &mut terminal.rng) + self.waits.keying(transaction);
            let gone = u64::try_from(first.as_nanos()).map_or(0, |nanos| terminal.rng.below(nanos.max(1)));
            self.terminals.add(number, origin + first.saturating_sub(Duration::from_nanos(gone)));
        }
    }

    /// The transaction that a terminal has keyed.
    pub(super) fn keyed(&self, terminal: u32) -> Input {
        self.list.borrow()[terminal as usize].input
    }

    /// Answers a terminal: it thinks, chooses and keys its next transaction. Returns how long that takes.
    pub(super) fn next(&self, terminal: u32, tally: &mut WaitTally) -> Duration {
        let mut list = self.list.borrow_mut();
        let terminal = &mut list[terminal as usize];
        let before = terminal.input.transaction();
        terminal.input = terminal.inputs.next_input();
        let after = terminal.input.transaction();
        let (think, key) = (self.waits.think(before, &mut terminal.rng), self.waits.keying(after));
        tally.think(before, think);
        tally.key(after, key);
        think + key
    }
}

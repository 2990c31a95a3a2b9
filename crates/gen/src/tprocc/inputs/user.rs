//! One virtual user's stream of inputs.

use super::input::Input;
use super::mix::Deck;
use super::plan::{InputPlan, Source};

/// The inputs of one virtual user, one after the other and without end.
///
/// It allocates nothing and shares nothing with other users.
#[derive(Clone, Debug)]
pub struct UserInputs {
    source: Source,
    deck: Option<Deck>,
    index: u64,
}

impl UserInputs {
    pub(super) fn new(plan: &InputPlan, user: i32) -> Self {
        Self { source: plan.source(user), deck: None, index: 0 }
    }

    /// The index of the next input: how many were drawn or skipped so far.
    #[must_use]
    pub const fn index(&self) -> u64 {
        self.index
    }

    /// The next input.
    #[inline]
    pub fn next_input(&mut self) -> Input {
        let input = self.source.next_input(self.index, &mut self.deck);
        self.index += 1;
        input
    }

    /// Goes to `index`, so that the next input is that of this index.
    pub fn seek(&mut self, index: u64) {
        self.index = index;
        self.deck = None;
    }
}

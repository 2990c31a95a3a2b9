//! What the first screen says of one kind of study. May not know which kinds there are.

use crate::blocks::{Figure, Prose};
use crate::findings::Findings;

/// A kind of study.
pub(super) struct Topic {
    /// Tells whether a study with at least one valid point is of this kind.
    pub(super) applies: fn(&Findings<'_>) -> bool,
    /// Says it.
    pub(super) tell: fn(&Findings<'_>) -> TopicText,
    /// Draws the main figure; `None`: throughput at each point.
    pub(super) figure: Option<fn(&Findings<'_>) -> Option<Figure>>,
}

/// What is said; an empty text is left out.
#[derive(Default)]
pub(super) struct TopicText {
    /// The answer.
    pub(super) answer: Prose,
    /// What held.
    pub(super) held: Prose,
    /// What broke first.
    pub(super) broke: Prose,
    /// Why, as far as it was observed.
    pub(super) why: Prose,
    /// How sure the answer is, beside what holds for every study.
    pub(super) sure: Prose,
    /// What to do next, before what helps in every study.
    pub(super) next: Prose,
}

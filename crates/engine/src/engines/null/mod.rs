//! The null engine: answers at once, or after a stated service time, to measure Proofload itself. Keeps no data.

mod documents;
mod engine;
mod session;

pub use documents::Documents;
pub use engine::Null;
pub use session::NullSession;

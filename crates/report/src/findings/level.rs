//! A measured number or the reason why there is none.

use proofload_analysis::quantity::Quantity;

/// A quantity, or why it was not measured, as a lower-case fragment.
pub type Measured = Result<Quantity, String>;

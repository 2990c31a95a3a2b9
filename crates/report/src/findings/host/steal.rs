//! Steal: time in which the database's cores had work and the hypervisor ran another guest. More than the study tolerates voids; less is
//! mentioned beside what is not steady.

use crate::findings::estimate::informative;
use crate::findings::telemetry;
use crate::findings::void::Void;
use proofload_analysis::bootstrap::mean_of;
use proofload_analysis::quantity::{Quantity, Unit};
use proofload_record::Attempt;

/// Steal above this moves a rate by more than a repetition usually does, per cent of the cores. A convention.
pub const NOTABLE_STEAL: f64 = 2.0;

/// Mean steal from one second to another, per cent of the cores; `None` where it was not observed.
pub(crate) fn steal(attempt: &Attempt, stretch: (f64, f64)) -> Option<Quantity> {
    let values = telemetry::steal(attempt)?.within(stretch).values();
    (!values.is_empty()).then(|| informative(mean_of(&values).quantity(Unit::PERCENT)))
}

/// The reason to void when steal is more than the study tolerates, a share of the cores.
pub(crate) fn beyond(steal: Option<&Quantity>, tolerance: f64) -> Option<Void> {
    let beyond = steal.filter(|steal| steal.value() > 100.0 * tolerance)?;
    Some(Void::host(format!(
        "other guests of the host took {:.0} % of the CPU in the measured window; {:.0} % are tolerated \
         (procedure.steal_tolerance)",
        beyond.value(),
        100.0 * tolerance
    )))
}

/// What is said of it behind a reason that it may have caused; empty up to [`NOTABLE_STEAL`].
pub(crate) fn blamed(steal: Option<&Quantity>) -> String {
    let notable = steal.filter(|steal| steal.value() > NOTABLE_STEAL);
    notable.map_or_else(String::new, |steal| {
        format!("; meanwhile other guests of the host took {:.0} % of the CPU", steal.value())
    })
}

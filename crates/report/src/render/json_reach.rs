//! How far the interval of a run's window reaches, as JSON.

use crate::findings::WindowReach;
use serde_json::{Value as Json, json};

/// What recurs in the window, slowest first, and shares.
pub(super) fn reach_json(reach: &WindowReach) -> Json {
    json!({
        "recurrences": reach.recurrences.iter().map(|recurrence| json!({
            "of": recurrence.of.name(), "count": recurrence.count, "period_s": recurrence.period,
        })).collect::<Vec<_>>(),
        "holds_enough": reach.holds_enough(),
        "variance_ratio": reach.variance_ratio,
        "may_be_narrow": reach.may_be_narrow(),
        "movement_not_excluded": reach.movement,
    })
}

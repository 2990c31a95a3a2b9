//! Runs in words, for people who wait for them.

use proofload_model::plan::Plan;

/// A label for each run of the plan.
pub(crate) fn labels(plan: &Plan) -> Vec<String> {
    plan.runs
        .iter()
        .map(|run| {
            let levels: Vec<String> =
                plan.points[run.point as usize].levels.values().map(ToString::to_string).collect();
            let levels = if levels.is_empty() { "the only point".to_owned() } else { levels.join(" · ") };
            let repeated = if run.repetition > 0 { format!(" #{}", run.repetition + 1) } else { String::new() };
            let sentinel = if run.sentinel { " (sentinel)" } else { "" };
            format!("{levels}{repeated}{sentinel}")
        })
        .collect()
}

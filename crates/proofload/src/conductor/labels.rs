//! Runs in words, for people who wait for them.

use proofload_model::plan::Plan;
use proofload_model::settings::Value;
use proofload_report::findings::level_of;

/// A label for each run of the plan.
pub(crate) fn labels(plan: &Plan) -> Vec<String> {
    plan.runs
        .iter()
        .map(|run| {
            let levels = plan.points[run.point as usize].levels.iter();
            let levels: Vec<String> = levels.map(|(setting, value)| level(setting, value)).collect();
            let levels = if levels.is_empty() { "the only point".to_owned() } else { levels.join(" · ") };
            let repeated = if run.repetition > 0 { format!(" #{}", run.repetition + 1) } else { String::new() };
            let sentinel = if run.sentinel { " (sentinel)" } else { "" };
            format!("{levels}{repeated}{sentinel}")
        })
        .collect()
}

/// A level in words: `64 MiB`, and `cores 2` where the value alone says nothing.
fn level(setting: &str, value: &Value) -> String {
    let text = level_of(setting, value).replace('\u{a0}', " ");
    match value {
        Value::Integer(_) | Value::Number(_) | Value::Boolean(_) => {
            let name = setting.rsplit('.').next().unwrap_or(setting).replace('_', " ");
            format!("{name} {text}")
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::units::Bytes;

    #[test]
    fn a_bare_number_says_what_it_is() {
        assert_eq!(level("limits.memory", &Value::Bytes(Bytes::mebi(64))), "64 MiB");
        assert_eq!(level("workload.virtual_users", &Value::Integer(8)), "virtual users 8");
    }
}

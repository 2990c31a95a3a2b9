//! What a report says of a planted cause, beside what would have been said without an experiment.

use serde_json::Value;

/// What was named.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct CauseNames {
    /// Resources that were confirmed.
    pub(super) confirmed: Vec<String>,
    /// Every resource with its elasticity and verdict, in words.
    pub(super) all: String,
    /// The limit of which most was used.
    pub(super) fullest: Option<String>,
    /// The first candidate of the ranking by what was observed.
    pub(super) observed: Option<String>,
    /// Blocks that were made.
    pub(super) blocks: u64,
}

impl CauseNames {
    /// What a report in JSON says.
    pub(super) fn of(report: &Value) -> Option<Self> {
        let point = &report["attribution"][0];
        let resources = point["resources"].as_array()?;
        let name = |one: &Value| one["name"].as_str().unwrap_or_default().to_owned();
        let confirmed = resources.iter().filter(|one| one["verdict"] == "confirmed").map(name).collect();
        let reached = |one: &&Value| one["reached"].as_f64().unwrap_or(-1.0);
        let fullest = resources.iter().max_by(|one, other| reached(one).total_cmp(&reached(other)));
        Some(Self {
            confirmed,
            all: resources.iter().map(words).collect::<Vec<_>>().join(", "),
            fullest: fullest.filter(|one| reached(one) >= 0.0).map(name),
            observed: report["bottleneck"]["first"].as_str().map(str::to_owned),
            blocks: point["blocks"].as_u64().unwrap_or(0),
        })
    }

    /// Whether exactly the expected resources were confirmed.
    pub(super) fn is_right(&self, expected: &[&str]) -> bool {
        let mut found: Vec<&str> = self.confirmed.iter().map(String::as_str).collect();
        let mut expected = expected.to_vec();
        found.sort_unstable();
        expected.sort_unstable();
        found == expected
    }

    /// Whether a resource was confirmed that is not expected.
    pub(super) fn is_wrong(&self, expected: &[&str]) -> bool {
        self.confirmed.iter().any(|name| !expected.contains(&name.as_str()))
    }
}

fn words(one: &Value) -> String {
    let name = one["name"].as_str().unwrap_or_default().trim_start_matches("limits.");
    let verdict = one["verdict"].as_str().unwrap_or_default();
    let bound = |place: usize| one["E"]["x"][place].as_f64().unwrap_or(f64::NAN);
    format!("{name} {:.2} [{:.2}, {:.2}] {verdict}", bound(0), bound(1), bound(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn all_that_is_expected_and_nothing_else_is_right() {
        let resource = |name: &str, verdict: &str, reached: Option<f64>| json!({ "name": name, "verdict": verdict, "reached": reached, "E": { "x": [1.0, 0.9, 1.1] } });
        let report = json!({
            "attribution": [{ "blocks": 6, "resources": [
                resource("limits.cpu", "confirmed", Some(0.6)),
                resource("limits.read_iops", "refuted", Some(0.9)),
                resource("users", "not told apart", None),
            ]}],
            "bottleneck": { "first": "core 0" },
        });
        let named = CauseNames::of(&report).unwrap();
        assert!(named.is_right(&["limits.cpu"]) && !named.is_wrong(&["limits.cpu"]));
        assert!(!named.is_right(&["limits.cpu", "users"]) && !named.is_wrong(&["limits.cpu", "users"]));
        assert!(named.is_wrong(&["users"]));
        assert_eq!((named.fullest.as_deref(), named.observed.as_deref()), (Some("limits.read_iops"), Some("core 0")));
        assert_eq!(CauseNames::of(&json!({})), None);
    }
}

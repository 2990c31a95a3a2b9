//! What a report says of a planted cause, beside what would have been said without an experiment.

use serde_json::Value;

/// A resource as the report tells it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ResourceOutcome {
    /// Its name, such as `limits.cpu`.
    pub(super) name: String,
    /// The word of its verdict.
    pub(super) verdict: String,
    /// Whether it is work that was off for visits.
    pub(super) is_bound: bool,
    /// Elasticity of throughput and the bounds of its interval; `None` where there is none.
    pub(super) elasticity: Option<[f64; 3]>,
    /// Share of the limit that the untouched point used; `None` where that is not counted.
    pub(super) reached: Option<f64>,
}

impl ResourceOutcome {
    fn of(one: &Value) -> Self {
        let text = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
        let of_throughput = &one["E"]["x"];
        let value = |place: usize| of_throughput[place].as_f64();
        Self {
            name: text("name"),
            verdict: text("verdict"),
            is_bound: one["kind"] == "bound",
            elasticity: value(0).zip(value(1)).zip(value(2)).map(|((value, low), high)| [value, low, high]),
            reached: one["reached"].as_f64(),
        }
    }

    fn is_confirmed(&self) -> bool {
        self.verdict == "confirmed"
    }
}

/// What was named.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct CauseNames {
    /// Every resource, in the order of the report.
    pub(super) resources: Vec<ResourceOutcome>,
    /// The first candidate of the ranking by what was observed.
    pub(super) observed: Option<String>,
    /// Blocks that were made.
    pub(super) blocks: u64,
    /// Share by which resources were lowered.
    pub(super) step: f64,
}

/// How well a planted cause was named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NamingScore {
    /// All that is expected was confirmed, and nothing else.
    Full,
    /// Some of what is expected was confirmed, and nothing else.
    Part,
    /// Nothing was confirmed.
    Silent,
    /// Something was confirmed that is not expected.
    Wrong,
}

impl NamingScore {
    /// The word in the table.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Part => "part",
            Self::Silent => "none",
            Self::Wrong => "wrong",
        }
    }
}

impl CauseNames {
    /// What a report in JSON says.
    pub(super) fn of(report: &Value) -> Option<Self> {
        let point = &report["attribution"][0];
        Some(Self {
            resources: point["resources"].as_array()?.iter().map(ResourceOutcome::of).collect(),
            observed: report["bottleneck"]["first"].as_str().map(str::to_owned),
            blocks: point["blocks"].as_u64().unwrap_or(0),
            step: point["step"].as_f64().unwrap_or(f64::NAN),
        })
    }

    /// Resources that were confirmed.
    pub(super) fn confirmed(&self) -> impl Iterator<Item = &ResourceOutcome> {
        self.resources.iter().filter(|one| one.is_confirmed())
    }

    /// The limit of which most was used: the name that "highest utilisation wins" gives; `None` where no use is counted.
    pub(super) fn fullest(&self) -> Option<&str> {
        let counted = self.resources.iter().filter_map(|one| Some((one.reached?, one.name.as_str())));
        counted.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, name)| name)
    }

    /// Share of a limit that the untouched point used; `None` where that is not counted.
    pub(super) fn reached(&self, name: &str) -> Option<f64> {
        self.resources.iter().find(|one| one.name == name)?.reached
    }

    /// How well the expected resources were named.
    pub(super) fn score(&self, expected: &[&str]) -> NamingScore {
        let is_expected = |one: &ResourceOutcome| expected.contains(&one.name.as_str());
        let found = self.confirmed().count();
        if !self.confirmed().all(is_expected) {
            NamingScore::Wrong
        } else if found == 0 {
            NamingScore::Silent
        } else if found < expected.len() {
            NamingScore::Part
        } else {
            NamingScore::Full
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn report() -> Value {
        let resource = |name: &str, verdict: &str, reached: Option<f64>| json!({ "name": name, "kind": "capacity", "verdict": verdict, "reached": reached, "E": { "x": [1.0, 0.9, 1.1] } });
        json!({
            "attribution": [{ "blocks": 6, "step": 0.3, "resources": [
                resource("limits.cpu", "confirmed", Some(0.6)),
                resource("limits.read_iops", "refuted", Some(0.9)),
                resource("users", "not told apart", None),
            ]}],
            "bottleneck": { "first": "core 0" },
        })
    }

    #[test]
    fn all_that_is_expected_and_nothing_else_is_full() {
        let named = CauseNames::of(&report()).unwrap();
        assert_eq!(named.score(&["limits.cpu"]), NamingScore::Full);
        assert_eq!(named.score(&["limits.cpu", "users"]), NamingScore::Part);
        assert_eq!(named.score(&["users"]), NamingScore::Wrong);
        assert_eq!(CauseNames::default().score(&["users"]), NamingScore::Silent);
    }

    #[test]
    fn what_a_report_tells_is_read() {
        let named = CauseNames::of(&report()).unwrap();
        assert_eq!((named.fullest(), named.observed.as_deref()), (Some("limits.read_iops"), Some("core 0")));
        assert_eq!((named.blocks, named.step), (6, 0.3));
        assert_eq!((named.reached("limits.cpu"), named.reached("users")), (Some(0.6), None));
        assert_eq!(named.resources[0].elasticity, Some([1.0, 0.9, 1.1]));
        assert_eq!(CauseNames::of(&json!({})), None);
    }

    #[test]
    fn a_resource_without_use_or_elasticity_is_none() {
        let untested = json!({ "name": "users", "verdict": "not tested", "reached": null, "E": { "x": null } });
        let outcome = ResourceOutcome::of(&untested);
        assert_eq!((outcome.elasticity, outcome.reached), (None, None));
        let named = CauseNames { resources: vec![outcome], ..CauseNames::default() };
        assert_eq!(named.fullest(), None);
    }
}

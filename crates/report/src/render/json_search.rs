//! Searches as JSON: what was asked, how it ended, the path.

use crate::findings::{ChosenLoad, Findings, SearchFindings, SearchState};
use proofload_analysis::search::SearchAnswer;
use proofload_model::settings::Value;
use serde_json::{Map, Value as Json, json};

/// Every search of the study; empty when it has none.
pub(super) fn searches(findings: &Findings<'_>) -> Vec<Json> {
    findings.searches.iter().map(|search| one(findings, search)).collect()
}

fn one(findings: &Findings<'_>, search: &SearchFindings) -> Json {
    let levels: Map<String, Json> =
        search.levels.iter().map(|(setting, value): (_, &Value)| (setting.clone(), json!(value.to_string()))).collect();
    let state = match (&search.state, search.found()) {
        (SearchState::Ended(_), Some(_)) => "found",
        (SearchState::Ended(_), None) => "nothing found",
        _ => "not ended",
    };
    json!({
        "setting": search.asked.setting, "other_levels": levels, "goal": search.goal(),
        "resolution": search.asked.resolution, "measurements": search.spent,
        "measurements_at_most": search.asked.points, "state": state,
        "answer": search.found().map(|found| found_json(search, found)),
        "so_far": search.so_far().filter(|_| search.found().is_none()).map(|found| found_json(search, found)),
        "why_not": search.why_not(), "doubts": search.doubts(), "text": search.text(),
        "path": search.path.iter().map(|chosen| chosen_json(findings, chosen)).collect::<Vec<_>>(),
    })
}

fn found_json(search: &SearchFindings, found: &SearchAnswer) -> Json {
    let at = search.path.iter().rev().find(|chosen| chosen.load == found.load && chosen.value.is_ok());
    json!({
        "load": found.load, "turns_between": [found.range.0, found.range.1], "largest_at": found.best,
        "value": at.map(|chosen| super::json::measured(&chosen.value)),
    })
}

fn chosen_json(findings: &Findings<'_>, chosen: &ChosenLoad) -> Json {
    let point = &findings.points[chosen.point];
    let mut chosen_json = json!({
        "point": point.id, "load": chosen.load, "why": chosen.whys, "verdict": point.verdict.word(),
        "overloaded": point.overload(), "value": super::json::measured(&chosen.value),
    });
    if let Some(share) = &chosen.of_largest {
        chosen_json["of_largest"] = super::json::measured(share);
    }
    chosen_json
}

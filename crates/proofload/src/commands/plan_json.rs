//! The plan for programs: described in `docs/guides/machine-readable.md`.

use super::pilot::Pilot;
use super::plan::{copies, data_sizes, destroyed, limits, space};
use super::plan_times::{CalibrationPlan, times_of_points, total};
use super::server_named::changed_servers;
use super::study_needs::place;
use crate::live::Expectation;
use crate::run_times::{RunTimes, build_time, planned_runs};
use proofload_model::error::Error;
use proofload_model::plan::{Plan, Point, Run, expand, most_runs};
use proofload_model::study::{Study, search};
use serde_json::{Map, Value as Json, json};

/// The plan of a study.
pub(super) fn plan_json(study: &Study, pilot: Option<&Pilot>) -> Result<String, Error> {
    let plan = expand(study);
    let sizes = data_sizes(study, &plan)?;
    let copies = copies(study)?;
    let calibration = CalibrationPlan::of(study, &plan)?;
    let times = times_of_points(study, &plan)?;
    let runs: Vec<Json> = plan.runs.iter().map(|run| run_json(run, &times[run.point as usize])).collect();
    let limits: Map<String, Json> =
        limits(study).into_iter().map(|(path, values)| (path.to_owned(), json!(values))).collect();
    let body = json!({
        "form": 1,
        "study": { "name": study.name(), "title": study.title() },
        "points": plan.points.iter().map(point_json).collect::<Vec<_>>(),
        "runs": runs,
        "search": search_json(study, &plan)?,
        "load_s": total(study, &plan)?.json(),
        "expected_s": expected_s(study, &plan),
        "calibration": { "device": calibration.device, "scans": calibration.scans, "queries": calibration.queries },
        "build_s": build_time(sizes.values().sum()).as_secs(),
        "space": {
            "bytes": space(&sizes, copies).0, "path": place(study)?, "data_sets": sizes.len(), "copies": copies,
        },
        "limits": limits,
        "destroyed_devices": destroyed(study)?,
        "changed_servers": changed_servers(study),
        "pilot": pilot.map(Pilot::json),
    });
    Ok(format!("{body:#}"))
}

/// Seconds from the beginning to the end, about, the longest of a search; `None` where only the work tells.
fn expected_s(study: &Study, plan: &Plan) -> Option<u64> {
    let runs = planned_runs(study, plan);
    let expectation = Expectation::of(runs.iter().map(|run| (run, false)), most_runs(study));
    expectation.left(None).map(|left| left.time.as_secs())
}

/// What is searched, and how many runs there can be; null where all runs are known.
fn search_json(study: &Study, plan: &Plan) -> Result<Json, Error> {
    let Some(search) = search(&study.settings)? else { return Ok(Json::Null) };
    Ok(json!({
        "setting": search.setting, "from": search.from.to_string(), "to": search.to.to_string(), "resolution": search.resolution,
        "points_at_most": search.points, "combinations": plan.points.len(), "runs_at_most": most_runs(study),
    }))
}

fn point_json(point: &Point) -> Json {
    let levels: Map<String, Json> =
        point.levels.iter().map(|(setting, level)| (setting.clone(), json!(level.to_string()))).collect();
    json!({ "id": point.id, "levels": levels })
}

fn run_json(run: &Run, times: &RunTimes) -> Json {
    json!({
        "index": run.index, "point": run.point, "repetition": run.repetition, "sentinel": run.sentinel, "load_s": times.span.json(),
        "operations": times.work.map(|work| work.operations),
    })
}

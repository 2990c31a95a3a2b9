//! `plan`: what a study would do, before it does it.

use crate::cli::StudyArguments;
use crate::exit::Exit;
use crate::output;
use proofload_model::error::Error;
use proofload_model::plan::{Plan, expand};
use proofload_model::settings::{Kind, STANDARD, SettingSpec, Settings, Value};
use proofload_model::study::{Study, preconditioning, procedure};
use proofload_model::units::{Bytes, duration_text};
use std::collections::BTreeMap;
use std::time::Duration;

/// Prints the plan.
pub(crate) fn run(arguments: &StudyArguments) -> Exit {
    let file = match super::study_file::read(arguments) {
        Ok(file) => file,
        Err(exit) => return exit,
    };
    match text(&file.study) {
        Ok(text) => {
            output::result(&text);
            Exit::Good
        }
        Err(error) => {
            output::error(&error.to_string());
            Exit::Failure
        }
    }
}

fn text(study: &Study) -> Result<String, Error> {
    let plan = expand(study);
    let mut text = format!("{}: {}\n\n", study.name(), study.title());
    text.push_str(&runs_text(study, &plan)?);
    text.push_str(&times_text(study, &plan)?);
    text.push_str(&space_text(study, &plan)?);
    text.push_str(&limits_text(study));
    text.push_str(&destructive_text(study)?);
    Ok(text)
}

fn runs_text(study: &Study, plan: &Plan) -> Result<String, Error> {
    let mut text = format!("{} runs of {} points, in this order:\n", plan.runs.len(), plan.points.len());
    for run in &plan.runs {
        let levels: Vec<String> = plan.points[run.point as usize]
            .levels
            .iter()
            .map(|(setting, value)| format!("{setting} = {value}"))
            .collect();
        let sentinel = if run.sentinel { "  sentinel" } else { "" };
        let (least, most) = duration(&plan.settings(study, run.point))?;
        text.push_str(&format!(
            "  {:>3}  {}  repetition {}{sentinel}  {} to {}\n",
            run.index,
            levels.join(", "),
            run.repetition + 1,
            minutes(least),
            minutes(most)
        ));
    }
    Ok(text)
}

/// Warm-up and window of a run: at least and at most. Restoring, starting and verifying come on top.
fn duration(settings: &Settings) -> Result<(Duration, Duration), Error> {
    let procedure = procedure(settings)?;
    Ok((procedure.warm_up.at_least + procedure.measure, procedure.warm_up.at_most + procedure.measure))
}

fn times_text(study: &Study, plan: &Plan) -> Result<String, Error> {
    let (mut least, mut most) = (Duration::ZERO, Duration::ZERO);
    for run in &plan.runs {
        let (shorter, longer) = duration(&plan.settings(study, run.point))?;
        least += shorter;
        most += longer;
    }
    let build = data_sizes(study, plan)?.values().sum::<u64>() / BUILD_BYTES_PER_SECOND;
    Ok(format!(
        "\nload: {} to {}, plus about {} to build the data once, plus restoring, starting and verifying each run\n",
        minutes(least),
        minutes(most),
        minutes(Duration::from_secs(build.max(1)))
    ))
}

/// A cautious rate of building data, bytes of rows per second; the report has the measured one.
const BUILD_BYTES_PER_SECOND: u64 = 12_000_000;

/// Expected size of each data set by its label.
fn data_sizes(study: &Study, plan: &Plan) -> Result<BTreeMap<String, u64>, Error> {
    let mut sizes = BTreeMap::new();
    for point in &plan.points {
        let settings = plan.settings(study, point.id);
        let name = settings.text("workload.kind")?;
        let Some(workload) = proofload_load::workload(name) else { continue };
        let engine = settings.text("engine.kind")?;
        if !proofload_engine::engine(engine).is_some_and(|engine| engine.facts().capabilities.durable) {
            continue;
        }
        sizes.insert(
            format!("{engine} {}", workload.data_label(&settings, study.seed())),
            workload.expected_bytes(&settings).0,
        );
    }
    Ok(sizes)
}

fn space_text(study: &Study, plan: &Plan) -> Result<String, Error> {
    let sizes = data_sizes(study, plan)?;
    let one: u64 = sizes.values().sum();
    let copies = if study.settings.text("procedure.restore")? == "every-run" { 2 } else { 1 };
    let path = study.settings.text("storage.path")?;
    Ok(format!(
        "space: about {} in {path} ({} data set{}, {copies} cop{} each, half as much again while it grows)\n",
        round_size(one * copies * 3 / 2),
        sizes.len(),
        if sizes.len() == 1 { "" } else { "s" },
        if copies == 1 { "y" } else { "ies" }
    ))
}

fn round_size(bytes: u64) -> Bytes {
    let unit = if bytes > 10 << 30 { 1 << 30 } else { 1 << 20 };
    Bytes(bytes.div_ceil(unit) * unit)
}

fn limits_text(study: &Study) -> String {
    let mut text = String::new();
    for SettingSpec { path, kind, .. } in STANDARD.iter().filter(|spec| spec.path.starts_with("limits.")) {
        let unit = if matches!(kind, Kind::Bandwidth { .. }) { "/s" } else { "" };
        let word = |value: &Value| format!("{value}{unit}");
        let levels = study.factors.iter().find(|factor| factor.setting == *path).map(|factor| &factor.levels);
        let value = match levels {
            Some(levels) => levels.iter().map(word).collect::<Vec<_>>().join(", "),
            None => study.settings.get(path).map_or_else(|| "none".to_owned(), word),
        };
        text.push_str(&format!("{path}: {value}\n"));
    }
    text
}

fn destructive_text(study: &Study) -> Result<String, Error> {
    let device = preconditioning(&study.settings, None)?.and_then(|how| how.device);
    Ok(match device {
        Some(device) => format!("DESTRUCTIVE: all data on {device} is lost; run wants --yes {device}\n"),
        None => "destructive steps: none\n".to_owned(),
    })
}

fn minutes(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 60 {
        duration_text(Duration::from_secs(seconds))
    } else {
        format!("{}m{:02}s", seconds / 60, seconds % 60)
    }
}

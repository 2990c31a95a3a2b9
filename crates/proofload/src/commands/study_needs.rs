//! What a study costs and needs, for lists and for the head of a file that `init` writes. Derived from the study; starts nothing.

use super::plan::{copies, data_sizes, destroyed, limits, space};
use super::plan_times::total;
use super::refused_limits::{is_elsewhere, served_tiers};
use crate::run_times::{Span, build_time};
use proofload_model::engines::named_engine;
use proofload_model::error::Error;
use proofload_model::manager::manager;
use proofload_model::plan::{expand, most_runs};
use proofload_model::setting_words::WhenRefused;
use proofload_model::settings::setting;
use proofload_model::study::{Study, values_of};
use proofload_model::units::{Bytes, duration_words};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// Costs and needs of a study.
pub(super) struct StudyNeeds {
    points: usize,
    runs: usize,
    load: Span,
    build: Duration,
    space: Bytes,
    place: String,
    engines: Vec<String>,
    /// Anything beyond the engines, each a fragment.
    needs: Vec<String>,
}

impl StudyNeeds {
    /// Expands a study and sums up.
    pub(super) fn of(study: &Study) -> Result<Self, Error> {
        let plan = expand(study);
        let sizes = data_sizes(study, &plan)?;
        let engines = values_of(setting::ENGINE_KIND, &study.settings, &study.factors).into_iter().map(|name| {
            let name = name.to_string();
            named_engine(&name).map_or_else(|| name.clone(), |engine| engine.title.clone())
        });
        Ok(Self {
            points: plan.points.len(),
            runs: most_runs(study),
            load: total(study, &plan)?,
            build: sizes.values().map(|bytes| build_time(*bytes)).sum(),
            space: space(&sizes, copies(study)?),
            place: place(study)?,
            engines: engines.collect(),
            needs: needs(study)?,
        })
    }

    /// How long: runs, load, and building the data.
    pub(super) fn time(&self) -> String {
        let runs = super::verdict::counted(self.runs, "run");
        format!("{runs}, {} under load, about {} to build the data", self.load.text(), duration_words(self.build))
    }

    /// Engines and space in words.
    pub(super) fn place(&self) -> String {
        format!("on {}, with about {} in {}", self.engines.join(" and "), self.space, self.place)
    }

    /// Everything else that not every machine has or allows.
    pub(super) fn needs(&self) -> &[String] {
        &self.needs
    }

    /// The same for programs.
    pub(super) fn json(&self) -> Json {
        json!({
            "points": self.points, "runs_at_most": self.runs, "load_s": self.load.json(), "build_s": self.build.as_secs_f64(),
            "space": { "bytes": self.space.0, "path": self.place }, "engines": self.engines, "needs": self.needs,
        })
    }
}

/// Where the data lie.
pub(super) fn place(study: &Study) -> Result<String, Error> {
    if study.settings.get(setting::ENGINE_URL).is_some() {
        return Ok("the server's database".to_owned());
    }
    Ok(study.settings.text(setting::STORAGE_PATH)?.to_owned())
}

/// Rights, programs and devices that not every machine has.
fn needs(study: &Study) -> Result<Vec<String>, Error> {
    let settings = &study.settings;
    let plan = expand(study);
    let points: Vec<_> = plan.points.iter().map(|point| plan.settings(study, point.id)).collect();
    let mut needs = Vec::new();
    let is_limited = limits(study).iter().any(|(_, values)| !values.is_empty());
    if is_limited && !is_elsewhere(study) {
        let without = WhenRefused::allows_without(settings);
        let otherwise = if without { ", or runs without them" } else { "" };
        needs.push(format!("permission to set limits, which root has{otherwise}"));
    }
    if !served_tiers(study).is_empty() {
        needs.push("Linux and root, for FUSE volumes on loop devices".to_owned());
    }
    let managers: BTreeSet<String> = points
        .iter()
        .filter_map(|point| manager(point).ok().flatten())
        .map(|asked| asked.kind.word().to_owned())
        .collect();
    needs.extend(managers.into_iter().map(|manager| format!("the failover manager {manager}")));
    if settings.get(setting::ENGINE_URL).is_some() {
        needs.push("its own role and database on the server".to_owned());
    }
    let lost = destroyed(study)?;
    if !lost.is_empty() {
        needs.push(format!("{}; all its data is lost", lost.join(", ")));
    }
    Ok(needs)
}

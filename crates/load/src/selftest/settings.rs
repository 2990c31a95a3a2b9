//! Small loads of a workload: its settings at their defaults, but for those that a part changes.

use proofload_engine::Target;
use proofload_model::catalogue::WorkloadFacts;
use proofload_model::error::Error;
use proofload_model::load_share::LoadShare;
use proofload_model::settings::{STANDARD, Settings, Value, setting};
use proofload_model::time::WallTime;
use proofload_model::wire::LoadSpec;

/// 2026-01-01: equal data at every time.
pub(crate) const LOAD_TIME: WallTime = WallTime(1_767_225_600_000_000);

/// Settings of a workload on an engine, these changed; of two changes of a setting the first counts.
///
/// # Errors
/// A value that a setting does not take.
pub fn settings(workload: &WorkloadFacts, engine: &str, changes: &[(&str, &str)]) -> Result<Settings, Error> {
    let mut settings = Settings::default();
    for spec in workload.settings.iter().chain(STANDARD) {
        let own = spec.path.strip_prefix("workload.");
        let given = changes.iter().find(|(name, _)| own == Some(name)).map(|(_, value)| *value);
        let Some(value) = given.or(spec.default.filter(|_| own.is_some())) else { continue };
        let read = spec.kind.read_text(value).map_err(|error| Error::new(format!("{}: {error}", spec.path)))?;
        settings.0.insert(spec.path.to_owned(), read);
    }
    for (path, word) in [(setting::WORKLOAD_KIND, workload.name), (setting::ENGINE_KIND, engine)] {
        settings.0.insert(path.to_owned(), Value::Text(word.to_owned()));
    }
    Ok(settings)
}

/// The whole load of one agent in a database.
pub(crate) fn spec(workload: &WorkloadFacts, target: &Target, changes: &[(&str, &str)]) -> Result<LoadSpec, Error> {
    Ok(LoadSpec {
        workload: workload.name.to_owned(),
        settings: settings(workload, &target.place.engine, changes)?,
        place: target.place.clone(),
        endpoints: target.address().map(str::to_owned).into_iter().collect(),
        data_seed: 1,
        input_seed: 2,
        load_time: LOAD_TIME,
        part: LoadShare::default(),
    })
}

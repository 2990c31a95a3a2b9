//! What was measured in a sentence: workload, scale, what varied, how often, on which machine.

use crate::blocks::{Prose, prose};
use crate::findings::{Findings, between, level_number, level_of, level_text, setting_title, size_text};
use crate::sections::charts::factors_title;
use proofload_model::facts::{FactName, engine, host, storage};
use proofload_model::server_url::is_of_this_host;
use proofload_model::settings::{Settings, setting};

/// Settings of what is read on the host of the database, whoever started it.
const OBSERVERS: [&str; 2] = [setting::AGENTS_HOST, setting::OBSERVE_PROMETHEUS];

/// Tells whether facts of the machine are facts of the database's: those read on the load host say nothing about an existing server on another.
pub(crate) fn observes_server(settings: &Settings) -> bool {
    let url = settings.text(setting::ENGINE_URL).ok();
    url.is_none_or(|url| is_of_this_host(url) || OBSERVERS.iter().any(|path| !settings.list(path).is_empty()))
}

/// The version of the database, as it says itself.
pub(crate) fn version(findings: &Findings<'_>) -> Option<String> {
    fact(findings, &engine::VERSION).or_else(|| fact(findings, &engine::SERVER_VERSION))
}

/// The sentence.
pub(crate) fn what_was_run(findings: &Findings<'_>) -> Prose {
    let record = findings.record;
    let settings = &record.study.settings;
    let value = |path: &str| settings.get(path).map(level_text);
    let mut text = prose![(findings.workload.name)(settings)];
    if let Some(engine) = value(setting::ENGINE_KIND).filter(|_| !varies(findings, setting::ENGINE_KIND)) {
        text.extend(prose![" on ", engine]);
    }
    for (path, one, many) in findings.workload.scale {
        if let Some(count) = whole(settings, path).filter(|_| !varies(findings, path)) {
            text.extend(prose! {
                if path.ends_with("users") { " and " } else { " with " }, count, " ",
                if count == 1 { *one } else { *many }
            });
        }
    }
    let points = findings.points.len();
    let is_measured = findings.runs().next().is_some();
    let was = if is_measured { " was" } else { " was to be" };
    let searched = findings.searches.iter().any(|search| !search.label.is_empty() || search.path.len() > 1);
    text.extend(match findings.factors.as_slice() {
        [.., factor] if searched => {
            let chosen =
                prose![was, " measured at ", points, " points, which a search over ", setting_title(&factor.setting)];
            [chosen, prose![" chose one by one from earlier results"]].concat()
        }
        [] => prose![was, " measured at one point"],
        [factor] if factor.levels.len() == 1 => {
            let level = factor.levels.first().map(level_text).unwrap_or_default();
            prose![was, " measured at one level of ", setting_title(&factor.setting), ", ", level]
        }
        [factor] => {
            let (first, last) = (factor.levels.first(), factor.levels.last());
            let ends = |level: Option<&proofload_model::settings::Value>| level.map(level_text).unwrap_or_default();
            let range = if factor.levels.iter().all(|level| level_number(level).is_some()) {
                prose![", ", ends(first), " to ", ends(last)]
            } else {
                let levels: Vec<String> = factor.levels.iter().map(|level| level_of(&factor.setting, level)).collect();
                prose![": ", levels.join(between(factor.levels.iter()))]
            };
            [prose![was, " measured at ", factor.levels.len(), " levels of ", setting_title(&factor.setting)], range]
                .concat()
        }
        _ => prose![was, " measured at ", points, " points: ", factors_title(findings).replace(", ", " × ")],
    });
    let repetitions = record.study.repetitions();
    text.extend(match (repetitions, points) {
        _ if searched => prose!["."],
        (1, 1) => prose![", once."],
        (1, _) => prose![", once each."],
        (_, 1) => prose![", ", repetitions, " times."],
        _ => prose![", ", repetitions, " times each."],
    });
    text.extend(machine(findings));
    text
}

/// A count of the study, which may exceed 32 bits.
pub(crate) fn whole(settings: &Settings, path: &str) -> Option<u64> {
    settings.integer(path).ok().and_then(|count| u64::try_from(count).ok())
}

/// The machine in a sentence, as far as its facts go.
fn machine(findings: &Findings<'_>) -> Prose {
    if !observes_server(&findings.record.study.settings) {
        return prose![" The host of the database was not observed."];
    }
    let fact = |name: &FactName| fact(findings, name);
    let mut parts: Vec<Prose> = Vec::new();
    parts.extend(fact(&host::CPU).map(|cpu| prose![cpu]));
    parts.extend(fact(&host::CORES).map(|number| {
        let cores = if number == "1" { " core" } else { " cores" };
        prose![number, cores]
    }));
    parts.extend(fact(&host::MEMORY).map(|memory| prose![memory, " of memory"]));
    parts.extend(
        fact(&storage::DEVICE_MODEL).or_else(|| fact(&storage::DEVICE)).map(|device| prose!["storage on ", device]),
    );
    if parts.is_empty() {
        return Prose::new();
    }
    let mut text = prose![" The machine: "];
    for (index, part) in parts.into_iter().enumerate() {
        text.extend(if index == 0 { Prose::new() } else { prose![", "] });
        text.extend(part);
    }
    text.extend(prose!["."]);
    text
}

/// Whether a factor varies a setting.
pub(crate) fn varies(findings: &Findings<'_>, path: &str) -> bool {
    findings.factors.iter().any(|factor| factor.varies(path))
}

/// A fact of the primary's host in words; `None` where it was not read.
pub(crate) fn fact(findings: &Findings<'_>, name: &FactName) -> Option<String> {
    let record = findings.record;
    let mut facts = record.facts.iter().chain(record.attempts.iter().flat_map(|attempt| &attempt.facts));
    let found = facts.find(|fact| name.is_of(fact) && fact.requested.is_none() && !fact.instance.is_standby());
    found.and_then(|fact| fact.effective.as_deref()).map(size_text).filter(|value| !value.is_empty())
}

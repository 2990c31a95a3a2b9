//! Which metrics and which points a comparison is asked for, checked before anything is compared.

use super::super::evaluate::Findings;
use super::super::point_choice::{KnownLevels, Level, is_asked_for};
use super::gate::undirected;
use super::metric::{Better, Metric, known, metrics_of};
use super::outcome::is_throughput;
use super::pairing::{Pair, factors, planned_pairs};
use crate::error::Error;
use crate::metrics::{MetricKey, WRITES_AWAY};
use crate::workloads::{Workload, workload};
use proofload_model::settings::{Settings, setting};
use proofload_model::study::Study;
use std::collections::BTreeSet;

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ComparisonFilter {
    /// Names of metrics, also with an ending `.*`; when empty, those that the workload is compared by.
    pub metrics: Vec<String>,
    /// Levels of the points to compare; all points when empty. Levels of one setting are alternatives.
    pub levels: Vec<Level>,
}

/// The metrics to compare, each once. The error names one that is not known, and those that are.
pub(super) fn metrics(
    chosen: &ComparisonFilter,
    baseline: &Findings<'_>,
    candidate: &Findings<'_>,
) -> Result<Vec<Metric>, Error> {
    let workload = baseline.workload;
    let mut kinds = [baseline.kinds(), candidate.kinds()].concat();
    kinds.sort();
    kinds.dedup();
    workload.sort_kinds(&mut kinds);
    let all = |kind: &String| kind == "all";
    kinds.retain(|kind| !all(kind));
    let asked: Vec<&str> = chosen.metrics.iter().map(String::as_str).collect();
    let mut names = if asked.is_empty() { workload.compared.to_vec() } else { asked };
    let drilled =
        |findings: &Findings<'_>| findings.points.iter().any(|point| point.metrics.contains_key(&WRITES_AWAY.key()));
    if chosen.metrics.is_empty() && drilled(baseline) && drilled(candidate) {
        names.push(WRITES_AWAY.name);
    }
    let mut metrics: Vec<Metric> = Vec::new();
    for name in names {
        metrics.extend(metrics_named(name, workload, &kinds)?);
    }
    if chosen.metrics.is_empty() {
        // The workload's own list has percentile by percentile; kind by kind reads better.
        metrics.sort_by_key(|metric| kind_place(metric, &kinds));
    }
    let mut seen: BTreeSet<MetricKey> = BTreeSet::new();
    metrics.retain(|metric| seen.insert(metric.key.clone()));
    Ok(metrics)
}

/// The metrics of a name; the error says that there is none, and which there are.
fn metrics_named(name: &str, workload: &Workload, kinds: &[String]) -> Result<Vec<Metric>, Error> {
    let found = metrics_of(name, workload, kinds);
    if found.is_empty() {
        return Err(Error::new(format!(
            "this workload has no metric {name} to compare; use one of: {}. <kind> is one of: all, {}",
            known(workload).join(", "),
            kinds.join(", ")
        )));
    }
    Ok(found)
}

/// Checks names of metrics before a study of these settings is measured, by every kind of operation that its workload may have. The error names
/// one that no record of it will have. Of a workload whose kinds are not known nothing is refused.
pub fn expect_metrics(names: &[String], settings: &Settings) -> Result<(), Error> {
    let workload = workload(settings);
    let kinds: Vec<String> = workload.kinds.iter().map(|(kind, _)| (*kind).to_owned()).collect();
    if kinds.is_empty() {
        return Ok(());
    }
    names.iter().try_for_each(|name| metrics_named(name, workload, &kinds).map(|_| ()))
}

/// Checks before a study of these settings is measured that a gate can judge metrics of these names. The error names one that has no better
/// direction.
pub fn expect_directed(names: &[String], settings: &Settings) -> Result<(), Error> {
    let workload = workload(settings);
    let kinds: Vec<String> = workload.kinds.iter().map(|(kind, _)| (*kind).to_owned()).collect();
    let mut found = names.iter().flat_map(|name| metrics_of(name, workload, &kinds));
    found.find(|metric| metric.better == Better::Neither).map_or(Ok(()), |metric| Err(undirected(&metric)))
}

/// Tells whether all metrics of these names are throughput of a measured window in a study of these settings; without names, whether the one
/// is that a gate judges by itself.
pub fn are_throughput(names: &[String], settings: &Settings) -> bool {
    let workload = workload(settings);
    let kinds: Vec<String> = workload.kinds.iter().map(|(kind, _)| (*kind).to_owned()).collect();
    let is_rate = |name: &str| {
        let found = metrics_of(name, workload, &kinds);
        !found.is_empty() && found.iter().all(|metric| is_throughput(workload, &metric.key))
    };
    if names.is_empty() { is_rate(workload.headline.name) } else { names.iter().all(|name| is_rate(name)) }
}

/// Checks levels before two studies are measured, by the points that they will have. The error names one that no point has, and what there is; of
/// searches, which choose their points later, nothing is refused.
pub fn expect_levels(levels: &[Level], studies: [&Study; 2]) -> Result<(), Error> {
    let is_search = |study: &Study| study.settings.get(setting::SEARCH_SETTING).is_some();
    if levels.is_empty() || studies.into_iter().any(is_search) {
        return Ok(());
    }
    let factors = factors(studies.into_iter().flat_map(|study| &study.factors));
    expect_each(&planned_pairs(&factors, studies), levels)
}

/// Where the kind of a metric stands among the workload's; what has no kind comes first.
fn kind_place(metric: &Metric, kinds: &[String]) -> usize {
    let (_, kind) = metric.key.family();
    kind.map_or(0, |kind| 1 + kinds.iter().position(|known| *known == kind).unwrap_or(kinds.len()))
}

/// Keeps the pairs that were asked for. The error names a level that no pair has.
pub(super) fn keep(pairs: &mut Vec<Pair<'_>>, chosen: &ComparisonFilter) -> Result<(), Error> {
    expect_each(pairs, &chosen.levels)?;
    pairs.retain(|pair| is_asked_for(&chosen.levels, |level| has(pair, level)));
    Ok(())
}

fn expect_each(pairs: &[Pair<'_>], levels: &[Level]) -> Result<(), Error> {
    let wrong = levels.iter().find(|level| !pairs.iter().any(|pair| has(pair, level)));
    wrong.map_or(Ok(()), |level| Err(Error::new(known_levels(pairs).refusal(level, "--point"))))
}

fn has(pair: &Pair<'_>, level: &Level) -> bool {
    let found = pair.levels.iter().find(|(setting, _)| *setting == level.setting);
    let in_group = || pair.key.get(&level.setting);
    found.and_then(|(_, value)| value.as_ref()).or_else(in_group).is_some_and(|value| level.is(value))
}

fn known_levels(pairs: &[Pair<'_>]) -> KnownLevels {
    let mut known = KnownLevels::default();
    for pair in pairs {
        let own = pair.levels.iter().filter_map(|(factor, level)| Some((factor, level.as_ref()?)));
        own.for_each(|(factor, level)| known.add(factor, level));
        pair.key.iter().for_each(|(setting, value)| known.add_inside(setting, value));
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::settings::Value;
    use proofload_model::study::Factor;
    use proofload_model::units::Bytes;

    #[test]
    fn a_gate_can_judge_what_has_a_better_direction() {
        let kind = Value::Text("tprocc".to_owned());
        let settings = Settings([("workload.kind".to_owned(), kind)].into_iter().collect());
        let refused = |name: &str| expect_directed(&[name.to_owned()], &settings).err().map(|error| error.to_string());
        assert_eq!((refused("tpm"), refused("response_ns_p99.*")), (None, None));
        assert!(refused("cpu_percent").is_some_and(|text| text.contains("no better direction")));
    }

    #[test]
    fn throughput_is_told_from_what_a_short_window_leaves_to_be_judged() {
        let kind = Value::Text("tprocc".to_owned());
        let settings = Settings([("workload.kind".to_owned(), kind)].into_iter().collect());
        let are = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            are_throughput(&names, &settings)
        };
        assert!(are(&[]) && are(&["throughput"]) && are(&["tpm", "throughput"]));
        for others in [&["response_ns_p99.*"][..], &["tpm", "response_ns_p99.all"][..], &["nothing"][..]] {
            assert!(!are(others), "{others:?}");
        }
    }

    #[test]
    fn a_level_of_no_point_is_refused_before_a_run() {
        let users = |levels: &[i64]| {
            let levels = levels.iter().map(|level| Value::Integer(*level)).collect();
            let factor = Factor { setting: "workload.virtual_users".to_owned(), levels };
            let fixed = [("workload.virtual_users".to_owned(), Value::Integer(4))].into_iter().collect();
            let factors = if factor.levels.is_empty() { Vec::new() } else { vec![factor] };
            Study { settings: Settings(fixed), factors }
        };
        let refused = |one: &Study, other: &Study, text: &str| {
            let level = Level::parse(text).expect("a level");
            expect_levels(&[level], [one, other]).err().map(|error| error.to_string())
        };
        let (fixed, varied) = (users(&[]), users(&[1, 2]));
        for text in ["workload.virtual_users=2", "workload.virtual_users=4"] {
            assert_eq!(refused(&fixed, &varied, text), None, "{text}: one varies it, the other has 4");
        }
        let told = refused(&varied, &varied, "workload.virtual_users=3").expect("there is none");
        assert_eq!(
            told,
            "no point has workload.virtual_users=3; the levels of workload.virtual_users are 1, 2; for example \
             --point workload.virtual_users=1"
        );
        let told = refused(&varied, &varied, "limits.cpu=1").expect("it does not vary");
        assert!(told.contains("the factors are workload.virtual_users (1, 2); for example --point "), "{told}");
        let told = refused(&fixed, &fixed, "limits.cpu=1").expect("nothing varies");
        assert!(told.ends_with("nothing varies, so leave out --point"), "{told}");
    }

    #[test]
    fn a_level_of_a_group_is_refused_before_a_run_too() {
        let table = |values: &[(&str, Value)]| {
            Value::Table(values.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
        };
        let levels = vec![table(&[("memory", Value::Bytes(Bytes::mebi(64)))]), table(&[])];
        let fixed = [("limits.memory".to_owned(), Value::Bytes(Bytes::mebi(512)))];
        let settings = Settings(fixed.into_iter().collect());
        let varied =
            Study { settings: settings.clone(), factors: vec![Factor { setting: "limits".to_owned(), levels }] };
        let plain = Study { settings, factors: Vec::new() };
        let refused = |one: &Study, other: &Study, text: &str| {
            let level = Level::parse(text).expect("a level");
            expect_levels(&[level], [one, other]).err().map(|error| error.to_string())
        };
        for good in ["limits=memory 64MiB", "limits=unchanged", "limits.memory=512 MiB", "limits.memory=64MiB"] {
            assert_eq!(refused(&varied, &varied, good), None, "{good}");
        }
        assert_eq!(refused(&varied, &plain, "limits.memory=512MiB"), None, "what the other study has");
        let told = refused(&varied, &varied, "limits=memory 1GiB").expect("there is none");
        assert_eq!(
            told,
            "no point has limits=memory 1GiB; the levels of limits are 'memory 64MiB', unchanged; for example \
             --point 'limits=memory 64MiB'"
        );
        let told = refused(&varied, &varied, "limits.memory=1GiB").expect("there is none");
        assert!(told.contains("the levels of limits.memory are 64MiB, 512MiB; for example"), "{told}");
    }

    #[test]
    fn a_metric_that_no_record_will_have_is_refused_before_a_run() {
        let settings =
            |kind: &str| Settings([("workload.kind".to_owned(), Value::Text(kind.to_owned()))].into_iter().collect());
        let refused = |kind: &str, name: &str| expect_metrics(&[name.to_owned()], &settings(kind)).err();
        for name in ["tpm", "response_ns_p99.new_order", "response_ns_p50.*", "cpu_percent"] {
            assert!(refused("tprocc", name).is_none(), "{name}");
        }
        let text = refused("tprocc", "tpmm").expect("there is no such metric").to_string();
        assert!(text.starts_with("this workload has no metric tpmm to compare; use one of: "), "{text}");
        assert!(refused("ycsb", "tpm").is_some() && refused("of_another_program", "anything").is_none());
    }
}

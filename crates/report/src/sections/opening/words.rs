//! Words that several topics share: levels with what they are of, a list of losses, the line below the title.

use crate::blocks::{Inline, Prose, prose};
use crate::findings::{Curve, Findings, PointFindings, Standing, level_number, level_of, level_text, setting_title};
use crate::metrics::{LatencyStatistic, MetricKey};
use crate::sections::charts::capital;
use crate::sections::date;
use crate::sections::tested::setup::{fact, observes_server, varies, version, whole};
use proofload_model::facts::{FactName, host, storage};
use proofload_model::samples::ALL_KINDS;
use proofload_model::settings::{Value, setting};

/// Losses that a sentence lists.
const LISTED: usize = 3;

/// A point's level of the curve's factor.
pub(super) fn level(point: &PointFindings, curve: &Curve) -> String {
    point.level(&curve.setting).map(level_text).unwrap_or_default()
}

/// The same with what it is a level of: `256 MiB of database memory`, `8 virtual users`.
pub(super) fn titled(point: &PointFindings, curve: &Curve) -> String {
    let (level, title) = (level(point, curve), setting_title(&curve.setting));
    match point.level(&curve.setting) {
        Some(Value::Bytes(_) | Value::Duration(_)) => format!("{level} of {title}"),
        Some(Value::Integer(1)) => format!("{level} {}", title.strip_suffix('s').unwrap_or(&title)),
        _ => format!("{level} {title}"),
    }
}

/// A point in a sentence: `256 MiB`, `4 virtual users`, `choice of keys exact`, `PostgreSQL`.
pub(in crate::sections) fn name(findings: &Findings<'_>, point: &PointFindings) -> String {
    let [(setting, value)] = point.levels.as_slice() else { return point.label() };
    let (level, title) = (level_of(setting, value), setting_title(setting));
    match value {
        Value::Table(values) if values.is_empty() => "the original settings".to_owned(),
        Value::Integer(1) => format!("{level} {}", title.strip_suffix('s').unwrap_or(&title)),
        Value::Integer(_) | Value::Number(_) => format!("{level} {title}"),
        Value::Text(_)
            if setting != setting::ENGINE_KIND && level_number(value).is_none() && findings.curve.is_err() =>
        {
            format!("{title} {level}")
        }
        Value::Boolean(_) => format!("{title} {level}"),
        _ => level,
    }
}

/// The same behind its preposition: sizes and counts are places on an axis, words are things.
pub(in crate::sections) fn at(findings: &Findings<'_>, point: &PointFindings) -> String {
    match point.levels.as_slice() {
        [] => String::new(),
        [(_, value)] if level_number(value).is_some() => format!(" at {}", name(findings, point)),
        _ => format!(" with {}", name(findings, point)),
    }
}

/// Names in a sentence: two by *and*, more by semicolons, since a name may have commas.
pub(super) fn listed(names: &[String]) -> String {
    match names {
        [one, other] => format!("{one} and {other}"),
        all => all.join("; "),
    }
}

/// Losses, nearest first: `At 128 MiB it is 27 % lower, at 64 MiB 58 %.`
pub(super) fn losses<'f>(
    findings: &Findings<'_>,
    lower: impl Iterator<Item = (&'f PointFindings, &'f Standing)>,
) -> Prose {
    let mut text = Prose::new();
    for (point, loss) in lower.filter_map(|(point, standing)| Some((point, standing.loss()?))).take(LISTED) {
        let place = at(findings, point).trim_start().to_owned();
        text.extend(if text.is_empty() {
            prose![capital(&place), " it is ", Inline::brief(loss, "%"), " lower"]
        } else {
            prose![", ", place, " ", Inline::brief(loss, "%")]
        });
    }
    if !text.is_empty() {
        text.extend(prose![". "]);
    }
    text
}

/// The same with intervals, for what broke first.
pub(super) fn shown_losses<'f>(
    findings: &Findings<'_>,
    lower: impl Iterator<Item = (&'f PointFindings, &'f Standing)>,
) -> Prose {
    let mut text = Prose::new();
    for (point, loss) in lower.filter_map(|(point, standing)| Some((point, standing.loss()?))).take(LISTED) {
        let lead = if text.is_empty() { "Throughput is lower by " } else { ", by " };
        text.extend(prose![lead, Inline::ranged(loss, "%"), at(findings, point)]);
    }
    if !text.is_empty() {
        text.extend(prose![". "]);
    }
    text
}

/// What broke first where no valid point is lower: nothing, or unknown where points have no result.
pub(super) fn none_lower(findings: &Findings<'_>, what: &'static str) -> Prose {
    let unknown: Vec<&PointFindings> = findings.points.iter().filter(|point| !point.verdict.is_valid()).collect();
    let Some(first) = unknown.first() else {
        return prose!["Nothing: no ", what, " has significantly lower throughput. "];
    };
    let place = if unknown.len() > LISTED {
        format!(" at {} points", unknown.len())
    } else {
        let others = unknown.iter().skip(1).map(|point| name(findings, point));
        listed(&std::iter::once(at(findings, first)).chain(others).collect::<Vec<String>>())
    };
    prose!["Unknown", place, "; no valid ", what, " has significantly lower throughput. "]
}

/// A point's headline figure with its interval and its most telling percentile: `35,373 TPM [34,173–37,096] at 256 MiB; New-Order p99 35 ms`.
pub(super) fn reached(findings: &Findings<'_>, point: &PointFindings) -> Prose {
    let headline = findings.workload.headline;
    let Ok(value) = point.result(headline.key()) else { return Prose::new() };
    let mut text = prose![Inline::ranged(&value, headline.axis_unit), at(findings, point)];
    for kind in tails(findings) {
        let Ok(p99) = point.result(MetricKey::response(LatencyStatistic::P99, kind)) else { continue };
        let whose = if kind == ALL_KINDS { String::new() } else { format!("{} ", findings.workload.kind_title(kind)) };
        text.extend(prose!["; ", whose, "p99 ", ranged_time(&p99)]);
    }
    text.extend(prose![". "]);
    text
}

/// A response time in ms with its interval.
fn ranged_time(time: &proofload_analysis::quantity::Quantity) -> Inline {
    use proofload_analysis::quantity::Unit;
    Inline::ranged(&time.scaled(1e-6, Unit::named("ms")), "ms")
}

/// Kinds whose 99th percentile is told.
pub(super) fn tails(findings: &Findings<'_>) -> Vec<&'static str> {
    let kinds = findings.kinds();
    let met: Vec<&str> =
        findings.workload.tails.iter().copied().filter(|tail| kinds.iter().any(|kind| kind == tail)).collect();
    if met.is_empty() { vec![ALL_KINDS] } else { met }
}

/// The line below the title: workload, engine, scale, machine, date.
pub(crate) fn subtitle(findings: &Findings<'_>) -> Prose {
    let record = findings.record;
    let settings = &record.study.settings;
    let mut parts: Vec<String> = vec![kind(findings)];
    let engine_kind =
        settings.get(setting::ENGINE_KIND).filter(|_| !varies(findings, setting::ENGINE_KIND)).map(level_text);
    let version = version(findings).filter(|_| engine_kind.is_some());
    parts.extend(engine_kind.map(|kind| match version {
        Some(version) if !version.contains(&kind) => format!("{kind} {}", first_words(&version)),
        Some(version) => first_words(&version),
        None => kind,
    }));
    for (path, one, many) in findings.workload.scale {
        let Some(count) = whole(settings, path).filter(|_| !varies(findings, path)) else { continue };
        parts.push(format!("{} {}", crate::numbers::count(count), if count == 1 { one } else { many }));
    }
    let read = |name: &FactName| fact(findings, name).filter(|_| observes_server(settings));
    parts.extend(read(&host::CORES).map(|number| crate::numbers::cores(&number)));
    let drive = read(&storage::DEVICE_MODEL).or_else(|| read(&storage::DEVICE));
    parts.extend(drive.map(|drive| format!("drive {drive}")));
    parts.push(date(record.created));
    let by: Vec<&str> =
        ["paper.author", "paper.organisation"].iter().filter_map(|path| settings.text(path).ok()).collect();
    parts.extend((!by.is_empty()).then(|| by.join(", ")));
    prose![parts.join(" · ")]
}

/// What kind of workload it is, with what it is not.
fn kind(findings: &Findings<'_>) -> String {
    let own = findings.workload.kicker.map(|words| words.replace(" · ", ", "));
    own.unwrap_or_else(|| (findings.workload.name)(&findings.record.study.settings))
}

/// The first two words of a version, which may go on for a line; what stands in brackets is how it was built.
fn first_words(version: &str) -> String {
    let version = version.split(" (").next().unwrap_or(version);
    version.split_whitespace().take(2).collect::<Vec<_>>().join(" ")
}

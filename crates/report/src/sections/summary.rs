//! The summary: what was asked, what was found, in sentences computed from the data, and the main chart.

use super::charts::{PanelMetric, factors_title, knee_band, level_words, over_factor, points_table};
use super::section::{Section, always};
use crate::blocks::{Axis, Bars, Block, Chart, Figure, Group, Inline, Notice, Prose, prose};
use crate::findings::{
    Curve, CurveGroup, Findings, NOT_CONFIRMED, PointFindings, SearchFindings, between, level_number, level_text,
    setting_title, size_text,
};
use crate::metrics::{MetricName, RELATIVE};
use proofload_analysis::knee::Knee;
use proofload_model::facts::{FactName, host, storage};
use proofload_model::settings::Settings;

/// The section.
pub(super) const SECTION: Section =
    Section { id: "summary", title: "Summary", level: 2, numbered: false, needs: always, render };

fn render(findings: &Findings<'_>) -> Vec<Block> {
    let mut blocks = vec![Block::Lead(what_was_run(findings))];
    let found = what_was_found(findings);
    if findings.valid().next().is_none() {
        let text = prose![
            "No point of this study is valid, so it has no result. What was observed is shown for context; ",
            Inline::Reference("validity"),
            " says why each point is void."
        ];
        blocks.push(Block::Notice(Notice::Void, text));
    } else {
        blocks.extend(found.into_iter().filter(|text| !text.is_empty()).map(Block::Paragraph));
    }
    blocks.extend(findings.searches.iter().map(searched));
    blocks.extend(more_findings(findings));
    blocks.extend(load_findings(findings));
    blocks.extend(headlines(findings));
    blocks.extend(void_notice(findings));
    blocks.extend(super::estimands::notice(findings));
    if findings.points.iter().any(|point| !point.runs.is_empty()) {
        blocks.push(Block::Figure(Box::new(main_figure(findings))));
    }
    blocks.push(Block::Paragraph(prose![
        "Brackets after a number give its 95 % confidence interval and the number of samples behind it; where there is no \
         interval, the reason stands with them."
    ]));
    blocks
}

fn what_was_run(findings: &Findings<'_>) -> Prose {
    let record = findings.record;
    let settings = &record.study.settings;
    let value = |path: &str| settings.get(path).map(level_text);
    let mut text = prose![(findings.workload.name)(settings)];
    if let Some(engine) = value("engine.kind").filter(|_| !varies(findings, "engine.kind")) {
        text.extend(prose![" on ", engine]);
    }
    for (path, one, many) in findings.workload.scale {
        if let Some(count) = whole(settings, path).filter(|_| !varies(findings, path)) {
            text.extend(prose![
                if path.ends_with("users") { " and " } else { " with " },
                count,
                " ",
                if count == 1 { *one } else { *many }
            ]);
        }
    }
    let points = findings.points.len();
    let searched = findings.searches.iter().any(|search| !search.label.is_empty() || search.path.len() > 1);
    text.extend(match findings.factors.as_slice() {
        [.., factor] if searched => {
            let chosen =
                prose![" was measured at ", points, " points, which a search over ", setting_title(&factor.setting)];
            [chosen, prose![" chose from the results before each"]].concat()
        }
        [] => prose![" was measured at one point"],
        [factor] if factor.levels.len() == 1 => {
            let level = factor.levels.first().map(level_text).unwrap_or_default();
            prose![" was measured at one level of ", setting_title(&factor.setting), ", ", level]
        }
        [factor] => {
            let (first, last) = (factor.levels.first(), factor.levels.last());
            let ends = |level: Option<&proofload_model::settings::Value>| level.map(level_text).unwrap_or_default();
            let range = if factor.levels.iter().all(|level| level_number(level).is_some()) {
                prose![", ", ends(first), " to ", ends(last)]
            } else {
                let levels: Vec<String> = factor.levels.iter().map(level_text).collect();
                prose![": ", levels.join(between(factor.levels.iter()))]
            };
            [prose![" was measured at ", factor.levels.len(), " levels of ", setting_title(&factor.setting)], range]
                .concat()
        }
        _ => prose![" was measured at ", points, " points: ", factors_title(findings).replace(", ", " × ")],
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

/// The answer of a search in a sentence.
fn searched(search: &SearchFindings) -> Block {
    let mut lead = prose![if search.found().is_some() { "The search found" } else { "The search" }];
    if !search.label.is_empty() {
        lead.extend(prose![" (", search.label.clone(), ")"]);
    }
    Block::Paragraph([vec![Inline::Strong(lead)], prose![": "], super::search::sentence(search)].concat())
}

/// A count of the study, which may exceed 32 bits.
fn whole(settings: &Settings, path: &str) -> Option<u64> {
    settings.integer(path).ok().and_then(|count| u64::try_from(count).ok())
}

/// The machine in a sentence, as far as its facts go.
fn machine(findings: &Findings<'_>) -> Prose {
    let record = findings.record;
    let facts = || record.facts.iter().chain(record.attempts.iter().flat_map(|attempt| &attempt.facts));
    let fact = |name: &FactName| {
        let found = facts().find(|fact| name.is_of(fact) && fact.requested.is_none() && !fact.instance.is_standby());
        found.and_then(|fact| fact.effective.as_deref()).map(size_text).filter(|value| !value.is_empty())
    };
    let mut parts: Vec<Prose> = Vec::new();
    parts.extend(fact(&host::CPU).map(|cpu| prose![cpu]));
    parts.extend(fact(&host::CORES).map(|cores| prose![cores, " cores"]));
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

fn varies(findings: &Findings<'_>, path: &str) -> bool {
    findings.factors.iter().any(|factor| factor.varies(path))
}

/// The curve in sentences, one group after the other; without a curve, the best and the worst point.
fn what_was_found(findings: &Findings<'_>) -> Vec<Prose> {
    match &findings.curve {
        Ok(curve) => {
            let sentences = curve.groups.iter().filter_map(|group| group_sentence(findings, curve, group));
            let answers = [super::replication::answer(findings), super::cache_tier::answer(findings)].concat();
            sentences.chain((!answers.is_empty()).then_some(answers)).collect()
        }
        Err(_) => {
            let answers = [super::drills::answer, super::replication::answer, super::cache_tier::answer];
            let told = answers.map(|answer| answer(findings)).concat();
            vec![if told.is_empty() { best_point(findings) } else { told }]
        }
    }
}

fn group_sentence(findings: &Findings<'_>, curve: &Curve, group: &CurveGroup) -> Option<Prose> {
    let valid: Vec<&PointFindings> =
        group.points.iter().map(|index| &findings.points[*index]).filter(|point| point.verdict.is_valid()).collect();
    let (first, last, headline) = (valid.first()?, valid.last()?, findings.workload.headline);
    let (low, high) = (first.result(headline.name).ok()?, last.result(headline.name).ok()?);
    let level = |point: &PointFindings| point.level(&curve.setting).map(level_text).unwrap_or_default();
    let mut text = if group.label.is_empty() { Prose::new() } else { prose![capital_first(&group.label), ": "] };
    if first.id == last.id {
        text.extend(prose!["At ", level(first), " throughput was ", (&low, headline.axis_unit), ". "]);
        return Some(text);
    }
    let direction = if high.value() >= low.value() { " rose from " } else { " fell from " };
    let lead = if text.is_empty() { "Throughput" } else { "throughput" };
    text.extend(prose![
        lead,
        direction,
        (&low, headline.axis_unit),
        " at ",
        level(first),
        " to ",
        (&high, headline.axis_unit),
        " at ",
        level(last),
        ". "
    ]);
    let largest = findings.largest().filter(|largest| largest.id != first.id && group.label.is_empty());
    if let (Ok(kept), Some(largest)) = (&first.relative, largest) {
        let share = level_share(first, last, &curve.setting);
        text.extend(prose![
            "With ",
            share,
            " of the largest level it kept ",
            (kept, "%"),
            " of the throughput at ",
            largest.label(),
            ". "
        ]);
    }
    text.extend(knee_sentence(findings, curve, group));
    Some(text)
}

/// The smaller level as a share of the larger, exact by the study.
fn level_share(small: &PointFindings, large: &PointFindings, setting: &str) -> String {
    let number = |point: &PointFindings| point.level(setting).and_then(level_number).unwrap_or(f64::NAN);
    format!("{}\u{a0}%", crate::numbers::short(100.0 * number(small) / number(large)))
}

/// Where the curve bends, in words.
pub(super) fn knee_sentence(findings: &Findings<'_>, curve: &Curve, group: &CurveGroup) -> Prose {
    let words = |number: f64| level_words(findings, &curve.setting, number);
    match &group.knee {
        Knee::Fitted { at, .. } => prose!["The curve bends at ", at, "; beyond it a larger level gains little. "],
        Knee::Between { after: Some(after), reached, .. } => prose![
            "From ",
            words(*reached),
            " on, throughput stays within 5 % of the largest; at ",
            words(*after),
            " it does not, so the knee lies between the two. "
        ],
        Knee::Between { after: None, .. } => {
            prose!["Every level is within 5 % of the largest throughput: this factor does not limit it here. "]
        }
        Knee::None { why } => prose!["No knee was found: ", why.clone(), ". "],
    }
}

fn best_point(findings: &Findings<'_>) -> Prose {
    let Some(best) = findings.largest() else { return Prose::new() };
    let headline = findings.workload.headline;
    let Ok(largest) = best.result(headline.name) else { return Prose::new() };
    let mut text = prose!["The largest throughput was ", (&largest, headline.axis_unit)];
    if findings.points.len() > 1 {
        text.extend(prose![" with ", best.label()]);
    }
    text.extend(prose![". "]);
    let relative = |point: &&PointFindings| point.relative.as_ref().map_or(f64::INFINITY, |quantity| quantity.value());
    let worst = findings.valid().min_by(|a, b| relative(a).total_cmp(&relative(b)));
    if let Some((worst, kept)) =
        worst.filter(|worst| worst.id != best.id).and_then(|worst| Some((worst, worst.relative.as_ref().ok()?)))
    {
        text.extend(prose!["With ", worst.label(), " it was ", (kept, "%"), " of that. "]);
    }
    text
}

/// Storage and the first candidate for the bottleneck.
fn more_findings(findings: &Findings<'_>) -> Option<Block> {
    let mut text = Prose::new();
    let by_level = by_level(findings);
    let work = findings.workload.work.one;
    let reads = format!("reads_per_{work}");
    if let (Some(first), Some(last)) = (by_level.first(), by_level.last())
        && first.id != last.id
        && let (Ok(low), Ok(high)) = (first.result(&reads), last.result(&reads))
        && (low.value() > 0.0 || high.value() > 0.0)
    {
        let words = if high.value() < low.value() { " fell from " } else { " went from " };
        text.extend(prose![
            "Drive reads per ",
            work,
            words,
            (&low, ""),
            " at ",
            first.label(),
            " to ",
            (&high, ""),
            " at ",
            last.label(),
            ". "
        ]);
    }
    let largest = findings.largest()?;
    match findings.ranking(largest.id).and_then(|ranking| ranking.candidates.first()) {
        Some(candidate) => text.extend(prose![
            "At ",
            largest.label(),
            " the first candidate for what limited throughput is ",
            candidate.name.clone(),
            ": ",
            candidate.evidence.clone(),
            " (",
            NOT_CONFIRMED,
            "; ",
            Inline::Reference("bottleneck"),
            ")."
        ]),
        None => text.extend(prose![
            "At ",
            largest.label(),
            " nothing that was observed came near a limit (",
            Inline::Reference("bottleneck"),
            ")."
        ]),
    }
    Some(Block::Paragraph(text))
}

/// The worst stall, and points whose load was above what they can do.
fn load_findings(findings: &Findings<'_>) -> Vec<Block> {
    let stall = super::stalls::worst_sentence(findings);
    let stall = (!stall.is_empty())
        .then(|| Block::Paragraph([stall, prose![" See ", Inline::Reference("stalls"), "."]].concat()));
    let overload = super::offered::overloaded(findings).map(|words| Block::Notice(Notice::Caution, words));
    stall.into_iter().chain(overload).collect()
}

/// Valid points by rising level, when there is one curve.
fn by_level<'a>(findings: &'a Findings<'_>) -> Vec<&'a PointFindings> {
    match &findings.curve {
        Ok(curve) if curve.groups.len() == 1 => {
            let points = curve.groups[0].points.iter().map(|index| &findings.points[*index]);
            points.filter(|point| point.verdict.is_valid()).collect()
        }
        _ => Vec::new(),
    }
}

fn headlines(findings: &Findings<'_>) -> Option<Block> {
    let largest = findings.largest()?;
    let mut pairs = Vec::new();
    for (words, metric) in findings.workload.headlines {
        let Ok(value) = largest.result(metric.name) else { continue };
        pairs.push((prose![*words, largest.label()], prose![(&value, "")]));
    }
    if let Some(first) = by_level(findings).first().filter(|first| first.id != largest.id)
        && let Ok(kept) = &first.relative
    {
        pairs.push((prose!["of it kept at ", first.label()], prose![kept]));
    }
    for kind in tails(findings) {
        let Ok(p99) = largest.result(&format!("response_ns_p99.{kind}")) else { continue };
        let what = if kind == "all" {
            "99th percentile of response times at ".to_owned()
        } else {
            format!("99th percentile of {} response times at ", findings.workload.kind_in_sentence(kind))
        };
        pairs.push((prose![what, largest.label()], prose![&p99]));
    }
    (!pairs.is_empty()).then_some(Block::Headlines(pairs))
}

/// Kinds whose 99th percentile is shown.
fn tails(findings: &Findings<'_>) -> Vec<&'static str> {
    let kinds = findings.kinds();
    let met: Vec<&str> =
        findings.workload.tails.iter().copied().filter(|tail| kinds.iter().any(|kind| kind == tail)).collect();
    if met.is_empty() { vec!["all"] } else { met }
}

fn void_notice(findings: &Findings<'_>) -> Option<Block> {
    let bad = findings.points.iter().filter(|point| !point.verdict.is_valid()).count();
    let some = findings.valid().next().is_some();
    (bad > 0 && some).then(|| {
        Block::Notice(
            Notice::Void,
            prose![
                bad,
                " of ",
                findings.points.len(),
                if bad == 1 {
                    " points is not valid and supports no statement here"
                } else {
                    " points are not valid and support no statement here"
                },
                "; it is shown where it would stand, with the reasons in ",
                Inline::Reference("validity"),
                "."
            ],
        )
    })
}

fn capital_first(text: &str) -> String {
    super::charts::capital(text)
}

/// Throughput against the factor.
fn main_figure(findings: &Findings<'_>) -> Figure {
    let headline = findings.workload.headline;
    let columns: Vec<MetricName> = findings.workload.figure.iter().copied().chain([RELATIVE]).collect();
    let data = points_table(findings, &columns);
    let mut panel = over_factor(findings, &PanelMetric::of(headline));
    let alt = panel.alt.clone();
    let mut caption = prose!["Throughput against ", factors_title(findings), "."];
    let chart = match &findings.curve {
        Ok(curve) => {
            if let [only] = curve.groups.as_slice() {
                panel.bands.extend(knee_band(only));
            }
            if !panel.bands.is_empty() {
                caption.extend(prose![" The shaded range holds the knee."]);
            }
            Chart::Plot(panel)
        }
        Err(_) => Chart::Bars(bars(findings)),
    };
    caption.extend(prose![" Bars show 95 % confidence intervals; where none is seen, it is smaller than the marker or does not exist (see the data)."]);
    Figure { id: "figure-throughput", caption, alt, chart, data }
}

fn bars(findings: &Findings<'_>) -> Bars {
    let headline = findings.workload.headline;
    let value = |point: &PointFindings| {
        let quantity = point.result(headline.name).ok()?;
        Some((quantity.value(), quantity.interval().bounds()))
    };
    let group = |point: &PointFindings| Group { label: point.label(), values: vec![value(point)] };
    Bars {
        axis: Axis::linear(headline.axis, headline.axis_unit),
        names: vec!["throughput".to_owned()],
        groups: findings.points.iter().map(group).collect(),
    }
}

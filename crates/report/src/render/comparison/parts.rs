//! What the texts of a comparison and of a gate share: who is compared, what differs, what was left out, heads and cells.

use super::super::text::{plain, wrapped_to};
use super::long_values::sides_of_difference;
use super::table::{Room, pieces};
use crate::findings::comparison::{Better, Comparison, Difference, Metric, NamedRecord, Row, contention_words};
use crate::findings::{Findings, setting_title};
use crate::numbers::{counted, grouped, printed_unit, readable};
use proofload_analysis::quantity::{NO_UPPER_BOUND, Quantity};

/// Digits of a hash that tell two records apart on a screen; the other formats have all 64.
const HASH: usize = 16;
/// Columns before what is said of a record.
const HEAD: usize = 15;

/// Running text, wrapped, with a line break at its end.
pub(super) fn paragraph(text: &str, room: Room) -> String {
    wrapped_to(room.text, &plain(text)).iter().map(|line| format!("{}\n", line.trim_start())).collect()
}

/// An item of a list: its further lines are set in.
fn item(text: &str, room: Room) -> String {
    wrapped_to(room.text, &plain(&format!("- {text}"))).iter().map(|line| format!("{line}\n")).collect()
}

/// Told before all else: what duets with known ratios read, and why throughput could not be compared; empty without either.
pub(super) fn told_first(comparison: &Comparison<'_>, room: Room) -> String {
    let told = [contention_words(&comparison.checks), comparison.throughput_missing()];
    told.iter().flatten().map(|words| paragraph(words, room) + "\n").collect()
}

/// The two records.
pub(super) fn records(comparison: &Comparison<'_>, room: Room) -> String {
    record("A  baseline ", &comparison.baseline, &comparison.findings.0, room)
        + &record("B  candidate", &comparison.candidate, &comparison.findings.1, room)
}

fn record(head: &str, named: &NamedRecord<'_>, findings: &Findings<'_>, room: Room) -> String {
    let record = named.record;
    let finished = record.plan.runs.iter().filter(|run| findings.finished(run.index).is_some()).count();
    let program = record.sessions.first().map_or("unknown program", |session| session.program.as_str());
    let date = crate::sections::date(record.created);
    let hash: String = named.sha256.chars().take(HASH).collect();
    let valid = findings.valid().count();
    let (study, runs, points) = (record.study.name(), record.plan.runs.len(), findings.points.len());
    let told = [
        format!("study {study}, {date}, {program}"),
        format!("{finished} of {}, {valid} of {} valid, sha256 {hash}", counted(runs, "run"), counted(points, "point")),
    ];
    let lines = told.iter().flat_map(|line| wrapped_to(room.text.saturating_sub(HEAD), &plain(line)));
    let below: String = lines.map(|line| format!("{:HEAD$}{line}\n", "")).collect();
    let file = pieces(&plain(&named.file), room.text.saturating_sub(HEAD)).join(&format!("\n{:HEAD$}", ""));
    format!("{head}  {file}\n{below}")
}

/// What differs between the records besides what they measured.
pub(super) fn differences(comparison: &Comparison<'_>, room: Room) -> String {
    let found = &comparison.differences;
    if found.is_empty() {
        return "No setting, version or fact differs.\n".to_owned();
    }
    let pairs = comparison.pairs.len();
    let name = |difference: &Difference| {
        let points = difference.points.len();
        let at = if points == 0 || points == pairs { String::new() } else { format!(" ({points} of {pairs} points)") };
        plain(&format!("{}{at}", difference.name))
    };
    let width = found.iter().map(|difference| name(difference).chars().count()).max().unwrap_or(0);
    // At most nine of twenty columns are for names.
    let width = width.clamp(16, (room.text * 9 / 20).max(16));
    let value = room.text.saturating_sub(6 + width) / 2;
    let shown = |text: &Option<String>| plain(text.as_deref().unwrap_or("not set or not recorded"));
    let mut text = format!("{:<w$}  {:<value$}  B\n", "What else differs", "A", w = width + 2);
    for difference in found {
        let [a, b] = sides_of_difference([shown(&difference.baseline), shown(&difference.candidate)], value);
        let names = pieces(&name(difference), width);
        let line = |lines: &[String], place: usize| lines.get(place).cloned().unwrap_or_default();
        for place in 0..names.len().max(a.len()).max(b.len()) {
            let [name, a, b] = [&names, &a, &b].map(|lines| line(lines, place));
            text.push_str(format!("  {name:<width$}  {a:<value$}  {b}").trim_end());
            text.push('\n');
        }
    }
    text
}

/// Points that are void or that one record alone has, and metrics that could not be compared. What several have in common
/// stands once.
pub(super) fn left_out(comparison: &Comparison<'_>, room: Room) -> String {
    let mut told: Vec<(String, Vec<String>)> = Vec::new();
    let mut tell = |why: String, what: String| match told.iter_mut().find(|(known, _)| *known == why) {
        Some((_, all)) if all.contains(&what) => {}
        Some((_, all)) => all.push(what),
        None => told.push((why, vec![what])),
    };
    for void in &comparison.void {
        let what = format!("{} in {}", comparison.described(void.pair), void.which.letter());
        void.reasons.iter().for_each(|reason| tell(format!("{}: {reason}", void.verdict), what.clone()));
    }
    for (pair, which) in &comparison.alone {
        tell(format!("only {} has it", which.letter()), comparison.described(*pair).to_owned());
    }
    for left in &comparison.left_out {
        tell(left.why.clone(), format!("{} at {}", left.metric.title, comparison.described(left.pair)));
    }
    if told.is_empty() {
        return String::new();
    }
    let lines = told.iter().map(|(why, what)| item(&format!("{}: {why}", what.join("; ")), room));
    format!("\nNot compared\n{}", lines.collect::<String>())
}

/// What weakens it.
pub(super) fn warnings(comparison: &Comparison<'_>, room: Room) -> String {
    let told = comparison.warnings.iter().map(|warning| paragraph(&format!("warning: {warning}"), room));
    let text: String = told.collect();
    if text.is_empty() { text } else { format!("\n{text}") }
}

/// The head of a metric's rows with the unit that suits its largest value, and the factor to that unit.
pub(super) fn metric_head(comparison: &Comparison<'_>, metric: &Metric, places: &[usize]) -> (String, f64) {
    let quantities =
        places.iter().flat_map(|place| [&comparison.rows[*place].baseline, &comparison.rows[*place].candidate]);
    let largest: Option<&Quantity> = quantities.max_by(|a, b| a.value().total_cmp(&b.value()));
    let shown = largest.map(readable);
    let unit = shown.as_ref().map_or_else(String::new, |quantity| printed_unit(&quantity.unit().0));
    let factor = shown.zip(largest).map_or(1.0, |(shown, largest)| shown.value() / largest.value());
    let unit = if unit.is_empty() { unit } else { format!(", {unit}") };
    let direction = match metric.better {
        Better::Higher => "; higher is better",
        Better::Lower => "; lower is better",
        Better::Neither => "",
    };
    (format!("{}{unit}{direction}", metric.title), if factor.is_finite() { factor } else { 1.0 })
}

/// Three digits, and no fewer than the whole ones.
fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 => grouped(value, 0),
        size if size >= 9.995 => grouped(value, 1),
        size if size >= 0.9995 => grouped(value, 2),
        _ => grouped(value, 3),
    }
}

/// A ratio, to a thousandth.
pub(super) fn ratio(value: f64) -> String {
    if value < 9.9995 { format!("{value:.3}") } else { figure(value) }
}

/// The interval of a row's ratio.
fn interval(row: &Row) -> String {
    let Some((low, high)) = row.ratio.interval().bounds() else { return String::new() };
    let high = if row.ratio.is_unbounded_above() { NO_UPPER_BOUND.to_owned() } else { ratio(high) };
    format!("{} to {high}", ratio(low))
}

/// A corrected p value.
pub(super) fn p_value(p: f64) -> String {
    match p {
        p if p < 0.000_95 => "<0.001".to_owned(),
        p if p > 0.999_5 => "1".to_owned(),
        p => format!("{p:.3}"),
    }
}

/// Heads of a table: the point, both sides and their ratio, and two columns more.
pub(super) fn heads(comparison: &Comparison<'_>, last: [&'static str; 2]) -> Vec<String> {
    let titles: Vec<String> = comparison.factors.iter().map(|setting| setting_title(setting)).collect();
    let mut heads = vec![plain(&titles.join(", "))];
    heads.extend(["A", "B", "B/A", "95 % interval"].into_iter().chain(last).map(str::to_owned));
    heads
}

/// The first cells of a row, below these heads; `factor` leads to the unit of the metric's head.
pub(super) fn sides(comparison: &Comparison<'_>, row: &Row, factor: f64) -> Vec<String> {
    vec![
        plain(comparison.label(row.pair)),
        figure(row.baseline.value() * factor),
        figure(row.candidate.value() * factor),
        ratio(row.ratio.value()),
        interval(row),
    ]
}

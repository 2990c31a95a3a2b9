//! A table for a terminal, at most 100 columns wide, without colours; what does not fit is left to the report.

use crate::findings::{Estimand, Findings, PointFindings, SearchFindings, Verdict, setting_title};
use crate::groups::by_key;
use crate::metrics::{CPU, Digits, MetricName};
use crate::numbers::grouped;
use proofload_model::letters::is_steering;

/// Most columns of a line.
const WIDTH: usize = 100;

/// Fewest columns that a text is wrapped to.
pub(super) const NARROWEST: usize = 40;

/// Most points that a table has rows for although none of their runs has ended.
const UNREACHED: usize = 20;

/// Most points that a sentence names.
const NAMED: usize = 12;

/// Renders findings for a terminal of so many columns; as wide as a line may be where that is not known.
pub(crate) fn text(findings: &Findings<'_>, terminal: Option<usize>) -> String {
    let width = terminal.map_or(WIDTH, |terminal| terminal.clamp(NARROWEST, WIDTH));
    let profile = crate::workloads::named_profile(&findings.record.study.settings);
    let mut lines: Vec<String> = profile.map(|profile| plain(&format!("profile: {profile}"))).into_iter().collect();
    lines.extend(table(findings, width));
    lines.extend(reasons(findings, width));
    lines.extend(claims(findings, width));
    lines.extend(of_points(findings, width, |point| Some(format!("is overloaded: {}", point.overload()?))));
    lines.extend(of_points(findings, width, |point| Some(format!("was repeated: {}", plain(&point.told_earlier()?)))));
    lines.extend(searches(findings, width));
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// A row for each point. A terminal that is narrower than a line may be gets no last columns that it has no room for, and their heads.
fn table(findings: &Findings<'_>, width: usize) -> Vec<String> {
    let factors = findings.factors.len().max(1);
    let mut shown = columns(findings);
    let mut rows = table_rows(findings, &shown);
    let mut left_out: Vec<&str> = Vec::new();
    while width < WIDTH && shown.len() > 1 && extent(&widths(&rows)) > width {
        left_out.extend(shown.pop().map(|column| column.terminal));
        rows = table_rows(findings, &shown);
    }
    left_out.reverse();
    if extent(&widths(&rows)) > width
        && let Some(heads) = rows.first_mut()
    {
        heads.iter_mut().for_each(|head| *head = short_head(head));
    }
    let mut lines = aligned(&rows, factors, width);
    if !left_out.is_empty() {
        lines.extend(wrapped_to(width, &format!("not shown, for want of room: {}", left_out.join(", "))));
    }
    lines
}

/// A head in a table whose labels would be cut short otherwise.
fn short_head(head: &str) -> String {
    if head == CPU.terminal { "CPU %".to_owned() } else { head.to_owned() }
}

/// Heads and cells.
fn table_rows(findings: &Findings<'_>, columns: &[MetricName]) -> Vec<Vec<String>> {
    let mut heads: Vec<String> = findings.factors.iter().map(|factor| setting_title(&factor.setting)).collect();
    if heads.is_empty() {
        heads.push("point".to_owned());
    }
    heads.extend(columns.iter().map(|column| column.terminal.to_owned()));
    heads.push("verdict".to_owned());
    let reached = |point: &&PointFindings| !matches!(point.verdict, Verdict::NotRun(_));
    let is_long = findings.points.iter().filter(|point| !reached(point)).count() > UNREACHED;
    let told = findings.points.iter().filter(|point| !is_long || reached(point));
    std::iter::once(heads).chain(told.map(|point| row(point, columns))).collect()
}

/// The workload's columns, those of kinds that no run has left out.
fn columns(findings: &Findings<'_>) -> Vec<MetricName> {
    let kinds = findings.kinds();
    let met = |column: &&MetricName| column.kind().is_none_or(|kind| kinds.is_empty() || kinds.contains(&kind));
    findings.workload.terminal.iter().filter(met).copied().collect()
}

fn row(point: &PointFindings, columns: &[MetricName]) -> Vec<String> {
    let mut cells: Vec<String> =
        point.levels.iter().map(|(setting, value)| plain(&crate::findings::level_of(setting, value))).collect();
    if cells.is_empty() {
        // People count points from 1.
        cells.push(point.id.saturating_add(1).to_string());
    }
    cells.extend(columns.iter().map(|column| value(point, column)));
    cells.push(point.verdict.word().to_owned());
    cells
}

fn value(point: &PointFindings, column: &MetricName) -> String {
    let Ok(quantity) = point.metric(column.key()) else { return "-".to_owned() };
    let shown = if column.key().latency().is_some() { quantity.value() * 1e-6 } else { quantity.value() };
    match column.digits {
        Digits::Whole => grouped(shown, 0),
        Digits::Tenths => grouped(shown, 1),
        Digits::Three => hundredths(shown),
    }
}

/// Three digits, and none beyond the hundredths.
fn hundredths(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size < 0.005 => "<0.01".to_owned(),
        size if size < 9.995 => grouped(value, 2),
        size if size < 99.95 => grouped(value, 1),
        _ => grouped(value, 0),
    }
}

/// Text of a record without control characters, so that it cannot steer a terminal.
pub(super) fn plain(text: &str) -> String {
    text.chars().map(|letter| if is_steering(letter) || letter == '\u{a0}' { ' ' } else { letter }).collect()
}

/// The width of each column.
fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    (0..columns).map(|column| width(column).unwrap_or(0)).collect()
}

/// The width of a line of such columns.
fn extent(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1)
}

/// Columns lined up; the first ones, which are words, to the left. A line that would be too long is cut at its factors.
fn aligned(rows: &[Vec<String>], factors: usize, most: usize) -> Vec<String> {
    let mut widths = widths(rows);
    while extent(&widths) > most {
        let Some(widest) = (0..factors).max_by_key(|column| widths[*column]).filter(|column| widths[*column] > 6)
        else {
            break;
        };
        widths[widest] -= 1;
    }
    let cell = |text: &str, width: usize, left: bool| {
        let text: String = if text.chars().count() > width {
            text.chars().take(width - 1).chain(['…']).collect()
        } else {
            text.to_owned()
        };
        if left { format!("{text:<width$}") } else { format!("{text:>width$}") }
    };
    let line = |row: &Vec<String>| {
        let last = row.len() - 1;
        let cells =
            row.iter().enumerate().map(|(column, text)| cell(text, widths[column], column < factors || column == last));
        cells.collect::<Vec<_>>().join("  ")
    };
    rows.iter().map(line).collect()
}

/// What stands against points, wrapped; a reason that several points share stands once.
fn reasons(findings: &Findings<'_>, width: usize) -> Vec<String> {
    let void = findings.points.iter().filter(|point| !point.verdict.is_valid());
    let found = by_key(void.flat_map(|point| {
        let reasons = point.verdict.reasons().into_iter();
        reasons.map(move |reason| (format!("{}: {}", point.verdict.word(), plain(&reason)), point))
    }));
    let mut lines: Vec<String> = found
        .iter()
        .flat_map(|(reason, points)| wrapped_to(width, &format!("{} {reason}", whose(points, findings.points.len()))))
        .collect();
    if !lines.is_empty() {
        lines.insert(0, String::new());
    }
    lines
}

/// A sentence about each point that has something to say, after an empty line.
fn of_points(findings: &Findings<'_>, width: usize, say: impl Fn(&PointFindings) -> Option<String>) -> Vec<String> {
    let line = |point: &PointFindings| Some(wrapped_to(width, &format!("{} {}", plain(&point.label()), say(point)?)));
    let lines: Vec<String> = findings.points.iter().filter_map(line).flatten().collect();
    if lines.is_empty() { lines } else { [vec![String::new()], lines].concat() }
}

/// What the figures may claim; points of one claim share a line.
fn claims(findings: &Findings<'_>, width: usize) -> Vec<String> {
    let found = by_key(findings.valid().filter_map(|point| {
        let estimand = point.estimand.as_ref()?;
        let others = point.others().filter(|_| *estimand == Estimand::AsGiven);
        let text = others.map_or_else(|| estimand.to_string(), |others| format!("{estimand}: {others}"));
        Some(((estimand, text + &in_quiet_seconds(findings, point).unwrap_or_default()), point))
    }));
    let all = findings.points.len();
    let line = |((estimand, text), points): &((&Estimand, String), Vec<&PointFindings>)| {
        let Some(on_quiet) = estimand.holds() else {
            return wrapped_to(width, &format!("{} {}", whose(points, all), plain(text)));
        };
        let holds = if points.len() == 1 { "holds" } else { "hold" };
        wrapped_to(width, &format!("{}: {holds} {on_quiet}", named(points, all)))
    };
    let lines: Vec<String> = found.iter().flat_map(line).collect();
    if lines.is_empty() { lines } else { [vec![String::new()], lines].concat() }
}

/// The only run of a point in its quiet seconds.
fn in_quiet_seconds(findings: &Findings<'_>, point: &PointFindings) -> Option<String> {
    let [run] = point.runs.as_slice() else { return None };
    let (quantity, quiet) = run.host.as_ref()?.in_quiet_seconds(findings.workload)?;
    let bounds =
        quantity.interval().bounds().map(|(low, high)| format!(" [{}, {}]", grouped(low, 0), grouped(high, 0)));
    let (value, title) = (grouped(quantity.value(), 0), findings.workload.headline.title);
    Some(format!("; in {} quiet seconds of {}: {value}{} {title}", quiet.quiet, quiet.of, bounds.unwrap_or_default()))
}

/// What the searches found.
fn searches(findings: &Findings<'_>, width: usize) -> Vec<String> {
    let line = |search: &SearchFindings| {
        let of = if search.label.is_empty() { String::new() } else { format!("{}: ", search.label) };
        [vec![String::new()], wrapped_to(width, &plain(&format!("search: {of}{}", search.text())))].concat()
    };
    findings.searches.iter().flat_map(line).collect()
}

/// The points in words, with their verb.
fn whose(points: &[&PointFindings], all: usize) -> String {
    let verb = if points.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", named(points, all))
}

/// The points in words.
fn named(points: &[&PointFindings], all: usize) -> String {
    let labels: Vec<String> = points.iter().map(|point| plain(&point.label())).collect();
    match labels.as_slice() {
        [only] => only.clone(),
        [_, _] if all == 2 => "both points".to_owned(),
        many if many.len() == all => format!("all {all} points"),
        many if many.len() <= NAMED => many.join("; "),
        many => format!("{} and {} other points", many[..NAMED - 2].join("; "), many.len() + 2 - NAMED),
    }
}

/// Lines of at most so many columns, all but the first set in by two.
pub(super) fn wrapped_to(width: usize, text: &str) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("the list starts with a line and only grows");
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > width {
            lines.push(format!("  {word}"));
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_a_terminal_needs() {
        let shown = [0.0, 0.00304, 0.0451, 9.784, 9.997, 68.94, 99.97, 242.3, 1234.5].map(hundredths);
        assert_eq!(shown.join(" "), "0 <0.01 0.05 9.78 10.0 68.9 100 242 1,234");
    }
}

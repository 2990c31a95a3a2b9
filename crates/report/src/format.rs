//! The one way from a record to a report, and from two records to a comparison.

use crate::error::Error;
use crate::findings::cache::forecast::{cache_forecasts, why_no_forecast};
use crate::findings::comparison::{Comparison, Gate, Rules};
use crate::findings::history::History;
use crate::findings::{evaluate, evaluate_beside};
use crate::render::{
    About, FigureFiles, comparison_json, comparison_text, csv, figures, forecast_json, forecast_text, gate_json,
    gate_text, history_json, history_text, html, json, markdown, opening_text, table_csv, text, typst,
};
use crate::sections::{comparison_document, document, history_document, opening, results_table, title};
use proofload_import::Reference;
use proofload_model::tier::CacheSize;
use proofload_record::Record;

/// Forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The paper: one self-contained HTML file.
    Html,
    /// The paper as Markdown; charts are their description and their data.
    Markdown,
    /// The paper on sheets as Typst source, of which `proofload-pdf` makes a PDF.
    Typst,
    /// Findings in tidy long form.
    Csv,
    /// The table of results: a row for each point, as CSV.
    Points,
    /// Findings with stable keys.
    Json,
    /// A table for a terminal.
    Text,
}

/// Whether the appendix of a page is folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Appendix {
    /// Folded on a screen, left out of print.
    #[default]
    Folded,
    /// All of it, in print too.
    Full,
}

/// What a report may have besides the record.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReportOptions<'r> {
    /// Results from files, drawn beside the study's own.
    pub beside: &'r [Reference],
    /// How much of the appendix a page shows.
    pub appendix: Appendix,
    /// The record's file as a command line names it, for the commands that a report tells; empty where it is not known.
    pub file: &'r str,
    /// Columns of the terminal that gets a text; `None` where it is another thing or not known.
    pub columns: Option<usize>,
    /// SHA-256 of the record's file, which stands on each sheet; empty where it is not known.
    pub sha256: &'r str,
}

/// Renders a record. Pure: equal records give equal bytes. The error says what the record lacks.
pub fn render(record: &Record, format: Format) -> Result<String, Error> {
    render_with(record, format, ReportOptions::default())
}

/// The same with options.
pub fn render_with(record: &Record, format: Format, options: ReportOptions<'_>) -> Result<String, Error> {
    if record.plan.points.is_empty() {
        return Err(Error::new("the record's plan has no point; was its creation interrupted?"));
    }
    let mut findings = evaluate_beside(record, options.beside);
    options.file.clone_into(&mut findings.file);
    Ok(match format {
        Format::Html => html(&document(&findings), options.appendix),
        Format::Markdown => markdown(&document(&findings)),
        Format::Typst => typst(&document(&findings), about(record, options), options.appendix),
        Format::Csv => csv(&findings),
        Format::Points => table_csv(&results_table(&findings)),
        Format::Json => json(&findings, &opening(&findings)),
        Format::Text => {
            opening_text(&title(&findings), &opening(&findings), options.columns) + &text(&findings, options.columns)
        }
    })
}

/// What sheets say of the record. One that is still written has another hash at once.
fn about<'r>(record: &'r Record, options: ReportOptions<'r>) -> About<'r> {
    let sha256 = if record.being_written { "" } else { options.sha256 };
    About { study: record.study.name(), sha256, created: record.created }
}

/// Every figure of a record's paper as files.
///
/// # Errors
/// As of [`render`].
pub fn render_figures(record: &Record, options: ReportOptions<'_>) -> Result<Vec<FigureFiles>, Error> {
    if record.plan.points.is_empty() {
        return Err(Error::new("the record's plan has no point; was its creation interrupted?"));
    }
    Ok(figures(&document(&evaluate_beside(record, options.beside))))
}

/// Forms of a comparison, a gate and a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonFormat {
    /// Tables for a terminal.
    Text,
    /// Markdown, for a page or a remark.
    Markdown,
    /// One self-contained page.
    Html,
    /// JSON, for programs.
    Json,
}

/// Renders a comparison. Pure: equal records give equal bytes.
pub fn render_comparison(comparison: &Comparison<'_>, format: ComparisonFormat) -> String {
    match format {
        ComparisonFormat::Text => comparison_text(comparison, None),
        ComparisonFormat::Markdown => markdown(&comparison_document(comparison, None)),
        ComparisonFormat::Html => html(&comparison_document(comparison, None), Appendix::Folded),
        ComparisonFormat::Json => comparison_json(comparison),
    }
}

/// Renders a gate over its comparison.
pub fn render_gate(comparison: &Comparison<'_>, gate: &Gate, rules: &Rules, format: ComparisonFormat) -> String {
    match format {
        ComparisonFormat::Text => gate_text(comparison, gate, rules, None),
        ComparisonFormat::Markdown => markdown(&comparison_document(comparison, Some(gate))),
        ComparisonFormat::Html => html(&comparison_document(comparison, Some(gate)), Appendix::Folded),
        ComparisonFormat::Json => gate_json(comparison, gate, rules),
    }
}

/// Renders a comparison as text for a terminal of so many columns.
pub fn comparison_for_terminal(comparison: &Comparison<'_>, columns: usize) -> String {
    comparison_text(comparison, Some(columns))
}

/// Renders a gate over its comparison as text for a terminal of so many columns.
pub fn gate_for_terminal(comparison: &Comparison<'_>, gate: &Gate, rules: &Rules, columns: usize) -> String {
    gate_text(comparison, gate, rules, Some(columns))
}

/// Renders histories: a text and JSON of all studies, a page of one; `skipped` are the files that are left out, with reasons.
///
/// # Errors
/// When a page is asked for of several studies, or of none.
pub fn render_history(
    histories: &[History],
    skipped: &[(String, String)],
    format: ComparisonFormat,
) -> Result<String, Error> {
    let page = || match histories {
        [one] => Ok(history_document(one, skipped)),
        [] => Err(Error::new("there is no record of such a study")),
        several => {
            let names: Vec<&str> = several.iter().map(|history| history.study.as_str()).collect();
            Err(Error::new(format!("a page shows one study; choose one with --study: {}", names.join(", "))))
        }
    };
    Ok(match format {
        ComparisonFormat::Text => history_text(histories, skipped),
        ComparisonFormat::Markdown => markdown(&page()?),
        ComparisonFormat::Html => html(&page()?, Appendix::Folded),
        ComparisonFormat::Json => history_json(histories, skipped),
    })
}

/// Forms of a forecast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForecastFormat {
    /// Sentences for a terminal.
    Text,
    /// JSON, for programs.
    Json,
}

/// Renders what is expected of caches of these sizes. Pure: equal records give equal bytes.
///
/// # Errors
/// When the record has no two valid points that differ in the size of a cache alone, no sample of their references, or one that says nothing of
/// any of the sizes.
pub fn render_forecast(record: &Record, sizes: &[CacheSize], format: ForecastFormat) -> Result<String, Error> {
    let findings = evaluate(record);
    let forecasts = cache_forecasts(&findings);
    if forecasts.is_empty() {
        return Err(Error::new(why_no_forecast(&findings)));
    }
    let found: Vec<_> =
        forecasts.iter().flat_map(|one| sizes.iter().map(|size| one.at(size.before(one.data)))).collect();
    if let (false, Some(Err(why))) = (found.iter().any(Result::is_ok), found.first()) {
        return Err(Error::new(format!("{why}; measure it, or choose a larger size")));
    }
    Ok(match format {
        ForecastFormat::Text => forecast_text(&findings, &forecasts, sizes),
        ForecastFormat::Json => forecast_json(&findings, &forecasts, sizes),
    })
}

//! One self-contained HTML file: style sheet and drawings inside, no script, nothing fetched.

use super::html_inline::{prose, quoted};
use super::html_parts::{blocks, figure_html};
use crate::Appendix;
use crate::blocks::{Document, Numbering, Opening, OpeningState, Prose, SectionBlocks, SectionPlace};

/// The style sheet.
const STYLE: &str = include_str!("style.css");

/// Renders a document with as much of its appendix as is wanted.
pub(crate) fn html(document: &Document, appendix: Appendix) -> String {
    let numbering = Numbering::of(document);
    let full = appendix == Appendix::Full;
    let mut page = head(document, full);
    page.push_str(&masthead(document, &numbering));
    page.push_str("<main id=\"paper\">\n");
    let (rest, paper): (Vec<&SectionBlocks>, Vec<&SectionBlocks>) =
        document.sections.iter().partition(|section| section.place == SectionPlace::Appendix);
    for section in paper {
        page.push_str(&section_html(section, &numbering));
    }
    if !rest.is_empty() {
        page.push_str("<section class=\"appendix\" aria-labelledby=\"appendix\">\n<h2 id=\"appendix\">Appendix</h2>\n");
        for section in rest {
            page.push_str(&folded_html(section, full, &numbering));
        }
        page.push_str("</section>\n");
    }
    page.push_str("</main>\n<footer><p>Made by Proofload from one record; the same record gives the same bytes.");
    if !document.foot.is_empty() {
        page.push(' ');
        page.push_str(document.foot);
    }
    page.push_str("</p></footer>\n</body>\n</html>\n");
    page
}

fn head(document: &Document, full: bool) -> String {
    let class = if full { " class=\"full\"" } else { "" };
    let style: String =
        STYLE.lines().map(str::trim_start).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"Proofload\">\n\
         <title>{}</title>\n<style>\n{style}\n</style>\n</head>\n<body{class}>\n\
         <a class=\"skip\" href=\"#paper\">Skip to the paper</a>\n",
        quoted(&document.title)
    )
}

/// The first screen: title, verdict, answer, what it rests on, the main figure, and where to find the rest.
fn masthead(document: &Document, numbering: &Numbering) -> String {
    let opening = &document.opening;
    let logo = if document.logo.is_empty() {
        String::new()
    } else {
        format!("<img class=\"logo\" alt=\"\" src=\"{}\">\n", quoted(&document.logo))
    };
    let mut text = format!(
        "<header>\n{logo}<h1>{}</h1>\n<p class=\"subtitle\">{}</p>\n",
        quoted(&document.title),
        prose(&document.subtitle, numbering)
    );
    let (class, mark) = match opening.state {
        OpeningState::Good => ("all", "✓"),
        OpeningState::Partial => ("partial", "!"),
        OpeningState::Void => ("no", "✗"),
    };
    text.push_str(&format!(
        "<p class=\"verdict {class}\"><span class=\"mark\" aria-hidden=\"true\">{mark}</span> {}</p>\n",
        prose(&opening.verdict, numbering)
    ));
    if !opening.answer.is_empty() {
        text.push_str(&format!("<p class=\"answer\">{}</p>\n", prose(&opening.answer, numbering)));
    }
    text.push_str(&first(opening, numbering));
    text.push_str("<nav class=\"contents\" aria-label=\"Contents\"><ol>\n");
    for section in
        document.sections.iter().filter(|section| section.level == 2 && section.place != SectionPlace::Appendix)
    {
        text.push_str(&format!("<li><a href=\"#{}\">{}</a></li>\n", section.id, heading_text(section, numbering)));
    }
    if document.sections.iter().any(|section| section.place == SectionPlace::Appendix) {
        text.push_str("<li><a href=\"#appendix\">Appendix</a></li>\n");
    }
    text.push_str("</ol></nav>\n</header>\n");
    text
}

/// Claims and the main figure, side by side where there is room.
fn first(opening: &Opening, numbering: &Numbering) -> String {
    let claim = |(name, claim): &(&str, Prose)| {
        format!("<div><dt>{}</dt><dd>{}</dd></div>\n", quoted(name), prose(claim, numbering))
    };
    let claims: String = opening.claims.iter().map(claim).collect();
    let claims = if claims.is_empty() { claims } else { format!("<dl class=\"claims\">\n{claims}</dl>\n") };
    let figure = opening.figure.as_ref().map(|figure| figure_html(figure, numbering)).unwrap_or_default();
    match (claims.is_empty(), figure.is_empty()) {
        (true, true) => String::new(),
        (true, false) | (false, true) => format!("<div class=\"first alone\">\n{claims}{figure}</div>\n"),
        (false, false) => format!("<div class=\"first\">\n{claims}{figure}</div>\n"),
    }
}

fn heading_text(section: &SectionBlocks, numbering: &Numbering) -> String {
    let number = numbering.label(section.id).map(|label| label.trim_start_matches("appendix "));
    let number = number.map(|label| format!("<span class=\"number\">{label}</span>"));
    format!("{}{}", number.unwrap_or_default(), quoted(section.title))
}

fn section_html(section: &SectionBlocks, numbering: &Numbering) -> String {
    let level = section.level.clamp(2, 3);
    format!(
        "<section aria-labelledby=\"{id}\">\n<h{level} id=\"{id}\">{heading}</h{level}>\n{body}</section>\n",
        id = section.id,
        heading = heading_text(section, numbering),
        body = blocks(&section.blocks, level, numbering)
    )
}

/// A section of the appendix, shown on demand.
fn folded_html(section: &SectionBlocks, open: bool, numbering: &Numbering) -> String {
    let open = if open { " open" } else { "" };
    format!(
        "<details class=\"fold\"{open}><summary><h3 id=\"{id}\">{heading}</h3></summary>\n{body}</details>\n",
        id = section.id,
        heading = heading_text(section, numbering),
        body = blocks(&section.blocks, 3, numbering)
    )
}

//! One self-contained HTML file: style sheet and drawings inside, no script, nothing fetched.

use super::html_inline::{prose, quoted};
use super::html_parts::blocks;
use crate::blocks::{Document, Numbering, SectionBlocks};

/// The style sheet.
const STYLE: &str = include_str!("style.css");

/// Renders a document.
pub(crate) fn html(document: &Document) -> String {
    let numbering = Numbering::of(document);
    let mut page = head(document);
    page.push_str(&masthead(document, &numbering));
    page.push_str("<main id=\"paper\">\n");
    for section in &document.sections {
        page.push_str(&section_html(section, &numbering));
    }
    page.push_str("</main>\n<footer><p>Made by Proofload from one record; the same record gives the same bytes.");
    if !document.foot.is_empty() {
        page.push(' ');
        page.push_str(document.foot);
    }
    page.push_str("</p></footer>\n</body>\n</html>\n");
    page
}

fn head(document: &Document) -> String {
    let style: String =
        STYLE.lines().map(str::trim_start).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"Proofload\">\n\
         <title>{}</title>\n<style>\n{style}\n</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#paper\">Skip to the paper</a>\n",
        quoted(&document.title)
    )
}

fn masthead(document: &Document, numbering: &Numbering) -> String {
    let mut text = format!(
        "<header>\n<p class=\"kicker\">{}</p>\n<h1>{}</h1>\n<dl class=\"imprint\">",
        prose(&document.kicker, numbering),
        quoted(&document.title)
    );
    for (name, value) in &document.imprint {
        text.push_str(&format!("<dt>{}</dt><dd>{}</dd>\n", prose(name, numbering), prose(value, numbering)));
    }
    text.push_str("</dl>\n<nav class=\"contents\" aria-label=\"Contents\"><p>Contents</p><ol>\n");
    for section in &document.sections {
        let class = if section.level > 2 { " class=\"sub\"" } else { "" };
        let line = format!("<li{class}><a href=\"#{}\">{}</a></li>\n", section.id, heading_text(section, numbering));
        text.push_str(&line);
    }
    text.push_str("</ol></nav>\n</header>\n");
    text
}

fn heading_text(section: &SectionBlocks, numbering: &Numbering) -> String {
    let number = numbering.label(section.id).map(|label| format!("<span class=\"number\">{label}</span>"));
    format!("{}{}", number.unwrap_or_default(), quoted(section.title))
}

fn section_html(section: &SectionBlocks, numbering: &Numbering) -> String {
    let level = section.level.clamp(2, 3);
    format!(
        "<section aria-labelledby=\"{id}\">\n<h{level} id=\"{id}\">{heading}</h{level}>\n{body}</section>\n",
        id = section.id,
        heading = heading_text(section, numbering),
        body = blocks(&section.blocks, numbering)
    )
}

//! The paper from findings: every section in order, gaps visible.

use super::opening::{opening, subtitle};
use super::registry::sections;
use super::terms::explained;
use crate::blocks::{Block, Document, Inline, Notice, Prose, SectionBlocks, SectionPlace, prose};
use crate::findings::{Findings, setting_title};
use crate::numbers::count;
use crate::workloads::named_profile;
use proofload_model::settings::setting;
use proofload_model::time::WallTime;

/// Makes the document.
pub(crate) fn document(findings: &Findings<'_>) -> Document {
    let sections = sections(findings.workload.kind).map(|section| SectionBlocks {
        id: section.id,
        title: section.title,
        level: section.level,
        place: section.place,
        blocks: match (section.needs)(findings) {
            Ok(()) => (section.render)(findings),
            Err(why) => vec![Block::Notice(Notice::Gap, prose![why, "."])],
        },
    });
    let document = Document {
        title: title(findings),
        subtitle: subtitle(findings),
        logo: logo(findings).unwrap_or_default(),
        opening: opening(findings),
        sections: appendix_last(sections.filter(|section| !section.blocks.is_empty()).map(with_long_tables_folded)),
        foot: findings.workload.foot,
    };
    explained(document)
}

/// Most rows of a table of the paper that is shown without being asked for.
const MOST_ROWS: usize = 40;

/// The section with its long tables folded: who reads on does not want to scroll past hundreds of rows.
fn with_long_tables_folded(section: SectionBlocks) -> SectionBlocks {
    let folded = |block: Block| match block {
        Block::Table(table) if table.rows.len() > MOST_ROWS => {
            Block::Fold(prose!["Table of ", count(table.rows.len() as u64), " rows"], vec![Block::Table(table)])
        }
        block => block,
    };
    SectionBlocks { blocks: section.blocks.into_iter().map(folded).collect(), ..section }
}

/// Sections of the paper before those of its appendix, each in their order.
fn appendix_last(sections: impl Iterator<Item = SectionBlocks>) -> Vec<SectionBlocks> {
    let (paper, appendix): (Vec<_>, Vec<_>) = sections.partition(|section| section.place != SectionPlace::Appendix);
    [paper, appendix].concat()
}

/// The image of the study's logo; only what a page may hold as an image.
fn logo(findings: &Findings<'_>) -> Option<String> {
    let image = findings.record.study.settings.text(setting::PAPER_LOGO).ok()?;
    let is_image =
        ["png", "jpeg", "svg+xml"].iter().any(|kind| image.starts_with(&format!("data:image/{kind};base64,")));
    is_image.then(|| image.to_owned())
}

/// The study's title, behind the name of a profile that no figure may leave behind.
pub(crate) fn title(findings: &Findings<'_>) -> String {
    let study = &findings.record.study;
    match named_profile(&study.settings) {
        Some(profile) => format!("{profile}: {}", study.title()),
        None => study.title().to_owned(),
    }
}

/// Names and values of the record itself.
pub(super) fn of_record(findings: &Findings<'_>) -> Vec<(Prose, Prose)> {
    let record = findings.record;
    let factors: Vec<String> = findings
        .factors
        .iter()
        .map(|factor| {
            let levels = factor.levels.len();
            format!("{} ({levels} level{})", setting_title(&factor.setting), if levels == 1 { "" } else { "s" })
        })
        .collect();
    let valid = findings.valid().count();
    let mut pairs = vec![
        (prose!["Study"], vec![Inline::Code(record.study.name().to_owned())]),
        (prose!["Begun"], prose![date(record.created)]),
        (prose!["Factor"], prose![if factors.is_empty() { "none: one point".to_owned() } else { factors.join(" × ") }]),
        (prose!["Points"], prose![valid, " valid of ", findings.points.len()]),
    ];
    if let Some(session) = record.sessions.first() {
        pairs.push((prose!["Made with"], prose![session.program.clone()]));
    }
    if record.being_written {
        pairs.push((
            prose!["State"],
            prose! {
                "the study is still running; the report covers what was recorded when it was read"
            },
        ));
    }
    pairs
}

/// Date and minute, UTC.
pub(crate) fn date(at: WallTime) -> String {
    let stamp = jiff::Timestamp::from_microsecond(at.0);
    stamp.map_or_else(|_| "an unknown date".to_owned(), |stamp| stamp.strftime("%-d %B %Y, %H:%M UTC").to_string())
}

/// Day, UTC.
pub(super) fn day(at: WallTime) -> String {
    let stamp = jiff::Timestamp::from_microsecond(at.0);
    stamp.map_or_else(|_| "an unknown date".to_owned(), |stamp| stamp.strftime("%-d %B %Y").to_string())
}

/// Day, UTC, as `2026-11-26`.
pub(super) fn iso_day(at: WallTime) -> String {
    let stamp = jiff::Timestamp::from_microsecond(at.0);
    stamp.map_or_else(|_| "unknown".to_owned(), |stamp| stamp.strftime("%Y-%m-%d").to_string())
}

/// Date and second, UTC, for logs.
pub(super) fn instant(at: WallTime) -> String {
    let stamp = jiff::Timestamp::from_microsecond(at.0);
    stamp.map_or_else(|_| "unknown".to_owned(), |stamp| stamp.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

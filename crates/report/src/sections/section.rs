//! What a section is. May not know which sections there are.

use crate::blocks::Block;
pub(crate) use crate::blocks::SectionPlace;
use crate::findings::Findings;

/// One section of the paper.
pub(crate) struct Section {
    /// Name for links.
    pub(crate) id: &'static str,
    /// Heading.
    pub(crate) title: &'static str,
    /// 2 for a section, 3 for a part of the section before.
    pub(crate) level: u8,
    /// Whether it is a part of the paper or of its appendix.
    pub(crate) place: SectionPlace,
    /// Checks that what it needs is there. The error says what is missing; the section then shows that gap instead.
    pub(crate) needs: fn(&Findings<'_>) -> Result<(), String>,
    /// Its parts; a section without any is left out.
    pub(crate) render: fn(&Findings<'_>) -> Vec<Block>,
}

/// Needs of sections that always have something to say.
pub(super) fn always(_: &Findings<'_>) -> Result<(), String> {
    Ok(())
}

/// Needs of sections that require at least one finished run.
pub(super) fn a_finished_run(findings: &Findings<'_>) -> Result<(), String> {
    if findings.points.iter().any(|point| !point.runs.is_empty()) {
        return Ok(());
    }
    Err("no run of this study is finished".to_owned())
}

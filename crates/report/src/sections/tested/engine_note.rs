//! What an engine's description has every report of it say, such as a condition of its licence. May not know any engine.

use crate::blocks::{Block, Notice, prose};
use crate::findings::Findings;
use proofload_model::engines::named_engine;
use proofload_model::settings::setting;

/// A remark for each engine that was measured and has a note, in the order of the points.
pub(super) fn notices(findings: &Findings<'_>) -> Vec<Block> {
    let record = findings.record;
    let mut notes: Vec<&str> = Vec::new();
    for point in &findings.points {
        let settings = record.plan.settings(&record.study, point.id);
        let known = settings.text(setting::ENGINE_KIND).ok().and_then(named_engine);
        if let Some(note) = known.and_then(|known| known.note.as_deref()).filter(|note| !notes.contains(note)) {
            notes.push(note);
        }
    }
    notes.into_iter().map(|note| Block::Notice(Notice::Remark, prose![note.to_owned()])).collect()
}

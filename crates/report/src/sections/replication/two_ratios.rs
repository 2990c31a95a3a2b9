//! What a mode keeps at equal loads and of the largest throughput, in a study that searches under each mode.

use crate::blocks::{Block, Inline, Prose, TableOf, prose};
use crate::findings::Findings;
use crate::findings::replication::two_ratios::two_ratios;
use crate::numbers::short;

/// The table; nothing in a study without searches.
pub(super) fn blocks(findings: &Findings<'_>) -> Option<Block> {
    let caption = prose![
        "Throughput kept by each mode: at the best load of one node, and maximum against maximum, \
                each at its own best load."
    ];
    TableOf::new("table-two-ratios", caption, two_ratios(findings))
        .words("Mode", |one| one.label.clone())
        .counts("Best load of one node", |one| short(one.alone_at))
        .quantities("Kept at that load", "%", |one| one.equal_load.clone())
        .counts("Its own best load", |one| short(one.best_at))
        .quantities("Kept of the maximum", "%", |one| one.of_maxima.clone())
        .note(prose![
            "At equal load the wait reduces throughput directly. At its own best load a mode has more \
                users, whose waits overlap, so only its bottleneck stage reduces throughput."
        ])
        .filled()
        .map(Block::Table)
}

/// Both ratios of every mode in sentences.
pub(in crate::sections) fn answer(findings: &Findings<'_>) -> Prose {
    let mut text = Prose::new();
    for one in two_ratios(findings) {
        let Ok(of_maxima) = &one.of_maxima else { continue };
        text.extend(prose![Inline::Strong(prose![one.label.clone()]), " keeps "]);
        if let Ok(equal) = &one.equal_load {
            text.extend(prose![(equal, "%"), " of the throughput at a load of ", short(one.alone_at), ", "]);
        }
        text.extend(prose![(of_maxima, "%"), " at its own best (", short(one.best_at), "). "]);
    }
    text
}

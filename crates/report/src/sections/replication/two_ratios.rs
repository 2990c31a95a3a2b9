//! What a mode keeps at equal loads and of the largest throughput, in a study that searches under each mode.

use crate::blocks::{Block, Cell, Column, Inline, Prose, Table, prose};
use crate::findings::Findings;
use crate::findings::two_ratios::two_ratios;
use crate::numbers::short;
use crate::sections::charts::measured_cell;

/// The table; nothing in a study without searches.
pub(super) fn blocks(findings: &Findings<'_>) -> Option<Block> {
    let found = two_ratios(findings);
    let rows = found.iter().map(|one| {
        vec![
            Cell::datum(one.label.clone()),
            Cell::datum(short(one.alone_at)),
            measured_cell(one.equal_load.clone()),
            Cell::datum(short(one.best_at)),
            measured_cell(one.of_maxima.clone()),
        ]
    });
    let rows: Vec<Vec<Cell>> = rows.collect();
    (!rows.is_empty()).then(|| {
        Block::Table(Table {
            id: "table-two-ratios",
            caption: prose![
                "Throughput kept by each mode: at the best load of one node, and maximum against maximum, \
                each at its own best load."
            ],
            columns: vec![
                Column::words("Mode"),
                Column::counts("Best load of one node"),
                Column::quantities("Kept at that load", "%"),
                Column::counts("Its own best load"),
                Column::quantities("Kept of the maximum", "%"),
            ],
            rows,
            note: prose![
                "At equal load the wait reduces throughput directly. At its own best load a mode has more \
                users, whose waits overlap, so only its bottleneck stage reduces throughput."
            ],
        })
    })
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

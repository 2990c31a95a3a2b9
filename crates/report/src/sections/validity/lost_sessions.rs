//! Lost connections in the section on validity: which runs had them, and how their users came back.

use crate::blocks::{Block, Notice, Prose, prose};
use crate::findings::{Findings, LostSessions};
use crate::numbers::short;

/// Runs up to which each has an open line.
const MOST_LINES: usize = 4;

/// What is said of them; nothing when no connection was lost.
pub(crate) fn blocks(findings: &Findings<'_>) -> Vec<Block> {
    let lost = findings.runs().filter_map(|(point, run)| Some((point.run_label(run), run.lost_sessions?)));
    let lines: Vec<Prose> = lost.map(|(name, lost)| prose![name, ": ", line(&lost)]).collect();
    if lines.is_empty() {
        return Vec::new();
    }
    let lead = prose! {
        "connections were lost during the load. Operations in flight count as failed with unknown outcome. The time \
         until a user reconnected is part of the response time of its next ", findings.workload.work.one,
        " and, with a fixed rate, of all operations that became due meanwhile."
    };
    let list = if lines.len() > MOST_LINES {
        let label = prose!["Lost connections of each of ", lines.len(), " runs"];
        Block::Fold(label, vec![Block::List(lines)])
    } else {
        Block::List(lines)
    };
    vec![Block::Notice(Notice::Caution, lead), list]
}

fn line(lost: &LostSessions) -> String {
    let LostSessions { losses, returned, first, last_back, away } = lost;
    let mut text = format!("{losses} lost, the first at second {first:.3}; ");
    match away.zip(*last_back) {
        None => text.push_str("none reconnected during the load"),
        Some(((least, most), last)) => {
            let all = if returned == losses { "all".to_owned() } else { format!("{returned} of {losses}") };
            let span = if least < most { format!("{} to {}", short(least), short(most)) } else { short(most) };
            text.push_str(&format!("{all} reconnected, the last at second {last:.3}, after {span} s"));
        }
    }
    text
}

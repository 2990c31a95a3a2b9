//! Modelled drives by a word such as `raid-5:8x7.2k:2GiB:0.03:fcfs`, as the slow medium of a study. It models nothing itself.

use proofload_model::tier::{DriveModel, DriveScheduling, RaidLevel, SlowMedium, Stroke};
use proofload_model::units::Bytes;

/// Reads `[LAYOUT:]COUNTxPROFILE[:CACHE[:STROKE[:SCHEDULING]]]`, or a profile alone for one drive.
pub(super) fn parse(text: &str) -> Result<SlowMedium, String> {
    let mut parts = text.split(':').peekable();
    let layout = parts.peek().and_then(|word| RaidLevel::of(word));
    if layout.is_some() {
        parts.next();
    }
    let drives = parts.next().ok_or_else(|| format!("{text:?} has no drives; use a form such as raid-5:8x7.2k"))?;
    let (drives, profile) = match drives.split_once('x') {
        Some((count, profile)) => (count.parse().map_err(|_| format!("{count:?} is not a number of drives"))?, profile),
        None => (1, drives),
    };
    let drive = drive_named(profile)?;
    let write_cache = match parts.next() {
        Some(size) => Bytes::parse(size).map_err(|error| error.to_string())?,
        None => Bytes(0),
    };
    let stroke = parts.next().map_or(Ok(Stroke::default()), share_of_stroke)?;
    let scheduling = parts.next().map_or(Ok(DriveScheduling::default()), scheduling_named)?;
    if let Some(more) = parts.next() {
        return Err(format!("{more:?} is not expected; use LAYOUT:COUNTxPROFILE:CACHE:STROKE:SCHEDULING"));
    }
    let raid = layout.unwrap_or(if drives == 1 { RaidLevel::Single } else { RaidLevel::Raid0 });
    match raid.refusal(drives) {
        Some(refusal) => Err(refusal),
        None => Ok(SlowMedium { drive, raid, drives, write_cache, stroke, scheduling }),
    }
}

/// Words for it, with where the data lie in any case.
pub(super) fn text(slow: &SlowMedium) -> String {
    let lie = if slow.stroke.is_contiguous() { format!(", data {}", slow.stroke) } else { String::new() };
    format!("{slow}{lie}")
}

fn share_of_stroke(text: &str) -> Result<Stroke, String> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    let fault = || format!("{text:?} is no share of the stroke; use a number from 0 to 1, such as 0.03");
    share.map(Stroke::of).ok_or_else(fault)
}

fn scheduling_named(word: &str) -> Result<DriveScheduling, String> {
    let fault = || format!("unknown scheduling {word:?}; use one of {}", DriveScheduling::WORDS.join(", "));
    DriveScheduling::of(word).ok_or_else(fault)
}

fn drive_named(word: &str) -> Result<DriveModel, String> {
    let found = DriveModel::of(&word.to_lowercase()).filter(|drive| *drive != DriveModel::NotModelled);
    found.ok_or_else(|| {
        let modelled = DriveModel::ALL.into_iter().filter(|drive| *drive != DriveModel::NotModelled);
        let names: Vec<&str> = modelled.map(DriveModel::word).collect();
        format!("unknown layout or drive {word:?}; use one of {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, expected: &str) {
        let found = parse(word).map_or_else(|fault| fault, |slow| text(&slow));
        assert!(found.contains(expected), "{word}: {found}");
    }

    #[test]
    fn drives_are_read_and_what_cannot_be_is_refused() {
        check(
            "raid-5:8x7.2k:2GiB",
            "modelled: raid-5 of 8 × 7.2k drives, controller cache 2GiB, data contiguous from the outer edge",
        );
        check("raid-5:8x7.2k:2GiB:0.03", "controller cache 2GiB, data spread over 3 % of the stroke");
        check("raid-5:8x7.2k:2GiB:0.03:fcfs", "data spread over 3 % of the stroke, scheduling fcfs");
        check("7.2K", "modelled: single of 1 × 7.2k");
        check("4x15k", "modelled: raid-0 of 4 × 15k");
        check("single:hp-97560", "modelled: single of 1 × hp-97560");
        check("raid-5:2x10k", "cannot have 2 drives");
        check("raid-10:3x10k", "cannot have 3 drives");
        check("65x10k", "raid-0 cannot have 65 drives; it needs 1 to 64");
        check("raid-5:ax10k", "\"a\" is not a number");
        check("raid-5", "has no drives");
        check("raid-6:4x10k", "unknown layout or drive \"raid-6\"");
        check("4x5k", "unknown layout or drive \"5k\"");
        check("4xnone", "unknown layout or drive \"none\"; use one of 7.2k, 10k, 15k, hp-97560");
        check("4x10k:1", "is not a size");
        check("4x10k:1GiB:x", "\"x\" is no share of the stroke");
        check("4x10k:1GiB:1.5", "\"1.5\" is no share of the stroke");
        check("4x10k:1GiB:0:lifo", "unknown scheduling \"lifo\"; use one of sptf, fcfs, elevator");
        check("4x10k:1GiB:0:sptf:x", "is not expected");
    }
}

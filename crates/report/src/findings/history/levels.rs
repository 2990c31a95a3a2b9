//! A study's records by date, and the changes of level in each figure of each point.

use super::record::{HistoryRecord, HistoryValue};
use proofload_analysis::change_points::change_points;

/// Records of one study by date.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// Name of the study.
    pub study: String,
    /// Title in the newest record.
    pub title: String,
    /// Its records, oldest first.
    pub records: Vec<HistoryRecord>,
    /// A track for each point and figure, in the order of the newest record that has them.
    pub tracks: Vec<Track>,
}

/// One figure of one point over the records.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    /// Levels of the point in words.
    pub point: String,
    /// Name of the metric.
    pub metric: String,
    /// Title of the metric.
    pub title: String,
    /// Unit.
    pub unit: String,
    /// Whether more of it is better.
    pub more_is_better: bool,
    /// Values by date.
    pub values: Vec<TrackValue>,
    /// Changes of level among the values that are results.
    pub changes: Vec<LevelChange>,
}

/// A value of a track.
#[derive(Debug, Clone, PartialEq)]
pub struct TrackValue {
    /// Place of its record in the history.
    pub record: usize,
    /// Whether it is a result.
    pub is_valid: bool,
    /// The value.
    pub value: f64,
    /// Its 95 % interval, where it has one.
    pub interval: Option<(f64, f64)>,
}

/// A change of level.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelChange {
    /// Place of the first record after it.
    pub record: usize,
    /// Mean of the results since the change before.
    pub before: f64,
    /// Mean of the results up to the next change.
    pub after: f64,
    /// Probability of dividing as well by chance.
    pub p: f64,
    /// Whether the level after it is better.
    pub is_better: bool,
}

/// Histories of all studies, the one with the most records first.
pub fn history(records: Vec<HistoryRecord>) -> Vec<History> {
    let mut found: Vec<History> = Vec::new();
    for record in records {
        match found.iter_mut().find(|known| known.study == record.study) {
            Some(known) => known.records.push(record),
            None => found.push(History {
                study: record.study.clone(),
                title: String::new(),
                records: vec![record],
                tracks: Vec::new(),
            }),
        }
    }
    for one in &mut found {
        one.records.sort_by(|a, b| (a.created, &a.file).cmp(&(b.created, &b.file)));
        one.title = one.records.last().map(|record| record.title.clone()).unwrap_or_default();
        one.tracks = tracks(&one.records);
    }
    found.sort_by(|a, b| (b.records.len(), &a.study).cmp(&(a.records.len(), &b.study)));
    found
}

fn tracks(records: &[HistoryRecord]) -> Vec<Track> {
    let mut found: Vec<Track> = Vec::new();
    for (place, record) in records.iter().enumerate().rev() {
        for point in &record.points {
            for value in &point.values {
                let known = found.iter().position(|known| known.point == point.label && known.metric == value.metric);
                let at = known.unwrap_or_else(|| {
                    found.push(empty(&point.label, value));
                    found.len() - 1
                });
                let (is_valid, interval) = (point.is_valid, value.interval);
                found[at].values.push(TrackValue { record: place, is_valid, value: value.value, interval });
            }
        }
    }
    for track in &mut found {
        track.values.reverse();
        track.changes = changes(track);
    }
    found
}

fn empty(point: &str, value: &HistoryValue) -> Track {
    Track {
        point: point.to_owned(),
        metric: value.metric.clone(),
        title: value.title.clone(),
        unit: value.unit.clone(),
        more_is_better: value.more_is_better,
        values: Vec::new(),
        changes: Vec::new(),
    }
}

fn changes(track: &Track) -> Vec<LevelChange> {
    let valid: Vec<&TrackValue> = track.values.iter().filter(|value| value.is_valid).collect();
    let values: Vec<f64> = valid.iter().map(|value| value.value).collect();
    let seed = values.len() as u64;
    let change = |found: proofload_analysis::change_points::ChangePoint| LevelChange {
        record: valid[found.at].record,
        before: found.before,
        after: found.after,
        p: found.p,
        is_better: (found.after > found.before) == track.more_is_better,
    };
    change_points(&values, seed).into_iter().map(change).collect()
}

impl History {
    /// Every change with its track, newest first.
    pub fn changes(&self) -> Vec<(&Track, &LevelChange)> {
        let mut all: Vec<(&Track, &LevelChange)> =
            self.tracks.iter().flat_map(|track| track.changes.iter().map(move |change| (track, change))).collect();
        all.sort_by_key(|(_, change)| std::cmp::Reverse(change.record));
        all
    }
}

//! Results of one study by date: what is kept of each record, and where a figure changes its level. May not read files.

mod levels;
mod record;

pub use levels::{History, LevelChange, Track, TrackValue, history};
pub use record::{HistoryPoint, HistoryRecord, HistoryValue, history_record};

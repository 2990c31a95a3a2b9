//! The rule by which a record's windows are judged: that of its time, or today's when asked for.

use proofload_model::settings::{STANDARD, Value, setting};
use proofload_record::Record;

/// The setting that records have whose windows are judged by the movement that is shown in them.
const PRECISION: &str = setting::PROCEDURE_PRECISION;

/// Gives a record from before windows were judged by the movement that is shown in them what today's rule asks; leaves others alone.
pub fn judge_again(record: &mut Record) {
    if is_judged_by_movement(record) {
        return;
    }
    let spec = STANDARD.iter().find(|spec| spec.path == PRECISION);
    let default = spec.and_then(|spec| spec.kind.read_text(spec.default?).ok());
    if let Some(default @ Value::Number(_)) = default {
        record.study.settings.0.insert(PRECISION.to_owned(), default);
        record.judged_again = true;
    }
}

/// Whether windows are judged by the movement that is shown in them.
pub(crate) fn is_judged_by_movement(record: &Record) -> bool {
    record.study.settings.get(PRECISION).is_some()
}

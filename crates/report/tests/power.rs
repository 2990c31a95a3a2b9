//! Commits that a loss of the host's power may undo, beside what was tested, where the engine tells it.

use crate::support::{Shape, record};
use proofload_model::facts::engine::POWER_SAFE_COMMITS;
use proofload_report::{Format, render};

/// The Markdown report of two points whose runs have this answer and this reason.
fn page(answers: &[(bool, &str)]) -> String {
    let mut record = record(&Shape::memory(2));
    for (attempt, (is_safe, source)) in record.attempts.iter_mut().zip(answers) {
        attempt.facts.push(POWER_SAFE_COMMITS.observed(*is_safe, *source));
    }
    render(&record, Format::Markdown).expect("the record has points").replace('\u{a0}', " ")
}

const TOLD: &str = "commits may be lost when the host loses power: ";
const REASON: &str = "innodb_flush_log_at_trx_commit = 2";

/// Checks that the page tells it, or does not, with the reason before the appendix, in which all facts stand. Markdown escapes underscores.
#[track_caller]
fn check(answers: &[(bool, &str)], expected: bool) {
    let page = page(answers).replace('\\', "");
    let told: Vec<&str> = page.lines().filter(|line| line.contains(TOLD)).collect();
    assert_eq!(told.len(), usize::from(expected), "{told:?}");
    assert!(told.iter().all(|line| line.contains(REASON)), "{told:?}");
}

#[test]
fn a_report_tells_by_which_setting_commits_may_be_lost() {
    check(&[(false, REASON), (false, REASON)], true);
    check(&[(true, "the server"), (false, REASON)], true);
}

#[test]
fn a_report_is_silent_where_commits_are_safe_or_no_engine_tells_it() {
    check(&[(true, "the server"), (true, "the server")], false);
    check(&[], false);
}

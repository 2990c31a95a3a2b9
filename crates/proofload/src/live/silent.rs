//! No view, where none is wanted.

use super::view::{Phase, View};

/// Shows nothing.
pub(crate) struct Silent;

impl View for Silent {
    fn begin_run(&mut self, _run: u32) {}
    fn planned(&mut self, _labels: &[String]) {}
    fn phase(&mut self, _phase: Phase) {}
    fn progress(&mut self, _what: &str, _done: u64, _total: u64) {}
    fn interval(&mut self, _throughput: &[f64]) {}
    fn end_run(&mut self, _run: u32, _trouble: Option<&str>) {}
    fn close(&mut self) {}
}

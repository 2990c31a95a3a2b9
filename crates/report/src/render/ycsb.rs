//! Result lines in YCSB's own form, for scripts that read those: a block for each valid point, `[READ]` with service times and
//! `[Intended-READ]` with response times, microseconds. Void points are a comment. May not print a figure of a void point.

use crate::findings::{ClockTotals, Findings, KindTotals, PointFindings, Verdict, point_totals};

/// The text.
pub(crate) fn ycsb(findings: &Findings<'_>) -> String {
    let mut text = String::new();
    let (study, of) = (findings.record.study.name(), findings.points.len());
    for (index, point) in findings.points.iter().enumerate() {
        text.push_str(&format!("# {study}, point {} of {of}: {}\n", index + 1, one_line(&point.label())));
        match &point.verdict {
            Verdict::Valid => block(&mut text, findings, point),
            verdict => {
                let reasons: Vec<String> = verdict.reasons().iter().map(|reason| one_line(reason)).collect();
                text.push_str(&format!("# {}: {}\n", verdict.word(), reasons.join("; ")));
            }
        }
    }
    text
}

/// Text of a record must not begin a line of its own; spaces are plain ones.
fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() || letter.is_whitespace() { ' ' } else { letter }).collect()
}

fn block(text: &mut String, findings: &Findings<'_>, point: &PointFindings) {
    let totals = point_totals(findings, point);
    let done: u64 = totals.kinds.iter().map(|kind| kind.done).sum();
    text.push_str(&format!("[OVERALL], RunTime(ms), {}\n", totals.seconds * 1000));
    text.push_str(&format!("[OVERALL], Throughput(ops/sec), {}\n", done as f64 / totals.seconds as f64));
    for kind in &totals.kinds {
        let name = ycsb_name(&kind.kind);
        latencies(text, &name, &kind.service);
        returns(text, &name, kind);
        latencies(text, &format!("Intended-{name}"), &kind.response);
    }
}

/// A hyphen means a failure in YCSB's names, but in one.
fn ycsb_name(kind: &str) -> String {
    if kind == "read_modify_write" { "READ-MODIFY-WRITE".to_owned() } else { kind.to_uppercase() }
}

/// YCSB has no word for an operation that was due and never started: `Return=DROPPED` is ours.
fn returns(text: &mut String, name: &str, kind: &KindTotals) {
    for (status, count) in [("OK", kind.done), ("ERROR", kind.failed), ("DROPPED", kind.dropped)] {
        if count > 0 || status == "OK" {
            text.push_str(&format!("[{name}], Return={status}, {count}\n"));
        }
    }
}

fn latencies(text: &mut String, name: &str, clock: &ClockTotals) {
    let count = clock.merged.count();
    if count == 0 {
        return;
    }
    let least = clock.merged.buckets().first().map_or(0, |(value, _)| *value);
    let mut line = |what: &str, value: String| text.push_str(&format!("[{name}], {what}, {value}\n"));
    line("Operations", count.to_string());
    line("AverageLatency(us)", (clock.sum_ns as f64 / 1e3 / count as f64).to_string());
    line("MinLatency(us)", (least / 1000).to_string());
    line("MaxLatency(us)", (clock.max_ns / 1000).to_string());
    for (title, share) in [("50th", 0.5), ("95th", 0.95), ("99th", 0.99), ("99.9", 0.999)] {
        let ns = clock.merged.percentile(share).unwrap_or(0);
        line(&format!("{title}PercentileLatency(us)"), (ns / 1000).to_string());
    }
}

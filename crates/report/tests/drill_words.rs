//! What the report says of how the figures of drills are found: as the analysis finds them.

use crate::drills::drills;
use proofload_analysis::recovery::{BACK_FOR, ThroughputBefore, recovered_for_good};
use proofload_report::{Format, render};

fn page() -> String {
    render(&drills("remote_flush", &[0.5, 0.6]), Format::Markdown).expect("it is rendered").replace('\n', " ")
}

/// The first second from which throughput is back, after ten seconds without any, at a share of an even load before.
fn back_at(share: f64, before: &[f64]) -> Option<usize> {
    let after = [[0.0; BACK_FOR].as_slice(), &[100.0 * share; BACK_FOR]].concat();
    recovered_for_good(&after, &ThroughputBefore::of(before))
}

#[test]
fn when_users_count_as_recovered_is_told_as_it_is_judged() {
    let page = page();
    let told = "every 10 seconds in a row had a mean of 95 % of the earlier throughput, or of the least that 10 seconds \
                had before the fault if that is less, but not less than 90 %";
    assert!(page.contains(told), "{page}");
    assert!(!page.contains("by its interval. Degraded"), "nothing is judged by an interval: {page}");
    let even = [100.0; 30];
    assert_eq!([0.951, 0.949].map(|share| back_at(share, &even)), [Some(BACK_FOR), None]);
    // Ten seconds before the fault had 93 and 81 % of the mean, which is 100 in both.
    let with_least =
        |least: f64| [[least; BACK_FOR], [150.0 - least / 2.0; BACK_FOR], [150.0 - least / 2.0; BACK_FOR]].concat();
    assert_eq!([0.931, 0.929].map(|share| back_at(share, &with_least(93.0))), [Some(BACK_FOR), None]);
    assert_eq!([0.901, 0.899].map(|share| back_at(share, &with_least(81.0))), [Some(BACK_FOR), None]);
}

#[test]
fn over_what_the_prober_is_judged_late_stands_beside_the_outages() {
    let page = page();
    let told = "void if the prober was more than 50 ms late (99th percentile of a kind of operation over the whole run); \
                how late it was at the ends of an outage alone is not recorded";
    assert!(page.contains(told), "{page}");
}

//! Pages of every kind in a real browser under axe-core, which finds no violation. SKIPPED where no browser or no axe-core is installed
//! (`scripts/accessibility-needs.sh`).

use crate::support::axe::{axe, browser, violations};
use crate::support::replicated::replicated;
use crate::support::{Appliance, Shape, record, shapes, warehouse};
use proofload_record::Record;
use proofload_report::findings::comparison::{ComparisonFilter, NamedRecord, compare};
use proofload_report::{Appendix, ComparisonFormat, Format, ReportOptions, render_comparison, render_with};

fn page(record: &Record) -> String {
    let options = ReportOptions { appendix: Appendix::Full, ..ReportOptions::default() };
    render_with(record, Format::Html, options).expect("the record has points")
}

fn comparison_page() -> String {
    let (one, other) = (record(&Shape::memory(2)), record(&Shape { speed: 0.8, seed: 2, ..Shape::memory(2) }));
    let named = |file: &str, record| NamedRecord { file: file.to_owned(), sha256: "0".repeat(64), record };
    let compared = compare(named("a.proof", &one), named("b.proof", &other), &ComparisonFilter::default());
    render_comparison(&compared.expect("both measure the same"), ComparisonFormat::Html)
}

#[test]
fn pages_have_no_violation() {
    let (Some(browser), Some(axe)) = (browser(), axe()) else {
        println!("SKIPPED: no Chromium in PATH, or no axe-core (scripts/accessibility-needs.sh)");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder for pages");
    // A page takes a browser some 15 s of CPU, and those left out have no element that none of these has.
    let wanted = ["a void point", "no valid point", "words as levels", "two factors"];
    let sweeps = shapes()
        .into_iter()
        .filter(|(name, _)| wanted.contains(name))
        .map(|(name, shape)| (name, page(&record(&shape))));
    let others = [
        ("warehouse", page(&warehouse(&Appliance::stores()))),
        ("standbys", page(&replicated())),
        ("comparison", comparison_page()),
    ];
    let mut bad = Vec::new();
    for (name, page) in sweeps.chain(others) {
        let found = violations(&browser, &axe, name, &page, folder.path());
        if !found.starts_with("AXE 0") {
            bad.push(format!("{name}: {found}"));
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n\n"));
}

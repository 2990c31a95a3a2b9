//! Pages of every kind in a real browser under axe-core, which finds no violation. SKIPPED where no browser or no axe-core is installed
//! (`scripts/accessibility-needs.sh`).

mod support;

use proofload_record::Record;
use proofload_report::findings::comparison::{ComparisonFilter, NamedRecord, compare};
use proofload_report::{Appendix, ComparisonFormat, Format, ReportOptions, render_comparison, render_with};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use support::replicated::replicated;
use support::{Appliance, KeyValue, Shape, key_value, record, shapes, warehouse};

/// Programs that are a Chromium.
const BROWSERS: &[&str] = &["chromium", "chromium-browser", "google-chrome"];

/// Longest time of a page in the browser, tenths of a second.
const LONGEST_TENTHS: u32 = 1_200;

/// Runs axe-core in the page and leaves what it found in the document.
const RUN: &str = "axe.run({ resultTypes: ['violations'] }).then(function (found) { \
    var told = found.violations.map(function (one) { \
        return one.id + ': ' + one.help + ': ' + one.nodes.slice(0, 3).map(function (node) { return node.html.slice(0, 160); }).join(' | '); }); \
    var place = document.createElement('pre'); place.id = 'axe-found'; place.textContent = 'AXE ' + told.length + '\\n' + told.join('\\n'); \
    document.body.appendChild(place); });";

fn browser() -> Option<PathBuf> {
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    BROWSERS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|file| file.is_file())
}

fn axe() -> Option<String> {
    let named = std::env::var_os("PROOFLOAD_AXE").map(PathBuf::from);
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from);
    let data = data.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/share")));
    let file = named.or_else(|| Some(data?.join("proofload/axe.min.js")))?;
    std::fs::read_to_string(file).ok()
}

/// What axe-core finds in a page, with every fold open.
fn violations(browser: &Path, axe: &str, name: &str, page: &str, folder: &Path) -> String {
    let script = format!("<script>{}</script><script>{RUN}</script></body>", axe.replace("</script>", "<\\/script>"));
    let file = folder.join(format!("{}.html", name.replace([' ', ','], "-")));
    std::fs::write(&file, page.replace("</body>", &script)).expect("the folder is ours");
    let (profile, written) = (folder.join("profile"), folder.join("dom"));
    let to = std::fs::File::create(&written).expect("the folder is ours");
    let mut running = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=30000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", file.display()))
        .stdout(to)
        .stderr(Stdio::null())
        .spawn()
        .expect("the browser starts");
    for _ in 0..LONGEST_TENTHS {
        if running.try_wait().expect("it is our child").is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let _ended = running.kill();
    let _status = running.wait();
    let dom = std::fs::read_to_string(&written).unwrap_or_default();
    let found = dom.split("id=\"axe-found\">").nth(1).and_then(|rest| rest.split("</pre>").next());
    found.map_or_else(|| "the browser gave no answer".to_owned(), str::to_owned)
}

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
    let wanted = ["four points", "a void point", "no valid point", "words as levels", "two factors"];
    let sweeps = shapes()
        .into_iter()
        .filter(|(name, _)| wanted.contains(name))
        .map(|(name, shape)| (name, page(&record(&shape))));
    let others = [
        ("key-value", page(&key_value(&KeyValue::engines()))),
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

//! axe-core in a real browser: what it finds in a page. For tests of several crates.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

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

/// A browser on the PATH.
pub(crate) fn browser() -> Option<PathBuf> {
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    BROWSERS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|file| file.is_file())
}

/// The text of axe-core, where it is installed.
pub(crate) fn axe() -> Option<String> {
    let named = std::env::var_os("PROOFLOAD_AXE").map(PathBuf::from);
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from);
    let data = data.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/share")));
    let file = named.or_else(|| Some(data?.join("proofload/axe.min.js")))?;
    std::fs::read_to_string(file).ok()
}

/// What axe-core finds in a page, with every fold open.
pub(crate) fn violations(browser: &Path, axe: &str, name: &str, page: &str, folder: &Path) -> String {
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

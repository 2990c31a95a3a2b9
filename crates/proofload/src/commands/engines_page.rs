//! The page of engines: capabilities as the code has them, how each is tested, which parts of the self-test apply, versions that passed.
//! `docs/engines.md` is this page.

use proofload_engine::{Engine, engine};
use proofload_load::selftest::parts;
use proofload_model::catalogue::Capabilities;
use proofload_model::engines::{named_engine, named_engines, verified_words};

/// A column of capabilities: its title, and what stands in it.
type CapabilityColumn = (&'static str, fn(&Capabilities) -> String);

const COLUMNS: &[CapabilityColumn] = &[
    ("sessions", sessions),
    ("runs", place),
    ("snapshots", snapshots),
    ("`limits.memory` sets its memory", |found| word(found.memory_setting, "yes")),
    ("standbys", standbys),
    ("cache tier", tier),
];

/// What the words in the columns mean.
const LEGEND: &str = "Standbys: number of modes with instances that Proofload starts; at a URL: replication of your own server is checked. \
                      Cache tier: in process (SQLite), or as volumes (FUSE and loop devices, root).";

/// The whole page, as Markdown.
pub(super) fn engines_page() -> String {
    let mut page =
        "# Engines\n\nWritten by `cargo xtask engines` from what the code and `suites/` say: not by hand.\n\n\
        ## What each can do\n\n"
            .to_owned();
    let titles: Vec<&str> = ["engine"].into_iter().chain(COLUMNS.iter().map(|(title, _)| *title)).collect();
    page.push_str(&head(&titles));
    for (name, engine) in built_in() {
        let found = engine.facts().capabilities;
        let cells = COLUMNS.iter().map(|(_, cell)| cell(&found));
        page.push_str(&row([title(name)].into_iter().chain(cells)));
    }
    page.push_str(&format!("\n{LEGEND}\n"));
    page.push_str("\n## How each is tested\n\n");
    page.push_str(&head(&["engine", "its code", "on a server, by `proofload selftest`"]));
    for name in named_engines() {
        page.push_str(&row([title(name), tested(name), on_a_server(name)]));
    }
    page.push_str("\n## What the self-test looks at\n\n");
    let engines: Vec<_> = built_in().filter(|(_, engine)| engine.about().keeps_data).collect();
    let mut titles = vec!["part".to_owned()];
    titles.extend(engines.iter().map(|(name, _)| title(name)));
    page.push_str(&head(&titles));
    let mut reasons = Reasons::default();
    for part in parts() {
        let applies = engines.iter().map(|(_, engine)| reasons.cell((part.lacking)(*engine)));
        page.push_str(&row([part.name.to_owned()].into_iter().chain(applies)));
    }
    page.push_str(&reasons.note());
    page
}

/// Reasons for which parts do not apply, in the order in which a table refers to them by number.
#[derive(Default)]
struct Reasons(Vec<String>);

impl Reasons {
    /// What stands in a cell: that the part applies, or a dash with the number of the reason.
    fn cell(&mut self, lacking: Option<String>) -> String {
        let Some(reason) = lacking else { return "yes".to_owned() };
        let place = self.0.iter().position(|known| *known == reason).unwrap_or_else(|| {
            self.0.push(reason);
            self.0.len() - 1
        });
        format!("– ({})", place + 1)
    }

    /// The line below the table; empty where it refers to nothing.
    fn note(&self) -> String {
        let told: Vec<String> =
            self.0.iter().enumerate().map(|(place, reason)| format!("({}) {reason}", place + 1)).collect();
        if told.is_empty() { String::new() } else { format!("\nWhy a part is left out: {}.\n", told.join("; ")) }
    }
}

/// Engines that are built in and have a name for readers: no fixtures.
fn built_in() -> impl Iterator<Item = (&'static str, &'static dyn Engine)> {
    named_engines().filter_map(|name| Some((name, engine(name)?)))
}

fn snapshots(found: &Capabilities) -> String {
    match (found.file_snapshot, found.restore_at_url) {
        (true, _) => "files".to_owned(),
        (false, true) => "by the server, at a URL".to_owned(),
        (false, false) => word(false, ""),
    }
}

fn title(name: &str) -> String {
    named_engine(name).map_or_else(|| name.to_owned(), |known| known.title.clone())
}

fn tested(name: &str) -> String {
    let said = named_engine(name).and_then(|known| known.tested.clone());
    match engine(name) {
        None => "not built in: only read from records and imports".to_owned(),
        Some(_) => said.unwrap_or_else(|| "its description does not say".to_owned()),
    }
}

fn on_a_server(name: &str) -> String {
    match engine(name) {
        Some(engine) if engine.about().keeps_data => verified_words(name, None),
        _ => "–".to_owned(),
    }
}

fn word(holds: bool, word: &str) -> String {
    if holds { word.to_owned() } else { "–".to_owned() }
}

fn sessions(found: &Capabilities) -> String {
    match (found.sql, found.documents) {
        (true, true) => "SQL, documents".to_owned(),
        (true, false) => "SQL".to_owned(),
        (false, _) => "documents".to_owned(),
    }
}

fn place(found: &Capabilities) -> String {
    let places = [
        (found.embedded, "in the load agent"),
        (found.local_instance, "started locally"),
        (found.url, "reached by URL"),
    ];
    places.iter().filter(|(holds, _)| *holds).map(|(_, place)| *place).collect::<Vec<_>>().join(", ")
}

fn standbys(found: &Capabilities) -> String {
    let Some(replication) = &found.replication else { return word(false, "") };
    let by_url = if replication.by_url.is_empty() { "" } else { "at a URL" };
    let ours = if replication.modes.is_empty() { String::new() } else { format!("{} modes", replication.modes.len()) };
    [ours.as_str(), by_url].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ")
}

fn tier(found: &Capabilities) -> String {
    match (found.tier_in_process, found.tier_as_volumes()) {
        (true, _) => "in process".to_owned(),
        (false, true) => "as volumes".to_owned(),
        (false, false) => word(false, ""),
    }
}

fn head(titles: &[impl AsRef<str>]) -> String {
    let line: String = titles.iter().map(|title| format!(" {} |", title.as_ref())).collect();
    format!("|{line}\n|{}\n", "---|".repeat(titles.len()))
}

fn row(cells: impl IntoIterator<Item = String>) -> String {
    let line: String = cells.into_iter().map(|cell| format!(" {} |", cell.replace('|', "\\|"))).collect();
    format!("|{line}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_told_once_below_its_table() {
        let mut reasons = Reasons::default();
        assert_eq!(reasons.note(), "");
        let cells = [None, Some("no SQL"), Some("no queries"), Some("no SQL")];
        let cells = cells.map(|lacking| reasons.cell(lacking.map(str::to_owned)));
        assert_eq!(cells, ["yes", "– (1)", "– (2)", "– (1)"]);
        assert_eq!(reasons.note(), "\nWhy a part is left out: (1) no SQL; (2) no queries.\n");
    }
}

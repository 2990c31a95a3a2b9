//! The set-up as a drawing: who sends the load, over what, to which server, on which storage. From settings and facts alone.

use crate::blocks::{Chart, Column, Diagram, DiagramBox, Figure, Table, cells, prose};
use crate::findings::{Findings, level_text, size_text};
use crate::numbers::cores;
use crate::sections::facts::in_full::told;
use crate::sections::tested::setup::observes_server;
use proofload_model::facts::{FactName, engine, host, storage, tier};
use proofload_model::settings::{Value, setting};

/// The figure; `None` where neither engine nor storage is known.
pub(crate) fn figure(findings: &Findings<'_>) -> Option<Figure> {
    let boxes = boxes(findings);
    if boxes.len() < 2 {
        return None;
    }
    let words: Vec<String> = boxes.iter().map(|one| format!("{}: {}", one.title, one.lines.join(", "))).collect();
    let row = |one: &DiagramBox| cells![one.title.clone(), one.lines.join("; ")];
    Some(Figure {
        id: "figure-setup",
        caption: prose!["The set-up, as requested by the study and as found."],
        alt: format!("Boxes from left to right. {}.", words.join(". ")),
        data: Table {
            columns: ["Part", "Description"].map(Column::words).to_vec(),
            rows: boxes.iter().map(row).collect(),
            ..Table::default()
        },
        chart: Chart::Diagram(Diagram { boxes }),
    })
}

fn boxes(findings: &Findings<'_>) -> Vec<DiagramBox> {
    [load(findings), server(findings), cache(findings), drive(findings)].into_iter().flatten().collect()
}

/// Most levels that are listed one by one in a box.
const MOST_LEVELS: usize = 16;

/// A setting in words; its levels where it varies.
fn setting(findings: &Findings<'_>, path: &str) -> Option<String> {
    let varied: Vec<String> = findings
        .factors
        .iter()
        .filter(|factor| factor.setting == path)
        .flat_map(|factor| &factor.levels)
        .map(level_text)
        .collect();
    match varied.as_slice() {
        [] => findings.record.study.settings.get(path).map(level_text),
        [first, .., last] if varied.len() > MOST_LEVELS => Some(format!("{first} to {last}")),
        all => Some(all.join(", ")),
    }
}

fn load(findings: &Findings<'_>) -> Option<DiagramBox> {
    let settings = &findings.record.study.settings;
    let mut lines = vec![(findings.workload.name)(settings)];
    for (path, one, many) in findings.workload.scale {
        if let Some(count) = setting(findings, path) {
            lines.push(format!("{count} {}", if count == "1" { one } else { many }));
        }
    }
    lines.extend(setting(findings, setting::WORKLOAD_RATE).map(|rate| format!("{rate} operations/s")));
    Some(DiagramBox { title: "Load generator".to_owned(), lines, link: link(findings) })
}

/// What the load goes over.
fn link(findings: &Findings<'_>) -> String {
    let settings = &findings.record.study.settings;
    match settings.get(setting::ENGINE_URL) {
        Some(Value::Text(_)) => "network".to_owned(),
        _ if told(findings, &engine::INSTANCE_USER).is_some() => "socket".to_owned(),
        _ => "in process".to_owned(),
    }
}

fn server(findings: &Findings<'_>) -> Option<DiagramBox> {
    let kind = setting(findings, setting::ENGINE_KIND)?;
    let mut lines: Vec<String> = Vec::new();
    let version = told(findings, &engine::VERSION).or_else(|| told(findings, &engine::SERVER_VERSION));
    let title = version.filter(|_| !kind.contains(',')).map_or(kind.clone(), |version| {
        let number = version.split_whitespace().find(|word| word.starts_with(|letter: char| letter.is_ascii_digit()));
        number.map_or(kind.clone(), |number| format!("{kind} {number}"))
    });
    for (path, what) in [(setting::LIMITS_MEMORY, "memory"), (setting::LIMITS_CPU, "CPU s/s")] {
        lines.extend(setting(findings, path).map(|value| format!("{value} {what}")));
    }
    lines.extend(setting(findings, setting::LIMITS_CORES).map(|number| cores(&number)));
    let is_observed = observes_server(&findings.record.study.settings);
    if lines.is_empty() && !is_observed {
        lines.push("host not observed".to_owned());
    } else if lines.is_empty() {
        lines.extend(told(findings, &host::CORES).map(|number| cores(&number)));
        lines.extend(told(findings, &host::MEMORY).map(|memory| format!("{} memory", size_text(&memory))));
    }
    lines.extend(setting(findings, setting::REPLICATION_MODE).map(|mode| format!("standbys: {mode}")));
    Some(DiagramBox { title, lines, link: "files".to_owned() })
}

fn cache(findings: &Findings<'_>) -> Option<DiagramBox> {
    let mut lines = vec![told(findings, &tier::MEDIUM)?];
    lines.extend(told(findings, &tier::FLUSH_DELAY).map(|delay| format!("each flush delayed by {delay}")));
    Some(DiagramBox { title: "Cache tier".to_owned(), lines, link: "blocks".to_owned() })
}

fn drive(findings: &Findings<'_>) -> Option<DiagramBox> {
    let stated = findings.record.study.settings.text(setting::PAPER_DRIVE).ok().map(str::to_owned);
    let is_observed = observes_server(&findings.record.study.settings);
    let read = |name: &FactName| told(findings, name).filter(|_| is_observed);
    let model = read(&storage::DEVICE_MODEL).or(stated);
    let device = read(&storage::DEVICE);
    let title = model.or_else(|| device.clone())?;
    let mut lines: Vec<String> = device.into_iter().filter(|device| *device != title).collect();
    lines.extend(read(&storage::DEVICE_SIZE).map(|size| size_text(&size)));
    lines.extend(read(&storage::FILE_SYSTEM));
    let limits = [
        (setting::LIMITS_READ_IOPS, "reads/s"),
        (setting::LIMITS_WRITE_IOPS, "writes/s"),
        (setting::LIMITS_READ_BANDWIDTH, "read/s"),
        (setting::LIMITS_WRITE_BANDWIDTH, "written/s"),
    ];
    for (path, what) in limits {
        lines.extend(setting(findings, path).map(|value| format!("at most {value} {what}")));
    }
    Some(DiagramBox { title: format!("Drive {title}"), lines, link: String::new() })
}

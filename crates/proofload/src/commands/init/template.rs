//! The text of a first study, section by section, each line with what it does. The result is checked before it is returned.

use super::choice::{Choice, DatabasePlace, Vary, row};
use crate::catalogue::catalogue;
use crate::cli_first::InitWorkload;
use crate::commands::study_needs::StudyNeeds;
use proofload_model::engines::named_engine;
use proofload_model::settings::setting;
use proofload_model::study::{Study, faults_text, validate};

/// Where servers keep their data: as root, Proofload starts them as another user.
const SERVER_FOLDER: &str = "/var/tmp/proofload-data";

/// Writes a study that validates; the error says what in the answers does not.
pub(super) fn study_text(choice: &Choice, name: &str) -> Result<String, String> {
    let body = body(choice, name);
    let study = checked(&body)?;
    let needs = StudyNeeds::of(&study).map_err(|error| error.to_string())?;
    let text = format!("{}\n{body}", head(&study, &needs, name));
    checked(&text)?;
    Ok(text)
}

fn checked(text: &str) -> Result<Study, String> {
    let told = |faults: &[proofload_model::study::Fault]| {
        let without_lines = |fault: &proofload_model::study::Fault| {
            let mut fault = fault.clone();
            fault.line = None;
            fault
        };
        faults_text(&faults.iter().map(without_lines).collect::<Vec<_>>())
    };
    validate(text, &[], &catalogue())
        .map_err(|faults| format!("these answers do not make a valid study:\n{}", told(&faults).trim_end()))
}

/// The comment at the top: what it answers, what it takes, what to change.
fn head(study: &Study, needs: &StudyNeeds, name: &str) -> String {
    let mut lines = vec![format!("{}.", study.title()), String::new(), format!("As it stands: {}.", needs.time())];
    lines.extend(needs.needs().iter().map(|need| format!("It needs {need}.")));
    lines.push(String::new());
    lines.push(format!("Written by `proofload init`; edit it as you like. `proofload validate {name}.toml` lists"));
    lines.push("all faults, and `proofload schema --reference` all settings.".to_owned());
    lines.iter().map(|line| format!("# {line}").trim_end().to_owned() + "\n").collect()
}

fn body(choice: &Choice, name: &str) -> String {
    let sections = [
        study(choice, name),
        workload(choice),
        engine(choice),
        storage(choice),
        limits(choice),
        procedure(choice),
        factor(choice),
    ];
    sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n")
}

/// A text in quotes; what JSON writes, TOML reads.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Keys beyond this many letters have their comment on a line before them.
const COLUMN: usize = 34;

/// Lines of keys with their comments in one column.
fn lines(rows: &[(&str, &str)]) -> String {
    let width = rows.iter().map(|(key, _)| key.len()).filter(|width| *width <= COLUMN).max().unwrap_or_default();
    let line = |(key, comment): &(&str, &str)| match comment {
        &"" => format!("{key}\n"),
        comment if key.len() > COLUMN => format!("# {comment}\n{key}\n"),
        comment => format!("{key:<width$}  # {comment}\n"),
    };
    rows.iter().map(line).collect()
}

fn study(choice: &Choice, name: &str) -> String {
    let title = quoted(&title(choice));
    let rows = [
        (format!("name = {}", quoted(name)), "names the record and the folder of the data"),
        (format!("title = {title}"), ""),
        ("repetitions = 1".to_owned(), "use 3 or more to see how much runs differ"),
    ];
    let rows: Vec<(&str, &str)> = rows.iter().map(|(key, comment)| (key.as_str(), *comment)).collect();
    format!("[study]\n{}", lines(&rows))
}

fn title(choice: &Choice) -> String {
    let result = row(choice.workload).result;
    let engine = choice.place.engine();
    let engine = named_engine(engine).map_or_else(|| engine.to_owned(), |engine| engine.title.clone());
    match &choice.vary {
        Vary::Memory => format!("{result} by database memory, on {engine}"),
        Vary::Users => format!("{result} by number of users, on {engine}"),
        Vary::Cache => format!("{result} by cache size, on {engine}"),
        Vary::Setting { path, .. } => format!("{result} by {path}, on {engine}"),
        Vary::Nothing => format!("{result}, on {engine}"),
    }
}

fn workload(choice: &Choice) -> String {
    // As much larger as the engine's smallest memory is.
    let records = 200_000 * least_memory(choice) / LEAST_MEMORY;
    let (records, size) =
        (format!("records = {records}"), format!("10 fields of 100 characters each: about {} MB", records / 1_000));
    let rows: &[(&str, &str)] = match choice.workload {
        InitWorkload::Oltp => &[
            ("kind = \"tprocc\"", "orders, payments and status queries"),
            ("warehouses = 4", "size of the data, about 100 MB each"),
            ("virtual_users = 4", "concurrent sessions"),
            ("pacing = \"saturated\"", "the next transaction starts at once; \"paced\" has keying and think times"),
        ],
        InitWorkload::KeyValue => &[
            ("kind = \"ycsb\"", ""),
            ("mix = \"a\"", "half reads, half updates; b to f are the other YCSB mixes"),
            (&records, &size),
            ("virtual_users = 4", "concurrent sessions"),
        ],
        InitWorkload::Warehouse => &[
            ("kind = \"warehouse\"", ""),
            ("scale_factor = 0.1", "size of the data: 1 is about 1.1 GB of text"),
            ("streams = 1", "users, each running one query after another"),
            ("rounds = 3", "times that each stream runs all 22 queries; then the run ends"),
            ("query_cap = \"60s\"", "a query that takes longer is cancelled and counts as failed"),
        ],
        InitWorkload::CacheTier => &[
            ("kind = \"tprocc\"", "orders, payments and status queries"),
            ("warehouses = 2", "size of the data, about 100 MB each"),
            ("virtual_users = 4", "concurrent sessions"),
            ("pacing = \"saturated\"", "the next transaction starts at once"),
        ],
    };
    format!("[workload]\n{}", lines(rows))
}

fn engine(choice: &Choice) -> String {
    let kind = format!("kind = {}", quoted(choice.place.engine()));
    let facts = proofload_engine::engine(choice.place.engine()).map(|engine| engine.facts());
    match &choice.place {
        DatabasePlace::Server { url, .. } => {
            let password = facts.and_then(|facts| facts.password).unwrap_or("not needed");
            let url = format!("url = {}", quoted(url));
            let rows = [(kind.as_str(), ""), (url.as_str(), "Proofload starts nothing and uses only this database")];
            format!("[engine]\n{}# Password: {password}. Never put it in this file.\n", lines(&rows))
        }
        DatabasePlace::Engine(_) => {
            let is_embedded = facts.is_some_and(|facts| facts.capabilities.embedded);
            let how = if is_embedded { "embedded: there is no server" } else { "Proofload starts and stops it" };
            let queue = ("writers = \"queue\"", "writers are served in order, as in a server");
            let mut rows = vec![(kind.as_str(), how)];
            rows.extend(takes_turns(choice).then_some(queue));
            let mut text = format!("[engine]\n{}", lines(&rows));
            let cache = named_engine(choice.place.engine()).and_then(|known| known.cache.first());
            let is_small = takes_turns(choice) && choice.workload == InitWorkload::CacheTier;
            if let Some(cache) = cache.filter(|_| is_small) {
                let why = "of each session: small compared with the data, so that reads reach the tier";
                text += &format!("\n[engine.settings]\n{cache} = \"8MiB\"  # {why}\n");
            }
            text
        }
    }
}

/// Whether one writer at a time is this engine's way, and several users write.
fn takes_turns(choice: &Choice) -> bool {
    choice.place.engine() == "sqlite" && choice.workload != InitWorkload::Warehouse
}

fn storage(choice: &Choice) -> String {
    if choice.place.is_server() {
        return String::new();
    }
    let facts = proofload_engine::engine(choice.place.engine()).map(|engine| engine.facts());
    let is_embedded = facts.is_some_and(|facts| facts.capabilities.embedded);
    let path = format!("path = {}", quoted(if is_embedded { "proofload-data" } else { SERVER_FOLDER }));
    let about = if is_embedded {
        "folder for data and snapshots, on the drive under test"
    } else {
        "on the drive under test; the server's user needs access"
    };
    let mut rows = vec![(path.as_str(), about)];
    if choice.workload != InitWorkload::CacheTier {
        return format!("[storage]\n{}", lines(&rows));
    }
    rows.push(("kind = \"tier\"", "modelled slow drives with a cache in front"));
    if !is_embedded {
        rows.push(("volume = \"2GiB\"", "size of the slow volume: data and snapshot"));
    }
    let slow = [
        ("drive = \"7.2k\"", "modelled hard disks with 7,200 rpm"),
        ("raid = \"raid-5\"", ""),
        ("drives = 8", ""),
        ("write_cache = \"64MiB\"", "battery-backed, in the controller"),
    ];
    let mut text = format!("[storage]\n{}\n[storage.slow]\n{}", lines(&rows), lines(&slow));
    if choice.vary != Vary::Cache {
        let cache = [
            ("percent = 30", "size of the cache in percent of the data"),
            ("accelerate = [\"data\"]", "what to cache: data, log"),
        ];
        text.push_str(&format!("\n[storage.cache]\n{}", lines(&cache)));
    }
    text
}

fn limits(choice: &Choice) -> String {
    if choice.vary != Vary::Memory {
        return String::new();
    }
    let rows =
        [("when_refused = \"without\"", "without permission to set limits, run without them; the title says so")];
    format!(
        "[limits]\n{}# cores = 2, cpu = 0.5, read_iops = 1000 and others: proofload schema --reference\n",
        lines(&rows)
    )
}

fn procedure(choice: &Choice) -> String {
    if choice.workload == InitWorkload::Warehouse {
        let rows = [("restore = \"never\"", "queries change nothing; each run starts cold")];
        return format!("[procedure]\n{}", lines(&rows));
    }
    let restore = if choice.place.is_server() {
        (
            "restore = \"never\"",
            "an existing server cannot be restored: each point continues with the data of the last one",
        )
    } else {
        ("restore = \"every-run\"", "each point starts from the same data")
    };
    let mut rows = vec![restore];
    if !choice.place.is_server() {
        rows.push(("prewarm = true", "read the data once before the load"));
    }
    rows.push(("warm_up.at_least = \"10s\"", "load before the measurement"));
    rows.push(("measure = \"30s\"", "longer gives a narrower interval of the result"));
    format!("[procedure]\n{}", lines(&rows))
}

fn factor(choice: &Choice) -> String {
    let (setting, levels) = match &choice.vary {
        Vary::Nothing => return String::new(),
        Vary::Memory => (setting::LIMITS_MEMORY.to_owned(), memory_levels(least_memory(choice))),
        Vary::Users => (row(choice.workload).users.to_owned(), users(choice).to_owned()),
        Vary::Cache => (
            "storage.cache".to_owned(),
            "[\n    { percent = 0 },\n    { percent = 30, accelerate = [\"data\"] },\n    { percent = 120, accelerate = [\"data\", \"log\"] },\n]"
                .to_owned(),
        ),
        Vary::Setting { path, levels } => (path.clone(), levels.clone()),
    };
    format!("[[factor]]  # one point for each level\nsetting = {}\nlevels = {levels}\n", quoted(&setting))
}

/// The smallest level of memory in MiB: what is small beside the data, or what the engine needs at least.
fn least_memory(choice: &Choice) -> u64 {
    let engine = proofload_engine::engine(choice.place.engine());
    let least = engine.map_or(0, |engine| engine.facts().minimum_memory_bytes).div_ceil(1 << 20);
    least.max(LEAST_MEMORY).next_power_of_two()
}

/// The smallest level where the engine needs less, MiB.
const LEAST_MEMORY: u64 = 64;

/// Four levels, each twice the last.
fn memory_levels(least: u64) -> String {
    let levels: Vec<String> = (0..4).map(|doubled| format!("\"{}MiB\"", least << doubled)).collect();
    format!("[{}]", levels.join(", "))
}

/// Numbers of users: each stream of queries works on a core of its own, others wait for drives.
const fn users(choice: &Choice) -> &'static str {
    match choice.workload {
        InitWorkload::Warehouse => "[1, 2, 4]",
        InitWorkload::Oltp | InitWorkload::KeyValue | InitWorkload::CacheTier => "[1, 2, 4, 8]",
    }
}

#[cfg(test)]
mod tests {
    use super::super::choice::{WORKLOADS, may_vary};
    use super::*;
    use proofload_model::plan::expand;

    /// Every workload on every place with everything that may vary there.
    fn choices() -> Vec<Choice> {
        let mut all = Vec::new();
        for row in WORKLOADS {
            let here = row.engines.iter().map(|engine| DatabasePlace::Engine((*engine).to_owned()));
            let servers = row.servers.iter().map(|engine| DatabasePlace::Server {
                engine: (*engine).to_owned(),
                url: format!("{engine}://bench@db1/bench"),
            });
            for place in here.chain(servers) {
                for word in may_vary(row, place.is_server()) {
                    let text = if word == "setting" { "workload.client_threads=[1, 2]" } else { word };

                    let vary = Vary::parse(text).unwrap();
                    all.push(Choice { workload: row.workload, place: place.clone(), vary });
                }
            }
        }
        all
    }

    #[test]
    fn every_combination_is_valid_planned_and_explained() {
        let all = choices();
        assert!(all.len() > 40, "{}", all.len());
        for choice in all {
            let text = study_text(&choice, "first").unwrap_or_else(|text| panic!("{choice:?}: {text}"));
            let study = validate(&text, &[], &catalogue()).unwrap_or_else(|faults| panic!("{choice:?}: {faults:?}"));
            let points = expand(&study).points.len();
            assert_eq!(points == 1, choice.vary == Vary::Nothing, "{choice:?}: {points} points");
            assert!(text.starts_with("# ") && text.contains("\n# As it stands: "), "{text}");
            let long = text.lines().find(|line| line.chars().count() > 120);
            assert_eq!(long, None, "{choice:?}");
        }
    }

    #[test]
    fn a_password_is_refused_and_not_repeated() {
        for url in ["postgresql://bench:s3cret@db1/bench", "postgresql://db1/bench?password=s3cret"] {
            let place = DatabasePlace::Server { engine: "postgresql".to_owned(), url: url.to_owned() };
            let choice = Choice { workload: InitWorkload::Oltp, place, vary: Vary::Users };
            let text = study_text(&choice, "first").unwrap_err();
            assert!(text.contains("engine.url: contains a password") && text.contains("PGPASSWORD"), "{text}");
            assert!(!text.contains("s3cret"), "{text}");
        }
    }

    #[test]
    fn a_setting_that_is_not_known_is_named_with_the_nearest() {
        let vary = Vary::parse("workload.virtual_user=[1]").unwrap();
        let choice = Choice { workload: InitWorkload::Oltp, place: DatabasePlace::Engine("sqlite".to_owned()), vary };
        let text = study_text(&choice, "first").unwrap_err();
        assert!(text.contains("did you mean workload.virtual_users?"), "{text}");
    }
}

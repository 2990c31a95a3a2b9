//! The table of planted causes as `docs/measured.md` has it, and the sums above it.

use super::plants::Plant;
use super::score::{CauseNames, NamingScore, ResourceOutcome};

/// Head of the table.
const HEAD: &str = "| # | engine, load and limit | planted cause | confirmed | verdict | highest utilisation | right | run |\n|---|---|---|---|---|---|---|---|";

/// Names of resources in the table.
const NAMES: &[(&str, &str)] = &[
    ("limits.cpu", "CPU time"),
    ("limits.cores", "cores"),
    ("limits.thread_cpu", "CPU time of the role"),
    ("limits.memory", "memory"),
    ("limits.read_iops", "read IOPS"),
    ("limits.write_iops", "write IOPS"),
    ("limits.read_bandwidth", "read bandwidth"),
    ("limits.write_bandwidth", "write bandwidth"),
    ("clients.cpu", "CPU time of the load generator"),
    ("clients.rtt", "round trip"),
    ("clients.bandwidth", "bandwidth of the users"),
    ("storage.flush_delay", "commit latency"),
    ("workload.hot_rows", "rows"),
    ("workload.hold", "hold"),
    ("workload.pool", "pool"),
    ("engine.cache", "cache"),
    ("engine.autovacuum", "autovacuum"),
    ("engine.checkpoints", "checkpoints"),
    ("engine.page_flushing", "page flushing"),
];

/// A plant that was run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PlantOutcome {
    /// The plant.
    pub(super) plant: Plant,
    /// What is said of its decoy in the cell of the study; empty where it is to have none.
    pub(super) decoy: String,
    /// What was named, or why nothing could be.
    pub(super) named: Result<CauseNames, String>,
    /// The day on which it ran.
    pub(super) day: String,
}

impl PlantOutcome {
    /// Its row.
    pub(super) fn row(&self) -> String {
        let Self { plant: Plant { number, title, expected, .. }, decoy, named, day } = self;
        let head = format!("| {number} | {title}{} | {} |", cell(decoy), planted(expected));
        match named {
            Err(error) => format!("{head} failed: {} | failed | not kept | not kept | {day} |", cell(error)),
            Ok(named) => format!(
                "{head} {} | {} | {} | {} | {day}, {} blocks, {:.0} % |",
                confirmed(named, expected),
                named.score(expected).word(),
                named.fullest().map_or("none", name_of),
                if self.is_fullest_right() { "yes" } else { "no" },
                named.blocks,
                100.0 * named.step
            ),
        }
    }

    /// Whether "highest utilisation wins" gives one of the right names.
    fn is_fullest_right(&self) -> bool {
        let fullest = self.named.as_ref().ok().and_then(CauseNames::fullest);
        fullest.is_some_and(|name| self.plant.expected.contains(&name))
    }

    /// Every resource with its elasticity and verdict, for whoever waits.
    pub(super) fn details(&self) -> String {
        let Plant { number, title, expected, .. } = &self.plant;
        let head = format!("{number}, {title}{}:", self.decoy);
        match &self.named {
            Err(error) => format!("{head} failed: {error}"),
            Ok(named) => {
                let all: Vec<String> = named.resources.iter().map(with_verdict).collect();
                let (word, observed) = (named.score(expected).word(), named.observed.as_deref().unwrap_or("none"));
                format!("{head} {word}; {}; observed first: {observed}", all.join("; "))
            }
        }
    }
}

/// How many plants were named how well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PlantSums {
    /// Plants that were run to the end.
    run: usize,
    /// Plants that were named in full and nothing else.
    full: usize,
    /// Plants with a wrong name confirmed.
    pub(super) wrong: usize,
    /// Plants that were not run to the end.
    failed: usize,
    /// Plants whose fullest limit is among the right names.
    fullest: usize,
    /// Plants with one right name.
    single: usize,
    /// Plants with one right name, which is that of the fullest limit.
    fullest_single: usize,
}

impl PlantSums {
    /// The sums over these.
    pub(super) fn of(outcomes: &[PlantOutcome]) -> Self {
        let mut sums = Self::default();
        for outcome in outcomes {
            let Ok(named) = &outcome.named else {
                sums.failed += 1;
                continue;
            };
            let (score, expected) = (named.score(outcome.plant.expected), outcome.plant.expected);
            let (is_right, is_single) = (outcome.is_fullest_right(), expected.len() == 1);
            sums.run += 1;
            sums.full += usize::from(score == NamingScore::Full);
            sums.wrong += usize::from(score == NamingScore::Wrong);
            sums.fullest += usize::from(is_right);
            sums.single += usize::from(is_single);
            sums.fullest_single += usize::from(is_right && is_single);
        }
        sums
    }

    /// The sums in words.
    pub(super) fn words(self) -> String {
        let Self { run, full, wrong, failed, fullest, single, fullest_single } = self;
        format!(
            "**{full} of {run} are named in full and nothing else; a wrong name is confirmed in {wrong}.** *Highest utilisation wins* gives one of the \
             right names in {fullest} of {run}, and the whole cause in {fullest_single} of the {single} that have one name. {failed} failed."
        )
    }
}

/// The table and its sums as the document has them.
pub(super) fn document(outcomes: &[PlantOutcome]) -> String {
    let mut ordered: Vec<&PlantOutcome> = outcomes.iter().collect();
    ordered.sort_by_key(|outcome| outcome.plant.number);
    let rows: Vec<String> = ordered.into_iter().map(PlantOutcome::row).collect();
    format!("{}\n\n{HEAD}\n{}\n", PlantSums::of(outcomes).words(), rows.join("\n"))
}

/// Expected resources in words.
fn planted(expected: &[&str]) -> String {
    expected.iter().map(|name| name_of(name)).collect::<Vec<_>>().join(", ")
}

/// What was confirmed, and what is said of expected resources that were not.
fn confirmed(named: &CauseNames, expected: &[&str]) -> String {
    let mut said: Vec<String> = named.confirmed().map(in_bold).collect();
    if said.is_empty() {
        said.push("nothing".to_owned());
    }
    let is_missed = |one: &&ResourceOutcome| one.verdict != "confirmed" && expected.contains(&one.name.as_str());
    said.extend(named.resources.iter().filter(is_missed).map(with_verdict));
    said.join("; ")
}

fn in_bold(one: &ResourceOutcome) -> String {
    let bound = if one.is_bound { ", a bound" } else { "" };
    format!("**{}**{}{bound}", name_of(&one.name), elasticity(one))
}

fn with_verdict(one: &ResourceOutcome) -> String {
    format!("{}{} {}", name_of(&one.name), elasticity(one), one.verdict)
}

/// Elasticity with its interval, after a space; empty where there is none.
fn elasticity(one: &ResourceOutcome) -> String {
    one.elasticity.map_or_else(String::new, |[value, low, high]| {
        format!(" {} [{}, {}]", signed(value), signed(low), signed(high))
    })
}

/// A number with two digits after the point and a minus sign as in print.
fn signed(value: f64) -> String {
    let text = format!("{value:.2}");
    if text == "-0.00" { "0.00".to_owned() } else { text.replace('-', "−") }
}

/// The name of a resource in the table.
pub(super) fn name_of(resource: &str) -> &str {
    NAMES.iter().find(|(known, _)| *known == resource).map_or(resource, |(_, name)| name)
}

/// Text that ends no cell.
fn cell(text: &str) -> String {
    text.replace('|', "/").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::plants::PLANTS;
    use super::*;

    /// The document that holds the table of the last full run.
    const MEASURED: &str = include_str!("../../../docs/measured.md");

    fn resource(name: &str, verdict: &str, elasticity: [f64; 3], reached: Option<f64>) -> ResourceOutcome {
        let (name, verdict) = (name.to_owned(), verdict.to_owned());
        let is_bound = ["engine.autovacuum", "engine.checkpoints"].contains(&name.as_str());
        ResourceOutcome { name, verdict, is_bound, elasticity: Some(elasticity), reached }
    }

    fn outcome(number: u32, resources: Vec<ResourceOutcome>) -> PlantOutcome {
        let plant = *PLANTS.iter().find(|plant| plant.number == number).unwrap();
        let named = CauseNames { resources, observed: None, blocks: 6, step: 0.3 };
        PlantOutcome { plant, decoy: String::new(), named: Ok(named), day: "2026-12-01".to_owned() }
    }

    fn made_up() -> Vec<PlantOutcome> {
        let failed = PlantOutcome { named: Err("run ended | badly\n with 1".to_owned()), ..outcome(9, Vec::new()) };
        let cpu = |verdict: &str| resource("limits.cpu", verdict, [1.04, 0.9, 1.181], Some(0.99));
        vec![
            outcome(
                24,
                vec![
                    resource("limits.read_iops", "confirmed", [0.94, 0.65, 1.22], Some(0.98)),
                    resource("limits.memory", "contributes", [0.7, 0.48, 0.92], None),
                    resource("users", "refuted", [-0.004, -0.2, 0.1], None),
                ],
            ),
            outcome(1, vec![cpu("confirmed")]),
            outcome(40, vec![resource("engine.checkpoints", "confirmed", [6.85, 6.62, 7.08], None), cpu("refuted")]),
            outcome(9, vec![cpu("confirmed")]),
            failed,
        ]
    }

    #[test]
    fn rows_tell_what_was_confirmed_beside_the_baseline() {
        let rows: Vec<String> = made_up().iter().map(PlantOutcome::row).collect();
        assert_eq!(
            rows[0],
            "| 24 | PostgreSQL, uniform reads of a set somewhat larger than memory, read IOPS 400 | memory, read IOPS \
             | **read IOPS** 0.94 [0.65, 1.22]; memory 0.70 [0.48, 0.92] contributes | part | read IOPS | yes | 2026-12-01, 6 blocks, 30 % |"
        );
        assert_eq!(
            rows[1],
            "| 1 | PostgreSQL, cached reads, CPU time 0.4 | CPU time | **CPU time** 1.04 [0.90, 1.18] | full | CPU time | yes \
             | 2026-12-01, 6 blocks, 30 % |"
        );
        assert!(
            rows[2].contains("| **checkpoints** 6.85 [6.62, 7.08], a bound | part | CPU time | no |"),
            "{}",
            rows[2]
        );
        assert!(rows[3].contains("| **CPU time** 1.04 [0.90, 1.18] | wrong | CPU time | no |"), "{}", rows[3]);
        assert!(rows[4].contains("| failed: run ended / badly with 1 | failed | not kept |"), "{}", rows[4]);
    }

    #[test]
    fn nothing_confirmed_is_said_with_what_was_expected() {
        let untested = ResourceOutcome { elasticity: None, ..resource("limits.cpu", "not tested", [0.0; 3], None) };
        let silent = PlantOutcome { decoy: "; decoy: users".to_owned(), ..outcome(1, vec![untested]) };
        let expected = "| 1 | PostgreSQL, cached reads, CPU time 0.4; decoy: users | CPU time | nothing; CPU time not tested | none | none | no \
                        | 2026-12-01, 6 blocks, 30 % |";
        assert_eq!(silent.row(), expected);
        assert!(silent.details().contains("decoy: users: none; CPU time not tested; observed first: none"));
    }

    #[test]
    fn the_document_is_in_order_under_its_sums() {
        let text = document(&made_up());
        let sums = "**1 of 4 are named in full and nothing else; a wrong name is confirmed in 1.** *Highest utilisation wins* gives one of the \
                    right names in 2 of 4, and the whole cause in 1 of the 2 that have one name. 1 failed.";
        assert!(text.starts_with(&format!("{sums}\n\n{HEAD}\n| 1 |")), "{text}");
        let numbers: Vec<&str> = text.lines().skip(4).filter_map(|line| line.split(" | ").next()).collect();
        assert_eq!(numbers, ["| 1", "| 9", "| 9", "| 24", "| 40"]);
    }

    /// Cells of the rows of the table in the document.
    fn kept_rows() -> Vec<Vec<&'static str>> {
        let (_, table) = MEASURED.split_once(HEAD).expect("docs/measured.md has the table with the head of this chore");
        let rows = table.lines().skip(1).take_while(|line| line.starts_with("| "));
        rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
    }

    #[test]
    fn the_kept_table_has_every_plant_with_its_cause() {
        let rows = kept_rows();
        assert_eq!(rows.len(), PLANTS.len());
        for (row, plant) in rows.iter().zip(PLANTS) {
            let cause = planted(plant.expected);
            assert_eq!((row.len(), row[0], row[2]), (8, plant.number.to_string().as_str(), cause.as_str()));
        }
    }

    #[test]
    fn the_kept_sums_are_those_of_the_kept_rows() {
        let rows = kept_rows();
        let count = |column: usize, word: &str| rows.iter().filter(|row| row[column] == word).count();
        let single: Vec<&Vec<&str>> = rows.iter().filter(|row| !row[2].contains(", ")).collect();
        let sums = PlantSums {
            run: rows.len() - count(4, "failed"),
            full: count(4, "full"),
            wrong: count(4, "wrong"),
            failed: count(4, "failed"),
            fullest: count(6, "yes"),
            single: single.len(),
            fullest_single: single.iter().filter(|row| row[6] == "yes").count(),
        };
        assert!(MEASURED.contains(&sums.words()), "docs/measured.md does not say: {}", sums.words());
        let is_judged_rightly = |row: &&Vec<&str>| (row[6] == "yes") == row[2].split(", ").any(|name| name == row[5]);
        assert!(rows.iter().all(|row| is_judged_rightly(&row)), "a baseline is judged wrongly");
    }
}

//! Writes the page: the answer for all five first, then each paper with its relations. May not judge.

use super::description::{ClaimOfRatio, Paper, Relation};
use super::measured::{self, Ratio};
use super::run::PaperEvidence;
use super::verdict::{RatioHere, RelationVerdict};
use serde_json::Value;
use std::fmt::Write as _;

const HEAD: &str = "\
# The five published studies, repeated

Five vendor papers, each beside its quick study on a small shared machine. Absolute figures cannot agree: other hardware, other databases, a thousandth of the size. Compared are
*relations*: how much of the throughput an eighth of the memory keeps, what a cache or a standby is worth. A relation has the *same direction* if the whole 95 % interval of our ratio lies on
the published side of 1 (or around 1, where the paper shows a plateau), and the *same size* if besides the published ratio lies inside that interval or within a factor of 1.5 of ours. It is *other* if the
interval lies elsewhere, and *cannot be told* otherwise. A paper is as much alike as the least alike of its relations.

What the words do not cover: the relations were chosen by us, most of them one or two for each paper; *same direction* is a sign and says nothing of how much; a factor of 1.5 is wide for ratios near 1; no
publication gives an interval, so that chance in its own figures is not counted; that the *cause* is the same is not said by any of them. What bound the points here is told below where it was tested.
P1 to P3 are one run each: their intervals cover the variation within a run, not between runs, so their *same direction* and *same size* rest on that alone. P4 and P5 have repetitions.

This page is made from the records beside it: `make papers` runs the five studies and writes it anew (at most 90 min on two cores), `cargo xtask papers check` proves records, signatures and page.

";

/// The whole page; `evidence` proves and reads the record of a paper.
pub(super) fn page(
    papers: &[Paper],
    evidence: impl Fn(&Paper) -> Result<PaperEvidence, String>,
) -> Result<String, String> {
    let mut summary =
        "| paper | question | verdict | relations of the same direction | of the same size |\n|---|---|---|---|---|\n"
            .to_owned();
    let mut sections = String::new();
    for paper in papers {
        let evidence = evidence(paper)?;
        let judged: Vec<JudgedRelation<'_>> =
            paper.relations.iter().map(|relation| judge(relation, &evidence.report)).collect();
        let verdict = RelationVerdict::of_all(judged.iter().map(|one| one.verdict));
        let count = |wanted: RelationVerdict| judged.iter().filter(|one| one.verdict == wanted).count();
        let (size, all) = (count(RelationVerdict::SameSize), judged.len());
        let direction = size + count(RelationVerdict::SameDirection);
        let (id, title, words) = (&paper.id, &paper.title, verdict.words());
        let line = format!("| {id} | {title} | **{words}** | {direction} of {all} | {size} of {all} |\n");
        summary.push_str(&line);
        let reasons =
            judged.iter().map(|one| reason(&paper.id, one, &evidence.report)).collect::<Result<String, _>>()?;
        section(&mut sections, paper, &evidence, (&judged, verdict, &reasons)).map_err(|error| error.to_string())?;
    }
    Ok(format!("{HEAD}{summary}{sections}"))
}

/// A relation with what we found.
struct JudgedRelation<'p> {
    relation: &'p Relation,
    found: Result<Ratio, String>,
    verdict: RelationVerdict,
}

fn judge<'p>(relation: &'p Relation, report: &Value) -> JudgedRelation<'p> {
    let found = measured::ratio(report, &relation.here.of, &relation.here.to);
    let here = found.as_ref().ok().and_then(|ratio| {
        let interval = ratio.interval.clone().ok()?;
        Some(RatioHere { value: ratio.value, interval })
    });
    let verdict = here
        .map_or(RelationVerdict::Unknown, |here| RelationVerdict::of(relation.expected, relation.published(), here));
    JudgedRelation { relation, found, verdict }
}

/// Why a relation is other than published, as a paragraph behind an empty line; empty of those that are not.
fn reason(paper: &str, one: &JudgedRelation<'_>, report: &Value) -> Result<String, String> {
    if one.verdict != RelationVerdict::Other {
        return Ok(String::new());
    }
    let name = &one.relation.name;
    let Some(why) = &one.relation.why else {
        return Err(format!("docs/papers/papers.json: {paper}: {name} is other than published and has no `why`"));
    };
    let beside = one.relation.beside.as_ref().map_or_else(String::new, |beside| {
        let found = measured::ratio(report, &beside.here.of, &beside.here.to);
        let found = found.as_ref().map_or_else(|why| format!("none: {why}"), shown);
        format!(" Beside it, {}: {found}.", beside.name)
    });
    Ok(format!("\n*Why other, {name}*: {why}{beside}\n"))
}

fn section(
    into: &mut String,
    paper: &Paper,
    evidence: &PaperEvidence,
    (judged, verdict, why_other): (&[JudgedRelation<'_>], RelationVerdict, &str),
) -> std::fmt::Result {
    writeln!(into, "\n## {} · {}\n", paper.id, paper.title)?;
    let of = |wanted: RelationVerdict| judged.iter().filter(move |one| one.verdict == wanted);
    let other: Vec<&str> = of(RelationVerdict::Other).map(|one| one.relation.name.as_str()).collect();
    let reasons = match (other.as_slice(), of(RelationVerdict::Unknown).count()) {
        ([], 0) => "no relation is other than published".to_owned(),
        ([], open) => format!("{open} of {} relations cannot be told; the table says why", judged.len()),
        (other, 0) => format!("not as published: {}", other.join("; ")),
        (other, open) => format!("not as published: {}; {open} more cannot be told", other.join("; ")),
    };
    writeln!(into, "**{}**: {reasons}.\n", capital(verdict.words()))?;
    if let Some(answer) =
        evidence.report.pointer("/answer/answer").and_then(Value::as_str).filter(|text| !text.is_empty())
    {
        writeln!(into, "Our record's answer: {answer}\n")?;
    }
    writeln!(
        into,
        "| relation | published | here [95 % interval] | published ÷ here | n | |\n|---|---|---|---|---|---|"
    )?;
    for one in judged {
        let (here, n) = match &one.found {
            Ok(ratio) => (shown(ratio), ratio.samples.to_string()),
            Err(why) => (format!("none: {why}"), "0".to_owned()),
        };
        let claim = claim(one.relation);
        let factor = factor(one);
        writeln!(into, "| {} | {claim} | {here} | {factor} | {n} | {} |", one.relation.name, one.verdict.words())?;
    }
    writeln!(into, "{why_other}\n*Published* ({}): {}\n", paper.publisher, paper.published.join(" "))?;
    writeln!(into, "*Here*: {} {}\n", paper.here.join(" "), machine(&evidence.facts))?;
    for (point, found) in experiments(&evidence.report) {
        writeln!(into, "*What bound it here, tested by intervention, {point}*: {found}\n")?;
    }
    if let Some(next) = what_it_would_take(&evidence.report) {
        writeln!(into, "*What bound it here* was not tested. *What it would take*: {next}\n")?;
    }
    if !paper.why.is_empty() {
        writeln!(into, "*Why figures differ*: {}\n", paper.why.join(" "))?;
    }
    if let Some(sure) = evidence.report.pointer("/answer/claims/how_sure").and_then(Value::as_str) {
        writeln!(into, "*How sure*: {sure} {}\n", formed(&paper.relations))?;
    }
    writeln!(
        into,
        "Record: [{study}.proof](papers/{study}.proof), signed. Published figures: [{reference}](../references/{reference}.toml). Again: {}.",
        commands(paper, experiments(&evidence.report).next().is_some()),
        study = paper.study,
        reference = paper.reference
    )
}

/// Each point that was tested, and what was found by lowering its limits.
fn experiments(report: &Value) -> impl Iterator<Item = (&str, &str)> {
    let points = report["attribution"].as_array().into_iter().flatten();
    points.filter_map(|point| Some((point["label"].as_str()?, point["text"].as_str()?)))
}

/// What the report says comes next, where no point was tested.
fn what_it_would_take(report: &Value) -> Option<&str> {
    let next = report.pointer("/answer/claims/next").and_then(Value::as_str);
    next.filter(|text| !text.is_empty() && experiments(report).next().is_none())
}

/// How many times ours the published ratio is; empty where it is printed in words, or we have none.
fn factor(one: &JudgedRelation<'_>) -> String {
    let here = one.found.as_ref().ok().map(|ratio| ratio.value);
    let factor = one.relation.published().zip(here).map(|(published, here)| digits(published / here));
    factor.unwrap_or_default()
}

/// The commands that give such a record, without or with its experiment.
fn commands(paper: &Paper, is_tested: bool) -> String {
    let study = &paper.study;
    let set: String = paper.set.iter().map(|setting| format!(" --set {setting}")).collect();
    let run = format!("`proofload run studies/quick/{study}.toml{set}`");
    match paper.confirm.as_ref().filter(|_| is_tested) {
        Some(experiment) => {
            format!("{run}, then `proofload confirm {study}.proof {}`", experiment.arguments().join(" "))
        }
        None => run,
    }
}

/// How the ratios of the table were formed: figures relative to one point come from within repetitions, all others are figures of their own.
fn formed(relations: &[Relation]) -> String {
    const SEPARATE: &str = "of two separate figures each, with intervals as of independent ones.";
    let is_relative = |place: &str| place.ends_with("/relative_percent");
    let within = relations.iter().filter(|one| is_relative(&one.here.of) && is_relative(&one.here.to));
    let within: Vec<&str> = within.map(|one| one.name.as_str()).collect();
    match within.len() {
        0 => format!("Ratios in the table are {SEPARATE}"),
        all if all == relations.len() => "Ratios in the table were formed within repetitions.".to_owned(),
        _ => format!(
            "Of the ratios in the table only that of {} was formed within repetitions; the others are {SEPARATE}",
            within.join(" and that of ")
        ),
    }
}

/// What the paper shows, in figures or in its words.
fn claim(relation: &Relation) -> String {
    let figure = relation.published().map(digits);
    match (figure, relation.expected) {
        (Some(figure), ClaimOfRatio::Near(within)) => format!("{figure}, a plateau: within {:.0} %", within * 100.0),
        (Some(figure), _) => figure,
        (None, _) => relation.words.clone().unwrap_or_default(),
    }
}

fn shown(ratio: &Ratio) -> String {
    match &ratio.interval {
        Ok((low, high)) => format!("{} [{}, {}]", digits(ratio.value), digits(*low), digits(*high)),
        Err(why) => format!("{} [no interval: {why}]", digits(ratio.value)),
    }
}

/// Three significant digits.
fn digits(value: f64) -> String {
    let places = (2.0 - value.abs().max(1e-9).log10().floor()).clamp(0.0, 4.0);
    format!("{value:.*}", places as usize)
}

/// Where a record comes from, by its facts.
fn machine(facts: &Value) -> String {
    let rows = facts.pointer("/tables/facts").and_then(Value::as_array);
    let told = |subject: &str, name: &str| {
        let row =
            rows?.iter().find(|row| row["attempt"].is_null() && row["subject"] == subject && row["name"] == name)?;
        row["effective"].as_str()
    };
    let memory = told("host", "memory").and_then(|text| text.strip_suffix("KiB")?.parse::<f64>().ok());
    let memory = memory.map_or("unknown memory".to_owned(), |kib| format!("{:.0} GiB of memory", kib / 1_048_576.0));
    let or_unknown = |text: Option<&str>| text.unwrap_or("unknown").to_owned();
    let guest = if told("host", "hypervisor").is_some() { ", a guest of a hypervisor" } else { "" };
    let created = facts.pointer("/study/created_us").and_then(Value::as_i64);
    format!(
        "Run on {}: {} cores ({}){guest}, {memory}, {}, Proofload {}.",
        created.map_or("an unknown day".to_owned(), |us| date(us.div_euclid(86_400_000_000))),
        or_unknown(told("host", "cores")),
        or_unknown(told("host", "cpu")),
        or_unknown(told("host", "system")),
        or_unknown(told("tool", "proofload")),
    )
}

/// The date of a day since 1970-01-01, in the Gregorian calendar (Hinnant, "chrono-compatible low-level date algorithms").
fn date(days: i64) -> String {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, carried) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", year_of_era + era * 400 + carried)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::description::{FigureBeside, Papers, Sides};
    use super::super::verdict::SAME_SIZE;
    use super::*;

    #[test]
    fn the_factor_of_the_same_size_stands_at_the_head() {
        assert!(HEAD.contains(&format!("within a factor of {SAME_SIZE} of ours")));
    }

    #[test]
    fn days_have_their_dates() {
        for (days, text) in [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29"), (20_783, "2026-11-26")] {
            assert_eq!(date(days), text);
        }
    }

    #[test]
    fn only_relative_figures_are_from_within_repetitions() {
        let relation = |name: &str, metric: &str| Relation {
            name: name.to_owned(),
            printed: None,
            words: None,
            here: Sides { of: format!("/points/1/metrics/{metric}"), to: format!("/points/0/metrics/{metric}") },
            expected: ClaimOfRatio::Less,
            why: None,
            beside: None,
        };
        let all = [relation("throughput", "relative_percent"), relation("time", "response_ns_mean/all")];
        assert!(formed(&all).starts_with("Of the ratios in the table only that of throughput was formed within"));
        assert_eq!(formed(&all[..1]), "Ratios in the table were formed within repetitions.");
        assert!(formed(&all[1..]).starts_with("Ratios in the table are of two separate figures"));
    }

    #[test]
    fn each_tested_point_has_its_conclusion() {
        let tested = serde_json::json!({ "attribution": [{ "label": "64MiB", "text": "Reads bind." }] });
        assert_eq!(experiments(&tested).collect::<Vec<_>>(), [("64MiB", "Reads bind.")]);
        assert_eq!(experiments(&serde_json::json!({})).count(), 0);
    }

    #[test]
    fn what_was_not_tested_says_what_it_would_take() {
        let next = serde_json::json!({ "next": "Confirm it." });
        let mut report = serde_json::json!({ "answer": { "claims": next } });
        assert_eq!(what_it_would_take(&report), Some("Confirm it."));
        report["attribution"] = serde_json::json!([{ "label": "64MiB", "text": "Reads bind." }]);
        assert_eq!(what_it_would_take(&report), None);
    }

    #[test]
    fn a_relation_that_is_far_larger_here_is_no_same_size() {
        let relation = |printed: Option<Sides<f64>>| Relation {
            name: "updates, against reads".to_owned(),
            words: None,
            here: Sides { of: "/points/0/metrics/a".to_owned(), to: "/points/0/metrics/b".to_owned() },
            expected: ClaimOfRatio::More,
            why: None,
            beside: None,
            printed,
        };
        let figure = |value: f64| serde_json::json!({ "value": value, "ci95": [0.99 * value, 1.01 * value], "n": 30 });
        let metrics = serde_json::json!({ "a": figure(7.13), "b": figure(1.0) });
        let report = serde_json::json!({ "points": [{ "verdict": "valid", "metrics": metrics }] });
        let printed = relation(Some(Sides { of: 11.34, to: 5.54 }));
        let judged = judge(&printed, &report);
        assert_eq!((judged.verdict, factor(&judged)), (RelationVerdict::SameDirection, "0.287".to_owned()));
        let in_words = relation(None);
        let judged = judge(&in_words, &report);
        assert_eq!((judged.verdict, factor(&judged)), (RelationVerdict::SameDirection, String::new()));
    }

    #[test]
    fn what_is_other_than_published_has_a_reason_or_there_is_no_page() {
        let sides = |of: &str| Sides { of: format!("/points/0/metrics/{of}"), to: "/points/0/metrics/b".to_owned() };
        let mut relation = Relation {
            name: "write hits".to_owned(),
            printed: Some(Sides { of: 71.63, to: 86.72 }),
            words: None,
            here: sides("a"),
            expected: ClaimOfRatio::Less,
            why: None,
            beside: Some(FigureBeside { name: "writes absorbed".to_owned(), here: sides("c") }),
        };
        let figure = |value: f64| serde_json::json!({ "value": value, "ci95": [0.99 * value, 1.01 * value], "n": 30 });
        let metrics = serde_json::json!({ "a": figure(1.2), "b": figure(1.0), "c": figure(0.5) });
        let report = serde_json::json!({ "points": [{ "verdict": "valid", "metrics": metrics }] });
        let why = reason("P2", &judge(&relation, &report), &report).unwrap_err();
        assert!(why.contains("P2: write hits is other than published and has no `why`"), "{why}");
        relation.why = Some("Hits may be counted otherwise.".to_owned());
        let told = reason("P2", &judge(&relation, &report), &report).unwrap();
        let start = "\n*Why other, write hits*: Hits may be counted otherwise. Beside it, writes absorbed: 0.500 [";
        assert!(told.starts_with(start) && told.ends_with("].\n"), "{told}");
        // What is as published needs none.
        relation.expected = ClaimOfRatio::More;
        assert_eq!(reason("P2", &judge(&relation, &report), &report), Ok(String::new()));
    }

    #[test]
    fn the_head_says_which_papers_are_one_run_each() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        let text = std::fs::read_to_string(format!("{root}/docs/papers/papers.json")).unwrap();
        let mut alone: Vec<String> = Vec::new();
        for paper in Papers::read(&text).unwrap().papers {
            let study = std::fs::read_to_string(format!("{root}/studies/quick/{}.toml", paper.study)).unwrap();
            let is_repeated = paper.set.iter().any(|set| set.starts_with("study.repetitions="));
            let is_one =
                study.lines().any(|line| line.split('#').next().unwrap_or_default().trim() == "repetitions = 1");
            if is_one && !is_repeated {
                alone.push(paper.id);
            }
        }
        assert_eq!(alone, ["P1", "P2", "P3"]);
        assert!(HEAD.contains("\nP1 to P3 are one run each:") && HEAD.contains("P4 and P5 have repetitions."));
    }

    #[test]
    fn three_digits_are_shown() {
        for (value, text) in [(0.7243, "0.724"), (10.896, "10.9"), (37.651, "37.7"), (0.05, "0.0500"), (188.2, "188")] {
            assert_eq!(digits(value), text);
        }
    }
}

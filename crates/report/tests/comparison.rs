//! Two records side by side: pairs, ratios, verdicts, what differs, and the gate, on synthetic records whose truth is known.

use crate::drills::{changed, drills};
use crate::support::{Appliance, KeyValue, Shape, key_value, record, warehouse};
use expect_test::{Expect, expect};
use proofload_model::samples::Fact;
use proofload_model::settings::Value;
use proofload_record::Record;
use proofload_report::findings::comparison::{
    Comparison, ComparisonFilter, Finding, Gate, GateOutcome, Level, NamedRecord, NotInTurns, Policy, Rules, Verdict,
    compare, gate,
};
use proofload_report::{ComparisonFormat, comparison_for_terminal, gate_for_terminal, render_comparison, render_gate};
use std::collections::BTreeMap;

const FORMATS: [ComparisonFormat; 4] =
    [ComparisonFormat::Text, ComparisonFormat::Markdown, ComparisonFormat::Html, ComparisonFormat::Json];

fn named<'r>(file: &str, record: &'r Record) -> NamedRecord<'r> {
    NamedRecord {
        file: file.to_owned(),
        sha256: file.chars().map(|letter| format!("{:02x}", letter as u32)).collect(),
        record,
    }
}

fn chosen(metrics: &[&str]) -> ComparisonFilter {
    ComparisonFilter { metrics: metrics.iter().map(|name| (*name).to_owned()).collect(), levels: Vec::new() }
}

fn compared<'r>(baseline: &'r Record, candidate: &'r Record, metrics: &[&str]) -> Comparison<'r> {
    compare(named("base.proof", baseline), named("new.proof", candidate), &chosen(metrics)).expect("comparable")
}

fn strict(tolerance: f64) -> Rules {
    Rules {
        tolerance: Some(tolerance),
        of_metric: BTreeMap::new(),
        undecided: Policy::Fail,
        void: Policy::Fail,
        not_in_turns: NotInTurns::Warn,
        lost: None,
    }
}

fn judged(comparison: &Comparison<'_>, rules: &Rules) -> Gate {
    gate(comparison, rules).expect("every metric has a direction")
}

/// JSON, a key on a line, with fractions rounded to a ten-thousandth, which no two machines compute differently.
fn rounded(text: &str) -> String {
    fn round(json: &mut serde_json::Value) {
        match json {
            serde_json::Value::Array(items) => items.iter_mut().for_each(round),
            serde_json::Value::Object(items) => items.values_mut().for_each(round),
            number if number.is_f64() => *number = ((number.as_f64().unwrap_or(f64::NAN) * 1e4).round() / 1e4).into(),
            _ => {}
        }
    }
    let mut json = serde_json::from_str(text).expect("JSON");
    round(&mut json);
    json.as_object().expect("an object").iter().map(|(key, value)| format!("{key}: {value}\n")).collect()
}

#[track_caller]
fn check(text: &str, expected: &Expect) {
    assert!(text.lines().all(|line| line.chars().count() <= 80), "a line is too long for 80 columns:\n{text}");
    expected.assert_eq(text);
}

/// A slower machine with another kernel, in which one point is void and another does not exist.
fn other_machine() -> (Record, Record) {
    let baseline = record(&Shape { repetitions: 3, ..Shape::memory(4) });
    let shape = Shape { repetitions: 3, void: vec![1], seed: 2, speed: 0.8, ..Shape::memory(3) };
    let mut candidate = record(&Shape { more: "[engine.settings]\n".to_owned(), ..shape });
    candidate.sessions[0].machine = "6.2.0".to_owned();
    for fact in candidate.facts.iter_mut().filter(|fact| fact.name == "kernel") {
        fact.effective = Some("Linux 6.2.0".to_owned());
    }
    for attempt in candidate.attempts.iter_mut().filter(|attempt| attempt.run.point == 0) {
        attempt.facts.push(Fact::observed("engine", "mmap_size", "1048576", "PRAGMA mmap_size"));
    }
    (baseline, candidate)
}

/// The facts of the data stand with the attempt that built them.
fn with_data(record: &mut Record, attempt: usize, rows: &str) {
    let fact = Fact::observed("data", "rows.stock", rows, "manifest");
    record.attempts[attempt].facts.push(fact);
}

#[test]
fn data_are_compared_whichever_point_was_run_first() {
    let shape = || Shape { repetitions: 3, ..Shape::memory(4) };
    let names = |place: usize, rows: &str| {
        let (mut baseline, mut candidate) = (record(&shape()), record(&shape()));
        with_data(&mut baseline, 0, "400000");
        with_data(&mut candidate, place, rows);
        let comparison = compared(&baseline, &candidate, &["tpm"]);
        comparison.differences.iter().map(|difference| difference.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(5, "400000"), Vec::<String>::new());
    assert_eq!(names(5, "500000"), ["data rows.stock"]);
}

#[test]
fn a_prober_that_was_calm_in_one_record_alone_is_a_difference() {
    let before = drills("async", &[0.2, 0.3, 0.4, 0.5]);
    let with_step = |step: u32| {
        let mut record = before.clone();
        changed(&mut record, |report| report.prober.ledger.paces.calm_step = step);
        record
    };
    let told = |candidate: &Record| -> Vec<(String, Option<String>, Option<String>)> {
        let found = compared(&before, candidate, &[]).differences.into_iter();
        found.map(|one| (one.name, one.baseline, one.candidate)).collect()
    };
    let in_words = |words: &str| Some(words.to_owned());
    let difference = ("prober calm pace".to_owned(), in_words("every operation"), in_words("one operation in 10"));
    assert_eq!(told(&with_step(10)), [difference]);
    assert!(told(&with_step(1)).is_empty(), "one pace, and a record from before there were two");
}

#[test]
fn a_comparison_says_what_differs_what_is_shown_and_what_is_left_out() {
    let (baseline, candidate) = other_machine();
    let comparison = compared(&baseline, &candidate, &["tpm", "response_ns_p99.*"]);
    check(
        &render_comparison(&comparison, ComparisonFormat::Text),
        &expect![[r#"
            A  baseline   base.proof
                           study memory-sweep, 21 September 2026, 14:13 UTC, proofload 0.1.0
                           12 of 12 runs, 4 of 4 points valid, sha256 626173652e70726f
            B  candidate  new.proof
                           study memory-sweep, 21 September 2026, 14:13 UTC, proofload 0.1.0
                           9 of 9 runs, 2 of 3 points valid, sha256 6e65772e70726f6f

            What else differs                   A                      B
              study.seed                        1                      2
              conductor's kernel                6.1.0                  6.2.0
              host kernel                       Linux 6.1.0            Linux 6.2.0
              engine mmap_size (1 of 4 points)  not set or not         1048576
                                                recorded

            warning: A and B were not measured in turns: their times overlap, but no run had
            a partner, so these intervals do not include changes of the host between runs,
            nor what each took from the other; `proofload compare --run A.toml B.toml`
            measures two studies in turns, and so does one study with both as levels of a
            factor

              database memory       A       B    B/A   95 % interval       p  verdict
            TPM, per minute; higher is better
              64 MiB           26,839  21,355  0.796  0.778 to 0.814  <0.001  slower
              256 MiB          57,114  45,711  0.800  0.789 to 0.812  <0.001  slower
            New-Order p99, response time, ms; lower is better
              64 MiB             32.8    39.8  1.214  1.166 to 1.264  <0.001  slower
              256 MiB            15.0    18.8  1.260  1.173 to 1.353   0.003  slower

            Not compared
            - database memory 128 MiB in B: void: consistency condition 1: 1 of 4 warehouses
              differs
            - database memory 512 MiB: only A has it

            B/A is the candidate over the baseline. Each interval covers its own row; p
            values and verdicts are corrected for all 4 rows (Holm, 5 %). Estimands: A and
            B as given.
        "#]],
    );
}

/// No line is wider than its terminal, from 60 columns on, and no label is cut.
#[test]
fn a_comparison_and_a_gate_fit_their_terminal() {
    let (baseline, candidate) = other_machine();
    let comparison = compared(&baseline, &candidate, &["tpm", "response_ns_p99.*"]);
    let rules = strict(0.03);
    let gate = judged(&comparison, &rules);
    for columns in 60..=100 {
        let texts =
            [comparison_for_terminal(&comparison, columns), gate_for_terminal(&comparison, &gate, &rules, columns)];
        for text in texts {
            let fits = text.lines().all(|line| line.chars().count() <= columns);
            assert!(fits && text.contains("\n  256 MiB"), "{columns} columns:\n{text}");
        }
    }
}

/// Values are wrapped, and paths of records too: none of a pair is cut to what it has in common with the other.
#[test]
fn values_that_differ_at_their_end_look_different_on_every_terminal() {
    let (mut baseline, mut candidate) = (record(&Shape::memory(1)), record(&Shape::memory(1)));
    for (record, version) in [(&mut baseline, "6.1.0-13-cloud-amd64 old"), (&mut candidate, "6.1.0-13-cloud-amd64 new")]
    {
        version.clone_into(&mut record.sessions[0].machine);
    }
    let folder = "a-folder-with-a-long-name/".repeat(4);
    let files = ["old", "new"].map(|name| format!("{folder}{name}.proof"));
    let compared = compare(named(&files[0], &baseline), named(&files[1], &candidate), &chosen(&["tpm"])).unwrap();
    for columns in 60..=100 {
        let text = comparison_for_terminal(&compared, columns);
        assert!(text.lines().all(|line| line.chars().count() <= columns), "{columns} columns:\n{text}");
        let from = text.find("What else differs").expect("they differ");
        let values: Vec<&str> = text[from..].split_whitespace().take_while(|word| *word != "warning:").collect();
        assert!(["old", "new"].iter().all(|word| values.contains(word)), "{columns} columns:\n{text}");
    }
}

#[test]
fn a_gate_says_which_losses_are_shown_and_why_it_fails() {
    let (baseline, candidate) = other_machine();
    let comparison = compared(&baseline, &candidate, &["tpm", "response_ns_p99.*"]);
    let rules = strict(0.03);
    check(
        &render_gate(&comparison, &judged(&comparison, &rules), &rules, ComparisonFormat::Text),
        &expect![[r#"
            A  baseline   base.proof
                           study memory-sweep, 21 September 2026, 14:13 UTC, proofload 0.1.0
                           12 of 12 runs, 4 of 4 points valid, sha256 626173652e70726f
            B  candidate  new.proof
                           study memory-sweep, 21 September 2026, 14:13 UTC, proofload 0.1.0
                           9 of 9 runs, 2 of 3 points valid, sha256 6e65772e70726f6f

            What else differs                   A                      B
              study.seed                        1                      2
              conductor's kernel                6.1.0                  6.2.0
              host kernel                       Linux 6.1.0            Linux 6.2.0
              engine mmap_size (1 of 4 points)  not set or not         1048576
                                                recorded

            warning: A and B were not measured in turns: their times overlap, but no run had
            a partner, so these intervals do not include changes of the host between runs,
            nor what each took from the other; `proofload compare --run A.toml B.toml`
            measures two studies in turns, and so does one study with both as levels of a
            factor

              database memory       A       B    B/A   95 % interval  limit  finding
            TPM, per minute; higher is better
              64 MiB           26,839  21,355  0.796  0.778 to 0.814  0.970  regressed
              256 MiB          57,114  45,711  0.800  0.789 to 0.812  0.970  regressed
            New-Order p99, response time, ms; lower is better
              64 MiB             32.8    39.8  1.214  1.166 to 1.264  1.030  regressed
              256 MiB            15.0    18.8  1.260  1.173 to 1.353  1.030  regressed

            Not compared
            - database memory 128 MiB in B: void: consistency condition 1: 1 of 4 warehouses
              differs
            - database memory 512 MiB: only A has it

            Estimands: A and B as given.

            gate failed: 4 losses are shown to exceed the tolerance; 2 points are void or
            missing: database memory 128 MiB (void in B); database memory 512 MiB (missing
            in B); the runs of A and B did not alternate in 4 of 4, so changes of the host
            between them may be the cause
        "#]],
    );
}

#[test]
fn a_comparison_for_a_page() {
    let (baseline, candidate) = other_machine();
    let comparison = compared(&baseline, &candidate, &["tpm"]);
    expect![[r#"
        # OLTP throughput against database memory: new.proof against base.proof

        Comparison: candidate B against baseline A

        ✓ **2 comparisons.** 2 show a difference.

        **B is slower at 64 MiB: 0.80× of A in TPM; slower at 256 MiB: 0.80× of A.**

        - **What else differs**: study.seed, conductor's kernel, host kernel and 1 more. 
        - **How sure**: A and B were not measured in turns, so the ratios include changes of the host between them. Verdicts are corrected for all 2 rows (Holm, 5 %). 

        **Figure 1.** Ratio B/A with the 95 % interval of each row; at the dashed line both are equal.

        > Dot chart of the ratio B/A. 64 MiB, TPM 0.796: slower; 256 MiB, TPM 0.8: slower.

        | Row | B/A | Verdict |
        |---|---:|---|
        | 64 MiB, TPM | 0.796 (0.778 to 0.814; n = 6) | slower |
        | 256 MiB, TPM | 0.800 (0.789 to 0.812; n = 6) | slower |


        ## Comparisons

        > **Caution:** A and B were not measured in turns: their times overlap, but no run had a partner, so these intervals do not include changes of the host between runs, nor what each took from the other; \`proofload compare --run A.toml B.toml\` measures two studies in turns, and so does one study with both as levels of a factor.

        **Table 1.** Every metric of every pair of points.

        | database memory | Metric | A | B | B/A | Estimand | p, corrected | Verdict |
        |---|---|---|---|---|---|---|---|
        | 64 MiB | TPM | 26,839 per minute (26,500 to 27,177; n = 87) | 21,355 per minute (20,789 to 21,969; n = 87) | 0.796 (0.778 to 0.814; n = 6) | A and B as given | &lt;0.001 | **slower** |
        | 256 MiB | TPM | 57,114 per minute (56,101 to 58,090; n = 90) | 45,711 per minute (44,803 to 46,207; n = 90) | 0.800 (0.789 to 0.812; n = 6) | A and B as given | &lt;0.001 | **slower** |

        B/A is candidate divided by baseline; each 95 % confidence interval covers its own row. p values and verdicts are corrected for all 2 rows (Holm, 5 %). Where no difference is shown, one may still exist.


        ## What else differs

        **Table 2.** What else differs between A and B.

        | Setting, version or fact | Points | A | B |
        |---|---|---|---|
        | `study.seed` |  | 1 | 2 |
        | `conductor's kernel` |  | 6.1.0 | 6.2.0 |
        | `host kernel` |  | Linux 6.1.0 | Linux 6.2.0 |
        | `engine mmap_size` | 64 MiB | not set or not recorded | 1048576 |


        ## Not compared

        - database memory 128 MiB: void in B: consistency condition 1: 1 of 4 warehouses differs
        - database memory 512 MiB: only A has it


        ## The two records

        - **A, baseline**: `base.proof`, study `memory-sweep`, 21 September 2026, 14:13 UTC, proofload 0.1.0, SHA-256 `626173652e70726f6f66`
        - **B, candidate**: `new.proof`, study `memory-sweep`, 21 September 2026, 14:13 UTC, proofload 0.1.0, SHA-256 `6e65772e70726f6f66`
    "#]].assert_eq(&render_comparison(&comparison, ComparisonFormat::Markdown));
}

#[test]
fn a_comparison_for_programs() {
    let one = record(&Shape { factors: String::new(), repetitions: 2, ..Shape::memory(1) });
    let comparison = compared(&one, &one, &["tpm", "service_ns_p50.all"]);
    let text = render_comparison(&comparison, ComparisonFormat::Json);
    expect![[r#"
        baseline: {"being_written":false,"created_us":1790000000000000,"file":"base.proof","programs":["proofload 0.1.0"],"sha256":"626173652e70726f6f66","study":"memory-sweep","title":"OLTP throughput against database memory"}
        candidate: {"being_written":false,"created_us":1790000000000000,"file":"new.proof","programs":["proofload 0.1.0"],"sha256":"6e65772e70726f6f66","study":"memory-sweep","title":"OLTP throughput against database memory"}
        comparisons: [{"alternated":false,"baseline":{"ci95":[64650.6639,75073.0129],"ci95_method":"spread between runs, Student's quantile","n":60,"unit":"1/min","value":69927.0},"better":"higher","candidate":{"ci95":[64650.6639,75073.0129],"ci95_method":"spread between runs, Student's quantile","n":60,"unit":"1/min","value":69927.0},"estimand":{"baseline":"as given","candidate":"as given","ratio":null},"metric":"tpm","p":1.0,"p_corrected":1.0,"point":{},"ratio":{"ci95":[0.9654,1.0359],"ci95_method":"Student's t over runs, of logarithms","n":4,"unit":"ratio","value":1.0},"runs":{"baseline":2,"candidate":2},"shown_from":{"above":1.0359,"below":0.9654},"spread":"between runs","title":"TPM","verdict":"no difference shown"}]
        differences: []
        duet_checks: []
        factors: []
        form: 1
        not_compared: [{"metric":"service_ns_p50.all","point":{},"title":"All kinds p50, service time","why":"A: service times were not recorded"}]
        only_in_one: []
        queries: []
        void: []
        warnings: ["A and B were not measured in turns: their times overlap, but no run had a partner, so these intervals do not include changes of the host between runs, nor what each took from the other; `proofload compare --run A.toml B.toml` measures two studies in turns, and so does one study with both as levels of a factor"]
    "#]].assert_eq(&rounded(&text));
    let rules = strict(0.05);
    let text = render_gate(&comparison, &judged(&comparison, &rules), &rules, ComparisonFormat::Json);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["gate"]["outcome"], "undecided");
    assert_eq!(json["gate"]["passes"], false);
    let row = &json["comparisons"][0];
    assert_eq!((&row["limit"], &row["finding"]), (&0.95.into(), &"held".into()));
}

#[test]
fn single_runs_are_compared_with_a_warning() {
    let baseline = record(&Shape::memory(1));
    let candidate = record(&Shape { seed: 7, repetitions: 3, ..Shape::memory(1) });
    let warning = |one: &Record, other: &Record| compared(one, other, &["tpm"]).warnings.join("\n");
    let unseen = warning(&baseline, &baseline);
    assert!(unseen.contains("same bytes") || unseen.starts_with("A and B have points with a single run: the spread"));
    assert!(
        warning(&baseline, &candidate)
            .starts_with("A has points with a single run: its spread between runs is assumed")
    );
    assert!(warning(&candidate, &baseline).starts_with("B has points with a single run"));
    assert!(!warning(&candidate, &candidate).contains("single run"));
}

/// A setting that is a factor of one record only has its fixed value in the other.
#[test]
fn points_are_paired_by_levels_and_not_by_number() {
    let sweep = record(&Shape::memory(4));
    let fixed = record(&Shape { factors: String::new(), ..Shape::memory(1) });
    let comparison = compared(&sweep, &fixed, &["tpm"]);
    assert_eq!(comparison.rows.len(), 1, "the study's own limit is 512 MiB");
    assert_eq!(comparison.label(comparison.rows[0].pair), "512\u{a0}MiB");
    assert_eq!(comparison.alone.len(), 3);
    let engines = "[[factor]]\nsetting = \"engine.kind\"\nlevels = [\"sqlite\", \"postgresql\"]\n";
    let both = record(&Shape { factors: format!("{engines}{}", Shape::memory(2).factors), ..Shape::memory(1) });
    let turned = record(&Shape { factors: format!("{}{engines}", Shape::memory(2).factors), ..Shape::memory(1) });
    let comparison = compared(&both, &turned, &["tpm"]);
    assert!(comparison.alone.is_empty() && comparison.rows.len() == 4);
    let level = Level::parse("engine.kind=sqlite").unwrap();
    let memory = |size: &str| Level::parse(&format!("limits.memory={size}")).unwrap();
    let rows = |levels: Vec<Level>| {
        let chosen = ComparisonFilter { metrics: vec!["tpm".to_owned()], levels };
        compare(named("a", &both), named("b", &turned), &chosen)
            .map(|found| found.rows.len())
            .map_err(|e| e.to_string())
    };
    assert_eq!(rows(vec![level.clone()]), Ok(2));
    assert_eq!(rows(vec![level.clone(), memory("64 MiB")]), Ok(1));
    assert_eq!(rows(vec![memory("64MiB"), memory("128MiB")]), Ok(4));
    let unknown = rows(vec![level, memory("1GiB")]).unwrap_err();
    assert_eq!(
        unknown,
        "no point has limits.memory=1GiB; the levels of limits.memory are 64MiB, 128MiB; for example --point limits.memory=64MiB"
    );
}

#[test]
fn what_cannot_be_compared_is_refused_with_what_can() {
    let (tprocc, ycsb) = (record(&Shape::memory(1)), key_value(&KeyValue::plain()));
    let refused = |one: &Record, other: &Record, metrics: &[&str]| {
        compare(named("a", one), named("b", other), &chosen(metrics)).unwrap_err().to_string()
    };
    assert!(refused(&tprocc, &ycsb, &[]).starts_with("the baseline's workload is tprocc, the candidate's is ycsb"));
    let unknown = refused(&tprocc, &tprocc, &["tpmm"]);
    assert!(unknown.starts_with("this workload has no metric tpmm") && unknown.contains("nopm_database"), "{unknown}");
    let comparison = compared(&tprocc, &tprocc, &["cpu_percent"]);
    assert_eq!(comparison.rows[0].verdict, Verdict::NotShown);
    assert!(gate(&comparison, &strict(0.03)).is_err(), "CPU is neither good nor bad");
}

#[test]
fn every_workload_is_compared_by_its_own_words_in_every_form() {
    let stores = Appliance { rounds: Some((0, vec![vec![70.5], vec![75.25]])), ..Appliance::stores() };
    let (first, second) =
        (key_value(&KeyValue::engines()), key_value(&KeyValue { capacity: 5_000, ..KeyValue::engines() }));
    let (rated, again) = (warehouse(&stores), warehouse(&Appliance { wrong: vec!["q01"], ..stores.clone() }));
    for (baseline, candidate, rows) in [(&first, &second, 3 * 9), (&rated, &again, 2 * 2)] {
        let comparison = compared(baseline, candidate, &[]);
        assert_eq!(comparison.rows.len() + comparison.left_out.len(), rows, "{:?}", comparison.void);
        for format in FORMATS {
            let text = render_comparison(&comparison, format);
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
            assert_eq!(text, render_comparison(&compared(baseline, candidate, &[]), format), "equal bytes");
        }
    }
}

/// Checks every metric of the workload: a record is as fast as itself.
#[test]
fn nothing_differs_from_itself() {
    let record = record(&Shape { repetitions: 3, seed: 3, ..Shape::memory(2) });
    let metrics = [
        "tpm",
        "nopm",
        "nopm_database",
        "cpu_percent",
        "device_read_mb_s",
        "response_ns_mean.payment",
        "response_ns_p99.all",
    ];
    let comparison = compared(&record, &record, &metrics);
    assert_eq!(comparison.rows.len(), 2 * metrics.len(), "{:?}", comparison.left_out);
    for row in &comparison.rows {
        assert_eq!(
            (row.ratio.value(), row.p_corrected, row.verdict),
            (1.0, 1.0, Verdict::NotShown),
            "{}",
            row.metric.key
        );
    }
    assert!(comparison.differences.is_empty());
}

/// Pairs of records of equal machines, whose runs scatter by 1 %: at most 5 in 100 show any difference, and a gate without
/// any tolerance fails no others.
#[test]
fn equal_machines_are_told_apart_in_at_most_five_of_a_hundred_pairs() {
    let machine = |seed: u32| record(&Shape { repetitions: 3, seed, speed: 0.05, ..Shape::memory(2) });
    let pairs = 40;
    let (mut told_apart, mut failed, mut rows) = (0, 0, 0);
    for pair in 0..pairs {
        let (baseline, candidate) = (machine(2 * pair + 1), machine(2 * pair + 2));
        let comparison = compared(&baseline, &candidate, &[]);
        rows = rows.max(comparison.rows.len());
        told_apart += u32::from(comparison.rows.iter().any(|row| row.verdict != Verdict::NotShown));
        failed += u32::from(judged(&comparison, &strict(0.0)).outcome == GateOutcome::Failed);
    }
    println!(
        "{pairs} pairs of equal machines, up to {rows} rows each: {told_apart} show a difference, the gate fails {failed}"
    );
    assert!(told_apart * 100 <= 5 * pairs, "{told_apart} of {pairs}");
    assert!(failed <= told_apart, "a gate without tolerance fails where a loss is shown, {failed}");
}

/// A loss of 10 % is shown by the gate's metric, and by the whole comparison with more rows a little less often.
#[test]
fn ten_percent_are_shown_and_stopped() {
    let machine =
        |seed: u32, speed: f64| record(&Shape { repetitions: 5, seed, speed: 0.05 * speed, ..Shape::memory(1) });
    let pairs = 15;
    let (mut shown, mut stopped) = (0, 0);
    for pair in 0..pairs {
        let (baseline, candidate) = (machine(2 * pair + 1, 1.0), machine(2 * pair + 2, 0.9));
        let comparison = compared(&baseline, &candidate, &[]);
        shown += u32::from(comparison.rows[0].verdict == Verdict::Slower);
        let gate = judged(&compared(&baseline, &candidate, &["tpm"]), &strict(0.03));
        stopped += u32::from(gate.rows[0].finding == Finding::Regressed);
    }
    println!("{pairs} pairs, 5 runs each, 10 % slower: {shown} shown, {stopped} stopped at a tolerance of 3 %");
    assert!(shown >= 14 && stopped >= 14, "{shown} and {stopped} of {pairs}");
}

#[test]
fn a_gate_follows_its_policies() {
    let (baseline, candidate) = other_machine();
    let faster = compared(&candidate, &baseline, &["tpm"]);
    let outcome = |comparison: &Comparison<'_>, rules: &Rules| {
        let gate = judged(comparison, rules);
        (gate.outcome, gate.passes)
    };
    assert_eq!(outcome(&faster, &strict(0.03)), (GateOutcome::Failed, false), "a point is void");
    let lenient = Rules { void: Policy::Pass, ..strict(0.03) };
    assert_eq!(outcome(&faster, &lenient), (GateOutcome::Passed, true), "a faster candidate passes");
    let equal = compared(&baseline, &baseline, &["tpm", "response_ns_p99.*"]);
    assert_eq!(outcome(&equal, &strict(0.0)), (GateOutcome::Undecided, false), "no tolerance, no proof");
    let trusting = Rules { undecided: Policy::Pass, ..strict(0.0) };
    assert_eq!(outcome(&equal, &trusting), (GateOutcome::Undecided, true));
    let own = Rules { of_metric: BTreeMap::from([("response_ns_p99.*".to_owned(), 0.5)]), ..strict(0.1) };
    let gate = judged(&equal, &own);
    assert_eq!(gate.outcome, GateOutcome::Passed, "{:?}", gate.rows);
    assert!(gate.rows.iter().any(|row| row.limit == 1.5) && gate.rows.iter().any(|row| row.limit == 0.9));
    let nothing = record(&Shape { void: vec![0], ..Shape::memory(1) });
    let none = compared(&nothing, &nothing, &["tpm"]);
    let all_pass = Rules { void: Policy::Pass, undecided: Policy::Pass, ..strict(0.03) };
    assert_eq!(outcome(&none, &all_pass), (GateOutcome::Failed, false), "nothing compared is nothing passed");
}

#[test]
fn text_of_records_stays_text() {
    let hostile = "</code><script>alert(1)</script>|`x\u{1b}[31m";
    let mut candidate = record(&Shape { void: vec![0], ..Shape::memory(2) });
    candidate.sessions[0].program = hostile.to_owned();
    candidate.facts[0].effective = Some(hostile.to_owned());
    candidate.attempts[0].checks[0].found = hostile.to_owned();
    let baseline = record(&Shape::memory(2));
    let comparison = compare(named(hostile, &baseline), named("b", &candidate), &chosen(&[])).unwrap();
    for format in FORMATS {
        let text = render_comparison(&comparison, format);
        assert!(!text.contains('\u{1b}'), "{format:?}");
        assert!(format != ComparisonFormat::Html || !text.contains("<script"), "{text}");
    }
}

/// A record whose study says this of its profile.
fn of_profile(profile: &str, departures: &[&str], factors: &str) -> Record {
    let mut record = record(&Shape { factors: factors.to_owned(), ..Shape::memory(1) });
    let settings = &mut record.study.settings.0;
    settings.insert("workload.profile".to_owned(), Value::Text(profile.to_owned()));
    let departures = departures.iter().map(|word| (*word).to_owned()).collect();
    settings.insert("workload.departures".to_owned(), Value::List(departures));
    record
}

/// No figure leaves its profile behind: two profiles are not compared, and one other than the clauses is named.
#[test]
fn profiles_are_not_mixed() {
    let [spec, none, four] = [&[][..], &["none"], &["4"]].map(|departures| of_profile("spec", departures, ""));
    let compatible = of_profile("hammerdb-compatible", &[], "");
    let result = |candidate| compare(named("a", &spec), named("b", candidate), &chosen(&["tpm"]));
    assert!(result(&none).is_ok_and(|comparison| comparison.warnings.iter().all(|text| !text.contains("profile"))));
    for (candidate, name) in [(&four, "spec with departures 4"), (&compatible, "HammerDB-compatible (6.0)")] {
        let error = result(candidate).unwrap_err().to_string();
        let start = format!(
            "the baseline's profile is spec, the candidate's is {name}: figures hold only within their profile"
        );
        assert!(error.starts_with(&start), "{error}");
    }
    let alike = compared(&compatible, &compatible, &["tpm"]);
    for format in FORMATS {
        let text = render_comparison(&alike, format).replace('\n', " ").replace("  ", " ").replace("  ", " ");
        assert!(text.contains("HammerDB-compatible (6.0)"), "{text}");
    }
}

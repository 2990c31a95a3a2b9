//! The first screen of every kind of study, as it is read: verdict, answer and what it rests on. Among them the weak answers, which may not say
//! more than their intervals.

use crate::support::replicated::{replicated, replicated_often};
use crate::support::{Appliance, KeyValue, Shape, key_value, let_rise, record, searched, shapes, slower, warehouse};
use expect_test::expect_file;
use proofload_model::events::RunEvent;
use proofload_model::facts::engine;
use proofload_model::settings::Value;
use proofload_model::time::WallTime;
use proofload_record::{AttemptEvent, Record, State};
use proofload_report::{Format, ReportOptions, render, render_with};
use serde_json::{Value as Json, json};
use std::fmt::Write;

/// The first screen of a record in lines.
fn screen(record: &Record) -> String {
    let json: Json = serde_json::from_str(&render(record, Format::Json).expect("it has points")).expect("JSON is JSON");
    let answer = &json["answer"];
    let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
    let mut lines = format!("{}: {}\n", text("state"), text("verdict"));
    if !text("answer").is_empty() {
        let _ = writeln!(lines, "  answer: {}", text("answer"));
    }
    for (name, claim) in answer["claims"].as_object().into_iter().flatten() {
        let _ = writeln!(lines, "  {name}: {}", claim.as_str().unwrap_or_default());
    }
    lines
}

#[track_caller]
fn check(records: impl IntoIterator<Item = (String, Record)>, expected: &expect_test::ExpectFile) {
    let mut all = String::new();
    for (name, record) in records {
        let _ = writeln!(all, "# {name}\n{}", screen(&record));
    }
    expected.assert_eq(&all);
}

fn named(name: &str, record: Record) -> (String, Record) {
    (name.to_owned(), record)
}

#[test]
fn sweeps_and_choices() {
    let all = shapes().into_iter().map(|(name, shape)| named(name, record(&shape)));
    check(all, &expect_file!["golden/answers-of-sweeps.txt"]);
}

/// A study over one factor.
fn over(factor: &str, levels: &str) -> Shape {
    Shape { factors: format!("[[factor]]\nsetting = \"{factor}\"\nlevels = [{levels}]\n"), ..Shape::memory(1) }
}

#[test]
fn weak_answers_say_no_more_than_their_intervals() {
    let plateau = over("limits.memory", "\"1GiB\", \"2GiB\", \"4GiB\"");
    let knee = over("limits.memory", "\"64MiB\", \"128MiB\", \"2GiB\", \"4GiB\"");
    let levels: Vec<String> = (1..=24).map(|step| format!("\"{}MiB\"", 96 * step)).collect();
    let many = Shape { repetitions: 3, ..over("limits.memory", &levels.join(", ")) };
    let as_fast = record(&many);
    let slow = |slow: &[u32]| slower(&Shape { slow: slow.to_vec(), ..many.clone() }, &as_fast);
    let (one_slower, four_slower) = (slow(&[19]), slow(&[9, 14, 15, 19]));
    let mut moving = record(&Shape { repetitions: 3, ..Shape::memory(2) });
    let_rise(&mut moving);
    let all = [
        named("levels on a plateau", record(&plateau)),
        named("the same, repeated", record(&Shape { repetitions: 4, ..plateau })),
        named("a knee between two levels", record(&knee)),
        named("the same, repeated", record(&Shape { repetitions: 3, ..knee })),
        named("many levels", as_fast),
        named("the same, of which one on the plateau is slower", one_slower),
        named("the same, of which four are", four_slower),
        named("levels of which none changes anything", record(&over("limits.cores", "1, 2"))),
        named("falling levels", record(&over("limits.memory", "\"4GiB\", \"64MiB\""))),
        named("throughput that moved", moving),
        named("two of three points missing", record(&Shape { not_run: vec![0, 1], ..Shape::memory(3) })),
        named("one of three points void", record(&Shape { void: vec![2], ..Shape::memory(3) })),
    ];
    check(all, &expect_file!["golden/weak-answers.txt"]);
}

#[test]
fn other_kinds_of_studies() {
    let rate = |rate| KeyValue { rate: Some(rate), ..KeyValue::engines() };
    let search = |lines: &str| {
        let more = format!("[search]\nsetting = \"workload.virtual_users\"\n{lines}\n");
        searched(&Shape { factors: String::new(), more, ..Shape::memory(1) })
    };
    let all = [
        named("key-value, one point", key_value(&KeyValue::plain())),
        named("key-value, three engines", key_value(&KeyValue::engines())),
        named("key-value at a rate that all keep", key_value(&rate(900))),
        named("key-value at a rate that one keeps", key_value(&rate(3_000))),
        named("a search with an answer", search("find = \"max\"\nfrom = 8\nto = 64\nplateau = 0.05\nresolution = 1.0")),
        named(
            "a search whose range ends too early",
            search("find = \"max\"\nfrom = 1\nto = 4\nplateau = 0.05\nresolution = 1.0"),
        ),
        named("standbys", replicated()),
        named("standbys, repeated", replicated_often(4)),
        named("a warehouse, rows and columns", warehouse(&Appliance::stores())),
    ];
    check(all, &expect_file!["golden/answers-of-other-kinds.txt"]);
}

/// Names a reason of the class that is blamed, how far an unfinished study is, and what measures the rest.
#[test]
fn without_a_valid_point_the_reason_is_of_the_class_that_is_blamed() {
    let mut record = record(&Shape { void: vec![0], not_run: vec![3], ..Shape::memory(4) });
    let_rise(&mut record);
    let reasons = |point: usize| proofload_report::findings::evaluate(&record).points[point].verdict.reasons();
    assert!(reasons(1)[0].contains("still rising"), "the other points are void for another reason: {:?}", reasons(1));
    let text = render(&record, Format::Markdown).unwrap();
    let (_, opening) = text.split_once("✗ ").unwrap();
    let opening = opening.lines().next().unwrap();
    assert!(
        opening.starts_with(
            "**No result yet: 3 of 4 points measured, none valid, because a check failed.** Consistency condition 1: 1 of 4 \
             warehouses differs (1 of 3 points). Grey values"
        ) && opening.contains("**What to do:** `proofload resume X.proof` measures 1 missing point. Read the report's"),
        "{opening}"
    );
}

/// A changed record says so before anything else, and what broke first is unknown at a point that lost its result.
#[test]
fn a_changed_record_says_so_first() {
    let mut changed = record(&over("limits.memory", "\"1GiB\", \"2GiB\", \"4GiB\""));
    let of_first = changed.attempts.iter_mut().filter(|attempt| attempt.run.point == 0);
    of_first.for_each(|attempt| attempt.seal_holds = Some(false));
    let screen_of_changed = screen(&changed);
    let banner = "partial: The record was changed after the run. proofload verify X.proof tells where. 2 of 3 points valid. \
                  1 GiB is void, because the record was changed after the run. ";
    assert!(screen_of_changed.starts_with(banner), "{screen_of_changed}");
    let broke = "what_broke_first: Unknown at 1 GiB; no valid level has significantly lower throughput.\n";
    assert!(screen_of_changed.contains(broke), "{screen_of_changed}");
    let mut linked = record(&Shape::memory(2));
    assert!(screen(&linked).starts_with("good: 2 of 2 points valid."));
    linked.faults.push("link 3 of the chain does not match the previous link".to_owned());
    assert!(screen(&linked).starts_with("partial: The record was changed after the run."));
}

/// A study that lost its only factor to the machine does not look like one that varies nothing by choice.
#[test]
fn a_limit_that_was_left_out_is_told_first() {
    let shape = Shape { factors: String::new(), ..Shape::memory(1) };
    let mut without = record(&shape);
    let text = "[limits]\nwhen_refused = \"without\"\n\n# --set 'limits.memory=none'\n# --set 'study.title=\"A study, without limits.memory\"'\n";
    without.documents.insert("study.toml".to_owned(), text.to_owned());
    assert!(screen(&without).starts_with("good: 1 of 1 point valid."), "taken away by choice: {}", screen(&without));
    let (path, value) = ("limits.when_refused".to_owned(), Value::Text("without".to_owned()));
    without.study.settings = without.study.settings.with([(&path, &value)]);
    let told = screen(&without);
    let banner = "partial: Measured without limits.memory, which this machine did not allow. 1 of 1 point valid.";
    assert!(told.starts_with(banner), "{told}");
    assert!(told.contains("Unknown: limits.memory was left out, and the study varies nothing else."), "{told}");
    assert!(told.contains("proofload doctor tells how to allow limits.memory."), "{told}");
    // What the conductor wrote down counts, not what a title says.
    let mut written = record(&shape);
    let left_out = |settings: &[&str]| {
        let settings = settings.iter().map(|setting| (*setting).to_owned()).collect();
        AttemptEvent::new(WallTime(0), RunEvent::LimitsLeftOut(settings))
    };
    written.events.push(left_out(&["limits.memory"]));
    assert!(screen(&written).starts_with(banner), "{}", screen(&written));
    without.events.push(left_out(&[]));
    assert!(screen(&without).starts_with("good: 1 of 1 point valid."), "{}", screen(&without));
}

/// A study of which nothing was measured says so and why, and the load host is not taken for the host of a server elsewhere.
#[test]
fn a_server_that_was_not_reached_has_no_host() {
    let mut unreached = record(&Shape { not_run: vec![0, 1], ..Shape::memory(2) });
    let (path, url) = ("engine.url".to_owned(), Value::Text("postgresql://db1/bench".to_owned()));
    unreached.study.settings = unreached.study.settings.with([(&path, &url)]);
    let mut tried = record(&Shape::memory(1)).attempts.remove(0);
    tried.state = State::Failed { reason: "failed to resolve db1".to_owned() };
    unreached.attempts.push(tried);
    let text = render(&unreached, Format::Markdown).unwrap();
    for wanted in [
        "No result yet: no run of this study is finished. The last attempt failed: failed to resolve db1.",
        "was to be measured at 2 levels of database memory",
        "The host of the database was not observed.",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    assert!(!text.contains("The machine: "), "{text}");
}

#[test]
fn the_version_of_a_server_stands_below_the_title() {
    let mut record = record(&Shape::memory(1));
    for attempt in &mut record.attempts {
        attempt.facts.retain(|fact| !engine::VERSION.is_of(fact));
        attempt.facts.push(engine::SERVER_VERSION.observed("17.5 (Debian 17.5-1)", "SHOW"));
    }
    record.facts.retain(|fact| !engine::VERSION.is_of(fact));
    let text = render(&record, Format::Markdown).unwrap();
    assert!(text.contains(" 17.5 · "), "{text}");
}

/// The first screen, its figure and the section on throughput have one definition of the knee: what the intervals show.
#[test]
fn the_knee_is_where_the_first_screen_says() {
    let knee = record(&over("limits.memory", "\"64MiB\", \"128MiB\", \"2GiB\", \"4GiB\""));
    let text = render(&knee, Format::Markdown).unwrap().replace('\u{a0}', " ");
    for wanted in [
        "From 2 GiB of database memory on, throughput is the same",
        "The shaded range holds the knee.",
        "From 2 GiB on, no level is shown to be lower than the largest; 128 MiB is, so the knee lies between the two.",
        "add 608 MiB, 1088 MiB and 1568 MiB",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let plateau = record(&over("limits.memory", "\"1GiB\", \"2GiB\", \"4GiB\""));
    let text = render(&plateau, Format::Markdown).unwrap();
    assert!(text.contains("No level is shown to be lower than the largest, so no knee is shown."), "{text}");
    assert!(!text.contains("The shaded range holds the knee."), "{text}");
}

/// JSON and the choice of points for experiments take the knee from the same definition, and JSON says why there is none.
#[test]
fn programs_read_the_knee_of_the_page() {
    let json = |record: &Record| serde_json::from_str::<Json>(&render(record, Format::Json).unwrap()).unwrap();
    let between = record(&over("limits.memory", "\"64MiB\", \"128MiB\", \"2GiB\", \"4GiB\""));
    let knee = &json(&between)["knee"];
    assert_eq!((&knee["above"], &knee["at_most"]), (&json!(134_217_728.0), &json!(2_147_483_648.0)), "{knee}");
    assert_eq!(knee["not_fitted"], "a fit takes 7 valid levels, and there are 4");
    let findings = proofload_report::findings::evaluate(&between);
    let chosen = proofload_report::findings::attribution::chosen_points(&findings, "knee").unwrap();
    assert!(chosen.starts_with(&[1, 2]), "128 MiB and 2 GiB: {chosen:?}");
    let points = |words| proofload_report::findings::attribution::chosen_points(&findings, words);
    assert_eq!((points("1, 3"), points("limits.memory=64MiB, limits.memory=2 GiB")), (Ok(vec![0, 2]), Ok(vec![0, 2])));
    let told = points("0").unwrap_err().replace('\u{a0}', " ");
    assert!(told.starts_with("no point \"0\" with a finished run; use largest, knee, all, "), "{told}");
    assert!(told.ends_with("numbers among 1 (64 MiB), 2 (128 MiB), 3 (2 GiB), 4 (4 GiB)"), "{told}");
    assert_eq!(
        points("limits.memory=1GiB").unwrap_err(),
        "no point has limits.memory=1GiB; the levels of limits.memory are 64MiB, 128MiB, 2GiB, 4GiB; for example \
         --points limits.memory=64MiB"
    );
    let none = Vec::<String>::new();
    assert_eq!(proofload_report::findings::attribution::missing_knees(&findings, "knee"), none);
    let level = record(&over("limits.memory", "\"1GiB\", \"2GiB\", \"4GiB\""));
    let findings = proofload_report::findings::evaluate(&level);
    let missing = |words| proofload_report::findings::attribution::missing_knees(&findings, words);
    assert_eq!(missing("largest, knee"), ["no knee is shown: no level is shown to be lower than the largest"]);
    assert_eq!(missing("largest"), none);
    let plateau = &json(&level)["knee"];
    assert_eq!((&plateau["found"], &plateau["reason"]), (&json!(false), &json!("level")), "{plateau}");
    assert_eq!(plateau["missing"], "no level is shown to be lower than the largest");
    let of_one_point = &json(&record(&Shape::memory(1)))["knee"];
    assert_eq!(
        (&of_one_point["found"], &of_one_point["reason"]),
        (&json!(false), &json!("no_curve")),
        "{of_one_point}"
    );
    assert!(of_one_point["missing"].is_string(), "{of_one_point}");
}

/// A refusal speaks of all points where it says that none has a level, and of the measured ones where only these lack it.
#[test]
fn levels_that_cannot_be_tested_are_refused_and_not_left_out() {
    let two = "[[factor]]\nsetting = \"limits.memory\"\nlevels = [\"64MiB\", \"128MiB\"]\n\
               [[factor]]\nsetting = \"workload.virtual_users\"\nlevels = [4, 8]\n";
    let shape = |not_run: &[u32]| Shape { factors: two.to_owned(), not_run: not_run.to_vec(), ..Shape::memory(1) };
    let points = |record: &Record, words: &str| {
        let findings = proofload_report::findings::evaluate(record);
        proofload_report::findings::attribution::chosen_points(&findings, words)
    };
    let without_one = record(&shape(&[1]));
    assert_eq!(points(&without_one, "limits.memory=64MiB,workload.virtual_users=4"), Ok(vec![0]));
    for words in ["limits.memory=64MiB,workload.virtual_users=8", "1, limits.memory=64MiB,workload.virtual_users=8"] {
        assert_eq!(
            points(&without_one, words).unwrap_err(),
            "no point with a finished run has all of these levels: limits.memory=64MiB, workload.virtual_users=8"
        );
    }
    let without_users = record(&shape(&[1, 3]));
    assert_eq!(
        points(&without_users, "workload.virtual_users=4,workload.virtual_users=8").unwrap_err(),
        "no point with a finished run has workload.virtual_users=8"
    );
    assert_eq!(
        points(&without_users, "workload.virtual_users=2").unwrap_err(),
        "no point has workload.virtual_users=2; the levels of workload.virtual_users are 4, 8; for example \
         --points workload.virtual_users=4"
    );
    let nothing_run = record(&shape(&[0, 1, 2, 3]));
    for words in ["largest", "all", "1", "limits.memory=64MiB"] {
        assert_eq!(points(&nothing_run, words).unwrap_err(), "no point has a finished run", "{words}");
    }
}

/// A number after a comma is part of a level that some point has, and else a point of its own.
#[test]
fn a_level_with_a_comma_and_a_number_is_chosen_whole() {
    let mut listed = record(&Shape::memory(2));
    let (setting, levels) = ("engine.settings.x", ["1,2", "3"].map(|level| Value::Text(level.to_owned())));
    listed.study.factors[0].setting = setting.to_owned();
    listed.study.factors[0].levels = levels.to_vec();
    for (point, level) in listed.plan.points.iter_mut().zip(levels) {
        point.levels = [(setting.to_owned(), level)].into();
    }
    let findings = proofload_report::findings::evaluate(&listed);
    let points = |words| proofload_report::findings::attribution::chosen_points(&findings, words);
    assert_eq!(points("engine.settings.x=1,2"), Ok(vec![0]));
    assert_eq!(points("engine.settings.x=1,2, 2"), Ok(vec![0, 1]));
    assert_eq!(points("engine.settings.x=3,1"), Ok(vec![0, 1]));
}

/// A study without factors has one point, which is the first.
#[test]
fn the_only_point_of_a_terminal_is_number_one() {
    let alone = record(&Shape { factors: String::new(), ..Shape::memory(1) });
    let text = render(&alone, Format::Text).unwrap();
    let first_cells: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let head = first_cells.iter().position(|cell| *cell == "point").expect("a table of points");
    assert_eq!(first_cells.get(head + 1), Some(&"1"), "{text}");
}

/// Each group of a curve is ranked against its own largest, so that one that is slower throughout has a shape as well.
#[test]
fn every_group_of_a_curve_is_told_by_its_own_largest() {
    let factors = "[[factor]]\nsetting = \"engine.kind\"\nlevels = [\"sqlite\", \"postgresql\"]\n\
                   [[factor]]\nsetting = \"limits.memory\"\nlevels = [\"64MiB\", \"256MiB\"]\n";
    let shape = Shape { factors: factors.to_owned(), slow: vec![2, 3], ..Shape::memory(1) };
    let json: Json = serde_json::from_str(&render(&record(&shape), Format::Json).unwrap()).unwrap();
    let groups = json["knee"]["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 2);
    assert!(groups.iter().all(|group| group["reason"] == "still_rises"), "{groups:?}");
    let text = render(&record(&shape), Format::Markdown).unwrap().replace('\u{a0}', " ");
    assert!(text.contains("Method: 95 % intervals of the ratios to the largest of the group."), "{text}");
}

#[test]
fn commands_name_the_file_that_is_known() {
    let weak = record(&Shape { void: vec![1], not_run: vec![2], ..Shape::memory(4) });
    let known = ReportOptions { file: "results/memory.proof", ..ReportOptions::default() };
    let text = render_with(&weak, Format::Text, known).unwrap().replace("\n  ", " ");
    assert!(text.contains("proofload resume results/memory.proof measures 1 missing point."), "{text}");
    assert!(text.contains("proofload confirm results/memory.proof tests") && !text.contains("X.proof"), "{text}");
}

#[test]
fn a_narrow_terminal_gets_a_narrow_text() {
    let points = record(&Shape { void: vec![1], ..Shape::memory(4) });
    let narrow = ReportOptions { columns: Some(60), ..ReportOptions::default() };
    let text = render_with(&points, Format::Text, narrow).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
    assert!(text.contains("  verdict\n") && text.contains("not shown, for want of room: "), "{text}");
    let wide = ReportOptions { columns: Some(200), ..ReportOptions::default() };
    assert_eq!(render_with(&points, Format::Text, wide).unwrap(), render(&points, Format::Text).unwrap());
}

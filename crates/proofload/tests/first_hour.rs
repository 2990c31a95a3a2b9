//! The first hour by the program itself: studies that come with it, studies of one's own, examples, what is replaced and what is not.

mod support;

use support::{Bench, small_study, text};

/// Runs, expects a code, returns stdout and stderr together.
#[track_caller]
fn said(bench: &Bench, arguments: &[&str], code: i32) -> String {
    let output = bench.run(arguments);
    let words = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {words}");
    words
}

#[test]
fn studies_are_listed_shown_and_copied() {
    let bench = Bench::new("studies");
    let list = said(&bench, &["studies"], 0);
    assert!(list.contains("\n  memory-sweep\n      OLTP throughput against database memory\n"), "{list}");
    let shown = bench.run(&["studies", "--show", "key-value"]);
    let copied = said(&bench, &["studies", "--copy", "key-value"], 0);
    assert!(
        copied.starts_with("written: key-value.toml\n") && copied.contains("proofload run key-value.toml"),
        "{copied}"
    );
    assert_eq!(std::fs::read(bench.path("key-value.toml")).unwrap(), shown.stdout, "the same bytes");
    assert!(said(&bench, &["validate", "key-value.toml"], 0).contains("valid, 2 points"));
    assert!(said(&bench, &["studies", "--copy", "key-value"], 1).contains("key-value.toml exists"));
    said(&bench, &["studies", "--copy", "quick/key-value", "--overwrite"], 0);
    assert!(said(&bench, &["studies", "--copy", "nothing"], 2).contains("unknown study nothing; known: "));
    assert_eq!(bench.run(&["studies", "key-value"]).stdout, shown.stdout);
    assert!(said(&bench, &["studies", "nosuch"], 2).contains("unknown study nosuch; known: "));
    let near = said(&bench, &["studies", "--copy", "memry-sweep"], 2);
    assert!(near.contains("unknown study memry-sweep; did you mean memory-sweep?"), "{near}");
    for (wrong, meant) in [("search-users", "search-users"), ("key-valu.toml", "key-value")] {
        let missing = said(&bench, &["run", wrong], 1);
        assert!(missing.contains(&format!("proofload studies --copy {meant} writes")), "{missing}");
    }
    assert!(said(&bench, &["run", "nosuch"], 1).contains("proofload studies lists built-in studies"));
    let json: serde_json::Value = serde_json::from_slice(&bench.run(&["studies", "--json"]).stdout).unwrap();
    let rows = json["studies"].as_array().unwrap();
    let files: usize =
        ["quick", "papers"].iter().map(|folder| std::fs::read_dir(root().join(folder)).unwrap().count()).sum();
    assert_eq!(rows.len(), files);
    assert!(rows.iter().all(|row| row["name"].is_string() && row["space"]["bytes"].is_u64()), "{json:#}");
    let one: serde_json::Value =
        serde_json::from_slice(&bench.run(&["studies", "--show", "key-value", "--json"]).stdout).unwrap();
    assert_eq!(one["study"]["text"], text(&shown.stdout));
}

/// The folder of the studies.
fn root() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies")
}

/// Quick studies for MariaDB and MySQL: the study, what is set, its points, the engine of the plan. The guide says each.
const ON_MARIADB: &[(&str, &[&str], &str, &str)] = &[
    ("memory-sweep-mariadb", &[], "4 points", "mariadb"),
    ("key-value-mariadb", &[], "2 points", "mariadb"),
    ("warehouse-mariadb", &[], "1 point", "mariadb"),
    ("warehouse-mariadb-joins", &[], "3 points", "mariadb"),
    ("search-users-mariadb", &[], "1 point, and a search", "mariadb"),
    ("memory-sweep-postgresql", &["engine.kind=mariadb"], "4 points", "mariadb"),
    ("search-users", &["engine.kind=mariadb"], "1 point, and a search", "mariadb"),
    (
        "key-value",
        &["engine.kind=mariadb", "limits.memory=160MiB", "storage.path=/var/tmp/proofload-data"],
        "2 points",
        "mariadb",
    ),
    ("warehouse-postgresql", &["engine.kind=mariadb"], "1 point", "mariadb"),
    ("warehouse-mariadb", &["factor.engine.kind=[\"mariadb\", \"duckdb\"]"], "2 points", "duckdb"),
    (
        "memory-sweep-mariadb",
        &["engine.kind=mysql", "factor.limits.memory=[\"288MiB\", \"512MiB\", \"1GiB\"]"],
        "3 points",
        "mysql",
    ),
    ("key-value-mariadb", &["engine.kind=mysql", "limits.memory=512MiB"], "2 points", "mysql"),
    ("warehouse-mariadb", &["engine.kind=mysql", "limits.memory=512MiB"], "1 point", "mysql"),
    ("search-users-mariadb", &["engine.kind=mysql"], "1 point, and a search", "mysql"),
];

#[test]
fn quick_studies_are_planned_on_mariadb_and_mysql_as_the_guide_says() {
    let bench = Bench::new("quick-mariadb");
    let guide = include_str!("../../../docs/guides/mariadb.md");
    for (study, sets, points, engine) in ON_MARIADB {
        said(&bench, &["studies", "--copy", study, "--overwrite"], 0);
        assert!(guide.contains(&format!("`{study}`")), "the guide does not name {study}");
        let file = format!("{study}.toml");
        let mut options = vec![file.as_str()];
        for set in *sets {
            assert!(guide.contains(*set), "the guide does not say {set}");
            options.extend(["--set", *set]);
        }
        let valid = said(&bench, &[&["validate"][..], &options].concat(), 0);
        assert!(valid.contains(&format!("valid, {points}")), "{study} {sets:?}: {valid}");
        let plan = said(&bench, &[&["plan"][..], &options].concat(), 0);
        // A server of a root's study runs as another user, whom a clone in a closed folder keeps out.
        assert!(plan.contains(" in /var/tmp/proofload-data"), "{study} {sets:?}: {plan}");
        assert!(plan.contains(&format!("\n{engine}: ")), "{study} {sets:?}: {plan}");
    }
}

#[test]
fn a_quick_study_of_mariadb_goes_to_a_server_as_the_guide_says() {
    let bench = Bench::new("quick-mariadb-url");
    let guide = include_str!("../../../docs/guides/mariadb.md");
    let url = "mariadb://bench@db1/bench?ssl-mode=verify_identity&ssl-ca=/etc/ca.pem";
    assert!(guide.contains(&format!("url='{url}'")), "the guide does not say {url}");
    let sets = [
        "workload.key_mode=exact",
        "procedure.restore=never",
        "limits.memory=none",
        "limits.cores=none",
        "limits.cpu=none",
        "study.title=Key-value operations at our server",
    ];
    said(&bench, &["studies", "--copy", "key-value-mariadb"], 0);
    let at = format!("engine.url={url}");
    let mut options = vec!["validate", "key-value-mariadb.toml", "--set", at.as_str()];
    for set in sets {
        assert!(guide.contains(set), "the guide does not say {set}");
        options.extend(["--set", set]);
    }
    let valid = said(&bench, &options, 0);
    assert!(valid.contains("valid, 1 point"), "{valid}");
    let refused = said(&bench, &options[..4], 3);
    assert!(refused.contains("limits.memory") && refused.contains("procedure.restore"), "{refused}");
}

/// What makes a study of `init` a matter of seconds.
const TINY: &[(&str, &[&str])] = &[
    ("oltp", &["workload.warehouses=1", "workload.scale=toy"]),
    ("key-value", &["workload.records=2000"]),
    (
        "warehouse",
        &["workload.scale_factor=0.01", "workload.rounds=1", "workload.calibrate=none", "workload.queries=[\"q06\"]"],
    ),
    ("cache-tier", &["workload.warehouses=1", "workload.scale=toy"]),
];

/// One level of each thing that may vary: more make more points and show no more.
const LEVELS: &[(&str, &[&str])] = &[
    ("memory", &["factor.limits.memory=[\"64MiB\"]"]),
    ("users", &["factor.{users}=[2]"]),
    ("cache", &["factor.storage.cache=[{ percent = 30, accelerate = [\"data\"] }]"]),
    ("nothing", &[]),
    ("engine.settings.cache_size=[\"4MiB\"]", &[]),
];

/// Every embedded study of a workload that `init` can write is carried out, at the size of a toy.
#[track_caller]
fn check_runs(workload: &str) {
    let bench = Bench::new(&format!("init-{workload}"));
    let (_, sizes) = TINY.iter().find(|(name, _)| *name == workload).expect("it has a size");
    for (vary, levels) in LEVELS {
        if (*vary == "cache" && workload != "cache-tier") || (*vary == "memory" && workload == "cache-tier") {
            continue;
        }
        said(
            &bench,
            &["init", "--workload", workload, "--engine", "sqlite", "--vary", vary, "-o", "s.toml", "--overwrite"],
            0,
        );
        assert!(said(&bench, &["plan", "s.toml"], 0).contains(", in this order:"), "{vary}");
        let users = if workload == "warehouse" { "workload.streams" } else { "workload.virtual_users" };
        let mut sets: Vec<String> = sizes.iter().map(|set| (*set).to_owned()).collect();
        sets.extend(levels.iter().map(|set| set.replace("{users}", users)));
        if workload != "warehouse" {
            sets.extend(["procedure.warm_up.at_least=1s", "procedure.measure=1s"].map(str::to_owned));
        }
        let mut line = vec!["run", "s.toml", "-o", "s.proof", "--no-report"];
        sets.iter().for_each(|set| line.extend(["--set", set]));
        let words = text(&bench.run(&line).stderr);
        let record = proofload_record::read(&bench.path("s.proof")).unwrap_or_else(|error| panic!("{error}: {words}"));
        let runs = &record.plan.runs;
        assert!(!runs.is_empty() && runs.iter().all(|run| record.finished(run.index).is_some()), "{vary}: {words}");
        assert!(words.contains("\nverdict  "), "{vary}: {words}");
        std::fs::remove_file(bench.path("s.proof")).expect("it is ours");
    }
    bench.expect_no_process();
}

#[test]
fn studies_of_orders_and_payments_run() {
    check_runs("oltp");
}

#[test]
fn studies_of_keys_and_values_run() {
    check_runs("key-value");
}

#[test]
fn studies_of_queries_run() {
    check_runs("warehouse");
}

#[test]
fn studies_of_a_cache_tier_run() {
    check_runs("cache-tier");
}

#[test]
fn init_takes_what_nobody_can_be_asked_and_refuses_what_does_not_go_together() {
    let bench = Bench::new("init");
    let words = said(&bench, &["init"], 0);
    assert!(words.contains("not interactive, using: --workload oltp --engine sqlite --vary memory\n"), "{words}");
    assert!(words.contains("written: oltp-memory.toml\nnext     proofload doctor oltp-memory.toml"), "{words}");
    assert!(said(&bench, &["validate", "oltp-memory.toml"], 0).contains("valid, 4 points"));
    assert!(said(&bench, &["init"], 1).contains("oltp-memory.toml exists; replace it with --overwrite"));
    let printed = bench.run(&["init", "-o", "-", "--url", "postgresql://bench@db1/bench"]);
    assert!(text(&printed.stdout).contains("\nurl = \"postgresql://bench@db1/bench\"\n") && printed.status.success());
    let secret = said(&bench, &["init", "--url", "postgresql://bench:s3cret@db1/bench", "-o", "x.toml"], 2);
    assert!(secret.contains("the URL contains a password") && !secret.contains("s3cret"), "{secret}");
    assert!(!bench.path("x.toml").exists());
    assert!(said(&bench, &["init", "--engine", "oracle"], 2).contains("runs on sqlite, postgresql"));
}

#[test]
fn init_asks_on_a_terminal() {
    let bench = Bench::new("init-terminal");
    let line = format!("{} init", env!("CARGO_BIN_EXE_proofload"));
    let mut command = std::process::Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).current_dir(bench.path(".")).stdin(std::process::Stdio::piped());
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().expect("script is part of every Linux");
    let answers = b"key-value\n1\nusers\n";
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), answers).unwrap();
    let words = text(&child.wait_with_output().unwrap().stdout);
    for question in
        ["What do you want to measure?", "Where is the database?", "What should vary?", "written: key-value-users.toml"]
    {
        assert!(words.contains(question), "{question}: {words}");
    }
    assert!(said(&bench, &["validate", "key-value-users.toml"], 0).contains("valid, 4 points"));
}

#[test]
fn run_with_plan_prints_the_plan_and_starts_nothing() {
    let bench = Bench::new("dry-run");
    bench.study(&small_study("null", "", 2));
    let plan = bench.run(&["plan", "study.toml", "--set", "study.repetitions=3"]);
    let dry = bench.run(&["run", "study.toml", "-o", "x.proof", "--plan", "--set", "study.repetitions=3"]);
    assert_eq!((text(&plan.stdout), plan.status.code()), (text(&dry.stdout), dry.status.code()));
    assert!(text(&dry.stdout).contains("3 runs of 1 point, "), "{}", text(&dry.stdout));
    assert!(!bench.path("x.proof").exists() && !bench.path("data").exists());
}

#[test]
fn a_wrong_set_hides_no_other_fault() {
    let bench = Bench::new("set");
    bench.study(&small_study("null", "[limits]\nmemroy = \"1GiB\"\n", 1));
    let words = said(&bench, &["validate", "study.toml", "--set", "foo", "--set", "=1"], 3);
    for fault in ["has 3 faults", "line 22: limits.memroy: ", "\n--set foo: use setting=", "\n--set =1: use setting="] {
        assert!(words.contains(fault), "{fault}: {words}");
    }
    bench.study(&small_study("null", "", 1));
    assert!(said(&bench, &["validate", "study.toml", "--set", "foo"], 2).contains("--set foo: use setting="));
    let share = said(&bench, &["validate", "study.toml", "--set", "procedure.steal_tolerance=100%"], 0);
    assert!(share.contains("valid"), "{share}");
    let wrong = said(&bench, &["validate", "study.toml", "--set", "procedure.steal_tolerance=101%"], 3);
    assert!(wrong.contains("\"101%\" must be a share from 0 to 1, such as 0.05 or \"5%\""), "{wrong}");
}

#[test]
fn a_command_says_what_it_wrote_and_replaces_only_its_own_pages() {
    let bench = Bench::new("written");
    bench.study(&small_study("null", "", 1));
    bench.run(&["run", "study.toml", "-o", "x.proof", "--no-report"]);
    assert_eq!(said(&bench, &["report", "x.proof"], 0), "written: x.html\n");
    assert_eq!(said(&bench, &["report", "x.proof"], 0), "written: x.html\n", "a page of ours is made again");
    std::fs::write(bench.path("notes.html"), "notes of somebody").unwrap();
    let foreign = ["report", "x.proof", "-o", "notes.html"];
    let exists = "proofload: notes.html exists; replace it with --overwrite, or choose another file with -o\n";
    assert_eq!(said(&bench, &foreign, 1), exists);
    assert_eq!(std::fs::read_to_string(bench.path("notes.html")).unwrap(), "notes of somebody");
    assert_eq!(said(&bench, &[&foreign[..], &["--overwrite"]].concat(), 0), "written: notes.html\n");
    let markdown = ["report", "x.proof", "--format", "markdown", "-o", "x.md"];
    assert_eq!(said(&bench, &markdown, 0), "written: x.md\n");
    assert!(said(&bench, &markdown, 1).contains("x.md exists; replace it"), "only pages can be told for ours");
    let record = std::fs::read(bench.path("x.proof")).unwrap();
    assert!(said(&bench, &["report", "x.proof", "-o", "x.proof", "--overwrite"], 1).contains("is the record itself"));
    assert_eq!(std::fs::read(bench.path("x.proof")).unwrap(), record);
    assert_eq!(said(&bench, &["export", "x.proof", "--format", "json", "-o", "x.json"], 0), "written: x.json\n");
    assert_eq!(said(&bench, &["export", "x.proof", "--format", "csv", "-o", "tables"], 0), "written: tables\n");
    assert_eq!(said(&bench, &["man", "-o", "pages"], 0), "written: pages\n");
    let page = std::fs::read_to_string(bench.path("pages/proofload-validate.1")).unwrap();
    assert!(page.contains(r"[\-\-set SETTING=VALUE]... [\-\-json]"), "{page}");
    assert!(page.contains(".SH EXAMPLES\n.TP\n\\fBproofload validate study.toml\\fR\n"), "{page}");
    assert!(bench.path("pages/proofload-tier-kernel-set-up.1").exists(), "commands below commands have pages");
    let help = said(&bench, &["run", "--help"], 0);
    assert!(help.contains("\nExamples:\n  proofload run study.toml\n"), "{help}");
}

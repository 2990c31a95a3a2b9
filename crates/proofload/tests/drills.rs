//! Drills by the program itself, with real PostgreSQL servers: outages are told, losses are counted, promises are judged.

mod support;

use proofload_model::drill::{DrillReport, ProbeKind};
use proofload_model::events::RunEvent;
use proofload_model::series::replication::UNFLUSHED;
use proofload_model::time::Offset;
use proofload_record::{Attempt, Record, SeriesPoint};
use support::waiting::wait_for;
use support::{Bench, drill_report, expect_a_verdict, paced_study, postgresql_here, small_study, text};

/// Through a link of 1 MiB/s an asynchronous standby falls behind from the first second on; behind one that was cut it would do so until the
/// drill ends.
const DRILLS: &str = r#"
[replication]
mode = "async"
bandwidth = "1MiB"
[drill]
lasts = "2s"
[prober]
rate = "50/s"
[[factor]]
setting = "drill"
levels = [{ fault = "none" }, { fault = "crash primary", within = "120s" }, { fault = "partition link-1", within = "15s" }]
"#;

/// The fault of a run.
fn fault(record: &Record, attempt: &Attempt) -> &'static str {
    let faults = ["crash primary", "partition link-1", "partition clients"];
    let levels = &record.plan.points[attempt.run.point as usize].levels;
    let level = levels.values().map(ToString::to_string).collect::<String>();
    faults.into_iter().find(|fault| level.contains(fault)).unwrap_or("none")
}

/// Bytes of the primary's log that cannot have passed the link by the promotion, as the last look before the fault tells.
fn kept_back(attempt: &Attempt, report: &DrillReport) -> f64 {
    const LINK: f64 = 1_048_576.0;
    let of_series = |series: &&SeriesPoint| UNFLUSHED.is_of(&series.probe, &series.name);
    let looks = attempt.series.iter().filter(of_series).flat_map(|series| &series.samples);
    let before = looks.map(|(at, _, bytes)| (at.as_seconds(), *bytes)).filter(|(at, _)| *at < report.fault_after);
    let last = before.max_by(|one, other| one.0.total_cmp(&other.0));
    last.zip(report.promoted_at).map_or(0.0, |((at, bytes), promoted)| bytes - LINK * (promoted - at))
}

/// Whether a drill of the report counts; beside other work all of a study may be void, and then it says no more than that.
fn counts_any(page: &str, record: &Record) -> bool {
    page.matches("0, 1 void").count() < record.attempts.len()
}

#[test]
fn a_late_standby_loses_what_it_never_received_and_the_ledger_says_what() {
    if !postgresql_here("drills") {
        return;
    }
    let bench = Bench::new("drills");
    // Enough for the link to fall behind, and not so much that catching up takes minutes.
    bench.study(&paced_study(400, DRILLS));
    let done = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    expect_a_verdict(&done);
    let record = proofload_record::read(&bench.path("x.proof")).expect("a record");
    assert_eq!(record.attempts.len(), 3);
    for attempt in &record.attempts {
        let report = drill_report(attempt);
        let ledger = &report.prober.ledger;
        let told = format!("{}: {report:?}", fault(&record, attempt));
        assert!(ledger.kept > 20 && ledger.sent >= ledger.kept + ledger.lost, "{told}");
        assert_eq!((ledger.phantoms, ledger.holes, ledger.lost_as_warned), (0, 0, 0), "{told}");
        assert_eq!(report.prober.kinds.len(), 3, "{told}");
        let writes = report.prober.kinds.iter().find(|one| one.kind == ProbeKind::Write).expect("writes");
        let away = writes.outages.iter().any(|outage| outage.to.is_none_or(|to| to.as_seconds() > report.fault_after));
        match fault(&record, attempt) {
            "crash primary" => {
                // A host that is busy with other tests may have made no more log than the link took.
                let kept_back = kept_back(attempt, report);
                assert!(ledger.lost > 0 || kept_back < 262_144.0, "{kept_back} B were kept back; {told}");
                assert_eq!(ledger.lost_numbers.len() as u64, ledger.lost.min(1000), "{told}");
                assert!(away && report.promoted_at.is_some_and(|at| at > report.fault_after), "{told}");
                let fork = report.fork.expect("a promotion begins a timeline");
                assert_eq!((fork.timeline_before, fork.timeline), (1, 2), "{told}");
                // The bytes beyond the fork are no fewer than those of a record for each lost write.
                assert!(fork.lost().is_some_and(|bytes| bytes.0 >= 24 * ledger.lost), "{told}");
                let before_the_fault = |at: Offset| at.as_seconds() < report.fault_at;
                assert_eq!(ledger.oldest_lost.map(before_the_fault), (ledger.lost > 0).then_some(true), "{told}");
            }
            "partition link-1" => assert!(ledger.lost == 0 && report.undone_at.is_some(), "{told}"),
            _ => assert_eq!(ledger.lost, 0, "{told}"),
        }
    }
    let page = bench.run(&["report", "x.proof", "--format", "markdown"]);
    let page = text(&page.stdout);
    assert!(page.contains("What protection buys"), "{page}");
    // A void drill tells its losses too.
    let loses = record.attempts.iter().any(|attempt| drill_report(attempt).prober.ledger.lost > 0);
    assert_eq!(page.contains("acknowledged writes were lost"), loses || counts_any(&page, &record), "{page}");
    bench.expect_no_process();
}

#[test]
fn a_drill_that_cannot_be_is_refused_before_anything_is_built() {
    let bench = Bench::new("drills-refused");
    let more = "[drill]\nfault = \"crash standby-1\"\n";
    bench.study(&small_study("postgresql", more, 1));
    let done = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    let told = text(&done.stderr);
    assert_eq!(done.status.code(), Some(3), "{told}");
    for part in ["this drill needs a standby", "workload.deadline"] {
        assert!(told.contains(part), "{told}");
    }
    assert!(!bench.path("x.proof").exists());
}

/// A drill of a server alone, which is started again after its crash.
const ALONE: &str = r#"
[drill]
fault = "crash primary"
lasts = "2s"
within = "120s"
[prober]
rate = "50/s"
"#;

#[test]
fn a_server_alone_is_started_again_and_has_every_acknowledged_write() {
    if !postgresql_here("drills") {
        return;
    }
    let bench = Bench::new("drills-alone");
    bench.study(&paced_study(100, ALONE));
    let done = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    expect_a_verdict(&done);
    let record = proofload_record::read(&bench.path("x.proof")).expect("a record");
    let report = drill_report(record.attempts.last().expect("an attempt"));
    let said = format!("{}{}", text(&done.stdout), text(&done.stderr));
    let in_one_line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!in_one_line.contains("the mode was"), "it has none: {said}");
    let (ledger, told) = (&report.prober.ledger, format!("{report:?}"));
    assert!(ledger.lost == 0 && ledger.kept > 20 && ledger.leaders.len() == 1, "{told}");
    assert_eq!((&report.promoted, report.protected_again_at), (&None, None), "{told}");
    assert!(report.undone_at.is_some_and(|at| at >= report.fault_at + 2.0), "{told}");
    let writes = report.prober.kinds.iter().find(|one| one.kind == ProbeKind::Write).expect("writes");
    let longest = writes.outages.iter().filter_map(|outage| Some(outage.to?.as_seconds() - outage.from.as_seconds()));
    assert!(longest.fold(0.0, f64::max) > 1.5, "it was away for as long as it was not started: {told}");
    bench.expect_no_process();
}

/// Acknowledges commits before they are flushed, and flushes seldom: a crash takes the end of the log.
const UNFLUSHED_COMMITS: &str = "[engine.settings]\nsynchronous_commit = \"off\"\nwal_writer_delay = \"2s\"\n";

#[test]
fn a_tail_that_a_server_alone_lost_is_no_hole() {
    if !postgresql_here("drills") {
        return;
    }
    let bench = Bench::new("drills-tail");
    bench.study(&paced_study(100, &format!("{ALONE}{UNFLUSHED_COMMITS}")));
    let done = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    let told = format!("{}{}", text(&done.stdout), text(&done.stderr));
    let record = proofload_record::read(&bench.path("x.proof")).expect("a record");
    let ledger = &drill_report(record.attempts.last().expect("an attempt")).prober.ledger;
    // The crash may come right after a flush; what users lost makes the run void, and is no matter of the ledger.
    println!("{} of {} writes lost", ledger.lost, ledger.sent);
    assert_eq!((ledger.holes, ledger.two_claimed_seconds, ledger.phantoms), (0, 0, 0), "{ledger:?}; {told}");
    assert!(ledger.unread.is_none() && ledger.leaders.len() == 1, "{ledger:?}; {told}");
    let in_one_line = told.split_whitespace().collect::<Vec<_>>().join(" ");
    for wrong in ["two primaries", "acknowledged and lost"] {
        assert!(!in_one_line.contains(wrong), "{told}");
    }
    bench.expect_no_process();
}

/// A drill whose second standby follows the one that is promoted.
const PAIR: &str = r#"
[replication]
mode = "remote_flush"
standbys = 2
[drill]
fault = "crash primary"
within = "120s"
[prober]
rate = "50/s"
"#;

#[test]
fn a_promoted_standby_with_another_is_protected_again() {
    if !postgresql_here("drills") {
        return;
    }
    let bench = Bench::new("drills-protected");
    bench.study(&paced_study(100, PAIR));
    let done = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    expect_a_verdict(&done);
    let record = proofload_record::read(&bench.path("x.proof")).expect("a record");
    let attempt = record.attempts.last().expect("an attempt");
    let report = drill_report(attempt);
    let told = format!("{report:?}");
    assert_eq!(report.reach.map(|reach| (reach.reached, reach.of, reach.holds_all)), Some((2, 2, true)), "{told}");
    assert!(report.protected_again_at.is_some_and(|at| at >= report.promoted_at.unwrap_or(f64::MAX)), "{told}");
    assert_eq!((report.prober.ledger.lost, report.prober.ledger.leaders.len()), (0, 2), "{told}");
    let pages: u64 = attempt.events.iter().map(|event| acknowledged(&event.event)).sum();
    assert_eq!(pages, report.prober.ledger.kept, "what was handed over each second is what the ledger has");
    for table in ["drills", "outages", "prober", "ledger"] {
        let done = bench.run(&["export", "x.proof", "--format", "csv", "--table", table]);
        assert!(done.status.success() && text(&done.stdout).starts_with("attempt,run,"), "{}", text(&done.stdout));
    }
    let done = bench.run(&["export", "x.proof", "--format", "history"]);
    let history: Vec<serde_json::Value> = serde_json::from_slice(&done.stdout).expect("it is one JSON array");
    let writes = attempt.events.iter().filter_map(|event| match &event.event {
        RunEvent::LedgerPage(page) => Some(page.count()),
        _ => None,
    });
    // Those that were never sent have failed for certain.
    let writes: u64 = writes.sum();
    assert!(writes >= report.prober.ledger.sent, "{told}");
    assert_eq!(
        history.len() as u64,
        2 * writes + 2,
        "each write begins and ends, and one read: {}",
        text(&done.stderr)
    );
    bench.expect_no_process();
}

/// A drill whose failed primary is put back behind the standby that took its place.
const REWOUND: &str = r#"
[replication]
mode = "remote_flush"
rtt = "1ms"
[drill]
rejoin = "rewind"
within = "120s"
[prober]
rate = "50/s"
[[factor]]
setting = "drill.fault"
levels = ["crash primary", "partition clients"]
"#;

#[test]
fn a_failed_primary_is_rewound_and_waited_for_again() {
    if !postgresql_here("drills") {
        return;
    }
    let bench = Bench::new("drills-rewound");
    bench.study(&paced_study(100, REWOUND));
    let done = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    expect_a_verdict(&done);
    let record = proofload_record::read(&bench.path("x.proof")).expect("a record");
    assert_eq!(record.attempts.len(), 2);
    for attempt in &record.attempts {
        let report = drill_report(attempt);
        let told = format!("{}: {report:?}", fault(&record, attempt));
        assert!(report.rejoin_asked_at > report.promoted_at && report.promoted_at.is_some(), "{told}");
        assert!(report.rejoined_at > report.rejoin_asked_at, "{told}");
        assert!(report.protected_again_at >= report.rejoined_at, "{told}");
        assert_eq!((report.prober.ledger.lost, report.prober.ledger.holes), (0, 0), "{told}");
    }
    let page = bench.run(&["report", "x.proof", "--format", "markdown"]);
    let page = text(&page.stdout);
    assert_eq!(page.contains("rejoined"), counts_any(&page, &record), "{page}");
    bench.expect_no_process();
}

fn acknowledged(event: &RunEvent) -> u64 {
    match event {
        RunEvent::LedgerPage(page) => page.acknowledged(),
        _ => 0,
    }
}

/// Address of the first standby's socket: its folder and its port.
fn standby_socket(bench: &Bench) -> Option<(String, String)> {
    let mut folders = vec![bench.path("data")];
    while let Some(folder) = folders.pop() {
        let here = folder.join("postmaster.pid");
        if folder.to_string_lossy().contains("standby-1") && here.exists() {
            let port = std::fs::read_to_string(here).ok()?.lines().nth(3)?.to_owned();
            return Some((folder.display().to_string(), port));
        }
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        folders.extend(entries.map(|entry| entry.path()).filter(|path| path.is_dir() && !path.is_symlink()));
    }
    None
}

/// Deletes five acknowledged writes from the standby as soon as it takes writes: a loss that the mode has promised away.
///
/// Returns their numbers. How many writes there were before the crash depends on the host, so the oldest five are
/// taken, in one statement that deletes all of them or, with fewer in the table, none.
fn delete_when_promoted(bench: &Bench, child: &mut std::process::Child) -> Option<Vec<String>> {
    let statement = "WITH oldest AS (SELECT op FROM proofload.proofload_ledger ORDER BY op LIMIT 5) \
                     DELETE FROM proofload.proofload_ledger WHERE op IN (SELECT op FROM oldest) \
                     AND (SELECT count(*) FROM oldest) = 5 RETURNING op";
    while child.try_wait().expect("it is ours").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(20));
        let Some((folder, port)) = standby_socket(bench) else { continue };
        let done = std::process::Command::new("psql")
            // A socket's path has at most 107 bytes, and this folder's name is longer.
            .current_dir(&folder)
            .args([
                "-h",
                "/proc/self/cwd/pg_stat_tmp",
                "-p",
                &port,
                "-U",
                "proofload",
                "-d",
                "proofload",
                "-X",
                "-q",
                "-A",
                "-t",
                "-c",
                statement,
            ])
            .output()
            .expect("psql is installed with the server");
        let mut deleted: Vec<String> = text(&done.stdout).split_whitespace().map(str::to_owned).collect();
        if done.status.success() && deleted.len() == 5 {
            deleted.sort_by_key(|op| op.parse::<u64>().expect("a number of a write"));
            return Some(deleted);
        }
    }
    None
}

#[test]
fn acknowledged_writes_lost_against_a_promise_end_a_run_with_code_5_and_are_named() {
    if !postgresql_here("drills") {
        return;
    }
    let bench = Bench::new("drills-promise");
    bench.study(&paced_study(100, &PAIR.replace("standbys = 2", "standbys = 1")));
    let mut child = bench.spawn(&["run", "study.toml", "-o", "x.proof"]);
    let deleted = delete_when_promoted(&bench, &mut child).expect("the standby takes writes");
    let done = child.wait_with_output().expect("it ends");
    let told = format!("{}{}", text(&done.stdout), text(&done.stderr));
    assert_eq!(done.status.code(), Some(5), "{told}");
    // Lines are wrapped to the width of the terminal.
    let in_one_line = told.split_whitespace().collect::<Vec<_>>().join(" ");
    let lost = format!("writes were acknowledged and lost; none may be lost: {}", deleted.join(", "));
    assert!(in_one_line.contains(&lost), "{told}");
    let record = proofload_record::read(&bench.path("x.proof")).expect("a record");
    let report = drill_report(record.attempts.last().expect("an attempt"));
    assert_eq!((report.prober.ledger.lost, report.protected_again_at), (5, None), "{report:?}");
    bench.expect_no_process();
}

#[test]
fn a_drill_whose_loader_dies_is_none_and_keeps_what_was_acknowledged_until_then() {
    if !postgresql_here("drills") {
        return;
    }
    let bench = Bench::new("drills-loader");
    bench.study(&paced_study(100, &PAIR.replace("standbys = 2", "standbys = 1")));
    let child = bench.spawn(&["run", "study.toml", "-o", "x.proof"]);
    let before = wait_for("a ledger is handed over", || {
        let record = proofload_record::read(&bench.path("x.proof")).ok()?;
        let events = record.attempts.last()?.events.iter().map(|event| acknowledged(&event.event)).sum::<u64>();
        (events > 50).then_some(events)
    });
    // The load agent is the one with a prober's thread.
    let has_prober = |pid: &u32| {
        let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        threads
            .map(|thread| thread.path().join("comm"))
            .any(|comm| std::fs::read_to_string(comm).is_ok_and(|name| name.trim() == "prober"))
    };
    let loader = bench.processes().into_iter().map(|(pid, _)| pid).find(has_prober).expect("a prober is at work");
    support::kill(loader);
    let done = child.wait_with_output().expect("it ends");
    let told = format!("{}{}", text(&done.stdout), text(&done.stderr));
    assert_eq!(done.status.code(), Some(1), "{told}");
    assert!(told.contains("the drill is void: its ledger was lost with the load agent"), "{told}");
    let record = proofload_record::read(&bench.path("x.proof")).expect("a record");
    let pages: u64 = record.attempts[0].events.iter().map(|event| acknowledged(&event.event)).sum();
    assert!(pages >= before, "{pages} of {before}");
    bench.expect_no_process();
}

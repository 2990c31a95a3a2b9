//! What a record leads to: keys, gaps, verdicts and sentences.

use crate::support::{Shape, json_of, judged_before, record, unsettled};
use expect_test::{Expect, expect};
use proofload_model::error::ErrorKind;
use proofload_model::events::{LoadAgentStart, LoadAgentStop, RunEvent};
use proofload_model::samples::{AgentSecond, AuditedSample, Check, CheckOutcome, ClientSelf, Fact, LostSession};
use proofload_model::time::{Offset, WallTime};
use proofload_record::{AttemptEvent, Record, State};
use proofload_report::findings::{Verdict, VoidClass, evaluate};
use proofload_report::{Format, render};
use serde_json::Value as Json;

/// The Markdown below a heading, up to the next one.
fn check_section(shape: &Shape, heading: &str, expected: Expect) {
    let markdown = render(&record(shape), Format::Markdown).expect("the record has points");
    let from = markdown.find(heading).unwrap_or_else(|| panic!("there is no {heading}"));
    let rest = &markdown[from..];
    let to = rest[2..].find("\n#").map_or(rest.len(), |at| at + 2);
    expected.assert_eq(&rest[..to]);
}

#[test]
fn json_has_the_promised_keys() {
    let json = json_of(&record(&Shape::memory(2)));
    assert_eq!(json["study"]["name"], "memory-sweep");
    for point in json["points"].as_array().unwrap() {
        assert!(point["levels"]["limits.memory"].is_string());
        assert_eq!(point["runs"].as_array().unwrap().len(), 1);
        assert_eq!(point["verdict"], "valid");
        assert!(point["relative_percent"].is_number());
        let metrics = &point["metrics"];
        let one = |name: &str| &metrics[name];
        for metric in ["tpm", "nopm", "cpu_percent", "device_read_mb_s", "device_write_mb_s"].map(one) {
            check_metric(metric);
        }
        for kind in ["new_order", "payment", "order_status", "delivery", "stock_level", "all"] {
            for percentile in ["response_ns_p50", "response_ns_p95", "response_ns_p99", "response_ns_p999"] {
                check_metric(&metrics[percentile][kind]);
            }
        }
    }
    assert!(json["knee"].is_object() && json["bottleneck"]["points"].is_array());
}

fn check_metric(metric: &Json) {
    assert!(metric["value"].is_number() && metric["unit"].is_string() && metric["n"].as_u64() > Some(0), "{metric}");
    assert!(metric["ci95"].is_array() || metric["ci95_missing"].is_string(), "{metric}");
}

#[test]
fn relative_throughput_follows_the_known_curve() {
    let json = json_of(&record(&Shape { repetitions: 2, ..Shape::memory(4) }));
    let known = |memory: f64| 1.0 - 0.9 * (-memory / 190.0_f64).exp();
    for (point, memory) in json["points"].as_array().unwrap().iter().zip([64.0, 128.0, 256.0, 512.0]) {
        let percent = point["relative_percent"].as_f64().unwrap();
        let truth = 100.0 * known(memory) / known(512.0);
        assert!((percent / truth - 1.0).abs() < 0.05, "{memory} MiB: {percent} % where {truth} % is true");
    }
    assert_eq!(json["points"][3]["relative_percent"], 100.0);
}

#[test]
fn missing_telemetry_is_a_gap_and_not_a_zero() {
    let blind = record(&Shape { blind: true, ..Shape::memory(2) });
    let json = json_of(&blind);
    let cpu = &json["points"][0]["metrics"]["cpu_percent"];
    assert_eq!((cpu["value"].clone(), cpu["n"].clone()), (Json::Null, Json::from(0)));
    assert_eq!(cpu["missing"], "CPU utilization was not observed");
    let markdown = render(&blind, Format::Markdown).unwrap();
    for gap in [
        "**Not measured:** storage: the device was not observed.",
        "**Not measured:** per-core utilization was not observed.",
    ] {
        assert!(markdown.contains(gap), "{gap}");
    }
}

/// Changes a record of one point and expects one reason of a class.
fn check_void(change: impl Fn(&mut Record), class: VoidClass, text: &str) {
    let mut changed = record(&Shape::memory(1));
    change(&mut changed);
    let findings = evaluate(&changed);
    let Verdict::Void(voids) = &findings.points[0].verdict else { panic!("{text}: the point is not void") };
    assert!(voids.iter().any(|void| void.class == class && void.text.contains(text)), "{text} is not among {voids:?}");
}

#[test]
fn every_fault_of_a_run_voids_its_point() {
    use VoidClass::{Host, NotSteady, Verification};
    check_void(|r| r.attempts[0].facts[1].holds = None, Verification, "limit memory.max could not be verified");
    check_void(|r| r.attempts[0].facts[1].holds = Some(false), Verification, "limit memory.max: asked for 64MiB");
    check_void(|r| drop(r.attempts[0].intervals.remove(30)), Verification, "1 s of samples are missing");
    check_void(|r| r.attempts[0].series.iter_mut().for_each(|s| drop(s.samples.drain(25..30))), Host, "telemetry of");
    check_void(|r| r.attempts[0].events.retain(|e| e.event.name() != "steady"), NotSteady, "no verdict on the warm-up");
    check_void(|r| judged_before(r, unsettled), NotSteady, "never settled");
    check_void(|r| r.attempts[0].events.retain(|e| e.event.name() != "window"), Verification, "no measured window");
    check_void(slower, NotSteady, "throughput");
    check_void(|r| r.attempts[0].seal_holds = Some(false), Verification, "the seal does not match");
    check_void(|r| r.attempts[0].intervals[20].counts[0].due += 1, Verification, "conservation of operations");
    check_void(|r| r.attempts[0].intervals[5].histograms[0].count += 1, Verification, "latencies and counts");
    check_void(
        |r| r.attempts[0].intervals[20].histograms[0].payload.truncate(9),
        Verification,
        "failed to read a histogram",
    );
    check_void(|r| r.attempts[0].marks[3].1.counters[0].1 -= 1, Verification, "new orders, client and database");
    check_void(failing, Verification, "operations failed");
    check_void(lost, Verification, "intervals and totals");
}

#[test]
fn lost_connections_are_told_with_how_they_came_back() {
    let second = 1_000_000_000;
    let lost = |session, lost: i64, returned: Option<i64>| LostSession {
        session,
        lost: Offset(lost * second),
        returned: returned.map(|at| Offset(at * second)),
        tries: 9,
    };
    let told = |all: &[LostSession]| {
        let mut record = record(&Shape::memory(1));
        record.attempts[0].events.push(AttemptEvent::new(WallTime(0), RunEvent::SessionsLost(all.to_vec())));
        let run = json_of(&record)["points"][0]["runs"][0]["lost_sessions"].clone();
        (render(&record, Format::Markdown).expect("the record has points"), run)
    };
    let (some, json) = told(&[lost(0, 20, Some(23)), lost(1, 21, Some(25)), lost(0, 24, None)]);
    assert_eq!(
        (&json["losses"], &json["returned"], &json["longest_away_seconds"]),
        (&3.into(), &2.into(), &4.0.into())
    );
    let line = "3 lost, the first at second 20.000; 2 of 3 reconnected, the last at second 25.000, after 3 to 4 s";
    assert!(some.contains(line) && some.contains("with unknown outcome"), "{some}");
    let (none, json) = told(&[lost(0, 20, None)]);
    assert!(json["last_back_seconds"].is_null() && json["first_lost_seconds"] == 20.0, "{json}");
    assert!(none.contains("1 lost, the first at second 20.000; none reconnected during the load"), "{none}");
    let report = render(&record(&Shape::memory(1)), Format::Markdown).expect("the record has points");
    assert!(!report.contains("connections were lost"));
}

/// The second half of the window does half of the work.
fn slower(record: &mut Record) {
    for interval in &mut record.attempts[0].intervals[31..] {
        for counts in &mut interval.counts {
            (counts.done, counts.rolled_back, counts.due) = (counts.done / 2, 0, counts.done / 2);
        }
    }
}

fn failing(record: &mut Record) {
    let counts = &mut record.attempts[0].intervals[20].counts[1];
    (counts.due, counts.failed) = (counts.due + 1, 1);
}

/// An interval's counts were lost on the way.
fn lost(record: &mut Record) {
    let counts = &mut record.attempts[0].intervals[20].counts[1];
    (counts.due, counts.done) = (counts.due - 1, counts.done - 1);
}

#[test]
fn a_busy_client_makes_the_point_generator_bound_unless_the_engine_lives_in_it() {
    let busy = |engine: &str, in_process: Option<&str>| {
        let factor = format!("[[factor]]\nsetting = \"engine.kind\"\nlevels = [\"{engine}\"]\n");
        let mut busy = record(&Shape { factors: factor, ..Shape::memory(1) });
        for interval in &mut busy.attempts[0].intervals {
            interval.client.thread_cpu_ns = vec![950_000_000, 100_000_000];
        }
        let fact = in_process.map(|said| Fact::observed("client", "engine_in_process", said, "load agent"));
        busy.attempts[0].facts.extend(fact);
        evaluate(&busy).points[0].verdict.clone()
    };
    assert_eq!(busy("sqlite", None), Verdict::Valid);
    assert_eq!(busy("postgresql", Some("true")), Verdict::Valid);
    for (engine, said) in [("postgresql", None), ("sqlite", Some("false"))] {
        let Verdict::Void(voids) = busy(engine, said) else { panic!("{engine}: a busy client went unseen") };
        assert_eq!(voids[0].class, VoidClass::GeneratorBound);
    }
}

#[test]
fn a_result_near_the_ceiling_of_the_generator_is_flagged_and_stays_valid() {
    let flagged = |headroom: f64| {
        let mut near = record(&Shape::memory(1));
        let throughput = evaluate(&near).points[0].runs[0].throughput().value();
        let fact = Fact::observed("client", "null_ceiling", "many/s", "load agent");
        near.attempts[0].facts.push(Fact { number: Some(headroom * throughput), ..fact });
        let findings = evaluate(&near);
        assert_eq!(findings.points[0].verdict, Verdict::Valid);
        render(&near, Format::Markdown).unwrap().contains("the generator alone reaches only 1.9 times this throughput")
    };
    assert!(flagged(1.9));
    assert!(!flagged(2.1));
}

/// A run of three load agents: the second slow, the third late and busy.
fn with_agents() -> Record {
    let mut of_agents = record(&Shape {
        factors: "[[factor]]\nsetting = \"engine.kind\"\nlevels = [\"postgresql\"]\n".to_owned(),
        ..Shape::memory(1)
    });
    let attempt = &mut of_agents.attempts[0];
    let agent = |number, name: &str, share, clock_bound_ns| LoadAgentStart {
        number,
        name: name.to_owned(),
        share,
        users: Some(u64::from(share)),
        pid: None,
        clock_bound_ns,
    };
    let started = [agent(0, "near", 1, Some(40_000)), agent(1, "slow", 2, Some(3_000_000)), agent(2, "late", 1, None)];
    let stopped = LoadAgentStop { number: 1, clock_moved_ns: Some(-250_000), clock_bound_ns: None };
    for event in [RunEvent::LoadAgents(started.to_vec()), RunEvent::LoadAgentsStopped(vec![stopped])] {
        attempt.events.push(AttemptEvent::new(WallTime(0), event));
    }
    for number in 0..attempt.intervals.len() as u64 {
        for (agent, completed, cpu) in [(0, 30, 100_000_000), (1, 40, 200_000_000), (2, 30, 950_000_000)] {
            let client = ClientSelf { thread_cpu_ns: vec![10_000_000, cpu], ..ClientSelf::default() };
            attempt.agents.seconds.push(AgentSecond { agent, number, completed, client, ..AgentSecond::default() });
        }
    }
    of_agents
}

#[test]
fn the_load_generator_is_the_limit_when_one_of_its_agents_is() {
    let record = with_agents();
    let findings = evaluate(&record);
    let run = &findings.points[0].runs[0];
    let told: Vec<String> = run.generator.bound.iter().map(ToString::to_string).collect();
    let expected =
        "load agent late: client thread 1 used 95 % of a core, limit 80 %; use more client threads or another machine";
    assert_eq!(told, [expected]);
    let Verdict::Void(voids) = &findings.points[0].verdict else { panic!("a busy agent went unseen") };
    assert_eq!(voids[0].class, VoidClass::GeneratorBound);
    let off: Vec<String> = run.agents.iter().map(|agent| format!("{:.2}", agent.imbalance())).collect();
    assert_eq!(off, ["0.20", "-0.20", "0.20"]);
    let document = render(&record, Format::Markdown).expect("the record has points");
    assert!(document.contains("the load was uneven"), "{document}");
    assert!(document.contains("slow completed 40 % of the operations; its requested share was 50 %"), "{document}");
}

#[test]
fn points_that_were_not_finished_say_why() {
    let mut partly = record(&Shape { not_run: vec![1], ..Shape::memory(3) });
    let failed = partly.attempts.iter_mut().find(|attempt| attempt.run.point == 2).unwrap();
    failed.state = State::Failed { reason: "the server was killed".to_owned() };
    let json = json_of(&partly);
    assert_eq!(json["points"][1]["reasons"][0], "the study has not reached it yet");
    assert_eq!(json["points"][2]["reasons"][0], "its last attempt failed: the server was killed");
    assert_eq!(json["points"][2]["verdict"], "void");
    assert!(json["points"][2]["relative_percent"].is_null());
    let stopped = partly.attempts.iter_mut().find(|attempt| attempt.run.point == 2).unwrap();
    let kind = RunEvent::FailedAs(ErrorKind::Interrupted);
    stopped.events.push(AttemptEvent::new(stopped.started, kind));
    assert_eq!(json_of(&partly)["points"][2]["reasons"][0], "its last attempt was interrupted", "whatever its words");
}

#[test]
fn the_data_of_a_resumed_study_are_those_that_its_interrupted_attempt_built() {
    let mut resumed = record(&Shape::memory(1));
    let built = Fact::observed("data", "rows", "1234", "manifest");
    let of_that_run_alone = Fact::observed("client", "threads", "77", "the plan");
    let mut interrupted = resumed.attempts[0].clone();
    interrupted.facts = vec![built, of_that_run_alone];
    interrupted.state = State::Failed { reason: "interrupted".to_owned() };
    interrupted.id = 1;
    resumed.attempts[0].id = 2;
    resumed.attempts.insert(0, interrupted);
    resumed.facts.retain(|fact| fact.subject != "data");
    let document = render(&resumed, Format::Markdown).expect("the record has points");
    let from = document.find("#### Data").expect("a heading");
    let data = &document[from..from + 300];
    assert!(data.contains("1,234"), "{data}");
    let tested = &document[..document.find("## 2").expect("the next section")];
    assert!(!tested.contains("77"), "what an unfinished run observed is not the study's: {tested}");
}

#[test]
fn the_summary_is_in_sentences() {
    check_section(
        &Shape { void: vec![1], ..Shape::memory(4) },
        "# OLTP throughput",
        expect![[r#"
            # OLTP throughput against database memory

            TPROC-C, a TPC-C-derived workload, not a TPC result · SQLite 3.50.4 · 4 warehouses · 4 virtual users · 2 cores · drive simulated NVMe drive · 21 September 2026, 14:13 UTC

            ✓ **3 of 4 points valid.** 128 MiB is void, because a check failed. Reasons: section 4.

            **Throughput still rises up to 512 MiB of database memory, the largest level. At 256 MiB it is 20 % lower, at 64 MiB 63 %.**

            - **What held**: 72,170 transactions per minute (70,861 to 72,687) at 512 MiB; New-Order p99 11.7 ms (11.4 to 12.0).
            - **What broke first**: Throughput is lower by 20.2 % (18.6 to 21.9) at 256 MiB, by 63.0 % (62.3 to 63.7) at 64 MiB.
            - **Why (observed, not confirmed)**: At 256 MiB, the cores were 82.2 % (81.0 to 83.4) busy. At 512 MiB, the cores were 87.0 % (85.7 to 88.4) busy. A transaction read from the drive 6.91 (6.77 to 7.09) times at 256 MiB and 1.82 (1.78 to 1.88) times at 512 MiB.
            - **How sure**: One run each: intervals cover the variation within a run, not between runs. The widest interval is ±1.5 %, at 256 MiB. Figures are as given by this host, where other load could not be observed; on a quiet host they may differ.
            - **Next**: Add larger levels, such as 1 GiB. `proofload confirm X.proof` tests what bound it, in at most 46 min.

            **Figure 1.** Throughput against database memory, and below it drive reads. Whiskers are 95 % intervals; grey marks are void points, not results.

            > Line chart of throughput in transactions per minute against database memory. valid points: 26,704 at 64 MiB, 57,566 at 256 MiB, 72,170 at 512 MiB. void, not a result: 40,788 at 128 MiB. Line chart of drive reads in MB/s against database memory. valid points: 35.2 at 64 MiB, 27.2 at 256 MiB, 8.92 at 512 MiB. void, not a result: 38.9 at 128 MiB.

            | Database memory | Throughput, transactions per minute | New orders, per minute | Share of the largest, % | Drive reads, MB/s | Verdict |
            |---|---:|---:|---:|---:|---|
            | 64 MiB | 26,704 (26,226 to 26,878; n = 30) | 11,926 (11,713 to 12,003; n = 30) | 37.00 (36.31 to 37.71; n = 60) | 35.21 (34.54 to 35.88; n = 30) | ✓ valid |
            | 128 MiB | 40,788 (39,874 to 41,399; n = 30) | 18,182 (17,763 to 18,471; n = 30) | *not measured: the point is void* | 38.9 (37.7 to 40.1; n = 30) | ✗ **void** |
            | 256 MiB | 57,566 (56,424 to 58,126; n = 30) | 25,668 (25,176 to 25,911; n = 30) | 79.8 (78.1 to 81.4; n = 60) | 27.23 (26.61 to 27.84; n = 30) | ✓ valid |
            | 512 MiB | 72,170 (70,861 to 72,687; n = 30) | 32,172 (31,590 to 32,399; n = 30) | 100 (n = 60, no interval: the largest point is the reference) | 8.92 (8.79 to 9.04; n = 30) | ✓ valid |

        "#]],
    );
    check_section(
        &Shape { void: vec![0, 1], ..Shape::memory(2) },
        "# OLTP throughput",
        expect![[r#"
            # OLTP throughput against database memory

            TPROC-C, a TPC-C-derived workload, not a TPC result · SQLite 3.50.4 · 4 warehouses · 4 virtual users · 2 cores · drive simulated NVMe drive · 21 September 2026, 14:13 UTC

            ✗ **No result: none of 2 points is valid, because a check failed.** Consistency condition 1: 1 of 4 warehouses differs. Grey values below were observed but support no conclusion. **What to do:** Read the report's section on validity: a check failed, and measuring again does not fix it.

            **Figure 1.** Throughput against database memory, and below it drive reads. Whiskers are 95 % intervals; grey marks are void points, not results.

            > Line chart of throughput in transactions per minute against database memory. void, not a result: 26,704 at 64 MiB, 40,788 at 128 MiB. Line chart of drive reads in MB/s against database memory. void, not a result: 35.2 at 64 MiB, 38.9 at 128 MiB.

            | Database memory | Throughput, transactions per minute | New orders, per minute | Share of the largest, % | Drive reads, MB/s | Verdict |
            |---|---:|---:|---:|---:|---|
            | 64 MiB | 26,704 (26,226 to 26,878; n = 30) | 11,926 (11,713 to 12,003; n = 30) | *not measured: no point is valid* | 35.21 (34.54 to 35.88; n = 30) | ✗ **void** |
            | 128 MiB | 40,788 (39,874 to 41,399; n = 30) | 18,182 (17,763 to 18,471; n = 30) | *not measured: no point is valid* | 38.9 (37.7 to 40.1; n = 30) | ✗ **void** |

        "#]],
    );
}

#[test]
fn several_factors_give_a_sentence_each() {
    let engines = "[[factor]]\nsetting = \"engine.kind\"\nlevels = [\"sqlite\", \"postgresql\"]\n";
    let shape = Shape { factors: format!("{engines}{}", Shape::memory(2).factors), ..Shape::memory(1) };
    let markdown = render(&record(&shape), Format::Markdown).unwrap();
    for text in [
        "at 4 points: engine × database memory",
        "**Within 5\u{a0}% throughput is the same with ",
        ", 128\u{a0}MiB: ",
        ", 64\u{a0}MiB it is 35 % lower, with ",
    ] {
        assert!(markdown.contains(text), "{text}");
    }
}

#[test]
fn the_curve_says_where_it_bends() {
    check_section(
        &Shape { repetitions: 2, ..Shape::memory(8) },
        "## Appendix B",
        expect![[r#"
            ## Appendix B Shape of the curve

            The curve bends at 363 MiB (320 to 448; n = 8); beyond it a larger level gains little. Of 3 shapes with enough points the two straight pieces fits best by AICc.

            Elasticity is the relative change of throughput for a relative change of database memory, step by step (Table 7): 1 means proportional, 0 a plateau. It shows the gain of a step, not its cause.

            **Table 7.** Gain of each step between neighbouring valid levels.

            | From | To | Elasticity of throughput, d ln X / d ln R |
            |---|---|---:|
            | 64 MiB | 128 MiB | 0.59 (0.46 to 0.71; n = 2) |
            | 128 MiB | 256 MiB | 0.51 (0.36 to 0.66; n = 2) |
            | 256 MiB | 512 MiB | 0.323 (0.261 to 0.385; n = 2) |
            | 512 MiB | 1 GiB | 0.055 (−0.036 to 0.146; n = 2) |
            | 1 GiB | 2 GiB | 0.002 (−0.041 to 0.045; n = 2) |
            | 2 GiB | 4 GiB | 0.006 (−0.046 to 0.058; n = 2) |
            | 4 GiB | 8 GiB | 0.00 (−0.16 to 0.16; n = 2) |

        "#]],
    );
}

#[test]
fn candidates_are_observed_and_not_confirmed() {
    check_section(
        &Shape::memory(2),
        "## 3 What limited throughput",
        expect![[r#"
            ## 3 What limited throughput

            - At 64 MiB, tasks waited for storage 38.7 % (38.3 to 39.1) of the time. 
            - At 128 MiB, tasks waited for storage 27.1 % (26.6 to 27.7) of the time. 

            **Observed, not confirmed by intervention**: a busy resource is not necessarily the cause. It is one if changing this resource alone changes the throughput.

            **Figure 7.** Utilization of each resource in the measured window, in per cent; stalls in per cent of the time. Points run from left to right.

            > Heat map of utilization by resource and point; the highest of each. 64 MiB: busiest core 68 %. 128 MiB: busiest core 77 %.

            | Resource | 64 MiB | 128 MiB |
            |---|---:|---:|
            | processor | 65 | 73 |
            | busiest core | 68 | 77 |
            | busiest thread | 46 | 45 |
            | nvme0n1 | 67 | 54 |
            | storage (pressure) | 39 | 27 |

            **Candidates of each point with their evidence**

            **Table 6.** Candidates for the bottleneck of each point, most likely first. Observed, not confirmed by intervention.

            | Point | Rank | Candidate | Use, % of the window | Evidence |
            |---|---:|---|---:|---|
            | 64 MiB | 1 | storage (pressure) | 38.72 (38.33 to 39.11; n = 30) | tasks stalled for storage during 39 % \[38, 39\] of the window (n = 30 s) |
            | 64 MiB | 2 | nvme0n1 | 67.2 (65.6 to 68.8; n = 30) | nvme0n1 was busy 67 % \[66, 69\] of the window (n = 30 s); a device that serves requests in parallel can be busy and still have capacity |
            | 64 MiB | 3 | processor | 65.17 (64.68 to 65.65; n = 30) | all 2 cores together were busy 65 % \[65, 66\] of the window (n = 30 s) |
            | 128 MiB | 1 | storage (pressure) | 27.10 (26.56 to 27.65; n = 30) | tasks stalled for storage during 27 % \[27, 28\] of the window (n = 30 s) |
            | 128 MiB | 2 | processor | 73.0 (71.9 to 74.1; n = 30) | all 2 cores together were busy 73 % \[72, 74\] of the window (n = 30 s) |
            | 128 MiB | 3 | nvme0n1 | 53.8 (52.4 to 55.1; n = 30) | nvme0n1 was busy 54 % \[52, 55\] of the window (n = 30 s); a device that serves requests in parallel can be busy and still have capacity |

            > **Not measured:** network, wait events of the database. Resources that were not observed cannot be excluded.

        "#]],
    );
}

#[test]
fn the_terminal_gets_a_narrow_table() {
    let text = render(&record(&Shape { void: vec![1], ..Shape::memory(4) }), Format::Text).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    expect![[r#"
        OLTP throughput against database memory
        ! 3 of 4 points valid. 128 MiB is void, because a check failed. Reasons: see
          below.

        Throughput still rises up to 512 MiB of database memory, the largest level. At
          256 MiB it is 20 % lower, at 64 MiB 63 %.

        What held: 72,170 transactions per minute [70,861 to 72,687] at 512 MiB;
          New-Order p99 11.7 ms [11.4 to 12.0].
        What broke first: Throughput is lower by 20.2 % [18.6 to 21.9] at 256 MiB, by
          63.0 % [62.3 to 63.7] at 64 MiB.
        Why (observed, not confirmed): At 256 MiB, the cores were 82.2 % [81.0 to 83.4]
          busy. At 512 MiB, the cores were 87.0 % [85.7 to 88.4] busy. A transaction
          read from the drive 6.91 [6.77 to 7.09] times at 256 MiB and 1.82 [1.78 to
          1.88] times at 512 MiB.
        How sure: One run each: intervals cover the variation within a run, not between
          runs. The widest interval is ±1.5 %, at 256 MiB. Figures are as given by this
          host, where other load could not be observed; on a quiet host they may differ.
        Next: Add larger levels, such as 1 GiB. proofload confirm X.proof tests what
          bound it, in at most 46 min.

        database memory     TPM    NOPM  % of max  host CPU %  read MB/s  write MB/s  p99 NO ms  verdict
        64 MiB           26,704  11,926      37.0        65.4       35.2        7.38       32.7  valid
        128 MiB          40,788  18,182         -        72.6       38.9        11.2       21.3  void
        256 MiB          57,566  25,668      79.8        81.1       27.2        15.7       14.9  valid
        512 MiB          72,170  32,172     100.0        86.9       8.92        19.8       11.7  valid

        128 MiB is void: consistency condition 1: 1 of 4 warehouses differs

        64 MiB; 256 MiB; 512 MiB are as given
    "#]]
    .assert_eq(&text);
}

#[test]
fn a_reason_shared_by_runs_and_points_stands_once() {
    let shape = Shape { void: vec![1, 2], repetitions: 2, ..Shape::memory(3) };
    let text = render(&record(&shape), Format::Text).unwrap();
    let reasons = text.split_once("\n\n").unwrap().1;
    expect![[r#"
        TPROC-C reached 26,840 transactions per minute at 64 MiB.

        What held: 26,840 transactions per minute [25,115 to 28,574] at 64 MiB;
          New-Order p99 33.0 ms [28.0 to 39.0].
        What broke first: Unknown: only one of 3 points is valid.
        Why (observed, not confirmed): At 64 MiB, tasks waited for storage 38.6 % [38.2
          to 39.1] of the time.
        How sure: 2 runs each; intervals cover the variation between runs. The interval
          is ±6.4 %. Figures are as given by this host, where other load could not be
          observed; on a quiet host they may differ.
        Next: proofload confirm X.proof tests what bound it, in at most 46 min.
          proofload plan STUDY --pilot X.proof shows how many runs narrower intervals
          need.

        database memory     TPM    NOPM  % of max  host CPU %  read MB/s  write MB/s  p99 NO ms  verdict
        64 MiB           26,840  11,982     100.0        65.7       35.6        7.37       33.0  valid, wide
        128 MiB          40,273  17,966         -        72.7       38.1        11.0       21.4  void
        256 MiB          57,244  25,526         -        80.8       27.1        15.6       15.0  void

        128 MiB; 256 MiB are void: consistency condition 1: 1 of 4 warehouses differs

        64 MiB is as given
    "#]]
    .assert_eq(reasons);
}

#[test]
fn csv_is_tidy() {
    let csv = render(&record(&Shape::memory(2)), Format::Csv).unwrap();
    let head = csv.lines().next().unwrap();
    assert_eq!(head.trim_end(), "point,limits.memory,verdict,estimand,metric,type,value,unit,ci_low,ci_high,n,note");
    let tpm = csv.lines().find(|line| line.contains(",tpm,,")).unwrap();
    assert!(tpm.starts_with("0,64MiB,valid,as given,tpm,,") && tpm.contains(",1/min,"), "{tpm}");
    assert!(csv.lines().any(|line| line.contains(",response_ns_p99,new_order,")));
    let repeated = render(&record(&Shape { repetitions: 3, ..Shape::memory(2) }), Format::Csv).unwrap();
    assert!(repeated.contains(",as given,tpm,,") && repeated.contains(",ratio,relative_percent,,"), "{repeated}");
    assert!(!csv.contains(",ratio,relative_percent,,"), "one repetition has no ratio: {csv}");
}

#[test]
fn what_the_control_group_counted_stands_in_a_table_of_its_own() {
    let mut told = record(&Shape::memory(1));
    assert!(
        !render(&told, Format::Markdown).unwrap().contains("Time throttled at the CPU limit"),
        "nothing told, no table"
    );
    for (name, value) in [("cpu.time", "12.500s"), ("cpu.throttled_time", "3.250s"), ("io.read", "64MiB")] {
        told.attempts[0].facts.push(Fact::observed("usage", name, value, "the control group"));
    }
    let markdown = render(&told, Format::Markdown).unwrap().replace('\u{a0}', " ");
    let from = markdown.find("| CPU time |").unwrap_or_else(|| panic!("no table: {markdown}"));
    let head = markdown[..from].rfind('\n').unwrap();
    let lines: Vec<&str> = markdown[head..].trim_start().lines().take(3).collect();
    assert_eq!(lines[0].replace("**", ""), "| Point | CPU time | Time throttled at the CPU limit | Read |");
    assert!(lines[2].ends_with("| 12.500 s | 3.250 s | 64 MiB |"), "{lines:?}");
}

/// Audits of drawn inputs come with limits, n, what was observed and how likely that is; an invalid one voids its point.
#[test]
fn audits_of_inputs_stand_in_a_table_and_in_json() {
    let mut record = record(&Shape::memory(1));
    let audit = |name: &str, observed: &str, p: f64, outcome: CheckOutcome| Check {
        group: "inputs".to_owned(),
        name: name.to_owned(),
        rule: "as the clause says".to_owned(),
        found: observed.to_owned(),
        outcome,
        offenders: Vec::new(),
        sample: Some(AuditedSample {
            limits: "0.90 % to 1.10 %".to_owned(),
            n: 12_000,
            observed: observed.to_owned(),
            p: Some(p),
        }),
        lost: None,
    };
    record.attempts[0].checks.extend([
        audit("rollbacks", "1.13 %", 0.16, CheckOutcome::TooSmall),
        audit("items", "uniform", 3.2e-9, CheckOutcome::Failed),
    ]);
    let markdown = render(&record, Format::Markdown).unwrap();
    let row = |name: &str| markdown.lines().find(|line| line.contains(&format!("| {name} |"))).unwrap_or_default();
    for part in ["0.90 % to 1.10 %", "1.13 %", "0.160", "outside, sample too small (n = 12000)"] {
        assert!(row("rollbacks").contains(part), "{}", row("rollbacks"));
    }
    assert!(row("items").contains("3.2e-9") && row("items").contains("invalid"), "{}", row("items"));
    let json = json_of(&record);
    let point = &json["points"][0];
    assert_eq!(point["verdict"], "void");
    let checks = point["runs"][0]["checks"].as_array().unwrap();
    let items = checks.iter().find(|check| check["name"] == "items").unwrap();
    assert_eq!((&items["sample"]["n"], &items["sample"]["p"]), (&12_000.into(), &3.2e-9.into()));
}

/// Every user failed: no figure is a result, and the failures are told.
#[test]
fn a_run_of_failures_is_no_result() {
    let mut record = record(&Shape::memory(1));
    for interval in &mut record.attempts[0].intervals {
        for counts in &mut interval.counts {
            counts.failed += std::mem::take(&mut counts.done);
            counts.failed += std::mem::take(&mut counts.rolled_back);
        }
    }
    let findings = evaluate(&record);
    let reasons = findings.points[0].verdict.reasons();
    assert!(!findings.points[0].verdict.is_valid());
    assert!(reasons.iter().any(|reason| reason.contains("operations failed (")), "{reasons:?}");
    assert!(json_of(&record)["points"][0]["runs"][0]["failed"].as_u64() > Some(1_000));
}

/// A profile other than the clauses is named in every format, and what was departed from stands in a table.
#[test]
fn a_profile_is_named_wherever_its_figures_are() {
    let mut record = record(&Shape::memory(1));
    let profile = proofload_model::settings::Value::Text("hammerdb-compatible".to_owned());
    record.study.settings.0.insert("workload.profile".to_owned(), profile);
    let about = "c-123: C is 123 for every field (2.1.6.1)";
    record.attempts[0].facts.push(Fact::observed("client", "departure.02", about.to_owned(), "profile of the run"));
    for format in [Format::Html, Format::Markdown, Format::Csv, Format::Json, Format::Text] {
        let text = render(&record, format).unwrap();
        assert!(text.contains("HammerDB-compatible (6.0)"), "{format:?}");
    }
    let markdown = render(&record, Format::Markdown).unwrap();
    assert!(markdown.contains("# HammerDB-compatible (6.0): "), "{markdown}");
    let row = markdown.lines().find(|line| line.starts_with("| 2 |")).unwrap_or_default();
    assert!(
        row.contains("`c-123`") && row.contains("C is 123 for every field (2.1.6.1)") && row.contains("all points"),
        "{row}"
    );
}

//! What is said of limits by how much of them was used, of memory by its bytes, and of resources of which less gives more.

use crate::experiments::{
    CPU, CPU_BOUND, FULL, MEMORY, READS, System, carry_out, experiment_of, is_lowered, studied, tested, tested_with,
    text_of, words,
};
use crate::support::{Shape, record};
use proofload_model::deployment::InstanceName;
use proofload_model::events::RunEvent;
use proofload_model::intervention::{Change, ConfirmAsked, Experiment, ResourceClass, USERS};
use proofload_model::time::Offset;
use proofload_record::{Record, SeriesPoint};
use proofload_report::findings::attribution::{attributions, conclusion};
use proofload_report::{Format, render};
use std::sync::atomic::{AtomicU32, Ordering};

/// The record of an experiment at a step of 30 %.
fn tested_at_30(system: &System) -> Record {
    let mut record = studied();
    let experiment = experiment_of(&record, 12);
    let asked = ConfirmAsked { step: 0.3, ..experiment.asked };
    carry_out(&mut record, &Experiment { asked, ..experiment }, system, usize::MAX);
    record
}

/// CPU time of which 92 % is used without bursts: it binds from 8 % less on.
const NEARLY_FULL: System = System {
    throughput: |change, low| if is_lowered(change, CPU) { (low / 0.92).min(1.0) } else { 1.0 },
    response: |_, _| 1.0,
    used: |name, of| if name == CPU { (0.92 / of).min(1.0) } else { 0.1 },
    ..CPU_BOUND
};

#[test]
fn a_limit_that_binds_only_once_it_is_lowered_is_not_confirmed() {
    let record = tested_at_30(&NEARLY_FULL);
    let found = &attributions(&record)[0].resources[0];
    // ln(0.7 / 0.92) / ln 0.7 is 0.77, with an interval above 0.5: the elasticity alone would confirm it.
    let elasticity = found.throughput.as_ref().unwrap();
    assert!(elasticity.value >= 0.7 && elasticity.bounds(0.05).0 > 0.5, "{elasticity:?}");
    assert_eq!(words(&record)[0], (CPU.to_owned(), "contributes"));
    let text = text_of(&record);
    let part = "contributes: 92 % was used, so that it binds from 8 % less on, not now; 30 % less costs";
    assert!(text.contains(part) && !text.contains("bound by"), "{text}");
}

#[test]
fn a_limit_that_is_reached_in_bursts_binds() {
    // At the limit for three quarters of the time: in bursts that a visit does not show, 0.75 / (0.7 + 0.3 · 0.75) of the lowered one.
    let bursts = System {
        throughput: |change, low| if is_lowered(change, CPU) { 1.0 / (0.25 + 0.75 / low) } else { 1.0 },
        used: |name, of| match name {
            CPU if of < 1.0 => 0.81,
            CPU => 0.75,
            _ => 0.1,
        },
        ..NEARLY_FULL
    };
    let record = tested_at_30(&bursts);
    assert_eq!(words(&record)[0], (CPU.to_owned(), "confirmed"));
    assert!(
        text_of(&record).contains("It is reached in bursts: 75 % of it was used on average."),
        "{}",
        text_of(&record)
    );
}

#[test]
fn seconds_at_the_limit_tell_bursts() {
    let mut record = tested_at_30(&NEARLY_FULL);
    let attempt = record.experiments.last_mut().unwrap();
    let last = attempt.intervals.last().unwrap().index as i64;
    let used = |second: i64| if second % 4 == 0 { 0.3 } else { 0.5 };
    let samples = (0..=last).map(|second| (Offset((second + 1) * 1_000_000_000), 1_000_000_000, used(second)));
    attempt.series.push(SeriesPoint {
        probe: "group".to_owned(),
        name: "cpu".to_owned(),
        component: String::new(),
        instance: InstanceName::default(),
        unit: "CPU s/s".to_owned(),
        samples: samples.collect(),
    });
    let found = &attributions(&record)[0].resources[0];
    let share = found.limit_use.and_then(|used| used.at_limit).unwrap();
    assert!((0.6..0.9).contains(&share), "{share}");
    assert_eq!(found.decision.verdict.word(), "confirmed");
}

#[test]
fn blocks_that_were_full_by_chance_are_not_chosen() {
    let uneven = System { ahead: |block| if block % 3 == 0 { 1.0 } else { 0.9 }, ..CPU_BOUND };
    let record = tested(&uneven);
    let found = &attributions(&record)[0];
    let cpu = &found.resources[0];
    assert_eq!((cpu.full_blocks, cpu.throughput.as_ref().unwrap().blocks), (None, found.blocks));
}

#[test]
fn fewer_users_that_give_more_are_told_with_what_they_own() {
    let crowded = System {
        throughput: |change, low| match change {
            Change::One(name) if name == USERS => 1.7,
            change if is_lowered(change, CPU) => low,
            _ => 1.0,
        },
        ..CPU_BOUND
    };
    let text = text_of(&tested(&crowded));
    for part in
        ["Fewer users give ", " % more throughput [", ": 8 in place of 10. Each user has a warehouse of its own"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text_of(&tested(&CPU_BOUND)).contains("Fewer users give"), "users that queue cost nothing");
    let spinning = System { throughput: |change, _| if is_lowered(change, CPU) { 1.2 } else { 1.0 }, ..CPU_BOUND };
    let text = text_of(&tested(&spinning));
    for part in ["CPU time of the database: 20 % less gives ", " % more throughput ["] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// The first sentence on memory that binds, where throughput follows read IOPS like this.
fn memory_bound(throughput: fn(&Change, f64) -> f64) -> String {
    let system = System { throughput, response: |_, _| 1.0, ..FULL };
    let more = [(READS, ResourceClass::Capacity), (MEMORY, ResourceClass::Structure)];
    conclusion(&attributions(&tested_with(&more, &system))[0]).remove(0)
}

#[test]
fn memory_is_told_in_bytes_and_by_the_reads_through_which_it_acts() {
    // The limit of reads binds in one visit of three, so that it is not told apart.
    static VISITS: AtomicU32 = AtomicU32::new(0);
    let follows_memory = |change: &Change, low: f64| match change {
        Change::One(name) if name == MEMORY => low,
        Change::One(name) if name == READS && VISITS.fetch_add(1, Ordering::Relaxed).is_multiple_of(3) => low,
        _ => 1.0,
    };
    let open = memory_bound(follows_memory);
    for part in [
        "Throughput is bound by memory of the database, confirmed by intervention: from 1,000 to 800 B costs 20 % of throughput [",
        ", presumably through reads (read IOPS, elasticity 0.",
        ", not told apart).",
    ] {
        assert!(open.contains(part), "{part}: {open}");
    }
    let cleared = memory_bound(|change, low| match change {
        Change::One(name) if name == MEMORY => low,
        _ => 1.0,
    });
    assert!(cleared.ends_with("], not through the reads that were lowered."), "{cleared}");
    for told in [open, cleared] {
        assert!(!told.contains("20 % less"), "{told}");
    }
}

#[test]
fn the_99th_percentile_has_a_verdict_of_its_own_with_its_direction() {
    let record = tested(&CPU_BOUND);
    let found = &attributions(&record)[0];
    let users = found.resources.iter().find(|one| one.plan.name == USERS).unwrap();
    // Users queue: fewer of them cost no throughput and shorten the percentile.
    assert_eq!((users.decision.verdict.word(), users.on_response.lengthens), ("refuted", Some(false)));
    assert_eq!(found.resources[0].on_response.decision.verdict.word(), "not tested", "it does not see a quota");
    let told = render(&record, Format::Markdown).unwrap();
    assert!(told.contains("Verdict on p99") && told.contains(": less shortens it"), "{told}");
}

#[test]
fn an_experiment_that_was_made_in_several_attempts_says_so() {
    let mut record = studied();
    let experiment = experiment_of(&record, 12);
    carry_out(&mut record, &experiment, &CPU_BOUND, 12);
    assert!(!text_of(&record).contains("attempts"), "{}", text_of(&record));
    carry_out(&mut record, &experiment, &CPU_BOUND, usize::MAX);
    assert!(text_of(&record).contains("were made in 2 attempts"), "{}", text_of(&record));
}

#[test]
fn points_that_were_tested_by_different_steps_each_have_theirs() {
    let factors = "[[factor]]\nsetting = \"limits.cpu\"\nlevels = [0.5, 0.6]\n\
                   [[factor]]\nsetting = \"limits.read_iops\"\nlevels = [1000]\n";
    let mut record = record(&Shape { factors: factors.to_owned(), ..Shape::memory(1) });
    // The experiment takes its point from the first attempt.
    record.attempts.sort_by_key(|attempt| attempt.run.point);
    let experiment = experiment_of(&record, 12);
    carry_out(&mut record, &experiment, &CPU_BOUND, usize::MAX);
    let mut other = record.experiments[0].clone();
    other.run.point = 1;
    for event in &mut other.events {
        if let RunEvent::ExperimentBegun(begun) = &mut event.event {
            begun.asked.step = 0.3;
        }
    }
    record.experiments.push(other);
    let told = render(&record, Format::Markdown).unwrap();
    assert!(told.contains("was lowered by 20 % (") && told.contains(") and 30 % ("), "{told}");
}

#[test]
fn a_host_that_changed_since_the_record_is_told() {
    let slower = System { drift: |_| 0.2, ..CPU_BOUND };
    assert!(text_of(&tested(&slower)).contains("what is said holds for the host as it was during the experiment"));
}

#[test]
fn a_block_in_which_the_load_generator_was_paused_does_not_count_and_is_told() {
    let mut record = tested(&CPU_BOUND);
    let before = attributions(&record).remove(0);
    assert_eq!(before.blocks, before.made);
    assert!(!text_of(&record).contains("not count"), "{}", text_of(&record));
    let attempt = record.experiments.last_mut().expect("it was made");
    let first = attempt.events.iter().find_map(|event| match &event.event {
        RunEvent::Visited(visit) => Some(visit.from),
        _ => None,
    });
    let second = attempt.intervals.iter_mut().find(|second| Some(second.index) == first).expect("it was visited");
    second.client.paused_ns = 1_000_000_000;
    let found = attributions(&record).remove(0);
    assert_eq!((found.blocks, found.made), (before.blocks - 1, before.made));
    let text = text_of(&record);
    assert!(text.contains(&format!("1 of {} complete blocks does not count: ", found.made)), "{text}");
}

#[test]
fn a_full_quota_and_the_speed_of_its_cores_are_counted_once() {
    const CORES: &str = "limits.cores";
    let follows = |change: &Change, low: f64| {
        let is_slower = is_lowered(change, CPU) || change.lowers(CORES, ResourceClass::Speed);
        if is_slower { low } else { 1.0 }
    };
    let system = System { throughput: follows, response: |_, _| 1.0, ..CPU_BOUND };
    let more = [(CORES, ResourceClass::Speed), (READS, ResourceClass::Capacity)];
    let record = tested_with(&more, &system);
    let confirmed: Vec<&str> = words(&record).iter().map(|(_, word)| *word).collect();
    assert_eq!(confirmed, ["confirmed", "confirmed", "refuted"]);
    let found = attributions(&record).remove(0);
    assert_eq!(found.joint.as_ref().map(|joint| joint.left.as_str()), Some(CPU));
    let rest = found.unexplained.expect("all were lowered");
    let (low, high) = rest.bounds(0.05);
    assert!(low <= 0.05 && high >= -0.05 && rest.value.abs() < 0.2, "{rest:?}");
    let text = text_of(&record);
    assert!(text.starts_with("Throughput is bound by CPU time of the database within 20 %"), "{text}");
    assert!(text.contains("are the same resource as CPU time of the database seen from another side"), "{text}");
    // With nothing else to lower there is no visit of all others.
    assert_eq!(attributions(&tested_with(&more[..1], &system)).remove(0).joint, None);
}

#[test]
fn a_limit_of_few_requests_is_expected_as_it_is_rounded() {
    // 1000 are asked for in these systems; here 12, of which 9.6 are 10.
    let few = System {
        in_force: |name, change| {
            let lowered = if is_lowered(change, READS) { 10.0 } else { 12.0 };
            (name == READS).then_some(lowered)
        },
        used: |name, _| if name == CPU { 1.0 } else { 0.1 },
        ..CPU_BOUND
    };
    let record = tested(&few);
    assert_eq!(words(&record)[1], (READS.to_owned(), "refuted"));
    let one = System { in_force: |name, _| (name == READS).then_some(1.0), ..CPU_BOUND };
    let record = tested(&one);
    let why = attributions(&record).remove(0).resources[1].throughput.clone().unwrap_err();
    assert!(why.contains("1 per second is too small a limit to be lowered by the step"), "{why}");
}

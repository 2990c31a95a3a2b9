//! Which stage pays for a standby: the split of a transaction's time, forecast beside measured, elasticity, and a planted single thread.

use crate::support::replicated::{faster_first, observe, of_points, role, short_of_cpu};
use proofload_model::commit_levels::{CommitCalibration, CommitLevel};
use proofload_model::deployment::InstanceName;
use proofload_model::events::RunEvent;
use proofload_model::samples::Fact;
use proofload_model::series::sessions;
use proofload_model::session_state::SessionState;
use proofload_model::settings::Value;
use proofload_model::time::WallTime;
use proofload_record::{AttemptEvent, Record};
use proofload_report::findings::evaluate;
use proofload_report::findings::replication::replicated;
use proofload_report::findings::slopes::slopes;
use proofload_report::metrics::{LatencyStatistic, MetricKey};
use proofload_report::{Format, render};
use std::time::Duration;

const MODE: &str = "replication.mode";
const KEY: &str = "a deployment";

fn text(word: &str) -> Value {
    Value::Text(word.to_owned())
}

/// One node and a pair that flushes, four runs of each.
fn modes() -> Record {
    of_points(&[&[(MODE, text("none"))], &[(MODE, text("remote_flush"))]], 4, 1)
}

/// Has the sessions of every run spend these shares of what was measured in states.
fn split(record: &mut Record, shares: &[(SessionState, f64)]) {
    let found = evaluate(record);
    let busy: Vec<f64> = found
        .points
        .iter()
        .map(|point| {
            let response =
                point.metric(MetricKey::response(LatencyStatistic::Mean, "all")).expect("it is measured").value()
                    * 1e-9;
            point.throughput.as_ref().expect("it is measured").value * response
        })
        .collect();
    for attempt in &mut record.attempts {
        let sessions_at_work = busy[attempt.run.point as usize];
        for state in SessionState::ALL {
            let share = shares.iter().find(|(known, _)| *known == state).map_or(0.0, |(_, share)| *share);
            observe(attempt, &InstanceName::primary(), sessions::STATE, state.word(), |_| share * sessions_at_work);
        }
        observe(attempt, &InstanceName::primary(), sessions::LOOKS, "", |_| 20.0);
        observe(attempt, &InstanceName::primary(), sessions::COST, "", |_| 0.004);
    }
}

/// Notes a calibration in which a flush by a standby takes so much more than a local one.
fn calibrate(record: &mut Record, added: Duration) {
    let added = u64::try_from(added.as_nanos()).expect("short");
    let round = |place: u64| vec![400_000 + 1_000 * place, 400_000 + 3_000 * place + added];
    let levels = vec![CommitLevel::Local, CommitLevel::RemoteFlush];
    let of = |rounds: Vec<Vec<u64>>| {
        RunEvent::CommitsCalibrated(CommitCalibration { key: KEY.to_owned(), levels: levels.clone(), rounds })
    };
    record.events.push(AttemptEvent::new(WallTime(0), of((0..40).map(round).collect())));
    let with_standby = record.attempts.iter_mut().filter(|attempt| attempt.run.point == 1);
    with_standby.for_each(|attempt| attempt.events.push(AttemptEvent::new(WallTime(0), of(Vec::new()))));
}

#[test]
fn the_time_of_a_transaction_is_told_only_where_it_adds_up() {
    use SessionState::{Client, Lock, Log, Running, Standby};
    let mut record = modes();
    split(&mut record, &[(Running, 0.4), (Log, 0.1), (Standby, 0.35), (Lock, 0.05), (Client, 0.1)]);
    let page = render(&record, Format::Markdown).unwrap();
    assert!(page.contains("Time of a transaction by state"), "{page}");
    assert!(!page.contains("Lock-bound") && !page.contains("do not add up"), "{page}");
    let found = evaluate(&record);
    let points = replicated(&found);
    let found = points[1].split.as_ref().unwrap();
    assert!((found.of(Standby) / found.sum - 0.35).abs() < 1e-6 && found.agrees(), "{found:?}");

    let mut bound = modes();
    split(&mut bound, &[(Running, 0.4), (Log, 0.1), (Standby, 0.25), (Lock, 0.15), (Client, 0.1)]);
    let page = render(&bound, Format::Markdown).unwrap();
    assert!(page.contains("**Lock-bound** at none, remote\\_flush"), "{page}");

    let mut short = modes();
    split(&mut short, &[(Running, 0.4), (Standby, 0.5)]);
    let page = render(&short, Format::Markdown).unwrap();
    assert!(page.contains("do not add up to the response time within 5 %"), "{page}");
    assert!(!page.contains("local log flush"), "{page}");
}

#[test]
fn what_a_commit_waits_for_is_told_beside_what_a_transaction_took_more() {
    let mut record = modes();
    let response =
        evaluate(&record).points[1].metric(MetricKey::response(LatencyStatistic::Mean, "all")).unwrap().value() * 1e-6;
    calibrate(&mut record, Duration::from_micros(200));
    let found = evaluate(&record);
    let forecast = replicated(&found)[1].forecast.clone().unwrap();
    assert!((forecast.commit.value() - 0.239).abs() < 1e-9, "the median of 40 rounds: {forecast:?}");
    assert!((forecast.writes - 0.92).abs() < 0.01, "{forecast:?}");
    let beside = forecast.beside.clone().unwrap();
    // Both points are equally fast, so that the mode took less than was forecast, and its excess is minus that.
    assert!((beside.excess.value() + forecast.added.value()).abs() < 0.05 * response, "{beside:?}");
    assert!((beside.kept.value() - 100.0 * response / (response + forecast.added.value())).abs() < 2.0, "{beside:?}");
    split(&mut record, &[(SessionState::Running, 0.7), (SessionState::Standby, 0.3)]);
    let page = render(&record, Format::Markdown).unwrap();
    for part in
        ["Commit time by what the commit waits for", "Forecast: kept", "More than local", "Waited for a standby"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    let without = render(&modes(), Format::Markdown).unwrap();
    assert!(!without.contains("Forecast: kept"), "nothing was calibrated: {without}");
}

#[test]
fn a_queue_is_named_by_its_stage() {
    let mut record = faster_first(&[&[(MODE, text("none"))], &[(MODE, text("remote_flush"))]], 4);
    calibrate(&mut record, Duration::from_micros(1));
    // The pair takes far longer than the single node: a queue, since a commit takes next to nothing more.
    for attempt in record.attempts.iter_mut().filter(|attempt| attempt.run.point == 1) {
        role(attempt, &InstanceName::primary(), "walsender", 1, 60.0);
        short_of_cpu(attempt, &InstanceName::standby(1), "walreceiver", 12.0, 87.0);
    }
    let found = evaluate(&record);
    let points = replicated(&found);
    let (node, busiest) = points[1].busiest_single().unwrap();
    assert_eq!((node, busiest.role.as_str()), (&InstanceName::standby(1), "walreceiver"));
    assert!(busiest.is_serial_limit() && busiest.is_short_of_cpu(), "{busiest:?}");
    let beside = points[1].forecast.clone().unwrap().beside.unwrap();
    assert!(beside.excess.interval().bounds().is_some_and(|(low, _)| low > 0.0), "{beside:?}");
    let page = render(&record, Format::Markdown).unwrap();
    assert!(page.contains("queueing: walreceiver of standby-1 is at its limit"), "{page}");
    assert!(page.contains("One thread always has work and waits for CPU time: walreceiver of standby-1"), "{page}");
}

#[test]
fn whether_throughput_follows_the_cpu_time_of_the_standbys_is_in_the_answer() {
    let at = |cpu: f64| [(MODE, text("remote_flush")), ("limits.standby_cpu", Value::Number(cpu))];
    let (little, much) = (at(0.25), at(1.0));
    let summary = |record: &Record| {
        let page = render(record, Format::Markdown).unwrap();
        page.split("## 1 ").next().unwrap_or_default().to_owned()
    };
    let flat = summary(&of_points(&[&little, &much], 2, 1));
    assert!(flat.contains("**Throughput does not depend on the CPU time of the standbys**"), "{flat}");
    for (levels, expected) in [([&much, &little], "rises with"), ([&little, &much], "falls with")] {
        let told = summary(&faster_first(&levels.map(|level| level.as_slice()), 4));
        assert!(told.contains(&format!("**Throughput {expected} the CPU time of the standbys**")), "{told}");
    }
}

#[test]
fn an_elasticity_to_the_cpu_time_of_one_role_has_the_name_of_the_role() {
    let at = |cpu: f64| [(MODE, text("remote_flush")), ("limits.thread_cpu", Value::Number(cpu))];
    let mut record = faster_first(&[&at(1.0), &at(0.25)], 4);
    record.study.settings.0.insert("limits.thread".to_owned(), text("walsender"));
    let found = slopes(&evaluate(&record));
    let [slope] = found.as_slice() else { panic!("one setting varies: {found:?}") };
    assert_eq!((slope.setting, slope.role.as_deref()), ("limits.thread_cpu", Some("walsender")));
    assert!(slope.elasticity.value() > 0.0, "less CPU time was slower: {slope:?}");
    let told = |record: &Record, role: &str| {
        let page = render(record, Format::Markdown).unwrap();
        assert!(page.contains(&format!("| CPU seconds per second of {role} |")), "{role}: {page}");
    };
    told(&record, "walsender");
    record.study.settings.0.insert("limits.thread_on".to_owned(), text("standby"));
    told(&record, "walsender of a standby");
}

/// A study over four round trips in which one thread has all the work that it can do, on hosts that differ by their seed.
fn planted(seed: u32) -> Record {
    let levels = [200, 1_000, 5_000, 20_000].map(|micros| Value::Duration(Duration::from_micros(micros)));
    let points: Vec<[(&str, Value); 1]> = levels.into_iter().map(|level| [("replication.rtt", level)]).collect();
    let points: Vec<&[(&str, Value)]> = points.iter().map(<[_; 1]>::as_slice).collect();
    let mut record = of_points(&points, 2, seed);
    record.study.settings.0.insert(MODE.to_owned(), text("remote_flush"));
    for attempt in &mut record.attempts {
        let noise = f64::from(u8::try_from(attempt.run.seed % 3).expect("small"));
        role(attempt, &InstanceName::primary(), "walsender", 1, 60.0 + noise);
        role(attempt, &InstanceName::primary(), "proofload proofload", 8, 130.0);
        short_of_cpu(attempt, &InstanceName::standby(1), "walreceiver", 9.0 + noise, 88.0);
        short_of_cpu(attempt, &InstanceName::standby(1), "startup", 20.0, 30.0);
    }
    record
}

#[test]
fn a_planted_single_thread_is_named_first_and_the_network_is_cleared() {
    let right = |seed: &u32| {
        let record = planted(*seed);
        let found = evaluate(&record);
        let (slopes, points) = (slopes(&found), replicated(&found));
        let elasticity = slopes[0].elasticity.value();
        let named = points.iter().all(|point| {
            let (node, role) = point.busiest_single().expect("roles are observed");
            *node == InstanceName::standby(1) && role.role == "walreceiver" && role.is_serial_limit()
        });
        println!("seed {seed}: elasticity {elasticity:.3}, named {named}");
        named && elasticity.abs() <= 0.1 && slopes[0].is_none()
    };
    let right = (1..=10).filter(right).count();
    assert!(right >= 9, "{right} of 10");
    let page = render(&planted(1), Format::Markdown).unwrap();
    let summary = page.split("## 1 ").next().unwrap_or_default();
    assert!(summary.contains("Single-threaded stage: walreceiver of standby-1"), "{summary}");
    assert!(page.contains("single-threaded stage: walreceiver of standby-1"), "{page}");
    assert!(page.contains("Elasticity of throughput"), "{page}");
}

#[test]
fn published_results_by_mode_stand_beside_relative_to_one_node() {
    let mut record = modes();
    record.study.settings.0.insert("study.reference".to_owned(), text("9100-max-availability"));
    let page = render(&record, Format::Markdown).unwrap();
    let row = |name: &str| page.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{name}: {page}"));
    let theirs = row("Micron, two nodes, synchronous");
    assert!(theirs.contains("48.6") && theirs.contains("1.96") && theirs.contains("1.34"), "{theirs}");
    assert!(row("this study, remote").contains("remote_flush"), "{page}");
}

#[test]
fn an_elasticity_inside_repetitions_counts_points_that_only_moved() {
    let still = slopes(&evaluate(&planted(1)))[0].clone();
    let mut record = planted(1);
    crate::support::let_rise(&mut record);
    let found = evaluate(&record);
    assert!(found.points.iter().all(|point| point.only_moved()));
    let moving = &slopes(&found)[0];
    assert_eq!(moving.points, still.points);
    assert!((moving.elasticity.value() - still.elasticity.value()).abs() < 0.05, "{moving:?}, and at rest {still:?}");
}

#[test]
fn an_elasticity_to_the_round_trip_is_to_the_one_that_was_measured() {
    let asked = slopes(&evaluate(&planted(1)))[0].elasticity.value();
    let mut record = planted(1);
    for attempt in &mut record.attempts {
        // As far as levels are apart, on a scale of logarithms, measured trips are twice that.
        let trip = [0.2_f64, 1.0, 5.0, 20.0][attempt.run.point as usize].powi(2);
        let measured = proofload_model::facts::replication::RTT_P50.observed(trip, "a test");
        attempt.facts.push(Fact { instance: InstanceName::standby(1), ..measured });
    }
    let measured = slopes(&evaluate(&record))[0].elasticity.value();
    assert!(
        asked.abs() > 1e-9 && (2.0 * measured - asked).abs() < 1e-6 * asked.abs(),
        "{measured}, not half of {asked}"
    );
    record.attempts.iter_mut().filter(|attempt| attempt.run.point == 3).for_each(|attempt| {
        attempt.facts.retain(|fact| !proofload_model::facts::replication::RTT_P50.is_of(fact));
    });
    let of_levels = slopes(&evaluate(&record))[0].elasticity.value();
    assert!((of_levels - asked).abs() < 1e-9, "a point without a measurement: as asked");
}

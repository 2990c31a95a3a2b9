//! Records of studies with standbys, made of simulated ones.

use super::{Shape, record};
use proofload_model::deployment::InstanceName;
use proofload_model::events::{ReplicationProof, RunEvent};
use proofload_model::replication::ReplicationMode;
use proofload_model::series::{self, SeriesName};
use proofload_model::settings::Value;
use proofload_model::study::Factor;
use proofload_model::time::WallTime;
use proofload_record::{Attempt, AttemptEvent, Record, SeriesPoint};

const MODE: &str = "replication.mode";

/// A record of two points, alone and with a standby that flushes.
pub(crate) fn replicated() -> Record {
    replicated_often(1)
}

/// The same with so many repetitions.
pub(crate) fn replicated_often(repetitions: u32) -> Record {
    let mut record = record(&Shape { repetitions, ..Shape::memory(2) });
    let levels = ["none", "remote_flush"].map(|word| Value::Text(word.to_owned()));
    for (point, level) in record.plan.points.iter_mut().zip(&levels) {
        point.levels.remove("limits.memory");
        point.levels.insert(MODE.to_owned(), level.clone());
    }
    record.study.factors = vec![Factor { setting: MODE.to_owned(), levels: levels.to_vec() }];
    let with_standby = record.attempts.iter_mut().filter(|attempt| attempt.run.point == 1);
    for attempt in with_standby {
        observe(attempt, &InstanceName::primary(), series::replication::OUT_OF_FORCE, "", |_| 0.0);
        observe(attempt, &InstanceName::primary(), series::replication::LOG, "", |_| 5e6);
        observe(attempt, &InstanceName::primary(), series::replication::UNAPPLIED, "standby-1", |_| 2e6);
        role(attempt, &InstanceName::primary(), "walsender", 1, 97.0);
        role(attempt, &InstanceName::primary(), "proofload proofload", 8, 300.0);
        role(attempt, &InstanceName::standby(1), "walreceiver", 1, 20.0);
        let proof = ReplicationProof {
            mode: ReplicationMode::RemoteFlush,
            in_force_after: 0.05,
            waited_for_link: true,
            waited_for_apply: false,
            seen_waiting: Some(true),
            count_proved: false,
        };
        attempt.events.push(AttemptEvent::new(WallTime(0), RunEvent::ReplicationProved(proof)));
    }
    record
}

/// Adds a series of an instance with the seconds of the cores' series.
pub(crate) fn observe(
    attempt: &mut Attempt,
    of: &InstanceName,
    wanted: SeriesName,
    component: &str,
    value: impl Fn(usize) -> f64,
) {
    let like = attempt.series.iter().find(|series| series::cores::BUSY.is_of(&series.probe, &series.name));
    let mut added: SeriesPoint = like.expect("cores are observed").clone();
    (added.probe, added.name) = (wanted.probe.to_owned(), wanted.name.to_owned());
    (added.component, added.instance) = (component.to_owned(), of.clone());
    added.samples.iter_mut().enumerate().for_each(|(second, sample)| sample.2 = value(second));
    attempt.series.push(added);
}

pub(crate) fn role(attempt: &mut Attempt, of: &InstanceName, role: &str, threads: u32, percent: f64) {
    observe(attempt, of, series::threads::ROLE, role, |_| percent);
    observe(attempt, of, series::threads::ROLE_THREADS, role, |_| f64::from(threads));
}

/// A record of a study of these points, each with its levels; equally fast but for noise.
pub(crate) fn of_points(points: &[&[(&str, Value)]], repetitions: u32, seed: u32) -> Record {
    let rates: Vec<String> = (1..=points.len()).map(|place| format!("\"{place}MB\"")).collect();
    on_machines(("limits.write_bandwidth", &rates.join(", ")), points, repetitions, seed)
}

/// The same on a machine that is faster at the first point than at the second.
pub(crate) fn faster_first(points: &[&[(&str, Value)]; 2], repetitions: u32) -> Record {
    on_machines(("limits.memory", "\"1GiB\", \"16MiB\""), points, repetitions, 1)
}

/// The same on a machine that is faster at each of four points.
pub(crate) fn ever_faster(points: &[&[(&str, Value)]; 4], repetitions: u32) -> Record {
    on_machines(("limits.memory", "\"16MiB\", \"64MiB\", \"128MiB\", \"1GiB\""), points, repetitions, 1)
}

fn on_machines((setting, levels): (&str, &str), points: &[&[(&str, Value)]], repetitions: u32, seed: u32) -> Record {
    let factors = format!("[[factor]]\nsetting = \"{setting}\"\nlevels = [{levels}]\n");
    let mut record = record(&Shape { factors, repetitions, seed, ..Shape::memory(1) });
    let mut factors: Vec<Factor> = Vec::new();
    for (planned, levels) in record.plan.points.iter_mut().zip(points) {
        planned.levels.clear();
        for (setting, level) in *levels {
            planned.levels.insert((*setting).to_owned(), level.clone());
            match factors.iter_mut().find(|factor| factor.setting == *setting) {
                Some(factor) if factor.levels.contains(level) => {}
                Some(factor) => factor.levels.push(level.clone()),
                None => factors.push(Factor { setting: (*setting).to_owned(), levels: vec![level.clone()] }),
            }
        }
    }
    record.study.factors = factors;
    record
}

/// Waiting for a core beside what a role is at work.
pub(crate) fn short_of_cpu(attempt: &mut Attempt, of: &InstanceName, name: &str, percent: f64, waited: f64) {
    role(attempt, of, name, 1, percent);
    observe(attempt, of, series::threads::ROLE_WAIT, name, |_| waited);
}

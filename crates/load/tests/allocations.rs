//! An operation of a workload with a hot path allocates nothing of ours. A binary of its own, because the allocator
//! counts a process.

use proofload_load::LoadRole;
use proofload_model::load_share::LoadShare;
use proofload_model::settings::{Settings, Value};
use proofload_model::time::{Clock, Moment, WallTime};
use proofload_model::wire::load::{Connect, LoadService as _, Open, Start, Stop};
use proofload_model::wire::{DataLocation, LoadSpec};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The machine's monotonic clock.
struct RealClock(Instant);

impl Clock for RealClock {
    fn now(&self) -> Moment {
        Moment(u64::try_from(self.0.elapsed().as_nanos()).expect("short"))
    }

    fn wall(&self) -> WallTime {
        WallTime(1_767_225_600_000_000)
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// One user of a workload on the null engine, whose sessions allocate nothing either.
fn spec(workload: &str) -> LoadSpec {
    let mut settings = Settings::default();
    for spec in proofload_load::workload(workload).expect("it is built in").facts().settings {
        let value = match spec.path {
            "workload.warehouses" => Some(Value::Integer(10)),
            "workload.records" => Some(Value::Integer(100_000)),
            "workload.virtual_users" => Some(Value::Integer(1)),
            _ => spec.default.map(|default| spec.kind.read_text(default).expect("defaults are valid")),
        };
        settings.0.extend(value.map(|value| (spec.path.to_owned(), value)));
    }
    let place =
        DataLocation { engine: "null".to_owned(), folder: String::new(), url: None, settings: Vec::new(), tier: None };
    let (workload, load_time) = (workload.to_owned(), WallTime(0));
    LoadSpec {
        workload,
        settings,
        place,
        endpoints: Vec::new(),
        data_seed: 1,
        input_seed: 1,
        load_time,
        part: LoadShare::default(),
    }
}

#[test]
fn an_operation_allocates_nothing_of_ours() {
    // The queries of a warehouse are seconds long and their answers are kept to be compared: no hot path.
    ["tprocc", "ycsb"].into_iter().for_each(check);
}

fn check(workload: &str) {
    // A busy host may leave a load no time.
    let enough = |(_, operations): &(usize, u64)| *operations > 2_000;
    let measured = (0..5).map(|_| measured(workload)).find(enough);
    let (allocations, operations) =
        measured.unwrap_or_else(|| panic!("{workload}: five times too few operations to tell"));
    let per_operation = allocations as f64 / (operations as f64 * 500.0 / 800.0);
    assert!(per_operation < 0.05, "{workload}: {allocations} allocations in about {operations} operations");
}

/// Allocations in half a second of a load, and the operations of the whole of it.
fn measured(workload: &str) -> (usize, u64) {
    let clock = Arc::new(RealClock(Instant::now()));
    let mut role = LoadRole::new(clock.clone(), Arc::new(|_| ()));
    role.open(Open { spec: Box::new(spec(workload)) }).expect("the role answers");
    role.connect(Connect {}).expect("the role answers");
    role.start(Start { at: clock.now() + Duration::from_millis(20) }).expect("it starts");
    // Buffers grow in the first moments; what is left afterwards belongs to the end of each second, not to
    // transactions.
    clock.sleep(Duration::from_millis(300));
    let region = Region::new(ALLOCATOR);
    clock.sleep(Duration::from_millis(500));
    let allocations = region.change().allocations;
    let totals = role.stop(Stop {}).expect("it stops").totals;
    (allocations, totals.iter().map(|counts| counts.done + counts.rolled_back).sum())
}

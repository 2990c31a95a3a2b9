//! Our client as a process of its own: connects, runs, stops, tells its counts. Started by the comparison with the
//! words of [`arguments`].

use super::server::ServerKind;
use proofload_load::LoadRole;
use proofload_model::load_share::LoadShare;
use proofload_model::settings::Settings;
use proofload_model::time::{Clock, Moment, WallTime};
use proofload_model::wire::load::{Build, Connect, LoadService as _, Open, Start, Stop};
use proofload_model::wire::{DataLocation, Event, LoadSpec};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

/// The first word of a child's command line.
pub(crate) const WORD: &str = "client";

/// The machine's clocks.
struct RealClock(Instant);

impl Clock for RealClock {
    fn now(&self) -> Moment {
        Moment(u64::try_from(self.0.elapsed().as_nanos()).expect("500 years have not gone by"))
    }

    fn wall(&self) -> WallTime {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("it is after 1970");
        WallTime(i64::try_from(now.as_micros()).expect("it is before the year 290000"))
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// What a child is told.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    pub(crate) engine: &'static str,
    pub(crate) address: String,
    pub(crate) form: &'static str,
    pub(crate) profile: &'static str,
    pub(crate) warehouses: u32,
    pub(crate) users: u32,
    pub(crate) seconds: u32,
}

impl Work {
    /// The words of a child's command line.
    pub(crate) fn words(&self) -> Vec<String> {
        let numbers = [self.warehouses, self.users, self.seconds].map(|number| number.to_string());
        let words = [WORD, &self.address, self.form].map(str::to_owned);
        words.into_iter().chain(numbers).chain([self.engine, self.profile].map(str::to_owned)).collect()
    }

    /// Reads them, the first word gone.
    pub(crate) fn of(words: &[String]) -> Self {
        let number = |place: usize| words[place].parse().expect("a number");
        let form = if words[1] == "procedures" { "procedures" } else { "statements" };
        let engine = words.get(5).and_then(|name| ServerKind::named(name)).unwrap_or(ServerKind::PostgreSql).engine();
        let profile = if words.get(6).is_some_and(|name| name != "spec") { "hammerdb-compatible" } else { "spec" };
        let address = words[0].clone();
        Self { engine, address, form, profile, warehouses: number(2), users: number(3), seconds: number(4) }
    }

    /// What the load role is told.
    fn spec(&self) -> LoadSpec {
        let mut settings = Settings::default();
        for spec in proofload_load::workload("tprocc").expect("it is built in").facts().settings {
            let given = match spec.path {
                "workload.warehouses" => Some(self.warehouses.to_string()),
                "workload.virtual_users" => Some(self.users.to_string()),
                "workload.form" => Some(self.form.to_owned()),
                "workload.profile" => Some(self.profile.to_owned()),
                _ => spec.default.map(str::to_owned),
            };
            let value = given.map(|text| spec.kind.read_text(&text).expect("the value is lawful"));
            settings.0.extend(value.map(|value| (spec.path.to_owned(), value)));
        }
        let place = DataLocation {
            engine: self.engine.to_owned(),
            folder: String::new(),
            url: None,
            settings: Vec::new(),
            tier: None,
        };
        LoadSpec {
            workload: "tprocc".to_owned(),
            settings,
            place,
            endpoints: vec![self.address.clone()],
            data_seed: 1,
            input_seed: SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(1, |now| now.as_secs()),
            load_time: WallTime(1_767_225_600_000_000),
            part: LoadShare::default(),
        }
    }
}

/// A role that has taken this work.
fn role(work: &Work) -> (LoadRole, Arc<RealClock>) {
    let clock = Arc::new(RealClock(Instant::now()));
    let started = Instant::now();
    let phase = Mutex::new(String::new());
    let events = Arc::new(move |event: Event| match event {
        Event::LoadFailed { error } => println!("FAILED: {error}"),
        Event::Progress { what, .. } => {
            let mut phase = phase.lock().expect("no printing fails");
            if *phase != what {
                println!("phase {:.3} {what}", started.elapsed().as_secs_f64());
                *phase = what;
            }
        }
        _ => {}
    });
    let mut role = LoadRole::new(clock.clone(), events);
    role.open(Open { spec: Box::new(work.spec()) }).expect("the work is taken");
    (role, clock)
}

/// Builds the data, procedures included.
pub(crate) fn build(work: &Work) {
    role(work).0.build(Build {}).unwrap_or_else(|error| panic!("building: {error}"));
}

/// The child's life.
pub(crate) fn run(words: &[String]) {
    let work = Work::of(words);
    let (mut role, clock) = role(&work);
    role.connect(Connect {}).unwrap_or_else(|error| panic!("connecting: {error}"));
    let at = clock.now() + Duration::from_millis(20);
    role.start(Start { at }).unwrap_or_else(|error| panic!("starting: {error}"));
    clock.sleep(Duration::from_secs(work.seconds.into()));
    let totals = role.stop(Stop {}).expect("it stops").totals;
    let sum = |of: fn(&proofload_model::samples::OperationCounts) -> u64| totals.iter().map(of).sum::<u64>();
    println!("completed {}", sum(|counts| counts.done + counts.rolled_back));
    println!("failed {}", sum(|counts| counts.failed));
    assert_eq!(sum(|counts| counts.failed), 0, "a run with failures is not compared");
}

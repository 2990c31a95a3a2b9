//! Attribution judged on closed systems whose truth is known, on three hosts.

#![expect(clippy::print_stdout, reason = "the score is printed for whoever tunes the rule")]

mod system;

use proofload_analysis::attribution::{
    Experiment, KnobElasticity, KnobVisit, MOST_BLOCKS, PILOT_BLOCKS, ResourceVerdict, Treatment, decide, kept, order,
    suffices,
};
use proofload_analysis::random::Random;
use system::{CPU, KNOBS, NAMES, System, TIME_LIKE, USERS};

/// Others may slow a visit by what they leave to this power.
const POWERS: std::ops::RangeInclusive<f64> = 0.0..=2.0;
/// What a lowered resource is multiplied by: the usual step, and that on hosts with other work.
const STEPS: [f64; 2] = [0.8, 0.7];
const STEP: f64 = STEPS[0];

/// Blocks in which a limit is raised, after all others.
const RAISED_BLOCKS: u32 = 3;

/// What a raised resource is multiplied by: the step is the same.
fn raised(lowered: f64) -> f64 {
    2.0 - lowered
}

/// A host: spread of a visit beside what others take, that of blocks, and how much others take.
#[derive(Clone, Copy)]
struct Host {
    name: &'static str,
    visit: f64,
    block: f64,
    taken: (f64, f64),
}

/// Coefficients of variation of a visit: 3, 8 and 15 %, as others take between these shares at random, and the rest is noise.
const HOSTS: [Host; 3] = [
    Host { name: "quiet", visit: 0.03, block: 0.02, taken: (0.0, 0.01) },
    Host { name: "shared", visit: 0.045, block: 0.10, taken: (0.05, 0.25) },
    Host { name: "heavy", visit: 0.075, block: 0.20, taken: (0.20, 0.50) },
];

impl Host {
    /// Throughput of a visit in a block of this level with resources multiplied by these, and what others were seen to take.
    fn visit(
        &self,
        system: &System,
        random: &mut Random,
        (level, power): (f64, f64),
        by: &[f64; KNOBS],
    ) -> (f64, Option<f64>) {
        let taken = self.taken.0 + (self.taken.1 - self.taken.0) * random.uniform();
        let log = level + self.visit * random.normal() + power * (1.0 - taken).ln();
        let value = system.throughput(by) * log.exp();
        (value, Some((taken + 0.01 * random.normal()).clamp(0.0, 1.0)))
    }
}

/// How throughput follows what others leave, on the host of a point, and what its visits draw from.
fn drawn(seed: u64) -> (f64, Random) {
    let mut random = Random::stream(seed, 7);
    (0.6 + 0.8 * random.uniform(), random)
}

/// Visits with more of one resource, beside those of the untouched point, in blocks from this one on.
fn raises(system: &System, host: &Host, seed: u64, (first, knob, more): (u32, usize, f64)) -> Vec<KnobVisit> {
    let (power, mut random) = (drawn(seed).0, Random::stream(seed, 8));
    let mut all = Vec::new();
    for block in first..first + RAISED_BLOCKS {
        let level = host.block * random.normal();
        for treatment in [Treatment::Reference, Treatment::Raised(knob), Treatment::Reference] {
            let mut by = [1.0; KNOBS];
            if treatment != Treatment::Reference {
                by[knob] = more;
            }
            let (value, taken) = host.visit(system, &mut random, (level, power), &by);
            all.push(KnobVisit { block, treatment, value, taken, step: by[knob].ln() });
        }
    }
    all
}

/// The visits of one point: everything in the first blocks, then what is kept, until it suffices.
fn visits(system: &System, host: &Host, seed: u64, lowered: f64) -> Vec<KnobVisit> {
    let (power, mut random) = drawn(seed);
    let mut knobs: Vec<usize> = (0..KNOBS).collect();
    let mut left = None;
    let mut all = Vec::new();
    for block in 0..MOST_BLOCKS as u32 {
        let level = host.block * random.normal();
        let references = [Treatment::Reference; 2].into_iter();
        let planned = references.chain(knobs.iter().map(|knob| Treatment::Knob(*knob)));
        let planned: Vec<Treatment> = planned.chain(left.map(Treatment::AllBut)).collect();
        for treatment in order(&planned, seed, block) {
            let mut by = [1.0; KNOBS];
            let step = match treatment {
                Treatment::Knob(knob) => {
                    by[knob] = lowered;
                    lowered.ln()
                }
                Treatment::AllBut(knob) => {
                    TIME_LIKE.iter().filter(|other| **other != knob).for_each(|other| by[*other] = lowered);
                    lowered.ln()
                }
                Treatment::Reference | Treatment::Raised(_) => 0.0,
            };
            let (value, taken) = host.visit(system, &mut random, (level, power), &by);
            all.push(KnobVisit { block, treatment, value, taken, step });
        }
        let blocks = block as usize + 1;
        let found = Experiment::of(&all, &POWERS);
        let of = |knob: &usize| found.elasticity(Treatment::Knob(*knob));
        if blocks >= PILOT_BLOCKS {
            knobs.retain(|knob| of(knob).is_none_or(|found| kept(&found)));
        }
        let largest = |one: &&usize, other: &&usize| {
            let value = |knob: &usize| of(knob).map_or(f64::NEG_INFINITY, |found| found.value);
            value(one).total_cmp(&value(other))
        };
        if blocks == PILOT_BLOCKS {
            left = knobs.iter().filter(|knob| TIME_LIKE.contains(knob)).max_by(largest).copied();
        }
        let still: Vec<KnobElasticity> = knobs.iter().filter_map(of).collect();
        if suffices(blocks, &still) {
            break;
        }
    }
    all
}

#[derive(Default, Debug)]
struct Score {
    confirmed: usize,
    wrong: usize,
    binding: usize,
    found: usize,
    idle: usize,
    cleared: usize,
    cleared_wrongly: usize,
    estimates: usize,
    covered: usize,
    visits: usize,
    sums: Vec<f64>,
    sums_covered: usize,
    reliefs: Vec<f64>,
    reliefs_covered: usize,
    raises: usize,
    raises_covered: usize,
}

impl Score {
    fn add(&mut self, system: &System, visits: &[KnobVisit], lowered: f64) {
        let experiment = Experiment::of(visits, &POWERS);
        self.visits += visits.len();
        let found: Vec<Result<KnobElasticity, String>> = (0..KNOBS)
            .map(|knob| experiment.elasticity(Treatment::Knob(knob)).ok_or_else(|| "not visited".to_owned()))
            .collect();
        for (knob, (decision, estimate)) in decide(&found).into_iter().zip(&found).enumerate() {
            let truth = system.truth(knob, lowered);
            let decision = match system.used(knob, lowered) {
                Some(used) => decision.given(&used),
                None => decision,
            };
            if let Ok(estimate) = estimate {
                let (low, high) = estimate.bounds(0.05);
                self.estimates += 1;
                self.covered += usize::from(low <= truth && truth <= high);
            }
            self.binding += usize::from(truth >= 0.7 && !system.is_slack(knob));
            self.idle += usize::from(truth < 0.05);
            match decision.verdict {
                ResourceVerdict::Confirmed => {
                    self.confirmed += 1;
                    self.found += usize::from(truth >= 0.7 && !system.is_slack(knob));
                    if truth < 0.5 || system.is_slack(knob) {
                        println!("wrongly confirmed: {} of {}: {truth:.2}, {estimate:?}", NAMES[knob], system.class);
                        self.wrong += 1;
                    }
                }
                ResourceVerdict::Refuted { .. } => {
                    self.cleared += usize::from(truth < 0.05);
                    self.cleared_wrongly += usize::from(truth >= 0.5);
                }
                _ => {}
            }
        }
        // Sums of lone limits: what is turned is all there is.
        let is_lone = ["cpu", "reads", "writes", "bandwidth", "client"].contains(&system.class);
        let Some(left) = visits.iter().find_map(|visit| match visit.treatment {
            Treatment::AllBut(knob) if is_lone => Some(knob),
            _ => None,
        }) else {
            return;
        };
        if let Some(sum) = experiment.sum(&[Treatment::Knob(left), Treatment::AllBut(left)]) {
            self.sums.push(sum.value);
            let (low, high) = sum.bounds(0.05);
            self.sums_covered += usize::from(low <= 1.0 && 1.0 <= high);
            assert!((sum.value + sum.rest().value - 1.0).abs() < 1e-12);
        }
        // What more of it would give, by the joint visit and in truth.
        if let Some(relief) = experiment.elasticity(Treatment::AllBut(left)).map(KnobElasticity::rest) {
            let truth = system.truth(left, raised(lowered));
            let (low, high) = relief.bounds(0.05);
            self.reliefs.push((relief.value - truth).abs());
            self.reliefs_covered += usize::from(low <= truth && truth <= high);
        }
    }

    /// Adds what a raise of the resource that the joint visit leaves shows of more of it, on systems of every class.
    fn add_raise(&mut self, system: &System, host: &Host, visits: &[KnobVisit], (seed, lowered): (u64, f64)) {
        let Some(knob) = visits.iter().find_map(|visit| match visit.treatment {
            Treatment::AllBut(knob) => Some(knob),
            _ => None,
        }) else {
            return;
        };
        let first = visits.iter().map(|visit| visit.block).max().map_or(0, |last| last + 1);
        let more = raised(lowered);
        let all: Vec<KnobVisit> =
            visits.iter().copied().chain(raises(system, host, seed, (first, knob, more))).collect();
        let found = Experiment::of(&all, &POWERS).elasticity(Treatment::Raised(knob)).expect("three blocks raise it");
        let (truth, (low, high)) = (system.truth(knob, more), found.bounds(0.05));
        self.raises += 1;
        self.raises_covered += usize::from(low <= truth && truth <= high);
    }

    fn share(part: usize, whole: usize) -> f64 {
        100.0 * part as f64 / whole.max(1) as f64
    }

    fn tell(&self, host: &str) -> String {
        let near = self.sums.iter().filter(|sum| (0.85..=1.15).contains(*sum)).count();
        let relieved = self.reliefs.iter().filter(|apart| **apart <= 0.15).count();
        format!(
            "{host}: {} confirmed, {} wrong; E >= 0.7 found {:.1} %; idle cleared {:.1} %, wrongly {}; covered {:.1} %; \
             sums within 0.15 {:.0} %, covered {:.0} %; predicted reliefs within 0.15 of the true raise {:.0} %, covered \
             {:.0} %; {} raises, covered {:.0} %; {} visits",
            self.confirmed,
            self.wrong,
            Self::share(self.found, self.binding),
            Self::share(self.cleared, self.idle),
            self.cleared_wrongly,
            Self::share(self.covered, self.estimates),
            Self::share(near, self.sums.len()),
            Self::share(self.sums_covered, self.sums.len()),
            Self::share(relieved, self.reliefs.len()),
            Self::share(self.reliefs_covered, self.reliefs.len()),
            self.raises,
            Self::share(self.raises_covered, self.raises),
            self.visits
        )
    }
}

fn score(host: &Host, lowered: f64) -> Score {
    let mut score = Score::default();
    for seed in 0..3 {
        for (number, system) in (0..).zip(system::all(seed)) {
            let seed = 1_000 * seed + number;
            let visits = visits(&system, host, seed, lowered);
            score.add(&system, &visits, lowered);
            score.add_raise(&system, host, &visits, (seed, lowered));
        }
    }
    println!("to {lowered}, {}", score.tell(host.name));
    score
}

/// Shares of what is found, cleared and covered on hosts as they are met. A name is also wrong where the resource does not bind now.
#[test]
fn causes_are_named_and_never_wrongly() {
    for (host, lowered) in HOSTS.iter().flat_map(|host| STEPS.map(|lowered| (host, lowered))) {
        let score = score(host, lowered);
        let is_heavy = host.name == "heavy";
        assert!(score.confirmed > 180 || is_heavy, "{score:?}");
        assert!(score.wrong * 100 <= score.confirmed, "{score:?}");
        assert!(score.cleared_wrongly * 200 <= score.binding, "{score:?}");
        let covered = Score::share(score.covered, score.estimates);
        assert!((92.0..=99.0).contains(&covered), "{score:?}");
        // A lone limit is all there is; how near to 1 its sum reads is a matter of blocks, that its interval holds 1 is not.
        assert!(Score::share(score.sums_covered, score.sums.len()) >= 88.0, "{score:?}");
        // What is predicted of a raise, and what three blocks with one show, hold the true raise in their intervals.
        assert!(score.reliefs.len() > 30 && score.raises > 120, "{score:?}");
        assert!(Score::share(score.reliefs_covered, score.reliefs.len()) >= 85.0, "{score:?}");
        assert!(Score::share(score.raises_covered, score.raises) >= 88.0, "{score:?}");
        if !is_heavy {
            assert!(Score::share(score.found, score.binding) >= 95.0, "{score:?}");
            assert!(Score::share(score.cleared, score.idle) >= 90.0, "{score:?}");
        }
        if host.name == "quiet" {
            let relieved = score.reliefs.iter().filter(|apart| **apart <= 0.15).count();
            assert!(Score::share(relieved, score.reliefs.len()) >= 90.0, "{score:?}");
        }
    }
}

#[test]
fn where_nothing_binds_nothing_but_users_is_confirmed() {
    let host = &HOSTS[1];
    let (mut users, mut others) = (0, 0);
    for seed in 0..500 {
        let system = system::null(seed % 7);
        let experiment = Experiment::of(&visits(&system, host, seed, STEP), &POWERS);
        let found: Vec<_> = (0..KNOBS)
            .map(|knob| experiment.elasticity(Treatment::Knob(knob)).ok_or_else(|| "not visited".to_owned()))
            .collect();
        for (knob, decision) in decide(&found).iter().enumerate() {
            if decision.verdict == ResourceVerdict::Confirmed {
                if knob == USERS { users += 1 } else { others += 1 }
            }
        }
    }
    println!("users confirmed in {users} of 500, others {others}");
    assert_eq!(others, 0);
    assert!(users >= 450, "{users}");
}

/// Sums of a lone quota that is full with all others, without the speed of the cores and with it.
fn sums_of_a_full_quota(host: &Host, seed: u64, system: &System) -> [KnobElasticity; 2] {
    const SPEED: Treatment = Treatment::Knob(KNOBS);
    let (power, mut random) = drawn(seed);
    let slower = system.at_speed(STEP);
    let (untouched, mut quota, mut others) = ([1.0; KNOBS], [1.0; KNOBS], [1.0; KNOBS]);
    quota[CPU] = STEP;
    TIME_LIKE.iter().filter(|knob| **knob != CPU).for_each(|knob| others[*knob] = STEP);
    let mut all = Vec::new();
    for block in 0..MOST_BLOCKS as u32 {
        let level = host.block * random.normal();
        let planned = [
            (Treatment::Reference, system, untouched),
            (Treatment::Knob(CPU), system, quota),
            (SPEED, &slower, untouched),
            (Treatment::AllBut(CPU), system, others),
            (Treatment::Reference, system, untouched),
        ];
        for (treatment, system, by) in planned {
            let (value, taken) = host.visit(system, &mut random, (level, power), &by);
            let step = if treatment == Treatment::Reference { 0.0 } else { STEP.ln() };
            all.push(KnobVisit { block, treatment, value, taken, step });
        }
    }
    let found = Experiment::of(&all, &POWERS);
    let counted = [Treatment::Knob(CPU), Treatment::AllBut(CPU)];
    [found.sum(&counted), found.sum(&[counted[0], counted[1], SPEED])].map(|sum| sum.expect("there are twelve blocks"))
}

#[test]
fn of_a_full_quota_and_the_speed_of_its_cores_one_is_in_the_sum() {
    let (mut held, mut held_by_both, mut systems) = (0, 0, 0);
    let holds = |sum: &KnobElasticity| {
        let (low, high) = sum.bounds(0.05);
        usize::from(low <= 1.0 && 1.0 <= high)
    };
    for (host, seed) in HOSTS[..2].iter().flat_map(|host| (0..8).map(move |seed| (host, seed))) {
        for system in system::all(seed).iter().filter(|system| system.class == "cpu") {
            let [one, both] = sums_of_a_full_quota(host, seed, system);
            held += holds(&one);
            held_by_both += holds(&both);
            systems += 1;
        }
    }
    assert!(systems == 64 && held >= 56 && held_by_both <= 3, "{held} and {held_by_both} of {systems}");
}

#[test]
fn an_untouched_point_that_moves_is_told() {
    let visit =
        |block: u32, value: f64| KnobVisit { block, treatment: Treatment::Reference, value, taken: None, step: 0.0 };
    let drifting: Vec<KnobVisit> = (0..8)
        .flat_map(|block| [visit(block, 1.03_f64.powi(block as i32)), visit(block, 1.03_f64.powi(block as i32) * 1.01)])
        .collect();
    let moved = Experiment::of(&drifting, &POWERS).movement().unwrap();
    assert!(moved.is_moved && (moved.share - 0.23).abs() < 0.01, "{moved:?}");
    let noisy = [1.0, 1.2, 0.9, 1.1, 0.95, 1.15];
    let noisy: Vec<KnobVisit> = (0..).zip(noisy).map(|(block, value)| visit(block, value)).collect();
    let noisy = Experiment::of(&noisy, &POWERS).movement().unwrap();
    let (low, high) = noisy.bounds;
    assert!(!noisy.is_moved && low < noisy.share && noisy.share < high && low < 0.0 && high > 0.0, "{noisy:?}");
    assert!(moved.bounds.0 > 0.1 && !moved.is_open(), "{moved:?}");
    assert_eq!(Experiment::of(&drifting[..4], &POWERS).movement(), None);
}

#[test]
fn what_noise_moves_is_open_and_rarely_shown() {
    let (mut open, mut shown) = (0, 0);
    for seed in 0..400 {
        let mut random = Random::stream(seed, 11);
        let visits: Vec<KnobVisit> = (0..MOST_BLOCKS as u32)
            .map(|block| {
                let value = (0.10 * random.normal()).exp();
                KnobVisit { block, treatment: Treatment::Reference, value, taken: None, step: 0.0 }
            })
            .collect();
        let movement = Experiment::of(&visits, &POWERS).movement().unwrap();
        open += usize::from(movement.is_open());
        shown += usize::from(movement.is_moved);
    }
    // The line over 12 blocks has a deviation of 0.10 · 11 / √143 = 0.092: 28 % lie beyond a tenth, 5 % of all are called shown.
    assert!((70..=150).contains(&(open + shown)) && shown <= 40, "{open} open, {shown} shown");
}

#[test]
fn what_is_no_experiment_has_no_elasticity() {
    let visit = |block, treatment, value| KnobVisit {
        block,
        treatment,
        value,
        taken: None,
        step: if treatment == Treatment::Reference { 0.0 } else { -0.2 },
    };
    let knob = Treatment::Knob(0);
    assert_eq!(Experiment::of(&[], &POWERS).elasticity(knob), None);
    let one = [visit(0, Treatment::Reference, 1.0), visit(0, knob, 0.8)];
    assert_eq!(Experiment::of(&one, &POWERS).elasticity(knob), None, "one block");
    let lost = [one[0], one[1], visit(1, Treatment::Reference, 1.0), visit(1, knob, 0.0)];
    let lost = Experiment::of(&lost, &POWERS);
    assert_eq!((lost.elasticity(knob), lost.blocks()), (None, 1), "a lost visit voids its block");
    let exact = [one[0], one[1], visit(1, Treatment::Reference, 2.0), visit(1, knob, 1.6)];
    let found = Experiment::of(&exact, &POWERS).elasticity(knob).unwrap();
    assert!((found.value - 0.8_f64.ln() / -0.2).abs() < 1e-12 && found.error < 1e-12, "{found:?}");
}

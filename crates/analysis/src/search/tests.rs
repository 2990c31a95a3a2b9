//! The search against simulated machines: curves with a knee, a plateau, a fall, noise, voids, and ends that hide the answer.

use super::*;
use crate::distribution::student_quantile;
use crate::incomplete_blocks::{BlockVisit, IncompleteBlocks};
use crate::random::Random;

/// The next step where each measurement is of one load.
fn next(question: &Question, tried: &[MeasuredLoad]) -> Step {
    super::next(question, tried, tried.iter().map(|one| one.times).sum())
}

/// A machine that is measured.
struct Machine<'a> {
    curve: &'a dyn Fn(f64) -> f64,
    /// Deviation of a measurement, as a share of its value; half of it shows in its interval.
    noise: f64,
    /// Share of measurements that are void.
    void: f64,
    chance: Random,
}

impl<'a> Machine<'a> {
    fn exact(curve: &'a dyn Fn(f64) -> f64) -> Self {
        Self { curve, noise: 0.0, void: 0.0, chance: Random::new(1) }
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.chance.uniform()).sum::<f64>() - 6.0
    }

    fn measure(&mut self, load: f64) -> Option<f64> {
        let value = (self.curve)(load) * (1.0 + self.noise * self.normal());
        (self.chance.uniform() >= self.void).then_some(value)
    }

    /// Carries a search out; measurements by load are pooled as the conductor's are.
    fn search(&mut self, question: &Question) -> (Ending, Vec<MeasuredLoad>, usize) {
        let (mut tried, mut values): (Vec<MeasuredLoad>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
        for step in 0..=question.points {
            let Try { load, again, .. } = match next(question, &tried) {
                Step::Ended(ending) => return (ending, tried, step),
                Step::Try(step) => step,
            };
            assert!((question.from..=question.to).contains(&load), "{load}");
            assert!(!question.whole || load.fract() == 0.0, "{load}");
            let value = self.measure(load);
            let known = tried.iter().rposition(|one| one.load == load && !matches!(one.outcome, Outcome::Void { .. }));
            assert_eq!(again, known.is_some(), "a load with a result is measured again only to be added to it");
            let place = known.unwrap_or_else(|| {
                tried.push(MeasuredLoad { load, times: 0, outcome: Outcome::Behind });
                values.push(Vec::new());
                tried.len() - 1
            });
            tried[place].times += 1;
            values[place].extend(value);
            tried[place].outcome = if value.is_some() { self.pooled(&values[place]) } else { void() };
        }
        unreachable!("a search ends within its points");
    }

    fn pooled(&self, values: &[f64]) -> Outcome {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let spread = values.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max);
        let half = (self.noise * mean).max(3.0 * spread);
        Outcome::Measured { value: mean, bounds: Some((mean - half, mean + half)) }
    }
}

fn void() -> Outcome {
    Outcome::Void { why: "never settled".to_owned() }
}

/// A search for the users with the largest throughput.
fn peak(from: f64, to: f64) -> Question {
    Question { goal: Goal::Peak { plateau: 0.02 }, from, to, whole: true, resolution: 0.05, points: 24, times: 2 }
}

fn limit(from: f64, to: f64, at_most: f64) -> Question {
    Question { goal: Goal::Limit { at_most }, ..peak(from, to) }
}

/// Contention and coherence. Source: Gunther's universal scalability law, `X(N) = λN / (1 + σ(N−1) + κN(N−1))`.
fn scalability(sigma: f64, kappa: f64) -> impl Fn(f64) -> f64 {
    move |load| 1_000.0 * load / (1.0 + sigma * (load - 1.0) + kappa * load * (load - 1.0))
}

/// The answer by trying every load.
fn truth(question: &Question, curve: &dyn Fn(f64) -> f64) -> f64 {
    let loads = || (question.from as u64..=question.to as u64).map(|load| load as f64);
    match question.goal {
        Goal::Peak { plateau } => {
            let largest = loads().map(curve).fold(0.0, f64::max);
            loads().find(|load| curve(*load) >= (1.0 - plateau) * largest).expect("some load has the largest value")
        }
        Goal::Limit { at_most } => loads().take_while(|load| curve(*load) <= at_most).last().expect("one keeps it"),
    }
}

/// Checks that without noise the answer is the true one within the resolution, after at most `most` measurements.
#[track_caller]
fn check(question: &Question, curve: impl Fn(f64) -> f64, most: usize) {
    let (ending, tried, steps) = Machine::exact(&curve).search(question);
    let Ending::Found(found) = &ending else { panic!("{ending:?} after {tried:?}") };
    let true_load = truth(question, &curve);
    let within = (question.resolution * true_load).max(1.0) + 1e-9;
    assert!((found.load - true_load).abs() <= within, "{found:?}, and the truth is {true_load}: {tried:?}");
    assert!(steps <= most, "{steps} measurements: {tried:?}");
}

#[test]
fn knees_plateaus_and_falls_are_found() {
    for knee in [3.0, 17.0, 30.0, 64.0, 193.0, 700.0] {
        check(&peak(1.0, 1024.0), |load: f64| load.min(knee), 20);
        check(&peak(1.0, 1024.0), move |load: f64| if load < knee { load } else { knee * knee / load }, 22);
    }
    for (sigma, kappa) in [(0.0, 1e-4), (0.05, 1e-3), (0.02, 1e-5), (0.2, 1e-4)] {
        check(&peak(1.0, 512.0), scalability(sigma, kappa), 19);
    }
    check(&peak(1.0, 64.0), |load: f64| 100.0 / load, 6);
    let rate = Question { whole: false, ..peak(100.0, 20_000.0) };
    check(&rate, |load: f64| load.min(7_300.0), 16);
}

#[test]
fn limits_are_found() {
    for knee in [2.0, 9.0, 31.0, 193.0, 640.0] {
        check(&limit(1.0, 1024.0, 10.0), move |load| if load <= knee { 3.0 + load / knee } else { 20.0 + load }, 16);
    }
    check(&limit(1.0, 256.0, 10.0), |load| 0.2 * load, 14);
    let rate = Question { whole: false, ..limit(50.0, 5_000.0, 10.0) };
    check(&rate, |load| 1.0 / (1.0 - (load / 900.0).min(0.999)), 14);
}

#[track_caller]
fn check_ending(question: &Question, curve: impl Fn(f64) -> f64, wanted: &Ending, most: usize) {
    let (ending, tried, steps) = Machine::exact(&curve).search(question);
    assert_eq!(&ending, wanted, "{tried:?}");
    assert!(steps <= most, "{steps} measurements: {tried:?}");
}

#[test]
fn an_answer_beyond_the_ends_is_no_answer() {
    check_ending(&peak(1.0, 256.0), |load| load, &Ending::BeyondEnd, 14);
    check_ending(&peak(1.0, 3.0), |load| load, &Ending::BeyondEnd, 3);
    check_ending(&peak(8.0, 256.0), |load| 100.0 / load, &Ending::BeforeStart, 4);
    check_ending(&peak(8.0, 256.0), |_| 100.0, &Ending::BeforeStart, 4);
    check_ending(&limit(1.0, 256.0, 10.0), |_| 3.0, &Ending::BeyondEnd, 9);
    check_ending(&limit(4.0, 256.0, 10.0), |load| 3.0 * load, &Ending::BeforeStart, 1);
}

#[test]
fn a_load_that_was_not_kept_up_with_keeps_no_limit() {
    let question = limit(1.0, 256.0, 10.0);
    let tried = |load: f64, outcome: Outcome| MeasuredLoad { load, times: 1, outcome };
    let kept = Outcome::Measured { value: 1.0, bounds: Some((0.9, 1.1)) };
    let Step::Try(step) = next(&question, &[tried(1.0, kept.clone()), tried(4.0, Outcome::Behind)]) else { panic!() };
    assert_eq!((step.load, step.why), (2.0, Why::Between { low: 1.0, high: 4.0 }));
    let ended = next(&question, &[tried(1.0, kept), tried(2.0, Outcome::Behind)]);
    assert!(matches!(ended, Step::Ended(Ending::Found(found)) if found.load == 1.0 && found.range == (1.0, 2.0)));
}

#[test]
fn what_does_not_rise_or_fall_once_is_said() {
    let hump = |load: f64| if (6.0..20.0).contains(&load) { 12.0 } else { 1.0 + load / 100.0 };
    let (ending, ..) = Machine::exact(&hump).search(&limit(1.0, 64.0, 10.0));
    assert!(matches!(&ending, Ending::Found(found) if found.load == 5.0), "the first crossing counts: {ending:?}");
    let tried = |load: f64, value: f64| MeasuredLoad {
        load,
        times: 2,
        outcome: Outcome::Measured { value, bounds: Some((value * 0.99, value * 1.01)) },
    };
    let all = [tried(1.0, 1.0), tried(5.0, 5.0), tried(6.0, 12.0), tried(8.0, 7.0), tried(16.0, 30.0)];
    let Step::Ended(Ending::Found(found)) = next(&limit(1.0, 64.0, 10.0), &all) else { panic!() };
    assert_eq!(found.load, 5.0);
    assert_eq!(found.doubts, [Doubt::KeptAbove { load: 8.0 }, Doubt::Falls { from: 6.0, to: 8.0 }]);

    let humps = |load: f64| load.min(20.0) - if (30.0..90.0).contains(&load) { 8.0 } else { 0.0 } + load / 1_000.0;
    let all: Vec<MeasuredLoad> = [1.0, 8.0, 19.0, 20.0, 64.0, 128.0, 256.0].map(|load| tried(load, humps(load))).into();
    let Step::Ended(Ending::Found(found)) = next(&peak(1.0, 256.0), &all) else { panic!() };
    assert_eq!((found.load, found.range), (20.0, (19.0, 20.0)));
    assert!(found.doubts.contains(&Doubt::Dips { load: 64.0 }), "{found:?}");
}

/// However noisy the machine, the answer is a load that has nearly the largest throughput, and not far above the smallest such load.
#[test]
fn noise_moves_an_answer_by_little() {
    let curve = |load: f64| load.min(40.0);
    // The share of answers that may lie far above the smallest load: none while the noise is well below the plateau's share.
    for (noise, largest_loss, far) in [(0.005, 0.05, 0), (0.02, 0.12, 20)] {
        let (mut found_all, mut points, mut found_far) = (0, 0, 0);
        for seed in 0..200 {
            let mut machine = Machine { noise, chance: Random::new(seed), ..Machine::exact(&curve) };
            let (ending, tried, steps) = machine.search(&peak(1.0, 512.0));
            points += steps;
            let (Ending::Found(found) | Ending::Exhausted { so_far: Some(found) }) = &ending else {
                panic!("seed {seed}: {ending:?} after {tried:?}")
            };
            found_all += usize::from(matches!(ending, Ending::Found(_)));
            assert!(curve(found.load) >= 40.0 * (1.0 - largest_loss), "seed {seed}: {found:?}");
            found_far += usize::from(found.load > 40.0 * 1.5);
        }
        assert!(found_far <= far, "{found_far} of 200 far above at {noise}");
        assert!(found_all >= 180, "{found_all} of 200 at {noise}");
        assert!(points <= 200 * 19, "{points} points for 200 searches at {noise}");
    }
}

/// A host whose neighbours change from minute to minute, in steps and slowly.
struct Host {
    chance: Random,
    level: f64,
    slow: f64,
}

impl Host {
    /// ln of the throughput of one run, and the error that its window states.
    fn measure(&mut self, value: f64) -> (f64, f64) {
        if self.chance.uniform() < 0.15 {
            self.level = -0.35 * self.chance.uniform();
        }
        self.slow = 0.9 * self.slow + 0.03 * self.chance.normal();
        (value.ln() + self.level + self.slow + 0.008 * self.chance.normal(), 0.008)
    }
}

/// A search on such a host: each load alone, or side by side with the best so far and judged by their ratio.
fn searched(question: &Question, curve: &dyn Fn(f64) -> f64, seed: u64, in_blocks: bool) -> (Ending, usize) {
    let mut host = Host { chance: Random::new(seed), level: 0.0, slow: 0.0 };
    let (mut loads, mut visits): (Vec<f64>, Vec<BlockVisit>) = (Vec::new(), Vec::new());
    for spent in 0..=question.points {
        let step = match super::next(question, &results(&loads, &visits, in_blocks), spent) {
            Step::Ended(ending) => return (ending, visits.len()),
            Step::Try(step) => step,
        };
        let beside = step.beside.filter(|_| in_blocks);
        for load in beside.into_iter().chain([step.load]) {
            let level = loads.iter().position(|known| *known == load).unwrap_or_else(|| {
                loads.push(load);
                loads.len() - 1
            });
            let (log, error) = host.measure(curve(load));
            visits.push(BlockVisit { block: spent, level, throughput: log.exp(), error, taken: None });
        }
    }
    unreachable!("a search ends within its points");
}

fn results(loads: &[f64], visits: &[BlockVisit], in_blocks: bool) -> Vec<MeasuredLoad> {
    if !in_blocks {
        let of = |level: usize| visits.iter().filter(move |visit| visit.level == level);
        let one = |(level, load): (usize, &f64)| {
            let times = of(level).count();
            let value = of(level).map(|visit| visit.throughput).sum::<f64>() / times as f64;
            let half = 1.96 * 0.008 * value / (times as f64).sqrt();
            MeasuredLoad {
                load: *load,
                times,
                outcome: Outcome::Measured { value, bounds: Some((value - half, value + half)) },
            }
        };
        return loads.iter().enumerate().map(one).collect();
    }
    let Some(blocks) = IncompleteBlocks::of(visits) else { return Vec::new() };
    let mean = |level: usize| blocks.mean(level).expect("all loads are connected");
    let best = (0..loads.len()).max_by(|a, b| mean(*a).total_cmp(&mean(*b))).expect("one load");
    let one = |(level, load): (usize, &f64)| {
        let found = blocks.difference(level, best).expect("all loads are connected");
        let half = student_quantile(0.975, found.freedom) * found.error;
        let bounds = Some((mean(level) * (-half).exp(), mean(level) * half.exp()));
        MeasuredLoad {
            load: *load,
            times: blocks.visits(level),
            outcome: Outcome::Measured { value: mean(level), bounds },
        }
    };
    loads.iter().enumerate().map(one).collect()
}

/// Loads that are measured side by side lead to a right answer where neighbours change between runs, and distant runs do not.
#[test]
fn loads_side_by_side_are_told_apart_on_a_host_that_changes() {
    let curve = |load: f64| load.min(40.0);
    let right = |in_blocks: bool| {
        let question =
            Question { goal: Goal::Peak { plateau: 0.05 }, times: if in_blocks { 3 } else { 2 }, ..peak(1.0, 512.0) };
        let (mut right, mut runs, mut ended) = (0, 0, 0);
        for seed in 0..300 {
            let (ending, visits) = searched(&question, &curve, seed, in_blocks);
            runs += visits;
            let (Ending::Found(found) | Ending::Exhausted { so_far: Some(found) }) = &ending else { continue };
            ended += usize::from(matches!(ending, Ending::Found(_)));
            right += usize::from((30.0..=60.0).contains(&found.load));
        }
        (right, ended, runs / 300)
    };
    let (alone, side_by_side) = (right(false), right(true));
    assert!(alone.0 <= 195 && alone.1 >= 285, "{alone:?} of 300: the host of this test confuses nobody");
    assert!(side_by_side.0 >= 245 && side_by_side.1 >= 225, "{side_by_side:?} of 300");
    assert!(side_by_side.2 <= 40, "{side_by_side:?}");
}

#[test]
fn a_limit_under_noise_is_found_near_its_crossing() {
    let curve = |load: f64| 2.0 + 0.2 * load;
    let mut found_all = 0;
    for seed in 0..200 {
        let mut machine = Machine { noise: 0.05, chance: Random::new(seed), ..Machine::exact(&curve) };
        let (ending, tried, _) = machine.search(&limit(1.0, 512.0, 10.0));
        let (Ending::Found(found) | Ending::Exhausted { so_far: Some(found) }) = &ending else {
            panic!("seed {seed}: {ending:?} after {tried:?}")
        };
        found_all += usize::from(matches!(ending, Ending::Found(_)));
        assert!((30.0..=50.0).contains(&found.load), "seed {seed}: {found:?} where the truth is 40");
    }
    assert!(found_all >= 190, "{found_all} of 200");
}

#[test]
fn a_void_load_is_tried_once_more_and_then_nothing_can_be_told() {
    let question = peak(1.0, 64.0);
    let measured = |load: f64| MeasuredLoad {
        load,
        times: 1,
        outcome: Outcome::Measured { value: load, bounds: Some((load, load)) },
    };
    let nothing = |load: f64| MeasuredLoad { load, times: 1, outcome: void() };
    let again = Step::Try(Try { beside: Some(1.0), ..Try::new(2.0, Why::AfterVoid) });
    assert_eq!(next(&question, &[measured(1.0), nothing(2.0)]), again);
    let ended = next(&question, &[measured(1.0), nothing(2.0), nothing(2.0)]);
    assert!(matches!(ended, Step::Ended(Ending::CannotTell { load: 2.0, so_far: Some(_), .. })), "{ended:?}");
    let Step::Try(on) = next(&question, &[measured(1.0), nothing(2.0), measured(2.0)]) else { panic!() };
    assert_eq!((on.load, on.again), (4.0, false), "a load that has a result is void no more");
    let curve = |load: f64| load.min(20.0);
    for seed in 0..100 {
        let mut machine = Machine { void: 0.1, noise: 0.01, chance: Random::new(seed), ..Machine::exact(&curve) };
        machine.search(&peak(1.0, 256.0));
    }
}

/// The choice depends on what was measured and on nothing else: not on the order, and not on how often it is asked.
#[test]
fn equal_results_give_equal_choices() {
    let curve = scalability(0.03, 5e-4);
    for seed in 0..50 {
        let mut machine = Machine { noise: 0.02, chance: Random::new(seed), ..Machine::exact(&curve) };
        for question in [peak(1.0, 256.0), limit(1.0, 256.0, 8_000.0)] {
            let (ending, tried, _) = machine.search(&question);
            let mut turned = tried.clone();
            turned.reverse();
            assert_eq!(next(&question, &tried), Step::Ended(ending.clone()));
            assert_eq!(next(&question, &turned), Step::Ended(ending));
            for known in 0..tried.len() {
                assert_eq!(next(&question, &tried[..known]), next(&question, &tried[..known]));
            }
        }
    }
}

/// Whatever is asked and measured, a search ends within its points, and its answer is a load that was measured.
#[test]
fn every_search_ends_with_a_load_that_was_measured() {
    let mut chance = Random::new(7);
    for seed in 0..2_000 {
        let (scale, bend, fall) = (chance.uniform() * 5.0, 1.0 + chance.uniform() * 300.0, chance.uniform() * 0.01);
        let curve = move |load: f64| scale * load.min(bend) / (1.0 + fall * load) + 0.1;
        let from = 1.0 + (chance.uniform() * 20.0).floor();
        let to = from + 1.0 + (chance.uniform() * 1_000.0).floor();
        let points = 2 + (chance.uniform() * 20.0) as usize;
        let (noise, void) = (chance.uniform() * 0.1, chance.uniform() * 0.05);
        let goal = if seed % 2 == 0 {
            Goal::Peak { plateau: 0.01 + chance.uniform() * 0.1 }
        } else {
            Goal::Limit { at_most: chance.uniform() * 500.0 }
        };
        let resolution = 0.001 + chance.uniform() * 0.5;
        let question = Question { goal, from, to, whole: seed % 3 != 0, resolution, points, times: 2 };
        let mut machine = Machine { noise, void, chance: Random::new(seed), ..Machine::exact(&curve) };
        let (ending, tried, steps) = machine.search(&question);
        assert!(steps <= points, "{steps} of {points}");
        if let Ending::Found(found) = ending {
            let was_tried = |load: f64| tried.iter().any(|one| one.load == load);
            assert!(was_tried(found.load) && was_tried(found.range.0) && was_tried(found.range.1), "{found:?}");
            assert!(found.range.0 <= found.range.1, "{found:?}");
        }
    }
}

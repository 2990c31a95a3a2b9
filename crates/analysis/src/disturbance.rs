//! How much of the processor others took while a load was measured, and what a figure may then claim. Disturbance is seen from outside the
//! database: throughput decides nothing here.

use super::distribution::{mean, student_quantile, variance};

/// A second with less demand than this, CPU seconds, says nothing of what was stolen: it takes the last known share.
const LEAST_DEMAND: f64 = 0.2;

/// A limit was reached in a second that used this share of it.
const REACHED: f64 = 0.97;

/// It was reached all the time when it was in this share of the seconds.
const ALL_THE_TIME: f64 = 0.95;

/// Seconds that are averaged before work is held against disturbance.
const AVERAGED: usize = 5;

/// Seconds in which less than this share of a limit was used say nothing of the work that a unit of it does; ours.
const USED_AT_LEAST: f64 = 0.05;

/// Variation of the work, as a share of it, within which there is nothing for others to explain; ours, below the 7 % that were seen under a full
/// quota beside others.
const STEADY: f64 = 0.05;

/// Range of the disturbance over which its effect would be seen; ours.
const VARIED: f64 = 0.05;

/// The processor in one second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProcessorSecond {
    /// CPU seconds at work on the cores that the database may use.
    pub busy: f64,
    /// CPU seconds that these cores wanted and the hypervisor gave to other guests; `None` where it does not say.
    pub stolen: Option<f64>,
    /// CPU seconds on these cores of processes that belong neither to the database nor to the load generator; `None` where they cannot be seen.
    pub foreign: Option<f64>,
}

/// A host in one second as its probes tell it, CPU seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostSecond {
    /// Use of the cores that the database may use, with what was stolen from them.
    pub used: f64,
    /// Stolen from these cores; `None` where it is not told.
    pub stolen: Option<f64>,
    /// Share of the host's cores that these are, 0 to 1.
    pub part: f64,
    /// Foreign processes, on whatever core; `None` where they cannot be seen.
    pub foreign: Option<f64>,
    /// The database itself; `None` where that is not known.
    pub database: Option<f64>,
    /// Proofload itself, on these cores where that is told, else on whatever core; `None` where it is not known.
    pub clients: Option<f64>,
}

impl HostSecond {
    /// The cores that the database may use. Where these are some of the host's, foreign is what neither the database nor Proofload used of them:
    /// processes that are busy on the other cores take nothing away. Without that knowledge foreign use is spread evenly over the host.
    pub fn processor(&self) -> ProcessorSecond {
        let busy = (self.used - self.stolen.unwrap_or(0.0)).max(0.0);
        let there = |everywhere: f64| match (self.database, self.clients) {
            _ if self.part >= 1.0 => everywhere,
            (Some(database), Some(clients)) => (busy - database - clients).clamp(0.0, everywhere.max(0.0)),
            _ => everywhere * self.part,
        };
        ProcessorSecond { busy, stolen: self.stolen, foreign: self.foreign.map(there) }
    }
}

/// How quiet a host is by all that tells of others on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quietness {
    /// Others took no more than is tolerated, and nothing of them is hidden.
    Quiet,
    /// A thread that computes had its cores, where nothing else tells of others.
    QuietBySpin,
    /// They took no more than is tolerated of what is shown; guests or processes are hidden.
    QuietWhereSeen,
    /// They took more than is tolerated.
    Busy,
    /// Nothing tells of them.
    Hidden,
}

/// What others took of the processor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Disturbance {
    /// Share of what was demanded that was stolen; `None` where not observed.
    pub stolen: Option<f64>,
    /// Share of the cores that foreign processes used; `None` where not observed.
    pub foreign: Option<f64>,
    /// Both together in each second.
    pub seconds: Vec<f64>,
}

impl Disturbance {
    /// Makes it of consecutive seconds on a number of cores. What is stolen is held against the demand, stolen ÷ (stolen + busy), since a
    /// database that waits for its disk asks for little: a share of the time would make it look undisturbed.
    pub fn of(seconds: &[ProcessorSecond], cores: f64) -> Self {
        let sum = |part: fn(&ProcessorSecond) -> Option<f64>| seconds.iter().map(part).sum::<Option<f64>>();
        let busy: f64 = seconds.iter().map(|second| second.busy).sum();
        let some = !seconds.is_empty() && cores > 0.0;
        let stolen = sum(|second| second.stolen).filter(|_| some);
        let foreign = sum(|second| second.foreign).filter(|_| some);
        let mut known = 0.0;
        let share = |second: &ProcessorSecond| {
            let stolen = second.stolen.unwrap_or(0.0);
            if stolen + second.busy >= LEAST_DEMAND {
                known = stolen / (stolen + second.busy);
            }
            let foreign = (second.foreign.unwrap_or(0.0) / cores).clamp(0.0, 1.0);
            known + foreign * (1.0 - known)
        };
        Self {
            stolen: stolen.map(|stolen| if stolen > 0.0 { stolen / (stolen + busy) } else { 0.0 }),
            foreign: foreign.map(|foreign| (foreign / seconds.len() as f64 / cores).clamp(0.0, 1.0)),
            seconds: seconds.iter().map(share).collect(),
        }
    }

    /// Mean share that others took; `None` unless both parts were observed, since a host that does not say is not a quiet one.
    pub fn observed(&self) -> Option<f64> {
        (self.stolen.is_some() && self.foreign.is_some() && !self.seconds.is_empty()).then(|| mean(&self.seconds))
    }

    /// Mean share that others took, as far as it was observed.
    pub fn at_least(&self) -> f64 {
        if self.seconds.is_empty() { 0.0 } else { mean(&self.seconds) }
    }

    /// Tells whether neither stolen time nor foreign processes were observed.
    pub fn is_blind(&self) -> bool {
        self.stolen.is_none() && self.foreign.is_none()
    }

    /// Says how quiet the host is: the one rule for figures, for the wait before a run and for what is said before a study. `had_core`: whether a
    /// thread that computes had its cores, `None` where none did; it counts where nothing else tells of others.
    pub fn quietness(&self, had_core: Option<bool>, is_device_busy: bool, tolerated: f64) -> Quietness {
        if is_device_busy {
            return Quietness::Busy;
        }
        match had_core {
            None if self.is_blind() => Quietness::Hidden,
            Some(true) if self.is_blind() => Quietness::QuietBySpin,
            Some(false) if self.is_blind() => Quietness::Busy,
            _ if self.at_least() > tolerated => Quietness::Busy,
            _ if self.observed().is_some() => Quietness::Quiet,
            _ => Quietness::QuietWhereSeen,
        }
    }
}

/// Finds the largest share of the demand of a second that was stolen; `None` where that is not told. Seconds with little demand do not count.
pub fn worst_stolen(seconds: &[ProcessorSecond]) -> Option<f64> {
    let share = |second: &ProcessorSecond| {
        let stolen = second.stolen?;
        let demand = stolen + second.busy;
        Some(if demand >= LEAST_DEMAND { stolen / demand } else { 0.0 })
    };
    seconds.iter().filter_map(share).reduce(f64::max)
}

/// Whether a limit was reached all the time: at least 97 % of it in at least 95 % of the seconds. A second that was read early has its part in
/// the next one or the one before, so it counts also where the two together reach the limit.
pub fn was_reached(used: &[f64], limit: f64) -> bool {
    let enough = REACHED * limit;
    let is_reached = |second: usize| {
        let own = used[second];
        let with = |neighbour: Option<&f64>| neighbour.is_some_and(|other| own + other >= 2.0 * enough);
        own >= enough || with(second.checked_sub(1).and_then(|before| used.get(before))) || with(used.get(second + 1))
    };
    let reached = (0..used.len()).filter(|second| is_reached(*second)).count();
    limit > 0.0 && !used.is_empty() && reached as f64 >= ALL_THE_TIME * used.len() as f64
}

/// A second under a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitedSecond {
    /// What was done in it; not a number where it is missing.
    pub done: f64,
    /// What was used of the limited resource.
    pub used: f64,
    /// Share of the processor that others took.
    pub taken: f64,
}

/// Work done per unit of a limited resource in consecutive seconds, and what others took in each; without seconds that used next to
/// nothing of the limit, or whose work is missing.
pub fn work_per_unit(seconds: &[LimitedSecond], limit: f64) -> (Vec<f64>, Vec<f64>) {
    let says = |second: &&LimitedSecond| second.done.is_finite() && second.used > USED_AT_LEAST * limit;
    seconds.iter().filter(says).map(|second| (second.done / second.used, second.taken)).unzip()
}

/// Tells whether work would be seen to depend on the disturbance if it did: the disturbance varied, or the work is so steady that
/// nothing is left to explain. Over means of 5 s.
pub fn would_show(work: &[f64], disturbance: &[f64]) -> bool {
    let taken = means_of_five(disturbance);
    let most = taken.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = taken.iter().copied().fold(f64::INFINITY, f64::min);
    most - least >= VARIED || is_steady(work)
}

/// Tells whether work is so steady that nothing is left for others to explain, seen or hidden. Over means of 5 s.
pub fn is_steady(work: &[f64]) -> bool {
    let work = means_of_five(work);
    work.len() > 1 && variance(&work).sqrt() <= STEADY * mean(&work)
}

fn means_of_five(values: &[f64]) -> Vec<f64> {
    values.chunks_exact(AVERAGED).map(mean).collect()
}

/// Whether work done per unit of a limited resource is shown to fall or rise with the disturbance: a reached limit then leaves the
/// host in the figure (shared caches, sibling threads). The slope of ln(work) on the disturbance over means of 5 s, at 1 %.
pub fn depends(work: &[f64], disturbance: &[f64]) -> bool {
    let pairs: Vec<(f64, f64)> = means_of_five(disturbance)
        .into_iter()
        .zip(means_of_five(work))
        .filter(|(_, y)| *y > 0.0 && y.is_finite())
        .map(|(x, y)| (x, y.ln()))
        .collect();
    let n = pairs.len() as f64;
    if pairs.len() < 4 {
        return false;
    }
    let centre = |pick: fn(&(f64, f64)) -> f64| pairs.iter().map(pick).sum::<f64>() / n;
    let (mx, my) = (centre(|pair| pair.0), centre(|pair| pair.1));
    let sxx: f64 = pairs.iter().map(|(x, _)| (x - mx).powi(2)).sum();
    let slope = pairs.iter().map(|(x, y)| (x - mx) * (y - my)).sum::<f64>() / sxx;
    let squares: f64 = pairs.iter().map(|(x, y)| (y - my - slope * (x - mx)).powi(2)).sum();
    let error = (squares / (n - 2.0) / sxx).sqrt();
    slope.is_finite() && slope.abs() > student_quantile(0.995, n - 2.0) * error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::autoregressive;

    fn second(busy: f64, stolen: f64, foreign: f64) -> ProcessorSecond {
        ProcessorSecond { busy, stolen: Some(stolen), foreign: Some(foreign) }
    }

    #[test]
    fn stolen_time_is_a_share_of_the_demand() {
        let found = Disturbance::of(&[second(1.0, 0.25, 0.5), second(1.0, 0.25, 0.5)], 2.0);
        assert_eq!((found.stolen, found.foreign), (Some(0.2), Some(0.25)));
        assert!((found.observed().unwrap() - 0.4).abs() < 1e-9, "{found:?}");
    }

    /// Two of 16 cores are the database's, and one of Proofload's threads runs there.
    #[test]
    fn only_what_others_used_of_the_databases_cores_counts() {
        let told = |used: f64| HostSecond {
            used,
            stolen: Some(0.0),
            part: 2.0 / 16.0,
            foreign: Some(2.0),
            database: Some(1.0),
            clients: Some(0.2),
        };
        let taken = |second: HostSecond| Disturbance::of(&[second.processor()], 2.0).observed().unwrap();
        assert_eq!(taken(told(1.2)), 0.0, "compilers on two other cores");
        assert!((taken(told(2.0)) - 0.4).abs() < 1e-9, "one busy core of the database's is not averaged away");
        let stolen = HostSecond { stolen: Some(0.8), ..told(2.0) };
        assert_eq!(stolen.processor(), ProcessorSecond { busy: 1.2, stolen: Some(0.8), foreign: Some(0.0) });
        let blind = HostSecond { database: None, ..told(1.2) };
        assert_eq!(blind.processor().foreign, Some(0.25), "spread over the host");
        assert_eq!(
            HostSecond { part: 1.0, ..told(1.2) }.processor().foreign,
            Some(2.0),
            "all cores are the database's"
        );
        assert_eq!(
            HostSecond { foreign: Some(0.1), ..told(2.0) }.processor().foreign,
            Some(0.1),
            "not more than there is"
        );
    }

    /// A load whose own demand falls while steal is constant does not become quiet, nor does one that asks for nearly nothing.
    #[test]
    fn a_load_that_asks_for_little_is_not_undisturbed() {
        let busy = Disturbance::of(&[second(1.6, 0.4, 0.0)], 2.0);
        let waiting = Disturbance::of(&[second(0.4, 0.1, 0.0)], 2.0);
        assert_eq!(busy.observed(), waiting.observed());
        let idle = Disturbance::of(&[second(1.6, 0.4, 0.0), second(0.05, 0.0, 0.0)], 2.0);
        assert_eq!(idle.seconds, [0.2, 0.2]);
    }

    #[test]
    fn what_was_not_observed_is_not_quiet() {
        let blind = ProcessorSecond { busy: 1.0, stolen: None, foreign: Some(0.0) };
        let found = Disturbance::of(&[blind], 2.0);
        assert_eq!((found.observed(), found.at_least()), (None, 0.0));
        assert_eq!(Disturbance::of(&[], 2.0).observed(), None);
        assert_eq!(Disturbance::of(&[second(0.0, 0.0, 0.0)], 2.0).observed(), Some(0.0));
    }

    #[test]
    fn a_host_is_quiet_by_what_it_shows_and_says_where_that_is_not_all() {
        let of = |stolen: Option<f64>, foreign: Option<f64>| {
            Disturbance::of(&[ProcessorSecond { busy: 1.0, stolen, foreign }], 2.0)
        };
        let told = |stolen, foreign, had_core| of(stolen, foreign).quietness(had_core, false, 0.05);
        assert_eq!(told(Some(0.0), Some(0.0), Some(false)), Quietness::Quiet, "all is seen, whatever computing took");
        assert_eq!(told(None, Some(0.0), Some(false)), Quietness::QuietWhereSeen);
        assert_eq!(told(Some(0.0), None, None), Quietness::QuietWhereSeen);
        assert_eq!((told(Some(0.5), None, None), told(None, Some(0.5), None)), (Quietness::Busy, Quietness::Busy));
        let blind = [Some(true), Some(false), None].map(|had_core| told(None, None, had_core));
        assert_eq!(blind, [Quietness::QuietBySpin, Quietness::Busy, Quietness::Hidden]);
        let quiet = of(Some(0.0), Some(0.0));
        assert_eq!(quiet.quietness(None, true, 0.05), Quietness::Busy, "others keep the device busy");
    }

    #[test]
    fn the_worst_second_counts_where_something_was_asked_for() {
        let seconds = [second(0.9, 0.1, 0.5), second(0.6, 0.4, 0.0), second(0.01, 0.09, 0.0)];
        assert_eq!(worst_stolen(&seconds), Some(0.4));
        assert_eq!(worst_stolen(&[ProcessorSecond { stolen: None, ..seconds[0] }]), None);
    }

    #[test]
    fn a_limit_is_reached_in_nearly_all_seconds_or_not_at_all() {
        let mut used = vec![0.40; 40];
        used[3] = 0.1;
        assert!(was_reached(&used, 0.4));
        let early: Vec<f64> = (0..40).map(|second| if second % 2 == 0 { 0.35 } else { 0.45 }).collect();
        assert!(was_reached(&early, 0.4), "read at uneven distances");
        used[4..8].fill(0.1);
        assert!(!was_reached(&used, 0.4));
        assert!(!was_reached(&[], 0.4) && !was_reached(&[1.0], 0.0));
    }

    #[test]
    fn work_that_falls_with_the_disturbance_is_told() {
        let taken: Vec<f64> = (0..120).map(|t| if (t / 15) % 2 == 0 { 0.0 } else { 0.4 }).collect();
        let work = |seed: u64, slope: f64| -> Vec<f64> {
            let noise = autoregressive(seed, 120, 0.3);
            (0..120).map(|t| 100.0 * (1.0 - slope * taken[t]) * (1.0 + 0.02 * noise[t])).collect()
        };
        let told = |slope: f64| (0..200).filter(|seed| depends(&work(*seed, slope), &taken)).count();
        assert_eq!(told(0.2), 200);
        assert!(told(0.0) <= 6, "{} of 200", told(0.0));
        assert!(!depends(&work(5, 0.5), &[0.0; 120]), "nothing varied");
        assert!(!would_show(&work(5, 0.5), &[0.4; 120]), "and the work did, so that nobody can tell");
        assert!(would_show(&work(5, 0.0), &[0.4; 120]), "steady work leaves nothing to explain");
        assert!(would_show(&work(5, 0.5), &taken), "the slope tells");
        assert!(!would_show(&[1.0; 4], &[0.0; 4]), "less than two means");
        assert!(is_steady(&work(5, 0.0)) && !is_steady(&work(5, 0.5)) && !is_steady(&[1.0; 9]));
    }

    /// A second that used nothing, and one that is missing, leave the others as they are.
    #[test]
    fn work_per_unit_leaves_out_seconds_that_say_nothing() {
        let mut seconds: Vec<LimitedSecond> = (0..120)
            .map(|t| if (t / 15) % 2 == 0 { 0.0 } else { 0.4 })
            .zip(autoregressive(3, 120, 0.3))
            .map(|(taken, noise)| LimitedSecond {
                done: 100.0 * (1.0 - 0.2 * taken) * (1.0 + 0.02 * noise),
                used: 0.4,
                taken,
            })
            .collect();
        let told = |seconds: &[LimitedSecond]| {
            let (work, taken) = work_per_unit(seconds, 0.4);
            (work.len(), depends(&work, &taken))
        };
        assert_eq!(told(&seconds), (120, true));
        (seconds[20].used, seconds[40].used, seconds[70].done) = (0.0, 0.01, f64::NAN);
        assert_eq!(told(&seconds), (117, true));
    }
}

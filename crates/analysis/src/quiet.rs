//! The mean over quiet seconds: those in which others took little of the processor, and in which the system has forgotten when they last took more.
//! Seconds are chosen by what happened outside alone; throughput only tells how long a system remembers. Right for closed, saturated loads only:
//! paced users and arrivals at a rate catch up afterwards, so that their quiet seconds are too fast.

use super::bootstrap::Estimate;
use super::distribution::mean;

/// Shortest time that a system is given to forget, seconds.
const LEAST_GUARD: usize = 5;

/// Upper ends of the times since the last loud second that are compared, seconds.
const SINCE: [usize; 6] = [1, 2, 4, 8, 16, 32];

/// Difference from the mean of long-quiet seconds, as a share of it, that counts as none.
const FORGOTTEN: f64 = 0.01;

/// A difference within this many standard errors is not shown.
const ERRORS: f64 = 2.0;

/// Seconds on both sides from which a difference can be told.
const LEAST_COMPARED: usize = 5;

/// Longest stretch of quiet seconds that counts as one draw, seconds.
const LONGEST_STRETCH: usize = 10;

/// Fewest stretches of which an interval is formed.
const LEAST_STRETCHES: usize = 8;

/// How the interval comes about.
const METHOD: &str = "mean over quiet seconds, in stretches of up to 10 s, Student's quantile";

/// A second of load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObservedSecond {
    /// What was done in it; not a number where it is missing.
    pub done: f64,
    /// Share of the processor that others took; `None` where not observed.
    pub taken: Option<f64>,
}

/// What a system does when nobody else takes much of its host.
#[derive(Clone, Debug, PartialEq)]
pub struct QuietMean {
    /// The mean over quiet seconds.
    pub mean: Estimate,
    /// Quiet seconds.
    pub quiet: usize,
    /// All seconds.
    pub of: usize,
    /// Time after a loud second before seconds count, seconds.
    pub guard: usize,
}

/// Looks for it; `tolerated`: share of the processor that others may take in a quiet second.
///
/// # Errors
/// Why there is none, in words.
pub fn quiet_mean(seconds: &[ObservedSecond], tolerated: f64) -> Result<QuietMean, String> {
    if seconds.iter().any(|second| second.taken.is_none()) {
        return Err("CPU time used by others was not observed in every second".to_owned());
    }
    let since = since_loud(seconds, tolerated);
    // A longer guard leaves fewer.
    enough_stretches(seconds, &since, LEAST_GUARD)?;
    let guard = guard(seconds, &since)?;
    let (stretches, quiet) = enough_stretches(seconds, &since, guard)?;
    Ok(QuietMean { mean: ratio_estimate(&stretches), quiet, of: seconds.len(), guard })
}

/// Stretches of quiet seconds behind a guard, and these seconds.
fn enough_stretches(
    seconds: &[ObservedSecond],
    since: &[Option<usize>],
    guard: usize,
) -> Result<(Vec<(f64, f64)>, usize), String> {
    let is_quiet = |place: &usize| since[*place].is_none_or(|since| since > guard) && seconds[*place].done.is_finite();
    let quiet: Vec<usize> = (0..seconds.len()).filter(is_quiet).collect();
    let stretches = stretches(seconds, &quiet);
    if stretches.len() < LEAST_STRETCHES {
        return Err(format!(
            "{} quiet stretches of {} s in total; at least {LEAST_STRETCHES} are needed",
            stretches.len(),
            quiet.len()
        ));
    }
    Ok((stretches, quiet.len()))
}

/// Seconds that are quiet and far enough from a loud one, where the system forgets as fast as any; a load that wants so many goes on until then.
pub fn quiet_seconds(taken: &[Option<f64>], tolerated: f64) -> usize {
    let seconds: Vec<ObservedSecond> = taken.iter().map(|taken| ObservedSecond { done: 1.0, taken: *taken }).collect();
    since_loud(&seconds, tolerated).iter().filter(|since| since.is_none_or(|since| since > LEAST_GUARD)).count()
}

/// Seconds since the last loud one, 0 in a loud one; `None` before the first. The first seconds after the beginning are like those after a loud
/// one: what was before them is not known.
fn since_loud(seconds: &[ObservedSecond], tolerated: f64) -> Vec<Option<usize>> {
    let mut last = Some(0);
    seconds
        .iter()
        .map(|second| {
            last = match (second.taken.is_none_or(|taken| taken > tolerated), last) {
                (true, _) => Some(0),
                (false, Some(since)) => Some(since + 1),
                (false, None) => None,
            };
            last
        })
        .collect()
}

/// The time after which throughput is like that of the longest-quiet seconds of which there are enough. These must all lie beyond the
/// shortest guard: what a system does later than it was ever left alone cannot be told.
fn guard(seconds: &[ObservedSecond], since: &[Option<usize>]) -> Result<usize, String> {
    let of = |from: usize, to: usize| -> Vec<f64> {
        let inside = |(second, since): (&ObservedSecond, &Option<usize>)| {
            let since = since.unwrap_or(usize::MAX);
            (since > from && since <= to && second.done.is_finite()).then_some(second.done)
        };
        seconds.iter().zip(since).filter_map(inside).collect()
    };
    let (begins, ends) = ([0].into_iter().chain(SINCE), SINCE.into_iter().chain([usize::MAX]));
    let classes = begins.zip(ends).map(|(from, to)| (from, to, of(from, to)));
    let classes: Vec<_> = classes.filter(|(_, _, values)| values.len() >= LEAST_COMPARED).collect();
    let ((_, _, rest), others) = classes.split_last().filter(|(last, _)| last.0 >= LEAST_GUARD).ok_or_else(|| {
        format!(
            "how long the system takes to forget could not be measured: fewer than {LEAST_COMPARED} seconds lay more \
             than 8 s after others were active"
        )
    })?;
    for (place, (_, end, these)) in others.iter().enumerate().rev() {
        let difference = mean(these) / mean(rest) - 1.0;
        let error = (squared_error(these) + squared_error(rest)).sqrt() / mean(rest);
        if difference.abs() > FORGOTTEN.max(ERRORS * error) {
            // Nothing between them agrees with the rest, which may itself not have forgotten.
            if place + 1 == others.len() {
                return Err(format!(
                    "throughput still differs by {:.1} % up to {end} s after others were active",
                    100.0 * difference
                ));
            }
            return Ok(LEAST_GUARD.max(*end));
        }
    }
    Ok(LEAST_GUARD)
}

fn squared_error(values: &[f64]) -> f64 {
    super::distribution::variance(values) / values.len() as f64
}

/// Sum and length of each run of consecutive quiet seconds, cut at [`LONGEST_STRETCH`].
fn stretches(seconds: &[ObservedSecond], quiet: &[usize]) -> Vec<(f64, f64)> {
    let mut found: Vec<(f64, f64)> = Vec::new();
    let mut before = None;
    for place in quiet {
        let goes_on = before.is_some_and(|before| before + 1 == *place);
        match found.last_mut().filter(|(_, length)| goes_on && *length < LONGEST_STRETCH as f64) {
            Some((sum, length)) => (*sum, *length) = (*sum + seconds[*place].done, *length + 1.0),
            None => found.push((seconds[*place].done, 1.0)),
        }
        before = Some(*place);
    }
    found
}

/// The ratio estimator of a mean over stretches of different lengths.
fn ratio_estimate(stretches: &[(f64, f64)]) -> Estimate {
    let count = stretches.len() as f64;
    let (sum, length) = stretches.iter().fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
    let value = sum / length;
    let squares: f64 = stretches.iter().map(|(sum, length)| (sum - value * length).powi(2)).sum();
    Estimate {
        value,
        standard_error: (count / (count - 1.0) * squares).sqrt() / length,
        freedom: count - 1.0,
        ahead: 0.0,
        n: length as u64,
        block: LONGEST_STRETCH,
        missing: None,
        method: METHOD,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::autoregressive;
    use crate::random::Random;

    /// What a burst leaves behind.
    #[derive(Clone, Copy, PartialEq)]
    enum After {
        Nothing,
        SlowRecovery,
        Flush,
        Backlog,
    }

    /// 600 s on a host with bursts of 3 to 30 s, a third of the time, in which others take up to 40 %; 1,000/s when it is quiet.
    fn host(seed: u64, after: After) -> Vec<ObservedSecond> {
        let mut random = Random::stream(seed, 17);
        let noise = autoregressive(seed, 600, 0.5);
        let (mut taken, mut left, mut lost, mut ended) = (0.0, 20.0, 0.0f64, None::<f64>);
        (0..600)
            .map(|second| {
                if left <= 0.0 {
                    if taken > 0.0 {
                        (taken, left, ended) = (0.0, 10.0 + 50.0 * random.uniform(), Some(0.0));
                    } else {
                        (taken, left) = (0.1 + 0.3 * random.uniform(), 3.0 + 27.0 * random.uniform());
                    }
                }
                left -= 1.0;
                let since = ended.filter(|_| taken == 0.0);
                ended = ended.map(|since| since + 1.0);
                let factor = match (after, since) {
                    (After::SlowRecovery, Some(since)) => 1.0 - 0.3 * (-since / 4.0).exp(),
                    (After::Flush, Some(since)) if (6.0..10.0).contains(&since) => 0.7,
                    _ => 1.0,
                };
                lost += 1_000.0 * taken;
                let caught_up = if after == After::Backlog && taken == 0.0 { lost.min(200.0) } else { 0.0 };
                lost -= caught_up;
                let done = 1_000.0 * factor * (1.0 - taken) * (1.0 + 0.03 * noise[second]) + caught_up;
                ObservedSecond { done, taken: Some(taken + 0.01 * random.uniform()) }
            })
            .collect()
    }

    /// Mean bias and coverage in per cent, and hosts with a result, of 300.
    fn scored(after: After) -> (f64, f64, usize) {
        let found: Vec<QuietMean> = (0..300).filter_map(|seed| quiet_mean(&host(seed, after), 0.05).ok()).collect();
        let bias = found.iter().map(|quiet| quiet.mean.value / 1_000.0 - 1.0).sum::<f64>() / found.len() as f64;
        let covers = |quiet: &&QuietMean| {
            let (low, high) = quiet.mean.interval().bounds().expect("eight stretches");
            (low..high).contains(&1_000.0)
        };
        let covered = found.iter().filter(covers).count();
        (100.0 * bias, 100.0 * covered as f64 / found.len() as f64, found.len())
    }

    #[test]
    fn quiet_seconds_are_those_of_a_quiet_host() {
        for (name, after, least_cover) in [
            ("nothing", After::Nothing, 93.0),
            ("slow recovery", After::SlowRecovery, 90.0),
            ("flush", After::Flush, 90.0),
        ] {
            let (bias, covered, hosts) = scored(after);
            println!("{name}: bias {bias:.2} %, covers {covered:.1} %, {hosts} of 300 hosts");
            assert!(bias.abs() < 1.0 && covered >= least_cover && hosts > 200, "{name}: {bias} {covered} {hosts}");
        }
    }

    /// Why paced loads and arrivals at a rate are not asked: what was left undone is done in the quiet.
    #[test]
    fn a_backlog_makes_quiet_seconds_too_fast() {
        let (bias, _, _) = scored(After::Backlog);
        assert!(bias > 2.0, "{bias}");
    }

    #[test]
    fn without_enough_quiet_or_sight_there_is_no_answer() {
        let quiet = |taken: Option<f64>| vec![ObservedSecond { done: 100.0, taken }; 60];
        assert!(quiet_mean(&quiet(None), 0.05).unwrap_err().contains("not observed"));
        assert!(quiet_mean(&quiet(Some(0.5)), 0.05).unwrap_err().starts_with("0 quiet stretches"));
        let found = quiet_mean(&vec![ObservedSecond { done: 100.0, taken: Some(0.0) }; 120], 0.05).unwrap();
        assert_eq!((found.quiet, found.guard, found.mean.value), (115, 5, 100.0));
        let taken: Vec<Option<f64>> =
            (0..30).map(|second| (second != 12).then_some(if second == 20 { 0.5 } else { 0.0 })).collect();
        assert_eq!(
            quiet_seconds(&taken, 0.05),
            7 + 2 + 4,
            "before what was not observed, before the loud one, after it"
        );
    }

    /// 600 s in which others are active for 3 s every `period` seconds, with throughput by the seconds since.
    fn busy_every(period: usize, done: impl Fn(usize) -> f64) -> Vec<ObservedSecond> {
        let second = |place: usize| {
            let place = place % period;
            let taken = if place < 3 { 0.4 } else { 0.0 };
            ObservedSecond { done: done(place.saturating_sub(2)) + 0.001 * (place % 2) as f64, taken: Some(taken) }
        };
        (0..600).map(second).collect()
    }

    /// Where others are never away for 32 s, the longest time that they are away tells how long the system remembers.
    #[test]
    fn a_guard_is_measured_or_there_is_no_figure() {
        let slow_until = |last: usize| move |since: usize| if since <= last { 70.0 } else { 100.0 };
        let found = |period: usize, last: usize| quiet_mean(&busy_every(period, slow_until(last)), 0.05);
        assert_eq!(found(24, 0).map(|quiet| quiet.guard), Ok(5), "nothing stays behind");
        assert_eq!(found(24, 7).map(|quiet| quiet.guard), Ok(8), "8 to 16 s agree with 16 to 21 s");
        let still = found(24, 14).unwrap_err();
        assert!(still.starts_with("throughput still differs") && still.contains("up to 16 s"), "{still}");
        let unknown = found(11, 0).unwrap_err();
        assert!(unknown.contains("could not be measured"), "{unknown}");
    }
}

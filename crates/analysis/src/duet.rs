//! Two loads that ran at once, compared over the same seconds: what neighbours took hit both. Source: Bulej et al., ICPE 2020, arXiv 2001.05811.
//! May not judge whether the two had room beside each other.

use super::blocks::BlockDifference;
use super::bootstrap::mean_of;
use super::distribution::{mean, student_quantile, variance};

/// Runs from which their spread is taken; fewer have none once places are removed.
const FEWEST: usize = 4;

/// One run of both: throughput in the seconds that both measured, in order.
#[derive(Debug, Clone, Copy)]
pub struct DuetRun<'a> {
    /// Throughput of the baseline.
    pub baseline: &'a [f64],
    /// Throughput of the candidate.
    pub candidate: &'a [f64],
}

/// The logarithm of candidate over baseline, its standard error and degrees of freedom. Runs come in pairs that swap places; each pair is
/// averaged, so that what a place is worth falls out. The error is what seconds tell, with their dependence counted, or from four runs on their
/// spread around the mean of their place, if that makes the interval wider.
///
/// # Errors
/// Runs that do not make pairs, sides of different lengths, fewer than ten seconds in common, a gap, nothing done.
pub fn duet(runs: &[DuetRun<'_>]) -> Result<BlockDifference, String> {
    if runs.is_empty() || !runs.len().is_multiple_of(2) {
        return Err(format!("{} runs cannot be paired so that the two studies swap places", runs.len()));
    }
    let each = runs.iter().map(of_run).collect::<Result<Vec<_>, String>>()?;
    let squares: Vec<f64> = each.iter().map(|run| run.error.powi(2)).collect();
    let (sum, count) = (squares.iter().sum::<f64>(), runs.len() as f64);
    // Welch and Satterthwaite.
    let fourth: f64 = each.iter().zip(&squares).map(|(run, square)| square * square / run.freedom).sum();
    let within = (sum.sqrt() / count, if fourth > 0.0 { sum * sum / fourth } else { count });
    let pairs: Vec<f64> = each.chunks(2).map(|pair| f64::midpoint(pair[0].log, pair[1].log)).collect();
    let logs: Vec<f64> = each.iter().map(|run| run.log).collect();
    let between = (logs.len() >= FEWEST).then(|| spread(&logs));
    let width = |(error, freedom): (f64, f64)| error * student_quantile(0.975, freedom);
    let (error, freedom) = between.filter(|between| width(*between) > width(within)).unwrap_or(within);
    Ok(BlockDifference { log: mean(&pairs), error, freedom })
}

/// Standard error of the mean of runs that alternate between two places, by their spread around the mean of each place, and its degrees of
/// freedom.
fn spread(logs: &[f64]) -> (f64, f64) {
    let at = |place: usize| logs.iter().skip(place).step_by(2).copied().collect::<Vec<f64>>();
    let squares: f64 = [at(0), at(1)].iter().map(|place| variance(place) * (place.len() as f64 - 1.0)).sum();
    let (count, freedom) = (logs.len() as f64, logs.len() as f64 - 2.0);
    ((squares / freedom / count).sqrt(), freedom)
}

/// The ratio of two means over the same seconds: what is common to a second falls out of its error.
fn of_run(run: &DuetRun<'_>) -> Result<BlockDifference, String> {
    let DuetRun { baseline, candidate } = run;
    let (ours, theirs) = (mean(baseline), mean(candidate));
    if baseline.len() != candidate.len() || !(ours > 0.0 && theirs > 0.0) {
        return Err("the two share no second in which both completed operations".to_owned());
    }
    let apart: Vec<f64> = baseline.iter().zip(*candidate).map(|(a, b)| b / theirs - a / ours).collect();
    let found = mean_of(&apart);
    match found.missing {
        Some(why) => Err(why),
        None => Ok(BlockDifference { log: (theirs / ours).ln(), error: found.standard_error, freedom: found.freedom }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::blocks::Blocks;
    use super::super::blocks::Visit;
    use super::super::random::Random;
    use super::*;

    /// A host whose neighbours take up to 40 % in bursts, three quarters of it from both loads alike; a load of its own noise.
    struct Host {
        random: Random,
        burst: f64,
    }

    impl Host {
        /// One second: what is left for each of two loads.
        fn second(&mut self) -> [f64; 2] {
            if self.random.uniform() < 0.08 {
                self.burst = if self.burst > 0.0 { 0.0 } else { 0.4 * self.random.uniform() };
            }
            [0, 1].map(|_| 1.0 - 0.75 * self.burst - 0.25 * self.burst * 2.0 * self.random.uniform())
        }

        fn noise(&mut self) -> f64 {
            1.0 + 0.05 * self.random.normal()
        }
    }

    /// Seconds of a duet of so many runs; places differ by 3 % and are swapped.
    fn seconds(host: &mut Host, ratio: f64, runs: usize) -> Vec<[Vec<f64>; 2]> {
        let run = |at: usize| {
            let mut sides = [Vec::new(), Vec::new()];
            for _ in 0..60 {
                for (side, left) in host.second().into_iter().enumerate() {
                    let place = if (side + at).is_multiple_of(2) { 1.03 } else { 1.0 };
                    let level = if side == 1 { ratio } else { 1.0 };
                    sides[side].push(1_000.0 * level * place * left * host.noise());
                }
            }
            sides
        };
        (0..runs).map(run).collect()
    }

    fn told(seconds: &[[Vec<f64>; 2]]) -> BlockDifference {
        let runs: Vec<DuetRun<'_>> =
            seconds.iter().map(|[ours, theirs]| DuetRun { baseline: ours, candidate: theirs }).collect();
        duet(&runs).expect("both completed operations")
    }

    fn half_width(found: &BlockDifference) -> f64 {
        student_quantile(0.975, found.freedom) * found.error
    }

    #[test]
    fn a_ratio_at_once_is_covered_and_narrower_than_in_turns() {
        for (ratio, runs) in [(1.0, 2), (0.9, 2), (0.9, 4), (0.9, 10)] {
            let (mut covered, mut narrower) = (0, Vec::new());
            for seed in 0..600 {
                let mut host = Host { random: Random::stream(seed, 3), burst: 0.0 };
                let found = told(&seconds(&mut host, ratio, runs));
                covered += usize::from((found.log - f64::ln(ratio)).abs() <= half_width(&found));
                // The same time in turns: each load alone for as long, one after the other.
                let mut visit = |level: f64| {
                    let each = (0..60).map(|_| 1_000.0 * level * host.second()[0] * host.noise());
                    Visit { throughput: mean(&each.collect::<Vec<_>>()), taken: None, ahead: 0.0 }
                };
                let turns: Vec<[Visit; 2]> = (0..4).map(|_| [visit(1.0), visit(ratio)]).collect();
                let sides: Vec<Vec<Visit>> = [0, 1].map(|side| turns.iter().map(|turn| turn[side]).collect()).into();
                let in_turns = Blocks::of(&sides).expect("four blocks").difference(1, 0);
                // Half-widths of the same load time: standard errors, since four blocks have few degrees of freedom.
                narrower.push(in_turns.error * 2.0 / (found.error * (runs as f64 / 2.0).sqrt()));
            }
            let share = f64::from(covered as u32) / 600.0;
            println!("covers {share} of {runs} runs with {ratio}, narrower {}", mean(&narrower));
            assert!((0.925..=0.995).contains(&share), "{share} of {runs} runs with {ratio}");
            assert!(mean(&narrower) > 3.0, "{} of {runs} runs", mean(&narrower));
        }
    }

    #[test]
    fn what_is_no_duet_is_refused() {
        let (some, none) = (vec![1.0; 20], vec![0.0; 20]);
        let run = |candidate| DuetRun { baseline: &some, candidate };
        for runs in [vec![], vec![run(&some)], vec![run(&none), run(&some)], vec![run(&some[..19]), run(&some)]] {
            assert!(duet(&runs).is_err(), "{runs:?}");
        }
        let short = DuetRun { baseline: &some[..5], candidate: &some[..5] };
        assert!(duet(&[short, short]).is_err());
    }
}

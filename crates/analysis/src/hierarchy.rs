//! Intervals over repetitions: runs of one point are the highest noisy level, blocks of samples within a
//! run the lower one. One repetition describes that run only, and says so.

use super::bootstrap::{Estimate, METHOD_RUNS};
use super::distribution::{mean, variance};

/// The mean of a point over its runs, every run counting equally.
///
/// What moves on in every run does not average out. With one run the interval is that of the run alone. With more, the error is that
/// between runs, which holds the error within runs already, with runs − 1 degrees of freedom; so runs may be too short for an interval of
/// their own. A gap in any of them leaves none.
/// Source: Kalibera and Jones, "Rigorous benchmarking in reasonable time", ISMM 2013.
pub fn mean_of_estimates(estimates: &[Estimate]) -> Estimate {
    if let [only] = estimates {
        return only.clone();
    }
    let means: Vec<f64> = estimates.iter().map(|run| run.value).collect();
    let count = means.len() as f64;
    let missing = match means.iter().all(|mean| mean.is_finite()) {
        true if estimates.is_empty() => Some("no run was completed".to_owned()),
        true => None,
        false => Some("the series has gaps".to_owned()),
    };
    Estimate {
        value: mean(&means),
        standard_error: (variance(&means) / count).sqrt(),
        freedom: (count - 1.0).max(1.0),
        ahead: if estimates.is_empty() {
            0.0
        } else {
            mean(&estimates.iter().map(|run| run.ahead).collect::<Vec<_>>())
        },
        n: estimates.iter().map(|run| run.n).sum(),
        block: estimates.iter().map(|run| run.block).max().unwrap_or(1),
        missing,
        method: METHOD_RUNS,
    }
}

#[cfg(test)]
mod tests {
    use super::super::bootstrap::mean_of;
    use super::super::quantity::Interval;
    use super::super::random::Random;
    use super::*;
    use crate::noise::autoregressive;

    fn mean_of_runs(runs: &[&[f64]]) -> Estimate {
        mean_of_estimates(&runs.iter().map(|run| mean_of(run)).collect::<Vec<_>>())
    }

    fn runs(seed: u64, count: u64, between: f64) -> Vec<Vec<f64>> {
        let mut random = Random::stream(seed, 9);
        (0..count)
            .map(|run| {
                let level = 100.0 + between * random.normal();
                autoregressive(seed * 100 + run, 60, 0.5).iter().map(|x| level + 5.0 * x).collect()
            })
            .collect()
    }

    #[track_caller]
    fn check(name: &str, trials: u64, count: u64, between: f64, interval: impl Fn(&[&[f64]], u64) -> Interval) {
        let covered = (0..trials).filter(|&seed| {
            let runs = runs(seed, count, between);
            let slices: Vec<&[f64]> = runs.iter().map(Vec::as_slice).collect();
            interval(&slices, seed).bounds().is_some_and(|(low, high)| low <= 100.0 && 100.0 <= high)
        });
        let share = 100.0 * covered.count() as f64 / trials as f64;
        println!("{name}, {count} runs, {between} between: nominal 95 % covers {share:.1} %");
        assert!((92.0..=99.5).contains(&share), "{name}: {share}");
    }

    #[test]
    fn means_of_runs_cover() {
        for (count, between) in [(2, 3.0), (3, 3.0), (5, 3.0), (5, 0.5), (10, 3.0)] {
            check("mean of runs", 800, count, between, |runs, _| mean_of_runs(runs).interval());
        }
    }

    #[test]
    fn one_run_is_itself_and_none_has_no_interval() {
        let only = runs(1, 1, 0.0);
        assert_eq!(mean_of_runs(&[&only[0]]), mean_of(&only[0]));
        assert_eq!(mean_of_runs(&[]).interval(), Interval::none("no run was completed"));
        // Runs of two seconds have a spread between them; means 2, 4, 6: 4 ± 4.303 · 2 / √3.
        let short: [&[f64]; 3] = [&[1.0, 3.0], &[4.0, 4.0], &[5.0, 7.0]];
        let (low, high) = mean_of_runs(&short).interval().bounds().expect("three runs have a spread");
        assert!((low - (4.0 - 4.968)).abs() < 0.01 && (high - (4.0 + 4.968)).abs() < 0.01, "{low} to {high}");
        assert_eq!(mean_of_runs(&[&[1.0, f64::NAN], &[1.0, 2.0]]).interval(), Interval::none("the series has gaps"));
    }
}

//! Intervals over repetitions: runs of one point are the highest noisy level, blocks of samples within a
//! run the lower one. One repetition describes that run only, and says so.

use super::bootstrap::{Blocks, Estimate, METHOD_RUNS, Resampling, mean_of};
use super::distribution::{mean, quantile_of_sorted, student_quantile, variance};
use super::quantity::{Interval, Quantity, Unit};
use super::random::Random;

/// The mean of a point over its runs, every run counting equally.
///
/// With one run the interval is that of the run alone. With more, the error is that between runs, which
/// holds the error within runs already, with runs − 1 degrees of freedom; so runs may be too short for an interval of their own. A gap in
/// any of them leaves none.
/// Source: Kalibera and Jones, "Rigorous benchmarking in reasonable time", ISMM 2013.
pub fn mean_of_runs(runs: &[&[f64]]) -> Estimate {
    let estimates: Vec<Estimate> = runs.iter().map(|run| mean_of(run)).collect();
    if let [only] = estimates.as_slice() {
        return only.clone();
    }
    let means: Vec<f64> = estimates.iter().map(|run| run.value).collect();
    let count = means.len() as f64;
    let missing = match means.iter().all(|mean| mean.is_finite()) {
        true if runs.is_empty() => Some("no run was completed".to_owned()),
        true => None,
        false => Some("the series has gaps".to_owned()),
    };
    Estimate {
        value: mean(&means),
        standard_error: (variance(&means) / count).sqrt(),
        freedom: (count - 1.0).max(1.0),
        n: estimates.iter().map(|run| run.n).sum(),
        effective_n: estimates.iter().map(|run| run.effective_n).sum(),
        block: estimates.iter().map(|run| run.block).max().unwrap_or(1),
        missing,
        method: METHOD_RUNS,
    }
}

/// Any statistic of a point's runs by the hierarchical bootstrap: runs are drawn with replacement, then
/// circular blocks within each drawn run. The spread is widened by sqrt(R / (R − 1)) and by Student's
/// quantile with R − 1 degrees of freedom, without which few runs cover far too rarely.
pub fn statistic_of_runs(
    runs: &[&[f64]],
    unit: Unit,
    statistic: impl Fn(&[Vec<f64>]) -> f64,
    resampling: Resampling,
) -> Quantity {
    let owned: Vec<Vec<f64>> = runs.iter().map(|run| run.to_vec()).collect();
    let value = statistic(&owned);
    let n: u64 = runs.iter().map(|run| run.len() as u64).sum();
    let missing = runs.iter().find_map(|run| mean_of(run).missing);
    let missing = missing.or_else(|| (runs.len() < 2).then(|| "one repetition only".to_owned()));
    if let Some(why) = missing {
        return Quantity::new(value, unit, n, Interval::none(why));
    }
    let blocks: Vec<Blocks<'_>> = runs.iter().map(|run| Blocks::of(run)).collect();
    let mut random = Random::new(resampling.seed);
    let mut drawn: Vec<Vec<f64>> = vec![Vec::new(); runs.len()];
    let mut found: Vec<f64> = (0..resampling.resamples)
        .map(|_| {
            for sample in &mut drawn {
                blocks[random.below(blocks.len())].draw(&mut random, sample);
            }
            statistic(&drawn)
        })
        .filter(|x| x.is_finite())
        .collect();
    found.sort_by(f64::total_cmp);
    let count = runs.len() as f64;
    let tails = student_quantile(0.975, count - 1.0) / student_quantile(0.975, 1e6);
    let widened = (count / (count - 1.0)).sqrt() * tails;
    let middle = quantile_of_sorted(&found, 0.5);
    let end = |p| value + widened * (quantile_of_sorted(&found, p) - middle);
    Quantity::new(value, unit, n, Interval::known(end(0.025), end(0.975), "hierarchical bootstrap, runs × blocks"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::autoregressive;

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
    fn statistics_of_runs_cover() {
        let grand_mean = |runs: &[Vec<f64>]| mean(&runs.iter().map(|run| mean(run)).collect::<Vec<_>>());
        for count in [3, 5] {
            check("hierarchical bootstrap", 120, count, 3.0, |runs, seed| {
                let resampling = Resampling { resamples: 150, seed };
                statistic_of_runs(runs, Unit::PER_SECOND, grand_mean, resampling).interval().clone()
            });
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
        let resampling = Resampling { resamples: 10, seed: 1 };
        let quantity = statistic_of_runs(&[&only[0]], Unit::RATIO, |runs| mean(&runs[0]), resampling);
        assert_eq!(*quantity.interval(), Interval::none("one repetition only"));
    }
}

//! Whether throughput is back after a fault. Conductor and report ask one function. Source: docs/method.md, "Drills".

use super::distribution::{student_quantile, variance};

/// Seconds in a row whose mean tells that throughput is back.
pub const BACK_FOR: usize = 10;

/// Share of the throughput before that the mean of these seconds must reach, and share that the lower bound of its 95 % interval must.
const MEAN_FROM: f64 = 0.95;
const BOUND_FROM: f64 = 0.90;

/// Place of the first second of the first ten in a row with the throughput back; `None` where there are none. A second without a result
/// counts as one without work, and what an outage held up and one second made up for does not count for another.
pub fn first_recovered(seconds: &[f64], before: f64) -> Option<usize> {
    seconds.windows(BACK_FOR).position(|ten| {
        let at_most: Vec<f64> = ten.iter().map(|done| finite(*done).min(before)).collect();
        is_back(&at_most, before)
    })
}

fn is_back(ten: &[f64], before: f64) -> bool {
    let count = ten.len() as f64;
    let mean = ten.iter().sum::<f64>() / count;
    let error = (variance(ten) / count).sqrt();
    let bound = mean - student_quantile(0.975, count - 1.0) * error;
    mean >= MEAN_FROM * before && bound >= BOUND_FROM * before
}

/// Work missed in these seconds, in seconds of the throughput before.
pub fn missed(seconds: &[f64], before: f64) -> f64 {
    seconds.iter().fold(0.0, |sum, done| sum + 1.0 - finite(*done) / before.max(f64::MIN_POSITIVE))
}

fn finite(done: f64) -> f64 {
    if done.is_finite() { done } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(seconds: &[(f64, usize)], expected: Option<usize>) {
        let seconds: Vec<f64> = seconds.iter().flat_map(|(done, count)| vec![*done; *count]).collect();
        assert_eq!(first_recovered(&seconds, 100.0), expected, "{seconds:?}");
    }

    #[test]
    fn throughput_is_back_with_the_first_ten_seconds_that_keep_it() {
        check(&[(100.0, 10)], Some(0));
        check(&[(0.0, 3), (100.0, 10)], Some(3));
        check(&[(0.0, 3), (100.0, 9)], None);
        check(&[(0.0, 1), (95.0, 10)], Some(1));
        check(&[(94.0, 30)], None);
        // What was held up comes in one second and makes up for none of the others.
        check(&[(0.0, 5), (1000.0, 1), (50.0, 20)], None);
        // The mean is high enough, and one second is not.
        check(&[(0.0, 1), (100.0, 5), (55.0, 1), (100.0, 10)], Some(7));
        check(&[(f64::NAN, 2), (100.0, 10)], Some(2));
    }

    #[test]
    fn what_is_missed_is_counted_in_seconds_of_the_work_before() {
        assert!((missed(&[0.0, f64::NAN, 50.0, 100.0, 150.0], 100.0) - 2.0).abs() < 1e-9);
    }
}

//! Rounds of virtual users: what they come to per second of a stretch of time, and whether later ones take longer than earlier
//! ones. For runs of operations so long that throughput second by second says nothing.

use super::distribution::{mean, student_quantile};
use super::quantity::{Interval, Quantity, Unit};
use super::validity::VoidReason;

/// Fewer rounds of each user than this have no trend.
pub const FEWEST_ROUNDS: usize = 3;

/// A round of a user: each operation that its workload deals it in a round, once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// Which user.
    pub user: u32,
    /// Which of its rounds, from 0.
    pub number: u64,
    /// Begin, seconds from time zero.
    pub from: f64,
    /// End, seconds from time zero.
    pub to: f64,
    /// Operations that ended well.
    pub well: u64,
    /// Operations that failed.
    pub failed: u64,
}

impl Round {
    /// Its length, s.
    pub fn seconds(&self) -> f64 {
        self.to - self.from
    }
}

/// Rate of successful operations per second of a stretch, each round by the share of its time that lies in it: a round
/// that straddles an end of the stretch counts in part, so no operation is favoured for being short. `None` without
/// rounds or time.
pub fn rate(rounds: &[Round], (from, to): (f64, f64)) -> Option<f64> {
    let inside = |round: &Round| (round.to.min(to) - round.from.max(from)).max(0.0);
    let credit = |round: &Round| round.well as f64 * inside(round) / round.seconds();
    let some = to > from && rounds.iter().any(|round| inside(round) > 0.0);
    some.then(|| rounds.iter().filter(|round| round.seconds() > 0.0).map(credit).sum::<f64>() / (to - from))
}

/// The check of the rounds of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundCheck {
    /// Change of a round's length from the first to the last round as a share of the mean; why it is not known.
    pub drift: Result<Quantity, String>,
    /// Reason for which the run is void; `None` when the rounds are good.
    pub void: Option<VoidReason>,
    /// What cannot be told, a lower-case fragment.
    pub note: Option<String>,
}

/// Tests whether later rounds take longer or shorter than earlier ones. Users' rounds of one number go on at about the
/// same time and share what disturbs them, so they make one sample: their mean, each as a share of its user's mean.
/// Voids only what lies beyond the tolerance with its whole 99 % interval.
pub fn check_rounds(rounds: &[Round], tolerance: f64) -> RoundCheck {
    let lengths = relative_lengths(rounds);
    let count = lengths.len();
    if count < FEWEST_ROUNDS {
        let words = match count {
            0 => "no round was measured: drift cannot be judged".to_owned(),
            1 => "one round: drift cannot be judged, n = 1".to_owned(),
            _ => format!("{count} rounds: drift cannot be judged, n = {count}"),
        };
        return RoundCheck { drift: Err(words.clone()), void: None, note: Some(words) };
    }
    let (rise, error, freedom) = rise(&lengths);
    let half = student_quantile(0.975, freedom) * error;
    let interval = Interval::known(rise - half, rise + half, "least-squares slope over rounds, Student's t");
    let drift = Quantity::new(rise, Unit::RATIO, count as u64, interval);
    let void = (rise.abs() - student_quantile(0.995, freedom) * error > tolerance)
        .then(|| VoidReason::RoundDrift { drift: drift.clone(), tolerance });
    let unclear = void.is_none() && rise.abs() + half > tolerance;
    let note = unclear.then(|| {
        let [value, low, high, allowed] = [rise, rise - half, rise + half, tolerance].map(|share| 100.0 * share);
        format!("drift of {value:.1} % [{low:.1}, {high:.1}] over {count} rounds cannot be distinguished from the tolerance of {allowed:.1} %")
    });
    RoundCheck { drift: Ok(drift), void, note }
}

/// Mean over users of a round's length as a share of the user's mean, for each number that every user has a round of.
fn relative_lengths(rounds: &[Round]) -> Vec<f64> {
    let mut users: Vec<Vec<&Round>> = Vec::new();
    for round in rounds {
        match users.iter_mut().find(|known| known[0].user == round.user) {
            Some(known) => known.push(round),
            None => users.push(vec![round]),
        }
    }
    let count = users.iter().map(Vec::len).min().unwrap_or(0);
    for user in &mut users {
        user.sort_by_key(|round| round.number);
        user.truncate(count);
    }
    let relative = |user: &Vec<&Round>| {
        let lengths: Vec<f64> = user.iter().map(|round| round.seconds()).collect();
        let mean = mean(&lengths);
        lengths.into_iter().map(|length| length / mean).collect::<Vec<f64>>()
    };
    let shares: Vec<Vec<f64>> = users.iter().map(relative).collect();
    (0..count).map(|place| mean(&shares.iter().map(|user| user[place]).collect::<Vec<_>>())).collect()
}

/// The least-squares rise from the first to the last value, its standard error, and degrees of freedom.
fn rise(values: &[f64]) -> (f64, f64, f64) {
    let (n, level) = (values.len() as f64, mean(values));
    let centre = (n - 1.0) / 2.0;
    let places = || (0..values.len()).map(|place| place as f64 - centre);
    let spread: f64 = places().map(|place| place * place).sum();
    let slope = places().zip(values).map(|(place, value)| place * (value - level)).sum::<f64>() / spread;
    let rest: f64 = places().zip(values).map(|(place, value)| (value - level - slope * place).powi(2)).sum();
    let freedom = n - 2.0;
    (slope * (n - 1.0), (rest / freedom / spread).sqrt() * (n - 1.0), freedom)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of one length after another, of each user.
    fn rounds(users: &[&[f64]]) -> Vec<Round> {
        let mut all = Vec::new();
        for (user, lengths) in (0..).zip(users) {
            let mut from = 0.0;
            for (number, length) in (0..).zip(*lengths) {
                all.push(Round { user, number, from, to: from + length, well: 22, failed: 0 });
                from += length;
            }
        }
        all
    }

    #[track_caller]
    fn check_rate(users: &[&[f64]], stretch: (f64, f64), expected: f64) {
        let found = rate(&rounds(users), stretch).expect("a rate");
        assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
    }

    #[test]
    fn a_round_counts_by_the_share_of_its_time() {
        // One stream: the exact rate, wherever the stretch is cut.
        check_rate(&[&[11.0]], (0.0, 11.0), 2.0);
        check_rate(&[&[11.0]], (0.0, 4.5), 2.0);
        // Two streams until the first is through: each at its own rate.
        check_rate(&[&[11.0], &[22.0]], (0.0, 11.0), 3.0);
        // After a warm-up round of each: from second 3 to 6.
        check_rate(&[&[2.0, 4.0], &[3.0, 3.0]], (3.0, 6.0), 22.0 / 4.0 + 22.0 / 3.0);
        assert_eq!(rate(&[], (0.0, 1.0)), None);
        assert_eq!(rate(&rounds(&[&[1.0]]), (1.0, 1.0)), None);
        assert_eq!(rate(&rounds(&[&[1.0]]), (2.0, 3.0)), None);
    }

    #[test]
    fn few_rounds_are_not_judged_and_say_so() {
        for (users, words) in [
            (&[][..], "no round was measured"),
            (&[&[9.0][..]][..], "one round: drift cannot be judged, n = 1"),
            (&[&[9.0, 5.0][..]][..], "2 rounds: drift cannot be judged, n = 2"),
        ] {
            let found = check_rounds(&rounds(users), 0.1);
            assert!(found.void.is_none() && found.note.is_some_and(|note| note.starts_with(words)), "{words}");
            assert!(found.drift.is_err());
        }
    }

    #[test]
    fn a_trend_is_found_and_noise_is_not() {
        // Worked by hand: 1.2, 1.0, 0.8 and a little: slope of the shares is -0.2 a round, over four rounds -0.6 of the mean.
        let falling = check_rounds(&rounds(&[&[13.0, 11.1, 8.9, 7.0], &[26.0, 22.0, 18.0, 14.0]]), 0.1);
        let drift = falling.drift.unwrap();
        assert!((drift.value() + 0.604).abs() < 0.01, "{drift}");
        assert_eq!(drift.n(), 4);
        let words = falling.void.expect("beyond doubt").to_string();
        assert!(words.starts_with("rounds became 60.") && words.contains("shorter"), "{words}");
        let noisy = check_rounds(&rounds(&[&[10.0, 12.0, 9.0, 11.0]]), 0.1);
        assert!(noisy.void.is_none() && noisy.note.is_some(), "noise voids nothing, and is called what it is");
        let even = check_rounds(&rounds(&[&[10.0, 10.01, 10.0, 9.99, 10.0]]), 0.1);
        assert!(even.void.is_none() && even.note.is_none());
    }
}

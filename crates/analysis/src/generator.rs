//! Whether the load generator, not the system, was the limit; and whether a closed loop adds up.
//! A generator-bound point is marked so, never silently kept.

use std::fmt;
use std::time::Duration;

/// Client threads busier than this make a point generator-bound (share of one core).
pub const MOST_CLIENT_CPU: f64 = 0.80;
/// Send lag beyond this at p99 makes a point generator-bound.
pub const MOST_SEND_LAG: Duration = Duration::from_micros(100);
/// A result within this factor of the null target's ceiling is flagged.
pub const LEAST_HEADROOM: f64 = 2.0;
/// Little's law must hold within this share of the users.
pub const LITTLE_TOLERANCE: f64 = 0.02;

/// What the generator observed of itself in the measured window. `None` where it was not observed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GeneratorObservations {
    /// CPU share of one core per client thread, mean over the window.
    pub client_threads: Vec<f64>,
    /// p99 of start − due with the user free; no meaning in a saturated closed loop without waits.
    pub send_lag_p99: Option<Duration>,
    /// Operations per second of this point.
    pub throughput: f64,
    /// Operations per second that the same generator reached against the null target.
    pub null_ceiling: Option<f64>,
}

/// One reason to doubt that the system was the limit.
#[derive(Clone, Debug, PartialEq)]
pub enum Doubt {
    /// A client thread was too busy.
    BusyThread {
        /// Index of the busiest thread.
        thread: usize,
        /// Its share of one core.
        share: f64,
    },
    /// Operations started too late.
    LateSends {
        /// p99 of the lag.
        lag: Duration,
    },
    /// One of several load agents has a reason.
    OfAgent {
        /// Its name.
        agent: String,
        /// The reason.
        doubt: Box<Doubt>,
    },
    /// Too close to what the generator can do at all.
    NearCeiling {
        /// Ceiling ÷ throughput.
        headroom: f64,
    },
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BusyThread { thread, share } => write!(
                f,
                "client thread {thread} used {:.0} % of a core, limit {:.0} %; use more client threads or another machine",
                100.0 * share,
                100.0 * MOST_CLIENT_CPU
            ),
            Self::LateSends { lag } => {
                write!(
                    f,
                    "operations started {} µs late at p99, limit {} µs",
                    lag.as_micros(),
                    MOST_SEND_LAG.as_micros()
                )
            }
            Self::OfAgent { agent, doubt } => write!(f, "load agent {agent}: {doubt}"),
            Self::NearCeiling { headroom } => write!(
                f,
                "the generator alone reaches only {headroom:.1} times this throughput, but {LEAST_HEADROOM:.0} times are needed"
            ),
        }
    }
}

/// Reading of the generator by which it is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeneratorReading {
    /// CPU of the client threads.
    ClientCpu,
    /// CPU of the client threads without the engine that runs in them.
    ClientCpuWithoutEngine,
    /// Delay of starts.
    SendLag,
    /// Throughput against the null engine.
    NullCeiling,
}

impl fmt::Display for GeneratorReading {
    /// A lower-case fragment.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ClientCpu => "CPU of the client threads",
            Self::ClientCpuWithoutEngine => "CPU of the client threads without the engine that runs in them",
            Self::SendLag => "send lag",
            Self::NullCeiling => "maximum throughput against the null engine",
        })
    }
}

/// The outcome for one point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GeneratorCheck {
    /// Reasons that make the point generator-bound.
    pub bound: Vec<Doubt>,
    /// Reasons that only flag it.
    pub flags: Vec<Doubt>,
    /// What was not observed.
    pub not_observed: Vec<GeneratorReading>,
}

/// Applies the limits of method 3.3 to one point.
pub fn check_generator(observed: &GeneratorObservations) -> GeneratorCheck {
    let mut check = GeneratorCheck::default();
    let busiest = observed.client_threads.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
    match busiest {
        Some((thread, share)) if share > MOST_CLIENT_CPU => check.bound.push(Doubt::BusyThread { thread, share }),
        Some(_) => {}
        None => check.not_observed.push(GeneratorReading::ClientCpu),
    }
    match observed.send_lag_p99 {
        Some(lag) if lag > MOST_SEND_LAG => check.bound.push(Doubt::LateSends { lag }),
        Some(_) => {}
        None => check.not_observed.push(GeneratorReading::SendLag),
    }
    match observed.null_ceiling.map(|ceiling| ceiling / observed.throughput) {
        Some(headroom) if headroom < LEAST_HEADROOM => check.flags.push(Doubt::NearCeiling { headroom }),
        Some(_) => {}
        None => check.not_observed.push(GeneratorReading::NullCeiling),
    }
    check
}

/// A closed loop over the measured window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosedLoop {
    /// Virtual users.
    pub users: f64,
    /// Operations per second, all that occupied a user (rolled-back and failed ones too).
    pub throughput: f64,
    /// Mean response time over all kinds, in seconds.
    pub mean_response: f64,
    /// Mean keying and think time per operation, in seconds.
    pub mean_wait: f64,
}

/// Little's law over a closed loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LittleAudit {
    /// Throughput × (mean response + mean wait): the users that the figures account for.
    pub accounted: f64,
    /// accounted ÷ users − 1.
    pub deviation: f64,
}

impl LittleAudit {
    /// Within [`LITTLE_TOLERANCE`].
    pub fn passes(&self) -> bool {
        self.deviation.abs() <= LITTLE_TOLERANCE
    }
}

/// N = X (R + Z). Source: Little, Operations Research 9 (1961); method 3.2.
pub fn little(closed: &ClosedLoop) -> LittleAudit {
    let accounted = closed.throughput * (closed.mean_response + closed.mean_wait);
    LittleAudit { accounted, deviation: accounted / closed.users - 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_little(users: f64, throughput: f64, response_ms: f64, accounted: &str, passes: bool) {
        let closed = ClosedLoop { users, throughput, mean_response: response_ms / 1e3, mean_wait: 0.0 };
        let audit = little(&closed);
        assert_eq!(format!("{:.1}", audit.accounted), accounted);
        assert_eq!(audit.passes(), passes, "{audit:?}");
    }

    #[test]
    fn the_key_value_study_adds_up_and_the_availability_study_does_not() {
        check_little(256.0, 30_316.44, (5.54 + 11.34) / 2.0, "255.9", true);
        check_little(193.0, 3.7e6 / 60.0, 6.7, "413.2", false);
        check_little(193.0, 1.8e6 / 60.0, 13.1, "393.0", false);
    }

    #[test]
    fn waits_are_part_of_the_law() {
        let closed = ClosedLoop { users: 100.0, throughput: 4.7, mean_response: 0.3, mean_wait: 21.0 };
        assert!(little(&closed).passes());
    }

    #[track_caller]
    fn check(observed: GeneratorObservations, bound: &[&str], flags: usize) {
        let check = check_generator(&observed);
        let texts: Vec<String> = check.bound.iter().map(ToString::to_string).collect();
        assert_eq!(texts, bound);
        assert_eq!(check.flags.len(), flags, "{check:?}");
    }

    #[test]
    fn limits_of_cpu_lag_and_ceiling() {
        let clean = GeneratorObservations {
            client_threads: vec![0.3, 0.8],
            send_lag_p99: Some(Duration::from_micros(100)),
            throughput: 1_000.0,
            null_ceiling: Some(2_000.0),
        };
        check(clean.clone(), &[], 0);
        let busy = GeneratorObservations { client_threads: vec![0.3, 0.91], ..clean.clone() };
        check(
            busy,
            &["client thread 1 used 91 % of a core, limit 80 %; use more client threads or another machine"],
            0,
        );
        let late = GeneratorObservations { send_lag_p99: Some(Duration::from_micros(101)), ..clean.clone() };
        check(late, &["operations started 101 µs late at p99, limit 100 µs"], 0);
        check(GeneratorObservations { null_ceiling: Some(1_999.0), ..clean }, &[], 1);
        assert_eq!(check_generator(&GeneratorObservations::default()).not_observed.len(), 3);
    }
}

//! Throughput with a cache of a size that was not measured: a closed network of the users at work and the drives behind the cache, with the
//! times of two configurations that were measured.
//!
//! Users who wait for a lock or for a core are in no station: the population is how many were at work or at the drives. It, the time away from
//! the drives and the time of a request to them lie on straight lines over requests per unit of work between both configurations, and stay
//! as they are beyond them. That is an approximation: how good it is must be found by leaving a measured configuration out.

use crate::queueing::{ClosedNetwork, NetworkForecast, Station};

/// Share of the population that may be at the drives at most, so that some time is left for the rest of a unit of work.
const MOST_INSIDE: f64 = 0.99;

/// Halvings of an interval when a time is searched: more than a float tells apart.
const HALVINGS: u32 = 80;

/// What all configurations have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CacheHost {
    /// Users that never think, at least 1.
    pub users: u32,
    /// Drives that serve requests side by side, at least 1.
    pub drives: u32,
    /// CPU seconds per second that the work may use; `None` where that is not known.
    pub cpu_allowed: Option<f64>,
}

/// A configuration that was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredCache {
    /// Units of work per second, above 0.
    pub per_second: f64,
    /// Requests to the drives that a unit of work waits for.
    pub requests: f64,
    /// Mean requests at the drives.
    pub inside: f64,
    /// CPU time of a unit of work, s; 0 where it is not known.
    pub cpu_s: f64,
}

/// Times of one configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
struct NetworkTimes {
    /// Requests to the drives in a unit of work: the place on the line.
    requests: f64,
    /// Users at work or at the drives.
    population: f64,
    /// Time of a unit of work away from the drives, ms.
    rest_ms: f64,
    /// Time of a request at a drive, without queues, ms; `None` where there were none.
    request_ms: Option<f64>,
    /// CPU time of a unit of work, s.
    cpu_s: f64,
}

/// The network of two configurations.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheNetwork {
    host: CacheHost,
    /// Times of both, that with fewer requests first.
    ends: [NetworkTimes; 2],
}

impl CacheNetwork {
    /// The network whose throughput is that of both configurations.
    ///
    /// # Errors
    /// When a figure is no number or out of its range.
    pub fn calibrated(host: CacheHost, measured: [MeasuredCache; 2]) -> Result<Self, String> {
        let mut ends = [times(host, measured[0])?, times(host, measured[1])?];
        ends.sort_by(|a, b| a.requests.total_cmp(&b.requests));
        Ok(Self { host, ends })
    }

    /// Units of work per second with so many requests to the drives in each.
    pub fn per_second(&self, requests: f64) -> f64 {
        let times = self.between(requests);
        let demand_ms = requests * times.request_ms.unwrap_or(0.0);
        let found = forecast(self.host, times.population, times.rest_ms, demand_ms).per_second;
        // Source: utilisation law, Lazowska and others, "Quantitative System Performance", 1984, section 3.3.
        let most = self.host.cpu_allowed.filter(|_| times.cpu_s > 0.0).map_or(f64::INFINITY, |cpu| cpu / times.cpu_s);
        found.min(most)
    }

    fn between(&self, requests: f64) -> NetworkTimes {
        let [few, many] = &self.ends;
        let span = many.requests - few.requests;
        let place = if span > 0.0 { ((requests - few.requests) / span).clamp(0.0, 1.0) } else { 0.5 };
        let line = |of: fn(&NetworkTimes) -> f64| of(few) + place * (of(many) - of(few));
        let request_ms = match (few.request_ms, many.request_ms) {
            (Some(a), Some(b)) => Some(a + place * (b - a)),
            (one, other) => one.or(other),
        };
        NetworkTimes {
            requests,
            population: line(|times| times.population),
            rest_ms: line(|times| times.rest_ms),
            request_ms,
            cpu_s: line(|times| times.cpu_s),
        }
    }
}

/// The times by which a configuration has its throughput and its requests at the drives (Little's law).
fn times(host: CacheHost, measured: MeasuredCache) -> Result<NetworkTimes, String> {
    let MeasuredCache { per_second, requests, inside, cpu_s } = measured;
    let are_numbers = [requests, inside, cpu_s].iter().all(|value| value.is_finite() && *value >= 0.0);
    if !(are_numbers && per_second.is_finite() && per_second > 0.0 && host.users > 0) {
        return Err("a measured figure is missing or not a number".to_owned());
    }
    let population = (per_second * cpu_s + inside).clamp(1.0, f64::from(host.users));
    let inside = inside.min(MOST_INSIDE * population);
    let rest_ms = 1e3 * (population - inside) / per_second;
    let (mut low, mut high) = (0.0, 1e3 * population * f64::from(host.drives) / per_second);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        let at_drives = forecast(host, population, rest_ms, middle).inside[1];
        if at_drives < inside { low = middle } else { high = middle }
    }
    let request_ms = (requests > 0.0).then_some(low / requests);
    Ok(NetworkTimes { requests, population, rest_ms, request_ms, cpu_s })
}

/// The network with a population that need not be whole: on a straight line between two whole ones.
fn forecast(host: CacheHost, population: f64, rest_ms: f64, demand_ms: f64) -> NetworkForecast {
    let speed = (1..=host.users).map(|inside| speed(host.drives, inside)).collect();
    let drives = Station::LoadDependent { demand_ms, speed };
    let network = ClosedNetwork { stations: vec![Station::Delay { demand_ms: rest_ms }, drives] };
    let (below, above) = (network.forecast(population.floor() as u32), network.forecast(population.ceil() as u32));
    let part = population.fract();
    let line = |a: f64, b: f64| a + part * (b - a);
    NetworkForecast {
        per_second: line(below.per_second, above.per_second),
        response_ms: line(below.response_ms, above.response_ms),
        inside: below.inside.iter().zip(&above.inside).map(|(a, b)| line(*a, *b)).collect(),
    }
}

/// How much faster equal drives are with so many requests, each for any of them: throughput of a closed network of the drives alone.
///
/// Source: Chandy, Herzog, Woo, "Parametric analysis of queuing networks", IBM Journal of Research and Development 19(1), 1975.
fn speed(drives: u32, inside: u32) -> f64 {
    f64::from(inside) * f64::from(drives) / f64::from(inside + drives - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: CacheHost = CacheHost { users: 16, drives: 8, cpu_allowed: None };

    /// What a host of whole users, all at work, would show.
    fn truth(host: CacheHost, rest_ms: f64, requests: f64) -> MeasuredCache {
        let found = forecast(host, f64::from(host.users), rest_ms, requests * 6.0);
        let cpu_s = (f64::from(host.users) - found.inside[1]) / found.per_second;
        MeasuredCache { per_second: found.per_second, requests, inside: found.inside[1], cpu_s }
    }

    #[test]
    fn both_measured_configurations_are_met_and_those_between_within_a_hundredth() {
        for host in [HOST, CacheHost { users: 1, ..HOST }, CacheHost { users: 64, drives: 1, ..HOST }] {
            let ends = [truth(host, 5.0, 40.0), truth(host, 5.0, 2.0)];
            let network = CacheNetwork::calibrated(host, ends).unwrap();
            for requests in [2.0, 3.0, 5.0, 10.0, 20.0, 40.0] {
                let (found, real) = (network.per_second(requests), truth(host, 5.0, requests).per_second);
                assert!((found / real - 1.0).abs() < 0.01, "{host:?}, {requests}: {found} and {real}");
            }
        }
    }

    #[test]
    fn one_user_at_work_is_a_sum_of_times() {
        // 10 ms away from the drives, 5 and 3 requests of 11 ms; other users wait for a lock.
        let measured = |requests: f64| {
            let per_second = 1e3 / (10.0 + requests * 11.0);
            MeasuredCache { per_second, requests, inside: per_second * requests * 0.011, cpu_s: 0.010 }
        };
        let network = CacheNetwork::calibrated(HOST, [measured(5.0), measured(3.0)]).unwrap();
        for requests in [0.0, 1.0, 4.0, 9.0] {
            let real = measured(requests).per_second;
            assert!((network.per_second(requests) / real - 1.0).abs() < 1e-6, "{requests}");
        }
    }

    #[test]
    fn work_is_no_faster_than_its_cpu_time_allows() {
        let host = CacheHost { cpu_allowed: Some(0.4), ..HOST };
        let measured = |requests: f64, per_second| MeasuredCache { per_second, requests, inside: 0.8, cpu_s: 0.008 };
        let network = CacheNetwork::calibrated(host, [measured(5.0, 15.0), measured(3.0, 23.0)]).unwrap();
        assert!((network.per_second(0.0) - 50.0).abs() < 1e-9, "0.4 / 0.008");
    }

    #[test]
    fn a_cache_that_is_never_missed_has_the_others_times_and_no_figure_but_a_number_is_taken() {
        let all_hit = MeasuredCache { per_second: 100.0, requests: 0.0, inside: 0.0, cpu_s: 0.01 };
        let some = MeasuredCache { per_second: 50.0, requests: 1.0, inside: 0.5, cpu_s: 0.01 };
        let network = CacheNetwork::calibrated(HOST, [some, all_hit]).unwrap();
        let half = network.per_second(0.5);
        assert!((60.0..75.0).contains(&half), "15 ms and nothing else: {half}");
        for wrong in [MeasuredCache { per_second: 0.0, ..some }, MeasuredCache { inside: f64::NAN, ..some }] {
            assert!(CacheNetwork::calibrated(HOST, [some, wrong]).is_err());
        }
    }
}

//! Throughput of a fixed number of users over stations with queues: exact mean-value analysis of a closed network.
//!
//! Source: Reiser, Lavenberg, "Mean-value analysis of closed multichain queuing networks", Journal of the ACM 27(2),
//! 1980; load-dependent stations as in Lazowska and others, "Quantitative System Performance", 1984, section 8.2.

/// A place where transactions wait and are served.
#[derive(Clone, Debug, PartialEq)]
pub enum Station {
    /// Everybody is served at once: think time, or a network.
    Delay {
        /// Time per transaction, ms.
        demand_ms: f64,
    },
    /// One server that becomes faster with its queue: a disk that chooses among its requests, or parallel servers with one queue.
    LoadDependent {
        /// Time of service per transaction alone, ms.
        demand_ms: f64,
        /// How much faster it is with 1, 2, 3, … in it; the last value holds beyond. Not empty, positive.
        speed: Vec<f64>,
    },
}

impl Station {
    fn demand_ms(&self) -> f64 {
        match self {
            Self::Delay { demand_ms } | Self::LoadDependent { demand_ms, .. } => *demand_ms,
        }
    }

    /// Rate relative to one request alone, with so many in it.
    fn speed(&self, inside: usize) -> f64 {
        match self {
            Self::Delay { .. } => inside as f64,
            Self::LoadDependent { speed, .. } => speed.get(inside - 1).or(speed.last()).copied().unwrap_or(1.0),
        }
    }
}

/// Stations that every transaction visits.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedNetwork {
    /// The stations.
    pub stations: Vec<Station>,
}

/// What a number of users get.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkForecast {
    /// Transactions per second.
    pub per_second: f64,
    /// Mean time of a transaction in all stations, ms.
    pub response_ms: f64,
    /// Mean number of transactions at each station.
    pub inside: Vec<f64>,
}

impl ClosedNetwork {
    /// The forecast for so many users.
    pub fn forecast(&self, users: u32) -> NetworkForecast {
        let users = users as usize;
        let stations = self.stations.len();
        // marginal[k][j]: probability of j transactions at station k with one user less.
        let mut marginal: Vec<Vec<f64>> = vec![vec![0.0; users + 1]; stations];
        marginal.iter_mut().for_each(|station| station[0] = 1.0);
        let mut forecast = NetworkForecast { per_second: 0.0, response_ms: 0.0, inside: vec![0.0; stations] };
        for population in 1..=users {
            let times: Vec<f64> = (0..stations).map(|k| self.time_ms(k, population, &marginal[k])).collect();
            let response_ms: f64 = times.iter().sum();
            if response_ms <= 0.0 {
                return forecast;
            }
            let per_ms = population as f64 / response_ms;
            for (k, station) in self.stations.iter().enumerate() {
                advance(&mut marginal[k], station, population, per_ms);
            }
            let inside = times.iter().map(|time| per_ms * time).collect();
            forecast = NetworkForecast { per_second: per_ms * 1_000.0, response_ms, inside };
        }
        forecast
    }

    /// Mean time at a station, waiting included, ms.
    fn time_ms(&self, station: usize, population: usize, marginal: &[f64]) -> f64 {
        let station = &self.stations[station];
        let demand = station.demand_ms();
        if matches!(station, Station::Delay { .. }) {
            return demand;
        }
        (1..=population).map(|inside| inside as f64 * demand / station.speed(inside) * marginal[inside - 1]).sum()
    }
}

/// The probabilities with one user more.
fn advance(marginal: &mut [f64], station: &Station, population: usize, per_ms: f64) {
    if matches!(station, Station::Delay { .. }) {
        return;
    }
    let before = marginal.to_vec();
    for inside in 1..=population {
        marginal[inside] = per_ms * station.demand_ms() / station.speed(inside) * before[inside - 1];
    }
    let others: f64 = marginal[1..=population].iter().sum();
    // Rounding may take what little is left below zero near saturation.
    marginal[0] = (1.0 - others).max(0.0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn servers(demand_ms: f64, count: u32) -> Station {
        Station::LoadDependent { demand_ms, speed: (1..=count).map(f64::from).collect() }
    }

    fn server(demand_ms: f64) -> Station {
        servers(demand_ms, 1)
    }

    /// A drive that serves 79, 114, 138 and 200 requests per second with 1, 4, 8 and 32 in it.
    fn disk(requests: f64) -> Station {
        let speed = |log: f64| 1.0 + 0.238 * log + 0.059 * log * log;
        let speed = (1..=32_u32).map(|inside| speed(f64::from(inside).ln())).collect();
        Station::LoadDependent { demand_ms: requests * 1_000.0 / 79.0, speed }
    }

    #[track_caller]
    fn check(stations: Vec<Station>, users: u32, per_second: f64) {
        let found = ClosedNetwork { stations }.forecast(users).per_second;
        assert!((found / per_second - 1.0).abs() < 1e-9, "{found} instead of {per_second}");
    }

    #[test]
    fn closed_forms_are_met() {
        // Balanced stations: N / (D · (N + K − 1)).
        check(vec![server(2.0); 3], 5, 5.0 / (2.0 * 7.0) * 1_000.0);
        // One station is busy always.
        check(vec![server(4.0)], 7, 250.0);
        // As many servers as users are a delay.
        check(vec![servers(4.0, 8)], 8, 2_000.0);
        check(vec![Station::Delay { demand_ms: 10.0 }], 3, 300.0);
        // Two stations, two users: X = 2·(D1 + D2) / (D1² + D1·D2 + D2²) … by the normalisation constants G.
        check(vec![server(1.0), server(3.0)], 2, 1_000.0 * (1.0 + 3.0) / (1.0 + 3.0 + 9.0));
        check(vec![Station::LoadDependent { demand_ms: 12.5, speed: vec![1.0, 1.5, 1.75] }], 20, 140.0);
    }

    /// A simulation of the network with exponential times, transactions per second.
    fn simulated(ssd_ms: f64, disk: &Station, miss: f64, users: usize) -> f64 {
        let mut random = Random::new(1);
        let mut uniform = move || 1.0 - random.uniform();
        let (mut now, mut done) = (0.0, 0_u32);
        let (mut at_ssd, mut at_disk) = (users, 0_usize);
        while done < 3_000_000 {
            // Demands are of a transaction; of ten requests a share `miss` goes on to the disk.
            let ssd_rate = if at_ssd > 0 { 1.0 / ssd_ms } else { 0.0 };
            let disk_rate = if at_disk > 0 { disk.speed(at_disk) * miss / disk.demand_ms() } else { 0.0 };
            now -= uniform().ln() / (ssd_rate + disk_rate);
            if uniform() * (ssd_rate + disk_rate) < ssd_rate {
                done += 1;
                if uniform() < miss {
                    (at_ssd, at_disk) = (at_ssd - 1, at_disk + 1);
                }
            } else {
                (at_ssd, at_disk) = (at_ssd + 1, at_disk - 1);
            }
        }
        f64::from(done) / now * 1_000.0
    }

    #[test]
    fn a_simulation_of_cache_and_disk_agrees_within_two_per_cent() {
        for (miss, users) in [(0.30, 4), (0.15, 16), (0.03, 16), (0.005, 64)] {
            let disk = disk(miss);
            let found = ClosedNetwork { stations: vec![server(0.1), disk.clone()] }.forecast(users);
            let simulated = simulated(0.1, &disk, miss, users as usize);
            let ratio = found.per_second / simulated;
            assert!((ratio - 1.0).abs() < 0.02, "miss {miss}: {} and {simulated}", found.per_second);
        }
    }

    #[test]
    fn misses_get_cheaper_so_that_the_naive_rule_is_low() {
        // 1 / (1 − hit) for read hits of 85.69 % is 7.0; P2 published 10.9.
        let of = |misses: f64, cpu: f64| {
            let stations = vec![servers(cpu, 24), server(0.05), disk(misses)];
            ClosedNetwork { stations }.forecast(64).per_second
        };
        let speed_up = of(0.1431, 0.5) / of(1.0, 0.5);
        assert!((6.0..11.0).contains(&speed_up), "{speed_up}");
    }
}

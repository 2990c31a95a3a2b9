//! Closed systems whose truth is computed, not sampled: rates of limits over exact mean-value analysis of what is below them.

use proofload_analysis::attribution::LimitUse;
use proofload_analysis::queueing::{ClosedNetwork, Station};
use proofload_analysis::random::Random;

/// Resources that are changed. The first seven have the unit of a rate or a time.
pub(crate) const NAMES: [&str; KNOBS] =
    ["cpu", "read iops", "write iops", "bandwidth", "client", "flush", "network", "users", "rows", "memory"];
pub(crate) const KNOBS: usize = 10;
pub(crate) const TIME_LIKE: [usize; 7] = [CPU, READ, WRITE, BANDWIDTH, CLIENT, FLUSH, NETWORK];
pub(crate) const CPU: usize = 0;
pub(crate) const READ: usize = 1;
pub(crate) const WRITE: usize = 2;
pub(crate) const BANDWIDTH: usize = 3;
pub(crate) const CLIENT: usize = 4;
pub(crate) const FLUSH: usize = 5;
pub(crate) const NETWORK: usize = 6;
pub(crate) const USERS: usize = 7;
pub(crate) const ROWS: usize = 8;
pub(crate) const MEMORY: usize = 9;

/// A system. Limits are multiples of the throughput that it would have without any.
#[derive(Clone, Debug)]
pub(crate) struct System {
    pub(crate) class: &'static str,
    users: f64,
    think_ms: f64,
    cpu_ms: f64,
    cores: u32,
    flush_ms: f64,
    network_ms: f64,
    /// Rate of each limit, transactions per ms, in the order of the knobs.
    rates: [f64; 5],
    /// Largest rate of the lock at the untouched point, and the part of its hold that is the flush.
    lock: Option<(f64, f64)>,
    /// Whether one write serves as many commits as there are users.
    is_grouped: bool,
    /// Power by which reads grow as memory shrinks.
    skew: f64,
}

/// How large a limit is against the throughput without limits; above 1 it does not bind.
const FAR: f64 = 1.6;

impl System {
    /// Throughput with resources multiplied by these, per ms.
    pub(crate) fn throughput(&self, by: &[f64; KNOBS]) -> f64 {
        let users = self.users * by[USERS];
        let limits = (0..self.rates.len()).map(|knob| self.rate(knob, by)).fold(f64::INFINITY, f64::min);
        let lock = self.lock.map_or(f64::INFINITY, |(rate, share)| rate * by[ROWS] / (share / by[FLUSH] + 1.0 - share));
        limits.min(lock).min(self.below(users, by[FLUSH], by[NETWORK]))
    }

    /// Rate that a limit allows with resources multiplied by these.
    fn rate(&self, knob: usize, by: &[f64; KNOBS]) -> f64 {
        match knob {
            READ => self.rates[knob] * by[knob] * by[MEMORY].powf(self.skew),
            WRITE if self.is_grouped => self.rates[knob] * by[knob] * by[USERS],
            _ => self.rates[knob] * by[knob],
        }
    }

    /// What is used of a limit, untouched and lowered to this share; `None` of what is no limit.
    pub(crate) fn used(&self, knob: usize, factor: f64) -> Option<LimitUse> {
        let untouched = [1.0; KNOBS];
        let mut lowered = untouched;
        lowered[knob] = factor;
        let share = |by: &[f64; KNOBS]| self.throughput(by) / self.rate(knob, by);
        (knob < self.rates.len()).then(|| LimitUse {
            mean: share(&untouched),
            at_limit: None,
            lowered: Some(share(&lowered)),
        })
    }

    /// Whether a resource is a limit, or a time, that a hundredth more moves nothing of and a hundredth less neither: it does not bind now.
    /// Of two equal limits each binds, although more of one alone gives nothing.
    pub(crate) fn is_slack(&self, knob: usize) -> bool {
        TIME_LIKE.contains(&knob) && self.truth(knob, 1.01) < 0.05 && self.truth(knob, 0.99) < 0.05
    }

    /// Throughput of stations alone; between two numbers of users on a straight line.
    fn below(&self, users: f64, flush: f64, network: f64) -> f64 {
        let delay = self.think_ms + self.flush_ms / flush + self.network_ms / network;
        let speed = (1..=self.cores).map(f64::from).collect();
        let cores = Station::LoadDependent { demand_ms: self.cpu_ms, speed };
        let network = ClosedNetwork { stations: vec![Station::Delay { demand_ms: delay }, cores] };
        let at = |users: f64| network.forecast(users as u32).per_second / 1e3;
        let (low, high) = (at(users.floor()), at(users.ceil()));
        low + (high - low) * (users - users.floor())
    }

    /// The true elasticity to one resource, at a finite step.
    pub(crate) fn truth(&self, knob: usize, factor: f64) -> f64 {
        let mut by = [1.0; KNOBS];
        let untouched = self.throughput(&by);
        by[knob] = factor;
        (self.throughput(&by) / untouched).ln() / factor.ln()
    }

    /// The same on cores of another speed: what a quota of CPU time gives is done at that speed, too.
    pub(crate) fn at_speed(&self, speed: f64) -> Self {
        let mut other = self.clone();
        other.cpu_ms /= speed;
        other.rates[CPU] *= speed;
        other
    }

    fn plain(class: &'static str, random: &mut Random) -> Self {
        let users = (4.0 + 12.0 * random.uniform()).round();
        let mut system = Self {
            class,
            users,
            think_ms: 2.0,
            cpu_ms: 1.0 + random.uniform(),
            cores: 16,
            flush_ms: 1.0 + 2.0 * random.uniform(),
            network_ms: 0.3,
            rates: [0.0; 5],
            lock: None,
            is_grouped: false,
            skew: 0.3 + random.uniform(),
        };
        system.rates = [FAR * system.below(users, 1.0, 1.0); 5];
        system
    }

    /// Sets a limit to so much of the throughput without limits.
    fn limited(mut self, knob: usize, share: f64) -> Self {
        self.rates[knob] = share * self.below(self.users, 1.0, 1.0);
        self
    }

    fn locked(mut self, share: f64, flush: f64) -> Self {
        self.lock = Some((share * self.below(self.users, 1.0, 1.0), flush));
        self
    }
}

/// Sixty-four systems in sixteen classes.
pub(crate) fn all(seed: u64) -> Vec<System> {
    (0..4).flat_map(|variant| of_variant(seed, variant)).collect()
}

fn of_variant(seed: u64, variant: u64) -> Vec<System> {
    let mut random = Random::stream(seed, variant);
    let mut plain = |class| System::plain(class, &mut random);
    // Later classes have a second limit so much above the binding one.
    let near = 1.12;
    let share = 0.4 + 0.05 * variant as f64;
    let mut matched = plain("cpu and reads matched").limited(CPU, share).limited(READ, share);
    matched.skew = 0.0;
    let mut commits = plain("group commit").limited(WRITE, share);
    commits.is_grouped = true;
    let mut alone = plain("commit latency, one user");
    (alone.users, alone.think_ms, alone.flush_ms, alone.cpu_ms) = (1.0, 0.0, 10.0, 0.6);
    alone.rates = [FAR * alone.below(1.0, 1.0, 1.0); 5];
    let mut remote = plain("network delay");
    (remote.think_ms, remote.flush_ms, remote.network_ms, remote.users) = (0.0, 0.1, 20.0, 4.0);
    remote.rates = [FAR * remote.below(4.0, 1.0, 1.0); 5];
    let mut idle = plain("not saturated");
    (idle.think_ms, idle.users) = (50.0, 10.0);
    idle.rates = [3.0 * idle.below(10.0, 1.0, 1.0); 5];
    vec![
        plain("cpu").limited(CPU, share),
        plain("reads").limited(READ, share),
        plain("writes").limited(WRITE, share),
        plain("bandwidth").limited(BANDWIDTH, share),
        plain("client").limited(CLIENT, share),
        plain("cpu, reads near").limited(CPU, share).limited(READ, share * near),
        plain("reads, cpu near").limited(READ, share).limited(CPU, share * near),
        plain("cpu, decoy busy").limited(CPU, share).limited(WRITE, share * 1.35),
        matched,
        commits,
        plain("lock").locked(share, 0.0),
        plain("lock over flush").locked(share, 0.95),
        plain("lock half over flush").locked(share, 0.5),
        alone,
        remote,
        idle,
    ]
}

/// A system in which nothing but the users binds: every limit at three times the need, think time.
pub(crate) fn null(seed: u64) -> System {
    let mut system = System::plain("null", &mut Random::stream(seed, 99));
    (system.think_ms, system.users) = (100.0, 20.0);
    system.rates = [3.0 * system.below(20.0, 1.0, 1.0); 5];
    system
}

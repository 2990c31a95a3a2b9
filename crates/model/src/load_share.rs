//! How a load is divided between load agents: by shares, and so that every user, session and arrival has the number that it has in the
//! whole load. Pure arithmetic; may not know what an agent is made of.

use crate::error::Error;
use crate::settings::Settings;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The setting that names the hosts.
pub const LOAD_HOSTS: &str = "agents.load_hosts";

/// Stands for a host's name in the command that starts its agent.
pub const HOST_PLACEHOLDER: &str = "{host}";

/// The largest share.
const MOST_SHARE: u32 = 1000;

/// A host that a load agent runs on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadHost {
    /// Its name, as the command that starts the agent takes it.
    pub name: String,
    /// Its part of the load, as a weight, 1..=1000.
    pub share: u32,
}

impl LoadHost {
    /// Reads `name` or `name:share`.
    fn parse(text: &str) -> Result<Self, String> {
        let (name, share) = match text.split_once(':') {
            None => (text, Some(1)),
            Some((name, share)) => (name, share.parse::<u32>().ok().filter(|share| (1..=MOST_SHARE).contains(share))),
        };
        let good = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.@".contains(&byte));
        match share.filter(|_| good && !name.starts_with('-')) {
            Some(share) => Ok(Self { name: name.to_owned(), share }),
            None => Err(format!(
                "{text:?} is not a host; use letters, digits, '-', '_', '.' and '@', optionally followed by a colon \
                 and the host's share of the load from 1 to {MOST_SHARE}, such as \"loader1:2\""
            )),
        }
    }
}

/// The hosts of the load agents; empty: there is one agent, and nothing is divided. The error says what is wrong with the setting.
pub fn load_hosts(settings: &Settings) -> Result<Vec<LoadHost>, Error> {
    let hosts = settings.list(LOAD_HOSTS).iter().map(|text| LoadHost::parse(text)).collect::<Result<Vec<_>, _>>();
    let hosts = hosts.map_err(Error::new)?;
    for (number, host) in hosts.iter().enumerate() {
        if hosts[..number].iter().any(|earlier| earlier.name == host.name) {
            let reason = "is listed twice; two agents on one host need two names, such as ssh aliases";
            return Err(Error::new(format!("{:?} {reason}", host.name)));
        }
    }
    Ok(hosts)
}

/// The part of one load agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadShare {
    /// Number of the agent, from 0.
    pub agent: u32,
    /// The shares of all agents, in their order; at least one, none of them 0.
    pub shares: Vec<u32>,
}

impl Default for LoadShare {
    /// All of the load.
    fn default() -> Self {
        Self { agent: 0, shares: vec![1] }
    }
}

impl LoadShare {
    /// The parts of all agents; without hosts one part, which is the whole.
    pub fn all(hosts: &[LoadHost]) -> Vec<Self> {
        if hosts.is_empty() {
            return vec![Self::default()];
        }
        let shares: Vec<u32> = hosts.iter().map(|host| host.share).collect();
        (0..).zip(hosts).map(|(agent, _)| Self { agent, shares: shares.clone() }).collect()
    }

    /// Whether it is all of the load.
    pub fn is_whole(&self) -> bool {
        self.shares.len() == 1
    }

    /// Whether this agent does what only one can do, such as the checks.
    pub fn is_first(&self) -> bool {
        self.agent == 0
    }

    /// The numbers of this part of things that are numbered from 0, such as virtual users. The ranges of all parts follow each other
    /// without a gap, and differ from the exact shares by less than one.
    pub fn range(&self, of_all: u32) -> Range<u32> {
        let whole: u64 = self.shares.iter().map(|share| u64::from(*share)).sum();
        let upto = |agent: usize| {
            let before: u64 = self.shares.iter().take(agent).map(|share| u64::from(*share)).sum();
            u32::try_from(u64::from(of_all) * before / whole.max(1)).unwrap_or(of_all)
        };
        let agent = self.agent as usize;
        upto(agent)..upto(agent + 1)
    }

    /// How many of things that each agent needs at least one of.
    pub fn count_of(&self, of_all: u32) -> u32 {
        let range = self.range(of_all);
        (range.end - range.start).max(1)
    }

    /// Which of the arrivals of the whole load are this part's.
    pub fn turns(&self) -> Turns {
        let divisor = self.shares.iter().copied().fold(0, greatest_common_divisor).max(1);
        let shares: Vec<u64> = self.shares.iter().map(|share| u64::from(*share / divisor)).collect();
        // Agent a has its j-th turn after (2j + 1) / 2a of a cycle: turns of each agent lie as evenly as they can.
        let mut turns: Vec<(usize, u64)> =
            (0..).zip(&shares).flat_map(|(agent, share)| (0..*share).map(move |turn| (agent, turn))).collect();
        turns.sort_by_key(|(agent, turn)| {
            let share = u128::from(shares[*agent]);
            // Cycles in units of 2^-64, rounded down; equal ones in the order of the agents.
            ((2 * u128::from(*turn) + 1) * (1 << 63) / share, *agent)
        });
        let mine = self.agent as usize;
        let places = (0..).zip(&turns).filter(|(_, (agent, _))| *agent == mine).map(|(place, _)| place).collect();
        Turns { places, cycle: turns.len() as u64 }
    }
}

/// What a part does of things that are dealt out in turn, such as arrivals: its turns return in cycles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turns {
    places: Vec<u64>,
    cycle: u64,
}

impl Turns {
    /// Whether the thing with this number is this part's.
    pub fn has(&self, number: u64) -> bool {
        self.places.contains(&(number % self.cycle.max(1)))
    }

    /// Number in the whole load of this part's arrival `index`; rises with it.
    pub fn number(&self, index: u64) -> u64 {
        let turns = self.places.len().max(1) as u64;
        let place = self.places.get((index % turns) as usize).copied().unwrap_or(0);
        (index / turns).saturating_mul(self.cycle.max(1)).saturating_add(place)
    }
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_has_one_part_in_proportion_to_the_shares() {
        let parts: Vec<Turns> = (0..3).map(|agent| LoadShare { agent, shares: vec![1, 2, 1] }.turns()).collect();
        let owners = |number: u64| parts.iter().filter(|turns| turns.has(number)).count();
        assert!((0..100).all(|number| owners(number) == 1));
        assert_eq!(
            parts.iter().map(|turns| (0..100).filter(|number| turns.has(*number)).count()).collect::<Vec<_>>(),
            [25, 50, 25]
        );
        assert!((0..10).all(|number| LoadShare::default().turns().has(number)));
    }
    use crate::settings::Value;
    use proptest::prelude::*;

    fn parts(shares: &[u32]) -> Vec<LoadShare> {
        let hosts: Vec<LoadHost> =
            shares.iter().map(|share| LoadHost { name: format!("h{share}"), share: *share }).collect();
        LoadShare::all(&hosts)
    }

    fn read(hosts: &[&str]) -> Result<Vec<(String, u32)>, String> {
        let value = Value::List(hosts.iter().map(|host| (*host).to_owned()).collect());
        let settings = Settings([(LOAD_HOSTS.to_owned(), value)].into_iter().collect());
        let hosts = load_hosts(&settings).map_err(|error| error.to_string())?;
        Ok(hosts.into_iter().map(|host| (host.name, host.share)).collect())
    }

    #[test]
    fn hosts_have_names_and_shares() {
        let two = Ok(vec![("loader1".to_owned(), 1), ("me@loader2.lan".to_owned(), 3)]);
        assert_eq!(read(&["loader1", "me@loader2.lan:3"]), two);
        assert_eq!(load_hosts(&Settings::default()), Ok(Vec::new()));
        for wrong in ["", "a:0", "a:1001", "a:x", "a b", "::1", "-oProxyCommand=x"] {
            assert!(read(&[wrong]).is_err_and(|text| text.contains("is not a host")), "{wrong}");
        }
        assert!(read(&["a", "b", "a:2"]).is_err_and(|text| text.contains("listed twice")));
    }

    #[test]
    fn one_agent_has_everything() {
        let whole = LoadShare::default();
        assert_eq!(LoadShare::all(&[]), std::slice::from_ref(&whole));
        assert!(whole.is_whole() && whole.is_first());
        assert_eq!(whole.range(64), 0..64);
        assert_eq!((0..5).map(|index| whole.turns().number(index)).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn shares_divide_users_and_arrivals() {
        let ranges = |shares: &[u32], all| parts(shares).iter().map(|part| part.range(all)).collect::<Vec<_>>();
        assert_eq!(ranges(&[1, 1, 1], 64), [0..21, 21..42, 42..64]);
        assert_eq!(ranges(&[1, 3], 8), [0..2, 2..8]);
        let numbers = |part: &LoadShare| (0..6).map(|index| part.turns().number(index)).collect::<Vec<_>>();
        let two = parts(&[2, 4]);
        assert_eq!([numbers(&two[0]), numbers(&two[1])], [[1, 4, 7, 10, 13, 16], [0, 2, 3, 5, 6, 8]]);
    }

    proptest! {
        #[test]
        fn nothing_is_left_out_and_nothing_is_done_twice(
            shares in prop::collection::vec(1u32..20, 1..9), all in 0u32..5000,
        ) {
            let parts = parts(&shares);
            let numbers: Vec<u32> = parts.iter().flat_map(|part| part.range(all)).collect();
            prop_assert!(numbers.iter().copied().eq(0..all));
            let whole: u32 = shares.iter().sum();
            for (part, share) in parts.iter().zip(&shares) {
                let range = part.range(all);
                let exact = f64::from(all) * f64::from(*share) / f64::from(whole);
                prop_assert!((f64::from(range.end - range.start) - exact).abs() < 1.0);
            }
            let mut arrivals: Vec<u64> = parts
                .iter()
                .flat_map(|part| {
                    let turns = part.turns();
                    let mine: Vec<u64> = (0..).map(|index| turns.number(index)).take_while(|number| *number < 500).collect();
                    assert!(mine.is_sorted());
                    mine
                })
                .collect();
            arrivals.sort_unstable();
            prop_assert!(arrivals.into_iter().eq(0..500));
        }
    }
}

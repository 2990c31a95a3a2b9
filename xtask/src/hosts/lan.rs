//! Hosts on one machine: a network namespace each, with an address of its own, joined by a bridge to this one. A link can be cut, and a host can die.

use super::processes::{line, output_of};

/// Addresses of this network.
const NETWORK: &str = "10.211.77";

/// Prefix of every device and namespace.
const PREFIX: &str = "plh";

/// A host.
pub(super) struct LanHost {
    /// Its name.
    pub(super) name: String,
    /// Its address.
    pub(super) address: String,
}

/// A network of hosts, removed with its processes when this is dropped.
pub(super) struct Lan {
    /// Its hosts.
    pub(super) hosts: Vec<LanHost>,
}

impl Lan {
    /// Makes a network of these hosts; what a killed run has left is removed first.
    pub(super) fn new(names: &[&str]) -> Result<Self, String> {
        let host = |(number, name): (usize, &&str)| LanHost {
            name: (*name).to_owned(),
            address: format!("{NETWORK}.{}", 10 + number),
        };
        let lan = Self { hosts: names.iter().enumerate().map(host).collect() };
        lan.remove();
        line(&format!("ip link add {PREFIX}0 type bridge"))?;
        line(&format!("ip addr add {NETWORK}.1/24 dev {PREFIX}0"))?;
        line(&format!("ip link set {PREFIX}0 up"))?;
        for LanHost { name, address } in &lan.hosts {
            let (space, device) = (namespace(name), device(name));
            for words in [
                format!("ip netns add {space}"),
                format!("ip link add {device} type veth peer name eth0 netns {space}"),
                format!("ip link set {device} master {PREFIX}0 up"),
                format!("ip -n {space} addr add {address}/24 dev eth0"),
                format!("ip -n {space} link set eth0 up"),
                format!("ip -n {space} link set lo up"),
            ] {
                line(&words)?;
            }
        }
        Ok(lan)
    }

    /// Takes down the link of a host, or brings it back.
    pub(super) fn link(name: &str, state: &str) -> Result<(), String> {
        line(&format!("ip link set {} {state}", device(name))).map(drop)
    }

    /// Kills every process of a host.
    pub(super) fn kill(name: &str) -> Result<usize, String> {
        let numbers = Self::processes(name)?;
        for number in &numbers {
            // One of them may have ended by itself.
            let _gone = output_of(&["kill", "-KILL", number]);
        }
        Ok(numbers.len())
    }

    /// Numbers of the processes of a host.
    pub(super) fn processes(name: &str) -> Result<Vec<String>, String> {
        let found = line(&format!("ip netns pids {}", namespace(name)))?;
        Ok(found.split_ascii_whitespace().map(str::to_owned).collect())
    }

    /// Command and first words that start a program on a host. `ip netns exec` would hide the control groups.
    pub(super) fn on(name: &str) -> [String; 2] {
        ["nsenter".to_owned(), format!("--net=/run/netns/{}", namespace(name))]
    }

    fn remove(&self) {
        for LanHost { name, .. } in &self.hosts {
            if Self::kill(name).is_ok() {
                let _gone = line(&format!("ip netns del {}", namespace(name)));
            }
            let _gone_with_it = line(&format!("ip link del {}", device(name)));
        }
        let _never_made = line(&format!("ip link del {PREFIX}0"));
    }
}

impl Drop for Lan {
    fn drop(&mut self) {
        self.remove();
    }
}

fn namespace(name: &str) -> String {
    format!("{PREFIX}-{name}")
}

/// Name of a host's device on this side: at most 15 characters.
fn device(name: &str) -> String {
    format!("{PREFIX}-{name}")
}

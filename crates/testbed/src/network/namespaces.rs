//! Network namespaces of a study, one for each member, joined by a bridge that has one of its own, so that studies side by side never meet.
//! Names carry the process and its start, so that those of a dead owner are found. May not know what a member is.

use super::program::ip;
use crate::sys;
use proofload_model::error::Error;
use proofload_model::network::{DEVICE, NET_BITS, NetworkMember};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Where `ip` keeps namespaces by name. Source: ip-netns(8).
const NAMED: &str = "/run/netns";

/// How names of ours begin.
const OURS: &str = "proofload";

/// The bridge and its namespace.
const BRIDGE: &str = "bridge";

/// The program that starts another inside. `ip netns exec` would mount another `/sys`, without the control groups.
const ENTER: &str = "nsenter";

/// Namespaces that were made. Dropping it removes them.
#[derive(Debug)]
pub struct Network {
    prefix: String,
    names: Vec<String>,
}

impl Network {
    /// Makes a namespace for each member, with its address.
    ///
    /// # Errors
    /// We are not root, a program is missing, or the kernel refuses; nothing is left then.
    pub fn make(members: &[NetworkMember]) -> Result<Self, Error> {
        expect_allowed()?;
        static MADE: AtomicU32 = AtomicU32::new(0);
        let own = std::process::id();
        let start = sys::start_time(own).unwrap_or(0);
        let prefix = format!("{OURS}-{own}-{start}-{}", MADE.fetch_add(1, Ordering::Relaxed));
        let mut network = Self { prefix, names: Vec::new() };
        network
            .wire(members)
            .map_err(|error| error.context("failed to create the network namespaces of replication.network"))?;
        Ok(network)
    }

    /// A command that starts another inside the namespace of a member.
    pub fn within(&self, member: &str, command: &[String]) -> Vec<String> {
        let place = format!("--net={NAMED}/{}", self.name(member));
        [ENTER.to_owned(), place, "--".to_owned()].into_iter().chain(command.iter().cloned()).collect()
    }

    fn name(&self, member: &str) -> String {
        format!("{}-{member}", self.prefix)
    }

    fn wire(&mut self, members: &[NetworkMember]) -> Result<(), Error> {
        let middle = self.add(BRIDGE)?;
        ip(&format!("-n {middle} link add {BRIDGE} type bridge"))?;
        ip(&format!("-n {middle} link set {BRIDGE} up"))?;
        for (number, NetworkMember { name, address }) in members.iter().enumerate() {
            let own = self.add(name)?;
            ip(&format!("link add {DEVICE} netns {own} type veth peer name port{number} netns {middle}"))?;
            ip(&format!("-n {middle} link set port{number} master {BRIDGE} up"))?;
            ip(&format!("-n {own} addr add {address}/{NET_BITS} dev {DEVICE}"))?;
            ip(&format!("-n {own} link set {DEVICE} up"))?;
            ip(&format!("-n {own} link set lo up"))?;
        }
        Ok(())
    }

    fn add(&mut self, member: &str) -> Result<String, Error> {
        let name = self.name(member);
        ip(&format!("netns add {name}"))?;
        self.names.push(name.clone());
        Ok(name)
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for name in &self.names {
            let _as_far_as_it_goes = remove(name);
        }
    }
}

/// Removes what dead owners left, as far as we are root; its names.
///
/// # Errors
/// One cannot be removed.
pub fn sweep_networks() -> Result<Vec<String>, Error> {
    if !sys::is_root() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(NAMED).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let left: Vec<String> = names.filter(|name| owner(name).is_some_and(|owner| !is_alive(owner))).collect();
    left.iter().try_for_each(|name| remove(name))?;
    Ok(left)
}

/// Removes a namespace; another may have done so at the same time.
fn remove(name: &str) -> Result<(), Error> {
    let removed = ip(&format!("netns del {name}"));
    if Path::new(NAMED).join(name).exists() { removed } else { Ok(()) }
}

/// The owner in a name of ours: its process, and when that started.
fn owner(name: &str) -> Option<(u32, u64)> {
    let mut parts = name.strip_prefix(OURS)?.strip_prefix('-')?.split('-');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn is_alive((process, start): (u32, u64)) -> bool {
    sys::is_running(process) && sys::start_time(process) == Some(start)
}

fn expect_allowed() -> Result<(), Error> {
    let asked = "replication.network = \"namespaces\"";
    if !sys::is_root() {
        return Err(Error::refused(format!(
            "{asked} needs root to create network namespaces; remove it, or run as root"
        )));
    }
    for (program, package, words) in [("ip", "iproute2", "-V"), (ENTER, "util-linux", "--version")] {
        let found = Command::new(program).arg(words).stdin(Stdio::null()).output();
        if let Err(error) = found {
            return Err(Error::refused(format!("{asked} needs the program {program} ({package}): {error}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::network::network_members;
    use proofload_model::settings::{Settings, Value};

    fn members() -> Vec<NetworkMember> {
        let mut settings = Settings::default();
        settings.0.insert("replication.network".to_owned(), Value::Text("namespaces".to_owned()));
        network_members(&settings)
    }

    fn ours(prefix: &str) -> usize {
        let entries = std::fs::read_dir(NAMED).into_iter().flatten().flatten();
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix)).count()
    }

    #[test]
    fn an_owner_is_told_by_a_name() {
        assert_eq!(owner("proofload-7-99-0-standby-1"), Some((7, 99)));
        for other in ["other-7-99-0-x", "proofload", "proofload-x-9", "proofload7-9"] {
            assert_eq!(owner(other), None, "{other}");
        }
        let own = std::process::id();
        assert!(is_alive((own, sys::start_time(own).unwrap())) && !is_alive((own, 0)));
    }

    #[test]
    fn namespaces_are_made_reach_each_other_and_go_also_those_of_a_dead_owner() {
        if expect_allowed().is_err() || ip("netns add proofload-test-probe").is_err() {
            return;
        }
        ip("netns del proofload-test-probe").unwrap();
        let members = members();
        let network = Network::make(&members).unwrap();
        let prefix = network.prefix.clone();
        assert_eq!(ours(&prefix), members.len() + 1);
        // Nobody listens there, and that is said by the primary's own kernel.
        let dial = ["bash", "-c", "echo > /dev/tcp/198.18.0.1/4000"].map(str::to_owned);
        let command = network.within("standby-1", &dial);
        let told = Command::new(&command[0]).args(&command[1..]).output().unwrap();
        assert!(String::from_utf8_lossy(&told.stderr).contains("refused"), "{told:?}");
        drop(network);
        assert_eq!(ours(&prefix), 0);
        // A number that the kernel gives to nobody.
        let dead = "proofload-4194305-1-0-host";
        ip(&format!("netns add {dead}")).unwrap();
        assert!(sweep_networks().unwrap().contains(&dead.to_owned()));
        assert_eq!(ours(dead), 0);
    }
}

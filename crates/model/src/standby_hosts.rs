//! Hosts of standbys as a study names them, with the addresses at which instances reach each other. Pure; may not know how a host is
//! reached by us.

use crate::deployment::HostName;
use crate::load_share::HOST_PLACEHOLDER;
use crate::network::{is_in_namespaces, namespaced_hosts};
use crate::settings::{Settings, setting};
use core::net::{IpAddr, Ipv4Addr};

/// The setting that names the hosts of standbys.
pub const STANDBY_HOSTS: &str = "agents.standby_hosts";

/// The command that starts an agent on each.
pub const STANDBY_COMMAND: &str = "agents.standby";

/// The address of the host of the primary.
pub const PRIMARY_ADDRESS: &str = "agents.address";

/// Host of one standby.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandbyHost {
    /// Its name, as the command that starts the agent takes it.
    pub name: String,
    /// Address of it at which other hosts reach it.
    pub address: IpAddr,
}

impl StandbyHost {
    /// Its name among the hosts of a deployment.
    pub fn host(&self) -> HostName {
        HostName::new(self.name.clone())
    }
}

/// Hosts of a deployment whose standbys have hosts of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandbyHosts {
    /// Address of the primary's host at which other hosts reach it.
    pub primary: IpAddr,
    /// Hosts of the standbys, in their order.
    pub standbys: Vec<StandbyHost>,
    /// Whether all of them are this machine.
    pub is_one_machine: bool,
    /// Network device that each of them has to itself; `None`: that is not known.
    pub device: Option<String>,
}

/// What is wrong with a setting: its path and the reason.
pub type HostFault = (&'static str, String);

/// The hosts of the standbys; `None` where they run beside the primary.
///
/// # Errors
/// Everything that is wrong with the settings that name them.
pub fn standby_hosts(settings: &Settings) -> Result<Option<StandbyHosts>, Vec<HostFault>> {
    if is_in_namespaces(settings) {
        return Ok(Some(namespaced_hosts(settings)));
    }
    let texts = settings.list(STANDBY_HOSTS);
    if texts.is_empty() {
        return Ok(None);
    }
    // Children of ours on one machine reach each other there.
    let is_here = settings.list(STANDBY_COMMAND).is_empty() && settings.list(setting::AGENTS_HOST).is_empty();
    let here = is_here.then_some(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let mut faults = Vec::new();
    let primary = match settings.text(PRIMARY_ADDRESS).ok() {
        Some(text) => address(text).map_err(|reason| (PRIMARY_ADDRESS, reason)),
        None => here.ok_or_else(|| {
            let reason = "the hosts of the standbys need an address at which they reach the primary: set it, such as \
                          \"10.0.0.1\"";
            (PRIMARY_ADDRESS, reason.to_owned())
        }),
    };
    let mut standbys: Vec<StandbyHost> = Vec::new();
    for text in texts {
        match parse(text, here) {
            Ok(host) if standbys.iter().any(|earlier| earlier.name == host.name) => {
                faults.push((
                    STANDBY_HOSTS,
                    format!("{:?} is listed twice; each standby needs a host of its own", host.name),
                ));
            }
            Ok(host) => standbys.push(host),
            Err(reason) => faults.push((STANDBY_HOSTS, reason)),
        }
    }
    let primary = primary.map_err(|fault| faults.push(fault)).ok();
    faults.extend(shared(primary, &standbys).filter(|_| !is_here).map(|reason| (STANDBY_HOSTS, reason)));
    match primary.filter(|_| faults.is_empty()) {
        Some(primary) => Ok(Some(StandbyHosts { primary, standbys, is_one_machine: is_here, device: None })),
        None => Err(faults),
    }
}

/// Why two of the hosts are one.
fn shared(primary: Option<IpAddr>, standbys: &[StandbyHost]) -> Option<String> {
    let all: Vec<IpAddr> = primary.into_iter().chain(standbys.iter().map(|host| host.address)).collect();
    let twice = all.iter().enumerate().find(|(place, address)| all[..*place].contains(address));
    twice.map(|(_, address)| {
        format!("two hosts have the address {address}; remove the setting to run the standbys beside the primary")
    })
}

/// Reads `name=address`, or `name` where there is an address for all.
fn parse(text: &str, otherwise: Option<IpAddr>) -> Result<StandbyHost, String> {
    let (name, given) = text.split_once('=').map_or((text, None), |(name, given)| (name, Some(given)));
    let good = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@".contains(&byte);
    if name.is_empty() || name.starts_with(['-', '.']) || !name.bytes().all(good) {
        return Err(format!(
            "{text:?} is not a host; use letters, digits, '-', '_', '.' and '@', followed by '=' and its address, such \
             as \"db2=10.0.0.2\""
        ));
    }
    if HostName::new(name) == HostName::under_test() {
        return Err(format!("{name:?} is the name of the primary's host; use another name, such as an ssh alias"));
    }
    let name = name.to_owned();
    match (given, otherwise) {
        (Some(given), _) => Ok(StandbyHost { name, address: address(given)? }),
        (None, Some(address)) => Ok(StandbyHost { name, address }),
        (None, None) => {
            Err(format!("{text:?} has no address at which other hosts can reach it; use \"{text}=10.0.0.2\""))
        }
    }
}

/// Reads an address of one host.
fn address(text: &str) -> Result<IpAddr, String> {
    let found: Option<IpAddr> = text.parse().ok();
    found.filter(|address| !address.is_unspecified() && !address.is_multicast()).ok_or_else(|| {
        format!(
            "{text:?} is not the address of a single host, which the server needs to listen at; use an address such as \
             \"10.0.0.2\""
        )
    })
}

/// The command that starts the agent of a host.
pub fn command_on(command: &[String], host: &str) -> Vec<String> {
    command.iter().map(|word| word.replace(HOST_PLACEHOLDER, host)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Value;

    fn settings(hosts: &[&str], given: &[(&str, &str)]) -> Settings {
        let list = |words: &[&str]| Value::List(words.iter().map(|word| (*word).to_owned()).collect());
        let mut all = Settings::default();
        all.0.insert(STANDBY_HOSTS.to_owned(), list(hosts));
        for (path, text) in given {
            let value = if *path == PRIMARY_ADDRESS { Value::Text((*text).to_owned()) } else { list(&[text]) };
            all.0.insert((*path).to_owned(), value);
        }
        all
    }

    fn check(hosts: &[&str], given: &[(&str, &str)], expected: Result<&[(&str, &str)], &[&str]>) {
        match (standby_hosts(&settings(hosts, given)), expected) {
            (Ok(found), Ok(expected)) => {
                let all = found.map(|found| found.standbys).unwrap_or_default();
                let all: Vec<(String, String)> =
                    all.into_iter().map(|host| (host.name, host.address.to_string())).collect();
                let all: Vec<(&str, &str)> =
                    all.iter().map(|(name, address)| (name.as_str(), address.as_str())).collect();
                assert_eq!(all, expected, "{hosts:?}");
            }
            (Err(faults), Err(parts)) => {
                assert_eq!(faults.len(), parts.len(), "{faults:?}");
                for ((path, reason), part) in faults.iter().zip(parts) {
                    assert!(format!("{path}: {reason}").contains(part), "{path}: {reason} has no {part:?}");
                }
            }
            (found, _) => panic!("{hosts:?}: {found:?}"),
        }
    }

    #[test]
    fn hosts_have_names_and_addresses_or_are_refused_with_every_reason() {
        let far = [(STANDBY_COMMAND, "ssh"), (PRIMARY_ADDRESS, "10.0.0.1")];
        check(&[], &[], Ok(&[]));
        check(&["db2", "db3"], &[], Ok(&[("db2", "127.0.0.1"), ("db3", "127.0.0.1")]));
        check(&["db2=10.0.0.2", "db3=fd00::3"], &far, Ok(&[("db2", "10.0.0.2"), ("db3", "fd00::3")]));
        check(&["db2=10.0.0.2"], &far[..1], Err(&["agents.address: "]));
        check(&["db2"], &far, Err(&["has no address"]));
        check(
            &["db2=0.0.0.0", "db3=x", "-o=1.2.3.4"],
            &far,
            Err(&["not the address", "not the address", "not a host"]),
        );
        check(&["db2=10.0.0.2", "db2=10.0.0.3"], &far, Err(&["listed twice"]));
        check(&["db2=10.0.0.1"], &far, Err(&["two hosts"]));
        check(&["host=10.0.0.2"], &far, Err(&["is the name of the primary's host"]));
    }
}

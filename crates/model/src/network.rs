//! The network that a study asks for between instances and clients on one machine: namespaces with an address each, on one bridge. Pure; may
//! not know how it is made.

use crate::deployment::{HostName, InstanceName};
use crate::load_share::LOAD_HOSTS;
use crate::settings::Settings;
use crate::standby_hosts::{StandbyHost, StandbyHosts};
use core::net::{IpAddr, Ipv4Addr};

/// The setting that asks for it.
pub const NETWORK: &str = "replication.network";

/// Words of the setting.
pub const NETWORK_WORDS: &[&str] = &["namespaces"];

/// The network device of each member.
pub const DEVICE: &str = "eth0";

/// The addresses are for measurements of network devices, and routed nowhere. Source: RFC 2544, appendix C.2.2.
const NET: [u8; 2] = [198, 18];
/// Bits of an address that are the network's.
pub const NET_BITS: u8 = 16;

/// What has a namespace of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkMember {
    /// Its name: that of a host of the deployment, or of a load agent.
    pub name: String,
    /// Its address.
    pub address: IpAddr,
}

/// Whether the study asks for namespaces.
pub fn is_in_namespaces(settings: &Settings) -> bool {
    settings.text(NETWORK).is_ok_and(|word| NETWORK_WORDS.contains(&word))
}

/// Name of the member for the load agent of a number, from 0.
pub fn load_member(number: usize) -> String {
    format!("load-{}", number + 1)
}

/// Every member; empty where the study asks for no network.
pub fn network_members(settings: &Settings) -> Vec<NetworkMember> {
    if !is_in_namespaces(settings) {
        return Vec::new();
    }
    let hosts = namespaced_hosts(settings);
    let primary = NetworkMember { name: HostName::under_test().to_string(), address: hosts.primary };
    let standbys = hosts.standbys.into_iter().map(|host| NetworkMember { name: host.name, address: host.address });
    let agents = settings.list(LOAD_HOSTS).len().max(1);
    let load = (0..agents).map(|number| NetworkMember { name: load_member(number), address: address(1, number) });
    std::iter::once(primary).chain(standbys).chain(load).collect()
}

/// Namespaces of instances as hosts of one machine.
pub(crate) fn namespaced_hosts(settings: &Settings) -> StandbyHosts {
    let count = settings.count("replication.standbys").unwrap_or(1);
    let host = |number: u32| StandbyHost {
        name: InstanceName::standby(number).to_string(),
        address: address(0, number as usize),
    };
    let device = Some(DEVICE.to_owned());
    StandbyHosts { primary: address(0, 0), standbys: (1..=count).map(host).collect(), is_one_machine: true, device }
}

/// The address of a number, from 0, in one of the parts of the network.
fn address(part: u8, number: usize) -> IpAddr {
    let [first, second] = NET;
    let host = u16::from(part) * 256 + u16::try_from(number + 1).unwrap_or(u16::MAX);
    let [third, fourth] = host.to_be_bytes();
    IpAddr::V4(Ipv4Addr::new(first, second, third, fourth))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Value;

    #[test]
    fn every_member_has_a_name_and_an_address_of_its_own() {
        let mut settings = Settings::default();
        assert_eq!(network_members(&settings), []);
        settings.0.insert(NETWORK.to_owned(), Value::Text("namespaces".to_owned()));
        settings.0.insert("replication.standbys".to_owned(), Value::Integer(2));
        settings.0.insert(LOAD_HOSTS.to_owned(), Value::List(vec!["a".to_owned(), "b".to_owned()]));
        let members = network_members(&settings);
        let told: Vec<String> = members.iter().map(|member| format!("{} {}", member.name, member.address)).collect();
        let expected = [
            "host 198.18.0.1",
            "standby-1 198.18.0.2",
            "standby-2 198.18.0.3",
            "load-1 198.18.1.1",
            "load-2 198.18.1.2",
        ];
        assert_eq!(told, expected);
    }
}

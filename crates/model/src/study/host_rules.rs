//! What standbys on hosts of their own need of the rest of a study.

use super::contradictions::RuleContext;
use super::factor::values_of;
use crate::load_share::HOST_PLACEHOLDER;
use crate::manager::manager;
use crate::network::{NETWORK, is_in_namespaces};
use crate::plan::expand;
use crate::replication::replication;
use crate::settings::setting;
use crate::standby_hosts::{PRIMARY_ADDRESS, STANDBY_COMMAND, STANDBY_HOSTS, standby_hosts};
use crate::units::counted;
use std::collections::BTreeSet;

/// Hosts of standbys are different hosts with addresses, as many as there are standbys, of instances that we start and promote.
pub(super) fn standby_hosts_need(look: &mut RuleContext<'_>) {
    let settings = look.study.settings.clone();
    if is_in_namespaces(&settings) {
        return namespaces_need(look);
    }
    let hosts = settings.list(STANDBY_HOSTS).len();
    if hosts == 0 {
        for path in [STANDBY_COMMAND, PRIMARY_ADDRESS] {
            if look.given.is_given(path) {
                look.fault(path, format!("only used with standby hosts; set {STANDBY_HOSTS} too, or remove it"));
            }
        }
        return;
    }
    for (path, reason) in standby_hosts(&settings).err().unwrap_or_default() {
        look.fault(path, reason);
    }
    let command = settings.list(STANDBY_COMMAND);
    if hosts > 1 && !command.is_empty() && !command.iter().any(|word| word.contains(HOST_PLACEHOLDER)) {
        let reason = format!(
            "would start all {hosts} agents of {STANDBY_HOSTS} on one machine; put {HOST_PLACEHOLDER} where the host \
             name belongs, such as [\"ssh\", \"-T\", \"{HOST_PLACEHOLDER}\", \"proofload\", \"agent\"]"
        );
        look.fault(STANDBY_COMMAND, reason);
    }
    for reason in at_points(look, hosts) {
        look.fault(STANDBY_HOSTS, reason);
    }
    if settings.get(setting::ENGINE_URL).is_some() {
        let reason = "an existing server (engine.url) has its standbys on its own hosts; remove it";
        look.fault(STANDBY_HOSTS, reason.to_owned());
    }
}

/// Namespaces are made on this machine for instances that we start and promote, as many at every point.
fn namespaces_need(look: &mut RuleContext<'_>) {
    let settings = look.study.settings.clone();
    for path in [setting::AGENTS_HOST, setting::AGENTS_LOAD, STANDBY_COMMAND, STANDBY_HOSTS, PRIMARY_ADDRESS] {
        if look.given.is_given(path) {
            look.fault(path, format!(
                "conflicts with {NETWORK}, which runs all agents in namespaces of this machine; remove one of the two"
            ));
        }
    }
    if values_of("replication.standbys", &look.study.settings, &look.study.factors).len() > 1 {
        let reason = format!("must be one number, because the namespaces are the same at every point ({NETWORK})");
        look.fault("replication.standbys", reason);
    }
    let standbys = settings.count("replication.standbys").unwrap_or(1) as usize;
    for reason in at_points(look, standbys) {
        look.fault(NETWORK, reason);
    }
    if settings.get(setting::ENGINE_URL).is_some() {
        let reason = "an existing server (engine.url) is reached through its own network; remove it";
        look.fault(NETWORK, reason.to_owned());
    }
}

/// What does not fit at some point; each reason once.
fn at_points(look: &RuleContext<'_>, hosts: usize) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut replicated = false;
    for settings in expand(look.study).points.iter().map(|point| look.study.settings.with(&point.levels)) {
        let Ok(Some(asked)) = replication(&settings) else { continue };
        replicated = true;
        let standbys = asked.standbys.len();
        if standbys != hosts {
            found.insert(format!(
                "lists {}, but replication.standbys is {standbys}: list one host for each standby",
                counted(hosts, "host")
            ));
        }
        if let Ok(Some(manager)) = manager(&settings) {
            let kind = manager.kind;
            found.insert(format!(
                "{kind} runs all instances on one host; remove the hosts, or use \"by-hand\" (replication.manager)"
            ));
        }
    }
    if !replicated {
        found.insert("only used with standbys; set replication.mode too, or remove it".to_owned());
    }
    found
}

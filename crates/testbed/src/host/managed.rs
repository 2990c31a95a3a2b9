//! What a failover manager does with the instances of this host: the order in which a cluster is started, faults that concern it, and nodes that
//! come back.

use super::cluster::ManagedCluster;
use super::held::InstanceResources;
use super::role::HostRole;
use crate::faults::{self, FaultSite, Process};
use proofload_model::deployment::InstanceName;
use proofload_model::drill::{FaultInForce, FaultKind};
use proofload_model::error::Error;
use proofload_model::facts::replication;
use proofload_model::fault_strength::FaultStrength;
use proofload_model::manager::ManagedNode;
use proofload_model::replication::{ReplicationAsked, ReplicationPart};
use proofload_model::wire::host::{MakeFault, Start, StartedInstance};

/// Starts the cluster: the first instance alone, to be given a password; then the arbiter; then node by node, the first until it leads.
pub(super) fn start(
    role: &mut HostRole,
    mut asked: ReplicationAsked,
    nodes: Vec<ManagedNode>,
) -> Result<Vec<StartedInstance>, Error> {
    let begun = role.parts().0.now();
    let first = nodes.first().ok_or_else(|| Error::refused("failed to run a failover manager: no instance exists"))?;
    role.held(&first.instance).start(first.place.clone(), ReplicationPart::Alone)?;
    let target = role.held(&first.instance).target().cloned();
    let given = target.map_or(Ok(()), |target| role.cluster()?.set_accounts(&target));
    role.held(&first.instance).stop()?;
    given?;
    let cluster = role.cluster()?;
    cluster.start_arbiter()?;
    asked.presented_as = (1..cluster.nodes()).map(|number| cluster.presented_as(number)).collect();
    let mut started = Vec::new();
    for (number, node) in nodes.into_iter().enumerate() {
        let planned = role.cluster()?.node(number)?;
        let part = match started.first() {
            None => ReplicationPart::Primary(asked.clone()),
            Some(StartedInstance { address, .. }) => ReplicationPart::Standby { upstream: address.clone() },
        };
        started.push(role.held(&node.instance).start_managed(planned, node.place, part)?);
        if number == 0 {
            until_first_leads(role, &node.instance)?;
        }
    }
    let took = role.parts().0.now().since(begun);
    let mut facts = role.cluster()?.facts()?;
    facts.push(replication::MANAGER_STARTED.observed(took, "from the start of the arbiter until all instances answer"));
    if let Some(first) = started.first_mut() {
        let instance = InstanceName::primary();
        first.facts.extend(
            facts.into_iter().map(|fact| proofload_model::samples::Fact { instance: instance.clone(), ..fact }),
        );
    }
    Ok(started)
}

/// Starts the manager's program of a node again after a fault that ended it, or of one that hangs, which is ended first: as on a host that comes
/// back. The manager tells it whom to follow.
pub(super) fn start_again(role: &mut HostRole, ask: Start) -> Result<StartedInstance, Error> {
    let Start { instance, place, part } = ask;
    let planned = role.cluster()?.node_again(&instance)?;
    let held = role.held(&instance);
    held.end_faulty();
    let started = held.start_managed(planned, place, part)?;
    held.part_may_change();
    Ok(started)
}

fn until_first_leads(role: &mut HostRole, instance: &InstanceName) -> Result<(), Error> {
    let (_, instances, cluster) = role.parts();
    let (Some(held), Some(cluster)) = (instances.get(instance), cluster) else {
        return Err(Error::new(format!("failed to wait for a leader: no manager runs {instance}")));
    };
    cluster
        .until_it_leads(0, &|| held.has_exited())
        .map_err(|error| Error::of(error.kind(), format!("{error}; {}", held.log_tail())))
}

/// Makes a fault of an instance, or of the arbiter.
pub(super) fn make_fault(role: &mut HostRole, ask: MakeFault) -> Result<FaultInForce, Error> {
    let MakeFault { instance: name, kind, strength } = ask;
    if name == InstanceName::arbiter() {
        return of_arbiter(role, kind);
    }
    role.held(&name);
    let (_, instances, cluster) = role.parts();
    if cluster.is_some() {
        instances.values_mut().for_each(InstanceResources::part_may_change);
    }
    let held = instances.get_mut(&name).ok_or_else(|| Error::new(format!("no such instance: {name}")))?;
    match cluster {
        Some(cluster) => {
            let cluster: &ManagedCluster = cluster;
            if kind == FaultKind::Switchover {
                // Before the fault begins: the wait is none of its outage.
                cluster.until_settled();
            }
            held.make_fault(kind, strength, Some(&|| cluster.switch_over(&name)))
        }
        None => held.make_fault(kind, strength, None),
    }
}

fn of_arbiter(role: &mut HostRole, kind: FaultKind) -> Result<FaultInForce, Error> {
    let (clock, instances, cluster) = role.parts();
    let cluster =
        cluster.ok_or_else(|| Error::refused("failed to inject a fault of the arbiter: no failover manager runs"))?;
    let arbiter = cluster
        .arbiter()
        .ok_or_else(|| Error::refused("failed to inject a fault of the arbiter: it is not running"))?;
    let processes = Process::of_server(arbiter);
    let made = faults::make(
        kind,
        &FaultSite {
            clock,
            strength: FaultStrength::Whole,
            server: Some(arbiter),
            first: Some(Process::of(arbiter.process())),
            processes: &processes,
            group: None,
            limits: None,
            data: cluster.arbiter_folder(),
            relay: None,
            cable: None,
            replay: None,
            switch_over: None,
        },
    )?;
    cluster.forget_arbiter();
    instances.values_mut().for_each(InstanceResources::part_may_change);
    Ok(made)
}

//! Hosts, agents, instances, limits, snapshots, preconditioning, probes.

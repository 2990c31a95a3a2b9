//! Patroni with etcd, version 3 of its interface. Source: Patroni's documentation, "YAML Configuration Settings", "Dynamic Configuration Settings",
//! "Patroni REST API", "Convert a Standalone to a Patroni Cluster".
//!
//! A node is given data that are there: the first to start becomes the leader of a new cluster with them, whose dynamic configuration is
//! the section `bootstrap.dcs` of its file. Values are JSON, which YAML includes.

use super::cluster_plan::{ClusterPlan, NodePlan};
use super::manager::{Begin, ClusterView, Manager, ProcessPlan, command, folders};
use super::programs::{NeededProgram, find};
use super::tool::Tools;
use proofload_engine::{CommandLine, FileToWrite, Replication};
use proofload_model::error::Error;
use proofload_model::facts::replication;
use proofload_model::manager::ManagerKind;
use proofload_model::samples::Fact;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The manager.
pub(super) struct Patroni;

const ETCD: NeededProgram = NeededProgram { name: "etcd", package: "etcd-server" };
const NODE: NeededProgram = NeededProgram { name: "patroni", package: "patroni" };
const CONTROL: NeededProgram = NeededProgram { name: "patronictl", package: "patroni" };

/// Name of the cluster.
const SCOPE: &str = "proofload";

/// A node's file.
const FILE: &str = "patroni.yml";

/// The study's settings of the server, which the manager's own are put on top of.
const SERVER_FILE: &str = "server.conf";

/// An interface that does not answer in this time says nothing, seconds.
const PATIENCE: u64 = 1;

/// Settings of the server that all nodes must share and that are therefore part of the dynamic configuration.
const SHARED: &[&str] = &[
    "max_connections",
    "max_locks_per_transaction",
    "max_worker_processes",
    "max_prepared_transactions",
    "max_wal_senders",
    "max_replication_slots",
    "wal_level",
    "wal_keep_size",
    "track_commit_timestamp",
];

impl Manager for Patroni {
    fn kind(&self) -> ManagerKind {
        ManagerKind::Patroni
    }

    fn programs(&self) -> &'static [NeededProgram] {
        &[NODE, CONTROL, ETCD]
    }

    fn services(&self) -> &'static [&'static str] {
        &["patroni", "etcd"]
    }

    fn accounts(&self) -> &'static [&'static str] {
        &[]
    }

    fn presented_as(&self, _node: usize, name: &str) -> String {
        name.to_owned()
    }

    fn arbiter(&self, plan: &ClusterPlan, _: Begin) -> Result<ProcessPlan, Error> {
        let folder = &plan.arbiter.folder;
        let (clients, peers) = (local(plan.arbiter.port), local(plan.arbiter.peer_port));
        let (data, cluster) = (folder.join("etcd").display().to_string(), format!("arbiter={peers}"));
        let arguments = [
            ["--name", "arbiter"],
            ["--data-dir", &data],
            ["--listen-client-urls", &clients],
            ["--advertise-client-urls", &clients],
            ["--listen-peer-urls", &peers],
            ["--initial-advertise-peer-urls", &peers],
            ["--initial-cluster", &cluster],
            ["--initial-cluster-token", SCOPE],
        ];
        Ok(ProcessPlan {
            folder: folder.clone(),
            beside: &[],
            folders: folders(),
            files: Vec::new(),
            links: Vec::new(),
            command: command(find(ETCD)?, folder, Path::new("/usr/bin"), &arguments.concat()),
            runs: None,
        })
    }

    fn arbiter_answers(&self, plan: &ClusterPlan, _: &Tools) -> Result<(), Error> {
        let health = get(&format!("{}/health", local(plan.arbiter.port)))?;
        match health["health"].as_str() {
            Some("true") => Ok(()),
            _ => Err(Error::new(format!("etcd is not healthy yet: {health}"))),
        }
    }

    fn settle(&self, _: &ClusterPlan, _: &Tools, _: &dyn Replication) -> Result<(), Error> {
        Ok(())
    }

    fn node(&self, plan: &ClusterPlan, node: &NodePlan, _: Begin) -> Result<ProcessPlan, Error> {
        let file = |path: &str, content: String| FileToWrite { path: PathBuf::from(path), content };
        Ok(ProcessPlan {
            folder: node.folder.clone(),
            beside: &[],
            folders: folders(),
            files: vec![
                file(FILE, format!("{:#}\n", configuration(plan, node))),
                file(SERVER_FILE, node.server.settings.clone()),
            ],
            links: vec![node.server.link.clone()],
            command: command(find(NODE)?, &node.folder, &node.server.programs, &[FILE]),
            runs: Some(node.data.clone()),
        })
    }

    /// Asks the nodes one after the other: the last ones first, since it is the first that fails.
    fn view(&self, plan: &ClusterPlan, _: &Tools) -> Result<ClusterView, Error> {
        let mut outcome = Err(Error::new("failed to query Patroni: there is no node"));
        for node in plan.nodes.iter().rev() {
            outcome = get(&format!("{}/cluster", local(node.own_port))).map(|cluster| view_of(&cluster, plan));
            if outcome.is_ok() {
                break;
            }
        }
        outcome
    }

    fn switch_over(&self, plan: &ClusterPlan, leader: &NodePlan) -> Result<(CommandLine, PathBuf), Error> {
        let other = plan.nodes.iter().find(|node| node.name != leader.name);
        let other = other.ok_or_else(|| Error::refused("failed to switch over: there is no other node"))?;
        let (from, to) = (leader.name.as_str(), other.name.as_str());
        let arguments = ["-c", FILE, "switchover", SCOPE, "--leader", from, "--candidate", to, "--force"];
        Ok((command(find(CONTROL)?, &leader.folder, &leader.server.programs, &arguments), leader.folder.clone()))
    }

    fn settings(&self, plan: &ClusterPlan, _: &Tools) -> Result<Vec<Fact>, Error> {
        let node =
            plan.nodes.first().ok_or_else(|| Error::new("failed to read Patroni's settings: there is no node"))?;
        let (found, of_node) = (get(&format!("{}/config", local(node.own_port)))?, local(node.own_port));
        let about = get(&format!("{of_node}/patroni"))?;
        let mut facts = vec![
            replication::MANAGER.observed(format!("Patroni {}", text(&about["patroni"]["version"])), "GET /patroni"),
        ];
        let found = found.as_object().cloned().unwrap_or_default();
        for (name, value) in found.iter().filter(|(_, value)| !value.is_object()) {
            let fact = replication::MANAGER_SETTING.of(name);
            facts.push(match plan.asked.settings.get(name) {
                Some(asked) => {
                    fact.compared(asked.clone(), Some(text(value)), value_of(asked) == *value, "GET /config")
                }
                None => fact.observed(text(value), "GET /config"),
            });
        }
        let missing = plan.asked.settings.iter().filter(|(name, _)| !found.contains_key(*name));
        facts.extend(missing.map(|(name, asked)| {
            replication::MANAGER_SETTING.of(name).compared(asked.clone(), None::<String>, false, "GET /config")
        }));
        Ok(facts)
    }
}

fn local(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

fn get(url: &str) -> Result<Value, Error> {
    let failed = |why: String| Error::new(format!("failed to query {url}: {why}"));
    let answer = minreq::get(url).with_timeout(PATIENCE).send().map_err(|error| failed(error.to_string()))?;
    if answer.status_code != 200 && answer.status_code != 503 {
        return Err(failed(format!("it answered {} {}", answer.status_code, answer.reason_phrase)));
    }
    serde_json::from_slice(answer.as_bytes()).map_err(|error| failed(format!("its answer is not JSON: {error}")))
}

fn view_of(cluster: &Value, plan: &ClusterPlan) -> ClusterView {
    let members: Vec<&Value> = cluster["members"].as_array().into_iter().flatten().collect();
    let runs = |member: &Value| member["state"] == "running" || member["state"] == "streaming";
    let leads =
        |member: &&&Value| matches!(text(&member["role"]).as_str(), "leader" | "standby_leader") && runs(member);
    let leader = members.iter().find(leads).map(|member| text(&member["name"]));
    let role = if plan.mode.waits() { "sync_standby" } else { "replica" };
    let followers = members.iter().filter(|member| member["role"] == role && runs(member)).count();
    ClusterView { is_protected: leader.is_some() && followers + 1 >= plan.nodes.len(), leader }
}

/// The text of a value, without quotes.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The value that a study's text stands for.
fn value_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

fn configuration(plan: &ClusterPlan, node: &NodePlan) -> Value {
    let folder = |name: &str| node.folder.join(name).display().to_string();
    let (own, server) = (format!("127.0.0.1:{}", node.own_port), format!("127.0.0.1:{}", node.port));
    let account = json!({"username": node.server.account, "password": plan.password.reveal()});
    json!({
        "scope": SCOPE,
        "namespace": "/service/",
        "name": node.name.as_str(),
        "restapi": {"listen": own, "connect_address": own},
        "etcd3": {"host": format!("127.0.0.1:{}", plan.arbiter.port)},
        "bootstrap": {"dcs": dynamic(plan, node)},
        "postgresql": {
            "listen": server,
            "connect_address": server,
            "data_dir": node.data.display().to_string(),
            "bin_dir": node.server.programs.display().to_string(),
            "custom_conf": folder(SERVER_FILE),
            "pgpass": folder("pgpass"),
            "use_unix_socket": true,
            "authentication": {"superuser": account, "replication": account, "rewind": account},
            "parameters": {"unix_socket_directories": node.server.sockets},
        },
    })
}

/// The dynamic configuration: what the study asks for; else as the manager has it.
fn dynamic(plan: &ClusterPlan, node: &NodePlan) -> Value {
    let mut shared = Map::new();
    for line in node.server.settings.lines() {
        let Some((name, value)) = line.split_once(" = ") else { continue };
        if SHARED.contains(&name) {
            shared.insert(name.to_owned(), Value::String(value.trim_matches('\'').to_owned()));
        }
    }
    let mut dynamic = Map::new();
    // As the manager has them, said so that the record names them.
    for (name, value) in [("ttl", 30), ("loop_wait", 10), ("retry_timeout", 10), ("primary_start_timeout", 300)] {
        dynamic.insert(name.to_owned(), json!(value));
    }
    dynamic.insert("synchronous_mode".to_owned(), json!(plan.mode.waits()));
    dynamic.insert("postgresql".to_owned(), json!({"use_pg_rewind": true, "use_slots": false, "parameters": shared}));
    for (name, value) in &plan.asked.settings {
        dynamic.insert(name.clone(), value_of(value));
    }
    Value::Object(dynamic)
}

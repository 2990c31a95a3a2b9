//! pg_auto_failover with its monitor. Source: its documentation, "pg_autoctl create postgres", "Main pg_autoctl commands", "Failover State
//! Machine", "Configuring pg_auto_failover".
//!
//! A node is given data that are there: the first registers as a primary, another one of the same system identifier as its standby, without a
//! copy. The socket of a server lies where `PG_REGRESS_SOCK_DIR` says, and the node finds it by `PGHOST`. The account comes from a connection
//! service file: `PGUSER` it takes away while it makes that account, and when it begins again beside a running server, it then comes as the
//! user of the operating system, whom the data do not know (`create_database_and_extension` of version 2.0).

use super::cluster_plan::{ClusterPlan, NodePlan};
use super::manager::{Begin, ClusterView, Manager, ProcessPlan, command, folders};
use super::programs::{NeededProgram, find};
use super::tool::Tools;
use proofload_engine::{CommandLine, FileToWrite, Replication};
use proofload_model::error::Error;
use proofload_model::facts::replication;
use proofload_model::manager::ManagerKind;
use proofload_model::samples::Fact;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The manager.
pub(super) struct PgAutoFailover;

const PROGRAM: NeededProgram = NeededProgram { name: "pg_autoctl", package: "pg-auto-failover-cli" };

/// Account by which nodes come to the monitor, and its database.
const NODE_ACCOUNT: &str = "autoctl_node";
const MONITOR_DATABASE: &str = "pg_auto_failover";

/// Folder beside that of the data into which it copies what it is about to replace.
const BACKUP: &str = "backup";

/// Connection service of a node's own server, and the file that defines it.
const SERVICE: &str = "node";
const SERVICES: &str = "pg_service.conf";

/// File of passwords.
const PASSWORDS: &str = "pgpass";

/// How long a question to the monitor may take.
const PATIENCE: Duration = Duration::from_secs(3);

/// Prefix of the monitor's own settings.
const SETTINGS: &str = "pgautofailover.";

impl Manager for PgAutoFailover {
    fn kind(&self) -> ManagerKind {
        ManagerKind::PgAutoFailover
    }

    fn programs(&self) -> &'static [NeededProgram] {
        &[PROGRAM]
    }

    fn services(&self) -> &'static [&'static str] {
        &["pgautofailover"]
    }

    fn accounts(&self) -> &'static [&'static str] {
        &["pgautofailover_replicator"]
    }

    fn presented_as(&self, node: usize, _name: &str) -> String {
        format!("pgautofailover_standby_{}", node + 1)
    }

    fn arbiter(&self, plan: &ClusterPlan, begin: Begin) -> Result<ProcessPlan, Error> {
        let server = &first(plan)?.server;
        has_extension(&server.programs)?;
        let (folder, data) = (&plan.arbiter.folder, monitor_data(plan));
        let port = plan.arbiter.port.to_string();
        let data_text = data.display().to_string();
        let new = [
            ["create", "monitor"],
            ["--pgdata", &data_text],
            ["--pgport", &port],
            ["--hostname", "127.0.0.1"],
            ["--listen", "127.0.0.1"],
            ["--auth", "scram-sha-256"],
            ["--no-ssl", "--run"],
        ];
        let again = [["run", "--pgdata"], [&data_text, "-v"]];
        let arguments = if begin == Begin::New { new.concat() } else { again.concat() };
        Ok(ProcessPlan {
            folder: folder.clone(),
            beside: &[],
            folders: folders(),
            files: Vec::new(),
            links: vec![server.link.clone()],
            command: beside_sockets(command(find(PROGRAM)?, folder, &server.programs, &arguments), server.sockets),
            runs: Some(data),
        })
    }

    /// Its configuration, written again at each start (`monitor_config_write_file` of version 2.0 to 2.2).
    fn rewritten(&self, plan: &ClusterPlan) -> Option<PathBuf> {
        let data = monitor_data(plan);
        let below = data.strip_prefix("/").unwrap_or(&data);
        Some(plan.arbiter.folder.join("config/pg_autoctl").join(below).join("pg_autoctl.cfg"))
    }

    fn arbiter_answers(&self, plan: &ClusterPlan, tools: &Tools) -> Result<(), Error> {
        sql(plan, tools, "SELECT count(*) FROM pgautofailover.node").map(drop)
    }

    /// Gives the nodes' account its password, and the monitor its settings.
    fn settle(&self, plan: &ClusterPlan, tools: &Tools, engine: &dyn Replication) -> Result<(), Error> {
        sql(plan, tools, &engine.account(NODE_ACCOUNT, plan.password.reveal()))?;
        for (name, value) in &plan.asked.settings {
            let value = value.replace('\'', "''");
            sql(plan, tools, &format!("ALTER SYSTEM SET {SETTINGS}{name} = '{value}'"))
                .map_err(|error| error.context(format!("failed to set replication.manager_settings.{name}")))?;
        }
        sql(plan, tools, "SELECT pg_reload_conf()").map(drop)
    }

    fn node(&self, plan: &ClusterPlan, node: &NodePlan, begin: Begin) -> Result<ProcessPlan, Error> {
        let (data, port, monitor) = (node.data.display().to_string(), node.port.to_string(), monitor(plan));
        let quorum = if plan.mode.waits() { "true" } else { "false" };
        let new = [
            ["create", "postgres"],
            ["--pgdata", &data],
            ["--pgport", &port],
            ["--hostname", "127.0.0.1"],
            ["--listen", "127.0.0.1"],
            ["--name", node.name.as_str()],
            ["--auth", "scram-sha-256"],
            ["--username", node.server.account],
            ["--dbname", node.server.database],
            ["--replication-quorum", quorum],
            ["--monitor", &monitor],
            ["--no-ssl", "--run"],
        ];
        // What it knows of itself lies in its folder, as it left it.
        let again = [["run", "--pgdata"], [&data, "-v"]];
        let arguments = if begin == Begin::New { new.concat() } else { again.concat() };
        let mut command = beside_sockets(
            command(find(PROGRAM)?, &node.folder, &node.server.programs, &arguments),
            node.server.sockets,
        );
        let file = |name: &str| node.folder.join(name).display().to_string();
        command.environment.extend([
            ("PGSERVICEFILE".to_owned(), file(SERVICES)),
            ("PGSERVICE".to_owned(), SERVICE.to_owned()),
            ("PGPASSFILE".to_owned(), file(PASSWORDS)),
        ]);
        let service = format!("[{SERVICE}]\nuser={}\n", node.server.account);
        let passwords = format!("127.0.0.1:*:*:*:{}\n", plan.password.reveal());
        Ok(ProcessPlan {
            folder: node.folder.clone(),
            beside: &[BACKUP],
            folders: folders(),
            files: vec![
                FileToWrite { path: PathBuf::from(SERVICES), content: service },
                FileToWrite { path: PathBuf::from(PASSWORDS), content: passwords },
            ],
            links: vec![node.server.link.clone()],
            command,
            runs: Some(node.data.clone()),
        })
    }

    /// A dead node keeps its last reported state: who leads is told by reported and assigned states that agree.
    fn view(&self, plan: &ClusterPlan, tools: &Tools) -> Result<ClusterView, Error> {
        let rows = sql(
            plan,
            tools,
            "SELECT json_agg(json_build_object('name', nodename, 'reported', reportedstate, 'assigned', goalstate)) FROM pgautofailover.node",
        )?;
        let rows: Value = serde_json::from_str(rows.trim())
            .map_err(|error| Error::new(format!("failed to read the monitor's nodes: {error}: {rows}")))?;
        Ok(view_of(&rows, plan))
    }

    fn switch_over(&self, plan: &ClusterPlan, _leader: &NodePlan) -> Result<(CommandLine, PathBuf), Error> {
        let (folder, data) = (&plan.arbiter.folder, monitor_data(plan).display().to_string());
        let server = &first(plan)?.server;
        let order = command(find(PROGRAM)?, folder, &server.programs, &["perform", "switchover", "--pgdata", &data]);
        Ok((beside_sockets(order, server.sockets), folder.clone()))
    }

    fn settings(&self, plan: &ClusterPlan, tools: &Tools) -> Result<Vec<Fact>, Error> {
        let version = sql(plan, tools, "SELECT extversion FROM pg_extension WHERE extname = 'pgautofailover'")?;
        let mut facts = vec![
            replication::MANAGER.observed(format!("pg_auto_failover {}", version.trim()), "the monitor's extension"),
        ];
        let rows = sql(
            plan,
            tools,
            "SELECT json_object_agg(substr(name, 16), json_build_array(setting, current_setting(name))) FROM pg_settings WHERE name LIKE 'pgautofailover.%'",
        )?;
        let rows: Value = serde_json::from_str(rows.trim())
            .map_err(|error| Error::new(format!("failed to read the monitor's settings: {error}: {rows}")))?;
        for (name, value) in rows.as_object().into_iter().flatten() {
            let (plain, shown) = (text(&value[0]), text(&value[1]));
            let fact = replication::MANAGER_SETTING.of(name);
            facts.push(match plan.asked.settings.get(name) {
                Some(asked) => {
                    let holds = *asked == plain || *asked == shown;
                    fact.compared(asked.clone(), Some(shown), holds, "pg_settings of the monitor")
                }
                None => fact.observed(shown, "pg_settings of the monitor"),
            });
        }
        Ok(facts)
    }
}

fn first(plan: &ClusterPlan) -> Result<&NodePlan, Error> {
    plan.nodes.first().ok_or_else(|| Error::new("failed to run pg_auto_failover: there is no node"))
}

fn monitor_data(plan: &ClusterPlan) -> PathBuf {
    plan.arbiter.folder.with_file_name("data")
}

fn monitor(plan: &ClusterPlan) -> String {
    format!("postgres://{NODE_ACCOUNT}@127.0.0.1:{}/{MONITOR_DATABASE}", plan.arbiter.port)
}

/// Refuses a PostgreSQL without the monitor's extension, which a package has for one major version. Without `pg_config` nothing is known.
fn has_extension(programs: &Path) -> Result<(), Error> {
    let told = Command::new(programs.join("pg_config")).arg("--sharedir").output();
    let Some(shared) =
        told.ok().filter(|told| told.status.success()).and_then(|told| String::from_utf8(told.stdout).ok())
    else {
        return Ok(());
    };
    let control = Path::new(shared.trim()).join("extension/pgautofailover.control");
    if control.exists() {
        return Ok(());
    }
    Err(Error::refused(format!(
        "the PostgreSQL in {} does not have pg_auto_failover's extension ({} is missing): install its package for this version (Debian, \
         Ubuntu: postgresql-NN-auto-failover), or set PATH so that a PostgreSQL that has it comes first",
        programs.display(),
        control.display()
    )))
}

/// Asks the monitor by its private socket.
fn sql(plan: &ClusterPlan, tools: &Tools, statement: &str) -> Result<String, Error> {
    let (server, port) = (&first(plan)?.server, plan.arbiter.port.to_string());
    let program = server.programs.join("psql");
    let arguments =
        ["-X", "-A", "-t", "-q", "-w", "-v", "ON_ERROR_STOP=1", "-p", &port, "-d", MONITOR_DATABASE, "-c", statement];
    let asked = command(program, &plan.arbiter.folder, Path::new(&server.programs), &arguments);
    tools
        .run(&beside_sockets(asked, server.sockets), &plan.arbiter.folder, PATIENCE)
        .map_err(|error| error.context("failed to query the monitor"))
}

/// The environment by which the socket of a server is put into a folder, and found there.
fn beside_sockets(mut command: CommandLine, sockets: &str) -> CommandLine {
    for name in ["PG_REGRESS_SOCK_DIR", "PGHOST"] {
        command.environment.push((name.to_owned(), sockets.to_owned()));
    }
    command
}

fn view_of(rows: &Value, plan: &ClusterPlan) -> ClusterView {
    let is = |row: &Value, states: &[&str]| {
        row["reported"] == row["assigned"] && states.iter().any(|state| row["reported"] == *state)
    };
    let rows: Vec<&Value> = rows.as_array().into_iter().flatten().collect();
    let leads = |row: &&&Value| is(row, &["single", "wait_primary", "primary", "join_primary"]);
    let leader = rows.iter().find(leads).map(|row| text(&row["name"]));
    let followers = rows.iter().filter(|row| is(row, &["secondary"])).count();
    ClusterView { is_protected: leader.is_some() && followers + 1 >= plan.nodes.len(), leader }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_postgresql_without_the_extension_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        has_extension(folder.path()).expect("without pg_config nothing is known");
        let told = folder.path().join("pg_config");
        std::fs::write(&told, format!("#!/bin/sh\necho {}\n", folder.path().display())).expect("a file");
        std::fs::set_permissions(&told, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
        let error = has_extension(folder.path()).unwrap_err().to_string();
        assert!(error.contains("does not have pg_auto_failover's extension"), "{error}");
        std::fs::create_dir(folder.path().join("extension")).expect("a folder");
        std::fs::write(folder.path().join("extension/pgautofailover.control"), "").expect("a file");
        has_extension(folder.path()).expect("it is there");
    }
}

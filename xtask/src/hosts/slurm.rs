//! A real Slurm of one node: its controller and its daemon under our own configuration, and a load that `srun` starts.

use super::processes::{Daemons, found, output_of, text, until};
use super::program::Program;
use super::run::{Found, case};
use crate::work_folder::WorkFolder;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// How long its daemons may take until the node is idle.
const PATIENCE: Duration = Duration::from_secs(60);

/// Ports of the controller and of the daemon, beside those that an installed Slurm has.
const PORTS: (u16, u16) = (16_817, 16_818);

/// Runs the cases.
pub(super) fn run(program: &Path) -> Result<(), String> {
    let folder = WorkFolder::below(Path::new("/var/tmp"), "proofload-hosts-slurm-")?;
    let node = output_of(&["hostname", "-s"])?.trim().to_owned();
    let cluster = SlurmCluster::start(&folder, &node)?;
    let program = Program {
        path: program,
        folder: &folder,
        environment: vec![("SLURM_CONF".to_owned(), cluster.settings.clone())],
    };
    folder.write("slurm.toml", &study("slurm", &node, program.path, "4s"))?;
    folder.write("cancel.toml", &study("cancel", &node, program.path, "30s"))?;
    case("agents are asked before a run", || {
        let told = program.ended(&["agents", "slurm.toml"])?;
        Ok(text(&told.stdout).lines().next().unwrap_or_default().to_owned())
    })?;
    case("a load that srun starts", || load(&program, &node))?;
    case("a job that is cancelled in the window", || cancelled(&program, &cluster, &node))?;
    let left = found(&format!("{} agent", program.path.display()));
    if left.is_empty() { Ok(()) } else { Err(format!("processes are left: {left:?}")) }
}

/// The daemons, ended when this is dropped.
struct SlurmCluster {
    settings: String,
    _running: Daemons,
}

impl SlurmCluster {
    fn start(folder: &WorkFolder, node: &str) -> Result<Self, String> {
        let here = folder.here().display().to_string();
        for name in ["state", "spool", "munge"] {
            std::fs::create_dir(folder.path(name)).map_err(|error| format!("making {name}: {error}"))?;
        }
        let mut running = Daemons::default();
        // A key that no other installation has.
        folder.write("munge/key", &output_of(&["head", "-c", "64", "/proc/sys/kernel/random/uuid"])?.repeat(2))?;
        let mut munge = Command::new("munged");
        munge.args(["--foreground", "--force", "--num-threads=2"]).args(
            ["key-file=key", "socket=socket", "pid-file=pid", "seed-file=seed"].map(|pair| {
                let (option, file) = pair.split_once('=').unwrap_or_default();
                format!("--{option}={here}/munge/{file}")
            }),
        );
        running.start(&mut munge, &folder.path("munged.log"))?;
        let socket = folder.path("munge/socket");
        until("munged listens", PATIENCE, || socket.exists())?;
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let text = format!(
            "ClusterName=proofload\nSlurmctldHost={node}(127.0.0.1)\nSlurmctldPort={}\nSlurmdPort={}\nSlurmUser=root\nAuthType=auth/munge\n\
             AuthInfo=socket={here}/munge/socket\nCredType=cred/munge\nStateSaveLocation={here}/state\nSlurmdSpoolDir={here}/spool\n\
             SlurmctldPidFile={here}/slurmctld.pid\nSlurmdPidFile={here}/slurmd.pid\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n\
             MailProg=/bin/true\nReturnToService=2\nNodeName={node} NodeAddr=127.0.0.1 CPUs={cores}\n\
             PartitionName=all Nodes={node} Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE\n",
            PORTS.0, PORTS.1
        );
        let settings = folder.write("slurm.conf", &text)?.display().to_string();
        for daemon in ["slurmctld", "slurmd"] {
            let mut command = Command::new(daemon);
            command.args(["-D", "-f", &settings]);
            running.start(&mut command, &folder.path(&format!("{daemon}.log")))?;
        }
        let cluster = Self { settings, _running: running };
        let idle = until("the node is idle", PATIENCE, || {
            cluster.ask(&["sinfo", "-h", "-o", "%T"]).is_ok_and(|told| told.trim() == "idle")
        });
        idle.map_err(|error| {
            let log = |name: &str| std::fs::read_to_string(folder.path(name)).unwrap_or_default();
            format!("{error}\n{}{}{}", log("munged.log"), log("slurmctld.log"), log("slurmd.log"))
        })?;
        Ok(cluster)
    }

    /// Asks the cluster.
    fn ask(&self, words: &[&str]) -> Result<String, String> {
        let setting = format!("SLURM_CONF={}", self.settings);
        output_of(&[&["env", &setting], words].concat())
    }
}

fn study(name: &str, node: &str, program: &Path, measure: &str) -> String {
    format!(
        r#"
[study]
name = "{name}"
title = "A load by Slurm"
[workload]
kind = "ycsb"
mix = "b"
records = 1000
virtual_users = 4
rate = 2000
[engine]
kind = "null"
[storage]
path = "data"
[agents]
load_hosts = ["{node}"]
load = ["srun", "--quiet", "--nodes=1", "--ntasks=1", "--unbuffered", "--nodelist={{host}}", "{}", "agent"]
[procedure]
warm_up = {{ at_least = "1s", at_most = "3s", round = "1s", tolerance = 0.5 }}
measure = "{measure}"
drift_tolerance = 1.0
"#,
        program.display()
    )
}

fn load(program: &Program<'_>, node: &str) -> Found {
    program.ended(&["run", "slurm.toml", "--no-report"])?;
    let checks = program.table("slurm.proof", "checks")?;
    let failed = checks.iter().find(|check| check["outcome"] == "failed" && check["group"] != "inputs");
    match failed {
        Some(check) => Err(format!("a check failed: {check}")),
        None => Ok(format!("{} checks on {node}", checks.len())),
    }
}

fn cancelled(program: &Program<'_>, cluster: &SlurmCluster, node: &str) -> Found {
    let run = program.until_it_measures("cancel")?;
    cluster.ask(&["scancel", "--nodelist", node])?;
    let noticed = run.until_it_fails(PATIENCE, "agent was lost")?;
    program.ended(&["resume", "cancel.proof", "--no-report"])?;
    Ok(format!("noticed after {:.1} s, and repeated by another job", noticed.as_secs_f64()))
}

//! A file system on a device and a PostgreSQL in it, for tests that kill what lies under them.

use super::{Bench, kill, text};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// A mounted file system, until it is dropped.
pub(crate) struct Mounted(PathBuf);

/// Mounts a device, with a new ext4 on it if asked for.
#[track_caller]
pub(crate) fn mounted_file_system(device: &Path, folder: &Path, is_new: bool) -> Mounted {
    if is_new {
        expect_good(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(device));
    }
    mounted_with(device, folder, "defaults")
}

/// Mounts a device with these options.
#[track_caller]
pub(crate) fn mounted_with(device: &Path, folder: &Path, options: &str) -> Mounted {
    expect_good(Command::new("mount").args(["-o", options]).arg(device).arg(folder));
    Mounted(folder.to_owned())
}

impl Mounted {
    /// Unmounts, as soon as its last user has ended: a killed server's processes first end the flush that they are in.
    #[track_caller]
    pub(crate) fn end(self) {
        for _ in 0..3_600 {
            let ended = Command::new("umount").arg(&self.0).stderr(Stdio::null()).status();
            if ended.is_ok_and(|status| status.success()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{} is still in use after 180 s", self.0.display());
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ended = Command::new("umount").args(["-l", "-q"]).arg(&self.0).stderr(Stdio::null()).status();
    }
}

/// A folder with volumes: what a failed test left of it is released when it is dropped.
pub(crate) struct Swept(pub(crate) PathBuf);

impl Drop for Swept {
    fn drop(&mut self) {
        let said = Command::new("losetup").args(["-n", "-l", "-O", "NAME,BACK-FILE"]).output();
        for line in text(&said.map(|output| output.stdout).unwrap_or_default()).lines() {
            if let Some((node, _)) =
                line.split_once(' ').filter(|(_, file)| Path::new(file.trim()).starts_with(&self.0))
            {
                let _released = Command::new("losetup").args(["-d", node]).status();
            }
        }
        let _unmounted = Command::new("umount").args(["-l", "-q"]).arg(&self.0).stderr(Stdio::null()).status();
    }
}

/// A command that must succeed; returns what it said.
#[track_caller]
pub(crate) fn expect_good(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().expect("it is installed");
    assert!(output.status.success(), "{command:?}: {}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// A running PostgreSQL of the user `postgres`, without a network.
pub(crate) struct Postgresql {
    programs: PathBuf,
    data: PathBuf,
    socket: PathBuf,
    postmaster: u32,
}

impl Postgresql {
    /// Starts one; a new one gets its data folder with checksums of pages, and the tables of pgbench.
    #[track_caller]
    pub(crate) fn start(bench: &Bench, data: &Path, is_new: bool) -> Self {
        let socket = bench.path("sockets");
        std::fs::create_dir_all(&socket).expect("the folder takes one");
        let programs = programs();
        let mut database = Self { programs, data: data.to_owned(), socket, postmaster: 0 };
        if is_new {
            std::fs::create_dir(data).expect("the file system takes one");
            expect_good(Command::new("chown").arg("postgres").arg(data).arg(&database.socket));
            expect_good(database.program("initdb").arg("-D").arg(data).args(["--data-checksums", "-A", "trust"]));
        }
        // The number of a process that was killed may still be taken; that it has ended, the unmount has shown.
        let locks = [data.join("postmaster.pid"), database.socket.join(".s.PGSQL.5432.lock")];
        locks.iter().for_each(|lock| drop(std::fs::remove_file(lock)));
        let log = database.socket.join("log");
        let options = format!("-c listen_addresses='' -c unix_socket_directories='{}'", database.socket.display());
        let mut start = database.program("pg_ctl");
        start.arg("-D").arg(data).args(["start", "-w", "-t", "240", "-s", "-o", &options, "-l"]).arg(&log);
        // Its output goes to the log: a pipe would stay open with the server.
        let started = start.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        let said = || std::fs::read_to_string(&log).unwrap_or_default();
        assert!(started.is_ok_and(|status| status.success()), "{}", said());
        let about = std::fs::read_to_string(data.join("postmaster.pid")).expect("it runs");
        database.postmaster = about.lines().next().and_then(|line| line.parse().ok()).expect("a number");
        if is_new {
            expect_good(database.client("pgbench").args(["-i", "-q", "-s", "2", "postgres"]));
            database.ask("create extension amcheck; create table acknowledged (n bigint primary key)");
        }
        database
    }

    /// A program of PostgreSQL, as its user.
    fn program(&self, name: &str) -> Command {
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--"]).arg(self.programs.join(name)).current_dir("/tmp");
        command
    }

    fn client(&self, name: &str) -> Command {
        let mut command = self.program(name);
        command.arg("-h").arg(&self.socket);
        command
    }

    #[track_caller]
    fn ask(&self, statement: &str) -> String {
        expect_good(self.client("psql").args([
            "-X",
            "-q",
            "-A",
            "-t",
            "-v",
            "ON_ERROR_STOP=1",
            "-c",
            statement,
            "postgres",
        ]))
    }

    /// Asks whether everything that was acknowledged is there, sums are kept, and indexes fit their tables.
    #[track_caller]
    pub(crate) fn audit(&self, acknowledged: u64) {
        let lost = self.ask(&format!(
            "select count(*) from generate_series(1, {acknowledged}) n where not exists (select from acknowledged a where a.n = n)"
        ));
        assert_eq!(lost.trim(), "0", "of {acknowledged} acknowledged inserts");
        let sums = self.ask(
            "select (select sum(abalance) from pgbench_accounts), (select sum(tbalance) from pgbench_tellers), \
             (select sum(bbalance) from pgbench_branches), (select coalesce(sum(delta), 0) from pgbench_history)",
        );
        let sums: Vec<&str> = sums.trim().split('|').collect();
        assert!(sums.len() == 4 && sums.iter().all(|sum| *sum == sums[0]), "{sums:?}");
        expect_good(self.client("pg_amcheck").args(["--heapallindexed", "-d", "postgres"]));
    }

    /// A load that runs until its server is gone.
    pub(crate) fn load(&self) -> Child {
        let mut command = self.client("pgbench");
        command.args(["-n", "-c", "4", "-j", "2", "-T", "600", "postgres"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it is installed")
    }

    /// Inserts one number after the other; returns the last one that the server has acknowledged.
    pub(crate) fn insert_until_it_fails(&self, from: u64) -> u64 {
        let mut command = self.client("psql");
        command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "postgres"]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("psql");
        let mut asks = child.stdin.take().expect("it is piped");
        let mut answers = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let mut last = from;
        loop {
            let next = last + 1;
            let asked =
                writeln!(asks, "insert into acknowledged values ({next}) returning n;").and_then(|()| asks.flush());
            match answers.next() {
                Some(Ok(line)) if asked.is_ok() && line == next.to_string() => last = next,
                _ => break,
            }
        }
        drop(asks);
        let _ended = child.wait();
        last
    }

    /// Kills it without warning; its processes follow their first.
    pub(crate) fn kill(self) {
        kill(self.postmaster);
    }

    /// Stops it, and compares every page with its checksum.
    #[track_caller]
    pub(crate) fn stop_and_check_pages(self) {
        expect_good(self.program("pg_ctl").arg("-D").arg(&self.data).args(["stop", "-w", "-m", "fast", "-s"]));
        let said = expect_good(self.program("pg_checksums").arg("--check").arg("-D").arg(&self.data));
        assert!(said.contains("Bad checksums:  0"), "{said}");
    }
}

/// The folder of the server programs.
fn programs() -> PathBuf {
    let output: Output = Command::new("pg_config").arg("--bindir").output().expect("PostgreSQL is installed");
    let named = PathBuf::from(text(&output.stdout).trim());
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let others = versions.map(|entry| entry.path().join("bin"));
    [named].into_iter().chain(others).find(|folder| folder.join("initdb").exists()).expect("PostgreSQL is installed")
}

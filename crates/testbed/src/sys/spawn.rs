//! Starts a program in its place: control group, cores, user and signal at our death are set before it runs its first instruction.

use super::affinity::set_of;
use proofload_model::error::Error;
use rustix::process::{Gid, Signal, Uid};
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// What to start and where.
pub(crate) struct Spawn<'a> {
    /// Program.
    pub(crate) program: &'a Path,
    /// Arguments.
    pub(crate) arguments: &'a [String],
    /// Environment variables to set beside our own.
    pub(crate) environment: &'a [(String, String)],
    /// Folder to work in.
    pub(crate) folder: &'a Path,
    /// Takes both output streams.
    pub(crate) log: &'a File,
    /// Lists of processes (`cgroup.procs`) to enter, open for writing by one who may.
    pub(crate) groups: Vec<File>,
    /// Cores to run on.
    pub(crate) cores: Option<Vec<usize>>,
    /// User and group to become.
    pub(crate) user: Option<(u32, u32)>,
    /// Signal that the kernel sends it when the calling *thread* ends, on which the whole process may have ended.
    pub(crate) at_our_death: i32,
}

/// Starts it, as the head of a process group of its own. The calling thread must live as long as the child should.
#[expect(unsafe_code, reason = "the standard library has no safe way to act between fork and exec")]
pub(crate) fn spawn(spawn: Spawn<'_>) -> Result<Child, Error> {
    let failed = |error: String| Error::new(format!("failed to start {}: {error}", spawn.program.display()));
    let log = || spawn.log.try_clone().map_err(|error| failed(error.to_string()));
    let mut command = Command::new(spawn.program);
    command.args(spawn.arguments).current_dir(spawn.folder).process_group(0);
    command.envs(spawn.environment.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(log()?).stderr(log()?);
    let set = spawn.cores.as_deref().map(set_of);
    let death = Signal::from_named_raw(spawn.at_our_death);
    let (groups, user) = (spawn.groups, spawn.user);
    let parent = rustix::process::getpid();
    let prepare = move || {
        for list in &groups {
            // "0" stands for the process that writes.
            rustix::io::write(list, b"0")?;
        }
        if let Some(set) = &set {
            rustix::thread::sched_setaffinity(None, set)?;
        }
        if let Some((user, group)) = user {
            let group = Gid::from_raw(group);
            rustix::thread::set_thread_groups(&[group])?;
            rustix::thread::set_thread_gid(group)?;
            rustix::thread::set_thread_uid(Uid::from_raw(user))?;
        }
        // After the change of user, which clears it.
        rustix::process::set_parent_process_death_signal(death)?;
        if rustix::process::getppid() != Some(parent) {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        }
        Ok(())
    };
    // SAFETY: between fork and exec the closure makes direct system calls on values made before the fork. It takes no lock,
    // allocates nothing and touches no thread-local state: `rustix` goes to the kernel without the C library.
    unsafe { command.pre_exec(prepare) };
    command.spawn().map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek};

    /// Runs a shell line and hands back what it printed.
    fn said(line: &str, cores: Option<Vec<usize>>, user: Option<(u32, u32)>) -> String {
        let mut log = tempfile::tempfile().unwrap();
        let mut child = spawn(Spawn {
            program: Path::new("/bin/sh"),
            arguments: &["-c".to_owned(), line.to_owned()],
            environment: &[("GREETING".to_owned(), "hello".to_owned())],
            folder: Path::new("/"),
            log: &log,
            groups: Vec::new(),
            cores,
            user,
            at_our_death: 9,
        })
        .unwrap();
        assert!(child.wait().unwrap().success());
        log.rewind().unwrap();
        let mut text = String::new();
        log.read_to_string(&mut text).unwrap();
        text.trim().to_owned()
    }

    #[test]
    fn a_child_is_born_in_its_place() {
        assert_eq!(said("echo $GREETING; pwd", None, None), "hello\n/");
        let last = *super::super::allowed_cores(None).unwrap().last().unwrap();
        assert_eq!(
            said("grep Cpus_allowed_list /proc/self/status | cut -f2", Some(vec![last]), None),
            last.to_string()
        );
        if super::super::is_root() {
            assert_eq!(said("id -u; id -g; id -G", None, Some((65534, 65534))), "65534\n65534\n65534");
        } else {
            println!("SKIPPED: a_child_is_born_in_its_place: only root can start programs as another user");
        }
    }

    #[test]
    fn a_child_dies_with_the_thread_that_started_it() {
        let child = std::thread::spawn(|| {
            let log = tempfile::tempfile().unwrap();
            spawn(Spawn {
                program: Path::new("/bin/sleep"),
                arguments: &["60".to_owned()],
                environment: &[],
                folder: Path::new("/"),
                log: &log,
                groups: Vec::new(),
                cores: None,
                user: None,
                at_our_death: 15,
            })
            .unwrap()
        });
        let status = child.join().unwrap().wait().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(15));
    }
}

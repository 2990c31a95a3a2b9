//! All limits of one agent together: applied, joined, verified, lifted, and gone at the end.

use super::LIMITS;
use super::group::Group;
use super::hierarchy::{Hierarchy, Version};
use super::limit::Fence;
use proofload_model::error::Error;
use proofload_model::samples::Fact;
use proofload_model::units::Bytes;
use proofload_model::wire::LimitsAsked;
use std::fs::File;

/// Limits in place. Dropping them lifts them and removes the control group; processes that still run go on without limits.
#[derive(Debug, Default)]
pub(crate) struct Enclosure {
    fence: Fence,
}

impl Enclosure {
    /// Puts limits in place, empty. Where the kernel allows, there is a control group also without a memory limit, so that use is counted
    /// and nothing of an instance gets away.
    pub(crate) fn prepare(asked: LimitsAsked) -> Result<Self, Error> {
        let made = match Hierarchy::find() {
            Some(hierarchy) => Group::create(hierarchy),
            None => Err(Error::new("this kernel has no memory controller in any mounted control group")),
        };
        let (group, no_group) = match made {
            Ok(group) => (Some(group), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let mut enclosure = Self { fence: Fence { asked, group, no_group, ..Fence::default() } };
        for limit in LIMITS {
            limit.apply(&mut enclosure.fence).map_err(|error| error.context(format!("apply {}", limit.setting())))?;
        }
        Ok(enclosure)
    }

    /// Puts a running process with all its threads under the limits.
    pub(crate) fn join(&mut self, process: u32) -> Result<(), Error> {
        for limit in LIMITS {
            limit.join(&self.fence, process)?;
        }
        self.fence.members.push(process);
        Ok(())
    }

    /// What a process needs to be born under the limits: lists to enter, cores.
    pub(crate) fn entrance(&self) -> Result<(Vec<File>, Option<Vec<usize>>), Error> {
        let groups = self.fence.group.iter().map(Group::entrance).collect::<Result<_, _>>()?;
        Ok((groups, self.fence.cores.clone()))
    }

    /// Remembers a process that was born under the limits.
    pub(crate) fn born(&mut self, process: u32) {
        self.fence.members.push(process);
    }

    /// Facts, requested and effective, of every limit that was asked for.
    pub(crate) fn verify(&self) -> Vec<Fact> {
        let mut facts: Vec<Fact> = LIMITS.iter().flat_map(|limit| limit.verify(&self.fence)).collect();
        let group = match (&self.fence.group, &self.fence.no_group) {
            (Some(group), _) => group.folder().display().to_string(),
            (None, why) => format!("none: {}", why.as_deref().unwrap_or("not asked for")),
        };
        facts.push(Fact::observed("limit", "group", group, "/proc/self/mountinfo, /proc/self/cgroup"));
        facts
    }

    /// Facts of use up to now.
    pub(crate) fn usage(&self) -> Vec<Fact> {
        LIMITS.iter().flat_map(|limit| limit.usage(&self.fence)).collect()
    }

    /// The control group, for those who watch it.
    pub(crate) const fn group(&self) -> Option<&Group> {
        self.fence.group.as_ref()
    }

    /// The cores, for those who watch them.
    pub(crate) const fn cores(&self) -> Option<&Vec<usize>> {
        self.fence.cores.as_ref()
    }

    /// Lifts every limit; processes go on. The group stays while it has members.
    pub(crate) fn lift(&mut self) -> Result<(), Error> {
        if self.fence.is_lifted {
            return Ok(());
        }
        let lifted: Vec<Result<(), Error>> = LIMITS
            .iter()
            .map(|limit| limit.lift(&self.fence).map_err(|error| error.context(format!("lift {}", limit.setting()))))
            .collect();
        self.fence.is_lifted = true;
        if self.fence.group.as_ref().is_some_and(Group::remove) {
            self.fence.group = None;
        }
        lifted.into_iter().collect()
    }
}

/// Makes a group with a memory limit, reads the limit back and removes the group; answers with the version of control groups.
///
/// # Errors
/// What stands in the way.
pub(crate) fn try_memory() -> Result<&'static str, Error> {
    let hierarchy =
        Hierarchy::find().ok_or_else(|| Error::new("no mounted control group has the memory controller"))?;
    let version = hierarchy.version;
    // A group of this process may be in use by an agent in it; the trial has a group of its own.
    let group = Group::create_trial(hierarchy)?;
    let asked = LimitsAsked { memory: Some(Bytes::mebi(64)), cores: None };
    let mut trial = Enclosure { fence: Fence { asked, group: Some(group), ..Fence::default() } };
    for limit in LIMITS {
        limit.apply(&mut trial.fence)?;
    }
    match trial.verify().into_iter().find(|fact| fact.holds == Some(false)) {
        Some(fact) => Err(Error::new(format!(
            "{} is {} where {} was asked for, says {}",
            fact.name,
            fact.effective.as_deref().unwrap_or("not readable"),
            fact.requested.as_deref().unwrap_or("nothing"),
            fact.source
        ))),
        None if version == Version::One => Ok("version 1"),
        None => Ok("version 2"),
    }
}

impl Drop for Enclosure {
    fn drop(&mut self) {
        let _as_far_as_it_goes = self.lift();
        if let Some(group) = &self.fence.group {
            group.dissolve();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::usage;
    use crate::sys;
    use std::process::{Child, Command, Stdio};
    use std::sync::{Mutex, MutexGuard, PoisonError};

    /// One at a time: the group is named after the process.
    static ALONE: Mutex<()> = Mutex::new(());

    /// Limits, or none and a visible word where this machine does not allow them.
    fn enclose(asked: LimitsAsked) -> Option<(MutexGuard<'static, ()>, Enclosure)> {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let group =
            Hierarchy::find().is_some_and(|hierarchy| Group::create(hierarchy).is_ok_and(|group| group.remove()));
        if !group && asked.memory.is_some() {
            println!("SKIPPED: no right to make control groups here");
            return None;
        }
        Some((alone, Enclosure::prepare(asked).unwrap()))
    }

    fn sleeper() -> Child {
        Command::new("sleep").arg("60").spawn().unwrap()
    }

    fn end(mut child: Child) {
        child.kill().unwrap();
        child.wait().unwrap();
    }

    fn holds(facts: &[Fact]) -> Vec<(&str, Option<&str>, Option<bool>)> {
        let asked = facts.iter().filter(|fact| fact.requested.is_some());
        asked.map(|fact| (fact.name.as_str(), fact.effective.as_deref(), fact.holds)).collect()
    }

    #[test]
    fn limits_hold_for_who_joins_and_are_lifted_from_who_goes_on() {
        let asked = LimitsAsked { memory: Some(Bytes::mebi(64)), cores: Some(1) };
        let Some((_alone, mut enclosure)) = enclose(asked) else { return };
        let child = sleeper();
        let before = sys::allowed_cores(Some(child.id())).unwrap();
        enclosure.join(child.id()).unwrap();
        let facts = enclosure.verify();
        let core = before[0];
        let cores = format!("1 ({core})");
        let expected = [
            ("memory.max", Some("64MiB"), Some(true)),
            ("memory.swap.max", Some("0B"), Some(true)),
            ("memory.members", Some("1 inside, 0 outside"), Some(true)),
            ("cores", Some(cores.as_str()), Some(true)),
        ];
        assert_eq!(holds(&facts), expected);
        let folder = enclosure.group().unwrap().folder().to_owned();
        enclosure.lift().unwrap();
        assert_eq!(sys::allowed_cores(Some(child.id())).unwrap(), before);
        assert!(!enclosure.verify().iter().any(|fact| fact.name == "memory.max" && fact.holds == Some(true)));
        assert!(sys::is_running(child.id()), "it goes on");
        drop(enclosure);
        assert!(sys::is_running(child.id()) && !folder.exists(), "the group is gone, the process is not");
        end(child);
    }

    #[test]
    fn a_process_that_never_joined_and_a_changed_limit_are_noticed() {
        let Some((_alone, mut enclosure)) = enclose(LimitsAsked { memory: Some(Bytes::mebi(64)), cores: None }) else {
            return;
        };
        let outside = sleeper();
        enclosure.born(outside.id());
        assert_eq!(holds(&enclosure.verify())[2], ("memory.members", Some("0 inside, 1 outside"), Some(false)));
        enclosure.join(outside.id()).unwrap();
        assert_eq!(holds(&enclosure.verify())[2].2, Some(true));
        let group = enclosure.group().unwrap();
        let file = if group.has("memory.max") { "memory.max" } else { "memory.memsw.limit_in_bytes" };
        group.write(file, &(128 << 20).to_string()).unwrap();
        assert!(
            holds(&enclosure.verify())
                .iter()
                .any(|(name, _, holds)| name.starts_with("memory.") && *holds == Some(false))
        );
        end(outside);
    }

    #[test]
    fn who_takes_more_is_killed_and_the_kill_is_counted() {
        let Some((_alone, mut enclosure)) = enclose(LimitsAsked { memory: Some(Bytes::mebi(32)), cores: None }) else {
            return;
        };
        // Waits for a line, then keeps 256 MiB in memory, because tail must find the last line.
        let line = "read _; head -c 268435456 /dev/zero | tail";
        let mut child =
            Command::new("sh").args(["-c", line]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        enclosure.join(child.id()).unwrap();
        drop(child.stdin.take());
        assert!(!child.wait().unwrap().success());
        assert!(usage::kills(enclosure.group().unwrap()) > Some(0));
        let peak = enclosure.usage().into_iter().find(|fact| fact.name == "memory.peak").unwrap();
        let peak = Bytes::parse(&peak.effective.unwrap()).unwrap();
        assert!(peak > Bytes::mebi(16) && peak <= Bytes::mebi(32), "peak {peak}");
        let hits = enclosure.usage().into_iter().find(|fact| fact.name == "memory.limit_hits");
        assert!(
            hits.is_none_or(|hits| hits.effective.as_deref() != Some("0")),
            "a group at its limit is not said never to be"
        );
    }

    #[test]
    fn a_trial_leaves_nothing_behind() {
        let Some((_alone, enclosure)) = enclose(LimitsAsked { memory: Some(Bytes::mebi(64)), cores: None }) else {
            return;
        };
        assert!(["version 1", "version 2"].contains(&try_memory().unwrap()));
        let beside = std::fs::read_dir(enclosure.group().unwrap().folder().parent().unwrap()).unwrap();
        let ours = format!("proofload-{}-", std::process::id());
        let left = beside.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(&ours)).count();
        assert_eq!(left, 1, "the group in use, and no other");
    }

    #[test]
    fn more_cores_than_there_are_is_refused_with_their_number() {
        let Some((_alone, enclosure)) = enclose(LimitsAsked { memory: None, cores: Some(1) }) else { return };
        drop(enclosure);
        let error = Enclosure::prepare(LimitsAsked { memory: None, cores: Some(100_000) }).unwrap_err().to_string();
        assert!(error.contains("limits.cores") && error.contains("this agent may use"), "{error}");
    }

    #[test]
    fn groups_of_dead_owners_are_swept_with_what_lives_in_them() {
        let Some((_alone, enclosure)) = enclose(LimitsAsked { memory: Some(Bytes::mebi(64)), cores: None }) else {
            return;
        };
        let ours = enclosure.group().unwrap();
        let orphan = ours.folder().with_file_name("proofload-4194304000-7");
        std::fs::create_dir(&orphan).unwrap();
        let mut child = sleeper();
        std::fs::write(orphan.join("cgroup.procs"), child.id().to_string()).unwrap();
        let (removed, kept) = super::super::orphans();
        assert!(removed.contains(&orphan) && !orphan.exists(), "{removed:?} {kept:?}");
        assert!(ours.folder().exists(), "ours lives");
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&child.wait().unwrap()), Some(9));
    }
}

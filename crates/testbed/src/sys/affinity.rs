//! Which cores threads may run on. May not decide which.

use proofload_model::error::Error;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Cores that a thread may run on, ascending; of the calling thread when none is named.
pub(crate) fn allowed_cores(thread: Option<u32>) -> Result<Vec<usize>, Error> {
    let set = sched_getaffinity(thread.map(number).transpose()?)
        .map_err(|error| Error::new(format!("failed to read the cores of thread {thread:?}: {error}")))?;
    Ok((0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).collect())
}

/// Lets a thread run on these cores only.
pub(crate) fn restrict(thread: u32, cores: &[usize]) -> Result<(), Error> {
    sched_setaffinity(Some(number(thread)?), &set_of(cores))
        .map_err(|error| Error::new(format!("failed to restrict thread {thread} to cores {cores:?}: {error}")))
}

/// A set of cores as the kernel takes it; numbers beyond its size are left out.
pub(super) fn set_of(cores: &[usize]) -> CpuSet {
    let mut set = CpuSet::new();
    for core in cores.iter().filter(|core| **core < CpuSet::MAX_CPU) {
        set.set(*core);
    }
    set
}

fn number(thread: u32) -> Result<Pid, Error> {
    let number = i32::try_from(thread).ok().and_then(Pid::from_raw);
    number.ok_or_else(|| Error::new(format!("{thread} is no thread's number")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restricted_process_says_so_itself() {
        let mine = allowed_cores(None).unwrap();
        let last = mine[mine.len() - 1];
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        restrict(child.id(), &[last]).unwrap();
        assert_eq!(allowed_cores(Some(child.id())).unwrap(), [last]);
        assert!(restrict(child.id(), &[]).is_err(), "no core at all");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(allowed_cores(Some(0)).is_err());
    }
}

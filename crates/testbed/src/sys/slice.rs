//! How long a thread keeps a core before another may have it: under EEVDF a thread with a shorter slice that wakes up need not wait until
//! one with a longer slice has used its own up. It gets no more time than its share. May not decide for which threads.
//! Source: sched_setattr(2); Linux 6.12, kernel/sched/syscalls.c and the feature `PREEMPT_SHORT` of kernel/sched/features.h.

use proofload_model::error::Error;
use std::mem::size_of;
use std::time::Duration;

/// Size of the kernel's `sched_attr`.
const SIZE: u32 = size_of::<libc::sched_attr>() as u32;

/// The slice of a thread of the usual policy; `None` where the kernel does not say (before Linux 6.12).
pub(crate) fn slice(thread: u32) -> Result<Option<Duration>, Error> {
    let attributes = read(thread)?;
    let usual = attributes.sched_policy == libc::SCHED_OTHER as u32 && attributes.sched_runtime > 0;
    Ok(usual.then(|| Duration::from_nanos(attributes.sched_runtime)))
}

/// Asks for a slice; `None` for the kernel's own. Changes neither policy nor nice value. Kernels before Linux 6.12 take it and do nothing.
pub(crate) fn set_slice(thread: u32, slice: Option<Duration>) -> Result<(), Error> {
    let mut attributes = read(thread)?;
    if attributes.sched_policy != libc::SCHED_OTHER as u32 {
        return Ok(());
    }
    attributes.size = SIZE;
    attributes.sched_runtime = slice.map_or(0, |slice| u64::try_from(slice.as_nanos()).unwrap_or(u64::MAX));
    write(thread, &attributes)
}

/// Gives a thread real-time priority, the lowest there is: it runs before every thread of the usual policy, and what it starts does not.
pub(crate) fn set_real_time(thread: u32) -> Result<(), Error> {
    let mut attributes = read(thread)?;
    attributes.size = SIZE;
    attributes.sched_policy = libc::SCHED_FIFO as u32;
    attributes.sched_flags = libc::SCHED_FLAG_RESET_ON_FORK as u64;
    (attributes.sched_nice, attributes.sched_priority, attributes.sched_runtime) = (0, 1, 0);
    write(thread, &attributes)
}

fn write(thread: u32, attributes: &libc::sched_attr) -> Result<(), Error> {
    // SAFETY: the kernel reads `size` bytes from a structure of that size, which lives until the call returns.
    #[expect(unsafe_code, reason = "neither the standard library nor rustix wraps sched_setattr")]
    let answer = unsafe { libc::syscall(libc::SYS_sched_setattr, thread, std::ptr::from_ref(attributes), 0) };
    done(answer, "set", thread)
}

/// Number of the calling thread.
pub(crate) fn this_thread() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()
}

fn read(thread: u32) -> Result<libc::sched_attr, Error> {
    let mut attributes = libc::sched_attr {
        size: 0,
        sched_policy: 0,
        sched_flags: 0,
        sched_nice: 0,
        sched_priority: 0,
        sched_runtime: 0,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: the kernel writes at most `SIZE` bytes into a structure of that size, which lives until the call returns.
    #[expect(unsafe_code, reason = "neither the standard library nor rustix wraps sched_getattr")]
    let answer = unsafe { libc::syscall(libc::SYS_sched_getattr, thread, &raw mut attributes, SIZE, 0) };
    done(answer, "read", thread).map(|()| attributes)
}

fn done(answer: libc::c_long, what: &str, thread: u32) -> Result<(), Error> {
    if answer == 0 {
        return Ok(());
    }
    let error = std::io::Error::last_os_error();
    Err(Error::new(format!("failed to {what} the scheduling of thread {thread}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_has_the_slice_that_was_asked_for() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let usual = slice(child.id()).unwrap();
        let short = Duration::from_micros(100);
        set_slice(child.id(), Some(short)).unwrap();
        let shown = slice(child.id()).unwrap();
        set_slice(child.id(), None).unwrap();
        assert_eq!(slice(child.id()).unwrap(), usual);
        child.kill().unwrap();
        child.wait().unwrap();
        match usual {
            Some(_) => assert_eq!(shown, Some(short)),
            None => assert_eq!(shown, None, "a kernel before 6.12 says nothing"),
        }
        assert!(slice(u32::MAX).is_err() && set_slice(u32::MAX, None).is_err());
    }
}

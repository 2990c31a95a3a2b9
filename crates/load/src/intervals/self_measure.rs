//! Measurements of the load generator itself: CPU time of its threads, its memory. Reads `/proc`; where there is none,
//! nothing is measured.

/// Number of the calling thread in `/proc/self/task`.
pub(crate) fn this_thread() -> Option<u32> {
    let link = std::fs::read_link("/proc/thread-self").ok()?;
    link.file_name()?.to_str()?.parse().ok()
}

/// CPU time of a thread of this process so far, nanoseconds. Source: first field of `schedstat`, which counts in
/// nanoseconds.
pub(crate) fn thread_cpu_ns(thread: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")).ok()?;
    text.split_ascii_whitespace().next()?.parse().ok()
}

/// Resident memory of this process, bytes.
pub(crate) fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches("kB").trim().parse::<u64>().map_or(0, |kibibytes| kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_thread_has_used_some_time_and_memory() {
        let thread = this_thread().expect("tests run on Linux");
        let mut sum = 0u64;
        while thread_cpu_ns(thread).expect("the thread lives") == 0 {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(resident_bytes() > 100_000);
    }
}

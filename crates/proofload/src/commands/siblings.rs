//! Hyperthreads: which cores this process may use, and which of them are threads of one physical core. Tells nothing where the kernel does not.

use proofload_model::facts::CoreSet;
use std::ops::Range;

/// Numbers of the cores that this process may run on, in order; `None` where it cannot be read.
pub(super) fn allowed_cores() -> Option<Vec<usize>> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    cores_in(list)
}

/// Hyperthreads of the physical core of a core, itself included; empty where it cannot be read.
pub(super) fn siblings_of(core: usize) -> Vec<usize> {
    let file = format!("/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list");
    std::fs::read_to_string(file).ok().and_then(|list| cores_in(&list)).unwrap_or_default()
}

/// Reads a list of the kernel, such as `0-2,5`.
fn cores_in(list: &str) -> Option<Vec<usize>> {
    CoreSet::of_list(list).map(|cores| cores.0.into_iter().collect())
}

/// A core of the first so many and one of the so many behind them that are threads of one physical core.
pub(super) fn shared_core(
    allowed: &[usize],
    (first, behind): (u32, u32),
    siblings: &impl Fn(usize) -> Vec<usize>,
) -> Option<(usize, usize)> {
    let (first, behind) = (usize::try_from(first).ok()?, usize::try_from(behind).ok()?);
    let of = |range: Range<usize>| allowed.get(range).unwrap_or_default();
    let others = of(first..first.saturating_add(behind));
    of(0..first).iter().find_map(|core| {
        let threads = siblings(*core);
        others.iter().find(|other| threads.contains(other)).map(|other| (*core, *other))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_the_kernel_is_read() {
        assert_eq!(cores_in("\t0-2,5\n"), Some(vec![0, 1, 2, 5]));
        assert_eq!(cores_in("0,4"), Some(vec![0, 4]));
        assert_eq!(cores_in("none"), None);
    }

    #[test]
    fn hyperthreads_of_one_core_on_both_sides_are_found() {
        let neighbours = |core: usize| vec![core & !1, core | 1];
        let halves = |core: usize| vec![core % 4, core % 4 + 4];
        let allowed: Vec<usize> = (0..8).collect();
        assert_eq!(shared_core(&allowed, (2, 2), &neighbours), None);
        assert_eq!(shared_core(&allowed, (1, 1), &neighbours), Some((0, 1)));
        assert_eq!(shared_core(&allowed, (4, 4), &halves), Some((0, 4)));
        assert_eq!(shared_core(&allowed, (2, 2), &halves), None);
        assert_eq!(shared_core(&[0, 2, 4, 6], (1, 1), &neighbours), None, "one thread of each core");
        assert_eq!(shared_core(&allowed, (2, 2), &|_| Vec::new()), None, "the kernel tells nothing");
        assert_eq!(shared_core(&[0, 1], (2, 2), &neighbours), None, "there are too few");
    }
}

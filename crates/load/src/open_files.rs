//! Files that the sessions of a load may have open. May not lower what is allowed.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors of a session: its socket, and the same once more while it waits for room in it.
const OF_A_SESSION: u64 = 2;

/// Descriptors of all else that a load agent has open.
const OF_THE_REST: u64 = 512;

/// Raises the number of files that this process may have open to what so many sessions need, as far as its hard limit allows. Sessions
/// beyond that fail by themselves, and say so. A server that was started before keeps its own number.
pub(crate) fn allow_for(sessions: u32) {
    if let Some(raised) = raised(&getrlimit(Resource::Nofile), sessions) {
        let _refused = setrlimit(Resource::Nofile, raised);
    }
}

/// The limit that sessions need; `None` where they have enough.
fn raised(limit: &Rlimit, sessions: u32) -> Option<Rlimit> {
    let needed = u64::from(sessions) * OF_A_SESSION + OF_THE_REST;
    let wanted = limit.maximum.map_or(needed, |most| most.min(needed));
    let is_short = limit.current.is_some_and(|allowed| allowed < wanted);
    is_short.then_some(Rlimit { current: Some(wanted), maximum: limit.maximum })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_files_are_allowed_as_sessions_need_and_never_fewer() {
        let check = |current: Option<u64>, maximum: Option<u64>, sessions, expected: Option<u64>| {
            let found = raised(&Rlimit { current, maximum }, sessions);
            assert!(found.as_ref().is_none_or(|limit| limit.maximum == maximum));
            assert_eq!(found.and_then(|limit| limit.current), expected);
        };
        check(Some(1024), Some(524_288), 1000, Some(2512));
        check(Some(1024), None, 1000, Some(2512));
        check(Some(1024), Some(2000), 1000, Some(2000));
        check(Some(1024), Some(524_288), 100, None);
        check(Some(4096), Some(4096), 10_000, None);
        check(None, None, 10_000, None);
    }
}

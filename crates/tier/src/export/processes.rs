//! Whether a process lives, by number and start: numbers are used again.

use std::fs;

/// The time at which a process was started, in ticks since boot; `None` when it is no more, or only waits to be buried.
pub(super) fn start_of(process: &str) -> Option<String> {
    let about = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of a program may hold blanks and brackets; behind its last bracket there are none.
    let mut fields = about.rsplit_once(") ")?.1.split(' ');
    fields.next().filter(|state| !matches!(*state, "Z" | "X"))?;
    fields.nth(18).map(str::to_owned)
}

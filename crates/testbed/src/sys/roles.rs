//! Roles of the processes and threads of a server: by titles and names that they give themselves, or as the server tells them. Only reads.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Roles of threads by their numbers, of a server that alone knows them: told by the probe that asks it.
pub(crate) type ThreadRoles = Arc<Mutex<BTreeMap<u32, String>>>;

/// The name that we give to each instance, with which the titles of its processes begin.
const CLUSTER_NAME: &str = "proofload: ";

/// The role that a process gives itself in its title, `<program>: <role>`, else the thread's name.
pub(crate) fn name_of_thread(pid: u32, thread: u32) -> String {
    let own = || std::fs::read_to_string(format!("/proc/{pid}/task/{thread}/comm")).unwrap_or_default();
    role_of(pid).unwrap_or_else(|| own().trim().to_owned())
}

/// The role of a thread: as its server tells it, or by its process's title, or by its own name without the number in it.
pub(crate) fn role_of_thread(process: u32, thread: u32, told: &BTreeMap<u32, String>) -> String {
    let name = told.get(&thread).cloned().unwrap_or_else(|| name_of_thread(process, thread));
    without_number(&name).to_owned()
}

/// The name of a process's program.
pub(crate) fn name_of_program(process: u32) -> String {
    std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default().trim().to_owned()
}

/// CPU time of a thread, ns. Source: Documentation/scheduler/sched-stats.rst.
pub(crate) fn thread_time(thread: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{thread}/task/{thread}/schedstat")).ok()?;
    text.split_ascii_whitespace().next()?.parse().ok()
}

/// The role that a process gives itself in its title.
pub(crate) fn role_of(pid: u32) -> Option<String> {
    let title = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let title = String::from_utf8_lossy(&title).replace('\0', " ");
    let program = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    role(&title, program.trim()).map(shortened)
}

/// The role in the title of a process of this program.
fn role<'a>(title: &'a str, program: &str) -> Option<&'a str> {
    let role = title.trim().strip_prefix(program)?.strip_prefix(": ")?;
    Some(role.strip_prefix(CLUSTER_NAME).unwrap_or(role))
}

/// A thread's name without the number that tells it from others of its role: `conn` of `conn12`.
pub(crate) fn without_number(name: &str) -> &str {
    let role = name.trim_end_matches(|last: char| last.is_ascii_digit());
    if role.is_empty() { name } else { role.trim_end_matches(['-', '_', ' ', '.']) }
}

/// Words at which what changes from moment to moment begins in the role of a server process.
const CHANGING: &[&str] = &["recovering", "streaming", "waiting", "idle"];

/// A server process's role without what changes: `walwriter`, `walsender`, `proofload proofload`.
fn shortened(role: &str) -> String {
    let changes = |word: &&str| word.starts_with('[') || word.contains('(') || CHANGING.contains(word);
    let words: Vec<&str> = role.split_ascii_whitespace().take_while(|word| !changes(word)).take(2).collect();
    match words[..] {
        // Beside its role a walsender tells whose it is.
        [role @ "walsender", ..] => role.to_owned(),
        _ => words.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_told_by_the_title_of_a_process() {
        assert_eq!(role("postgres: walwriter ", "postgres"), Some("walwriter"));
        assert_eq!(role("postgres: proofload: walwriter ", "postgres"), Some("walwriter"));
        assert_eq!(["conn12", "ftdc", "12", "WT-cache-3"].map(without_number), ["conn", "ftdc", "12", "WT-cache"]);
        assert_eq!(role("postgres -D /data", "postgres"), None);
        assert_eq!(role("mongod --config a: b", "mongod"), None);
    }

    #[test]
    fn titles_lose_what_changes() {
        assert_eq!(shortened("proofload proofload 127.0.0.1(40000) idle in transaction"), "proofload proofload");
        assert_eq!(shortened("walwriter "), "walwriter");
        assert_eq!(shortened("walsender proofload [local] streaming 0/3000060"), "walsender");
        assert_eq!(shortened("walreceiver streaming 0/3000060"), "walreceiver");
        assert_eq!(shortened("startup recovering 000000010000000000000003"), "startup");
        assert_eq!(shortened("proofload proofload [local] COMMIT"), "proofload proofload");
    }
}

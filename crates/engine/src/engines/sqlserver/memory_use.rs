//! Memory that the server uses, beside the limit that it was given: a limit that was lowered is in force once the server has given memory
//! back, which takes its time. Untested on a real server. Source: Microsoft's documentation, "Server memory configuration options".

use super::database::integer;
use super::wire::ServerConnection;
use crate::contract::{Error, OwnedValue, Value};
use proofload_model::facts::engine;
use proofload_model::samples::Fact;
use proofload_model::units::Bytes;
use std::time::Duration;

/// Memory that the server's memory manager has, and that of its process.
const READ: &str = include_str!("memory_use.sql");
const SOURCE: &str = "Total Server Memory of sys.dm_os_performance_counters";
/// Name of the fact.
const ALLOCATED: &str = "memory_allocated";

/// The limit holds what the memory manager gives out; by so many hundredths it may be beyond it for a moment.
const TOLERANCE: u64 = 5;
/// How often is looked, how far apart, and after how many looks without less memory nothing is waited for any more.
const LOOKS: u32 = 120;
const PAUSE: Duration = Duration::from_millis(500);
const STUCK: u32 = 20;

/// What a server uses at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MemoryUse {
    /// What its memory manager has.
    allocated: Bytes,
    /// What its process has in memory, beside the rest with stacks and libraries; `None` where it does not say.
    process: Option<Bytes>,
}

impl MemoryUse {
    async fn read(connection: &mut ServerConnection) -> Result<Option<Self>, Error> {
        let rows = connection.rows(READ).await.map_err(|error| error.context("read what memory the server uses"))?;
        let bytes = |number: i64| u64::try_from(number).ok().map(Bytes);
        let second = rows.first().and_then(|row| row.get(1)).map(OwnedValue::as_value).and_then(Value::integer);
        let allocated = integer(&rows).and_then(bytes);
        Ok(allocated.map(|allocated| Self { allocated, process: second.and_then(bytes) }))
    }

    fn is_within(self, limit: Bytes) -> bool {
        self.allocated.0 <= limit.0.saturating_add(limit.0 / 100 * TOLERANCE)
    }

    /// The fact of a limit. Where it holds it says the same at every run; how much is used each second, the observer tells.
    fn fact(self, limit: Bytes) -> Fact {
        let asked = format!("at most {limit}");
        if self.is_within(limit) {
            return engine::SETTING.of(ALLOCATED).compared(asked.clone(), Some(asked), true, SOURCE);
        }
        let process = self.process.map(|process| format!("; the process has {process}")).unwrap_or_default();
        let source = format!("{SOURCE}{process}; the server does not give it back: restart it");
        engine::SETTING.of(ALLOCATED).compared(asked, Some(self.allocated.to_string()), false, source)
    }
}

/// Waits until the server keeps to a limit that is in force, as long as it gives memory back; the fact of what it uses then.
pub(super) async fn verify(connection: &mut ServerConnection, limit: Bytes) -> Fact {
    let unknown = |why: &str| engine::SETTING.of(ALLOCATED).unknown(format!("{SOURCE}: {why}"));
    let (mut least, mut since) = (u64::MAX, 0);
    for look in 0..LOOKS {
        let used = match MemoryUse::read(connection).await {
            Ok(Some(used)) => used,
            Ok(None) => return unknown("the server does not tell it"),
            Err(error) => return unknown(&format!("{error}; the account needs VIEW SERVER STATE")),
        };
        since = if used.allocated.0 < least { 0 } else { since + 1 };
        least = least.min(used.allocated.0);
        if used.is_within(limit) || since >= STUCK || look + 1 == LOOKS {
            return used.fact(limit);
        }
        tokio::time::sleep(PAUSE).await;
    }
    unknown("nobody looked")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_holds_where_the_server_keeps_to_it() {
        let used = |mebi| MemoryUse { allocated: Bytes::mebi(mebi), process: Some(Bytes::mebi(mebi + 300)) };
        let limit = Bytes::mebi(4_096);
        let within = used(4_200).fact(limit);
        assert_eq!((within.holds, &within.effective), (Some(true), &within.requested));
        assert_eq!(used(100).fact(limit), within, "a fact that holds is the same at every run");
        let beyond = used(6_000).fact(limit);
        assert_eq!((beyond.holds, beyond.effective), (Some(false), Some(Bytes::mebi(6_000).to_string())));
        assert!(beyond.source.contains("the process has"), "{}", beyond.source);
    }
}

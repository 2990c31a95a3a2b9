//! What a memory limit comes to: `max server memory`, which a server that runs already takes. What lies beside it, such as the stacks of threads,
//! the limit does not hold.

use super::changes;
use super::engine::Sqlserver;
use crate::contract::{Error, Memory, ServerChanges, Target, Work};
use proofload_model::units::Bytes;

impl Memory for Sqlserver {
    fn settings(&self, memory: Bytes, _sessions: u32) -> Vec<(String, String)> {
        vec![("max_server_memory_mb".to_owned(), (memory.0 >> 20).to_string())]
    }

    fn reaches_existing_servers(&self) -> bool {
        true
    }
}

impl ServerChanges for Sqlserver {
    fn put_back<'a>(&'a self, target: &'a Target) -> Work<'a, ()> {
        Box::pin(
            async move { if changes::allowed(target) { changes::put_back(target).await } else { Ok::<(), Error>(()) } },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_the_servers_memory_in_its_unit() {
        assert_eq!(
            Sqlserver.settings(Bytes::mebi(65_536), 9),
            [("max_server_memory_mb".to_owned(), "65536".to_owned())]
        );
    }
}

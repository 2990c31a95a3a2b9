//! An instance whose data are not needed any more: its server ends at once, and its data are marked before. May not remove them.

use super::{InstanceResources, engine};
use crate::host::InstanceRemains;
use crate::{snapshots, sys};
use proofload_engine::ServerRecipe;
use proofload_model::error::Error;
use proofload_model::time::Clock;
use proofload_model::wire::DataLocation;
use std::path::Path;
use std::time::Duration;

const GLANCE: Duration = Duration::from_millis(10);

impl InstanceResources {
    /// Ends the server at once, if there is one, and discards the data of its folder: known before it ends, however this goes on. Waits
    /// until its last process has ended, so that what the kernel holds of it can be freed.
    pub(in crate::host) fn discard(&mut self, place: &DataLocation) -> Result<(), Error> {
        let folder = Path::new(&place.folder);
        snapshots::discard(folder)?;
        let Some(recipe) = engine(place)?.server() else { return Ok(()) };
        let of_server = ServerProcesses::of(recipe, &snapshots::data_folder(folder));
        self.end_faulty();
        (self.replication, self.port, self.admission) = (None, None, None);
        let ended = self.server.take().map_or(Ok(()), |running| running.server.end_at_once());
        self.link = None;
        let (_, _, patience) = recipe.stop_signals();
        ended.and(of_server.expect_ended(&*self.clock, &self.remains, patience))
    }
}

/// Processes of a server, each with the time at which it was started.
struct ServerProcesses(Vec<(u32, Option<u64>)>);

impl ServerProcesses {
    /// Processes of the server that says in its data that it runs.
    fn of(recipe: &dyn ServerRecipe, data: &Path) -> Self {
        // A file of an earlier server may name a process of somebody else.
        Self::below(recipe.running_pid(data).filter(|process| sys::working_below(data).contains(process)))
    }

    fn below(first: Option<u32>) -> Self {
        let all = first.map(sys::descendants).unwrap_or_default();
        Self(all.into_iter().map(|process| (process, sys::start_time(process))).collect())
    }

    fn left(&self) -> Vec<String> {
        let lives =
            |(process, began): &&(u32, Option<u64>)| sys::is_running(*process) && sys::start_time(*process) == *began;
        self.0.iter().filter(lives).map(|(process, _)| process.to_string()).collect()
    }

    /// Waits until all have ended: one that waits for a slow disk outlives the first.
    fn expect_ended(&self, clock: &dyn Clock, remains: &InstanceRemains, within: Duration) -> Result<(), Error> {
        let begun = clock.now();
        loop {
            let left = self.left();
            if left.is_empty() {
                return Ok(());
            }
            if remains.is_abandoned() || clock.now().since(begun) >= within {
                return Err(Error::new(format!(
                    "failed to end the server at once: its processes {} still run {within:?} after its first one has ended; does its \
                     disk answer?",
                    left.join(", ")
                )));
            }
            clock.sleep(GLANCE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_clock::TestClock;
    use std::process::Command;

    #[test]
    fn a_process_that_outlives_the_server_is_told() {
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let processes = ServerProcesses::below(Some(child.id()));
        let remains = InstanceRemains::default();
        let look = || processes.expect_ended(&TestClock::new(), &remains, Duration::from_secs(1));
        let error = look().unwrap_err().to_string();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(error.contains(&format!("its processes {} still run", child.id())), "{error}");
        look().unwrap();
        ServerProcesses::below(None).expect_ended(&TestClock::new(), &remains, Duration::ZERO).unwrap();
    }
}

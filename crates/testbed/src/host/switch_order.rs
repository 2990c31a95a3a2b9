//! An order to a failover manager to switch over: given once the cluster stands still, and again where the manager refuses it. May not
//! decide who leads.

use crate::agents::EventSink;
use crate::managers::{ClusterPlan, Manager, Tools};
use proofload_engine::CommandLine;
use proofload_model::error::Error;
use proofload_model::log_level::LogLevel;
use proofload_model::wire::Event;
use std::path::PathBuf;
use std::time::Duration;

/// How long the manager's command may take to carry out an order.
const SWITCHED_WITHIN: Duration = Duration::from_secs(120);

/// How long nodes may take until each is where the manager wants it.
const SETTLED_WITHIN: Duration = Duration::from_secs(60);

/// How long they must have been there.
const SETTLED_FOR: Duration = Duration::from_secs(1);

/// How many times an order is given at most.
const ORDERS: u32 = 3;

const GLANCE: Duration = Duration::from_millis(100);

/// An order.
pub(super) struct SwitchOrder {
    pub(super) manager: &'static dyn Manager,
    pub(super) plan: ClusterPlan,
    pub(super) tools: Tools,
    pub(super) events: EventSink,
    /// Name of the node that leads before.
    pub(super) leader: String,
    pub(super) command: CommandLine,
    pub(super) folder: PathBuf,
}

impl SwitchOrder {
    /// Gives it until the manager's command ends well; what goes wrong is told as a warning.
    pub(super) fn give(self) {
        let run = || self.tools.run(&self.command, &self.folder, SWITCHED_WITHIN).map(drop);
        let warn = |text: String| (self.events)(Event::Log { level: LogLevel::Warning, text });
        let settled = || settled_leader(self.manager, &self.plan, &self.tools);
        if let Err(error) = repeated(run, settled, &self.leader, &warn) {
            warn(format!("failed to switch over: {error}"));
        }
    }
}

/// Gives an order again that failed, as long as the same node leads and nothing moves: one that was carried out all the same, given
/// again, would switch back.
fn repeated(
    run: impl Fn() -> Result<(), Error>,
    settled_leader: impl Fn() -> Option<String>,
    leader: &str,
    warn: &dyn Fn(String),
) -> Result<(), Error> {
    let mut given = 1;
    loop {
        let Err(error) = run() else { return Ok(()) };
        if given == ORDERS || settled_leader().as_deref() != Some(leader) {
            return Err(error);
        }
        given += 1;
        warn(format!("the order to switch over failed, and {leader} still leads; it is given again: {error}"));
    }
}

/// Waits until every node has been where the manager wants it for a while; who leads then, or nothing when the time is up. An order in the
/// middle of a change is refused, and between two changes nodes stand still for moments.
pub(super) fn settled_leader(manager: &dyn Manager, plan: &ClusterPlan, tools: &Tools) -> Option<String> {
    let begun = tools.clock.now();
    let mut settled = None;
    loop {
        let now = tools.clock.now();
        let view = manager.view(plan, tools).ok().filter(|view| view.is_protected);
        let since = *settled.get_or_insert(now);
        match view {
            Some(view) if now.since(since) >= SETTLED_FOR => return view.leader,
            Some(_) => {}
            None => settled = None,
        }
        if now.since(begun) > SETTLED_WITHIN {
            return None;
        }
        tools.clock.sleep(GLANCE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Orders of which the first so many fail, and who leads when the cluster stands still.
    #[track_caller]
    fn check(failing: u32, leader: Option<&str>, (orders, ends_well): (u32, bool)) {
        let given = Cell::new(0);
        let run = || {
            given.set(given.get() + 1);
            if given.get() > failing { Ok(()) } else { Err(Error::new("not now")) }
        };
        let warned = Cell::new(0);
        let warn = |_: String| warned.set(warned.get() + 1);
        let done = repeated(run, || leader.map(str::to_owned), "primary", &warn);
        assert_eq!((given.get(), done.is_ok(), warned.get()), (orders, ends_well, orders - 1));
    }

    #[test]
    fn an_order_that_fails_is_given_again_while_the_same_node_leads() {
        check(0, Some("primary"), (1, true));
        check(1, Some("primary"), (2, true));
        check(9, Some("primary"), (ORDERS, false));
        // It was carried out all the same, or nobody can tell.
        check(1, Some("standby-1"), (1, false));
        check(1, None, (1, false));
    }
}

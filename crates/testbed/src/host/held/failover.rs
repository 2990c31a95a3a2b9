//! Failover of the group of servers that an instance stands for, by the servers' own command. May not know the command.

use super::InstanceResources;
use proofload_engine::{FailoverOrder, GroupFailover, Target};
use proofload_model::drill::FaultInForce;
use proofload_model::error::Error;
use proofload_model::group_failover::{FailoverKind, FailoverReport, SeedingReading};
use proofload_model::time::{Clock, Moment};
use std::time::Duration;

/// How long the chosen server may take from the order until it takes writes: its database recovers first.
const IN_FORCE_WITHIN: Duration = Duration::from_secs(120);

/// Tries to let servers follow after an order that failed, one each second.
const RESUMES: u32 = 60;

/// Pause between two looks at the chosen server.
const GLANCE: Duration = Duration::from_millis(50);

impl InstanceResources {
    /// Gives the order to fail over; answers once the chosen server leads by its own word and takes writes.
    pub(in crate::host) fn fail_over(&self, kind: FailoverKind) -> Result<FailoverReport, Error> {
        let (facet, servers) = self.group()?;
        // Before the fault begins: the choice is none of its outage.
        let order = facet.prepare(servers, kind)?;
        let done = carried_out(order, &*self.clock, IN_FORCE_WITHIN);
        done.map_err(|error| match kind {
            FailoverKind::Planned => error,
            // Though the order failed, or was not seen in force, it may have suspended servers.
            FailoverKind::Forced => error.context(self.resumed_after_all(facet, servers)),
        })
    }

    /// Tries to let all servers follow after an order of which nothing is known; words for what came of it.
    fn resumed_after_all(&self, facet: &dyn GroupFailover, servers: &Target) -> String {
        let mut why = String::new();
        for _ in 0..RESUMES {
            match facet.resume(servers) {
                Ok(true) => return "fail over (all servers follow again)".to_owned(),
                Ok(false) => "a server does not follow yet".clone_into(&mut why),
                Err(error) => why = error.to_string(),
            }
            self.clock.sleep(Duration::from_secs(1));
        }
        format!("fail over (servers may be left suspended: {why}; ALTER DATABASE … SET HADR RESUME lets each follow)")
    }

    /// Lets servers of the group follow again that a forced failover has suspended; tells whether none is.
    pub(in crate::host) fn resume_group(&self) -> Result<bool, Error> {
        let (facet, servers) = self.group()?;
        Ok(facet.resume(servers)?)
    }

    /// Reads how standbys of the group are filled; nothing where its servers do not tell.
    pub(in crate::host) fn seeding(&self) -> Result<Vec<SeedingReading>, Error> {
        let Ok((facet, servers)) = self.group() else { return Ok(Vec::new()) };
        Ok(facet.seeding(servers)?)
    }

    fn group(&self) -> Result<(&'static dyn GroupFailover, &Target), Error> {
        let watched = self.replication.as_ref();
        let watched = watched.ok_or_else(|| Error::refused("failed to fail over: the servers are not watched"))?;
        watched.failover()
    }
}

/// Gives an order, and looks until it is in force.
fn carried_out(
    mut order: Box<dyn FailoverOrder>,
    clock: &dyn Clock,
    within: Duration,
) -> Result<FailoverReport, Error> {
    let begun = clock.now();
    order.give()?;
    let (after, at) = until_in_force(&mut *order, clock, (begun, within))?;
    Ok(FailoverReport { choice: order.choice().clone(), in_force: FaultInForce { begun, after, at } })
}

/// The last moment at which it was not in force, and the first at which it was.
fn until_in_force(
    order: &mut dyn FailoverOrder,
    clock: &dyn Clock,
    (begun, within): (Moment, Duration),
) -> Result<(Moment, Moment), Error> {
    let mut after = begun;
    loop {
        let looked = clock.now();
        let why = match order.is_in_force() {
            Ok(true) => return Ok((after, clock.now())),
            Ok(false) => "it does not take writes as the primary".to_owned(),
            // A server that changes its role may be out of reach for a moment.
            Err(error) => error.to_string(),
        };
        if looked.since(begun) > within {
            let name = &order.choice().to;
            let text = format!("failed to fail over to {name} within {within:?}: {why}; the drill is void");
            return Err(Error::verification(text));
        }
        after = looked;
        clock.sleep(GLANCE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_clock::SimulatedClock;
    use proofload_engine::Error as EngineError;
    use proofload_model::group_failover::FailoverChoice;

    /// An order that is in force at the look of this number, and whose first look is not answered.
    struct ScriptedOrder {
        choice: FailoverChoice,
        looks: u32,
        holds_at: u32,
        is_refused: bool,
    }

    impl FailoverOrder for ScriptedOrder {
        fn choice(&self) -> &FailoverChoice {
            &self.choice
        }

        fn give(&mut self) -> Result<(), EngineError> {
            if self.is_refused { Err(EngineError::other("refused")) } else { Ok(()) }
        }

        fn is_in_force(&mut self) -> Result<bool, EngineError> {
            self.looks += 1;
            if self.looks == 1 { Err(EngineError::other("no answer")) } else { Ok(self.looks >= self.holds_at) }
        }
    }

    fn carry_out(holds_at: u32, is_refused: bool) -> Result<FailoverReport, Error> {
        let choice =
            FailoverChoice { from: Some("A".to_owned()), to: "B".to_owned(), reached: 1, of: 1, holds_all: true };
        let order = Box::new(ScriptedOrder { choice, looks: 0, holds_at, is_refused });
        carried_out(order, &SimulatedClock::default(), Duration::from_secs(1))
    }

    #[test]
    fn a_failover_is_in_force_once_the_chosen_server_takes_writes() {
        let done = carry_out(3, false).expect("it takes writes at the third look");
        let FaultInForce { begun, after, at } = done.in_force;
        assert_eq!((after.since(begun), at.since(begun)), (GLANCE, 2 * GLANCE));
        assert_eq!(done.choice.to, "B");
        let never = carry_out(u32::MAX, false).expect_err("it never does").to_string();
        assert!(never.contains("to B within 1s") && never.contains("the drill is void"), "{never}");
        assert!(carry_out(2, true).expect_err("the order is refused").to_string().contains("refused"));
    }
}

//! Word of each host whether it takes writes, asked for again and again: who has connections to the new primary alone never learns that the old
//! one takes writes too. May not write.

use super::hosts::ProbeHosts;
use super::tries::LONGEST_TRY;
use proofload_engine::{AnySession, Session as _};
use proofload_model::time::Moment;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// Pause between two questions to a host. They go over a session that stays, so that a standby has one process more.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// Word of a host that it takes writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct WriteClaim {
    /// Number of the host.
    pub(super) node: usize,
    /// When it was asked.
    pub(super) asked: Moment,
    /// When its answer was there.
    pub(super) answered: Moment,
}

/// Claims of all hosts.
pub(super) type WriteClaims = Rc<RefCell<Vec<WriteClaim>>>;

/// Begins to ask every host, where there are several, until the prober ends.
pub(super) fn begin_asking(hosts: &Rc<ProbeHosts>) -> WriteClaims {
    let claims = WriteClaims::default();
    if hosts.role_moves && hosts.targets.len() > 1 {
        for node in 0..hosts.targets.len() {
            tokio::task::spawn_local(keep_asking(Rc::clone(hosts), node, Rc::clone(&claims)));
        }
    }
    claims
}

/// Asks a host; never ends.
async fn keep_asking(hosts: Rc<ProbeHosts>, node: usize, claims: WriteClaims) {
    let mut kept: Option<AnySession> = None;
    loop {
        tokio::time::sleep(ASK_EVERY).await;
        if kept.is_none() {
            hosts.silence.until_it_ends(node).await;
            kept = hosts.connect(node, LONGEST_TRY, || ()).await.ok().map(|(session, _)| session);
        }
        let Some(session) = kept.as_mut() else { continue };
        let asked = hosts.clock.now();
        let said = tokio::time::timeout(LONGEST_TRY, session.takes_writes()).await;
        match said {
            Ok(Ok(true)) => claims.borrow_mut().push(WriteClaim { node, asked, answered: hosts.clock.now() }),
            Ok(Ok(false)) => {}
            Ok(Err(_)) | Err(_) => kept = None,
        }
    }
}

//! An instance that stands still: its sockets stay open and nothing answers. Let go on, it would take writes again: two primaries.

use super::fault::{FaultMaker, FaultSite, expect};
use super::process::Process;
use crate::instances::Server;
use crate::limits;
use proofload_model::drill::FaultKind;
use proofload_model::error::Error;

/// How often all are told to halt: who is born meanwhile is found at the next look.
const TELLS: u32 = 20;

/// The fault.
pub(super) struct Freeze;

impl FaultMaker for Freeze {
    fn kind(&self) -> FaultKind {
        FaultKind::Freeze
    }

    fn make(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        match site.group {
            Some(group) => limits::freeze(group, true),
            None => {
                halt_all(site.server()?);
                Ok(())
            }
        }
    }

    fn expect_in_force(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        let server = site.server()?;
        let (root, family) = (server.process(), Process::of_server(server));
        expect(!family.is_empty(), || "there is no process".to_owned())?;
        match site.group {
            Some(group) => {
                expect(group.members().contains(&root), || "the server is not in its control group".to_owned())?;
                expect(limits::is_frozen(group)?, || "the control group is not frozen".to_owned())
            }
            None => expect(family.into_iter().all(Process::is_stopped), || "processes are running".to_owned()),
        }
    }

    fn undo(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        match site.group {
            Some(group) => limits::freeze(group, false),
            None => {
                site.left().for_each(|process| process.halt(false));
                Ok(())
            }
        }
    }

    fn expect_undone(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        let frozen = site.group.map_or(Ok(false), limits::is_frozen)?;
        expect(!frozen && !site.left().any(Process::is_stopped), || "processes are frozen".to_owned())
    }
}

/// Halts all processes, the first one first, since it bears the others; answers with them.
pub(super) fn halt_all(server: &Server) -> Vec<Process> {
    let mut family = Process::of_server(server);
    for _ in 0..TELLS {
        family.iter().for_each(|process| process.halt(true));
        let now = Process::of_server(server);
        let same = now == family;
        family = now;
        if same {
            break;
        }
    }
    family
}

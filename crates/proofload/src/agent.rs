//! The agent: hands the requests of a conductor to the host role and the load role. May not decide anything.

use crate::clock::SystemClock;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use proofload_load::LoadRole;
use proofload_model::error::Error;
use proofload_model::time::Clock;
use proofload_model::wire::{Pong, Reply, Request};
use proofload_testbed::HostRole;
use proofload_testbed::agents::{Handler, serve};
use std::sync::Arc;

/// Both roles of one agent.
struct Roles {
    clock: Arc<dyn Clock>,
    host: HostRole,
    load: LoadRole,
}

impl Handler for Roles {
    fn handle(&mut self, request: Request) -> Result<Reply, Error> {
        match request {
            Request::Ping => {
                let moment = self.clock.now();
                Ok(Reply::Ping(Pong { received: moment, moment, pid: std::process::id() }))
            }
            Request::Alive | Request::Quit => Ok(Reply::Quit),
            Request::Host(request) => self.host.handle(request),
            Request::Load(request) => self.load.handle(request),
        }
    }

    fn abandon(&self) -> Arc<dyn Fn() + Send + Sync> {
        self.host.abandon()
    }
}

/// Serves one conductor until it says quit, goes away or a signal comes, then releases everything.
pub(crate) fn run() -> Exit {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let interrupt = match Interrupt::install() {
        Ok(interrupt) => interrupt,
        Err(error) => {
            crate::output::error(&format!("failed to install signal handlers: {error}"));
            return Exit::Failure;
        }
    };
    let served = serve(std::io::stdin(), std::io::stdout(), &clock, &|| interrupt.asked(), |events| Roles {
        clock: Arc::clone(&clock),
        host: HostRole::new(Arc::clone(&clock), Arc::clone(&events)).with_program(std::env::current_exe().ok()),
        load: LoadRole::new(Arc::clone(&clock), events),
    });
    match served {
        Ok(()) => Exit::Good,
        Err(error) if error.is_interrupted() => Exit::Interrupted,
        Err(error) => {
            crate::output::error(&error.to_string());
            Exit::Failure
        }
    }
}

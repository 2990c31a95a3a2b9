//! `tier stop`: tells a server to stop and waits until its socket is gone.

use super::units::time as time_text;
use super::words::{Faults, time};
use crate::cli_tier::StopArguments;
use crate::clock::SystemClock;
use crate::exit::Exit;
use crate::output;
use proofload_model::time::Clock as _;
use proofload_tier::control::ControlClient;
use std::time::Duration;

/// Time between two looks at the socket.
const LOOK: Duration = Duration::from_millis(50);

/// Stops one.
pub(super) fn run(arguments: &StopArguments) -> Exit {
    let mut faults = Faults::default();
    let within = time("--within", &arguments.within, &mut faults);
    let within = match faults.settle(false, within) {
        Ok(within) => within,
        Err(exit) => return exit,
    };
    let asked = ControlClient::connect(&arguments.control).and_then(|client| client.stop());
    if let Err(error) = asked {
        return output::failure(false, Exit::Failure, &error.to_string());
    }
    let begun = SystemClock.now();
    while SystemClock.now().since(begun) < within {
        if !arguments.control.exists() {
            let told = "stopped: the pool is closed, and its control socket is gone";
            return output::conclude(false, told, Exit::Good);
        }
        SystemClock.sleep(LOOK);
    }
    let text = format!("the server did not stop within {}; it is still stopping", time_text(within));
    output::failure(false, Exit::Failure, &text)
}

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
pub(super) fn run(arguments: &StopArguments) -> Result<Exit, Exit> {
    let mut faults = Faults::default();
    let within = time("--within", &arguments.within, &mut faults);
    let within = faults.settle(false, within)?;
    let failed = |text: String| output::failure(false, Exit::Failure, &text);
    let asked = ControlClient::connect(&arguments.control).and_then(|client| client.stop());
    asked.map_err(|error| failed(error.to_string()))?;
    let begun = SystemClock.now();
    while SystemClock.now().since(begun) < within {
        if !arguments.control.exists() {
            let told = "stopped: the pool is closed, and its control socket is gone";
            return Ok(output::conclude(false, told, Exit::Good));
        }
        SystemClock.sleep(LOOK);
    }
    Err(failed(format!("the server did not stop within {}; it is still stopping", time_text(within))))
}

//! Measuring a run again because of what happened outside it. Throughput is not looked at: that would choose the result.

use super::preparation::PreparedRun;
use super::quiet_check;
use super::run_context::RunContext;
use proofload_model::error::Error;
use proofload_model::log_level::LogLevel;
use proofload_report::findings::disturbed_from_outside;
use std::time::Duration;

/// How long a further attempt waits for a quiet host at most.
const WAIT: Duration = Duration::from_secs(60);

/// All attempts of a run together take at most this many times as long as the first before another one begins.
const LONGEST: u32 = 3;

/// Makes attempts with `attempt` until one was not disturbed or the budget is spent; the last one stands.
pub(super) fn attempts<'a>(
    context: &mut RunContext<'a>,
    prepared: &PreparedRun,
    mut attempt: impl FnMut(&mut RunContext<'a>) -> Result<(), Error>,
) -> Result<(), Error> {
    let began = context.agents.now();
    let mut longest = Duration::MAX;
    let mut left = prepared.procedure.retries;
    loop {
        let ended = attempt(context);
        let spent = context.agents.now().since(began);
        longest = longest.min(spent.saturating_mul(LONGEST));
        if left == 0 || spent >= longest {
            return ended;
        }
        let why = match &ended {
            Ok(()) => disturbed(context, prepared)?,
            Err(error) => error.is_lost().then(|| error.to_string()),
        };
        let Some(why) = why else { return ended };
        context.agents.expect_no_interrupt()?;
        left -= 1;
        context.heard.journal.log(LogLevel::Info, "conductor", &repeated(prepared.run.index, &why))?;
        quiet_check::wait(context, prepared, WAIT)?;
    }
}

/// What is said of a run that is measured again; people count runs from 1.
fn repeated(index: u32, why: &str) -> String {
    format!("run {} is repeated because of outside events: {why}", index.saturating_add(1))
}

/// What happened outside the attempt that has just ended.
fn disturbed(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<Option<String>, Error> {
    let attempt = context.heard.journal.read_back_run(prepared.run.index)?;
    Ok(attempt.and_then(|(attempt, settings)| disturbed_from_outside(&attempt, &settings)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_is_repeated_is_numbered_as_people_count() {
        assert_eq!(repeated(0, "an agent was lost"), "run 1 is repeated because of outside events: an agent was lost");
    }
}

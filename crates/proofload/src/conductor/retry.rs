//! Measuring a run again because of what happened outside it. Throughput is not looked at: that would choose the result.

use super::preparation::PreparedRun;
use super::quiet_check;
use super::run_context::RunContext;
use crate::run_times::planned_attempt;
use proofload_model::error::Error;
use proofload_model::log_level::LogLevel;
use proofload_report::findings::disturbed_from_outside;
use std::time::Duration;

/// How long a further attempt waits for a quiet host at most.
pub(crate) const RETRY_WAIT: Duration = Duration::from_secs(60);

/// Further attempts of a run together take at most this many times its planned time, without the wait before each.
pub(crate) const MOST_PLANNED_TIMES: u32 = 2;

/// What further attempts may take, said before the first begins.
struct RetryBudget {
    left: u32,
    /// Longest planned time of one attempt.
    planned: Duration,
    /// Time that further attempts took so far.
    spent: Duration,
}

impl RetryBudget {
    /// Whether one more attempt of the planned time fits.
    fn has_room(&self) -> bool {
        let with_next = self.spent.saturating_add(self.planned);
        self.left > 0 && with_next <= self.planned.saturating_mul(MOST_PLANNED_TIMES)
    }
}

/// Makes attempts with `attempt` until one was not disturbed or the budget is spent; the last one stands.
pub(super) fn attempts<'a>(
    context: &mut RunContext<'a>,
    prepared: &PreparedRun,
    mut attempt: impl FnMut(&mut RunContext<'a>) -> Result<(), Error>,
) -> Result<(), Error> {
    let bytes = prepared.workload.expected_bytes(&prepared.settings).0;
    let mut budget: Option<RetryBudget> = None;
    loop {
        let began = context.agents.now();
        let ended = attempt(context);
        let took = context.agents.now().since(began);
        let budget = match &mut budget {
            Some(budget) => {
                budget.spent += took;
                budget
            }
            // A run that ends by its work has no planned time: then the first attempt tells.
            None => budget.insert(RetryBudget {
                left: prepared.procedure.retries,
                planned: planned_attempt(&prepared.settings, bytes).unwrap_or(took),
                spent: Duration::ZERO,
            }),
        };
        if !budget.has_room() {
            return ended;
        }
        let why = match &ended {
            Ok(()) => disturbed(context, prepared)?,
            Err(error) => error.is_lost().then(|| error.to_string()),
        };
        let Some(why) = why else { return ended };
        context.agents.expect_no_interrupt()?;
        budget.left -= 1;
        context.heard.journal.log(LogLevel::Info, "conductor", &repeated(prepared.run.index, &why))?;
        quiet_check::wait(context, prepared, RETRY_WAIT)?;
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
    fn further_attempts_fit_into_twice_the_planned_time() {
        let has_room = |left, spent| {
            let (planned, spent) = (Duration::from_secs(100), Duration::from_secs(spent));
            RetryBudget { left, planned, spent }.has_room()
        };
        assert!(has_room(3, 0) && has_room(2, 100), "two of the planned time fit");
        assert!(!has_room(2, 101), "the next would end beyond the budget");
        assert!(!has_room(1, 200) && !has_room(0, 0));
    }

    #[test]
    fn a_run_that_is_repeated_is_numbered_as_people_count() {
        assert_eq!(repeated(0, "an agent was lost"), "run 1 is repeated because of outside events: an agent was lost");
    }
}

//! A run that is rated whole: from time zero, or from the end of its warm-up rounds, until the first user has no work left. Steadiness
//! is not detected while it runs; the record gets the duration of each round instead.

use super::preparation::PreparedRun;
use super::run;
use super::run_context::RunContext;
use super::run_state::RunState;
use crate::live::Phase;
use proofload_model::error::Error;
use proofload_model::events::RunEvent;
use proofload_model::samples::MarkLabel;

/// Starts the load, cold where nothing is to be warmed up, and hears it to its end.
pub(super) fn measure(context: &mut RunContext<'_>, prepared: &PreparedRun, warm_up_rounds: u64) -> Result<(), Error> {
    if warm_up_rounds == 0 && prepared.can_start_cold() {
        // The checks before a load read data, some engines all of them; what they left in the page cache goes.
        context.testbed(prepared).drop_page_cache()?;
        context.heard.journal.event(RunEvent::ColdStart)?;
    }
    run::begin_load(context, prepared)?;
    context.heard.view.phase(if warm_up_rounds == 0 { Phase::Measuring } else { Phase::WarmingUp });
    let after_rounds = |state: &RunState| after_rounds(state, prepared.users(), warm_up_rounds);
    let mut from = None;
    loop {
        if from.is_none()
            && let Some(second) = after_rounds(&context.heard.state)
        {
            context.mark(MarkLabel::WindowStart)?;
            context.heard.view.phase(Phase::Measuring);
            from = Some(second);
        }
        if !context.next_second()? {
            break;
        }
    }
    context.mark(MarkLabel::WindowEnd)?;
    let from = from.or_else(|| after_rounds(&context.heard.state));
    keep(context, warm_up_rounds, from)
}

/// The first whole second after every user has ended this many rounds; `None` while one of them has not.
fn after_rounds(state: &RunState, users: u32, rounds: u64) -> Option<u64> {
    let Some(last) = rounds.checked_sub(1) else { return Some(0) };
    let ends = state.rounds.iter().filter(|round| round.number == last).map(|round| round.ended.as_seconds());
    (ends.clone().count() >= users as usize).then(|| ends.fold(0.0, f64::max).ceil() as u64)
}

/// Notes what is rated, second by second and exactly, and every round.
fn keep(context: &mut RunContext<'_>, warm_up_rounds: u64, from: Option<u64>) -> Result<(), Error> {
    let (journal, state) = (&mut context.heard.journal, &context.heard.state);
    let all_busy_until = state.end.map_or(0.0, |end| end.first_without_work.as_seconds());
    journal.event(RunEvent::Rounds(state.rounds.clone()))?;
    journal.event(RunEvent::WholeRun { warm_up_rounds, from, to: all_busy_until })?;
    match from.filter(|from| (*from as f64) < all_busy_until) {
        Some(from) => journal.event(RunEvent::Window { from, to: all_busy_until.ceil() as u64 }),
        None => Ok(()),
    }
}

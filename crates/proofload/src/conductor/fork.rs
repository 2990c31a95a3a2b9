//! The fork of the log that a promotion has made: read once users are back, so that their recovery is not slowed, and before the failed
//! primary is put back. What cannot be read loses no drill.

use super::drill::of_name;
use super::preparation::PreparedRun;
use super::promotion::Promotion;
use super::run_context::RunContext;
use proofload_model::deployment::InstanceName;
use proofload_model::drill::LogFork;
use proofload_model::error::Error;
use proofload_model::log_level::LogLevel;
use proofload_model::wire::host::{ReadFork, ReadLogEndAfter};

/// Reads where the log of a promoted instance left that of the failed primary, and where the latter ends; nothing where the failed one
/// leads again itself, and where the engine does not tell.
pub(super) fn read(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    promotion: &Promotion,
    failed: &InstanceName,
) -> Result<Option<LogFork>, Error> {
    if promotion.name == *failed {
        return Ok(None);
    }
    let (promoted, failed) = (of_name(prepared, &promotion.name)?, of_name(prepared, failed)?);
    let answer = context.testbed(prepared).ask(promoted, ReadFork { instance: promoted.name.clone() });
    let Some(fork) = if_told(context, answer)? else { return Ok(None) };
    // Where all instances live, a manager takes the failed one back, and its log is then that of the new primary.
    if prepared.manager.is_some() && promotion.has_standbys {
        return Ok(Some(fork));
    }
    let ask = ReadLogEndAfter { instance: failed.name.clone(), place: failed.place.clone(), fork };
    let answer = context.testbed(prepared).ask(failed, ask);
    let old_end = if_told(context, answer)?;
    Ok(Some(LogFork { old_end, ..fork }))
}

/// What was told; an answer that is an error is noted in the log of the run, but for a lost agent.
fn if_told<T>(context: &mut RunContext<'_>, answer: Result<Option<T>, Error>) -> Result<Option<T>, Error> {
    match answer {
        Err(error) if !error.is_lost() => {
            let text = format!("the fork of the log is not told in full: {error}");
            context.heard.journal.log(LogLevel::Warning, "conductor", &text)?;
            Ok(None)
        }
        answer => answer,
    }
}

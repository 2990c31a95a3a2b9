//! The wait for standbys of existing servers that are being filled, until that ends, fails or stands still. May not know an engine.

use super::preparation::PreparedRun;
use super::run_context::RunContext;
use proofload_model::error::Error;
use proofload_model::group_failover::SeedingReading;
use std::time::Duration;

/// Pause between two looks.
const LOOK: Duration = Duration::from_secs(1);

/// Time without another byte after which nothing more is expected.
const STANDS_STILL: Duration = Duration::from_secs(600);

/// Waits until the mode is in force, or no standby is being filled; tells how far each is.
///
/// # Errors
/// Filling has failed, by the name of its server, or stands still.
pub(super) fn wait(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<(), Error> {
    let (mut sent, mut moved) = (None, context.agents.now());
    loop {
        if context.testbed(prepared).read_replication().is_ok_and(|seen| seen.out_of_force.is_none()) {
            return Ok(());
        }
        // Who may not ask is told so by the wait for the mode.
        let seen = context.testbed(prepared).read_seeding().unwrap_or_default();
        let Some(text) = under_way(&seen)? else { return Ok(()) };
        context.heard.view.progress(&text, None);
        let now = context.agents.now();
        if sent.replace(all_sent(&seen)) != Some(all_sent(&seen)) {
            moved = now;
        }
        if now.since(moved) > STANDS_STILL {
            return Err(Error::verification(format!(
                "{text}; nothing was sent for {STANDS_STILL:?}; look at the servers"
            )));
        }
        context.wait(LOOK)?;
    }
}

/// What is under way, for people; `None` where nothing is. An error where one has failed.
fn under_way(seen: &[SeedingReading]) -> Result<Option<String>, Error> {
    if let Some(failed) = seen.iter().find(|one| one.failure.is_some()) {
        return Err(Error::verification(format!(
            "failed to wait for standbys: {failed}; seed it again, then start the run"
        )));
    }
    let texts: Vec<String> = seen.iter().map(ToString::to_string).collect();
    Ok((!texts.is_empty()).then(|| texts.join(", ")))
}

/// Bytes that all of them have.
fn all_sent(seen: &[SeedingReading]) -> u64 {
    seen.iter().fold(0, |sum, one| sum.saturating_add(one.sent.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::units::Bytes;

    #[test]
    fn a_standby_that_is_filled_is_waited_for_and_one_that_failed_is_named() {
        let reading = |name: &str, failure: Option<&str>| SeedingReading {
            name: name.to_owned(),
            sent: Bytes(1 << 30),
            size: Bytes(4 << 30),
            failure: failure.map(str::to_owned),
        };
        assert_eq!(under_way(&[]).unwrap(), None);
        let two = [reading("DB2", None), reading("DB3", None)];
        assert_eq!(under_way(&two).unwrap().as_deref(), Some("seeding DB2: 25 % of 4 GiB, seeding DB3: 25 % of 4 GiB"));
        assert_eq!(all_sent(&two), 2 << 30);
        let failed = under_way(&[reading("DB2", None), reading("DB3", Some("Seeding, error 1204"))]).unwrap_err();
        assert!(failed.to_string().contains("seeding DB3 has failed: Seeding, error 1204"), "{failed}");
    }
}

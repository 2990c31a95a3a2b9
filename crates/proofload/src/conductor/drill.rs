//! A drill: after the measured window something is made to fail while load goes on, until the users' throughput is back. May not know how
//! a fault is made.

use super::existing_drill;
use super::fork;
use super::managed_drill;
use super::preparation::PreparedRun;
use super::prober_pace;
use super::promotion::{Promotion, promote};
use super::rejoin::{self, BEHIND_AT_MOST};
use super::run_context::RunContext;
use crate::live::Phase;
use proofload_analysis::recovery::{BACK_FOR, ThroughputBefore, missed, recovered_for_good};
use proofload_model::deployment::{InstanceName, InstancePlan};
use proofload_model::drill::{
    DrillAsked, DrillReport, FaultAsked, FaultInForce, FaultTarget, LogFork, ProberReport, Rejoin,
};
use proofload_model::error::Error;
use proofload_model::fault_strength::FaultStrength;
use proofload_model::manager::ManagerKind;
use proofload_model::prober::PACE_LEAD;
use proofload_model::replication::ReplicationReading;
use proofload_model::time::Moment;
use proofload_model::units::Bytes;
use std::time::Duration;

/// How often is looked whether standbys are in sync again.
const LOOK: Duration = Duration::from_millis(100);

/// Course of a drill before the prober is heard. Times are from time zero, in seconds.
pub(super) struct DrillCourse {
    fault: Option<FaultAsked>,
    strength: FaultStrength,
    phase: Duration,
    pub(super) in_force: FaultTimes,
    pub(super) manager: Option<ManagerKind>,
    pub(super) detected_at: Option<f64>,
    pub(super) promote_asked_at: Option<f64>,
    pub(super) promoted: Option<Promotion>,
    fork: Option<LogFork>,
    pub(super) rejoin_asked_at: Option<f64>,
    pub(super) rejoined_at: Option<f64>,
    undone_at: Option<f64>,
    before: ThroughputBefore,
    /// Log that each standby may lack at most where the primary is protected again.
    behind_at_most: Bytes,
    recovered_at: Option<f64>,
    pub(super) protected_again_at: Option<f64>,
    work_missed: f64,
}

impl DrillCourse {
    /// The course before anything was done, with the throughput of the users until then.
    fn before(asked: &DrillAsked, manager: Option<ManagerKind>, before: ThroughputBefore) -> Self {
        Self {
            fault: asked.fault,
            strength: asked.strength,
            phase: Duration::ZERO,
            in_force: FaultTimes::default(),
            manager,
            detected_at: None,
            promote_asked_at: None,
            promoted: None,
            fork: None,
            rejoin_asked_at: None,
            rejoined_at: None,
            undone_at: None,
            before,
            behind_at_most: BEHIND_AT_MOST,
            recovered_at: None,
            protected_again_at: None,
            work_missed: 0.0,
        }
    }

    /// The report, with what the prober found.
    pub(super) fn report(self, prober: ProberReport) -> DrillReport {
        let reach = self.promoted.as_ref().and_then(|promotion| promotion.reach);
        let (promoted, promoted_at) = self.promoted.map(|promotion| (promotion.name, promotion.at)).unzip();
        DrillReport {
            fault: self.fault,
            strength: self.strength,
            phase: self.phase.as_secs_f64(),
            fault_begun: Some(self.in_force.begun),
            fault_after: self.in_force.after,
            fault_at: self.in_force.at,
            manager: self.manager,
            detected_at: self.detected_at,
            promote_asked_at: self.promote_asked_at,
            promoted_at,
            promoted,
            rejoin_asked_at: self.rejoin_asked_at,
            rejoined_at: self.rejoined_at,
            undone_at: self.undone_at,
            before: self.before.mean,
            recovered_at: self.recovered_at,
            work_missed: self.work_missed,
            protected_again_at: self.protected_again_at,
            reach,
            fork: self.fork,
            prober,
        }
    }
}

/// Times of a fault, in seconds from time zero.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FaultTimes {
    begun: f64,
    after: f64,
    pub(super) at: f64,
}

impl FaultTimes {
    pub(super) fn of(context: &RunContext<'_>, instance: &InstancePlan, made: FaultInForce) -> Self {
        let [begun, after, at] = [made.begun, made.after, made.at].map(|moment| in_seconds(context, instance, moment));
        Self { begun, after, at }
    }
}

/// Carries out a drill after a window of seconds of load.
pub(super) fn carry_out(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    asked: &DrillAsked,
    (from, to): (usize, usize),
) -> Result<DrillCourse, Error> {
    let before = ThroughputBefore::of(context.heard.state.throughput.get(from..to).unwrap_or_default());
    context.heard.view.phase(Phase::Drilling);
    let mut course = DrillCourse::before(asked, prepared.manager.as_ref().map(|manager| manager.kind), before);
    course.behind_at_most = behind_at_most(context, prepared);
    course.phase = asked.fault.map_or(Duration::ZERO, |_| phase(asked.phase, prepared.run.seed));
    prober_pace::wait_at_pace(context, PACE_LEAD + course.phase)?;
    match asked.fault {
        None => {
            course.in_force = FaultTimes { begun: now(context), after: now(context), at: now(context) };
            last(context, asked)?;
        }
        Some(fault) if fault.is_a_failover() && prepared.manager.is_none() => {
            existing_drill::replace(context, prepared, (fault, &mut course))?;
        }
        Some(fault) if fault.takes_the_primary() && prepared.manager.is_some() => {
            managed_drill::replace(context, prepared, asked, fault, &mut course)?;
        }
        Some(fault) => {
            course.in_force = make(context, prepared, fault, asked.strength)?;
            if asked.replaces_the_primary() {
                context.wait(asked.promote_after)?;
                course.promote_asked_at = Some(now(context));
                let until = course.in_force.at + asked.within.as_secs_f64();
                course.promoted = Some(promote(context, prepared, &fault.instance(), until)?);
            } else {
                last(context, asked)?;
                course.undone_at = Some(undo(context, prepared, fault)?);
            }
        }
    }
    prober_pace::calm(context)?;
    let began = course.in_force.at.max(0.0) as usize;
    until_back(context, prepared, asked, (&mut course, began))?;
    let replaced = asked.fault.filter(|_| asked.replaces_the_primary());
    if let Some((promotion, fault)) = course.promoted.as_ref().zip(replaced) {
        course.fork = fork::read(context, prepared, promotion, &fault.instance())?;
    }
    if let (Rejoin::Rewind, Some(fault)) = (asked.rejoin, replaced) {
        prober_pace::hasten(context)?;
        let failed = fault.instance();
        match prepared.manager {
            Some(_) => rejoin::come_back(context, prepared, asked, (&failed, &mut course))?,
            None => rejoin::rejoin(context, prepared, asked, (&failed, &mut course))?,
        }
    }
    let end = course.recovered_at.map_or(context.heard.state.throughput.len(), |at| at as usize);
    course.work_missed = missed(context.heard.state.throughput.get(began..end).unwrap_or_default(), before.mean);
    if let Some(fault) = replaced {
        context.testbed(prepared).end_faulty(&fault.instance())?;
    }
    Ok(course)
}

/// Lets a fault last until it is undone, or a drill without one. While it takes nothing away the prober is calm, so that what users lack
/// is the fault's work.
fn last(context: &mut RunContext<'_>, asked: &DrillAsked) -> Result<(), Error> {
    prober_pace::calm(context)?;
    prober_pace::wait_at_pace(context, asked.lasts)
}

/// Makes the fault; its times.
pub(super) fn make(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    fault: FaultAsked,
    strength: FaultStrength,
) -> Result<FaultTimes, Error> {
    let mut testbed = context.testbed(prepared);
    if fault.target == FaultTarget::Arbiter {
        let primary = testbed.primary().clone();
        let made = testbed.make_fault_of_arbiter(fault.kind)?;
        return Ok(FaultTimes::of(context, &primary, made));
    }
    let instance = of_name(prepared, &fault.instance())?.clone();
    let made = testbed.make_fault(&instance, fault.kind, strength)?;
    Ok(FaultTimes::of(context, &instance, made))
}

/// Undoes a fault, and starts the instance again where that has ended; when it was undone.
fn undo(context: &mut RunContext<'_>, prepared: &PreparedRun, fault: FaultAsked) -> Result<f64, Error> {
    let mut testbed = context.testbed(prepared);
    if fault.target == FaultTarget::Arbiter {
        testbed.start_arbiter()?;
        return Ok(now(context));
    }
    let instance = of_name(prepared, &fault.instance())?.clone();
    let undone = testbed.undo_fault(&instance)?;
    if undone.runs {
        return Ok(in_seconds(context, &instance, undone.at));
    }
    let upstream = context.upstreams.get(&instance.name).cloned();
    let (place, part) = (instance.place.clone(), prepared.part(&instance, upstream.as_ref()));
    context.testbed(prepared).start_again(&instance, place, part)?;
    Ok(now(context))
}

/// Time to wait before a fault: uniform below the longest, from the seed of the run alone.
fn phase(longest: Duration, seed: u64) -> Duration {
    /// Stream of the seed, so that no other draw has the same numbers.
    const STREAM: u64 = 0x0070_6861_7365;
    let share = proofload_model::plan::mix(seed, STREAM) >> 11;
    longest.mul_f64(share as f64 / (1u64 << 53) as f64)
}

pub(super) fn of_name<'p>(prepared: &'p PreparedRun, name: &InstanceName) -> Result<&'p InstancePlan, Error> {
    let found = prepared.deployment.instances.iter().find(|instance| instance.name == *name);
    found.ok_or_else(|| Error::refused(format!("failed to inject the fault: no such instance: {name}")))
}

/// Waits until the users' throughput is back and the primary is protected again, as far as it can be, or until the time is up.
fn until_back(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    asked: &DrillAsked,
    (course, began): (&mut DrillCourse, usize),
) -> Result<(), Error> {
    let mut leader = leader(prepared, asked, course)?;
    let told_from = told_from(course.undone_at, course.promoted.as_ref().map(|promotion| promotion.at));
    let until = began + usize::try_from(asked.within.as_secs()).unwrap_or(usize::MAX / 2) + BACK_FOR;
    let until = until.max(told_from);
    loop {
        if leader.is_some_and(|leader| is_protected(context, prepared, (leader, course.behind_at_most))) {
            course.protected_again_at = Some(now(context));
            leader = None;
        }
        let throughput = &context.heard.state.throughput;
        let back = recovered_for_good(throughput.get(began..).unwrap_or_default(), &course.before);
        course.recovered_at = back.map(|second| (began + second) as f64);
        let seconds = throughput.len();
        if seconds >= until || (seconds >= told_from && course.recovered_at.is_some() && leader.is_none()) {
            return Ok(());
        }
        // A primary that hangs keeps a look at it waiting; the seconds of load tell the time.
        match leader {
            Some(_) => context.wait(LOOK)?,
            None if context.wait_for(seconds + 1)? => {}
            None => return Err(Error::lost("the load ended during the drill")),
        }
        if context.heard.state.end.is_some() {
            return Err(Error::lost("the load ended during the drill"));
        }
    }
}

/// Seconds of load from which on is told whether the users have recovered: a fault may act at its end, so ten seconds after it was
/// undone, and after another instance took its place, are looked at too.
fn told_from(undone_at: Option<f64>, promoted_at: Option<f64>) -> usize {
    undone_at.unwrap_or(0.0).max(promoted_at.unwrap_or(0.0)).ceil() as usize + BACK_FOR
}

/// The instance that leads after a fault and may be protected again; `None` where no standby is, and without a fault.
fn leader<'p>(
    prepared: &'p PreparedRun,
    asked: &DrillAsked,
    course: &DrillCourse,
) -> Result<Option<&'p InstancePlan>, Error> {
    let name = match (&course.promoted, asked.fault) {
        (_, None) => return Ok(None),
        (None, Some(_)) if prepared.deployment.instances.len() == 1 => return Ok(None),
        (Some(promotion), _) if !promotion.has_standbys => return Ok(None),
        (Some(promotion), _) => promotion.name.clone(),
        (None, Some(_)) => InstanceName::primary(),
    };
    let found = prepared.deployment.instances.iter().find(|instance| instance.name == name);
    found.map(Some).ok_or_else(|| Error::refused(format!("failed to watch {name}: no such instance")))
}

/// Log that each standby of a protected primary may lack at most: twice what one lacked before the fault, and not less than a little.
fn behind_at_most(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Bytes {
    if prepared.replication.is_none() || prepared.manager.is_some() {
        return BEHIND_AT_MOST;
    }
    // A primary that cannot be asked now says nothing of its standbys.
    let read = context.testbed(prepared).read_replication().ok();
    Bytes(2 * read.as_ref().map_or(0, most_unflushed).min(u64::MAX / 2)).max(BEHIND_AT_MOST)
}

/// Bytes of log that the standby lacks which is furthest behind.
fn most_unflushed(seen: &ReplicationReading) -> u64 {
    seen.standbys.iter().map(|standby| standby.unflushed.0).max().unwrap_or(0)
}

/// Whether the mode is in force with all standbys that are left and these have all but a little of the log, or every other instance
/// follows as a manager says. One that cannot be asked is not protected.
fn is_protected(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    (leader, behind_at_most): (&InstancePlan, Bytes),
) -> bool {
    if prepared.manager.is_some() {
        return managed_drill::is_protected(context, prepared);
    }
    let read = context.testbed(prepared).read_replication_of(leader);
    read.is_ok_and(|reading| is_caught_up(&reading, behind_at_most))
}

/// Whether the mode is in force with standbys that have all but so much of the log: one that just connected again streams, and has not
/// caught up.
fn is_caught_up(seen: &ReplicationReading, behind_at_most: Bytes) -> bool {
    seen.out_of_force.is_none() && most_unflushed(seen) < behind_at_most.0
}

/// Now, in seconds from time zero.
pub(super) fn now(context: &RunContext<'_>) -> f64 {
    since_zero(context, context.agents.now())
}

/// A moment of an instance's host, in seconds from time zero.
pub(super) fn in_seconds(context: &RunContext<'_>, instance: &InstancePlan, moment: Moment) -> f64 {
    let ours = context.agents.host(&instance.host).map_or(moment, |agent| agent.in_our_time(moment));
    since_zero(context, ours)
}

fn since_zero(context: &RunContext<'_>, moment: Moment) -> f64 {
    context.heard.state.origin.map_or(0.0, |origin| moment.offset_from(origin).as_seconds())
}

impl RunContext<'_> {
    /// Lets time pass, and hears what is told meanwhile.
    pub(super) fn wait(&mut self, time: Duration) -> Result<(), Error> {
        let until = self.agents.now() + time;
        loop {
            let left = until.since(self.agents.now());
            if left.is_zero() {
                return Ok(());
            }
            self.agents.hear(left.min(Duration::from_millis(20)), &mut self.heard)?;
            self.expect_no_trouble()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::replication::StandbyReading;

    #[test]
    fn a_standby_that_streams_and_lacks_log_protects_nobody_yet() {
        let seen = |unflushed, why: Option<&str>| {
            let name = InstanceName::standby(1);
            let unflushed = Bytes(unflushed);
            let (unsent, unwritten, unapplied) = (unflushed, unflushed, unflushed);
            let standbys = vec![StandbyReading { name, unsent, unwritten, unflushed, unapplied, lag: None }];
            let out_of_force = why.map(str::to_owned);
            ReplicationReading { unprotected: why.is_some(), out_of_force, log_end: None, standbys }
        };
        assert!(is_caught_up(&seen(1000, None), BEHIND_AT_MOST));
        assert!(!is_caught_up(&seen(1 << 20, None), BEHIND_AT_MOST));
        assert!(is_caught_up(&seen(1 << 20, None), Bytes(3 << 20)));
        assert!(!is_caught_up(&seen(0, Some("standby-1 is not streaming")), BEHIND_AT_MOST));
    }

    #[test]
    fn recovery_is_told_ten_seconds_after_the_end_of_a_fault() {
        assert_eq!(told_from(None, None), BACK_FOR);
        assert_eq!(told_from(Some(90.5), None), 91 + BACK_FOR);
        assert_eq!(told_from(Some(90.5), Some(120.0)), 120 + BACK_FOR);
    }

    #[test]
    fn phases_are_drawn_uniformly_from_the_seed() {
        let longest = Duration::from_secs(10);
        let all: Vec<f64> = (0..1000).map(|seed| phase(longest, seed).as_secs_f64()).collect();
        assert!(all.iter().all(|time| (0.0..10.0).contains(time)));
        // The mean of 1000 uniform draws is within 0.37 of 5 in all but one case of 10,000.
        let mean = all.iter().sum::<f64>() / 1000.0;
        assert!((mean - 5.0).abs() < 0.37, "{mean}");
        assert_eq!(phase(longest, 7), phase(longest, 7));
        assert_eq!(phase(Duration::ZERO, 7), Duration::ZERO);
    }
}

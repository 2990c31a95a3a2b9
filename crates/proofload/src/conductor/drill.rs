//! A drill: after the measured window something is made to fail while load goes on, until the users' throughput is back. May not know how
//! a fault is made.

use super::preparation::PreparedRun;
use super::run_context::RunContext;
use super::testbed::Testbed;
use crate::live::Phase;
use proofload_model::deployment::{InstanceName, InstancePlan};
use proofload_model::drill::{DrillAsked, DrillReport, FaultAsked, ProberReport};
use proofload_model::error::Error;
use proofload_model::fault_strength::FaultStrength;
use proofload_model::time::Moment;
use std::time::Duration;

/// Seconds whose mean tells that the users' throughput is back.
const BACK_FOR: usize = 10;

/// Share of the throughput before that counts as back.
const BACK_FROM: f64 = 0.95;

/// Course of a drill before the prober is heard. Times are from time zero, in seconds.
pub(super) struct DrillCourse {
    fault: Option<FaultAsked>,
    strength: FaultStrength,
    phase: Duration,
    in_force: (f64, f64),
    promote_asked_at: Option<f64>,
    promoted: Option<(InstanceName, f64)>,
    undone_at: Option<f64>,
    before: f64,
    recovered_at: Option<f64>,
    work_missed: f64,
}

impl DrillCourse {
    /// The report, with what the prober found.
    pub(super) fn report(self, prober: ProberReport) -> DrillReport {
        let (promoted, promoted_at) = self.promoted.unzip();
        DrillReport {
            fault: self.fault,
            strength: self.strength,
            phase: self.phase.as_secs_f64(),
            fault_after: self.in_force.0,
            fault_at: self.in_force.1,
            promote_asked_at: self.promote_asked_at,
            promoted_at,
            promoted,
            undone_at: self.undone_at,
            before: self.before,
            recovered_at: self.recovered_at,
            work_missed: self.work_missed,
            prober,
        }
    }
}

/// Carries out a drill after a window of seconds of load.
pub(super) fn carry_out(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    asked: &DrillAsked,
    (from, to): (usize, usize),
) -> Result<DrillCourse, Error> {
    let before = mean(context.heard.state.throughput.get(from..to).unwrap_or_default());
    context.heard.view.phase(Phase::Drilling);
    let mut course = DrillCourse {
        fault: asked.fault,
        strength: asked.strength,
        phase: Duration::ZERO,
        in_force: (0.0, 0.0),
        promote_asked_at: None,
        promoted: None,
        undone_at: None,
        before,
        recovered_at: None,
        work_missed: 0.0,
    };
    match asked.fault {
        None => {
            course.in_force = (now(context), now(context));
            context.wait(asked.lasts)?;
        }
        Some(fault) => {
            course.phase = phase(asked.phase, prepared.run.seed);
            context.wait(course.phase)?;
            course.in_force = make(context, prepared, fault, asked.strength)?;
            if fault.takes_the_primary() {
                context.wait(asked.promote_after)?;
                course.promote_asked_at = Some(now(context));
                course.promoted = Some(promote(context, prepared)?);
            } else {
                context.wait(asked.lasts)?;
                course.undone_at = Some(undo(context, prepared, fault)?);
            }
        }
    }
    let began = course.in_force.1.max(0.0) as usize;
    course.recovered_at = until_recovered(context, asked, before, began)?;
    let end = course.recovered_at.map_or(context.heard.state.throughput.len(), |at| at as usize);
    let seconds = context.heard.state.throughput.get(began..end).unwrap_or_default();
    course.work_missed = seconds.iter().map(|done| 1.0 - finite(*done) / before.max(f64::MIN_POSITIVE)).sum();
    if let Some(fault) = asked.fault.filter(|fault| fault.takes_the_primary()) {
        context.testbed(prepared).end_faulty(&fault.instance())?;
    }
    Ok(course)
}

/// Makes the fault; the last time at which it was not in force, and the first at which it was.
fn make(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    fault: FaultAsked,
    strength: FaultStrength,
) -> Result<(f64, f64), Error> {
    let mut testbed = context.testbed(prepared);
    let instance = of_name(&testbed, &fault.instance())?.clone();
    let made = testbed.make_fault(&instance, fault.kind, strength)?;
    Ok((in_seconds(context, &instance, made.after), in_seconds(context, &instance, made.at)))
}

/// Promotes the standby that has received most; its name, and when it was a primary.
fn promote(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<(InstanceName, f64), Error> {
    let mut testbed = context.testbed(prepared);
    let mut best: Option<(u64, &InstancePlan)> = None;
    let mut trouble = Error::lost("there is no standby to promote");
    for standby in prepared.deployment.standbys() {
        match testbed.received(standby) {
            Ok(bytes) if best.is_none_or(|(most, _)| bytes.0 > most) => best = Some((bytes.0, standby)),
            Ok(_) => {}
            Err(error) => trouble = error,
        }
    }
    let Some((_, standby)) = best else { return Err(trouble.context("choose a standby to promote")) };
    let promoted = testbed.promote(standby)?;
    Ok((standby.name.clone(), in_seconds(context, standby, promoted)))
}

/// Undoes a fault, and starts the instance again where that has ended; when it was undone.
fn undo(context: &mut RunContext<'_>, prepared: &PreparedRun, fault: FaultAsked) -> Result<f64, Error> {
    let mut testbed = context.testbed(prepared);
    let instance = of_name(&testbed, &fault.instance())?.clone();
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

fn of_name<'t>(testbed: &Testbed<'t, '_>, name: &InstanceName) -> Result<&'t InstancePlan, Error> {
    let found = testbed.deployment.instances.iter().find(|instance| instance.name == *name);
    found.ok_or_else(|| Error::refused(format!("make a fault: there is no instance {name}")))
}

/// Waits until the throughput of enough seconds in a row is back; the first of them, or `None` when the time is up.
fn until_recovered(
    context: &mut RunContext<'_>,
    asked: &DrillAsked,
    before: f64,
    began: usize,
) -> Result<Option<f64>, Error> {
    let limit = began + usize::try_from(asked.within.as_secs()).unwrap_or(usize::MAX / 2);
    let mut first = began;
    loop {
        if !context.wait_for(first + BACK_FOR)? {
            return Err(Error::lost("the load ended during the drill"));
        }
        // Work that an outage has held up and that is made up for in one second does not count for another.
        let seconds = &context.heard.state.throughput[first..first + BACK_FOR];
        let at_most: Vec<f64> = seconds.iter().map(|done| finite(*done).min(before)).collect();
        if at_most[0] >= BACK_FROM * before && mean(&at_most) >= BACK_FROM * before {
            return Ok(Some(first as f64));
        }
        first += 1;
        if first > limit {
            return Ok(None);
        }
    }
}

/// A second without a result counts as one without work.
fn finite(done: f64) -> f64 {
    if done.is_finite() { done } else { 0.0 }
}

fn mean(seconds: &[f64]) -> f64 {
    seconds.iter().copied().map(finite).sum::<f64>() / seconds.len().max(1) as f64
}

/// Now, in seconds from time zero.
fn now(context: &RunContext<'_>) -> f64 {
    since_zero(context, context.agents.now())
}

/// A moment of an instance's host, in seconds from time zero.
fn in_seconds(context: &RunContext<'_>, instance: &InstancePlan, moment: Moment) -> f64 {
    let ours = context.agents.host(&instance.host).map_or(moment, |agent| agent.in_our_time(moment));
    since_zero(context, ours)
}

fn since_zero(context: &RunContext<'_>, moment: Moment) -> f64 {
    context.heard.state.origin.map_or(0.0, |origin| moment.offset_from(origin).as_seconds())
}

impl RunContext<'_> {
    /// Lets time pass, and hears what is told meanwhile.
    fn wait(&mut self, time: Duration) -> Result<(), Error> {
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

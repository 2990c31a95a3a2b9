//! Limits changed while processes run under them, read back, and read out. The others stay as they are.

use super::LIMITS;
use super::applied::AppliedLimits;
use super::limit::{LimitState, LiveLimit};
use proofload_model::error::Error;
use proofload_model::intervention::LimitMeter;
use std::collections::BTreeMap;

/// A rate that is read back may differ from the one that was set by this share: by rounding.
const ROUNDING: f64 = 1e-6;

impl AppliedLimits {
    /// Sets live limits to shares of what was asked for, less or more, and all others to what was asked for; how they stand then.
    ///
    /// # Errors
    /// A share of a limit that was not asked for or cannot be changed, one that the kernel refuses, or one that is not in force afterwards.
    pub(crate) fn change(&self, shares: &BTreeMap<String, f64>) -> Result<Vec<LimitMeter>, Error> {
        let live: Vec<(&str, &dyn LiveLimit, f64)> = self.live().collect();
        for (setting, share) in shares {
            if !live.iter().any(|(known, ..)| known == setting) {
                return Err(Error::refused(format!(
                    "failed to change {setting}: the study does not set it, or it cannot be changed while the load runs"
                )));
            }
            if !(*share > 0.0 && share.is_finite()) {
                return Err(Error::refused(format!("failed to change {setting}: {share} is no share")));
            }
        }
        // Everybody is set before anybody fails, so that one limit that resists leaves no other one lowered.
        let set = live.iter().map(|(setting, limit, asked)| {
            let share = shares.get(*setting);
            let rate = asked * share.copied().unwrap_or(1.0);
            // A limit that is as it shall be is left alone: setting a quota of CPU time anew gives one allowance more.
            if share.is_none() && is_in_force(self.state(), *limit, rate) {
                return Ok(());
            }
            set(self.state(), *limit, rate).map_err(|error| error.context(format!("failed to change {setting}")))
        });
        set.collect::<Vec<_>>().into_iter().collect::<Result<(), Error>>()?;
        Ok(self.meters())
    }

    /// How the live limits stand; what cannot be read is in force as nothing.
    pub(crate) fn meters(&self) -> Vec<LimitMeter> {
        let meter = |(setting, limit, asked): (&str, &dyn LiveLimit, f64)| LimitMeter {
            setting: setting.to_owned(),
            class: limit.class(),
            settles: limit.settles(self.state()),
            asked,
            in_force: limit.rate_in_force(self.state()).unwrap_or(None),
            used: limit.used(self.state()),
        };
        self.live().map(meter).collect()
    }

    /// Live limits that were asked for, with what was asked.
    fn live(&self) -> impl Iterator<Item = (&'static str, &'static dyn LiveLimit, f64)> {
        let live = |limit: &&'static dyn super::limit::Limit| {
            let live = limit.live()?;
            Some((limit.setting(), live, live.asked_rate(self.state())?))
        };
        LIMITS.iter().filter_map(live)
    }
}

/// Whether a rate is in force already.
fn is_in_force(state: &LimitState, limit: &dyn LiveLimit, rate: f64) -> bool {
    let found = limit.rate_in_force(state).ok().flatten();
    found.is_some_and(|found| (found / rate - 1.0).abs() <= ROUNDING)
}

/// Sets a rate and reads it back.
fn set(state: &LimitState, limit: &dyn LiveLimit, rate: f64) -> Result<(), Error> {
    let expected = limit.set_rate(state, rate)?;
    match limit.rate_in_force(state)? {
        Some(found) if (found / expected - 1.0).abs() <= ROUNDING => Ok(()),
        found => Err(Error::new(format!(
            "{expected} per second was set, but {} is in force: another program or a parent group sets it too",
            found.map_or_else(|| "no limit".to_owned(), |found| format!("{found} per second"))
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::applied::tests::enclose;
    use super::*;
    use proofload_model::intervention::ResourceClass;
    use proofload_model::units::{Bytes, CpuRate};
    use proofload_model::wire::{LimitsAsked, ThreadLimit};
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    fn shares(setting: &str, share: f64) -> BTreeMap<String, f64> {
        BTreeMap::from([(setting.to_owned(), share)])
    }

    fn meter(meters: &[LimitMeter], setting: &str) -> LimitMeter {
        meters.iter().find(|meter| meter.setting == setting).cloned().unwrap()
    }

    /// Used of a limit per second over a time, which begins before the first reading: a pause between the two makes it no more.
    fn used(applied: &AppliedLimits, setting: &str, time: Duration) -> f64 {
        let (began, before) = (Instant::now(), meter(&applied.meters(), setting));
        std::thread::sleep(time);
        let after = meter(&applied.meters(), setting);
        (after.used[0] - before.used[0]) / began.elapsed().as_secs_f64()
    }

    /// The most CPU time that is used of a quota in one of ten windows: others may have the processor in some, and none has more.
    #[track_caller]
    fn most_cpu_used(applied: &AppliedLimits, quota: f64) -> f64 {
        let mut most = 0.0_f64;
        for _ in 0..10 {
            let found = used(applied, "limits.cpu", Duration::from_secs(2));
            assert!(found <= 1.15 * quota, "{found} of {quota}");
            most = most.max(found);
            if most >= 0.95 * quota {
                break;
            }
        }
        most
    }

    fn end(mut child: Child) {
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn cpu_time_follows_a_change_one_for_one_and_comes_back() {
        let asked = LimitsAsked { cpu: Some(CpuRate::from_seconds(0.3)), ..LimitsAsked::default() };
        let Some((_alone, mut applied)) = enclose(asked) else { return };
        let child = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        applied.join(child.id()).unwrap();
        let settle = Duration::from_millis(300);
        std::thread::sleep(settle);
        let whole = most_cpu_used(&applied, 0.3);
        let lowered = meter(&applied.change(&shares("limits.cpu", 0.5)).unwrap(), "limits.cpu");
        assert_eq!((lowered.asked, lowered.in_force), (0.3, Some(0.15)));
        std::thread::sleep(settle);
        let half = most_cpu_used(&applied, 0.15);
        let elasticity = (half / whole).ln() / 0.5_f64.ln();
        assert!((0.85..1.15).contains(&elasticity), "{whole} and {half}");
        // The verification of a run finds a limit that is still lowered or raised, and none once it is restored.
        assert!(applied.verify().iter().any(|fact| fact.holds == Some(false)));
        let raised = meter(&applied.change(&shares("limits.cpu", 1.5)).unwrap(), "limits.cpu");
        assert_eq!(raised.in_force, Some(0.45));
        assert!(applied.verify().iter().any(|fact| fact.holds == Some(false)));
        let restored = meter(&applied.change(&BTreeMap::new()).unwrap(), "limits.cpu");
        assert_eq!(restored.in_force, Some(0.3));
        assert!(applied.verify().iter().all(|fact| fact.holds != Some(false)));
        end(child);
    }

    #[test]
    fn requests_follow_a_change_and_are_counted() {
        let asked = LimitsAsked { write_iops: Some(60), ..LimitsAsked::default() };
        let Some((_alone, mut applied)) = enclose(asked) else { return };
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let line = format!("while :; do dd if=/dev/zero of={} bs=4k count=64 oflag=direct,dsync; done", file.display());
        let child = Command::new("sh").args(["-c", &line]).stderr(Stdio::null()).spawn().unwrap();
        applied.join(child.id()).unwrap();
        std::thread::sleep(Duration::from_secs(1));
        if meter(&applied.meters(), "limits.write_iops").used.first().is_none_or(|used| *used == 0.0) {
            println!("SKIPPED: this file system has no device whose requests are counted");
            return end(child);
        }
        let whole = used(&applied, "limits.write_iops", Duration::from_secs(3));
        applied.change(&shares("limits.write_iops", 0.5)).unwrap();
        std::thread::sleep(Duration::from_secs(1));
        let half = used(&applied, "limits.write_iops", Duration::from_secs(3));
        // A disk of others may be slower than the limit; it is never faster.
        assert!(whole <= 1.1 * 60.0 && half <= 1.1 * 30.0, "{whole} and {half}");
        end(child);
    }

    #[test]
    fn memory_follows_a_change_and_what_cannot_be_reclaimed_is_left() {
        let asked = LimitsAsked { memory: Some(Bytes(256 << 20)), ..LimitsAsked::default() };
        let Some((_alone, mut applied)) = enclose(asked) else { return };
        // About 128 MiB of its own, which no reclaim can take.
        let line = "x=$(head -c 60000000 /dev/zero | tr '\\0' x); echo ready; read wait";
        let mut child =
            Command::new("sh").args(["-c", line]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        applied.join(child.id()).unwrap();
        let mut ready = [0; 5];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut ready).unwrap();
        let half = meter(&applied.change(&shares("limits.memory", 0.75)).unwrap(), "limits.memory");
        assert_eq!((half.class, half.in_force), (ResourceClass::Structure, Some(f64::from(192 << 20))));
        let refused = applied.change(&shares("limits.memory", 0.1)).unwrap_err().to_string();
        assert!(refused.contains("cannot be reclaimed"), "{refused}");
        assert_eq!(meter(&applied.meters(), "limits.memory").in_force, Some(f64::from(192 << 20)), "it is as it was");
        let raised = meter(&applied.change(&shares("limits.memory", 1.25)).unwrap(), "limits.memory");
        assert_eq!(raised.in_force, Some(f64::from(320 << 20)));
        let restored = meter(&applied.change(&BTreeMap::new()).unwrap(), "limits.memory");
        assert_eq!(restored.in_force, Some(f64::from(256 << 20)));
        assert!(applied.verify().iter().all(|fact| fact.holds != Some(false)), "{:?}", applied.verify());
        assert!(child.try_wait().unwrap().is_none(), "nothing was killed");
        end(child);
    }

    #[test]
    fn cores_are_lowered_by_a_share_and_every_thread_stays_on_them() {
        let asked = LimitsAsked { cores: Some(1), ..LimitsAsked::default() };
        let Some((_alone, mut applied)) = enclose(asked) else { return };
        let child = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        applied.join(child.id()).unwrap();
        if let Err(error) = applied.change(&shares("limits.cores", 0.5)) {
            println!("SKIPPED: {error}");
            return end(child);
        }
        let (mut half, mut agrees) = (0.0, false);
        // Where the host pauses, what was taken is not what was asked, and is said so.
        for _ in 0..20 {
            let Ok(meters) = applied.change(&shares("limits.cores", 0.5)) else { continue };
            let lowered = meter(&meters, "limits.cores");
            assert_eq!(lowered.class, ResourceClass::Speed);
            half = used(&applied, "limits.cores", Duration::from_millis(1500));
            agrees = [lowered.in_force, meter(&applied.meters(), "limits.cores").in_force] == [Some(0.5); 2];
            if agrees {
                // Others may have some of the core; the half that is taken, give or take a tenth of it, nobody has.
                assert!(half <= 0.57, "{half}");
                break;
            }
        }
        assert!(agrees, "what was taken agrees");
        assert_eq!(meter(&applied.change(&BTreeMap::new()).unwrap(), "limits.cores").in_force, Some(1.0));
        let whole = (0..20).map(|_| used(&applied, "limits.cores", Duration::from_secs(1))).find(|whole| *whole > half);
        assert!(whole.is_some(), "no more than {half} once nothing is taken");
        assert!(applied.verify().iter().all(|fact| fact.holds != Some(false)));
        end(child);
    }

    #[test]
    fn what_cannot_be_changed_is_refused_and_changes_nothing() {
        let asked = LimitsAsked { cpu: Some(CpuRate::from_seconds(0.5)), ..LimitsAsked::default() };
        let Some((_alone, applied)) = enclose(asked) else { return };
        for (setting, share) in
            [("limits.memory", 0.8), ("limits.cores", 0.5), ("limits.read_iops", 0.8), ("limits.cpu", 0.0)]
        {
            let error = applied.change(&shares(setting, share)).unwrap_err().to_string();
            assert!(error.contains(setting), "{error}");
        }
        assert_eq!(meter(&applied.meters(), "limits.cpu").in_force, Some(0.5));
    }

    #[test]
    fn a_parent_that_allows_less_is_told_and_is_what_is_in_force() {
        let thread =
            ThreadLimit { role: "walsender".to_owned(), cpu: CpuRate::from_seconds(0.25), may_be_absent: true };
        let cpu = Some(CpuRate::from_seconds(0.3));
        let asked = LimitsAsked { cpu, thread: Some(thread), ..LimitsAsked::default() };
        let Some((_alone, applied)) = enclose(asked) else { return };
        // The group of the role is below that of the instance. Version 1 refuses more than the parent has, version 2 takes it.
        let error = applied.change(&shares("limits.thread_cpu", 1.5)).unwrap_err().to_string();
        assert!(error.contains("limits.thread_cpu"), "{error}");
        let in_force = meter(&applied.meters(), "limits.thread_cpu").in_force;
        assert!(in_force.is_some_and(|rate| rate < 0.31), "{in_force:?}");
        let restored = applied.change(&BTreeMap::new()).unwrap();
        assert_eq!(meter(&restored, "limits.thread_cpu").in_force, Some(0.25));
    }
}

//! End of the instances of a deployment: by a clean stop where their data are kept, at once where these are restored before anything else
//! is made of them. May not know the load.

use super::preparation::PreparedRun;
use super::testbed::Testbed;
use proofload_model::deployment::{InstancePlan, Role};
use proofload_model::error::Error;
use proofload_model::wire::host;

/// Way in which the instances of a deployment end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InstanceEnd {
    /// A clean stop: their data can be kept.
    Clean,
    /// An end at once: their data are discarded.
    AtOnce,
}

impl PreparedRun {
    /// The way in which its instances end: what is done next with data that every run of the study restores is a restore.
    pub(super) fn instance_end(&self) -> InstanceEnd {
        let is_restored = !self.reuses_data && self.keeps_data();
        if is_restored && self.starts_instance() { InstanceEnd::AtOnce } else { InstanceEnd::Clean }
    }
}

impl Testbed<'_, '_> {
    /// Stops all servers cleanly and detaches their storage.
    pub(super) fn stop(&mut self) -> Result<(), Error> {
        self.end(InstanceEnd::Clean)
    }

    /// Ends all servers and detaches their storage: standbys first, since a primary that is stopped waits until they have received its log.
    pub(super) fn end(&mut self, how: InstanceEnd) -> Result<(), Error> {
        let (primary, standbys): (Vec<_>, Vec<_>) = self.ours().partition(|instance| instance.role == Role::Primary);
        for instance in standbys.into_iter().chain(primary) {
            self.end_one(instance, how)?;
        }
        // After its nodes, which could not tell it that they end.
        if self.ours().next().is_some() {
            self.ask(self.primary(), host::StopArbiter {})?;
        }
        Ok(())
    }

    /// Stops every standby.
    pub(super) fn stop_standbys(&mut self) -> Result<(), Error> {
        self.deployment.standbys().try_for_each(|standby| self.end_one(standby, InstanceEnd::Clean))
    }

    /// Stops the primary and detaches its storage, before its standbys.
    pub(super) fn stop_primary(&mut self) -> Result<(), Error> {
        self.end_one(self.primary(), InstanceEnd::Clean)
    }

    fn end_one(&mut self, instance: &InstancePlan, how: InstanceEnd) -> Result<(), Error> {
        let InstancePlan { name, place, .. } = instance.clone();
        match how {
            InstanceEnd::Clean => self.ask(instance, host::Stop { instance: name.clone() })?,
            InstanceEnd::AtOnce => self.ask(instance, host::Discard { instance: name.clone(), place })?,
        }
        self.ask(instance, host::Detach { instance: name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::plan::expand;
    use proofload_model::study::validate;

    #[track_caller]
    fn check(engine: &str, restore: &str, expected: InstanceEnd) {
        check_all(engine, &format!("[procedure]\nrestore = \"{restore}\"\n"), expected);
    }

    /// Checks every run of a study.
    #[track_caller]
    fn check_all(engine: &str, more: &str, expected: InstanceEnd) {
        let text = format!(
            "[study]\nname = \"t\"\ntitle = \"t\"\nseed = 1\n[workload]\nkind = \"tprocc\"\nwarehouses = 1\n\
             virtual_users = 1\n[engine]\nkind = \"{engine}\"\n{more}"
        );
        let study = validate(&text, &[], &crate::catalogue::catalogue()).expect("it is valid");
        let plan = expand(&study);
        for run in &plan.runs {
            let prepared = PreparedRun::of(&study, &plan, *run).expect("it is prepared");
            assert_eq!(prepared.instance_end(), expected, "{engine}, {more}, {run:?}");
        }
    }

    #[test]
    fn servers_end_at_once_only_where_every_run_restores_their_data() {
        check("postgresql", "every-run", InstanceEnd::AtOnce);
        check("mariadb", "every-run", InstanceEnd::AtOnce);
        check("postgresql", "never", InstanceEnd::Clean);
        check("mariadb", "never", InstanceEnd::Clean);
        check("sqlite", "every-run", InstanceEnd::Clean);
    }

    #[test]
    fn servers_stop_cleanly_where_some_run_goes_on_with_what_another_left() {
        let both = "[[factor]]\nsetting = \"procedure.restore\"\nlevels = [\"every-run\", \"never\"]\n";
        check_all("postgresql", both, InstanceEnd::Clean);
    }
}

//! Members of a replica set that Proofload did not start: each connection asks for its write concern, and what the set says of its members
//! is read. Untested on a real replica set. Source: MongoDB manual, `replSetGetStatus`, "Write Concern".

use super::admin::{Admin, SERVER, WHOLE_PATIENCE};
use super::bson::{Document, Element};
use super::engine::Mongodb;
use super::options::{ClientPath, Options};
use crate::contract::{Error, ExistingReplication, ReplicationWatch, Target};
use crate::engines::blocking::{KeptLink, PATIENCE};
use proofload_model::replication::{ReplicationAsked, ReplicationMode, ReplicationReading};

/// Code of the answer of a server that is no member of a set.
const NO_REPLICATION: &str = "76";

const MODES: &[ReplicationMode] = &[ReplicationMode::Async, ReplicationMode::RemoteWrite, ReplicationMode::RemoteFlush];

impl ExistingReplication for Mongodb {
    fn modes(&self) -> &'static [ReplicationMode] {
        MODES
    }

    fn setting_names(&self) -> &'static [&'static str] {
        &["write_concern", "journal"]
    }

    /// Written: a majority has it in memory. Flushed: a majority has it in the journal on its drive.
    fn session_settings(&self, mode: ReplicationMode) -> Vec<(String, String)> {
        let (members, journal) = match mode {
            ReplicationMode::None | ReplicationMode::Async => ("1", "false"),
            ReplicationMode::RemoteWrite => ("majority", "false"),
            ReplicationMode::RemoteFlush | ReplicationMode::RemoteApply => ("majority", "true"),
        };
        [("write_concern", members), ("journal", journal)]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into()
    }

    fn watch(&self, primary: &Target, asked: &ReplicationAsked) -> Result<Box<dyn ReplicationWatch>, Error> {
        let path = Options::read(&primary.place.settings)?.path;
        let target = primary.clone();
        Ok(Box::new(SetWatch { asked: asked.clone(), link: KeptLink::new()?, path, target }))
    }
}

/// The watch. Connects at the first reading, and again at the next one after the connection was lost.
struct SetWatch {
    asked: ReplicationAsked,
    link: KeptLink<Admin>,
    path: ClientPath,
    target: Target,
}

impl ReplicationWatch for SetWatch {
    fn read(&mut self) -> Result<ReplicationReading, Error> {
        let (path, target, asked) = (self.path, &self.target, &self.asked);
        let open = async || Admin::by(path, target, PATIENCE).await;
        let outcome = self.link.ask(WHOLE_PATIENCE, open, async |admin: &mut Admin| {
            match admin.run(SERVER, |command| command.int32("replSetGetStatus", 1)).await {
                Ok(status) => Ok(out_of_force(asked, status.document()?)),
                Err(error) if error.code() == NO_REPLICATION => {
                    Ok(Some("the server is not a member of a replica set".to_owned()))
                }
                Err(error) => Err(error),
            }
        });
        // A set tells how far its members are in operations and times, not in bytes.
        let reading =
            |out_of_force| ReplicationReading { unprotected: false, out_of_force, standbys: Vec::new(), log_end: None };
        outcome.map(reading).map_err(|error| error.context("failed to read the replica set"))
    }
}

/// Why a mode is not in force by a set's status.
fn out_of_force(asked: &ReplicationAsked, status: Document<'_>) -> Option<String> {
    let Some(members) = status.at("members").and_then(Element::document) else {
        return Some("the replica set lists no members".to_owned());
    };
    let (mut primaries, mut secondaries) = (0, 0);
    for member in members.iter().map_while(Result::ok).filter_map(|(_, member)| member.document()) {
        let healthy = member.at("health").and_then(Element::number) != Some(0.0);
        match member.at("stateStr").and_then(Element::text) {
            Some("PRIMARY") if healthy => primaries += 1,
            Some("SECONDARY") if healthy => secondaries += 1,
            _ => {}
        }
    }
    let wanted = asked.standbys.len();
    let majority = status.at("writeMajorityCount").and_then(Element::number).unwrap_or(2.0);
    if primaries != 1 {
        return Some(format!("the replica set has {primaries} primaries"));
    }
    if secondaries < wanted {
        return Some(format!("{secondaries} members are SECONDARY, but replication.standbys is {wanted}"));
    }
    let there = 1 + secondaries;
    (asked.mode.waits() && f64::from(u32::try_from(there).unwrap_or(u32::MAX)) < majority)
        .then(|| format!("{there} members are reachable, but a majority is {majority}"))
}

#[cfg(test)]
mod tests {
    use super::super::bson::Writer;
    use super::*;
    use proofload_model::deployment::InstanceName;
    use proofload_model::replication::Confirmation;

    /// The status of a set of three with members in these states, in the manual's form.
    fn status(states: &[(&str, i32)]) -> Vec<u8> {
        Writer::bytes(|status| {
            status.text("set", "rs0");
            status.int32("writeMajorityCount", 2);
            status.array("members", |members| {
                for (place, (state, health)) in states.iter().enumerate() {
                    members.nested(&place.to_string(), |member| {
                        member.text("name", &format!("db{place}:27017"));
                        member.int32("health", *health);
                        member.text("stateStr", state);
                    });
                }
            });
        })
    }

    #[test]
    fn a_set_is_in_force_while_its_members_are_there() {
        let check = |mode, states: &[(&str, i32)], expected: Option<&str>| {
            let asked = ReplicationAsked {
                mode,
                standbys: vec![InstanceName::standby(1)],
                confirmation: Confirmation::Any(1),
                presented_as: Vec::new(),
            };
            let bytes = status(states);
            let found = out_of_force(&asked, Document::whole(&bytes).unwrap());
            assert_eq!(found.is_some(), expected.is_some(), "{found:?}");
            assert!(found.as_deref().unwrap_or_default().contains(expected.unwrap_or_default()), "{found:?}");
        };
        let flush = ReplicationMode::RemoteFlush;
        check(flush, &[("PRIMARY", 1), ("SECONDARY", 1), ("SECONDARY", 1)], None);
        check(flush, &[("PRIMARY", 1), ("SECONDARY", 1), ("(not reachable/healthy)", 0)], None);
        check(flush, &[("PRIMARY", 1), ("RECOVERING", 1), ("ARBITER", 1)], Some("0 members are SECONDARY"));
        check(flush, &[("SECONDARY", 1), ("SECONDARY", 1)], Some("0 primaries"));
        check(ReplicationMode::Async, &[("PRIMARY", 1), ("SECONDARY", 0)], Some("0 members are SECONDARY"));
    }

    #[test]
    fn each_mode_asks_for_a_write_concern() {
        let asked = |mode| Options::read(&Mongodb.session_settings(mode)).map(|options| options.write_concern);
        assert!(MODES.iter().all(|mode| asked(*mode).is_ok()));
        assert_ne!(asked(ReplicationMode::RemoteWrite).unwrap(), asked(ReplicationMode::RemoteFlush).unwrap());
    }
}

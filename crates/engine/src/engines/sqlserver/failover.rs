//! Failover of an availability group by its servers' own commands, data movement afterwards, and how a secondary is seeded. May not decide
//! when. Untested on a real group. Source: Microsoft's documentation, "Perform a planned manual failover", "Perform a forced manual
//! failover", "`sys.dm_hadr_automatic_seeding`", "`sys.dm_hadr_physical_seeding_stats`".

use super::address::ServerAddress;
use super::availability::{hosts_to_read, open};
use super::database::MASTER;
use super::engine::Sqlserver;
use super::group_member::{GroupMember, choose};
use super::session::connect;
use super::wire::{ServerConnection, quoted};
use crate::contract::{Error, FailoverOrder, GroupFailover, OwnedValue, Target, Value};
use crate::engines::blocking::{PATIENCE, in_time, runtime};
use proofload_model::group_failover::{FailoverChoice, FailoverKind, SeedingReading};
use proofload_model::units::Bytes;
use std::time::Duration;
use tokio::runtime::Runtime;

/// The role of the server that is asked, in `master`, since a secondary may let nobody into its database; `{database}` is put in.
const ROLE: &str = include_str!("group_role.sql");
/// Secondaries that do not follow and were begun to be seeded, as the primary has it.
const SEEDING: &str = include_str!("seeding.sql");
/// How long each server may take to say what it is before an order: under full load, and in time.
const ASKED_WITHIN: Duration = Duration::from_secs(15);
/// How long the server may take to accept an order.
const ORDERED_WITHIN: Duration = Duration::from_secs(120);
/// How long a server may take to let a secondary follow again.
const RESUMED_WITHIN: Duration = Duration::from_secs(30);
/// State of a seeding that will not go on.
const FAILED: &str = "FAILED";

impl GroupFailover for Sqlserver {
    fn prepare(&self, servers: &Target, kind: FailoverKind) -> Result<Box<dyn FailoverOrder>, Error> {
        let mut hosts = hosts_to_read(servers)?;
        hosts.iter_mut().for_each(|host| host.options.patience = Some(ASKED_WITHIN));
        if hosts.len() < 2 {
            return Err(Error::other("fail over: engine.url names one host; name each server of the group, as in a,b"));
        }
        let runtime = runtime()?;
        let seen = runtime.block_on(members(&hosts));
        let (place, choice) = choose(&seen, kind)?;
        let group = seen[place].as_ref().map(|member| member.group.clone()).map_err(Clone::clone)?;
        let mut host = hosts[place].clone();
        host.options.patience = Some(ORDERED_WITHIN);
        Ok(Box::new(GroupOrder { choice, kind, group, host, runtime }))
    }

    fn resume(&self, servers: &Target) -> Result<bool, Error> {
        let hosts = hosts_to_read(servers)?;
        runtime()?.block_on(resume(&hosts))
    }

    fn seeding(&self, servers: &Target) -> Result<Vec<SeedingReading>, Error> {
        let hosts = hosts_to_read(servers)?;
        let asked = async {
            let mut connection = open(&hosts).await?;
            connection.rows(SEEDING).await
        };
        let rows = runtime()?.block_on(in_time(PATIENCE, asked));
        let context =
            |error: Error| error.context("read how secondaries are seeded; the account needs VIEW SERVER STATE");
        Ok(rows.map_err(context)?.iter().filter_map(|row| seeding(row)).collect())
    }
}

/// An order to a group.
struct GroupOrder {
    choice: FailoverChoice,
    kind: FailoverKind,
    group: String,
    /// The secondary that takes over.
    host: ServerAddress,
    runtime: Runtime,
}

impl FailoverOrder for GroupOrder {
    fn choice(&self) -> &FailoverChoice {
        &self.choice
    }

    fn give(&mut self) -> Result<(), Error> {
        let Self { choice, kind, group, host, runtime } = self;
        let text = match kind {
            FailoverKind::Planned => format!("ALTER AVAILABILITY GROUP {} FAILOVER", quoted(group)),
            FailoverKind::Forced => {
                format!("ALTER AVAILABILITY GROUP {} FORCE_FAILOVER_ALLOW_DATA_LOSS", quoted(group))
            }
        };
        let ordered = async {
            let mut master = connect(host, MASTER).await?;
            master.text(&text).await
        };
        let ordered = runtime.block_on(in_time(ORDERED_WITHIN, ordered));
        ordered.map_err(|error| {
            error.context(format!(
                "fail availability group {group} over to {}; the account needs ALTER ANY AVAILABILITY GROUP there",
                choice.to
            ))
        })
    }

    fn is_in_force(&mut self) -> Result<bool, Error> {
        let Self { host, runtime, .. } = self;
        let asked = async { Ok::<bool, Error>(member(host).await?.1.leads()) };
        runtime.block_on(in_time(PATIENCE, asked))
    }
}

/// A connection to a server, and what the server says of itself.
async fn member(host: &ServerAddress) -> Result<(ServerConnection, GroupMember), Error> {
    let mut master = connect(host, MASTER).await?;
    let rows = master.rows(&ROLE.replace("{database}", &host.database.replace('\'', "''"))).await?;
    let member = GroupMember::of(&rows).map_err(|error| error.context(host.in_words()))?;
    Ok((master, member))
}

/// What each server says of itself, each within its share of the time.
async fn members(hosts: &[ServerAddress]) -> Vec<Result<GroupMember, Error>> {
    let mut seen = Vec::with_capacity(hosts.len());
    for host in hosts {
        let patience = host.options.patience.unwrap_or(PATIENCE);
        let asked = in_time(patience, async { Ok::<GroupMember, Error>(member(host).await?.1) }).await;
        seen.push(asked.map_err(|error| error.context(format!("ask {} for its role", host.in_words()))));
    }
    seen
}

/// Lets every suspended secondary follow; tells whether none had to be, and each server takes part. One that does not answer keeps no other
/// from being resumed.
async fn resume(hosts: &[ServerAddress]) -> Result<bool, Error> {
    let mut all = Ok(true);
    for host in hosts {
        match resume_at(host).await {
            Ok(takes_part) => all = all.map(|all| all && takes_part),
            Err(error) => all = all.and(Err(error)),
        }
    }
    all
}

/// The same at one server.
async fn resume_at(host: &ServerAddress) -> Result<bool, Error> {
    let (mut master, member) = in_time(PATIENCE, member(host)).await?;
    if member.waits_for_resume() {
        let text = format!("ALTER DATABASE {} SET HADR RESUME", quoted(&host.database));
        let context =
            |error: Error| error.context(format!("resume data movement of {} on {}", host.database, member.name));
        in_time(RESUMED_WITHIN, master.text(&text)).await.map_err(context)?;
    }
    Ok(member.takes_part())
}

/// A secondary of a row of `seeding.sql`; `None` where its seeding has ended well.
fn seeding(row: &[OwnedValue]) -> Option<SeedingReading> {
    let text = |place: usize| match row.get(place) {
        Some(OwnedValue::Text(text)) => text.trim(),
        _ => "",
    };
    let number = |place: usize| row.get(place).map(OwnedValue::as_value).and_then(Value::integer).unwrap_or(0);
    let bytes = |place: usize| Bytes(u64::try_from(number(place)).unwrap_or(0));
    let has_ended = number(3) == 1;
    let (state, why, code, message) = (text(4), text(5), number(6), text(7));
    let has_failed = state.eq_ignore_ascii_case(FAILED) || has_ended && !why.is_empty();
    let failure = has_failed.then(|| {
        let why = if why.is_empty() { state } else { why };
        let code = if code == 0 { String::new() } else { format!(", error {code}") };
        let message = if message.is_empty() { String::new() } else { format!(": {message}") };
        format!("{why}{code}{message}")
    });
    let name = text(0);
    let goes_on = failure.is_some() || !has_ended;
    (goes_on && !name.is_empty()).then(|| SeedingReading {
        name: name.to_owned(),
        sent: bytes(1),
        size: bytes(2),
        failure,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::OwnedRow;

    /// A row: bytes sent, bytes in all, whether it has ended; state, reason, message.
    fn row([sent, size, ended]: [i64; 3], [state, why, message]: [&str; 3]) -> OwnedRow {
        let text = |text: &str| OwnedValue::Text(text.to_owned());
        let numbers = [sent, size, ended].map(OwnedValue::Integer);
        let error = OwnedValue::Integer(if why.is_empty() { 0 } else { 1204 });
        let last = [text(state), text(why), error, text(message)];
        [text("DB2")].into_iter().chain(numbers).chain(last).collect()
    }

    #[test]
    fn a_seeding_goes_on_or_has_failed_by_name_or_is_over() {
        let going = seeding(&row([30, 120, 0], ["SEEDING", "", ""])).expect("it goes on");
        assert_eq!(going.to_string(), "seeding DB2: 25 % of 120 B");
        let failed = seeding(&row([30, 120, 1], ["FAILED", "Seeding", "VDI error"])).expect("it has failed");
        assert_eq!(failed.failure.as_deref(), Some("Seeding, error 1204: VDI error"));
        assert_eq!(seeding(&row([120, 120, 1], ["COMPLETED", "", ""])), None);
        assert_eq!(seeding(&[]), None);
    }
}

//! Failover of an availability group, from answers as the documentation has them: no group has been asked. **Untested on the real thing.**

use crate::availability::url_of;
use crate::places::{after_login, runtime, sqlserver, statement, target};
use crate::tds_server::{ColumnForm, Datum, Part, Setup, TdsServer};
use proofload_engine::{
    AnySession, Error, ErrorClass, FailoverOrder, Flight, GroupFailover, Session as _, StatementId, Target, Value,
};
use proofload_model::group_failover::FailoverKind;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

const RESOLVING: i64 = 0;
const PRIMARY: i64 = 1;
const SECONDARY: i64 = 2;
const SYNCHRONIZING: i64 = 1;
const SYNCHRONIZED: i64 = 2;

/// A replica as its own server sees it.
struct Replica {
    role: AtomicI64,
    state: AtomicI64,
    is_suspended: AtomicI64,
    hardened: &'static str,
    /// Replicas of its group.
    replicas: i64,
}

impl Replica {
    fn new(numbers: [i64; 2], hardened: &'static str) -> Arc<Self> {
        Self::of(2, numbers, hardened)
    }

    fn of(replicas: i64, [role, state]: [i64; 2], hardened: &'static str) -> Arc<Self> {
        let [role, state, is_suspended] = [role, state, 0].map(AtomicI64::new);
        Arc::new(Self { role, state, is_suspended, hardened, replicas })
    }

    fn has(&self, of: &AtomicI64) -> Datum {
        Datum::Integer(of.load(Ordering::SeqCst))
    }

    /// The answer to `group_role.sql`.
    fn row(&self, name: &'static str) -> Vec<Part> {
        let (text, number) = (ColumnForm::Text(256, true), ColumnForm::Integer(8));
        let columns = vec![text, text, number, number, number, number, text, number, text, number, number];
        let writes = i64::from(self.role.load(Ordering::SeqCst) == PRIMARY);
        let values = vec![
            Datum::text("sales]ag"),
            Datum::text(name),
            Datum::Integer(0),
            self.has(&self.role),
            self.has(&self.state),
            self.has(&self.is_suspended),
            Datum::text(self.hardened),
            Datum::Integer(writes),
            Datum::text("8f2c"),
            Datum::Integer(1),
            Datum::Integer(self.replicas),
        ];
        vec![Part::Columns(columns), Part::Row(values), Part::Count(1)]
    }
}

/// Servers of a group, each with its replica. An order to one makes it the primary, and the one that was a secondary, suspended after a
/// forced order.
fn group(replicas: &[(&'static str, &Arc<Replica>)]) -> Vec<TdsServer> {
    let all: Arc<Vec<Arc<Replica>>> = Arc::new(replicas.iter().map(|(_, replica)| Arc::clone(replica)).collect());
    let start = |(name, replica): &(&'static str, &Arc<Replica>)| {
        let (name, replica, all) = (*name, Arc::clone(replica), Arc::clone(&all));
        TdsServer::start(Setup::default(), move |sql, _| match sql {
            sql if sql.contains("availability_databases_cluster") => replica.row(name),
            sql if sql.starts_with("ALTER AVAILABILITY GROUP") => {
                let forced = i64::from(sql.contains("FORCE"));
                for old in all.iter().filter(|one| one.role.load(Ordering::SeqCst) == PRIMARY) {
                    old.role.store(SECONDARY, Ordering::SeqCst);
                    old.is_suspended.store(forced, Ordering::SeqCst);
                }
                replica.role.store(PRIMARY, Ordering::SeqCst);
                Vec::new()
            }
            sql if sql.starts_with("ALTER DATABASE") => {
                replica.is_suspended.store(0, Ordering::SeqCst);
                Vec::new()
            }
            _ => Vec::new(),
        })
    };
    replicas.iter().map(start).collect()
}

fn servers_at(servers: &[TdsServer]) -> Target {
    target(url_of(&servers.iter().collect::<Vec<_>>()), &[])
}

fn facet() -> &'static dyn GroupFailover {
    sqlserver().existing_replication().and_then(|facet| facet.failover()).expect("a group fails over")
}

/// Orders that a server was given.
fn orders(server: &TdsServer) -> Vec<String> {
    let log = server.log();
    log.into_iter().filter(|line| line.contains("ALTER ")).collect()
}

/// What a busy machine may make late is prepared anew, up to ten times; nothing is changed by it.
fn prepared(servers: &Target, kind: FailoverKind) -> Result<Box<dyn FailoverOrder>, Error> {
    let is_late = |done: &Result<Box<dyn FailoverOrder>, Error>| match done {
        Ok(order) => order.choice().from.is_none() || order.choice().reached < order.choice().of,
        Err(error) => error.to_string().contains("within"),
    };
    let mut done = facet().prepare(servers, kind);
    for _ in 0..9 {
        if is_late(&done) {
            done = facet().prepare(servers, kind);
        }
    }
    done
}

/// The first answer of up to ten tries, likewise.
fn answered(mut ask: impl FnMut() -> Result<bool, Error>) -> bool {
    (0..10).find_map(|_| ask().ok()).expect("all answer")
}

#[test]
fn a_planned_failover_is_ordered_at_the_synchronised_secondary_and_verified_by_its_role() {
    let (first, second) = (Replica::new([PRIMARY, SYNCHRONIZED], "9"), Replica::new([SECONDARY, SYNCHRONIZED], "9"));
    let servers = group(&[("DB1", &first), ("DB2", &second)]);
    let mut order = prepared(&servers_at(&servers), FailoverKind::Planned).expect("DB2 is in step");
    let choice = order.choice().clone();
    assert_eq!((choice.from.as_deref(), choice.to.as_str(), choice.holds_all), (Some("DB1"), "DB2", true));
    assert!(!answered(|| order.is_in_force()), "nothing was ordered yet");
    assert_eq!(orders(&servers[1]), [""; 0], "a choice changes nothing");
    order.give().expect("it is taken");
    assert!(answered(|| order.is_in_force()));
    assert_eq!(orders(&servers[0]), [""; 0]);
    assert_eq!(orders(&servers[1]), ["batch ALTER AVAILABILITY GROUP [sales]]ag] FAILOVER"]);
}

#[test]
fn a_secondary_that_is_not_synchronised_is_told_nothing() {
    let (first, second) = (Replica::new([PRIMARY, SYNCHRONIZED], "9"), Replica::new([SECONDARY, SYNCHRONIZING], "9"));
    let servers = group(&[("DB1", &first), ("DB2", &second)]);
    let refused = prepared(&servers_at(&servers), FailoverKind::Planned).err().expect("it lacks commits");
    assert!(refused.to_string().contains("DB2 is not SYNCHRONIZED"), "{refused}");
    assert!(servers.iter().all(|server| orders(server).is_empty()), "nothing was changed");
    let alone = facet().prepare(&target(servers[0].url("encrypt=none"), &[]), FailoverKind::Planned);
    assert!(alone.err().expect("one host").to_string().contains("names one host"));
}

#[test]
fn a_forced_failover_goes_to_the_most_log_and_suspended_databases_are_resumed() {
    let old = Replica::of(3, [PRIMARY, SYNCHRONIZED], "12");
    let [less, more] = ["07", "11"].map(|hardened| Replica::of(3, [SECONDARY, SYNCHRONIZING], hardened));
    let servers = group(&[("DB1", &old), ("DB2", &less), ("DB3", &more)]);
    let at = servers_at(&servers);
    let mut order = prepared(&at, FailoverKind::Forced).expect("one takes over");
    assert_eq!((order.choice().to.as_str(), order.choice().holds_all), ("DB3", false));
    order.give().expect("it is taken");
    assert!(answered(|| order.is_in_force()));
    assert_eq!(orders(&servers[2]), ["batch ALTER AVAILABILITY GROUP [sales]]ag] FORCE_FAILOVER_ALLOW_DATA_LOSS"]);
    assert_eq!(old.is_suspended.load(Ordering::SeqCst), 1);
    answered(|| facet().resume(&at));
    assert_eq!(orders(&servers[0]), ["batch ALTER DATABASE [shop] SET HADR RESUME"]);
    assert!(answered(|| facet().resume(&at)), "all follow");
    old.role.store(RESOLVING, Ordering::SeqCst);
    assert!(!answered(|| facet().resume(&at)), "the old primary has no role yet");
    assert!(servers.iter().all(|server| orders(server).is_empty()), "what follows is left alone");
}

#[test]
fn a_server_that_refuses_the_order_says_why_and_what_the_account_needs() {
    let replica = Replica::new([PRIMARY, SYNCHRONIZED], "9");
    let standby = Replica::new([SECONDARY, SYNCHRONIZED], "9");
    let first = group(&[("DB1", &replica)]).remove(0);
    let second = TdsServer::start(Setup::default(), move |sql, _| match sql {
        sql if sql.contains("availability_databases_cluster") => standby.row("DB2"),
        sql if sql.starts_with("ALTER AVAILABILITY GROUP") => {
            let message = "The availability replica is not ready.";
            vec![Part::Error { number: 41_142, severity: 16, procedure: "", line: 1, message }]
        }
        _ => Vec::new(),
    });
    let mut order = prepared(&servers_at(&[first, second]), FailoverKind::Planned).expect("DB2 is in step");
    let error = order.give().expect_err("it is refused").to_string();
    assert!(error.contains("ALTER ANY AVAILABILITY GROUP") && error.contains("(41142)"), "{error}");
}

/// The answer to `seeding.sql`: name, bytes sent and in all, whether it has ended, state, reason, error, message.
fn seeding(rows: &[(&'static str, [i64; 3], [&'static str; 3])]) -> Vec<Part> {
    let (text, number) = (ColumnForm::Text(256, true), ColumnForm::Integer(8));
    let columns = Part::Columns(vec![text, number, number, number, text, text, number, text]);
    let row = |(name, numbers, [state, why, message]): &(&'static str, [i64; 3], [&'static str; 3])| {
        let numbers = numbers.map(Datum::Integer);
        let last = [Datum::text(state), Datum::text(why), Datum::Integer(0), Datum::text(message)];
        Part::Row([Datum::text(name)].into_iter().chain(numbers).chain(last).collect())
    };
    [columns].into_iter().chain(rows.iter().map(row)).chain([Part::Count(rows.len() as u64)]).collect()
}

#[test]
fn a_secondary_that_is_seeded_is_told_with_its_progress_and_one_that_failed_by_name() {
    let rows = Arc::new(Mutex::new(vec![("DB2", [1 << 20, 4 << 20, 0], ["SEEDING", "", ""])]));
    let shared = Arc::clone(&rows);
    let server = TdsServer::start(Setup::default(), move |sql, _| match sql {
        sql if sql.contains("dm_hadr_physical_seeding_stats") => {
            assert!(sql.contains("sys.dm_hadr_automatic_seeding"), "both views are read");
            seeding(&shared.lock().expect("nobody panicked"))
        }
        _ => Vec::new(),
    });
    let at = target(server.url("encrypt=none"), &[]);
    let told = || {
        let seen = (0..10).find_map(|_| facet().seeding(&at).ok()).expect("reads");
        seen.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(told(), ["seeding DB2: 25 % of 4 MiB"]);
    *rows.lock().expect("nobody panicked") = vec![
        ("DB2", [4 << 20, 4 << 20, 1], ["COMPLETED", "", ""]),
        ("DB3", [0, 0, 1], ["FAILED", "Seeding", "The transport broke."]),
    ];
    assert_eq!(told(), ["seeding DB3 has failed: Seeding: The transport broke."]);
}

/// What a server says to who writes, and who asks for its role, while it is not the primary.
fn old_primary(number: u32) -> TdsServer {
    TdsServer::start(Setup::default(), move |sql, _| {
        if sql.starts_with("INSERT") {
            let message = "The database is not the primary any more.";
            return vec![Part::Error { number, severity: 16, procedure: "", line: 1, message }];
        }
        Vec::new()
    })
}

async fn write(session: &mut AnySession) -> Result<(), Error> {
    session.prepare(&[statement("write", "INSERT INTO proofload_ledger (op) VALUES (:op)", &["op"], 0)]).await?;
    let mut flight = Flight::new();
    flight.call(StatementId(0), &[Value::Integer(7)]);
    session.fly(&mut flight).await
}

#[test]
fn a_write_to_who_is_not_the_primary_any_more_loses_the_connection() {
    for number in [3906, 976, 978, 979, 982, 983, 988, 921, 922] {
        let server = old_primary(number);
        let error = runtime().block_on(async {
            let mut session = sqlserver().connect(&target(server.url("encrypt=none"), &[])).await.expect("connects");
            write(&mut session).await.expect_err("it is refused")
        });
        assert_eq!((error.class(), error.code()), (ErrorClass::ConnectionLost, number.to_string().as_str()));
    }
}

/// A server whose database takes writes or does not, or whose login is refused.
fn host(writes: Option<&'static str>) -> TdsServer {
    let password = if writes.is_some() { Setup::default().password } else { "" };
    TdsServer::start(Setup { password, ..Setup::default() }, move |sql, _| match writes {
        Some(writes) if sql.contains("Updateability") => {
            vec![Part::Columns(vec![ColumnForm::Text(20, true)]), Part::Row(vec![Datum::text(writes)]), Part::Count(1)]
        }
        _ => Vec::new(),
    })
}

/// Asks each host of the URL in turn, in whatever role, as a prober and users do.
#[test]
fn of_hosts_that_refuse_the_login_or_take_no_writes_the_primary_is_found() {
    let servers = [host(None), host(Some("READ_ONLY")), host(Some("READ_WRITE"))];
    let place = servers_at(&servers).place;
    let password = Some(proofload_model::secret::Secret::of(b"s3cret"));
    let mut hosts = Target::of(sqlserver(), place, Vec::new());
    hosts.endpoints = hosts.endpoints.with_password(password);
    let connected = runtime().block_on(async {
        let session = hosts.connect(async |target| sqlserver().connect(target).await).await;
        session.map(drop)
    });
    connected.expect("the third host is the primary");
    let logs: Vec<Vec<String>> = servers.iter().map(TdsServer::log).collect();
    assert!(!after_login(&logs[2]).is_empty(), "{logs:?}");
    let found = runtime().block_on(async {
        let mut found = Vec::new();
        for endpoints in hosts.endpoints.each_in_any_role() {
            let alone = Target { place: hosts.place.clone(), endpoints };
            found.push(match sqlserver().connect(&alone).await {
                Ok(mut session) => session.takes_writes().await.map_err(|error| error.class()),
                Err(error) => Err(error.class()),
            });
        }
        found
    });
    assert_eq!(found, [Err(ErrorClass::Other), Ok(false), Ok(true)]);
}

//! The parts of order entry in the self-test.

use super::super::dialect::Dialect;
use super::super::settings::{Form, LinesForm};
use super::kills::{BUILD_CHANGES, build_with_kills};
use super::{OltpBench, isolation, races};
use crate::selftest::{Bench, SelftestPart, Steps, counters, counters_moved};
use crate::workload::WorkloadRun as _;
use crate::workloads::tprocc::procedures;
use proofload_engine::Engine;
use proofload_gen::Seed;
use proofload_gen::tprocc::Departures;
use proofload_gen::tprocc::population::ContentHash;
use proofload_model::error::Error;
use proofload_model::samples::{Check, CheckOutcome, OperationCounts};

/// Parts of this workload.
pub(in crate::workloads::tprocc) const PARTS: &[SelftestPart] = &[
    SelftestPart {
        name: "order entry by statements",
        lacking,
        run: |bench, steps| equal_data(bench, steps, "statements", LinesForm::Lists),
    },
    SelftestPart {
        name: "order entry by procedures",
        lacking: |engine| lacking(engine).or_else(|| without_procedures(engine)),
        run: by_procedures,
    },
    SelftestPart {
        name: "meetings by statements",
        lacking: |engine| lacking(engine).or_else(|| without_meetings(engine)),
        run: |bench, steps| meetings(bench, steps, "statements"),
    },
    SelftestPart {
        name: "meetings by procedures",
        lacking: |engine| lacking(engine).or_else(|| without_procedures(engine)).or_else(|| without_meetings(engine)),
        run: |bench, steps| meetings(bench, steps, "procedures"),
    },
    SelftestPart { name: "a build that is killed", lacking, run: killed_build },
];

/// Transactions of each form.
const TRANSACTIONS: u64 = 600;

/// Kills after which a build has been killed often enough.
const KILLS: u32 = 8;

/// Builds at most: fast ones end before they are killed.
const BUILDS: u32 = 10;

fn lacking(engine: &dyn Engine) -> Option<String> {
    if !engine.facts().capabilities.durable {
        return Some("the engine keeps no data".to_owned());
    }
    Dialect::of(engine, Departures::NONE).err().map(|_| "the workload has no statements for the engine".to_owned())
}

fn without_procedures(engine: &dyn Engine) -> Option<String> {
    let dialect = Dialect::of(engine, Departures::NONE).ok()?;
    procedures::lacking(&dialect, Form::of_name("procedures"))
        .map(|_| "the workload has no procedures for the engine".to_owned())
}

fn without_meetings(engine: &dyn Engine) -> Option<String> {
    let dialect = Dialect::of(engine, Departures::NONE).ok()?;
    let why = "its statements do not say how sessions that wait for a lock are seen";
    dialect.meeting.is_none().then(|| why.to_owned())
}

/// Equal data by procedures, and once more with the lines of a New-Order as a table where one takes them so.
fn by_procedures(bench: &Bench, steps: &mut Steps<'_>) -> Result<(), Error> {
    equal_data(bench, steps, "procedures", LinesForm::Lists)?;
    let oltp = OltpBench::new(bench.engine, &bench.target, &[])?;
    if !oltp.dialect.has_table_of_lines() {
        return Ok(());
    }
    drop_tables(&oltp)?;
    if !bench.is_reference() {
        drop_tables(&OltpBench::new(bench.reference, &bench.reference_target(), &[])?)?;
    }
    equal_data(bench, steps, "procedures", LinesForm::Table)
}

/// Equal inputs: content of the load, then of all five transactions; conditions, counts, counters of the server.
fn equal_data(bench: &Bench, steps: &mut Steps<'_>, form: &str, lines: LinesForm) -> Result<(), Error> {
    let of_lines = if lines == LinesForm::Table { ", lines as a table" } else { "" };
    let name = |what: &str| format!("order entry by {form}{of_lines}: {what}");
    let changes = [("form", form), ("lines", lines.name()), ("mix", "weights"), ("weights", "10/10/4/2/4")];
    let oltp = OltpBench::built(bench.engine, &bench.target, &changes)?;
    let (kept, drawn) = (oltp.kept()?, oltp.draws());
    let hashes = vec![("load".to_owned(), kept.to_string()), ("load as drawn".to_owned(), drawn.to_string())];
    steps.end_with(&name("rows of the load are those that were drawn"), same(kept, drawn), hashes);
    let seen = counters(bench)?;
    let (before, (user, counts)) = (oltp.before()?, oltp.run_user(0, TRANSACTIONS)?);
    let found = oltp.verify(&before, &user, &counts)?;
    // Its session ends before others look at what it left.
    drop(user);
    steps.end(&name("conditions of consistency"), met(&found, "consistency"));
    steps.end(&name("operations are conserved, acknowledged and agreed on"), all_met(&found));
    match seen {
        Some(seen) => steps.end(&name("counters of the server move"), counters_moved(bench, seen, written(&counts))),
        None => steps.skip(&name("counters of the server move"), "the engine runs in the load agent: it has no server"),
    }
    let equal = name("600 transactions leave the data of the reference");
    if bench.is_reference() {
        steps.skip(&equal, "this engine is the reference");
        return Ok(());
    }
    let content = oltp.content()?;
    let changes = [("mix", "weights"), ("weights", "10/10/4/2/4")];
    let reference = OltpBench::built(bench.reference, &bench.reference_target(), &changes)?;
    drop(reference.run_user(0, TRANSACTIONS)?);
    let expected = reference.content()?;
    let wrong: Vec<&str> =
        content.iter().zip(&expected).filter(|(one, other)| one != other).map(|(one, _)| one.0).collect();
    let hashes = content.iter().map(|(table, hash)| ((*table).to_owned(), hash.to_string())).collect();
    let outcome =
        if wrong.is_empty() { Ok(()) } else { Err(Error::new(format!("tables that differ: {}", wrong.join(", ")))) };
    steps.end_with(&equal, outcome, hashes);
    Ok(())
}

/// Transactions that wrote: a server need not count a commit of others.
fn written(counts: &[OperationCounts]) -> u64 {
    let writes = |counts: &&OperationCounts| ["new_order", "payment", "delivery"].contains(&counts.kind.as_str());
    counts.iter().filter(writes).map(|counts| counts.done).sum()
}

fn same(found: ContentHash, expected: ContentHash) -> Result<(), Error> {
    if found == expected { Ok(()) } else { Err(Error::new(format!("{found:?} instead of {expected:?}"))) }
}

/// Fails unless every check of a group is met, and the group has some.
fn met(checks: &[Check], group: &str) -> Result<(), Error> {
    let of_group: Vec<&Check> = checks.iter().filter(|check| check.group == group).collect();
    let not_met: Vec<&str> =
        of_group.iter().filter(|check| check.outcome != CheckOutcome::Met).map(|check| check.name.as_str()).collect();
    if of_group.is_empty() || !not_met.is_empty() {
        return Err(Error::new(format!("of {} conditions are not met: {}", of_group.len(), not_met.join(", "))));
    }
    Ok(())
}

fn all_met(checks: &[Check]) -> Result<(), Error> {
    ["conservation", "acknowledged", "agreement"].iter().try_for_each(|group| met(checks, group))
}

/// Transactions that meet, at the worst place.
fn meetings(bench: &Bench, steps: &mut Steps<'_>, form: &str) -> Result<(), Error> {
    type Meeting = fn(&OltpBench) -> Result<(), Error>;
    const ALL: &[(&str, Meeting)] = &[
        ("two deliveries deliver different orders", races::two_deliveries),
        ("two payments are both booked", races::two_payments),
        ("a rolled back order leaves its number", races::an_order_rolled_back),
        ("an order is seen when it is committed", isolation::orders_are_seen_when_committed),
        ("two orders have numbers in turn", isolation::two_orders_of_one_district),
        ("a payment waits for the delivery", isolation::a_payment_and_a_delivery),
        ("an order has one price of an item", isolation::one_price_of_an_item),
        ("a delivery that found no order delivers none", isolation::a_delivery_that_found_no_order),
        ("an order status has a whole order", isolation::whole_orders),
    ];
    let oltp = OltpBench::built(bench.engine, &bench.target, &[("form", form)])?;
    if let Err(error) = oltp.can_see_who_waits() {
        steps.skip(&format!("meetings by {form}"), error.to_string());
        return Ok(());
    }
    for (name, meeting) in ALL {
        steps.end(&format!("meetings by {form}: {name}"), meeting(&oltp));
    }
    Ok(())
}

/// Builds by a process that is killed, until it has been killed often enough; each ends with every row once.
fn killed_build(bench: &Bench, steps: &mut Steps<'_>) -> Result<(), Error> {
    let name = "a build that is killed goes on to the same rows";
    let Some(start) = &bench.build_apart else {
        steps.skip(name, "there is no program to be killed");
        return Ok(());
    };
    let oltp = OltpBench::new(bench.engine, &bench.target, BUILD_CHANGES)?;
    let mut draw = Seed(4711).rng();
    let (mut kills, mut builds) = (0, 0);
    while kills < KILLS && builds < BUILDS {
        if builds > 0 {
            drop_tables(&oltp)?;
        }
        kills += build_with_kills(&**start, &mut draw)?;
        builds += 1;
        if let Err(error) = same(oltp.kept()?, oltp.draws()).and_then(|()| oltp.run()?.check_data()) {
            steps.end(name, Err(error.context(format!("after {kills} kills in {builds} builds"))));
            return Ok(());
        }
    }
    let enough = if kills > 0 { Ok(()) } else { Err(Error::new("no build was killed before its end")) };
    let hashes = vec![(format!("load after {kills} kills in {builds} builds"), oltp.draws().to_string())];
    steps.end_with(name, enough, hashes);
    Ok(())
}

/// Makes room for the next build.
fn drop_tables(oltp: &OltpBench) -> Result<(), Error> {
    let mut session = oltp.session()?;
    for name in oltp.dialect.suite.names_in("drop.sql") {
        session.script(&oltp.dialect.suite.statement(name)?.sql)?;
    }
    Ok(())
}

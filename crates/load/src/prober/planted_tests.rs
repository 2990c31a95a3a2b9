//! Losses, holes, phantoms, doubles and second primaries that are planted beside whole probers on real sockets: each must be named, number by
//! number. `PROOFLOAD_PLANTED` says how many.

use super::scripted_server::{Rows, Script, Service};
use super::socket_tests::{HandedPages, Probed, RATE, TRIES, draw, in_parallel, probed_meanwhile, times, tried};
use proofload_model::drill::Ledger;
use proofload_model::ledger::{LedgerPage, ToldWrite, WriteClass, WriteOutcome};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// What the databases of a failover do wrongly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FailoverDefect {
    /// The new primary lacks what the old one wrote last.
    Tail,
    /// A server alone that is started again lacks what it wrote last.
    TailOfRestart,
    /// It lacks writes before others that it has.
    Middle,
    /// It has writes that had failed.
    Phantoms,
    /// It has writes twice, and refuses a new one as a duplicate.
    Doubles,
    /// The old primary takes writes again beside the new one.
    SecondPrimary,
}

const DEFECTS: [FailoverDefect; 6] = [
    FailoverDefect::Tail,
    FailoverDefect::TailOfRestart,
    FailoverDefect::Middle,
    FailoverDefect::Phantoms,
    FailoverDefect::Doubles,
    FailoverDefect::SecondPrimary,
];

/// A failover and what is wrong with it. Times are seconds since the begin.
#[derive(Debug, Clone, Copy)]
struct FailoverPlan {
    wrong: FailoverDefect,
    /// Writes that it concerns.
    count: usize,
    /// Later writes that are kept where earlier ones are lost.
    spared: usize,
    rate: u32,
    fault: f64,
    promoted: f64,
    /// How the old primary ends.
    dies: Service,
}

/// Writes of a drill that are lost at most, in a sample and in more drills; others concern few.
const MOST_LOST: [f64; 2] = [40.0, 10_000.0];
const MOST_OF_OTHERS: f64 = 20.0;

impl FailoverDefect {
    /// Tells whether writes are lost.
    fn loses(self) -> bool {
        matches!(self, Self::Tail | Self::TailOfRestart | Self::Middle)
    }
}

impl FailoverPlan {
    fn of(number: u32, is_long: bool) -> Self {
        let wrong = DEFECTS[number as usize % DEFECTS.len()];
        let most = if wrong.loses() { MOST_LOST[usize::from(is_long)] } else { MOST_OF_OTHERS };
        let count = most.powf(draw(number, 11)).round().max(1.0) as usize;
        let rate = if count > 200 { 1_000 } else { RATE };
        let spared = if wrong == FailoverDefect::Middle { rate as usize / 4 } else { 0 };
        let ends = [Service::Gone, Service::ReadOnly, Service::Silent];
        let has_another = wrong.loses() && wrong != FailoverDefect::TailOfRestart;
        let dies = if has_another { ends[(number as usize / DEFECTS.len()) % ends.len()] } else { Service::Gone };
        let fault = 1.2 + 1.1 * (count + spared) as f64 / f64::from(rate);
        Self { wrong, count, spared, rate, fault, promoted: fault + 0.3, dies }
    }

    /// When the old primary takes writes again, if it does.
    fn again(&self) -> f64 {
        self.promoted + 0.5
    }

    fn until(&self) -> f64 {
        if self.wrong == FailoverDefect::SecondPrimary { self.again() + 3.2 } else { self.promoted + 1.7 }
    }

    fn scripts(&self) -> Vec<Script> {
        let [fault, promoted, again] = [self.fault, self.promoted, self.again()].map(Duration::from_secs_f64);
        let (dies, returns) = (self.dies, self.wrong == FailoverDefect::SecondPrimary);
        if self.wrong == FailoverDefect::TailOfRestart {
            return vec![Arc::new(move |at| if (fault..promoted).contains(&at) { dies } else { Service::Well })];
        }
        vec![
            Arc::new(move |at| if at < fault || (returns && at >= again) { Service::Well } else { dies }),
            Arc::new(move |at| if at < promoted { Service::ReadOnly } else { Service::Well }),
        ]
    }

    fn period_ns(&self) -> u64 {
        1_000_000_000 / u64::from(self.rate)
    }

    /// Does what is wrong until the prober is to end; the numbers of the writes that it concerns.
    fn plant(&self, rows: &Rows, begun: Instant, pages: &HandedPages) -> Result<Vec<i64>, String> {
        let numbers = match self.wrong {
            _ if self.wrong.loses() => self.remove(rows, begun)?,
            FailoverDefect::Phantoms => {
                sleep_until(begun, self.until());
                self.insert(rows, &self.told(pages, WriteOutcome::Failed))?
            }
            FailoverDefect::Doubles => {
                sleep_until(begun, self.promoted + 0.5);
                rows.refused.store(1, Ordering::Relaxed);
                sleep_until(begun, self.until());
                self.insert(rows, &self.told(pages, WriteOutcome::Acknowledged))?
            }
            _ => Vec::new(),
        };
        sleep_until(begun, self.until());
        // The ledger is read again where the database refuses at first.
        rows.unreadable.store(2, Ordering::Relaxed);
        Ok(numbers)
    }

    /// Removes rows while neither host takes writes.
    fn remove(&self, rows: &Rows, begun: Instant) -> Result<Vec<i64>, String> {
        sleep_until(begun, f64::midpoint(self.fault, self.promoted));
        let mut held = rows.held.lock().unwrap();
        let (now, there) = (begun.elapsed().as_secs_f64(), held.len());
        if now >= self.promoted || there < self.count + self.spared {
            return Err(format!("{there} rows at {now:.3} s: {self:?}"));
        }
        Ok(held.remove(self.count, self.spared))
    }

    /// Inserts as many of some numbers as it concerns.
    fn insert(&self, rows: &Rows, numbers: &[i64]) -> Result<Vec<i64>, String> {
        let numbers = numbers.get(..self.count).ok_or_else(|| format!("{} writes: {self:?}", numbers.len()))?;
        let mut held = rows.held.lock().unwrap();
        numbers.iter().for_each(|number| held.insert(*number));
        Ok(numbers.to_vec())
    }

    /// Numbers of writes of an outcome that were handed over.
    fn told(&self, pages: &HandedPages, outcome: WriteOutcome) -> Vec<i64> {
        let pages = pages.lock().unwrap();
        let writes = self.writes(&pages).filter(|write| write.outcome == outcome);
        writes.map(|write| write.number as i64).collect()
    }

    fn writes<'a>(&self, pages: &'a [LedgerPage]) -> impl Iterator<Item = ToldWrite> + use<'a> {
        let period_ns = self.period_ns();
        pages.iter().flat_map(move |page| page.writes(period_ns))
    }

    /// Tells why a drill did not come about as it was planned, as far as clients were told: on a busy host.
    fn spoilt(&self, probed: &Probed, planted: &[i64]) -> Option<String> {
        let (origin, ledger) = (probed.origin, &probed.report.ledger);
        let began_late = origin + 0.1 >= self.fault;
        // A host whose threads stand still throughout its end leaves connections open, as no server does.
        let is_kept_up = probed.hosts.iter().any(|host| host.late_within((self.fault, self.promoted)) > 0.05);
        let after = |write: &ToldWrite| write.due.as_seconds() + origin > self.promoted;
        let mut unknown = self.writes(&probed.pages).filter(|write| write.outcome == WriteOutcome::Unknown);
        let refused_to_nobody = self.wrong == FailoverDefect::Doubles && unknown.any(|write| after(&write));
        let told = self.writes(&probed.pages).filter(|write| write.ended.as_seconds() + origin < self.fault);
        let (known, others): (Vec<ToldWrite>, Vec<ToldWrite>) =
            told.partition(|write| write.outcome == WriteOutcome::Acknowledged);
        let planted: BTreeSet<i64> = planted.iter().copied().collect();
        let promised = self.writes(&probed.pages).filter(|write| write.outcome == WriteOutcome::Acknowledged);
        let promised = promised.filter(|write| planted.contains(&(write.number as i64))).count();
        let (lost, kept): (Vec<ToldWrite>, Vec<ToldWrite>) =
            known.into_iter().partition(|write| planted.contains(&(write.number as i64)));
        let last_lost = lost.iter().map(|write| write.ended).max();
        let last_kept = kept.iter().map(|write| write.due).max();
        // Another write is kept that was sent after each that is lost, over a connection that was there before.
        let is_hole = lost.len() == self.count && others.is_empty() && last_lost < last_kept;
        let spoilt = began_late
            || is_kept_up
            || ledger.leaders.len() < self.scripts().len()
            || refused_to_nobody
            || (self.wrong == FailoverDefect::Middle && !is_hole)
            || (self.wrong == FailoverDefect::Tail && self.dies == Service::ReadOnly && promised != self.count);
        let told =
            || format!("it began at {origin:.1} s, {promised} lost, {} not acknowledged: {self:?}", others.len());
        spoilt.then(told)
    }
}

fn sleep_until(begun: Instant, at: f64) {
    std::thread::sleep(Duration::from_secs_f64(at).saturating_sub(begun.elapsed()));
}

/// Numbers of a class in a ledger.
fn named(ledger: &Ledger, class: WriteClass) -> Vec<i64> {
    let writes = ledger.ranges.iter().flat_map(|range| range.writes(ledger.period_ns));
    writes.filter(|write| write.class == class).map(|write| write.number as i64).collect()
}

/// Carries a plan out and checks what the ledger says; how many writes were named. An error where the drill did not come about.
fn named_of(number: u32, is_long: bool) -> Result<usize, String> {
    let plan = FailoverPlan::of(number, is_long);
    let (rows, mut planted) = (Rows::default(), Vec::new());
    let probed = probed_meanwhile(&rows, plan.rate, plan.scripts(), |begun, pages| {
        planted = plan.plant(&rows, begun, pages)?;
        Ok(())
    })?;
    if let Some(why) = plan.spoilt(&probed, &planted) {
        return Err(why);
    }
    planted.sort_unstable();
    let (ledger, told) = (&probed.report.ledger, format!("drill {number}, {plan:?}: {:?}", probed.report.ledger));
    assert_eq!(ledger.unread, None, "{told}");
    let acknowledged: BTreeSet<i64> = plan
        .writes(&probed.pages)
        .filter(|write| write.outcome == WriteOutcome::Acknowledged)
        .map(|write| write.number as i64)
        .collect();
    let promised: Vec<i64> = planted.iter().copied().filter(|number| acknowledged.contains(number)).collect();
    let of = |wrong: FailoverDefect, numbers: &[i64]| if plan.wrong == wrong { numbers.to_vec() } else { Vec::new() };
    let has_lost_a_tail = plan.wrong.loses() && plan.wrong != FailoverDefect::Middle;
    let tail = if has_lost_a_tail { promised.clone() } else { Vec::new() };
    assert_eq!(named(ledger, WriteClass::Lost), tail, "{told}");
    assert_eq!(named(ledger, WriteClass::Hole), of(FailoverDefect::Middle, &promised), "{told}");
    assert_eq!(named(ledger, WriteClass::Phantom), of(FailoverDefect::Phantoms, &planted), "{told}");
    let lost = if plan.wrong.loses() { promised.len() as u64 } else { 0 };
    let holes = if plan.wrong == FailoverDefect::Middle { lost } else { 0 };
    assert_eq!((ledger.lost, ledger.holes, ledger.lost_as_warned), (lost, holes, 0), "{told}");
    check_doubles(&plan, &planted, ledger, &told);
    // An old primary that answers reads lacks what was removed, too.
    assert!(plan.dies == Service::ReadOnly || ledger.stale_reads == 0, "{told}");
    if plan.wrong == FailoverDefect::SecondPrimary {
        return if ledger.two_claimed_seconds > 0 { Ok(0) } else { Err(format!("no second primary was seen: {told}")) };
    }
    assert_eq!((ledger.two_claimed_seconds, ledger.two_primaries_seconds > 0.0), (0, false), "{told}");
    Ok(planted.len())
}

/// Writes that are there twice, and one that was refused as a duplicate though it was sent once.
fn check_doubles(plan: &FailoverPlan, planted: &[i64], ledger: &Ledger, told: &str) {
    let doubles = named(ledger, WriteClass::Double);
    if plan.wrong != FailoverDefect::Doubles {
        assert_eq!((ledger.doubles, doubles.len()), (0, 0), "{told}");
        return;
    }
    assert_eq!((ledger.doubles as usize, doubles.len()), (planted.len() + 1, planted.len() + 1), "{told}");
    assert!(planted.iter().all(|number| doubles.contains(number)), "{told}");
}

#[test]
fn planted_losses_holes_phantoms_doubles_and_second_primaries_are_named() {
    let sample = DEFECTS.len() as u32;
    let count = times("PROOFLOAD_PLANTED", sample);
    let found = in_parallel(count, |number| {
        let work = || named_of(number, count > sample);
        let first = work();
        let at_first = first.as_ref().err().cloned();
        let named = first.or_else(|_| tried(TRIES - 1, work));
        (at_first, named.unwrap_or_else(|why| panic!("drill {number} never came about: {why}")))
    });
    let again: Vec<&String> = found.iter().filter_map(|(at_first, _)| at_first.as_ref()).collect();
    let writes: usize = found.iter().map(|(_, named)| named).sum();
    println!("{count} drills with {writes} planted writes, all named; {} were done again: {again:#?}", again.len());
}

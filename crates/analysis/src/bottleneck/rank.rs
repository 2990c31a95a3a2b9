//! Ranking candidates for the bottleneck of one point. Every candidate says what was observed and that
//! it is not confirmed; correlation is never printed as a cause.

use super::super::quantity::{Interval, Quantity, Unit};
use super::observation::{Observations, Resource, ResourceKind, Wait};

/// All cores together this busy: the processor is a candidate of the first rank.
const BUSY_CPU: f64 = 0.85;
/// One core or thread this busy is taken as full. Source: method, section 7.
const FULL_THREAD: f64 = 0.95;
/// Mean processor utilisation below this hides a full thread. Source: method, section 7.
const CALM_CPU: f64 = 0.60;
/// A device this busy is a candidate of the first rank.
const BUSY_DEVICE: f64 = 0.90;
/// A limit of the study of which this much was used comes before everything else: the study put it there.
const REACHED_LIMIT: f64 = 0.90;
/// A resource, pressure or wait below this share is not listed.
const LEAST_SHARE: f64 = 0.20;

/// What a candidate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// One thread is full while the processor as a whole is not: a serial stage.
    SingleThread,
    /// All cores.
    Processor,
    /// A storage device.
    Device,
    /// A limit of the study.
    Limit,
    /// Tasks stall for a resource.
    Pressure,
    /// Sessions wait inside the database.
    Wait,
}

/// One candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// What it is.
    pub cause: Cause,
    /// Its name as printed.
    pub name: String,
    /// What it is about: the thread, the drive, the limit, the event; of stalls, what tasks wait for.
    pub subject: String,
    /// The figure that speaks for it, as a share.
    pub measure: Quantity,
    /// One sentence fragment with the figures.
    pub evidence: String,
    /// Rank order only; higher is likelier. No unit and no meaning beyond the order.
    pub score: f64,
}

/// Candidates, likeliest first; empty when nothing observed was near a limit.
pub fn rank(observed: &Observations) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    found.extend(single_threads(observed));
    found.extend(processor(observed));
    found.extend(devices(observed));
    found.extend(limits(observed));
    found.extend(pressures(observed));
    found.extend(waits(observed));
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.name.cmp(&b.name)));
    found
}

fn candidate(cause: Cause, subject: &str, measure: Quantity, score: f64, evidence: String) -> Candidate {
    let (name, subject) = (subject.to_owned(), subject.to_owned());
    Candidate { cause, name, subject, measure, evidence, score }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

fn with_interval(share: &Quantity) -> String {
    format!("{} of the window (n = {} s)", bounded(share), share.n())
}

/// A share with its interval. A window of few independent seconds gives bounds that no share can have; they say nothing.
fn bounded(share: &Quantity) -> String {
    match share.interval().bounds().filter(|(low, high)| *low >= 0.0 && *high <= 1.05) {
        Some((low, high)) => {
            let high = high.min(share.value().max(1.0));
            format!("{} [{:.0}, {:.0}]", percent(share.value()), 100.0 * low, 100.0 * high)
        }
        None => percent(share.value()),
    }
}

/// The rule learnt from the availability study: throughput flat, processor calm on average, no device
/// busy, one thread full.
fn single_threads(observed: &Observations) -> Vec<Candidate> {
    let calm = observed.mean_cpu().filter(|&cpu| cpu < CALM_CPU);
    let threads: Vec<&Resource> = full(observed, ResourceKind::Thread);
    // Without per-thread figures a full core is the best sign there is.
    let suspects =
        if observed.of(ResourceKind::Thread).next().is_some() { threads } else { full(observed, ResourceKind::Core) };
    let Some(cpu) = calm else { return Vec::new() };
    suspects.into_iter().map(|thread| serial_stage(observed, thread, cpu)).collect()
}

fn full(observed: &Observations, kind: ResourceKind) -> Vec<&Resource> {
    observed.of(kind).filter(|resource| resource.mean().value() >= FULL_THREAD).collect()
}

fn serial_stage(observed: &Observations, thread: &Resource, cpu: f64) -> Candidate {
    let measure = thread.mean();
    let flat = observed.throughput_flat == Some(true);
    let device = observed.of(ResourceKind::Device).any(|device| device.mean().value() >= BUSY_DEVICE);
    let signs = [(flat, 0.3), (!device, 0.3)];
    let score = 2.0 + measure.value() + signs.iter().filter(|(sign, _)| *sign).map(|(_, weight)| weight).sum::<f64>();
    let mut evidence = format!(
        "{} was busy {} while all cores together were at {}",
        thread.name,
        with_interval(&measure),
        percent(cpu)
    );
    if flat {
        evidence.push_str("; throughput stayed flat");
    }
    candidate(Cause::SingleThread, &thread.name, measure, score, evidence)
}

/// All cores; what others used of them says nothing about the database.
fn processor(observed: &Observations) -> Option<Candidate> {
    let cores = observed.of(ResourceKind::Core).count();
    let others = observed.others.unwrap_or(0.0);
    let measure = super::super::bootstrap::mean_of(&observed.own_cpu()?).quantity(Unit::RATIO);
    let own = measure.value();
    let score = if own >= BUSY_CPU { 2.0 + own } else { own };
    let beside = if others >= 0.01 { format!(", plus {} for other processes", percent(others)) } else { String::new() };
    let evidence = match observed.database {
        Some(_) => format!(
            "the database used {} of the CPU time of all {cores} cores (n = {} s){beside}",
            bounded(&measure),
            measure.n()
        ),
        None => format!("all {cores} cores together were busy {}{beside}", with_interval(&measure)),
    };
    (cores > 0 && own >= LEAST_SHARE).then(|| candidate(Cause::Processor, "processor", measure, score, evidence))
}

fn limits(observed: &Observations) -> Vec<Candidate> {
    let listed = observed.of(ResourceKind::Limit).filter(|resource| resource.mean().value() >= LEAST_SHARE);
    listed
        .map(|resource| {
            let measure = resource.mean();
            let share = measure.value();
            let score = if share >= REACHED_LIMIT { 3.5 + share } else { share };
            let evidence = format!("{} of {} was used (n = {} s)", bounded(&measure), resource.name, measure.n());
            candidate(Cause::Limit, &resource.name, measure, score, evidence)
        })
        .collect()
}

fn devices(observed: &Observations) -> Vec<Candidate> {
    let listed = observed.of(ResourceKind::Device).filter(|resource| resource.mean().value() >= LEAST_SHARE);
    listed
        .map(|resource| {
            let measure = resource.mean();
            let share = measure.value();
            let score = if share >= BUSY_DEVICE { 1.9 + share } else { share };
            let evidence = format!(
                "{} was busy {}; a device that serves requests in parallel can be busy and still have capacity",
                resource.name,
                with_interval(&measure)
            );
            candidate(Cause::Device, &resource.name, measure, score, evidence)
        })
        .collect()
}

fn pressures(observed: &Observations) -> Vec<Candidate> {
    let listed = observed.of(ResourceKind::Pressure).filter(|resource| resource.mean().value() >= LEAST_SHARE);
    listed
        .map(|resource| {
            let measure = resource.mean();
            let evidence = format!("tasks stalled for {} during {}", resource.name, with_interval(&measure));
            let score = 1.0 + measure.value();
            let stall = candidate(Cause::Pressure, &resource.name, measure, score, evidence);
            Candidate { name: resource.title(), ..stall }
        })
        .collect()
}

fn waits(observed: &Observations) -> Vec<Candidate> {
    let listed = observed.waits.iter().filter(|wait| wait.share >= LEAST_SHARE);
    listed
        .map(|wait| {
            let interval = wait_interval(wait);
            let measure = Quantity::new(wait.share, Unit::RATIO, wait.samples, interval);
            let evidence = format!(
                "sessions spent {} of their time waiting for {} (n = {} samples)",
                percent(wait.share),
                wait.class,
                wait.samples
            );
            candidate(Cause::Wait, &wait.class, measure, wait.share, evidence)
        })
        .collect()
}

fn wait_interval(wait: &Wait) -> Interval {
    Interval::none(format!("{} wait samples of one series have no times", wait.samples))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::autoregressive;

    fn resource(kind: ResourceKind, name: &str, share: f64) -> Resource {
        let noise = autoregressive(name.len() as u64, 60, 0.5);
        let utilisation = noise.iter().map(|x| (share + 0.01 * x).clamp(0.0, 1.0)).collect();
        Resource { kind, name: name.to_owned(), utilisation }
    }

    #[test]
    fn evidence_names_no_more_than_all() {
        let share = |high| Quantity::new(0.98, Unit::RATIO, 30, Interval::known(0.93, high, "test"));
        assert_eq!(bounded(&share(1.03)), "98 % [93, 100]");
        assert_eq!(bounded(&share(1.2)), "98 %", "a window of too few independent seconds");
    }

    /// The availability study's primary: 24 cores, two of them full, 39 % on average.
    fn availability() -> Observations {
        let mut resources: Vec<Resource> = (0..24)
            .map(|core| {
                let share = if core < 2 { 0.98 } else { 0.336 };
                resource(ResourceKind::Core, &format!("core {core}"), share)
            })
            .collect();
        resources.push(resource(ResourceKind::Thread, "log capture", 0.985));
        resources.push(resource(ResourceKind::Thread, "log send", 0.97));
        resources.push(resource(ResourceKind::Thread, "checkpoint", 0.2));
        resources.push(resource(ResourceKind::Device, "nvme0n1", 0.55));
        let waits = vec![Wait { class: "HADR_SYNC_COMMIT".to_owned(), share: 0.6, samples: 5_000 }];
        Observations { resources, waits, throughput_flat: Some(true), others: None, database: None }
    }

    #[test]
    fn the_availability_study_is_a_single_threaded_stage() {
        let ranked = rank(&availability());
        let first: Vec<(Cause, &str)> = ranked.iter().take(2).map(|c| (c.cause, c.name.as_str())).collect();
        assert_eq!(first, [(Cause::SingleThread, "log capture"), (Cause::SingleThread, "log send")]);
        let evidence = &ranked[0].evidence;
        assert!(evidence.contains("all cores together were at 39 %"), "{evidence}");
        assert!(evidence.contains("throughput stayed flat"), "{evidence}");
        assert!(ranked.iter().any(|c| c.cause == Cause::Wait && c.name == "HADR_SYNC_COMMIT"), "{ranked:#?}");
    }

    #[track_caller]
    fn check(resources: &[(ResourceKind, &str, f64)], first: Option<(Cause, &str)>) {
        let resources = resources.iter().map(|&(kind, name, share)| resource(kind, name, share)).collect();
        let ranked = rank(&Observations { resources, ..Observations::default() });
        assert_eq!(ranked.first().map(|c| (c.cause, c.name.as_str())), first, "{ranked:#?}");
    }

    #[test]
    fn the_likeliest_candidate_comes_first() {
        use ResourceKind::{Core, Device, Limit, Pressure, Thread};
        check(
            &[(Core, "core 0", 0.97), (Core, "core 1", 0.96), (Device, "sda", 0.3)],
            Some((Cause::Processor, "processor")),
        );
        check(&[(Core, "core 0", 0.3), (Device, "sda", 0.98)], Some((Cause::Device, "sda")));
        check(&[(Core, "core 0", 0.97), (Core, "core 1", 0.1)], Some((Cause::SingleThread, "core 0")));
        check(
            &[(Core, "core 0", 0.97), (Core, "core 1", 0.1), (Thread, "writer", 0.4)],
            Some((Cause::Processor, "processor")),
        );
        check(
            &[(Core, "core 0", 0.4), (Pressure, "memory (full)", 0.5)],
            Some((Cause::Pressure, "memory (full) (pressure)")),
        );
        check(
            &[(Core, "core 0", 0.97), (Core, "core 1", 0.96), (Limit, "limits.cpu", 0.99)],
            Some((Cause::Limit, "limits.cpu")),
        );
        check(&[(Core, "core 0", 0.97), (Limit, "limits.cpu", 0.4)], Some((Cause::Processor, "processor")));
        check(&[(Core, "core 0", 0.1), (Device, "sda", 0.1)], None);
        check(&[], None);
    }

    #[test]
    fn the_processor_is_ranked_by_what_the_database_itself_used() {
        let mut resources: Vec<Resource> =
            (0..2).map(|core| resource(ResourceKind::Core, &format!("core {core}"), 0.98)).collect();
        resources.push(resource(ResourceKind::Device, "sda", 0.95));
        let beside = |own: f64| {
            let database = Some(resource(ResourceKind::Core, "own", own).utilisation);
            rank(&Observations { resources: resources.clone(), database, ..Observations::default() })
        };
        let stolen = beside(0.5);
        assert_eq!(stolen[0].cause, Cause::Device, "the rest was stolen: {stolen:?}");
        let own = beside(0.96);
        assert_eq!(own[0].cause, Cause::Processor, "{own:?}");
        assert!(own[0].evidence.starts_with("the database used 96 %"), "{}", own[0].evidence);
        assert!(own[0].evidence.contains("of the CPU time of all 2 cores (n = 60 s)"), "{}", own[0].evidence);
    }

    #[test]
    fn cores_that_others_used_speak_for_nothing() {
        let cores = || (0..2).map(|core| resource(ResourceKind::Core, &format!("core {core}"), 0.98)).collect();
        let beside = |others| rank(&Observations { resources: cores(), others, ..Observations::default() });
        assert_eq!(beside(Some(0.9)), []);
        let half = beside(Some(0.4));
        assert!((half[0].measure.value() - 0.58).abs() < 0.01, "{half:?}");
        assert!(half[0].evidence.ends_with("plus 40 % for other processes"), "{}", half[0].evidence);
        assert!(half[0].score < 1.0 && beside(None)[0].score > 2.0);
    }

    #[test]
    fn a_stall_is_told_by_what_tasks_wait_for_and_named_apart_from_its_use() {
        let resources =
            vec![resource(ResourceKind::Pressure, "storage", 0.5), resource(ResourceKind::Device, "storage", 0.3)];
        let found = rank(&Observations { resources, ..Observations::default() });
        let told: Vec<_> = found.iter().map(|one| (one.cause, one.name.as_str(), one.subject.as_str())).collect();
        let expected = [(Cause::Pressure, "storage (pressure)", "storage"), (Cause::Device, "storage", "storage")];
        assert_eq!(told, expected);
        assert!(found[0].evidence.starts_with("tasks stalled for storage during "), "{}", found[0].evidence);
    }
}

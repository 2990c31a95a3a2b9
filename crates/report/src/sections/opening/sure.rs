//! How sure: repetitions, the widest interval, and what the figures may claim for the host.

use crate::blocks::{Prose, prose};
use crate::findings::{ClaimKind, Estimand, Findings, HostClaims, PointFindings};
use crate::numbers::short;

/// What holds for every kind of study; of drills only the claim, since they are told by times and not by throughput.
pub(super) fn sure(findings: &Findings<'_>) -> Prose {
    if (super::drills::TOPIC.applies)(findings) {
        return claim(findings);
    }
    [repetitions(findings), widest(findings), crate::sections::validity::reach::doubt(findings), claim(findings)]
        .concat()
}

fn repetitions(findings: &Findings<'_>) -> Prose {
    let runs = findings.record.study.repetitions();
    match (runs, &findings.blocks) {
        (1, _) => prose!["One run each: intervals cover the variation within a run, not between runs. "],
        (_, Some(_)) => prose![runs, " runs each; ratios were formed within repetitions. "],
        (_, None) => prose![runs, " runs each; intervals cover the variation between runs. "],
    }
}

/// The widest interval of throughput among valid points.
fn widest(findings: &Findings<'_>) -> Prose {
    let width = |point: &PointFindings| {
        let half = point.throughput.as_ref().ok()?.relative_half_width();
        half.is_finite().then_some(half)
    };
    let each = findings.valid().filter_map(|point| Some((point, width(point)?)));
    let Some((point, half)) = each.max_by(|a, b| a.1.total_cmp(&b.1)) else { return Prose::new() };
    let half = short((1_000.0 * half).round() / 10.0);
    if findings.valid().count() == 1 {
        return prose!["The interval is ±", half, " %. "];
    }
    prose!["The widest interval is ±", half, " %,", super::words::at(findings, point), ". "]
}

/// What the figures are figures of.
fn claim(findings: &Findings<'_>) -> Prose {
    let claims = HostClaims::of(findings);
    let (lead, told) = (claims.lead(), claims.told().to_vec());
    match claims.kind() {
        ClaimKind::Untold => Prose::new(),
        ClaimKind::Bound => prose![lead, ". "],
        ClaimKind::QuietBySpin => prose![lead, ": neither steal nor other processes can be seen here. "],
        ClaimKind::Quiet => match by_spin(told) {
            (by_spin, _) if by_spin.is_empty() => prose![lead, ". "],
            (by_spin, _) => prose![
                lead,
                ", by the spin probe for ",
                named(findings, &by_spin),
                ", where neither steal nor other processes can be seen. "
            ],
        },
        ClaimKind::AsGiven => [prose![lead], others(findings), prose!["; on a quiet host they may differ. "]].concat(),
        ClaimKind::Both => {
            let (given, quiet): (Vec<_>, Vec<_>) =
                told.into_iter().partition(|(_, estimand)| **estimand == Estimand::AsGiven);
            let lead =
                [prose!["As given by this host"], others(findings), prose![": ", named(findings, &given)]].concat();
            let (by_spin, quiet) = by_spin(quiet);
            let mut kinds = Vec::from([("; quiet host: ", quiet), ("; quiet host, by the spin probe: ", by_spin)]);
            kinds.retain(|(_, points)| !points.is_empty());
            let kinds = kinds.iter().flat_map(|(kind, points)| prose![*kind, named(findings, points)]);
            lead.into_iter().chain(kinds).chain(prose![". "]).collect()
        }
    }
}

/// A point and what its figures may claim.
type Claimed<'f> = (&'f PointFindings, &'f Estimand);

/// Parts the points whose host was seen quiet by the spin probe alone from the others.
fn by_spin(told: Vec<Claimed<'_>>) -> (Vec<Claimed<'_>>, Vec<Claimed<'_>>) {
    told.into_iter().partition(|(_, estimand)| **estimand == Estimand::QuietBySpin)
}

/// Points that are named before the others are counted.
const NAMED: usize = 6;

/// Points by name, the first of many.
fn named(findings: &Findings<'_>, told: &[Claimed<'_>]) -> String {
    let mut names: Vec<String> =
        told.iter().take(NAMED).map(|(point, _)| super::words::name(findings, point)).collect();
    // A name may have commas of its own.
    let separator = if names.iter().any(|name| name.contains(',')) { "; " } else { ", " };
    let more = told.len().saturating_sub(NAMED);
    names.extend((more > 0).then(|| format!("{more} more")));
    names.join(separator)
}

/// Whether processes were observed on a host that does not show what it gives to other guests.
fn hides_steal(findings: &Findings<'_>) -> bool {
    let runs = findings.valid().flat_map(|point| &point.runs);
    let hosts = runs.filter_map(|run| run.host.as_ref());
    hosts.map(|host| &host.disturbance).any(|seen| seen.foreign.is_some() && seen.stolen.is_none())
}

/// What others took where it was most.
fn others(findings: &Findings<'_>) -> Prose {
    let taken = |point: &PointFindings| {
        let runs = point.runs.iter().filter_map(|run| run.host.as_ref());
        runs.map(crate::findings::HostUse::taken).fold(0.0, f64::max)
    };
    let given = findings.valid().filter(|point| point.estimand == Some(Estimand::AsGiven));
    let mut given: Vec<&PointFindings> = given.collect();
    given.sort_by(|a, b| taken(b).total_cmp(&taken(a)));
    let mut hosts = given.iter().flat_map(|point| &point.runs).filter_map(|run| run.host.as_ref());
    let reason = hosts.find_map(|host| host.device_reason.clone().or_else(|| host.spin_reason.clone()));
    match (given.first().filter(|worst| taken(worst) >= 0.01), reason) {
        (Some(worst), reason) => {
            let percent = short((100.0 * taken(worst)).round());
            let mut told = prose![", where other load took up to ", percent, " % of the CPU"];
            told.extend(reason.into_iter().flat_map(|reason| prose![", and ", reason]));
            told
        }
        (None, Some(reason)) => prose![", where ", reason],
        (None, None) if hides_steal(findings) => {
            prose![", where the load of other guests of its hypervisor could not be observed"]
        }
        (None, None) => prose![", where other load could not be observed"],
    }
}

//! What the figures may claim, and what others did on the host: a table in the section on validity. Judges nothing.

use crate::blocks::{Block, Cell, Prose, TableOf, prose};
use crate::findings::{Estimand, Findings, HostUse};
use crate::numbers::short;
use crate::workloads::Workload;
use proofload_model::settings::setting;

/// The table; `None` where no run tells it.
pub(crate) fn table(findings: &Findings<'_>) -> Option<Block> {
    let rows = findings.runs().filter_map(|(point, run)| Some((point, run, run.host.as_ref()?)));
    let percent = |share: Option<f64>, missing: &str| {
        share.map_or(Cell::Gap(missing.to_owned()), |share| Cell::datum(format!("{} %", short(100.0 * share))))
    };
    let caption =
        prose!["CPU use by others in the window of each run, and what the run's figures therefore represent."];
    TableOf::new("table-host", caption, rows)
        .words("Run", |(point, run, _)| point.run_label(run))
        .words("Figures of", |(.., host)| host.estimand.to_string())
        .words("Taken by others", |(.., host)| taken(host))
        .words("In quiet seconds", |(.., host)| in_quiet_seconds(findings.workload, host))
        .words("Largest processes", |(.., host)| largest(host))
        .words("Requests to the device", |(.., host)| {
            host.foreign_requests.map_or(Cell::Gap("not observed".to_owned()), |share| {
                Cell::datum(format!("{} % of others", short(100.0 * share)))
            })
        })
        .words("Quota exhausted", |(.., host)| percent(host.throttled, "no limit"))
        .words("Load generator waited", |(.., host)| percent(host.client_wait, "not observed"))
        .note(note())
        .filled()
        .map(Block::Table)
}

fn note() -> Prose {
    prose![
        "Quiet host: others took no more CPU than the study tolerates (",
        crate::blocks::Inline::Code(setting::PROCEDURE_STEAL_TOLERANCE.to_owned()),
        "), or a limit of the study was reached in at least 95 % of the seconds, so that others had less \
         effect, not none: what runs between two requests still takes longer beside them. As given: \
         the mean on this host in this time, neighbours included; a point is as given where one of its runs is. In \
         quiet seconds: the workload's main figure over seconds in which others stayed within that tolerance and \
         their earlier use no longer had an effect. Taken by others, of the cores that the database may run on: CPU \
         that the hypervisor gave to other guests, as a share of the demand, and CPU time of processes of neither the \
         database nor Proofload. Other guests are not observed on a guest whose steal counter has stood at 0 since \
         boot: hypervisors may hide steal, so such a host is not called quiet. Where processes are not observed \
         either, a thread computes for a twentieth of the time: what keeps it from its core is told as the figure of \
         the spin probe, and may be the load itself. Requests of others: those of the device under the data that \
         neither the database nor a standby on the same host made. Under control groups of version 1 the kernel does \
         not count later write-back for the group, so it stands there. Others that made more than a tenth of the \
         reads, or more than three quarters of the writes where write-back is counted, and kept the device busy for \
         longer than the tolerance, make the figures as given. How long the load generator of an embedded engine \
         waited is not observed: it shares the engine's control group, whose quota makes it wait as well."
    ]
}

/// What the run did in its quiet seconds.
fn in_quiet_seconds(workload: &Workload, host: &HostUse) -> Cell {
    match (host.in_quiet_seconds(workload), &host.quiet) {
        (Some((quantity, quiet)), _) => Cell::Prose(prose![quantity, format!(" in {} of {} s", quiet.quiet, quiet.of)]),
        (None, Some(Err(why))) => Cell::Gap(why.clone()),
        (None, _) => Cell::Gap(match host.estimand {
            // Others may have taken much: it made less difference.
            Estimand::BoundBy(_) => "a limit was always reached".to_owned(),
            Estimand::QuietHost | Estimand::QuietBySpin | Estimand::AsGiven => "the host was quiet".to_owned(),
        }),
    }
}

fn taken(host: &HostUse) -> String {
    let part = |share: Option<f64>, what: &str| match share {
        Some(share) => format!("{what} {} %", short(100.0 * share)),
        None => format!("{what} not observed"),
    };
    let mut taken = vec![part(host.disturbance.stolen, "other guests"), part(host.disturbance.foreign, "processes")];
    taken.extend(host.spin.as_ref().map(|spin| {
        let (share, worst) = (short(100.0 * spin.share), short(100.0 * spin.worst));
        format!("spin probe kept off {share} %, its worst piece {worst} %")
    }));
    taken.join(", ")
}

fn largest(host: &HostUse) -> Cell {
    let seen = host.processes.iter().filter(|(_, rate)| *rate >= 0.005);
    let named: Vec<String> = seen.map(|(name, rate)| format!("{name} {rate:.2} cores")).collect();
    if named.is_empty() { Cell::Gap("none seen".to_owned()) } else { Cell::datum(named.join(", ")) }
}

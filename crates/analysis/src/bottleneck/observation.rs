//! What was observed of one point over its measured window, as plain data.

use super::super::bootstrap::mean_of;
use super::super::quantity::{Quantity, Unit};

/// What kind of thing a resource is; the limits differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResourceKind {
    /// One processor core of the system under test.
    Core,
    /// One thread of the database, as a share of one core.
    Thread,
    /// One storage device, as the share of time with requests outstanding.
    Device,
    /// A limit of the study, as the share of it that was used.
    Limit,
    /// Share of time in which tasks stalled for processor, memory or storage (pressure-stall information).
    Pressure,
}

/// One resource with its utilisation over the window.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// What it is.
    pub kind: ResourceKind,
    /// Its name: "core 3", "postgres: walwriter", "nvme0n1"; of stalls, what tasks wait for: "memory".
    pub name: String,
    /// Utilisation per second of the window, 0 to 1.
    pub utilisation: Vec<f64>,
}

impl Resource {
    /// Its name as printed, where stalls for a resource stand beside the use of resources.
    pub fn title(&self) -> String {
        match self.kind {
            ResourceKind::Pressure => format!("{} (pressure)", self.name),
            ResourceKind::Core | ResourceKind::Thread | ResourceKind::Device | ResourceKind::Limit => self.name.clone(),
        }
    }

    /// Mean utilisation over the window with its interval; gaps leave it without one.
    pub fn mean(&self) -> Quantity {
        mean_of(&self.utilisation).quantity(Unit::RATIO)
    }
}

/// One class of waits, as the database reports them.
#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    /// Its name as printed: "LWLock:WALWrite", "HADR_SYNC_COMMIT".
    pub class: String,
    /// Share of all session time spent in it during the window, 0 to 1.
    pub share: f64,
    /// Number of wait samples behind the share.
    pub samples: u64,
}

/// Everything observed of one point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observations {
    /// Cores, threads, devices, limits, pressures.
    pub resources: Vec<Resource>,
    /// Mean share of all cores that processes other than the database and the load generator used, 0 to 1; `None` where not observed.
    pub others: Option<f64>,
    /// Share of all cores that the database itself used, per second of the window, where its CPU time is counted by itself.
    pub database: Option<Vec<f64>>,
    /// Wait classes.
    pub waits: Vec<Wait>,
    /// Whether throughput stayed flat when the load or the swept resource was raised to this point; `None`
    /// where there is no neighbouring point.
    pub throughput_flat: Option<bool>,
}

impl Observations {
    /// Resources of one kind.
    pub fn of(&self, kind: ResourceKind) -> impl Iterator<Item = &Resource> {
        self.resources.iter().filter(move |resource| resource.kind == kind)
    }

    /// Share of all cores that the database used, second by second: as it was counted, else what others left of the cores' use; `None` where
    /// neither was observed.
    pub fn own_cpu(&self) -> Option<Vec<f64>> {
        if self.database.is_some() {
            return self.database.clone();
        }
        let seconds = self.of(ResourceKind::Core).map(|core| core.utilisation.len()).min()?;
        let cores = self.of(ResourceKind::Core).count() as f64;
        let busy =
            |second: usize| self.of(ResourceKind::Core).map(|core| core.utilisation[second]).sum::<f64>() / cores;
        let others = self.others.unwrap_or(0.0);
        Some((0..seconds).map(|second| (busy(second) - others).max(0.0)).collect())
    }

    /// Mean utilisation over all cores; `None` where no core was observed.
    pub fn mean_cpu(&self) -> Option<f64> {
        let cores: Vec<f64> = self.of(ResourceKind::Core).map(|core| core.mean().value()).collect();
        (!cores.is_empty()).then(|| super::super::distribution::mean(&cores))
    }
}

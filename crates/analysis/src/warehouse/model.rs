//! Proofload's own capacity model: up to which raw size a stated target can hold. It is an upper bound by what device and cores
//! can do, and says nothing beyond a stated multiple of what was measured.

use super::units::{CpuSeconds, MbPerSecond, Megabytes, QueriesPerHour, RawTerabytes, Seconds};

/// No conclusion beyond this multiple of the largest measured raw size.
pub const FARTHEST: f64 = 10.0;

/// What one query of the mix costs on average, as measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demand {
    /// MB that the device reads for it, with a memory that is small against the data.
    pub device: Megabytes,
    /// CPU time for it.
    pub cpu: CpuSeconds,
    /// Raw size at which this was measured.
    pub raw: RawTerabytes,
}

/// What the machine can do at most, by calibration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Machine {
    /// Sequential reads of the device.
    pub device: MbPerSecond,
    /// Cores that the database may use.
    pub cores: f64,
}

/// What has to hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// Queries of the mix per hour; 0 asks for none.
    pub rate: QueriesPerHour,
    /// Streams at the same time.
    pub streams: u32,
    /// Mean response time of a query.
    pub within: Seconds,
}

/// What ends the growth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    /// The device is read as fast as it can be.
    Device,
    /// All cores are busy.
    Cpu,
    /// Nothing more fits.
    Storage,
}

impl Binding {
    /// Its words.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Device => "device reads",
            Self::Cpu => "CPU",
            Self::Storage => "storage",
        }
    }
}

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OwnCapacity {
    /// The largest raw size at which nothing forbids the target.
    pub raw: RawTerabytes,
    /// What forbids more.
    pub binding: Binding,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq)]
pub enum CapacityRefusal {
    /// The answer lies farther from the measurement than may be concluded.
    TooFar {
        /// The largest measured raw size.
        measured: RawTerabytes,
        /// The multiple of it that may be concluded.
        farthest: f64,
    },
    /// An input is missing or senseless; which.
    Input(&'static str),
}

/// The largest raw size at which a target can hold. Device and CPU work of a query are taken to grow with the raw size; no
/// throughput exceeds what the busiest of device and cores allows, and by Little's law n streams with a mean response time t end
/// n ÷ t queries. `storage` is the maximum user data, where it is known; `farthest` is usually [`FARTHEST`].
/// Own; source of the bounds: Lazowska et al., Quantitative System Performance (1984), chapter 5. Errors: an input that is not
/// above 0, or an answer beyond `farthest` times the measured size.
pub fn largest_raw_size(
    demand: &Demand,
    machine: &Machine,
    target: &Target,
    storage: Option<RawTerabytes>,
    farthest: f64,
) -> Result<OwnCapacity, CapacityRefusal> {
    check(demand, machine, target)?;
    let per_second = (target.rate.0 / 3600.0).max(f64::from(target.streams) / target.within.0);
    let device_seconds = demand.device.0 / machine.device.0;
    let cpu_seconds = demand.cpu.0 / machine.cores;
    let at = |seconds: f64| RawTerabytes(demand.raw.0 / (seconds * per_second));
    let (seconds, binding) =
        if device_seconds > cpu_seconds { (device_seconds, Binding::Device) } else { (cpu_seconds, Binding::Cpu) };
    let mut found = OwnCapacity { raw: at(seconds), binding };
    if let Some(storage) = storage.filter(|storage| storage.0 < found.raw.0) {
        found = OwnCapacity { raw: storage, binding: Binding::Storage };
    }
    if found.raw.0 > farthest * demand.raw.0 {
        return Err(CapacityRefusal::TooFar { measured: demand.raw, farthest });
    }
    Ok(found)
}

fn check(demand: &Demand, machine: &Machine, target: &Target) -> Result<(), CapacityRefusal> {
    let inputs = [
        (demand.cpu.0, "CPU time per query"),
        (demand.raw.0, "a measured raw size"),
        (machine.device.0, "a calibrated device rate"),
        (machine.cores, "cores"),
        (target.within.0, "a response time"),
        (f64::from(target.streams), "streams"),
    ];
    let sensible = |value: f64| value > 0.0 && value.is_finite();
    match inputs.iter().find(|(value, _)| !sensible(*value)) {
        Some((_, what)) => Err(CapacityRefusal::Input(what)),
        None if demand.device.0 >= 0.0 => Ok(()),
        None => Err(CapacityRefusal::Input("device reads per query")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 GB per query and TB on 5 GB/s: 20 s of the device; 280 CPU s on 28 cores: 10 s.
    const DEMAND: Demand = Demand { device: Megabytes(100_000.0), cpu: CpuSeconds(280.0), raw: RawTerabytes(1.0) };
    const MACHINE: Machine = Machine { device: MbPerSecond(5_000.0), cores: 28.0 };

    fn target(per_hour: f64, streams: u32, within: f64) -> Target {
        Target { rate: QueriesPerHour(per_hour), streams, within: Seconds(within) }
    }

    #[track_caller]
    fn check(demand: Demand, target: Target, storage: Option<f64>, raw: f64, binding: Binding) {
        let found = largest_raw_size(&demand, &MACHINE, &target, storage.map(RawTerabytes), FARTHEST).unwrap();
        assert!((found.raw.0 - raw).abs() < 1e-9 * raw, "{found:?}");
        assert_eq!(found.binding, binding);
    }

    #[test]
    fn the_busiest_resource_binds() {
        check(DEMAND, target(180.0, 1, 1e9), None, 1.0, Binding::Device);
        check(DEMAND, target(0.0, 4, 40.0), None, 0.5, Binding::Device);
        check(Demand { device: Megabytes(10_000.0), ..DEMAND }, target(180.0, 1, 1e9), None, 2.0, Binding::Cpu);
        check(Demand { device: Megabytes(0.0), ..DEMAND }, target(0.0, 1, 10.0), None, 1.0, Binding::Cpu);
        check(DEMAND, target(18.0, 1, 1e9), Some(7.0), 7.0, Binding::Storage);
    }

    #[test]
    fn far_answers_and_senseless_inputs_are_refused() {
        let refused = |demand, target| largest_raw_size(&demand, &MACHINE, &target, None, FARTHEST).unwrap_err();
        let far = refused(DEMAND, target(17.9, 1, 1e9));
        assert_eq!(far, CapacityRefusal::TooFar { measured: RawTerabytes(1.0), farthest: 10.0 });
        let ten = largest_raw_size(&DEMAND, &MACHINE, &target(18.0, 1, 1e9), None, FARTHEST);
        assert!((ten.unwrap().raw.0 - 10.0).abs() < 1e-9);
        let idle = Demand { cpu: CpuSeconds(0.0), ..DEMAND };
        assert_eq!(refused(idle, target(1.0, 1, 1.0)), CapacityRefusal::Input("CPU time per query"));
        assert_eq!(refused(DEMAND, target(1.0, 0, 1.0)), CapacityRefusal::Input("streams"));
        let nothing = Demand { device: Megabytes(f64::NAN), ..DEMAND };
        assert_eq!(refused(nothing, target(1.0, 1, 1.0)), CapacityRefusal::Input("device reads per query"));
    }
}

//! Whether attempts were made on one host, by what each has found of its own.

use crate::findings::size_text;
use proofload_model::facts::{FactName, HOST_IDENTITY, host};
use proofload_model::samples::Fact;

/// Memory of one host may be told this far apart, as a share: a kernel keeps some of it for itself.
const KEPT: f64 = 0.02;

/// What tells a host from an earlier one, in words such as `Cores: 8, then 2`; empty where it is the same, and where one is not known.
pub(super) fn differences(then: &[Fact], now: &[Fact]) -> Vec<String> {
    HOST_IDENTITY.iter().filter_map(|name| difference(name, then, now)).collect()
}

fn difference(name: &FactName, then: &[Fact], now: &[Fact]) -> Option<String> {
    let (before, after) = (name.text(then)?, name.text(now)?);
    let is_memory = name.name == host::MEMORY.name;
    let numbers = name.number(then).zip(name.number(now)).filter(|_| is_memory);
    let is_same = numbers.map_or(before == after, |(before, after)| (before - after).abs() <= KEPT * after);
    let shown = |text: &str| if is_memory { size_text(text) } else { text.to_owned() };
    (!is_same).then(|| format!("{}: {}, then {}", name.title, shown(before), shown(after)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(cpu: &str, cores: u64, gibibytes: f64) -> Vec<Fact> {
        let memory = Fact { number: Some(gibibytes * f64::from(1 << 30)), ..host::MEMORY.observed("some", "a test") };
        vec![host::CPU.observed(cpu, "a test"), host::CORES.observed(cores.to_string(), "a test"), memory]
    }

    #[test]
    fn a_host_is_told_by_what_was_found_of_it() {
        let first = of("Xeon", 8, 16.0);
        assert_eq!(differences(&first, &of("Xeon", 8, 15.9)), [""; 0], "a kernel keeps some memory");
        assert_eq!(differences(&first, &of("EPYC", 2, 16.0)), ["CPU: Xeon, then EPYC", "Cores: 8, then 2"]);
        assert_eq!(differences(&first, &of("Xeon", 8, 8.0)).len(), 1);
        assert_eq!(differences(&first, &[]), [""; 0], "nothing is known of the other");
    }
}

//! The published results that are built in.

use super::file::read_reference;
use super::types::Reference;

/// Every reference of the repository: name and text. One line adds one.
pub const REFERENCES: &[(&str, &str)] = &[
    ("9100-max-availability", include_str!("../../references/9100-max-availability.toml")),
    ("das-cache", include_str!("../../references/das-cache.toml")),
    ("dwft-36tb", include_str!("../../references/dwft-36tb.toml")),
    ("nes32r-xd6-mongodb", include_str!("../../references/nes32r-xd6-mongodb.toml")),
    ("sn861-memory-sweep", include_str!("../../references/sn861-memory-sweep.toml")),
];

/// A reference by name; the error says which exist.
pub fn find_reference(name: &str) -> Result<Reference, String> {
    let known = REFERENCES.iter().find(|(known, _)| *known == name).ok_or_else(|| {
        let names: Vec<&str> = REFERENCES.iter().map(|(name, _)| *name).collect();
        format!(
            "unknown reference {name}; built in: {}; to show your own file use `proofload report --beside FILE`",
            names.join(", ")
        )
    })?;
    read_reference(&format!("references/{name}.toml"), known.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_is_readable_and_named_as_its_file() {
        for (name, _) in REFERENCES {
            let reference = find_reference(name).unwrap();
            assert_eq!(reference.id, *name);
        }
        assert!(find_reference("none").unwrap_err().contains("sn861-memory-sweep"));
    }

    #[test]
    fn the_memory_sweep_has_its_three_published_points() {
        let reference = find_reference("sn861-memory-sweep").unwrap();
        let points: Vec<_> =
            reference.points.iter().map(|point| (point.levels[0].1.as_str(), point.relative_percent)).collect();
        assert_eq!(points, [("32GiB", Some(72.4)), ("160GiB", Some(96.7)), ("256GiB", Some(100.0))]);
    }

    #[test]
    fn the_document_store_agrees_with_its_own_arithmetic() {
        let reference = find_reference("nes32r-xd6-mongodb").unwrap();
        let [point] = reference.points.as_slice() else { panic!("one point was published") };
        let mean: f64 = point.operations.iter().map(|operation| operation.milliseconds("mean").unwrap() / 2.0).sum();
        assert!((mean - 8.44).abs() < 1e-9, "half reads, half updates: {mean} ms");
        let (in_flight, users) = (point.in_flight().unwrap(), point.level("workload.virtual_users").unwrap());
        assert_eq!((format!("{in_flight:.1}").as_str(), users), ("255.9", "256"));
        let seconds = point.metrics["run_time"].seconds().unwrap();
        let operations = point.metrics["throughput"].value * seconds;
        assert!((operations / 2e9 - 1.0).abs() < 5e-4, "two billion in the published time: {operations}");
    }

    #[test]
    fn what_is_noted_of_the_availability_study_follows_from_its_figures() {
        let reference = find_reference("9100-max-availability").unwrap();
        let [single, pair] = [0, 1].map(|place: usize| {
            let metrics = &reference.points[place].metrics;
            (metrics["tpm"].value, metrics["latency_mean"].seconds().unwrap())
        });
        let per_timed = |(tpm, seconds): (f64, f64)| format!("{:.2}", tpm * seconds / (193.0 * 60.0));
        let ratios = [single.0 / pair.0, pair.1 / single.1].map(|ratio| format!("{ratio:.2}"));
        let demands = [single, pair].map(|(_, seconds)| 1e6 * seconds / 193.0);
        let notes = reference.notes.join(" ");
        for part in [
            format!("{} (single node) and {} times (two nodes)", per_timed(single), per_timed(pair)),
            format!("{} by TPM, {} by average latency", ratios[0], ratios[1]),
            format!("{:.1} us a transaction for the single node and {:.0} us for two", demands[0], demands[1]),
            "ITEM 500,000 (TPC-C: 100,000), ORDER_LINE twice, ORDERS not at all".to_owned(),
            "majority quorum with a file-share witness".to_owned(),
        ] {
            assert!(notes.contains(&part), "{part}: {notes}");
        }
    }
}

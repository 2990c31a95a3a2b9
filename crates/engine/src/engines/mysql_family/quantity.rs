//! Values of MariaDB's settings in base units, so that `64MiB` asked and `67108864` in force are seen to be equal. Source: knowledge base,
//! "Configuring MariaDB with Option Files".

use crate::engines::switch::switch;

/// Suffixes of sizes, ours first.
const SUFFIXES: &[(&str, f64)] = &[
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
    ("K", 1024.0),
    ("M", 1_048_576.0),
    ("G", 1_073_741_824.0),
    ("T", 1_099_511_627_776.0),
    ("B", 1.0),
];

/// A study's value as the server reads it in its configuration: sizes with binary suffixes get the server's, which are binary too.
pub(super) fn server_text(value: &str) -> String {
    let value = value.trim();
    let replaced = [("KiB", "K"), ("MiB", "M"), ("GiB", "G"), ("TiB", "T")].iter().find_map(|(ours, theirs)| {
        let number = value.strip_suffix(ours)?.trim_end();
        number.parse::<u64>().is_ok().then(|| format!("{number}{theirs}"))
    });
    replaced.unwrap_or_else(|| value.to_owned())
}

/// A study's value as a statement sets it, in base units where it is a number.
pub(super) fn literal(value: &str) -> String {
    match number(value) {
        Some(number) if number.fract() == 0.0 && number.abs() < 1e15 => format!("{number:.0}"),
        Some(number) => number.to_string(),
        None => format!("'{}'", value.trim().replace('\'', "''")),
    }
}

/// Whether the value in force fulfils what was asked.
pub(super) fn fulfils(asked: &str, in_force: &str) -> bool {
    if let (Some(wanted), Some(found)) = (number(asked), number(in_force)) {
        return (wanted - found).abs() <= wanted.abs() * 1e-9;
    }
    if let (Some(wanted), Some(found)) = (switch(asked), switch(in_force)) {
        return wanted == found;
    }
    match (switches(asked), switches(in_force)) {
        (Some(wanted), Some(found)) => wanted.iter().all(|one| found.contains(one)),
        _ => asked.trim().eq_ignore_ascii_case(in_force),
    }
}

/// Switches of a list such as `optimizer_switch`. Setting some leaves the others as they are, so the server tells more than was asked.
/// `None`: the text is no such list.
fn switches(text: &str) -> Option<Vec<(String, bool)>> {
    let one = |item: &str| {
        let (name, value) = item.split_once('=')?;
        Some((name.trim().to_ascii_lowercase(), switch(value)?))
    };
    text.split(',').map(one).collect()
}

/// A number with or without a suffix.
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let suffixed = || {
        SUFFIXES.iter().find_map(|(suffix, factor)| {
            let number: f64 = text.strip_suffix(suffix)?.trim_end().parse().ok()?;
            Some(number * factor)
        })
    };
    text.parse().ok().or_else(suffixed).filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(asked: &str, in_force: &str, expected: bool) {
        assert_eq!(fulfils(asked, in_force), expected, "{asked} {in_force}");
    }

    #[test]
    fn values_are_compared_in_base_units() {
        check("64MiB", "67108864", true);
        check("64M", "67108864", true);
        check("65M", "67108864", false);
        check("on", "1", true);
        check("ON", "OFF", false);
        check("1", "ON", true);
        check("0.5", "0.500000", true);
        check("o_direct", "O_DIRECT", true);
        check("O_DSYNC", "O_DIRECT", false);
    }

    #[test]
    fn of_a_list_of_switches_those_that_were_asked_for_count() {
        let in_force = "index_merge=on,mrr=on,mrr_cost_based=off,mrr_sort_keys=on";
        check("mrr=on,mrr_sort_keys=on", in_force, true);
        check("MRR = ON", in_force, true);
        check("mrr=on,mrr_cost_based=on", in_force, false);
        check("mrr=on,join_cache_hashed=on", in_force, false);
        check("mrr=default", in_force, false);
        check(in_force, in_force, true);
    }

    #[test]
    fn values_are_written_as_the_server_reads_them() {
        assert_eq!(["64MiB", "2", "O_DIRECT"].map(server_text), ["64M", "2", "O_DIRECT"]);
        assert_eq!(["64MiB", "0.5", "READ-ONLY", "it's"].map(literal), ["67108864", "0.5", "'READ-ONLY'", "'it''s'"]);
    }
}

//! Checks that cannot hold under a departure from the clauses: they are reported as not applicable, with the departure,
//! and never as passed. A test compares this table with the checks that runs under each departure fail.

use proofload_gen::tprocc::{Departure, Profile};
use proofload_model::samples::{Check, CheckOutcome};

/// A departure, a group of checks, and the names of those that it breaks.
#[rustfmt::skip]
const EXCUSED: &[(Departure, &str, &[&str])] = &[
    (Departure::UniformIds, "inputs", &["customer numbers", "items"]),
    (Departure::C123, "inputs", &["constants"]),
    (Departure::CountersNotKept, "consistency", &["condition 11", "condition 12", "payment counts"]),
    (Departure::CountersNotKept, "conservation",
        &["s_order_cnt", "s_ytd", "s_remote_cnt", "c_payment_cnt", "c_ytd_payment", "c_delivery_cnt"]),
    (Departure::UnusedItemKept, "inputs", &["rollbacks"]),
    (Departure::RemoteMayBeHome, "inputs", &["remote lines"]),
    (Departure::AmountsSwapped, "consistency", &["condition 10", "condition 12"]),
];

/// Departures of a profile that a check cannot hold under.
pub(super) fn excuses<'c>(profile: &'c Profile, check: &'c Check) -> impl Iterator<Item = Departure> + 'c {
    let of_check = move |(_, group, names): &&(Departure, &str, &[&str])| {
        *group == check.group && names.contains(&check.name.as_str())
    };
    EXCUSED.iter().filter(of_check).map(|(departure, ..)| *departure).filter(move |departure| profile.has(*departure))
}

/// The checks, with those marked that do not apply under the profile.
pub(crate) fn excused(checks: Vec<Check>, profile: &Profile) -> Vec<Check> {
    checks.into_iter().map(|check| excuse(check, profile)).collect()
}

fn excuse(check: Check, profile: &Profile) -> Check {
    let departures: Vec<String> = excuses(profile, &check)
        .map(|departure| format!("departure {} ({})", departure.number(), departure.name()))
        .collect();
    if departures.is_empty() {
        return check;
    }
    let found = format!("not applicable under {}", departures.join(" and "));
    Check { found, outcome: CheckOutcome::NotApplicable, offenders: Vec::new(), sample: None, ..check }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(profile: &Profile, name: &str, expected: Option<&str>) {
        let met = Check {
            group: "consistency".to_owned(),
            name: name.to_owned(),
            rule: String::new(),
            found: "holds".to_owned(),
            outcome: CheckOutcome::Met,
            offenders: Vec::new(),
            sample: None,
            lost: None,
        };
        let told = &excused(vec![met.clone()], profile)[0];
        let outcome = if expected.is_some() { CheckOutcome::NotApplicable } else { CheckOutcome::Met };
        assert_eq!((told.found.as_str(), told.outcome), (expected.unwrap_or("holds"), outcome));
    }

    #[test]
    fn what_a_departure_breaks_is_not_applicable_and_never_met() {
        let all = Profile::hammerdb_compatible();
        check(&Profile::SPEC, "condition 12", None);
        check(&all, "condition 9", None);
        check(&all, "condition 10", Some("not applicable under departure 13 (amounts-swapped)"));
        check(
            &all,
            "condition 12",
            Some("not applicable under departure 4 (counters-not-kept) and departure 13 (amounts-swapped)"),
        );
        // Counters are right at load, so the conditions must hold there.
        check(&all.of_load(), "condition 11", None);
    }
}

//! A property file of YCSB as a study: what each property becomes, and what has no equivalent. May not run or validate the study.
//!
//! Source: `CoreWorkload` and `Client` of YCSB 0.17.0, with their defaults.

use super::cleanse::quoted;
use super::source::{Fault, Faults};
use std::collections::BTreeMap;

/// A study made of properties.
struct Draft<'p> {
    properties: BTreeMap<&'p str, (usize, &'p str)>,
    taken: Vec<&'static str>,
    lines: Vec<String>,
}

/// Properties whose text is taken over unchanged: name, setting, default of YCSB, and whether it is a text.
const SAME: &[(&str, &str, &str, bool)] = &[
    ("fieldcount", "fields", "10", false),
    ("fieldlength", "field_length", "100", false),
    ("readallfields", "read_all_fields", "true", false),
    ("writeallfields", "write_all_fields", "false", false),
    ("insertorder", "insert_order", "hashed", true),
    ("zeropadding", "zero_padding", "1", false),
    ("maxscanlength", "scan_most", "1000", false),
    ("exponential.percentile", "exponential_percentile", "95", false),
    ("exponential.frac", "exponential_share", "0.8571428571", false),
    ("minscanlength", "scan_least", "1", false),
    ("scanlengthdistribution", "scan_lengths", "uniform", true),
    ("fieldlengthdistribution", "field_lengths", "constant", true),
];

/// Shares of the mix: property, setting, default of YCSB.
const SHARES: &[(&str, &str, &str)] = &[
    ("readproportion", "read", "0.95"),
    ("updateproportion", "update", "0.05"),
    ("insertproportion", "insert", "0.0"),
    ("scanproportion", "scan", "0.0"),
    ("readmodifywriteproportion", "read_modify_write", "0.0"),
];

/// The study file's text. `name` names the study.
///
/// # Errors
/// Lines that are no properties, and values that the study cannot take.
pub fn study_text(file: &str, text: &str, name: &str, engine: &str) -> Result<String, Vec<Fault>> {
    let mut faults = Faults::of(file);
    let mut draft = Draft { properties: properties(text, &mut faults), taken: vec!["workload"], lines: Vec::new() };
    known_workload(&draft, &mut faults);
    sizes(&mut draft, &mut faults);
    mix(&mut draft, &mut faults);
    keys(&mut draft, &mut faults);
    for (property, setting, default, is_text) in SAME {
        let value = draft.take(property, default);
        let value = if *is_text { format!("{value:?}") } else { value.to_lowercase() };
        draft.lines.push(format!("{setting} = {value}{}", draft.origin(property)));
    }
    for property in ["fieldcount", "fieldlength", "zeropadding", "maxscanlength", "minscanlength"] {
        draft.whole(property, &mut faults);
    }
    let window = window(&mut draft, &mut faults);
    let rest = draft.rest();
    let body = draft.lines.join("\n");
    faults.or(format!(
        "# Created from YCSB's property file {}. Check the properties without an equivalent, below, before comparing results.\n\
         [study]\n\
         name = {name:?}\n\
         title = \"YCSB's {name}\"\n\
         seed = 1\n\
         \n\
         [workload]\n\
         kind = \"ycsb\"\n\
         {body}\n\
         \n\
         [engine]\n\
         kind = {engine:?}\n\
         \n\
         [procedure]\n\
         {window}{rest}",
        quoted(file)
    ))
}

impl<'p> Draft<'p> {
    /// A property's value, or YCSB's default.
    fn take(&mut self, property: &'static str, default: &'static str) -> &'p str {
        self.taken.push(property);
        self.properties.get(property).map_or(default, |(_, value)| value)
    }

    /// Where a line comes from, as a comment.
    fn origin(&self, property: &str) -> String {
        match self.properties.get(property) {
            Some((line, _)) => format!("    # {property}, line {line}"),
            None => format!("    # YCSB's default of {property}"),
        }
    }

    fn fault(&self, property: &str, text: &str, faults: &mut Faults<'_>) {
        match self.properties.get(property) {
            Some((line, value)) => faults.at(*line, format!("{property} = {}: {text}", quoted(value))),
            None => faults.whole(format!("{property} is missing: {text}")),
        }
    }

    fn whole(&self, property: &str, faults: &mut Faults<'_>) -> Option<u64> {
        let (_, value) = self.properties.get(property)?;
        let number = value.parse().ok();
        if number.is_none() {
            self.fault(property, "it is not a whole number", faults);
        }
        number
    }

    /// What was not taken over, as comments.
    fn rest(&self) -> String {
        let others = self.properties.iter().filter(|(property, _)| !self.taken.contains(property));
        let lines: String = others.map(|(property, (line, _))| format!("#   {property} (line {line})\n")).collect();
        if lines.is_empty() { lines } else { format!("\n# Skipped, because they have no equivalent here:\n{lines}") }
    }
}

/// `name=value`, `name: value` or `name value`; `#` and `!` begin comments.
fn properties<'p>(text: &'p str, faults: &mut Faults<'_>) -> BTreeMap<&'p str, (usize, &'p str)> {
    let mut found = BTreeMap::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', '!']) {
            continue;
        }
        let Some((name, value)) = line.split_once(['=', ':']).or_else(|| line.split_once(' ')) else {
            faults.at(at + 1, format!("`{}` is not a property of the form name=value", quoted(line)));
            continue;
        };
        found.insert(name.trim(), (at + 1, value.trim()));
    }
    found
}

/// Only YCSB's core workload has these properties, and only some of its distributions an equivalent.
fn known_workload(draft: &Draft<'_>, faults: &mut Faults<'_>) {
    let value = |property: &str| draft.properties.get(property).map(|(_, value)| *value);
    if value("workload").is_some_and(|class| !class.ends_with("CoreWorkload") && class != "core") {
        draft.fault("workload", "only the core workload can be converted", faults);
    }
    for property in ["fieldlengthdistribution", "scanlengthdistribution"] {
        if value(property).is_some_and(|choice| !["constant", "uniform", "zipfian"].contains(&choice)) {
            draft.fault(property, "it has no equivalent; constant, uniform and zipfian have", faults);
        }
    }
}

fn sizes(draft: &mut Draft<'_>, faults: &mut Faults<'_>) {
    for (property, setting) in
        [("recordcount", "records"), ("operationcount", "operations"), ("threadcount", "virtual_users")]
    {
        draft.taken.push(property);
        match (draft.whole(property, faults), property) {
            (Some(0), "operationcount") => {}
            (Some(number), _) => draft.lines.push(format!("{setting} = {number}{}", draft.origin(property))),
            (None, "threadcount") => {
                draft.lines.push("virtual_users = 1    # YCSB's default of threadcount".to_owned())
            }
            (None, "recordcount") if !draft.properties.contains_key(property) => {
                draft.fault(property, "the number of records is unknown", faults);
            }
            (None, _) => {}
        }
    }
    draft.taken.push("target");
    if let Some(rate) = draft.whole("target", faults).filter(|rate| *rate > 0) {
        draft.lines.push(format!("rate = {rate}{}", draft.origin("target")));
    }
}

/// Shares are scaled to 1, as YCSB draws them by weight.
fn mix(draft: &mut Draft<'_>, faults: &mut Faults<'_>) {
    let mut weights = Vec::new();
    for (property, setting, default) in SHARES {
        let weight: Option<f64> = draft.take(property, default).parse().ok();
        match weight.filter(|weight| weight.is_finite() && *weight >= 0.0) {
            Some(weight) => weights.push((*property, *setting, weight)),
            None => draft.fault(property, "it is not a share from 0", faults),
        }
    }
    let sum: f64 = weights.iter().map(|(_, _, weight)| weight).sum();
    if sum <= 0.0 && weights.len() == SHARES.len() {
        faults.whole("all proportions are 0: there would be no operations");
    }
    let near = (sum - 1.0).abs() < 1e-9;
    draft.lines.push("mix = \"own\"".to_owned());
    for (property, setting, weight) in weights {
        let share = if near { weight } else { weight / sum };
        draft.lines.push(format!("{setting} = {share:?}{}", draft.origin(property)));
    }
}

fn keys(draft: &mut Draft<'_>, faults: &mut Faults<'_>) {
    let choice = draft.take("requestdistribution", "uniform");
    if !["uniform", "zipfian", "latest", "hotspot", "exponential", "sequential"].contains(&choice) {
        draft.fault("requestdistribution", "it is not a key distribution of YCSB's core workloads", faults);
    }
    draft.lines.push(format!("keys = {choice:?}{}", draft.origin("requestdistribution")));
    draft.lines.push("key_mode = \"ycsb\"    # keys and draws of YCSB 0.17; \"exact\" for an exact zipfian".to_owned());
    for (property, setting, default) in
        [("hotspotdatafraction", "hotspot_set", "0.2"), ("hotspotopnfraction", "hotspot_operations", "0.8")]
    {
        let value = draft.take(property, default);
        if value.parse::<f64>().is_ok_and(|share| (0.0..=1.0).contains(&share)) {
            draft.lines.push(format!("{setting} = {value}{}", draft.origin(property)));
        } else {
            draft.fault(property, "it is not a share from 0 to 1", faults);
        }
    }
}

/// How long to measure: YCSB's time limit, else 5 minutes.
fn window(draft: &mut Draft<'_>, faults: &mut Faults<'_>) -> String {
    draft.taken.push("maxexecutiontime");
    let seconds = draft.whole("maxexecutiontime", faults).filter(|seconds| *seconds > 0);
    let (seconds, origin) = match seconds {
        Some(seconds) => (seconds, draft.origin("maxexecutiontime")),
        None => (300, "    # YCSB has no time limit; this window is Proofload's".to_owned()),
    };
    format!(
        "warm_up = {{ at_least = \"1m\", at_most = \"10m\" }}    # YCSB has none\nmeasure = \"{seconds}s\"{origin}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_taken_over_and_the_rest_is_named() {
        let text = "# A\nrecordcount=1000\n\nworkload = site.ycsb.workloads.CoreWorkload\nreadproportion: 3\nupdateproportion=1\n\
                    threadcount 8\ntarget=500\nmaxexecutiontime=60\nmongodb.url=mongodb://u:secret@h\nrequestdistribution=latest\n";
        let study = study_text("workloadx", text, "workloadx", "sqlite").unwrap();
        for line in [
            "records = 1000    # recordcount, line 2",
            "read = 0.75    # readproportion, line 5",
            "update = 0.25    # updateproportion, line 6",
            "virtual_users = 8    # threadcount, line 7",
            "rate = 500    # target, line 8",
            "measure = \"60s\"    # maxexecutiontime, line 9",
            "keys = \"latest\"    # requestdistribution, line 11",
            "#   mongodb.url (line 10)",
        ] {
            assert!(study.lines().any(|found| found == line), "{line} is missing in\n{study}");
        }
        assert!(!study.contains("secret"), "values without an equivalent may be passwords");
    }

    #[test]
    fn faults_come_all_at_once() {
        let text = "threadcount=x\nnonsense\nrequestdistribution=gauss\nworkload=my.Own\nreadproportion=-1\nhotspotdatafraction=7\n\
                    fieldlengthdistribution=histogram\n";
        let faults = study_text("w", text, "w", "sqlite").unwrap_err();
        let lines: Vec<Option<usize>> = faults.iter().map(|fault| fault.line).collect();
        assert_eq!(lines, [Some(2), Some(4), Some(7), None, Some(1), Some(5), Some(3), Some(6)]);
    }
}

//! `selftest.json`: what a self-test found, each step with a hash over it and all before. Described in `docs/guides/selftest.md`.

use proofload_load::selftest::{SelftestStep, StepOutcome};
use serde_json::{Value as Json, json};
use sha2::{Digest as _, Sha256};

/// Number of the form of the document.
const FORM: u64 = 1;

/// Name of the hash of the head alone, which tells a changed head from a changed first step. Documents from before it lack it.
const HEAD_HASH: &str = "head_sha256";

/// A document that is being written: head, and steps in a chain.
pub(crate) struct Document {
    head: Json,
    steps: Vec<Json>,
    last: String,
}

impl Document {
    /// A document with this head: engine, version, settings.
    pub(crate) fn new(mut head: Json) -> Self {
        if let Some(head) = head.as_object_mut() {
            head.insert("form".to_owned(), json!(FORM));
        }
        let alone = link("", &head);
        if let Some(head) = head.as_object_mut() {
            head.insert(HEAD_HASH.to_owned(), json!(alone));
        }
        let last = link("", &head);
        Self { head, steps: Vec::new(), last }
    }

    /// Adds a step that took so long.
    pub(crate) fn add(&mut self, step: &SelftestStep, seconds: f64) {
        let (outcome, why) = match &step.outcome {
            StepOutcome::Passed => ("passed", None),
            StepOutcome::Failed(why) => ("failed", Some(why)),
            StepOutcome::Skipped(why) => ("skipped", Some(why)),
        };
        let hashes: serde_json::Map<String, Json> =
            step.hashes.iter().map(|(of, hash)| (of.clone(), json!(hash))).collect();
        let mut row = json!({
            "name": step.name, "outcome": outcome, "why": why, "hashes": hashes,
            "seconds": (seconds * 1000.0).round() / 1000.0,
        });
        self.last = link(&self.last, &row);
        if let Some(row) = row.as_object_mut() {
            row.insert("sha256".to_owned(), json!(self.last));
        }
        self.steps.push(row);
    }

    /// Number of steps with this outcome.
    pub(crate) fn count(&self, outcome: &str) -> usize {
        self.steps.iter().filter(|step| step["outcome"] == outcome).count()
    }

    /// The whole document, sealed.
    pub(crate) fn sealed(mut self) -> Json {
        let end = json!({
            "passed": self.count("passed"), "failed": self.count("failed"), "skipped": self.count("skipped"),
        });
        let seal = link(&self.last, &end);
        if let Some(head) = self.head.as_object_mut() {
            head.insert("steps".to_owned(), Json::Array(std::mem::take(&mut self.steps)));
            head.insert("counts".to_owned(), end);
            head.insert("seal".to_owned(), json!(seal));
        }
        self.head
    }
}

/// Whether a document says that nothing failed and something passed.
pub(crate) fn is_passed(document: &Json) -> bool {
    let counts = &document["counts"];
    counts["failed"] == 0 && counts["passed"].as_u64().is_some_and(|passed| passed > 0)
}

/// Why this build cannot say whether a document is as it was written: it is of another form. `None`: it is of the form of this build, or names none.
pub(crate) fn unknown_form(document: &Json) -> Option<String> {
    let form = document["form"].as_u64().filter(|form| *form != FORM)?;
    let program = document["program"].as_str().unwrap_or("an unknown version");
    Some(format!(
        "it is the result of a self-test of form {form}, written by {program}; this build, proofload {}, knows form {FORM}: \
         check it with the version that wrote it, or a later one",
        env!("CARGO_PKG_VERSION")
    ))
}

/// The first fault of a document's chain; `None`: it is as it was written.
pub(crate) fn check(document: &Json) -> Option<String> {
    let mut head = document.clone();
    let parts = head.as_object_mut().map(|head| (head.remove("steps"), head.remove("counts"), head.remove("seal")));
    let Some((Some(Json::Array(steps)), Some(counts), Some(seal))) = parts else {
        return Some("it is no result of a self-test: steps, counts or seal are missing".to_owned());
    };
    let is_hashed = head[HEAD_HASH].is_string();
    if is_hashed && !head_holds(&head) {
        return Some(format!("its head was changed after it was written: {}", names(&head)));
    }
    let mut last = link("", &head);
    for (number, step) in steps.iter().enumerate() {
        let mut row = step.clone();
        let said = row.as_object_mut().and_then(|row| row.remove("sha256"));
        let found = link(&last, &row);
        if said != Some(json!(found)) {
            let name = &step["name"];
            return Some(if number == 0 && !is_hashed {
                format!("its head ({}) or its first step, {name}, was changed after it was written", names(&head))
            } else {
                format!("the step {name} was changed after it was written, or one before it was added or removed")
            });
        }
        last = found;
    }
    end_fault(&steps, (&counts, &seal), &last)
}

/// What is wrong behind the steps, whose last hash is given.
fn end_fault(steps: &[Json], (counts, seal): (&Json, &Json), last: &str) -> Option<String> {
    let of = |outcome: &str| steps.iter().filter(|step| step["outcome"] == outcome).count();
    let found = json!({ "passed": of("passed"), "failed": of("failed"), "skipped": of("skipped") });
    let is_sealed = |counts: &Json| *seal == json!(link(last, counts));
    match (*counts == found, is_sealed(&found)) {
        (true, true) => None,
        (false, true) => {
            Some(format!("its counts were changed after it was written: they say {counts}, its steps are {found}"))
        }
        _ => Some("steps were removed from its end or added to it, or its seal was changed".to_owned()),
    }
}

/// Whether the hash of a head fits what else it says.
fn head_holds(head: &Json) -> bool {
    let mut rest = head.clone();
    let said = rest.as_object_mut().and_then(|rest| rest.remove(HEAD_HASH));
    said == Some(json!(link("", &rest)))
}

/// The names of a head, but for its hash.
fn names(head: &Json) -> String {
    let names = head.as_object().into_iter().flat_map(serde_json::Map::keys).filter(|name| *name != HEAD_HASH);
    names.map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// The hash of a link: over the one before and the canonical text of its value, whose keys are sorted.
fn link(before: &str, value: &Json) -> String {
    let digest = Sha256::new().chain_update(before).chain_update("\n").chain_update(value.to_string()).finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written() -> Json {
        let mut document = Document::new(json!({ "engine": "x", "version": "1" }));
        for (name, outcome) in [("one", StepOutcome::Passed), ("two", StepOutcome::Failed("why".to_owned()))] {
            document.add(
                &SelftestStep { name: name.to_owned(), outcome, hashes: vec![("a".to_owned(), "00".to_owned())] },
                0.25,
            );
        }
        document.sealed()
    }

    /// Reads it as if from a file.
    fn read(document: &Json) -> Json {
        serde_json::from_str(&format!("{document:#}")).expect("it was written as JSON")
    }

    #[test]
    fn a_document_holds_until_anything_is_changed() {
        let whole = read(&written());
        assert_eq!(check(&whole), None);
        assert!(!is_passed(&whole));
        let changes: [fn(&mut Json); 6] = [
            |document| document["version"] = json!("2"),
            |document| document["steps"][1]["outcome"] = json!("passed"),
            |document| document["steps"][0]["hashes"]["a"] = json!("01"),
            |document| document["counts"]["failed"] = json!(0),
            |document| drop(document["steps"].as_array_mut().map(Vec::pop)),
            |document| drop(document.as_object_mut().map(|head| head.insert("more".to_owned(), json!(1)))),
        ];
        for (number, change) in changes.iter().enumerate() {
            let mut changed = whole.clone();
            change(&mut changed);
            assert!(check(&changed).is_some(), "change {number}");
        }
        assert!(check(&json!({ "form": 1 })).is_some());
    }

    #[track_caller]
    fn check_change(change: fn(&mut Json), expected: &str) {
        let mut changed = read(&written());
        change(&mut changed);
        let fault = check(&changed).expect("it was changed");
        assert!(fault.starts_with(expected), "{fault}");
    }

    #[test]
    fn a_fault_names_what_differs() {
        let head = "its head was changed after it was written: engine, form, version";
        check_change(|document| document["version"] = json!("2"), head);
        check_change(|document| document["head_sha256"] = json!("00"), head);
        let first = "the step \"one\" was changed after it was written";
        check_change(|document| document["steps"][0]["seconds"] = json!(1), first);
        let second = "the step \"two\" was changed after it was written, or one before it was added or removed";
        check_change(|document| document["steps"][1]["why"] = json!("x"), second);
        check_change(|document| drop(document["steps"].as_array_mut().map(|steps| steps.remove(0))), second);
        let counts = "its counts were changed after it was written: they say {\"failed\":0,";
        check_change(|document| document["counts"]["failed"] = json!(0), counts);
        let end = "steps were removed from its end";
        check_change(|document| drop(document["steps"].as_array_mut().map(Vec::pop)), end);
        check_change(|document| document["seal"] = json!("00"), end);
    }

    /// What was written before heads had a hash holds as well; there a first step is not told from a head.
    #[test]
    fn a_document_whose_head_has_no_hash_is_checked() {
        let mut head = json!({ "engine": "x", "form": 1 });
        let mut step = json!({ "name": "one", "outcome": "passed" });
        let first = link(&link("", &head), &step);
        step["sha256"] = json!(first);
        head["counts"] = json!({ "passed": 1, "failed": 0, "skipped": 0 });
        head["seal"] = json!(link(&first, &head["counts"]));
        head["steps"] = json!([step]);
        assert_eq!(check(&head), None);
        head["engine"] = json!("y");
        let fault = check(&head).expect("it was changed");
        assert!(fault.starts_with("its head (engine, form) or its first step, \"one\", was changed"), "{fault}");
    }

    #[test]
    fn another_form_is_told_with_the_form_that_is_known() {
        let mut document = written();
        assert_eq!(unknown_form(&document), None);
        document["form"] = json!(2);
        document["program"] = json!("proofload 9.0.0");
        let told = unknown_form(&document).expect("it is not known");
        assert!(
            told.contains("of form 2, written by proofload 9.0.0; this build") && told.contains("knows form 1"),
            "{told}"
        );
    }
}

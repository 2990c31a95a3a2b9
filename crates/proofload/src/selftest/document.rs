//! `selftest.json`: what a self-test found, each step with a hash over it and all before. Described in `docs/guides/selftest.md`.

use proofload_load::selftest::{SelftestStep, StepOutcome};
use serde_json::{Value as Json, json};
use sha2::{Digest as _, Sha256};

/// Number of the form of the document.
const FORM: u64 = 1;

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

/// The first fault of a document's chain; `None`: it is as it was written.
pub(crate) fn check(document: &Json) -> Option<String> {
    let mut head = document.clone();
    let parts = head.as_object_mut().map(|head| (head.remove("steps"), head.remove("counts"), head.remove("seal")));
    let Some((Some(Json::Array(steps)), Some(counts), Some(seal))) = parts else {
        return Some("it is no result of a self-test: steps, counts or seal are missing".to_owned());
    };
    let mut last = link("", &head);
    for step in &steps {
        let mut row = step.clone();
        let said = row.as_object_mut().and_then(|row| row.remove("sha256"));
        let found = link(&last, &row);
        if said != Some(json!(found)) {
            return Some(format!(
                "the step {} or what stands before it was changed after it was written",
                step["name"]
            ));
        }
        last = found;
    }
    let of = |outcome: &str| steps.iter().filter(|step| step["outcome"] == outcome).count();
    let told = ["passed", "failed", "skipped"].iter().all(|outcome| counts[outcome] == of(outcome));
    let holds = told && seal == json!(link(&last, &counts));
    (!holds).then(|| "steps were added or removed after it was written".to_owned())
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
}

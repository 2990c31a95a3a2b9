//! Statements for any number of fields from the files of a suite: `[[…]]` stands once for each field, joined by commas, `{n}` for the
//! field's number, `{fields}` and `{fields_and_key}` for how many there are. May not know what a statement means.

use crate::workloads::suite::{Suite, SuiteFile};
use proofload_model::error::Error;

/// The files of one dialect.
#[derive(Debug, Clone, Copy)]
pub(super) struct Files {
    /// Statements on a record.
    pub(super) record: SuiteFile<'static>,
    /// Statements on one field.
    pub(super) field: SuiteFile<'static>,
    /// Statements on the manifest.
    pub(super) manifest: SuiteFile<'static>,
}

/// The suite of a dialect for so many fields.
pub(super) fn suite(files: &Files, fields: u16) -> Result<Suite, Error> {
    let record = expand(files.record.text, fields);
    let field: String = (0..fields).map(|number| files.field.text.replace("{n}", &number.to_string())).collect();
    Suite::read(&[
        SuiteFile { path: files.record.path, text: &record },
        SuiteFile { path: files.field.path, text: &field },
        files.manifest,
    ])
}

/// Expands the lists and counts of a text.
fn expand(text: &str, fields: u16) -> String {
    let mut expanded = String::with_capacity(text.len() * 2);
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("[[") {
        let (item, after) = after.split_once("]]").unwrap_or((after, ""));
        let items: Vec<String> = (0..fields).map(|number| item.replace("{n}", &number.to_string())).collect();
        expanded.push_str(before);
        expanded.push_str(&items.join(", "));
        rest = after;
    }
    expanded.push_str(rest);
    expanded.replace("{fields_and_key}", &(fields + 1).to_string()).replace("{fields}", &fields.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_stand_once_for_each_field() {
        assert_eq!(
            expand("a [[f{n} = :f{n}]] b {fields} {fields_and_key} [[{n}]]", 3),
            "a f0 = :f0, f1 = :f1, f2 = :f2 b 3 4 0, 1, 2"
        );
    }
}

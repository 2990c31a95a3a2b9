//! Statements for any number of fields from the files of a suite: `[[…]]` stands once for each field, joined by commas,
//! `{n}` for the field's number, `{fields}` and `{fields_and_key}` for how many there are. May not know what a
//! statement means.

use crate::workloads::dialect::Dialect;
use crate::workloads::suite::{Suite, SuiteFile};
use proofload_model::error::Error;

/// The suite of a dialect for this many fields: statements on a record, on one field, and on the manifest.
pub(super) fn suite(dialect: &Dialect, fields: u16) -> Result<Suite, Error> {
    let record = dialect.layers("record.sql").map(|file| (file.path, expand(file.text, fields)));
    let each = |text: &str| (0..fields).map(|number| text.replace("{n}", &number.to_string())).collect::<String>();
    let field = dialect.layers("field.sql").map(|file| (file.path, each(file.text)));
    let manifest = dialect.layers("manifest.sql").map(|file| (file.path, file.text.to_owned()));
    let texts: Vec<_> = record.chain(field).chain(manifest).collect();
    Suite::read(&texts.iter().map(|(path, text)| SuiteFile { path, text }).collect::<Vec<_>>())
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

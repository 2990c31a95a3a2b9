//! Published results of others, built in as data, to draw beside the study's own in relative terms.

use toml_edit::{Document, Item, Table};

/// Every reference of the repository: name and text. One line adds one.
pub const REFERENCES: &[(&str, &str)] = &[
    ("9100-max-availability", include_str!("../../../../references/9100-max-availability.toml")),
    ("das-cache", include_str!("../../../../references/das-cache.toml")),
    ("dwft-36tb", include_str!("../../../../references/dwft-36tb.toml")),
    ("nes32r-xd6-mongodb", include_str!("../../../../references/nes32r-xd6-mongodb.toml")),
    ("sn861-memory-sweep", include_str!("../../../../references/sn861-memory-sweep.toml")),
];

/// A published study.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// Its file's name without the ending.
    pub id: String,
    /// Title.
    pub title: String,
    /// Publisher.
    pub publisher: String,
    /// Year of publication, where it is known.
    pub year: Option<i64>,
    /// The metric whose relative values are compared.
    pub compare: String,
    /// What 100 % is.
    pub relative_to: String,
    /// Hardware, software, procedure, as published.
    pub hardware: Vec<String>,
    /// Software.
    pub software: Vec<String>,
    /// What was done.
    pub procedure: Vec<String>,
    /// Remarks, such as what was inferred.
    pub notes: Vec<String>,
    /// Points of the curve.
    pub points: Vec<ReferencePoint>,
}

/// A published point.
#[derive(Debug, Clone, PartialEq)]
pub struct ReferencePoint {
    /// Level of each setting as a study writes it.
    pub levels: Vec<(String, String)>,
    /// Per cent of the compared metric; none when it was not published.
    pub relative_percent: Option<f64>,
}

/// A reference by name; the error says which exist.
pub fn find_reference(name: &str) -> Result<Reference, String> {
    let known = REFERENCES.iter().find(|(known, _)| *known == name).ok_or_else(|| {
        let names: Vec<&str> = REFERENCES.iter().map(|(name, _)| *name).collect();
        format!("there is no reference {name}; built in are {}", names.join(", "))
    })?;
    parse(name, known.1)
}

fn parse(name: &str, text: &str) -> Result<Reference, String> {
    let document = Document::parse(text).map_err(|error| format!("reference {name} cannot be read: {error}"))?;
    let head = document
        .get("reference")
        .and_then(Item::as_table)
        .ok_or_else(|| format!("reference {name} has no [reference]"))?;
    let word = |key: &str| head.get(key).and_then(Item::as_str).unwrap_or_default().to_owned();
    let points = document.get("point").and_then(Item::as_array_of_tables);
    Ok(Reference {
        id: name.to_owned(),
        title: word("title"),
        publisher: word("publisher"),
        year: head.get("year").and_then(Item::as_integer),
        compare: word("compare"),
        relative_to: word("relative_to"),
        hardware: words(head, "hardware"),
        software: words(head, "software"),
        procedure: words(head, "procedure"),
        notes: words(head, "notes"),
        points: points.map(|points| points.iter().map(point).collect()).unwrap_or_default(),
    })
}

fn words(table: &Table, key: &str) -> Vec<String> {
    let list = table.get(key).and_then(Item::as_array);
    list.map(|list| list.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect()).unwrap_or_default()
}

fn point(table: &Table) -> ReferencePoint {
    let levels = table.get("levels").and_then(Item::as_table_like);
    let level = |(key, value): (&str, &Item)| Some((key.to_owned(), value.as_str()?.to_owned()));
    let percent = table.get("relative_percent");
    ReferencePoint {
        levels: levels.map(|levels| levels.iter().filter_map(level).collect()).unwrap_or_default(),
        relative_percent: percent
            .and_then(|item| item.as_float().or_else(|| item.as_integer().map(|whole| whole as f64))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_is_readable_and_named_as_its_file() {
        for (name, text) in REFERENCES {
            let reference = find_reference(name).unwrap();
            assert!(text.contains(&format!("id = \"{name}\"")), "{name}");
            assert!(
                !reference.title.is_empty() && !reference.publisher.is_empty() && !reference.points.is_empty(),
                "{name}"
            );
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
}

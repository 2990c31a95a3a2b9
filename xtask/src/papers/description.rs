//! What `docs/papers/papers.json` says of each publication: what it printed, and where the same stands in the report of our record. May
//! not know a figure of ours.

use serde::Deserialize;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Papers {
    /// Papers in the order of the page.
    pub(super) papers: Vec<Paper>,
}

/// A publication and the study that repeats it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Paper {
    /// `P1` to `P5`.
    pub(super) id: String,
    pub(super) title: String,
    /// File in `references/`, without its ending.
    pub(super) reference: String,
    /// Publisher and year.
    pub(super) publisher: String,
    /// Machine, software and size of the publication, one sentence each.
    pub(super) published: Vec<String>,
    /// File in `studies/quick/`, without its ending; also the record's name.
    pub(super) study: String,
    /// Settings that differ from the study's file, `SETTING=VALUE`.
    #[serde(default)]
    pub(super) set: Vec<String>,
    /// The experiment after the runs; `None` for a study whose limits cannot be lowered while it runs.
    pub(super) confirm: Option<PaperExperiment>,
    /// What is smaller or other here, one sentence each.
    pub(super) here: Vec<String>,
    /// Where figures differ, and what is known of why.
    pub(super) why: Vec<String>,
    pub(super) relations: Vec<Relation>,
}

/// What `proofload confirm` is asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PaperExperiment {
    /// Points, as `--points` takes them.
    pub(super) points: String,
    /// Blocks at most.
    pub(super) blocks: u32,
}

impl PaperExperiment {
    /// Arguments behind the record.
    pub(super) fn arguments(&self) -> Vec<String> {
        // A host with other work varies too much for the usual step of 0.2: docs/guides/causes.md.
        let words = ["--points", &self.points, "--step", "0.3", "--blocks", &self.blocks.to_string()];
        words.map(str::to_owned).to_vec()
    }
}

/// A relation that the publication shows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Relation {
    pub(super) name: String,
    /// The two figures as printed; their ratio is the published one.
    pub(super) printed: Option<Sides<f64>>,
    /// What is printed in words instead of figures.
    pub(super) words: Option<String>,
    /// Places in the JSON report of our record (RFC 6901).
    pub(super) here: Sides<String>,
    pub(super) expected: ClaimOfRatio,
    /// What is known of why ours is other than published; needed where it is.
    pub(super) why: Option<String>,
    /// A figure of ours that the publication may have counted instead, told with the reason.
    pub(super) beside: Option<FigureBeside>,
}

/// Another ratio of our record.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FigureBeside {
    pub(super) name: String,
    /// Places in the JSON report of our record (RFC 6901).
    pub(super) here: Sides<String>,
}

/// Both sides of a ratio.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sides<T> {
    /// Figure above the line.
    pub(super) of: T,
    /// Figure below it.
    pub(super) to: T,
}

/// What the publication claims of the ratio.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ClaimOfRatio {
    /// A ratio above 1.
    More,
    /// A ratio below 1.
    Less,
    /// A ratio between 1 ÷ (1 + this) and 1 + this.
    Near(f64),
}

impl Papers {
    /// Reads the file's text.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| format!("docs/papers/papers.json: {error}"))
    }
}

impl Relation {
    /// The published ratio, if figures are printed.
    pub(super) fn published(&self) -> Option<f64> {
        self.printed.as_ref().map(|sides| sides.of / sides.to)
    }
}

#[cfg(test)]
mod tests {
    use super::super::verdict::{RatioHere, RelationVerdict};
    use super::*;

    const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

    fn papers() -> Papers {
        Papers::read(&std::fs::read_to_string(format!("{ROOT}/docs/papers/papers.json")).unwrap()).unwrap()
    }

    #[test]
    fn every_printed_figure_stands_in_the_reference_of_its_paper() {
        for paper in papers().papers {
            let reference = std::fs::read_to_string(format!("{ROOT}/references/{}.toml", paper.reference)).unwrap();
            let numbers: Vec<f64> = reference
                .split(|c: char| !(c.is_ascii_digit() || c == '.' || c == 'e'))
                .filter_map(|word| word.trim_matches('.').parse().ok())
                .collect();
            for printed in paper.relations.iter().filter_map(|relation| relation.printed.as_ref()) {
                for figure in [printed.of, printed.to] {
                    assert!(numbers.contains(&figure), "{}: {figure} is not printed", paper.id);
                }
            }
        }
    }

    #[test]
    fn every_relation_is_published_in_one_way_and_agrees_with_what_is_expected() {
        for paper in papers().papers {
            for relation in &paper.relations {
                assert!(relation.printed.is_some() != relation.words.is_some(), "{}: {}", paper.id, relation.name);
                if let Some(ratio) = relation.published() {
                    let exact = RatioHere { value: ratio, interval: (ratio, ratio) };
                    let holds = RelationVerdict::of(relation.expected, Some(ratio), exact);
                    assert_eq!(holds, RelationVerdict::SameSize, "{}: {}", paper.id, relation.name);
                }
            }
            assert!(std::path::Path::new(&format!("{ROOT}/studies/quick/{}.toml", paper.study)).exists());
        }
    }
}

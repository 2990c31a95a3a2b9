//! What the figures of a comparison are figures of, in words, and a caution where those of A and B are not of the same kind. May not judge.

use super::compare::{Comparison, Row, alternated};
use super::pairing::Pair;
use crate::findings::host::disturbance::Estimand;

impl Row {
    /// Names of what the figures of A and of B are figures of; `None` where that is not told.
    pub(crate) fn estimand_names(&self) -> [Option<&'static str>; 2] {
        self.estimands.each_ref().map(|estimand| estimand.as_ref().map(Estimand::name))
    }

    /// The same in words: `A and B as given`, `A quiet host, B as given`; `None` where neither is told.
    fn figures_of(&self) -> Option<String> {
        let [ours, theirs] = self.estimand_names();
        if let Some(both) = ours.filter(|_| ours == theirs) {
            return Some(format!("A and B {both}"));
        }
        let sides = [("A", ours), ("B", theirs)];
        let told: Vec<String> =
            sides.into_iter().filter_map(|(letter, name)| Some(format!("{letter} {}", name?))).collect();
        (!told.is_empty()).then(|| told.join(", "))
    }
}

impl Comparison<'_> {
    /// Name of what a row's ratio is; `None` where its runs did not alternate, so that it is only one figure over another.
    pub(crate) fn ratio_estimand(&self, row: &Row) -> Option<&'static str> {
        self.alternated(row).then_some(Estimand::RATIO)
    }

    /// What a row's figures and its ratio are, in a cell; `None` where nothing is told.
    pub(crate) fn estimands(&self, row: &Row) -> Option<String> {
        let ratio = self.ratio_estimand(row).map(|name| format!("B/A {name}"));
        let told: Vec<String> = row.figures_of().into_iter().chain(ratio).collect();
        (!told.is_empty()).then(|| told.join("; "))
    }

    /// What the figures of all rows are, points of the same words together; `None` where nothing is told.
    pub(crate) fn estimands_of_rows(&self) -> Option<String> {
        let mut told: Vec<(String, Vec<&str>)> = Vec::new();
        for row in &self.rows {
            let Some(words) = row.figures_of() else { continue };
            let label = self.label(row.pair);
            match told.iter_mut().find(|(known, _)| *known == words) {
                Some((_, labels)) if labels.contains(&label) => {}
                Some((_, labels)) => labels.push(label),
                None => told.push((words, vec![label])),
            }
        }
        let figures = match told.as_slice() {
            [] => None,
            [(words, _)] => Some(words.clone()),
            several => {
                let each = several.iter().map(|(words, labels)| format!("{words} at {}", labels.join(", ")));
                Some(each.collect::<Vec<_>>().join("; "))
            }
        };
        let ratios = self.rows.iter().filter(|row| self.alternated(row)).count();
        let ratio = match ratios {
            0 => None,
            all if all == self.rows.len() => Some(format!("B/A {}", Estimand::RATIO)),
            _ => Some(format!("B/A {} where runs alternated", Estimand::RATIO)),
        };
        let told: Vec<String> = figures.into_iter().chain(ratio).collect();
        (!told.is_empty()).then(|| format!("Estimands: {}.", told.join("; ")))
    }
}

/// Cautions about points that are of a quiet host on one side and as given on the other, where no ratio inside repetitions makes that irrelevant.
pub(super) fn unlike(rows: &[Row], pairs: &[Pair<'_>], with_each_other: bool) -> Vec<String> {
    let (quiet, given) = (Some(Estimand::QuietHost.name()), Some(Estimand::AsGiven.name()));
    let points = |wanted: [Option<&str>; 2]| {
        let mut places: Vec<usize> = rows
            .iter()
            .filter(|row| !alternated(row.contrast.spread, with_each_other) && row.estimand_names() == wanted)
            .map(|row| row.pair)
            .collect();
        places.sort_unstable();
        places.dedup();
        places.into_iter().filter_map(|place| pairs.get(place)).map(Pair::described).collect::<Vec<String>>()
    };
    let sides = [("A", "B", points([quiet, given])), ("B", "A", points([given, quiet]))];
    let told = sides.into_iter().filter(|(_, _, points)| !points.is_empty()).map(|(one, other, points)| {
        format!(
            "{one} is a quiet-host figure, {other} as given ({}): the ratio holds for what each host gave",
            points.join("; ")
        )
    });
    told.collect()
}

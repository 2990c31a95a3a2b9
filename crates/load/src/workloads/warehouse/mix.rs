//! Rounds of a stream: each chosen query once, or queries by the weights of their classes. Pure.

use super::suite::Class;
use proofload_gen::Seed;
use proofload_model::error::Error;

/// The word for a round that has each chosen query once.
pub(super) const EACH: &str = "each";

/// Queries of a weighted round, unless they do not render the weights exactly.
const USUAL: u64 = 20;

/// The most queries of a weighted round.
const MOST: u64 = 100;

/// Label of the order in which a class's queries take their turns.
const TURNS: u64 = 3;

/// `workload.mix`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mix {
    /// Each chosen query once.
    Each,
    /// Numbers of queries of each class, in the order of [`Class::ALL`].
    Weighted([usize; 3]),
}

impl Mix {
    /// Reads `each`, or three weights such as `70/20/10`.
    pub(super) fn read(text: &str) -> Result<Self, Error> {
        if text.trim() == EACH {
            return Ok(Self::Each);
        }
        let weights: Option<Vec<u64>> =
            text.split('/').map(|part| part.trim().parse::<u32>().ok().map(u64::from)).collect();
        let Some(Ok(weights)) = weights.map(<[u64; 3]>::try_from) else {
            return Err(Error::new(format!(
                "{text:?} must be \"{EACH}\" or three whole numbers for simple, average and complex queries, such as \
                 \"70/20/10\""
            )));
        };
        let sum: u64 = weights.iter().sum();
        if sum == 0 {
            return Err(Error::new(format!("the weights of {text:?} add up to 0; give at least one class a weight")));
        }
        let least = sum / weights.into_iter().fold(0, greatest_common_divisor);
        let queries = if USUAL.is_multiple_of(least) { USUAL } else { least };
        if queries > MOST {
            return Err(Error::new(format!(
                "{text:?} needs rounds of {queries} queries, more than {MOST}; use rounder weights"
            )));
        }
        Ok(Self::Weighted(weights.map(|weight| (weight * queries / sum) as usize)))
    }

    /// Queries of a class in a round; `None` when the mix does not ask by class.
    pub(super) fn of_class(&self, class: Class) -> Option<usize> {
        let Self::Weighted(counts) = self else { return None };
        Class::ALL.iter().zip(counts).find(|(known, _)| **known == class).map(|(_, count)| *count)
    }
}

/// Euclid's.
fn greatest_common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}

/// Queries that take turns in the places which a round has for them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Group {
    /// Numbers of the queries.
    queries: Vec<usize>,
    /// Places in a round.
    places: usize,
}

/// The rounds of all streams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rounds(Vec<Group>);

impl Rounds {
    /// The rounds of these queries, each with its class; the error says which class has a weight and no query.
    pub(super) fn new(mix: Mix, queries: &[(usize, Class)]) -> Result<Self, Error> {
        let numbers = |wanted: Option<Class>| -> Vec<usize> {
            let of_class = queries.iter().filter(|(_, class)| wanted.is_none_or(|wanted| wanted == *class));
            of_class.map(|(number, _)| *number).collect()
        };
        if mix == Mix::Each {
            return Ok(Self(vec![Group { queries: numbers(None), places: queries.len() }]));
        }
        let group = |class: Class| Group { queries: numbers(Some(class)), places: mix.of_class(class).unwrap_or(0) };
        let groups = Class::ALL.map(|class| (class, group(class)));
        let empty = groups.iter().filter(|(_, group)| group.places > 0 && group.queries.is_empty());
        let empty: Vec<&str> = empty.map(|(class, _)| class.word()).collect();
        if !empty.is_empty() {
            return Err(Error::new(format!(
                "it gives {} queries a weight, but none is chosen; choose one in workload.queries or set the weight to 0",
                empty.join(" and ")
            )));
        }
        Ok(Self(groups.into_iter().map(|(_, group)| group).filter(|group| group.places > 0).collect()))
    }

    /// Queries in a round.
    pub(super) fn length(&self) -> usize {
        self.0.iter().map(|group| group.places).sum()
    }

    /// Numbers of the queries that run, in order.
    pub(super) fn queries(&self) -> Vec<usize> {
        let mut queries: Vec<usize> = self.0.iter().flat_map(|group| &group.queries).copied().collect();
        queries.sort_unstable();
        queries
    }

    /// Queries of a stream's round, in their order. Over rounds each query of a group comes equally often.
    pub(super) fn round(&self, seed: Seed, stream: u32, round: u64) -> Vec<usize> {
        let mut content = Vec::with_capacity(self.length());
        for (number, group) in self.0.iter().enumerate() {
            let mut turns = group.queries.clone();
            seed.of(TURNS).of(stream.into()).of(number as u64).rng().shuffle(&mut turns);
            let first = (round % turns.len() as u64) as usize * group.places;
            content.extend((first..first + group.places).map(|turn| turns[turn % turns.len()]));
        }
        content.sort_unstable();
        content
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<[usize; 3], &str>) {
        match (Mix::read(text), expected) {
            (Ok(Mix::Weighted(found)), Ok(counts)) => assert_eq!(found, counts),
            (Err(error), Err(words)) => assert!(error.to_string().contains(words), "{error}"),
            (found, expected) => panic!("{text}: {found:?} where {expected:?} was expected"),
        }
    }

    #[test]
    fn a_round_has_20_queries_or_the_fewest_that_render_the_weights() {
        check("70/20/10", Ok([14, 4, 2]));
        check(" 1 / 1 / 0 ", Ok([10, 10, 0]));
        check("0/0/7", Ok([0, 0, 20]));
        check("1/1/1", Ok([1, 1, 1]));
        check("33/33/34", Ok([33, 33, 34]));
        check("50/25/26", Err("needs rounds of 101 queries"));
        check("0/0/0", Err("add up to 0"));
        for text in ["", "70/20", "70/20/10/0", "70/20/x", "70/-20/50", "0.7/0.2/0.1", "Each", "99999999999/1/1"] {
            check(text, Err("must be \"each\" or three whole numbers"));
        }
        assert_eq!(Mix::read("each"), Ok(Mix::Each));
    }

    /// Three simple queries, two average, five complex.
    fn queries() -> Vec<(usize, Class)> {
        let classes = [(0..3, Class::Simple), (3..5, Class::Average), (5..10, Class::Complex)];
        classes.into_iter().flat_map(|(numbers, class)| numbers.map(move |number| (number, class))).collect()
    }

    #[test]
    fn every_round_keeps_to_the_weights_and_queries_of_a_class_come_equally_often() {
        let rounds = Rounds::new(Mix::read("70/20/10").unwrap(), &queries()).unwrap();
        let (mut counts, seed) = ([0; 10], Seed(5));
        for round in 0..15 {
            let content = rounds.round(seed, 1, round);
            let of = |numbers: std::ops::Range<usize>| content.iter().filter(|query| numbers.contains(query)).count();
            assert_eq!((content.len(), of(0..3), of(3..5), of(5..10)), (20, 14, 4, 2), "{content:?}");
            content.into_iter().for_each(|query| counts[query] += 1);
        }
        assert_eq!(counts, [70, 70, 70, 30, 30, 6, 6, 6, 6, 6]);
        assert_eq!(rounds.round(seed, 1, 7), rounds.round(seed, 1, 7));
        let all = |seed, stream| (0..5).map(|round| rounds.round(seed, stream, round)).collect::<Vec<_>>();
        assert!(all(seed, 1) != all(seed, 2) && all(seed, 1) != all(Seed(6), 1), "turns depend on seed and stream");
        assert!(rounds.round(seed, 1, u64::MAX).len() == 20, "the last round is one like the others");
    }

    #[test]
    fn each_has_every_query_once_and_a_weight_needs_a_query() {
        let each = Rounds::new(Mix::Each, &queries()).unwrap();
        assert_eq!((each.length(), each.round(Seed(1), 3, 4)), (10, (0..10).collect()));
        let complex = Rounds::new(Mix::read("0/0/1").unwrap(), &queries()).unwrap();
        assert_eq!((complex.length(), complex.queries()), (20, (5..10).collect()));
        let error = Rounds::new(Mix::read("1/1/2").unwrap(), &queries()[..3]).unwrap_err().to_string();
        assert!(error.starts_with("it gives average and complex queries a weight, but none is chosen"), "{error}");
    }
}

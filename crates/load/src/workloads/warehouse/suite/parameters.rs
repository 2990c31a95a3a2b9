//! Parameters of a query: their validation values, and values drawn by their rules. Pure: a draw is a function of its
//! seed.

use super::lists::Lists;
use super::rule::{self, ParameterRule};
use crate::workloads::warehouse::data::Date;
use proofload_gen::{Rng, Seed};
use proofload_model::error::Error;

/// A parameter: `name = value from rule but not others`, or `name = number over scale`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parameter {
    /// Name, as it stands in braces in the text.
    pub(super) name: String,
    /// The value with which answers are validated.
    validation: String,
    rule: ParameterRule,
    /// Parameters before it whose values it may not have.
    but_not: Vec<String>,
}

/// How values are chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Draw {
    /// The validation values.
    Validation,
    /// Drawn by the rules.
    Seeded(Seed),
}

/// Name and value, in the order of the header.
pub(super) type Values = Vec<(String, String)>;

impl Parameter {
    /// Reads a line of a header; `None` when it is not understood.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (name, rest) = text.split_once(" = ")?;
        let (validation, rule, others) = if let Some(base) = rest.strip_suffix(" over scale") {
            base.parse::<f64>().ok()?;
            (base, ParameterRule::OverScale, "")
        } else {
            let (validation, rule) = rest.split_once(" from ")?;
            let (rule, others) = rule.split_once(" but not ").unwrap_or((rule, ""));
            (validation, rule::read(rule)?, others)
        };
        let but_not = others.split_whitespace().map(str::to_owned).collect();
        Some(Self { name: name.trim().to_owned(), validation: validation.trim().to_owned(), rule, but_not })
    }

    fn value(&self, draw: Option<&mut Rng>, scale: f64, before: &Values, lists: &Lists) -> Result<String, Error> {
        if self.rule == ParameterRule::OverScale {
            let base: f64 = self.validation.parse().map_err(|_| Error::new("a number over scale was read before"))?;
            return Ok(format!("{:.12}", base / scale));
        }
        let Some(rng) = draw else { return Ok(self.validation.clone()) };
        let taken = |value: &String| before.iter().any(|(name, known)| self.but_not.contains(name) && known == value);
        // Every list is far longer than the names that a value may not have, so a free value comes soon.
        loop {
            let value = self.drawn(rng, before, lists)?;
            if !taken(&value) {
                return Ok(value);
            }
        }
    }

    fn drawn(&self, rng: &mut Rng, before: &Values, lists: &Lists) -> Result<String, Error> {
        Ok(match &self.rule {
            ParameterRule::Integer(low, high) => between(rng, *low, *high).to_string(),
            ParameterRule::Decimal(low, high) => {
                let value = between(rng, *low, *high);
                format!("{}.{:02}", value / 100, value % 100)
            }
            ParameterRule::Day(low, high) => Date(between(rng, low.0.into(), high.0.into()) as i32).to_string(),
            ParameterRule::Month(low, high) => {
                let month = between(rng, *low, *high);
                format!("{:04}-{:02}-01", month / 12, month % 12 + 1)
            }
            ParameterRule::Year(low, high) => format!("{:04}-01-01", between(rng, *low, *high)),
            ParameterRule::Lists(names) => {
                let one = |name: &String| {
                    let values = lists.values(name)?;
                    Ok(values[rng.below(values.len() as u64) as usize].as_str())
                };
                names.iter().map(one).collect::<Result<Vec<_>, Error>>()?.join(" ")
            }
            ParameterRule::Pair { of, list } => {
                let other = before.iter().find(|(name, _)| name == of).map(|(_, value)| value.as_str());
                lists.pair(list, other.unwrap_or_default())?.to_owned()
            }
            ParameterRule::OverScale => self.validation.clone(),
        })
    }
}

/// Values of all parameters of a query.
pub(super) fn values(parameters: &[Parameter], draw: Draw, scale: f64, lists: &Lists) -> Result<Values, Error> {
    let mut rng = match draw {
        Draw::Validation => None,
        Draw::Seeded(seed) => Some(seed.rng()),
    };
    let mut values = Values::new();
    for parameter in parameters {
        let value = parameter.value(rng.as_mut(), scale, &values, lists)?;
        values.push((parameter.name.clone(), value));
    }
    Ok(values)
}

/// A whole number, both ends included.
fn between(rng: &mut Rng, low: i64, high: i64) -> i64 {
    low + rng.below((high - low).unsigned_abs() + 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, allowed: impl Fn(&str) -> bool) {
        let parameter = Parameter::read(line).expect("it is understood");
        let lists = Lists::of_suite().expect("the lists are read");
        let before = vec![("nation".to_owned(), "IRAN".to_owned()), ("one".to_owned(), "1".to_owned())];
        let mut rng = Seed(1).rng();
        for _ in 0..300 {
            let value = parameter.value(Some(&mut rng), 1.0, &before, &lists).expect("a value");
            assert!(allowed(&value), "{line}: {value}");
        }
    }

    #[test]
    fn values_keep_to_their_rules() {
        check("a = 1 from integer 1 to 3 but not one", |value| value == "2" || value == "3");
        check("a = 0.02 from decimal 0.02 to 0.03", |value| value == "0.02" || value == "0.03");
        check("a = 1995-02-28 from day 1995-02-28 to 1995-03-01", |value| {
            value == "1995-02-28" || value == "1995-03-01"
        });
        check("a = x from month 1993-12 to 1994-01", |value| value == "1993-12-01" || value == "1994-01-01");
        check("a = x from year 1993 to 1993", |value| value == "1993-01-01");
        check("a = x from pair nation in nation_region", |value| value == "MIDDLE EAST");
        check("a = x from lists container_sizes container_kinds", |value| value.split(' ').count() == 2);
        check("a = 0.0001 over scale", |value| value == "0.000100000000");
        assert_eq!(Parameter::read("a = 1 from somewhere"), None);
        assert_eq!(Parameter::read("a = 1"), None);
    }
}
